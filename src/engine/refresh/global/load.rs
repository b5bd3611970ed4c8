//! Loads the whole web for plans over it: all crawled and known pages in URL order, their values,
//! and all links.
//!
//! Memory: the graph image, the links in one direction and 20 bytes per page; then, without the image, the links
//! in both directions.

use std::collections::HashMap;

use crate::engine::Result;
use crate::engine::error::web_graph_error;
use crate::engine::learned_values::learned_values;
use crate::engine::policy::{LoadedPolicy, Policy};
use crate::engine::refresh::run_context::RunContext;
use crate::engine::web_graph::{
    Numbering, load_image, page_facts, pagerank_of, read_records, uncrawled_outlinks,
};
use seedbank_algorithms::cover::global::{Cap, ValueBy, WebChoice, WebGraph};
use seedbank_algorithms::cover::{Method, PUniq, PageFacts, page_value, pagerank_values};
use seedbank_algorithms::graph::{NONE, number};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest;
use seedbank_store::{GraphImage, ImageLinks, Store, tables};

/// The web in memory, with pages numbered in URL order.
pub(super) struct LoadedWeb {
    pub(super) graph: WebGraph,
    pub(super) pages: Vec<PageId>,
    pub(super) marks: Vec<Mark>,
    /// PageRank of each page; empty if the plan does not use it.
    pub(super) ranks: Vec<f64>,
    pub(super) rank_visits: u64,
}

/// Attributes of a page from which the parts of its value follow.
#[derive(Clone, Copy, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent attributes of a page"
)]
pub(super) struct Mark {
    pub(super) may_be_seed: bool,
    pub(super) crawled: bool,
    pub(super) spam: bool,
    pub(super) clicked: bool,
    /// Number of uncrawled outlinks, as given or as counted; 0 for a known page.
    pub(super) uncrawled_outlinks: u32,
    /// The quality, in ten-thousandths.
    pub(super) quality: u16,
}

impl LoadedWeb {
    pub(super) fn load(context: RunContext<'_, WebChoice>) -> Result<Self> {
        let RunContext {
            store,
            plan: choice,
            policy: rules,
            watch,
            ..
        } = context;
        let image = load_image(store, ImageLinks::All, watch)?;
        let allowed = Allowed::read(store, &image, rules, watch)?;
        let numbers = Numbering::by_url(&image, |slot| {
            image.is_live(slot) && !allowed.is_excluded(slot)
        })?;
        let pages = numbers.pages(&image);
        let uncrawled = uncrawled_outlinks(&image);
        let has_quality = choice.weights.quality.0 != 0;
        let count = pages.len();
        let (mut values, mut marks) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut values_as_known = Vec::new();
        for (&slot, page) in numbers.slots.iter().zip(&pages) {
            let (distinct, with_digest) = image.digests(page.site());
            let p_uniq = PUniq::new(choice.p_uniq, distinct.into(), with_digest.into());
            let facts = page_facts(&image, slot, &uncrawled);
            let crawled = image.is_crawled(slot);
            values.push(value_of(crawled, facts, p_uniq, choice));
            if has_quality {
                values_as_known.push(choice.weights.quality_value(facts.quality));
            }
            let is_failing = rules.candidates.is_failing(store, *page)?;
            let is_allowed = !is_failing && allowed.allows(slot, facts.quality);
            marks.push(Mark {
                may_be_seed: crawled && !facts.spam && is_allowed,
                crawled,
                spam: facts.spam,
                clicked: facts.clicks > 0,
                uncrawled_outlinks: if crawled { facts.uncrawled_outlinks } else { 0 },
                quality: facts.quality,
            });
        }
        drop(uncrawled);
        let (mut ranks, mut rank_visits) = (Vec::new(), 0);
        if choice.value_by == ValueBy::Pagerank || choice.method == Method::Pagerank {
            (ranks, rank_visits) = pagerank_of(&image, &numbers, watch)?;
        }
        if choice.value_by == ValueBy::Pagerank {
            values = pagerank_values(&ranks);
        }
        watch.stage("link pages", None);
        let successors = numbers.successors(&image);
        if choice.value_by == ValueBy::Learned {
            values = learned_values(store, &image, &numbers, &successors, watch)?;
        }
        // Free the image before the graph is built.
        drop((image, numbers));
        watch.proceed()?;
        let may_be_seed: Vec<bool> = marks.iter().map(|of| of.may_be_seed).collect();
        let known: Vec<bool> = marks.iter().map(|of| !of.crawled).collect();
        let pins = numbers_of(&pages, &rules.pins.pages);
        let caps = caps(store, &pages, &rules.policy)?;
        let graph = WebGraph::from_successors(values, successors, &may_be_seed);
        Ok(Self {
            graph: graph
                .map_err(web_graph_error)?
                .with_constraints(pins, caps)
                .map_err(web_graph_error)?
                .with_known(known, values_as_known),
            pages,
            ranks,
            marks,
            rank_visits,
        })
    }
}

