//! Loads the graph of all crawled and known pages with all links, and sums its PageRank by site.

use super::Result;
use super::error::whole_graph_error;
use seedbank_algorithms::graph::{Csr, NONE, PageGraph, number};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_algorithms::rank::pagerank;
use seedbank_algorithms::watch::Watch;
use seedbank_store::records::PageRecord;
use seedbank_store::{LinkScan, Store, StoreError, tables};

/// Whether a page is included, given the name of its site.
pub(super) type PageFilter<'a> = &'a dyn Fn(&str, &PageRecord) -> bool;

/// Includes every page.
pub(super) const ALL_PAGES: fn(&str, &PageRecord) -> bool = |_, _| true;

/// The whole graph. Pages are numbered by site name and then by URL, so that nothing depends on
/// ids.
pub(super) struct LoadedGraph {
    pub(super) graph: PageGraph,
    /// Sites by name, each with the numbers of its pages.
    pub(super) sites: Vec<(SiteId, std::ops::Range<u32>)>,
}

/// Map from page ids to numbers: one table per site, by page index.
///
/// Memory: 4 bytes per page id that the bank has assigned, and 16 per site.
#[derive(Default)]
pub(super) struct PageNumbers {
    /// Position and length of the table of each site, by site id.
    tables: Vec<(usize, u32)>,
    /// The numbers; [`NONE`] for pages that are not included.
    numbers: Vec<u32>,
    pages: u32,
}

impl PageNumbers {
    /// Numbers more pages of a site, in this order. Returns the number of pages so far, or `None`
    /// if there are too many.
    fn add(&mut self, site: SiteId, pages: impl Iterator<Item = u32> + Clone) -> Option<u32> {
        let length = pages.clone().max().map_or(0, |last| last + 1);
        let at = site.0 as usize;
        if self.tables.len() <= at {
            self.tables.resize(at + 1, (0, 0));
        }
        let start = self.numbers.len();
        self.tables[at] = (start, length);
        self.numbers.resize(start + length as usize, NONE);
        for index in pages {
            self.numbers[start + index as usize] = self.pages;
            // `NONE` is not a valid number.
            self.pages = self.pages.checked_add(1).filter(|next| *next < NONE)?;
        }
        Some(self.pages)
    }

    /// Returns the numbers of a site's pages, by page index.
    fn of_site(&self, site: SiteId) -> &[u32] {
        let table = self.tables.get(site.0 as usize);
        let &(start, length) = table.unwrap_or(&(0, 0));
        &self.numbers[start..start + length as usize]
    }

    pub(super) fn pages(&self) -> Vec<PageId> {
        let mut pages = vec![PageId::new(SiteId(0), 0); self.pages as usize];
        for site in (0..).map(SiteId).take(self.tables.len()) {
            for (index, &number) in (0..).zip(self.of_site(site)) {
                if number != NONE {
                    pages[number as usize] = PageId::new(site, index);
                }
            }
        }
        pages
    }

    pub(super) fn number_of(&self, page: PageId) -> Option<u32> {
        let number = self.of_site(page.site()).get(page.index() as usize)?;
        Some(*number).filter(|number| *number != NONE)
    }

    /// Returns the numbers of included pages, ascending.
    fn numbers_of(&self, pages: impl Iterator<Item = PageId>) -> Vec<u32> {
        let mut numbers: Vec<u32> = pages.filter_map(|page| self.number_of(page)).collect();
        numbers.sort_unstable();
        numbers
    }
}

impl LoadedGraph {
    /// Loads the whole graph. Cost: one scan each of sites, pages, intra-site links, rows and row
    /// members, in the order of site names. Memory: 4 bytes per page while it is built, the pages
    /// of one site, and the graph twice.
    pub(super) fn load(store: &Store, watch: &dyn Watch) -> Result<Self> {
        Ok(Self::load_each(store, &ALL_PAGES, watch, |_, _| Ok(()))?.0)
    }

