//! Attributes of sites in a batch.
//!
//! Of several records of one site the largest counts as a whole: the one with the most bytes in
//! packed form, then the last in byte order. Attributes of a site are copied into its pages that
//! have no value of their own: into existing pages when they change, and into each new page. So
//! readers of pages need not read the site.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fields::Bytes;
use crate::engine::Result;
use seedbank_formats::ingest::SiteAttributes;
use seedbank_store::{self, Sorted, Sorter};

/// Changes of sites by a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct SiteCounts {
    /// Number of sites with a record.
    pub named: u64,
    /// Number of sites whose attributes changed.
    pub changed: u64,
}

/// Collector of records of sites.
pub(super) struct SiteRecords {
    records: Sorter,
    count: u64,
}

impl SiteRecords {
    pub(super) const fn new(records: Sorter) -> Self {
        Self { records, count: 0 }
    }

    pub(super) fn add(&mut self, site: &SiteAttributes) -> Result<()> {
        self.count += 1;
        let mut key = key_of(&site.site);
        key.extend_from_slice(&Bytes::default().u64(self.count));
        Ok(self.records.push(&key, &seedbank_store::pack(site)?)?)
    }

    pub(super) fn finish(self) -> Result<SortedSiteRecords> {
        Ok(SortedSiteRecords {
            records: self.records.finish()?,
            hasher: (self.count > 0).then(blake3::Hasher::new),
            superseded: 0,
        })
    }
}

/// Returns the key prefix of a site's records. Names contain no NUL byte, so these keys sort as the
/// names do.
fn key_of(name: &str) -> Vec<u8> {
    let mut key = Vec::with_capacity(name.len() + 9);
    key.extend_from_slice(name.as_bytes());
    key.push(0);
    key
}

/// Attributes of sites, in the order of their names.
pub(super) struct SortedSiteRecords {
    records: Sorted,
    /// Digest of the records taken so far; `None` if the batch has no records of sites.
    hasher: Option<blake3::Hasher>,
    /// Number of records so far that another record of the same site superseded.
    pub(super) superseded: u64,
}

impl SortedSiteRecords {
    /// Returns the attributes of the next site if its name is before this one, or of any with
    /// `None`.
    pub(super) fn take_before(&mut self, name: Option<&str>) -> Result<Option<SiteAttributes>> {
        let Some(key) = self.records.peek()? else {
            return Ok(None);
        };
        let next = key.split_last_chunk::<8>().map_or(key, |(next, _)| next);
        if name.is_some_and(|name| next >= key_of(name).as_slice()) {
            return Ok(None);
        }
        let next = next.to_vec();
        self.take(&next)
    }

    /// Returns the attributes of a site. All sites before it must have been taken.
    pub(super) fn take_site(&mut self, name: &str) -> Result<Option<SiteAttributes>> {
        self.take(&key_of(name))
    }

    fn take(&mut self, of_site: &[u8]) -> Result<Option<SiteAttributes>> {
        let mut largest: Option<Vec<u8>> = None;
        while let Some((_, value)) = self.records.next_under(of_site)? {
            self.superseded += u64::from(largest.is_some());
            let is_larger =
                |other: &Vec<u8>| (value.len(), value) > (other.len(), other.as_slice());
            if largest.as_ref().is_none_or(is_larger) {
                largest = Some(value.to_vec());
            }
        }
        let Some(bytes) = largest else {
            return Ok(None);
        };
        if let Some(hasher) = &mut self.hasher {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(&bytes);
        }
        Ok(Some(seedbank_store::unpack(&bytes)?))
    }

    /// Returns the digest of all records; `None` if there are none, so that a batch of pages alone
    /// has the same digest as before records of sites existed.
    pub(super) fn digest(&self) -> Option<blake3::Hash> {
        self.hasher.as_ref().map(blake3::Hasher::finalize)
    }
}
