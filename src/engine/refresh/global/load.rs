//! Loads the whole web for plans over it: all crawled and known pages in URL order, their values,
//! and all links.
//!
//! Memory: that of [`UrlOrderedGraph`], then the links in both directions and 20 bytes per page.

use std::collections::HashMap;

use super::url_order::UrlOrderedGraph;
use crate::engine::Result;
use crate::engine::error::web_graph_error;
use crate::engine::policy::{LoadedPolicy, Policy};
use crate::engine::refresh::cover::sites::{facts, uncrawled_of_rows};
use crate::engine::refresh::run_context::RunContext;
use seedbank_algorithms::cover::global::{Cap, ValueBy, WebChoice, WebGraph};
use seedbank_algorithms::cover::{Method, PUniq, PageFacts, page_value, pagerank_values};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::rank::pagerank;
use seedbank_formats::ingest;
use seedbank_store::records::{PageRecord, PageState};
use seedbank_store::tables;

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
        } = context;
        let (mut values, mut values_as_known) = (Vec::new(), Vec::new());
        let mut marks = Vec::new();
        let has_quality = choice.weights.quality.0 != 0;
        let candidates = &rules.candidates;
        let is_included = |site: &str, page: &PageRecord| !candidates.is_excluded(site, page);
        let mut groups = Groups {
            policy: rules.policy,
            ..Groups::default()
        };
        let mut of_pages = Vec::new();
        let mut rows = store.scan_by_site(&tables::ROW_MEMBERS)?;
        let web = UrlOrderedGraph::load(store, &is_included, watch, |site, record, pages| {
            if let Some(group) = groups.next_site(&record.name) {
                of_pages.extend(pages.iter().map(|_| group));
            }
            let (distinct, with_digest) = (record.distinct_digests, record.with_digest);
            let p_uniq = PUniq::new(choice.p_uniq, distinct.into(), with_digest.into());
            let of_rows = uncrawled_of_rows(rows.of_site(site))?;
            for (_, page) in pages {
                let facts = facts(page, &of_rows);
                let crawled = page.state == PageState::Crawled;
                values.push(value_of(page, facts, p_uniq, choice));
                if has_quality {
                    values_as_known.push(choice.weights.quality_value(facts.quality));
                }
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
            values = pagerank_values(&ranks);
        }
        watch.stage("link pages", None);
        // Everything was collected in loading order; the selection needs URL order.
        let values = web.sorted(values);
        if has_quality {
            values_as_known = web.sorted(values_as_known);
        }
        let marks = web.sorted(marks);
        let ranks = web.sorted(ranks);
        let of_pages = web.sorted(of_pages);
        // Free the graph in loading order before the final one is built.
        let pages = web.pages();
        let predecessors = web.predecessors();
        drop(web);
        watch.proceed()?;
        let may_be_seed: Vec<bool> = marks.iter().map(|of| of.may_be_seed).collect();
        let known: Vec<bool> = marks.iter().map(|of| !of.crawled).collect();
        let pins = numbers_of(&pages, &rules.pins.pages);
        let caps = groups.caps(&of_pages);
        let graph = WebGraph::new(values, predecessors, &may_be_seed).map_err(web_graph_error)?;
        Ok(Self {
            graph: graph
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

/// Returns the value of a page by its own attributes, in millionths.
fn value_of(page: &PageRecord, facts: PageFacts, p_uniq: PUniq, choice: &WebChoice) -> i64 {
    if page.state == PageState::Crawled {
        page_value(facts, p_uniq, &choice.weights)
    } else {
        choice.given_value_known().0 + choice.weights.quality_value(facts.quality)
    }
}

/// Whether a page of a site can be a seed, provided that it has links.
fn may_be_seed(page: &PageRecord, rules: &LoadedPolicy, site: &str) -> bool {
    page.state == PageState::Crawled && !page.spam && rules.candidates.allows(site, page)
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

/// Numbers of sites and of their domains, for caps.
#[derive(Default)]
struct Groups {
    policy: Policy,
    sites: u32,
    domains: HashMap<String, u32>,
}

impl Groups {
    /// Returns the numbers of the next site and of its domain; `None` without caps.
    fn next_site(&mut self, site: &str) -> Option<(u32, u32)> {
        if !self.policy.has_caps() {
            return None;
        }
        self.sites += 1;
        let next = u32::try_from(self.domains.len()).unwrap_or(u32::MAX);
        let domain = ingest::registrable_domain(site).to_owned();
        Some((self.sites - 1, *self.domains.entry(domain).or_insert(next)))
    }

    /// Returns the caps, given the site and domain of each page.
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
