//! Loads the whole web for plans over it: all crawled and known pages in URL order, what they are
//! worth, and all links.
//!
//! Memory: that of [`InUrlOrder`], then the links in both directions; 20 bytes per page beside them.

use std::collections::HashMap;

use super::url_order::InUrlOrder;
use crate::engine::EngineError;
use crate::engine::error::no_web;
use crate::engine::policy::{Policy, Rules};
use crate::engine::refresh::cover::sites::{facts, uncrawled_of_rows};
use seedbank_algorithms::cover::global::{Cap, ValueBy, WebChoice, WebGraph};
use seedbank_algorithms::cover::{Method, PUniq, PageFacts, page_value};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::rank::pagerank;
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest;
use seedbank_store::Store;
use seedbank_store::records::{PageRecord, PageState};

/// The web in memory; pages are numbered in URL order.
pub(super) struct LoadedWeb {
    pub(super) graph: WebGraph,
    pub(super) pages: Vec<PageId>,
    pub(super) marks: Vec<Mark>,
    /// The PageRank of each page; empty where the plan does not look at it.
    pub(super) ranks: Vec<f64>,
    /// Page visits of ranking.
    pub(super) rank_visits: u64,
}

/// What the parts of a value follow from.
#[derive(Clone, Copy, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own about a page"
)]
pub(super) struct Mark {
    pub(super) may_be_seed: bool,
    pub(super) crawled: bool,
    pub(super) spam: bool,
    pub(super) clicked: bool,
    /// The number of outlinks that are not crawled, as given or as counted; 0 for a known page.
    pub(super) uncrawled_outlinks: u32,
    /// The quality, in ten-thousandths.
    pub(super) quality: u16,
}

impl LoadedWeb {
    pub(super) fn load(
        store: &Store,
        (choice, rules): (&WebChoice, &Rules),
        watch: &dyn Watch,
    ) -> Result<Self, EngineError> {
        let (mut values, mut marks) = (Vec::new(), Vec::new());
        let candidates = &rules.candidates;
        let takes_part = |site: &str, page: &PageRecord| !candidates.is_left_out(site, page);
        let mut groups = Groups::new(rules.policy);
        let mut of_pages = Vec::new();
        let web = InUrlOrder::load(store, &takes_part, watch, |site, record, pages| {
            if let Some(group) = groups.of(&record.name) {
                of_pages.extend(pages.iter().map(|_| group));
            }
            let (distinct, with_digest) = (record.distinct_digests, record.with_digest);
            let p_uniq = PUniq::new(choice.p_uniq, distinct.into(), with_digest.into());
            let of_rows = uncrawled_of_rows(store, site)?;
            for (_, page) in pages {
                let facts = facts(page, &of_rows);
                let crawled = page.state == PageState::Crawled;
                values.push(value_of(page, facts, p_uniq, choice));
                marks.push(Mark {
                    may_be_seed: may_be_seed(page, rules, &record.name),
                    crawled,
                    spam: facts.spam,
                    clicked: facts.clicks > 0,
                    uncrawled_outlinks: if crawled { facts.uncrawled_outlinks } else { 0 },
                    quality: facts.quality,
                });
            }
            Ok(())
        })?;
        let (mut ranks, mut rank_visits) = (Vec::new(), 0);
        if choice.value_by == ValueBy::Pagerank || choice.method == Method::Pagerank {
            watch.stage("rank the whole graph", None);
            (ranks, rank_visits) = pagerank(&web.whole, watch)?;
        }
        if choice.value_by == ValueBy::Pagerank {
            values = values_of(&ranks);
        }
        watch.stage("link pages", None);
        let values = web.sorted(values);
        let marks = web.sorted(marks);
        let ranks = if ranks.is_empty() {
            ranks
        } else {
            web.sorted(ranks)
        };
        let of_pages = if of_pages.is_empty() {
            of_pages
        } else {
            web.sorted(of_pages)
        };
        let pages = web.pages();
        let predecessors = web.predecessors();
        drop(web);
        watch.proceed()?;
        let may_be_seed: Vec<bool> = marks.iter().map(|of| of.may_be_seed).collect();
        let pins = numbers_of(&pages, &rules.pins.pages);
        let caps = groups.caps(&of_pages);
        let graph = WebGraph::new(values, predecessors, &may_be_seed).map_err(no_web)?;
        Ok(Self {
            graph: graph.with_constraints(pins, caps).map_err(no_web)?,
            pages,
            ranks,
            marks,
            rank_visits,
        })
    }
}

/// What a page is worth, in millionths, by its own attributes.
fn value_of(page: &PageRecord, facts: PageFacts, p_uniq: PUniq, choice: &WebChoice) -> i64 {
    if page.state == PageState::Crawled {
        page_value(facts, p_uniq, &choice.weights)
    } else {
        choice.value_known.0 + choice.weights.of_quality(facts.quality)
    }
}

/// Whether a page of a site can be a seed, if it has links.
fn may_be_seed(page: &PageRecord, rules: &Rules, site: &str) -> bool {
    page.state == PageState::Crawled && !page.spam && rules.candidates.admit(site, page)
}

/// The numbers of pages, in the order given; those that the web does not have are left out.
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

/// Numbers of sites and of their domains, for caps.
struct Groups {
    policy: Policy,
    sites: u32,
    domains: HashMap<String, u32>,
}

impl Groups {
    fn new(policy: Policy) -> Self {
        Self {
            policy,
            sites: 0,
            domains: HashMap::new(),
        }
    }

    /// The numbers of the next site and of its domain; `None` where no cap counts them.
    fn of(&mut self, site: &str) -> Option<(u32, u32)> {
        if !self.policy.has_caps() {
            return None;
        }
        self.sites += 1;
        let next = u32::try_from(self.domains.len()).unwrap_or(u32::MAX);
        let domain = ingest::registrable(site).to_owned();
        Some((self.sites - 1, *self.domains.entry(domain).or_insert(next)))
    }

    /// The caps on pages of these sites and domains.
    fn caps(&self, of_pages: &[(u32, u32)]) -> Vec<Cap> {
        let cap = |most: Option<u32>, group: fn(&(u32, u32)) -> u32| {
            most.map(|most| Cap {
                group: of_pages.iter().map(group).collect(),
                most,
            })
        };
        let per_site = cap(self.policy.max_per_site, |of| of.0);
        let per_domain = cap(self.policy.max_per_domain, |of| of.1);
        per_site.into_iter().chain(per_domain).collect()
    }
}

/// What pages are worth by their PageRanks: the rank times the number of pages, in millionths,
/// rounded to the nearest. PageRanks follow from the links alone, to the bit.
pub(crate) fn values_of(ranks: &[f64]) -> Vec<i64> {
    let pages = ranks.len() as f64;
    let millionths = |rank: &f64| {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "PageRanks add up to 1, so this is at most a million times the number of pages"
        )]
        let value = (rank * pages * 1e6).round() as i64;
        value
    };
    ranks.iter().map(millionths).collect()
}
