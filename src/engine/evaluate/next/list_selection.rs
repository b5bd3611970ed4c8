//! Selects the seeds of each compared list from what is known at a time.

use std::cmp::Reverse;

use super::answers::NextList;
use super::timeline::Knowledge;
use crate::engine::error::{web_graph_error, whole_graph_error};
use crate::engine::{EngineError, Result};
use seedbank_algorithms::cover::global::{ValueBy, WebChoice, WebGraph, WebParams, select};
use seedbank_algorithms::cover::{CoverParams, Method, Value};
use seedbank_algorithms::graph::{Csr, PageGraph, number};
use seedbank_algorithms::rank::pagerank;
use seedbank_algorithms::statistics::draw;
use seedbank_algorithms::watch::Watch;
use seedbank_algorithms::yields::{Observation, expected_links};
use seedbank_store::records::PageState;

const DAY: u64 = 86_400;

/// Hops and fetch costs that are tried for coverage, in millionths.
pub(super) const SETTINGS: [(u32, i64); 4] = [(1, 50_000), (1, 330_000), (2, 50_000), (2, 330_000)];

/// The value of a known page in lists for coverage, in millionths.
const VALUE_KNOWN: i64 = 300_000;

/// The crawl for which lists are made.
#[derive(Clone, Copy)]
pub(super) struct Terms {
    pub(super) seeds: u32,
    /// The number of fetches of each crawl.
    pub(super) budget: u64,
    /// The number of days before the last fetch in the bank within which a fetched page cannot be a seed.
    pub(super) rest: u32,
    pub(super) rng_seed: u64,
}

/// The web as known at a time, with the links and candidates that lists are selected from.
pub(super) struct KnownWeb<'a> {
    known: &'a Knowledge,
    terms: Terms,
    /// Links to pages that are known or crawled.
    successors: Csr,
    /// Pages that may be seeds, ascending.
    eligible: Vec<u32>,
}

impl<'a> KnownWeb<'a> {
    pub(super) fn new(known: &'a Knowledge, terms: Terms) -> Self {
        let is_live = |page: &u32| known.states[*page as usize].is_live();
        let mut successors = Csr::default();
        for links in &known.links {
            successors.push(links.iter().copied().filter(is_live));
        }
        let rests_after = known.last_fetch.saturating_sub(u64::from(terms.rest) * DAY);
        let rests = |page: usize| {
            terms.rest > 0 && known.fetched[page].is_some_and(|fetched| fetched > rests_after)
        };
        let may_be_seed = |page: &u32| {
            let at = *page as usize;
            let has_links = !successors.list(*page).is_empty();
            known.is_crawled(at) && !known.spam[at] && has_links && !rests(at)
        };
        let eligible = (0..number(known.links.len())).filter(may_be_seed).collect();
        Self {
            known,
            terms,
            successors,
            eligible,
        }
    }

    /// Returns the seconds from the last fetch of a page to the next crawl.
    fn since(&self, page: usize) -> u64 {
        let fetched = self.known.fetched[page].unwrap_or(self.known.last_fetch);
        self.known.next_crawl.saturating_sub(fetched)
    }

    fn degree(&self, page: u32) -> u64 {
        self.successors.list(page).len() as u64
    }

