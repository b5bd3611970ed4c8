//! Loads sites for the cover methods: crawled pages in URL order, the links between them, and the
//! attributes that determine page values.
//!
//! Sites are loaded and processed in groups, so that memory is bounded by the largest site and
//! [`GROUP_PAGES`], not by the bank. Each large site shares a group with small ones, so that all
//! threads have work while it is searched.

use std::collections::HashMap;

use rayon::prelude::*;

use crate::engine::Result;
use crate::engine::eligibility::PlanScope;
use crate::engine::error::site_graph_error;
use crate::engine::refresh::run_context::RunContext;
use seedbank_algorithms::cover::{Choice, PUniq, PageFacts, Site, SiteGraph, page_value};
use seedbank_algorithms::page::{PageId, RowId, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_store::records::{BatchId, PageRecord, RowMembers, SiteRecord};
use seedbank_store::{Store, StoreError, tables};

/// Maximum number of crawled pages of the small sites in a group.
const GROUP_PAGES: u64 = 1 << 18;

pub(crate) struct CoverSite {
    pub(crate) id: SiteId,
    pub(crate) name: String,
    pub(crate) crawled: u32,
    /// Sum of the qualities of its crawled pages, in ten-thousandths.
    pub(crate) quality: u64,
    /// The last batch that changed anything that cover methods use of the site.
    pub(crate) changed: BatchId,
    pub(crate) p_uniq: PUniq,
}

impl CoverSite {
    pub(crate) fn new(id: SiteId, record: SiteRecord, choice: &Choice) -> Self {
        let (distinct, with_digest) = (record.distinct_digests, record.with_digest);
        Self {
            id,
            name: record.name,
            crawled: record.crawled,
            quality: record.crawled_quality,
            changed: record.cover_changed,
            p_uniq: PUniq::new(choice.p_uniq, distinct.into(), with_digest.into()),
        }
    }
}

/// Returns all sites with crawled pages, by name.
pub(crate) fn cover_sites(
    store: &Store,
    choice: &Choice,
    watch: &dyn Watch,
) -> Result<Vec<CoverSite>> {
    watch.stage("find sites", None);
    let mut sites = Vec::new();
    for entry in store.scan(&tables::SITES)? {
        watch.proceed()?;
        let (id, record) = entry?;
        if record.crawled > 0 {
            sites.push(CoverSite::new(id, record, choice));
        }
    }
    sites.par_sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(sites)
}

pub(crate) struct LoadedSite<'a> {
    pub(crate) site: &'a CoverSite,
    pub(crate) pages: Vec<u32>,
    pub(crate) facts: Vec<PageFacts>,
    pub(crate) graph: SiteGraph,
}

impl LoadedSite<'_> {
    /// Converts to the input type of the selection.
    pub(crate) fn selectable(&self) -> Site<'_> {
        Site {
            id: self.site.id,
            name: &self.site.name,
            graph: &self.graph,
        }
    }

    pub(crate) fn page(&self, number: u32) -> PageId {
        PageId::new(self.site.id, self.pages[number as usize])
    }
}

/// Returns for each row of a site the number of its targets that are known and not crawled. `rows` are the
/// entries of [`tables::ROW_MEMBERS`] of the site.
pub(crate) fn uncrawled_of_rows(
    rows: impl Iterator<Item = Result<(RowId, RowMembers), StoreError>>,
) -> Result<HashMap<u32, u32>> {
    let mut of_rows = HashMap::new();
    for entry in rows {
        let (row, members) = entry?;
        of_rows.insert(row.index(), members.uncrawled);
    }
    Ok(of_rows)
}

/// Returns the attributes that determine a page's value. `of_rows` contains the counts for rows of
/// its site.
pub(crate) fn facts(record: &PageRecord, of_rows: &HashMap<u32, u32>) -> PageFacts {
    let of_row = record.row.and_then(|row| of_rows.get(&row)).copied();
    let counted = record.uncrawled_intra.saturating_add(of_row.unwrap_or(0));
    PageFacts {
        spam: record.spam,
        clicks: record.clicks,
        uncrawled_outlinks: record.uncrawled_given.unwrap_or(counted),
        quality: record.quality(),
    }
}

