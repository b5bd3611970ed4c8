//! The digest of a batch, by which the same batch is recognised.
//!
//! It is computed over the canonical records in the order of pages. In a cluster bank each part has a digest of the
//! records of its sites, and that of the batch is over those of the parts: it depends on the number of parts, which
//! never changes, and not on which process has which part.

use std::collections::BTreeMap;

use blake3::{Hash, Hasher};

use seedbank_algorithms::page::SiteId;
use seedbank_store::{SiteParts, Store};

/// The digests of records, one for each part of a cluster bank that has any; of other banks a single one.
pub(super) struct PartDigests {
    parts: Option<SiteParts>,
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
            parts: store.site_parts(),
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
        let part = self.parts.map_or(0, number);
        // There are at most 1,024 parts.
        let part = u32::try_from(part).unwrap_or(u32::MAX);
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
    /// Returns the digest of a batch whose records of pages and of sites have these digests, by part. `self` has the
    /// records of pages of this process.
    pub(super) fn of_batch(&self, mut pages: Vec<PartDigest>, mut sites: Vec<PartDigest>) -> Hash {
        sites.sort_unstable();
        if self.parts.is_none() {
            let mut hasher = self.by_part.get(&0).unwrap_or(&self.start).clone();
            for (_, digest) in sites {
                hasher.update(&digest);
            }
            return hasher.finalize();
        }
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
