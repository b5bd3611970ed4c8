//! Loads the whole web for plans over it: all crawled and known pages in URL order, what they are
//! worth, and all links.
//!
//! [`Whole`] has the pages by site name and then by URL, which is not URL order (of `a.org:8080/`,
//! `a.org/` and `a.org2/` the last comes in the middle). But pages whose URLs agree up to the end of
//! the host are neighbours in both orders; so each such run keeps its order, and the runs are put in
//! the order of what their URLs begin with.
//!
//! Memory: [`Whole`], then that and the links once more page by page, then the links in both
//! directions; 20 bytes per page beside them, and some 100 bytes per run.

use rayon::prelude::*;

use crate::cover::web::{ValueBy, WebChoice, WebGraph};
use crate::cover::{Method, page_value};
use crate::engine::error::no_web;
use crate::engine::refresh::cover::sites::{facts, uncrawled_of_rows};
use crate::engine::whole::Whole;
use crate::engine::{EngineError, naming};
use crate::graph::{Csr, WholeGraph};
use crate::ingest::{self, SiteMode};
use crate::page::{PageId, SiteId};
use crate::rank::pagerank;
use crate::storage::records::{PageRecord, PageState};
use crate::storage::{Store, tables};
use crate::watch::Watch;

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
pub(super) struct Mark {
    pub(super) crawled: bool,
    pub(super) spam: bool,
    pub(super) clicked: bool,
    /// The number of outlinks that are not crawled, as given or as counted; 0 for a known page.
    pub(super) uncrawled_outlinks: u32,
}

/// Pages whose URLs agree up to the end of the host, as numbers of [`Whole`].
struct Run {
    begins: String,
    pages: std::ops::Range<u32>,
}

/// What is gathered of pages while they are loaded, in the order of [`Whole`].
struct Gathering<'a> {
    store: &'a Store,
    choice: &'a WebChoice,
    mode: SiteMode,
    runs: Vec<Run>,
    marks: Vec<Mark>,
    values: Vec<i64>,
    next: u32,
}

impl Gathering<'_> {
    fn site(&mut self, site: SiteId, pages: &[(PageId, PageRecord)]) -> Result<(), EngineError> {
        if pages.is_empty() {
            return Ok(());
        }
        let record = self.store.need(&tables::SITES, &site)?;
        let (distinct, with_digest) = (record.distinct_digests, record.with_digest);
        let p_uniq = self.choice.p_uniq_of(distinct.into(), with_digest.into());
        let of_rows = uncrawled_of_rows(self.store, site)?;
        let first_run = self.runs.len();
        for (_, page) in pages {
            let url = ingest::url(&record.name, &page.local, self.mode);
            let begins = &url[..ingest::end_of_host(&url)];
            match self.runs[first_run..].last_mut() {
                Some(run) if run.begins == begins => run.pages.end += 1,
                _ => self.runs.push(Run {
                    begins: begins.to_owned(),
                    pages: self.next..self.next + 1,
                }),
            }
            self.next += 1;
            let facts = facts(page, &of_rows);
            let crawled = page.state == PageState::Crawled;
            self.values.push(if crawled {
                page_value(facts, p_uniq, &self.choice.weights)
            } else {
                self.choice.value_known.0
            });
            self.marks.push(Mark {
                crawled,
                spam: facts.spam,
                clicked: facts.clicks > 0,
                uncrawled_outlinks: if crawled { facts.uncrawled_outlinks } else { 0 },
            });
        }
        Ok(())
    }
}

impl LoadedWeb {
    pub(super) fn load(
        store: &Store,
        choice: &WebChoice,
        watch: &dyn Watch,
    ) -> Result<Self, EngineError> {
        let mut gathering = Gathering {
            store,
            choice,
            mode: naming(&store.settings()?)?.sites,
            runs: Vec::new(),
            marks: Vec::new(),
            values: Vec::new(),
            next: 0,
        };
        let (whole, numbers) =
            Whole::load_each(store, watch, |site, pages| gathering.site(site, pages))?;
        let Gathering {
            mut runs,
            marks,
            mut values,
            ..
        } = gathering;
        let ids = numbers.pages();
        drop(numbers);
        runs.par_sort_unstable_by(|a, b| a.begins.cmp(&b.begins));
        let order: Vec<u32> = runs.into_iter().flat_map(|run| run.pages).collect();
        let whole = whole.graph;
        let (mut ranks, mut rank_visits) = (Vec::new(), 0);
        if choice.value_by == ValueBy::Pagerank || choice.method == Method::Pagerank {
            watch.stage("rank the whole graph", None);
            (ranks, rank_visits) = pagerank(&whole, watch)?;
        }
        if choice.value_by == ValueBy::Pagerank {
            let count = f64::from(whole.pages());
            values = ranks.iter().map(|rank| millionths(rank * count)).collect();
        }
        watch.stage("link pages", None);
        let predecessors = predecessors(&whole, &order);
        drop(whole);
        watch.proceed()?;
        let values = in_order(&values, &order);
        let marks = in_order(&marks, &order);
        let may_be_seed: Vec<bool> = marks.iter().map(|of| of.crawled && !of.spam).collect();
        Ok(Self {
            graph: WebGraph::new(values, predecessors, &may_be_seed).map_err(no_web)?,
            pages: in_order(&ids, &order),
            ranks: if ranks.is_empty() {
                ranks
            } else {
                in_order(&ranks, &order)
            },
            marks,
            rank_visits,
        })
    }
}

/// A value in millionths, rounded to the nearest. PageRanks follow from the links alone, to the bit.
fn millionths(units: f64) -> i64 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "PageRanks add up to 1, so this is at most a million times the number of pages"
    )]
    let value = (units * 1e6).round() as i64;
    value
}

/// What `of` has, in the order that gives the old place of each.
fn in_order<T: Copy>(of: &[T], order: &[u32]) -> Vec<T> {
    order.iter().map(|&old| of[old as usize]).collect()
}

/// For each page in the new order the pages that link to it, in new numbers, ascending.
fn predecessors(whole: &WholeGraph, order: &[u32]) -> Csr {
    let mut new = vec![0_u32; order.len()];
    for (number, &old) in (0..).zip(order) {
        new[old as usize] = number;
    }
    let links: usize = whole.out_degree.iter().map(|&degree| degree as usize).sum();
    let mut predecessors = Csr::with_capacity(order.len(), links);
    for &old in order {
        let of_rows = whole.citers.list(old).iter();
        let of_rows = of_rows.flat_map(|&row| whole.members.list(row));
        let sources = whole.intra_in.list(old).iter().chain(of_rows);
        let mut sources: Vec<u32> = sources.map(|&source| new[source as usize]).collect();
        sources.sort_unstable();
        predecessors.push(sources);
    }
    predecessors
}
