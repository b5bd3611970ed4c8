//! Sites on which one content is on many pages: a page to log in, an error page with status 200, a parked domain, or a trap.

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::Result;
use seedbank_algorithms::page::SiteId;
use seedbank_store::records::SiteRecord;
use seedbank_store::{Store, tables};

/// A content is named if it is on more than this many pages of a site.
const PAGES: u32 = 20;
/// The most sites that are named.
const SITES: usize = 20;
/// A site with fewer digests is not called a trap.
const MIN_TRAP: u32 = 100;
/// A site is a likely trap if at most one in this many of its pages with a digest has a content of its own.
const TRAP_ONE_IN: u32 = 20;

/// A site on which one content is on more than 20 pages.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RepeatedContent {
    /// Name of the site.
    pub site: String,
    /// Number of crawled pages with its most frequent digest.
    #[schemars(range(min = 21))]
    pub pages: u32,
    /// Number of crawled pages with a digest.
    pub with_digest: u32,
    /// Number of their distinct digests.
    pub distinct: u32,
    /// Whether the site is a likely trap: at least 100 crawled pages have a digest, and at most a twentieth as many digests
    /// are distinct.
    pub trap: bool,
}

/// The sites on which pages have the content of another page of the site, with the number of these pages.
#[derive(Default)]
pub(crate) struct MostRepeated(Vec<(Reverse<u32>, SiteId)>);

impl MostRepeated {
    pub(crate) fn add(&mut self, id: SiteId, record: &SiteRecord) {
        let copies = record.with_digest.saturating_sub(record.distinct_digests);
        if copies >= PAGES {
            self.0.push((Reverse(copies), id));
        }
    }

    /// Returns those on which one content is on more than 20 pages, the most copies first. Cost: the digests of at most 20
    /// sites.
    pub(crate) fn find(mut self, store: &Store) -> Result<Vec<RepeatedContent>> {
        self.0.sort_unstable();
        let mut found = Vec::new();
        for (_, id) in self.0.into_iter().take(SITES) {
            let mut pages = 0;
            for entry in store.scan_under(&tables::DIGESTS, &id.0.to_be_bytes())? {
                pages = pages.max(entry?.1);
            }
            if pages > PAGES {
                let record = store.need(&tables::SITES, &id)?;
                found.push(RepeatedContent {
                    trap: is_trap(&record),
                    pages,
                    with_digest: record.with_digest,
                    distinct: record.distinct_digests,
                    site: record.name,
                });
            }
        }
        Ok(found)
    }
}

/// Returns whether a site is a likely trap.
pub(crate) fn is_trap(record: &SiteRecord) -> bool {
    let of_digests = record.with_digest / TRAP_ONE_IN;
    record.with_digest >= MIN_TRAP && record.distinct_digests <= of_digests
}

/// Returns the likely traps. Cost: the records of all sites.
pub(crate) fn likely_traps(store: &Store) -> Result<Vec<RepeatedContent>> {
    let mut most = MostRepeated::default();
    for entry in store.scan(&tables::SITES)? {
        let (id, record) = entry?;
        if is_trap(&record) {
            most.add(id, &record);
        }
    }
    most.find(store)
}
