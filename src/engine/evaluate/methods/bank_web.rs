//! The web as known by the bank, in memory, so that parts of it can be held out.

use std::collections::HashMap;

use crate::engine::EngineError;
use crate::engine::history::timeline::PageTimelines;
use crate::engine::web_graph::{Numbering, load_image, read_records};
use seedbank_algorithms::cover::PageFacts;
use seedbank_algorithms::graph::{Csr, number};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{self, SiteMode};
use seedbank_store::records::{BatchId, Hash128, PageState};
use seedbank_store::{GraphImage, ImageLinks, Store, tables};

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
    /// Number of its content digest, with others for each site; `None` without one.
    pub(super) digest: Option<u32>,
    /// Length of its URL, in bytes.
    pub(super) length: u32,
}

pub(super) struct BankSite {
    pub(super) id: SiteId,
    pub(super) name: String,
}

impl BankWeb {
    /// Loads the published state. Cost: that of [`load_image`], and a scan of all pages.
    pub(super) fn load(
        store: &Store,
        mode: SiteMode,
        watch: &dyn Watch,
    ) -> Result<Self, EngineError> {
        let image = load_image(store, ImageLinks::All, watch)?;
        let numbering = Numbering::by_url(&image, |slot| image.is_live(slot))?;
        let ids = numbering.pages(&image);
        let records = read_records(store, &image, watch, |site, page| {
            let length = number(ingest::url(site, &page.local, mode).len());
            (page.digest, length)
        })?;
        let sites = Self::sites(store, &image, &numbering)?;
        let places: HashMap<SiteId, u32> = sites.iter().map(|site| site.id).zip(0..).collect();
        let mut digests: HashMap<(SiteId, Hash128), u32> = HashMap::new();
        let mut of = Vec::with_capacity(ids.len());
        for (&slot, page) in numbering.slots.iter().zip(&ids) {
            let (digest, length) = records[slot as usize];
            let next = number(digests.len());
            let attributes = image.attributes(slot);
            of.push(BankPage {
                site: places.get(&page.site()).copied().unwrap_or(0),
                crawled: image.is_crawled(slot),
                spam: image.is_spam(slot),
                clicks: attributes.clicks,
                uncrawled_given: attributes.uncrawled_given,
                quality: attributes.quality,
                digest: digest.map(|digest| *digests.entry((page.site(), digest)).or_insert(next)),
                length,
            });
        }
        drop((records, digests));
        watch.stage("link pages", None);
        let predecessors = numbering.successors(&image).transpose(ids.len());
        Ok(Self {
            ids,
            of,
            predecessors,
            sites,
        })
    }

    /// Returns the sites with pages, by name.
    fn sites(
        store: &Store,
        image: &GraphImage,
        pages: &Numbering,
    ) -> Result<Vec<BankSite>, EngineError> {
        let mut sites: Vec<BankSite> = Vec::new();
        for run in image.runs() {
            let mut slots = image.order()[run.range()].iter();
            let is_new = sites.last().is_none_or(|last| last.id != run.site());
            if is_new && slots.any(|slot| pages.number(*slot).is_some()) {
                let name = store.need(&tables::SITES, &run.site())?.name;
                let id = run.site();
                sites.push(BankSite { id, name });
            }
        }
        Ok(sites)
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
