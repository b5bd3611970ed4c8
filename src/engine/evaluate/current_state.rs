//! The current state in memory: the whole graph, and the worth of each page.

use std::collections::HashMap;

use super::answers::StateView;
use crate::engine::EngineError;
use crate::engine::query::views::Views;
use crate::engine::refresh::cover::sites::{facts, uncrawled_of_rows};
use crate::engine::web_graph::{ALL_PAGES, LoadedGraph, PageNumbers};
use seedbank_algorithms::cover::{PUniq, Weights, page_value};
use seedbank_algorithms::evaluate::{ForwardGraph, PageWorth};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::rank::pagerank;
use seedbank_algorithms::watch::Watch;
use seedbank_store::records::{PageRecord, PageState, SiteRecord};
use seedbank_store::{Store, tables};

/// The state that seeds are evaluated on.
pub(super) struct CurrentState {
    pub(super) views: Views,
    pub(super) state: StateView,
    pub(super) web: ForwardGraph,
    pub(super) numbers: PageNumbers,
    /// By page number; empty if only the links were loaded.
    pub(super) worth: Vec<PageWorth>,
}

/// The part of the state to load.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Needed {
    Links,
    /// The links and the worth of the pages.
    Worth,
}

impl CurrentState {
    /// Loads the state. Cost: that of [`LoadedGraph::load`], a second scan of row members, and
    /// PageRank. Memory: the graph twice, 16 bytes per page, and 40 bytes per page for its worth.
    pub(super) fn load(
        views: Views,
        needed: Needed,
        watch: &dyn Watch,
    ) -> Result<Self, EngineError> {
        let mut worth = Vec::new();
        let store: &Store = &views.reader;
        let mut rows = store.scan_by_site(&tables::ROW_MEMBERS)?;
        let (whole, numbers) = LoadedGraph::load_each(store, &ALL_PAGES, watch, |site, pages| {
            if needed == Needed::Worth {
                let of_rows = uncrawled_of_rows(rows.of_site(site))?;
                let site = store.need(&tables::SITES, &site)?;
                push_worth(&site, pages, &of_rows, &mut worth);
            }
            Ok(())
        })?;
        drop(rows);
        let graph = whole.graph;
        if needed == Needed::Worth {
            watch.stage("rank the whole graph", None);
            let (scores, _) = pagerank(&graph, watch)?;
            for (of_page, score) in worth.iter_mut().zip(scores) {
                of_page.pagerank = score;
            }
        }
        watch.proceed()?;
        Ok(Self {
            state: state(store)?,
            web: ForwardGraph::new(graph),
            views,
            numbers,
            worth,
        })
    }

    pub(super) fn url(&self, page: PageId) -> Result<String, EngineError> {
        Ok(self.views.name(page)?.1)
    }
}

/// Returns the totals of a bank.
pub(super) fn state(store: &Store) -> Result<StateView, EngineError> {
    let counters = store.counters()?;
    Ok(StateView {
        batch: counters.batch,
        pages: counters.known + counters.crawled,
        crawled: counters.crawled,
        links: counters.intra_links + counters.inter_links,
    })
}

/// Appends the worth of the pages of a site, by the default weights.
fn push_worth(
    site: &SiteRecord,
    pages: &[(PageId, PageRecord)],
    of_rows: &HashMap<u32, u32>,
    worth: &mut Vec<PageWorth>,
) {
    let p_uniq = PUniq::from_digests(site.distinct_digests.into(), site.with_digest.into());
    let weights = Weights::default();
    for (_, page) in pages {
        let crawled = page.state == PageState::Crawled;
        worth.push(PageWorth {
            pagerank: 0.0,
            value: if crawled {
                page_value(facts(page, of_rows), p_uniq, &weights)
            } else {
                0
            },
            clicks: page.clicks,
            spam: page.spam,
            crawled,
        });
    }
}