/// The pages that a policy excludes from the graph, and those that it allows as seeds, failed fetches aside.
struct Allowed {
    /// By slot: whether the page is excluded, and whether it may be a seed. `None` if that does not depend on
    /// URLs and times.
    by_record: Option<Vec<(bool, bool)>>,
    min_quality: u16,
}

impl Allowed {
    /// Cost: a scan of all pages if the policy has lists or depends on times.
    fn read(
        store: &Store,
        image: &GraphImage,
        rules: &LoadedPolicy,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let candidates = &rules.candidates;
        let by_record = if candidates.has_lists() || candidates.depends_on_times() {
            Some(read_records(store, image, watch, |site, page| {
                let is_excluded = candidates.is_excluded(site, page);
                // Failed fetches are looked up by page.
                (is_excluded, candidates.allows(site, page, false))
            })?)
        } else {
            None
        };
        Ok(Self {
            by_record,
            min_quality: rules.policy.min_quality,
        })
    }

    fn is_excluded(&self, slot: u32) -> bool {
        self.by_record
            .as_ref()
            .is_some_and(|of| of[slot as usize].0)
    }

    fn allows(&self, slot: u32, quality: u16) -> bool {
        match &self.by_record {
            Some(of) => of[slot as usize].1,
            None => quality >= self.min_quality,
        }
    }
}

/// Returns the value of a page by its own attributes, in millionths.
fn value_of(crawled: bool, facts: PageFacts, p_uniq: PUniq, choice: &WebChoice) -> i64 {
    if crawled {
        page_value(facts, p_uniq, &choice.weights)
    } else {
        choice.given_value_known().0 + choice.weights.quality_value(facts.quality)
    }
}

/// Returns the numbers of pages, in the given order, without those that are not in the web.
fn numbers_of(web: &[PageId], pages: &[PageId]) -> Vec<u32> {
    if pages.is_empty() {
        return Vec::new();
    }
    let wanted: HashMap<PageId, usize> = pages.iter().copied().zip(0..).collect();
    let numbered = (0_u32..).zip(web);
    let mut found: Vec<(usize, u32)> = numbered
        .filter_map(|(number, page)| Some((*wanted.get(page)?, number)))
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, number)| number).collect()
}

/// Returns the caps of a policy, with the sites and the domains of pages as groups.
fn caps(store: &Store, pages: &[PageId], policy: &Policy) -> Result<Vec<Cap>> {
    let mut caps = Vec::new();
    if let Some(most) = policy.max_per_site {
        let group = pages.iter().map(|page| page.site().0).collect();
        caps.push(Cap { group, most });
    }
    if let Some(most) = policy.max_per_domain {
        let mut domains: HashMap<String, u32> = HashMap::new();
        let mut of_sites: HashMap<SiteId, u32> = HashMap::new();
        for entry in store.scan(&tables::SITES)? {
            let (site, record) = entry?;
            let next = number(domains.len());
            let domain = ingest::registrable_domain(&record.name).to_owned();
            of_sites.insert(site, *domains.entry(domain).or_insert(next));
        }
        let group = pages.iter().map(|page| of_sites.get(&page.site()));
        let group = group
            .map(|domain| domain.copied().unwrap_or(NONE))
            .collect();
        caps.push(Cap { group, most });
    }
    Ok(caps)
}
