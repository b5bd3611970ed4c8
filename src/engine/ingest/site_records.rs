//! Attributes of sites in a batch.
//!
//! Of several records of one site the largest counts as a whole: the one with the most bytes in
//! packed form, then the last in byte order. Attributes of a site are copied into its pages that
//! have no value of their own: into existing pages when they change, and into each new page. So
//! readers of pages need not read the site.

use std::collections::BTreeMap;

use blake3::{Hash, Hasher};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::events::Bytes;
use super::exchange::Shuffle;
use crate::engine::Result;
use seedbank_algorithms::page::SiteId;
use seedbank_formats::ingest::SiteAttributes;
use seedbank_store::{self, SiteParts, Sorted, Store};

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
    records: Shuffle,
    count: u64,
}

impl SiteRecords {
    pub(super) const fn new(records: Shuffle) -> Self {
        Self { records, count: 0 }
    }

    pub(super) fn add(&mut self, site: &SiteAttributes) -> Result<()> {
        self.count += 1;
        let mut key = key_of(&site.site);
        key.extend_from_slice(&Bytes::default().u64(self.count));
        Ok(self.records.push(&key, &seedbank_store::pack(site)?)?)
    }

    /// Returns the records of the sites of this process.
    pub(super) fn finish(mut self, store: &Store) -> Result<SortedSiteRecords> {
        Ok(SortedSiteRecords {
            records: self.records.take()?,
            digests: PartDigests::new(store, blake3::Hasher::new()),
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
    /// Digests of the records taken so far.
    digests: PartDigests,
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
        let attributes: SiteAttributes = seedbank_store::unpack(&bytes)?;
        let hasher = self.digests.of_name(&attributes.site);
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(&bytes);
        Ok(Some(attributes))
    }

    /// Returns the digests of the records; none if there are no records, so that a batch of pages alone has the
    /// same digest as before records of sites existed.
    pub(super) fn digests(&self) -> Vec<PartDigest> {
        self.digests.finish()
    }
}

// The digest of a batch, by which the same batch is recognised.
//
// It is computed over the canonical records in the order of pages. Each part of a cluster bank, or range of sites of any other
// bank, has a digest of the records of its sites, and that of the batch is over these: it depends on the number of parts, which
// never changes, and not on which process or thread has which part.

/// The digests of records, one for each part or range that has any.
pub(super) struct PartDigests {
    parts: SiteParts,
    /// A hasher of the options of the batch, with which each digest begins.
    start: Hasher,
    by_part: BTreeMap<u32, Hasher>,
}

/// A part and the digest of its records.
pub(super) type PartDigest = (u32, [u8; 32]);

impl PartDigests {
    /// Creates digests that begin with what `start` has.
    pub(super) fn new(store: &Store, start: Hasher) -> Self {
        Self {
            parts: store.site_parts().unwrap_or(SiteParts::in_ranges()),
            start,
            by_part: BTreeMap::new(),
        }
    }

    /// Returns the hasher of the records of a site.
    pub(super) fn of_site(&mut self, site: SiteId) -> &mut Hasher {
        self.of_part(|parts| parts.of_site(site))
    }

    /// Returns the hasher of the records of the site with this name.
    pub(super) fn of_name(&mut self, name: &str) -> &mut Hasher {
        self.of_part(|parts| parts.of_name(name.as_bytes()))
    }

    fn of_part(&mut self, number: impl FnOnce(SiteParts) -> usize) -> &mut Hasher {
        // There are at most 1,024 parts.
        let part = u32::try_from(number(self.parts)).unwrap_or(u32::MAX);
        let start = &self.start;
        self.by_part.entry(part).or_insert_with(|| start.clone())
    }

    /// Returns the digests of the parts that have records.
    pub(super) fn finish(&self) -> Vec<PartDigest> {
        let of_parts = self.by_part.iter();
        of_parts
            .map(|(part, hasher)| (*part, *hasher.finalize().as_bytes()))
            .collect()
    }
}

impl PartDigests {
    /// Returns the digest of a batch whose records of pages and of sites have these digests, by part.
    pub(super) fn of_batch(&self, mut pages: Vec<PartDigest>, mut sites: Vec<PartDigest>) -> Hash {
        sites.sort_unstable();
        pages.sort_unstable();
        let mut hasher = self.start.clone();
        for (kind, digests) in [(b'p', pages), (b's', sites)] {
            for (part, digest) in digests {
                hasher.update(&[kind]);
                hasher.update(&part.to_le_bytes());
                hasher.update(&digest);
            }
        }
        hasher.finalize()
    }
}
