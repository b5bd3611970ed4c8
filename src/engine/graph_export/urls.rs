//! URLs of pages by node number.

use std::io;

use crate::engine::EngineError;
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_formats::ingest::{self, SiteMode};
use seedbank_store::{Store, StoreError, tables};

/// Map from node numbers to URLs.
#[derive(Default)]
pub(super) struct Urls {
    /// Number, and start and end of the URL in `text`, sorted by number.
    pages: Vec<(u32, usize, usize)>,
    text: String,
}

impl Urls {
    /// Reads the URLs of the pages. Cost: a lookup per page.
    pub(super) fn load(
        store: &Store,
        mode: SiteMode,
        mut pages: Vec<(PageId, u32)>,
    ) -> Result<Self, EngineError> {
        pages.sort_unstable();
        pages.dedup();
        let ids: Vec<PageId> = pages.iter().map(|(page, _)| *page).collect();
        let mut urls = Self::default();
        let mut numbers = pages.iter().map(|(_, number)| *number);
        let mut site: Option<(SiteId, String)> = None;
        store.records_of(&ids, |page, record| {
            let name = match site.take() {
                Some((of, name)) if of == page.site() => name,
                _ => store.need(&tables::SITES, &page.site())?.name,
            };
            let url = ingest::url(&name, &record.local, mode);
            site = Some((page.site(), name));
            if let Some(number) = numbers.next() {
                let begin = urls.text.len();
                urls.text.push_str(&url);
                urls.pages.push((number, begin, urls.text.len()));
            }
            Ok::<_, StoreError>(())
        })?;
        urls.pages.sort_unstable();
        Ok(urls)
    }

    /// Returns the URL of a page.
    pub(super) fn get(&self, number: u32) -> io::Result<&str> {
        let found = self.pages.binary_search_by_key(&number, |page| page.0);
        let place = found.ok().and_then(|at| self.pages.get(at));
        let url = place.and_then(|(_, begin, end)| self.text.get(*begin..*end));
        url.ok_or_else(|| io::Error::other("a link lost its URL"))
    }
}
