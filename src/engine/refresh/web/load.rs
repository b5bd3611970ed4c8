//! Loads the whole web for plans over it: all crawled and known pages in URL order, what they are
//! worth, and all links.
//!
//! Memory: that of [`InUrlOrder`], then the links in both directions; 20 bytes per page beside them.

use super::url_order::InUrlOrder;
use crate::cover::web::{ValueBy, WebChoice, WebGraph};
use crate::cover::{Method, page_value};
use crate::engine::EngineError;
use crate::engine::error::no_web;
use crate::engine::refresh::cover::sites::{facts, uncrawled_of_rows};
use crate::page::PageId;
use crate::rank::pagerank;
use crate::storage::Store;
use crate::storage::records::PageState;
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

impl LoadedWeb {
    pub(super) fn load(
        store: &Store,
        choice: &WebChoice,
        watch: &dyn Watch,
    ) -> Result<Self, EngineError> {
        let (mut values, mut marks) = (Vec::new(), Vec::new());
        let web = InUrlOrder::load(store, watch, |site, record, pages| {
            let (distinct, with_digest) = (record.distinct_digests, record.with_digest);
            let p_uniq = choice.p_uniq_of(distinct.into(), with_digest.into());
            let of_rows = uncrawled_of_rows(store, site)?;
            for (_, page) in pages {
                let facts = facts(page, &of_rows);
                let crawled = page.state == PageState::Crawled;
                values.push(if crawled {
                    page_value(facts, p_uniq, &choice.weights)
                } else {
                    choice.value_known.0
                });
                marks.push(Mark {
                    crawled,
                    spam: facts.spam,
                    clicked: facts.clicks > 0,
                    uncrawled_outlinks: if crawled { facts.uncrawled_outlinks } else { 0 },
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
        let values = web.sorted(&values);
        let marks = web.sorted(&marks);
        let ranks = if ranks.is_empty() {
            ranks
        } else {
            web.sorted(&ranks)
        };
        let pages = web.pages();
        let predecessors = web.predecessors();
        drop(web);
        watch.proceed()?;
        let may_be_seed: Vec<bool> = marks.iter().map(|of| of.crawled && !of.spam).collect();
        Ok(Self {
            graph: WebGraph::new(values, predecessors, &may_be_seed).map_err(no_web)?,
            pages,
            ranks,
            marks,
            rank_visits,
        })
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