    /// Loads the graph without the pages that `is_included` rejects, and also returns the numbers of
    /// its pages. Calls `each` with the pages of every site in the order of their numbers.
    pub(super) fn load_each(
        store: &Store,
        is_included: PageFilter<'_>,
        watch: &dyn Watch,
        mut each: impl FnMut(SiteId, &[(PageId, PageRecord)]) -> Result<()>,
    ) -> Result<(Self, PageNumbers)> {
        watch.stage("load pages", None);
        let mut sites = Vec::new();
        let mut numbers = PageNumbers::default();
        let mut next = 0_u32;
        let mut pages = store.scan_by_site(&tables::PAGES)?;
        for entry in store.scan(&tables::SITE_IDS)? {
            watch.proceed()?;
            let (name, site) = entry?;
            let first = next;
            let mut live = Vec::new();
            for entry in pages.of_site(site) {
                let (page, record) = entry?;
                if record.state.is_live() && is_included(&name, &record) {
                    live.push((page, record));
                }
            }
            // Pages are numbered by URL within a site.
            live.sort_unstable_by(|a, b| a.1.local.cmp(&b.1.local));
            each(site, &live)?;
            let of_site = live.iter().map(|(page, _)| page.index());
            next = numbers
                .add(site, of_site)
                .ok_or(StoreError::Full("page to rank"))?;
            if next > first {
                sites.push((site, first..next));
            }
        }
        watch.stage("load links", None);
        let mut intra_in = Csr::default();
        let mut members = Csr::default();
        let mut targets = Csr::default();
        let mut links = LinkScan::new(store)?;
        for (site, pages) in &sites {
            watch.proceed()?;
            push_intra(&mut links, *site, pages.clone(), &numbers, &mut intra_in)?;
            push_rows(&mut links, *site, &numbers, &mut members, &mut targets)?;
        }
        let graph = PageGraph::new(intra_in, members, &targets).map_err(whole_graph_error)?;
        Ok((Self { graph, sites }, numbers))
    }

    /// Returns the sum of the PageRanks of each site's pages, and the page visits of computing
    /// them.
    pub(super) fn pagerank_by_site(&self, watch: &dyn Watch) -> Result<(Vec<(SiteId, f64)>, u64)> {
        watch.stage("rank the whole graph", None);
        let (scores, visits) = pagerank(&self.graph, watch)?;
        let sum = |pages: &std::ops::Range<u32>| -> f64 {
            scores[pages.start as usize..pages.end as usize]
                .iter()
                .sum()
        };
        let sites = self.sites.iter();
        let by_site = sites.map(|(site, pages)| (*site, sum(pages))).collect();
        Ok((by_site, visits))
    }
}

/// Appends, for each page of a site, the pages of the site that link to it, ascending.
///
/// Memory: 8 bytes per link of the site and 32 per page of it.
fn push_intra(
    links: &mut LinkScan<'_>,
    site: SiteId,
    pages: std::ops::Range<u32>,
    numbers: &PageNumbers,
    intra_in: &mut Csr,
) -> Result<()> {
    let of_site = numbers.of_site(site);
    // Position of a page among the included pages of the site.
    let place = |index: u32| {
        let number = of_site.get(index as usize).copied();
        let number = number.filter(|number| *number != NONE)?;
        Some((number - pages.start) as usize)
    };
    let mut targets: Vec<u32> = Vec::new();
    let mut of_sources = vec![0..0; pages.len()];
    // End of the sources of each page. First holds their number, shifted by one.
    let mut ends = vec![0; pages.len() + 1];
    for entry in links.intra_of(site) {
        let (page, to) = entry?;
        let Some(source) = place(page.index()) else {
            continue;
        };
        let first = targets.len();
        for target in to.into_iter().filter_map(place) {
            ends[target + 1] += 1;
            targets.push(number(target));
        }
        of_sources[source] = first..targets.len();
    }
    for at in 1..ends.len() {
        ends[at] += ends[at - 1];
    }
    let mut sources = vec![0; targets.len()];
    for (source, of_source) in pages.clone().zip(of_sources) {
        for &target in &targets[of_source] {
            let end = &mut ends[target as usize];
            sources[*end] = source;
            *end += 1;
        }
    }
    let mut first = 0;
    for &end in &ends[..pages.len()] {
        intra_in.push(sources[first..end].iter().copied());
        first = end;
    }
    Ok(())
}

/// Appends the rows of a site, ordered by their first pages.
fn push_rows(
    links: &mut LinkScan<'_>,
    site: SiteId,
    numbers: &PageNumbers,
    members: &mut Csr,
    targets: &mut Csr,
) -> Result<()> {
    let mut rows = Vec::new();
    for entry in links.carried_rows(site) {
        let (_, of_row, to) = entry?;
        let pages = of_row.pages.iter().map(|index| PageId::new(site, index));
        let of_row = numbers.numbers_of(pages);
        if !of_row.is_empty() {
            rows.push((of_row, numbers.numbers_of(to.into_iter())));
        }
    }
    rows.sort_unstable();
    for (pages, to) in rows {
        if !to.is_empty() {
            members.push(pages);
            targets.push(to);
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "web_graph_tests.rs"]
mod tests;
