//! The current state in memory: the whole graph, and the worth of each page.

use super::answers::StateView;
use crate::engine::EngineError;
use crate::engine::page_numbers::PageNumbers;
use crate::engine::query::views::Views;
use crate::engine::web_graph::{
    LoadedGraph, Numbering, load_image, page_facts, uncrawled_outlinks,
};
use seedbank_algorithms::cover::{PUniq, Weights, page_value};
use seedbank_algorithms::evaluate::{ForwardGraph, PageWorth};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::rank::pagerank;
use seedbank_algorithms::watch::Watch;
use seedbank_store::{GraphImage, ImageLinks, Store};

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
    /// Loads the state. Cost: that of [`LoadedGraph::load`] and PageRank. Memory: the graph image
    /// and the graph twice, 16 bytes per page, and 40 bytes per page for its worth.
    pub(super) fn load(
        views: Views,
        needed: Needed,
        watch: &dyn Watch,
    ) -> Result<Self, EngineError> {
        let store: &Store = &views.reader;
        let image = load_image(store, ImageLinks::All, watch)?;
        let (whole, numbering) = LoadedGraph::of_image(&image)?;
        let graph = whole.graph;
        let mut worth = Vec::new();
        if needed == Needed::Worth {
            worth = worth_of(&image, &numbering);
            watch.stage("rank the whole graph", None);
            let (scores, _) = pagerank(&graph, watch)?;
            for (of_page, score) in worth.iter_mut().zip(scores) {
                of_page.pagerank = score;
            }
        }
        let pages = numbering.pages(&image);
        drop((image, numbering));
        let numbers = PageNumbers::new(&pages, store.counters()?.next_site)?;
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

/// Returns the worth of the pages, by the default weights.
fn worth_of(image: &GraphImage, pages: &Numbering) -> Vec<PageWorth> {
    let weights = Weights::default();
    let uncrawled = uncrawled_outlinks(image);
    let of_page = |&slot: &u32| {
        let (distinct, with_digest) = image.digests(image.page(slot).site());
        let p_uniq = PUniq::from_digests(distinct.into(), with_digest.into());
        let facts = page_facts(image, slot, &uncrawled);
        let crawled = image.is_crawled(slot);
        PageWorth {
            pagerank: 0.0,
            value: if crawled {
                page_value(facts, p_uniq, &weights)
            } else {
                0
            },
            clicks: facts.clicks,
            spam: facts.spam,
            crawled,
        }
    };
    pages.slots.iter().map(of_page).collect()
}
