//! URLs of pages of other processes.
//!
//! A process requests many URLs at once. The answer has those of the first pages of the request, as many as fit.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::piece::{malformed, split_head, with_head};
use super::record::{Urls, lost_url};
use super::request::{Request, UrlRequest};
use crate::engine::Result;
use crate::engine::processes::Processes;
use crate::engine::site_owners::OtherOwners;
use seedbank_algorithms::page::PageId;
use seedbank_formats::ingest::{self, SiteMode};
use seedbank_store::{PublishedState, RemoteProcess, Store, StoreError, tables};

/// The most pages of a request.
const REQUEST_PAGES: usize = 1 << 14;

/// Pages that are read at once to answer a request.
const READ_PAGES: usize = 256;

/// An answer without the URLs below their sites.
#[derive(Serialize, Deserialize)]
struct UrlHead {
    /// The names of the sites of the pages, in their order.
    sites: Vec<String>,
    /// The length in bytes of the URL of each page below its site.
    lengths: Vec<usize>,
}

/// The processes that have the URLs of a bank.
pub(super) struct OwnersOfUrls<'a> {
    sites: OtherOwners<'a>,
    state: PublishedState,
    mode: SiteMode,
    /// The size in bytes of an answer.
    bytes: usize,
}

/// URLs of pages of other processes.
pub(super) struct OtherUrls<'a> {
    owners: &'a OwnersOfUrls<'a>,
    by_owner: BTreeMap<usize, Urls>,
}

impl<'a> OwnersOfUrls<'a> {
    pub(super) fn new(
        processes: &'a Processes,
        store: &Store,
        state: PublishedState,
        mode: SiteMode,
        bytes: usize,
    ) -> Result<Self> {
        Ok(Self {
            sites: OtherOwners::new(processes, store)?,
            state,
            mode,
            bytes,
        })
    }

    /// Requests the URLs of those pages that other processes have.
    ///
    /// Cost: a request to each of these processes for every 16,384 pages, or more if the URLs are long.
    pub(super) fn urls(&self, pages: impl Iterator<Item = PageId>) -> Result<OtherUrls<'_>> {
        let mut by_owner: BTreeMap<usize, (&Arc<dyn RemoteProcess>, Vec<PageId>)> = BTreeMap::new();
        for page in pages {
            if let Some((owner, process)) = self.sites.of_site(page.site()) {
                let (_, pages) = by_owner.entry(owner).or_insert((process, Vec::new()));
                pages.push(page);
            }
        }
        let mut all = BTreeMap::new();
        for (owner, (process, mut pages)) in by_owner {
            pages.sort_unstable();
            pages.dedup();
            let mut urls = Urls::default();
            let mut left = pages.as_slice();
            while !left.is_empty() {
                let asked = &left[..left.len().min(REQUEST_PAGES)];
                let request = UrlRequest::new(self.state, self.bytes, asked);
                let answer = process.call(&Request::Urls(request).encode()?)?;
                left = &left[self.read(asked, &answer, &mut urls)?..];
            }
            all.insert(owner, urls);
        }
        Ok(OtherUrls {
            owners: self,
            by_owner: all,
        })
    }

    /// Adds the URLs of an answer. Returns the number of pages that it has, at least one.
    fn read(&self, asked: &[PageId], answer: &[u8], urls: &mut Urls) -> Result<usize> {
        let (head, text): (UrlHead, _) = split_head(answer)?;
        let mut text = std::str::from_utf8(text).map_err(|_| malformed())?;
        let UrlHead { sites, lengths } = head;
        if lengths.is_empty() || lengths.len() > asked.len() {
            return Err(malformed().into());
        }
        let mut names = sites.iter();
        let mut site = None;
        for (page, length) in asked.iter().zip(&lengths) {
            let name = match site {
                Some((id, name)) if id == page.site() => name,
                _ => names.next().ok_or_else(malformed)?,
            };
            site = Some((page.site(), name));
            let (local, rest) = text.split_at_checked(*length).ok_or_else(malformed)?;
            text = rest;
            urls.push(*page, |text| ingest::push_url(name, local, self.mode, text));
        }
        if !text.is_empty() || names.next().is_some() {
            return Err(malformed().into());
        }
        Ok(lengths.len())
    }
}

impl OtherUrls<'_> {
    /// Whether another process has the URL of a page.
    pub(super) fn has(&self, page: PageId) -> bool {
        self.owners.sites.of_site(page.site()).is_some()
    }

    /// Returns the URL of a page that was requested.
    pub(super) fn get(&self, page: PageId) -> Result<&str> {
        let (owner, _) = self
            .owners
            .sites
            .of_site(page.site())
            .ok_or_else(lost_url)?;
        self.by_owner.get(&owner).ok_or_else(lost_url)?.get(page)
    }
}

impl UrlRequest {
    /// Requests the URLs of pages, which must ascend.
    pub(super) fn new(state: PublishedState, bytes: usize, pages: &[PageId]) -> Self {
        Self {
            state,
            bytes,
            steps: steps(pages),
        }
    }

    /// Returns the answer: the URLs of the first pages, from a store that has them.
    pub(super) fn answer(&self, store: &Store) -> Result<Vec<u8>> {
        let pages = pages(&self.steps)?;
        let mut head = UrlHead {
            sites: Vec::new(),
            lengths: Vec::new(),
        };
        let mut text = String::new();
        let mut site = None;
        for some in pages.chunks(READ_PAGES) {
            store.records_of(some, |page, record| {
                if site != Some(page.site()) {
                    let of_page = store.need(&tables::SITES, &page.site())?;
                    head.sites.push(of_page.name);
                    site = Some(page.site());
                }
                text.push_str(&record.local);
                head.lengths.push(record.local.len());
                Ok::<_, StoreError>(())
            })?;
            if text.len() >= self.bytes {
                break;
            }
        }
        let mut answer = with_head(&head)?;
        answer.extend_from_slice(text.as_bytes());
        Ok(answer)
    }
}

/// Returns the first page, and what is to be added to each page, which must ascend, for the next one.
fn steps(pages: &[PageId]) -> Vec<u64> {
    let mut last = 0;
    let step = |page: &PageId| page.0 - std::mem::replace(&mut last, page.0);
    pages.iter().map(step).collect()
}

/// Returns the pages of [`steps`]; an error unless they ascend.
fn pages(steps: &[u64]) -> Result<Vec<PageId>> {
    let mut last = 0_u64;
    let mut pages = Vec::with_capacity(steps.len());
    for step in steps {
        if *step == 0 && !pages.is_empty() {
            return Err(malformed().into());
        }
        last = last.checked_add(*step).ok_or_else(malformed)?;
        pages.push(PageId(last));
    }
    Ok(pages)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pages_are_read_back(ids in prop::collection::btree_set(any::<u64>(), 0..20)) {
            let ids: Vec<PageId> = ids.into_iter().map(PageId).collect();
            prop_assert_eq!(pages(&steps(&ids)).unwrap(), ids);
        }
    }

    #[test]
    fn steps_without_an_order_are_errors() {
        assert!(pages(&[5, 0]).is_err());
        assert!(pages(&[u64::MAX, 1]).is_err());
        assert_eq!(pages(&[0, 1]).unwrap(), [PageId(0), PageId(1)]);
    }
}
