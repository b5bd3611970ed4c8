//! The web as known by the bank, in memory, so that parts of it can be held out.

use std::collections::HashMap;

use crate::engine::EngineError;
use crate::engine::history::timeline::PageTimelines;
use crate::engine::refresh::global::url_order::UrlOrderedGraph;
use crate::engine::web_graph::ALL_PAGES;
use seedbank_algorithms::cover::PageFacts;
use seedbank_algorithms::graph::{Csr, number};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{self, SiteMode};
use seedbank_store::Store;
use seedbank_store::records::{BatchId, PageState};

/// All crawled and known pages, numbered in URL order, with the facts that determine their values.
///
/// Memory: 4 bytes per link and some 60 bytes per page.
pub(super) struct BankWeb {
    pub(super) ids: Vec<PageId>,
    pub(super) of: Vec<BankPage>,
    /// The pages that link to each page, ascending.
    pub(super) predecessors: Csr,
    /// The sites by name.
    pub(super) sites: Vec<BankSite>,
}

#[derive(Clone, Copy)]
pub(super) struct BankPage {
    /// Index of its site among the sites by name.
    pub(super) site: u32,
    pub(super) crawled: bool,
    pub(super) spam: bool,
    pub(super) clicks: u64,
    /// Number of uncrawled outlinks in its record; `None` if it is counted.
    pub(super) uncrawled_given: Option<u32>,
    pub(super) quality: u16,
    /// Number of its content digest among those of the site; `None` without one.
    pub(super) digest: Option<u32>,
    /// Length of its URL, in bytes.
    pub(super) length: u32,
}

pub(super) struct BankSite {
    pub(super) id: SiteId,
    pub(super) name: String,
}

impl BankWeb {
    /// Loads the published state. Cost: that of [`UrlOrderedGraph::load`].
    pub(super) fn load(
        store: &Store,
        mode: SiteMode,
        watch: &dyn Watch,
    ) -> Result<Self, EngineError> {
        let mut of = Vec::new();
        let mut sites: Vec<BankSite> = Vec::new();
        let web = UrlOrderedGraph::load(store, &ALL_PAGES, watch, |id, record, pages| {
            let mut digests = HashMap::new();
            let site = number(sites.len());
            for (_, page) in pages {
                let next = number(digests.len());
                let url = ingest::url(&record.name, &page.local, mode);
                of.push(BankPage {
                    site,
                    crawled: page.state == PageState::Crawled,
                    spam: page.spam,
                    clicks: page.clicks,
                    uncrawled_given: page.uncrawled_given,
                    quality: page.quality(),
                    digest: page
                        .digest
                        .map(|digest| *digests.entry(digest).or_insert(next)),
                    length: number(url.len()),
                });
            }
            sites.push(BankSite {
                id,
                name: record.name.clone(),
            });
            Ok(())
        })?;
        watch.stage("link pages", None);
        let of = web.sorted(of);
        let ids = web.pages();
        let predecessors = web.predecessors();
        drop(web);
        Ok(Self {
            ids,
            of,
            predecessors,
            sites,
        })
    }

    pub(super) fn pages(&self) -> u32 {
        number(self.of.len())
    }

    /// Returns the numbers of live pages.
    pub(super) fn numbers(&self, pages: &[PageId]) -> Result<Vec<u32>, EngineError> {
        let places = self.ids.iter().copied().zip(0..);
        let places: HashMap<PageId, u32> = places.collect();
        pages
            .iter()
            .map(|page| {
                places.get(page).copied().ok_or(EngineError::Internal(
                    "a live page is missing from the whole web",
                ))
            })
            .collect()
    }

    /// Returns the crawled pages, ascending.
    pub(super) fn crawled(&self) -> Vec<u32> {
        (0..self.pages())
            .filter(|&page| self.of[page as usize].crawled)
            .collect()
    }

    /// Returns the crawled pages that were not crawled at a batch.
    pub(super) fn crawled_since(
        &self,
        store: &Store,
        batch: BatchId,
    ) -> Result<Vec<u32>, EngineError> {
        let past = PageTimelines::open(store, batch)?;
        let mut since = Vec::new();
        for page in self.crawled() {
            let previous = past.timeline(self.ids[page as usize])?.after(batch);
            if previous.state != Some(PageState::Crawled) {
                since.push(page);
            }
        }
        Ok(since)
    }
}

/// Returns the facts that determine the value of a page; `counted` is the number of its uncrawled
/// outlinks if its record has none.
pub(super) fn facts(page: &BankPage, counted: u32) -> PageFacts {
    PageFacts {
        spam: page.spam,
        clicks: page.clicks,
        uncrawled_outlinks: page.uncrawled_given.unwrap_or(counted),
        quality: page.quality,
    }
}