    /// Returns the seeds of a list, best first. `setting` is one of [`SETTINGS`], `day` numbers random draws.
    pub(super) fn seeds(
        &self,
        list: NextList,
        setting: usize,
        day: u64,
        watch: &dyn Watch,
    ) -> Result<Vec<u32>> {
        let terms = self.terms;
        let by = |score: &dyn Fn(u32) -> u64| {
            let mut pages = self.eligible.clone();
            pages.sort_by_cached_key(|page| (Reverse(score(*page)), *page));
            pages.truncate(terms.seeds as usize);
            pages
        };
        Ok(match list {
            NextList::Learned => {
                let choice = choice(ValueBy::Learned, None, terms)?;
                self.selected(self.expected(), choice, watch)?
            }
            NextList::Coverage => {
                let choice = choice(ValueBy::Weights, Some(SETTINGS[setting]), terms)?;
                let value = |state: &PageState| match state {
                    PageState::Crawled => Value::units(1).0,
                    PageState::Known => VALUE_KNOWN,
                    PageState::Gone | PageState::Unlinked | PageState::Alias => 0,
                };
                let values = self.known.states.iter().map(value).collect();
                self.selected(values, choice, watch)?
            }
            NextList::OutDegree => by(&|page| self.degree(page)),
            NextList::Oldest => by(&|page| self.since(page as usize)),
            NextList::OutDegreeDays => {
                by(&|page| self.degree(page).saturating_mul(self.since(page as usize)))
            }
            NextList::InDegree => {
                let citers = self.successors.transpose(self.known.links.len());
                by(&|page| citers.list(page).len() as u64)
            }
            NextList::Pagerank => {
                let ranks = self.pagerank(watch)?;
                // Nonnegative floating-point numbers are ordered as their bits are.
                by(&|page| ranks[page as usize].to_bits())
            }
            NextList::Random => {
                let count = number(self.eligible.len());
                let wanted = terms.seeds as usize;
                let drawn = draw("next", terms.rng_seed, day, count, wanted);
                drawn.iter().map(|at| self.eligible[*at as usize]).collect()
            }
        })
    }

    /// Returns the expected new links of the next fetch of each page; 0 for pages that are not known.
    fn expected(&self) -> Vec<i64> {
        let live = |page: &usize| self.known.states[*page].is_live();
        let pages = (0..self.known.links.len()).filter(live);
        let observed = pages.clone().map(|page| {
            let seconds = self.since(page);
            let observation = Observation {
                sums: self.known.sums[page].decayed(seconds),
                links: self.degree(number(page)),
            };
            self.known
                .is_crawled(page)
                .then_some((observation, seconds))
        });
        let mut values = vec![0; self.known.links.len()];
        for (page, value) in pages.zip(expected_links(observed, self.known.first)) {
            values[page] = value;
        }
        values
    }

    fn selected(&self, values: Vec<i64>, choice: WebChoice, watch: &dyn Watch) -> Result<Vec<u32>> {
        let mut may_be_seed = vec![false; values.len()];
        for page in &self.eligible {
            may_be_seed[*page as usize] = true;
        }
        let graph = WebGraph::from_successors(values, self.successors.clone(), &may_be_seed);
        let selected = select(&mut graph.map_err(web_graph_error)?, &choice, &[], watch)?;
        let picks = &selected.cover.picks;
        let pages = selected.order.iter().map(|at| picks[*at].seed.page);
        Ok(pages.collect())
    }

    fn pagerank(&self, watch: &dyn Watch) -> Result<Vec<f64>> {
        let citers = self.successors.transpose(self.known.links.len());
        let graph = PageGraph::new(citers, Csr::default(), &Csr::default());
        Ok(pagerank(&graph.map_err(whole_graph_error)?, watch)?.0)
    }
}

/// Returns the parameters of a greedy list, with the given hops and fetch cost if there are any.
fn choice(value_by: ValueBy, setting: Option<(u32, i64)>, terms: Terms) -> Result<WebChoice> {
    let params = WebParams {
        cover: CoverParams {
            method: Method::Greedy,
            seeds: Some(terms.seeds),
            p_uniq: Some(Value(0)),
            ..CoverParams::default()
        },
        hops: setting.map(|of| of.0),
        fetch_cost: setting.map(|of| Value(of.1)),
        value_by,
        budget: (value_by == ValueBy::Learned).then_some(terms.budget),
        ..WebParams::default()
    };
    params
        .choose()
        .map_err(|_| EngineError::Internal("parameters of a compared list are invalid"))
}