/// Loads one site.
///
/// Cost: one scan each of the site's pages, row members and intra-site links. Memory: the URLs of
/// its crawled pages while they are sorted, 4 bytes per page that is not crawled, and [`SiteGraph`]
/// with the attributes: some 50 bytes per page and 8 per link, twice while it is built.
fn load<'a>(context: RunContext<'_, Choice>, site: &'a CoverSite) -> Result<LoadedSite<'a>> {
    let RunContext { store, watch, .. } = context;
    let weights = &context.plan.weights;
    let eligibility = context.policy.eligibility(PlanScope::SITES);
    let prefix = site.id.0.to_be_bytes();
    let of_rows = uncrawled_of_rows(store.scan_under(&tables::ROW_MEMBERS, &prefix)?)?;
    watch.proceed()?;
    let mut crawled = Vec::new();
    for entry in store.scan_under(&tables::PAGES, &prefix)? {
        let (page, record) = entry?;
        let reason = eligibility.reason(store, page, &site.name, &record)?;
        if reason.is_some_and(|reason| !PlanScope::SITES.is_in_graph(reason)) {
            continue;
        }
        let facts = facts(&record, &of_rows);
        crawled.push((record.local, page.index(), (facts, reason.is_some())));
    }
    watch.proceed()?;
    // Numbers follow URL order, so that results do not depend on ids.
    crawled.par_sort_unstable_by(|a, b| a.0.cmp(&b.0));
    let (pages, of_pages): (Vec<u32>, Vec<(PageFacts, bool)>) = crawled
        .into_iter()
        .map(|(_, index, of_page)| (index, of_page))
        .unzip();
    let (facts, rejected): (Vec<PageFacts>, Vec<bool>) = of_pages.into_iter().unzip();
    let numbers = SiteNumbers::new(&pages);
    let mut links = Vec::new();
    for entry in store.intra_of(site.id)? {
        let (page, targets) = entry?;
        if let Some(source) = numbers.number(page.index()) {
            let targets = targets.into_iter().filter_map(|to| numbers.number(to));
            links.extend(targets.map(|target| (source, target)));
        }
    }
    watch.proceed()?;
    let value = |facts: &PageFacts| page_value(*facts, site.p_uniq, weights);
    let graph = SiteGraph::new(facts.iter().map(value).collect(), links)
        .map_err(|e| site_graph_error(e, &site.name))?;
    let pins = context.policy.pins.pages.iter();
    let pins = pins.filter(|pin| pin.site() == site.id);
    let pins = pins.filter_map(|pin| numbers.number(pin.index())).collect();
    let rejected = Some(rejected).filter(|all| all.contains(&true));
    let graph = graph
        .with_constraints(rejected.unwrap_or_default(), pins)
        .map_err(|e| site_graph_error(e, &site.name))?;
    Ok(LoadedSite {
        site,
        pages,
        facts,
        graph,
    })
}

/// Map from page indexes to numbers.
struct SiteNumbers(Vec<u32>);

impl SiteNumbers {
    const NONE: u32 = u32::MAX;

    fn new(pages: &[u32]) -> Self {
        let length = pages.iter().max().map_or(0, |last| *last as usize + 1);
        let mut numbers = vec![Self::NONE; length];
        for (number, page) in (0..).zip(pages) {
            numbers[*page as usize] = number;
        }
        Self(numbers)
    }

    fn number(&self, page: u32) -> Option<u32> {
        let number = self.0.get(page as usize).copied();
        number.filter(|&number| number != Self::NONE)
    }
}

/// Loads sites in groups and calls `work` with each group and the positions of its sites in
/// `sites`, in no particular order.
pub(crate) fn load_in_groups<'a>(
    context: RunContext<'_, Choice>,
    sites: &[&'a CoverSite],
    mut work: impl FnMut(&[usize], &[LoadedSite<'a>]) -> Result<()>,
) -> Result<()> {
    for group in groups(sites) {
        let loaded: Result<Vec<_>> = group
            .par_iter()
            .with_max_len(1)
            .map(|&at| load(context, sites[at]))
            .collect();
        work(&group, &loaded?)?;
    }
    Ok(())
}

/// Groups sites: the largest remaining one with the smallest ones.
fn groups(sites: &[&CoverSite]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..sites.len()).collect();
    order.sort_by_key(|&at| sites[at].crawled);
    let mut left = order.as_slice();
    let mut groups = Vec::new();
    while let Some((&largest, rest)) = left.split_last() {
        let mut group = vec![largest];
        let mut pages = 0;
        left = rest;
        while let Some((&smallest, rest)) = left.split_first() {
            pages += u64::from(sites[smallest].crawled);
            if pages > GROUP_PAGES {
                break;
            }
            group.push(smallest);
            left = rest;
        }
        groups.push(group);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_sites_are_loaded_one_at_a_time_and_small_ones_beside_them() {
        let sites: Vec<CoverSite> = [5, 1 << 20, 1 << 18, 7, 1 << 19]
            .into_iter()
            .zip(0..)
            .map(|(crawled, id)| CoverSite {
                id: SiteId(id),
                name: id.to_string(),
                crawled,
                quality: 0,
                changed: 1,
                p_uniq: PUniq::from_digests(0, 0),
            })
            .collect();
        let sites: Vec<&CoverSite> = sites.iter().collect();
        assert_eq!(groups(&sites), [vec![1, 0, 3], vec![4, 2]]);
        assert!(groups(&[]).is_empty());
    }
}
