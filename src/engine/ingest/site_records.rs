//! What a batch says of sites themselves.
//!
//! Of several records of one site the largest counts, whole: the one of most bytes, and of equally long
//! ones the last in byte order, as the bank packs them. What a site gives
//! its pages is written into them where they have nothing of their own: in all pages that are there
//! when it changes, and in each that comes later. So whoever reads pages need not know of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fields::Bytes;
use crate::engine::EngineError;
use seedbank_formats::ingest::SiteAttributes;
use seedbank_store::{self, Sorted, Sorter};

/// What a batch said of sites.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct SiteCounts {
    /// Sites that have a record.
    pub named: u64,
    /// Sites of which something else is given than before.
    pub changed: u64,
}

/// Collects records of sites.
pub(super) struct SiteRecords {
    records: Sorter,
    count: u64,
}

impl SiteRecords {
    pub(super) const fn new(records: Sorter) -> Self {
        Self { records, count: 0 }
    }

    pub(super) fn add(&mut self, site: &SiteAttributes) -> Result<(), EngineError> {
        self.count += 1;
        let mut key = key_of(&site.site);
        key.extend_from_slice(&Bytes::default().u64(self.count));
        Ok(self.records.push(&key, &seedbank_store::pack(site)?)?)
    }

    pub(super) fn finish(self) -> Result<SiteClaims, EngineError> {
        Ok(SiteClaims {
            records: self.records.finish()?,
            hasher: (self.count > 0).then(blake3::Hasher::new),
            overruled: 0,
        })
    }
}

/// The beginning of the keys of a site's records. Names have no NUL byte, so these keys sort as the
/// names do.
fn key_of(name: &str) -> Vec<u8> {
    let mut key = Vec::with_capacity(name.len() + 9);
    key.extend_from_slice(name.as_bytes());
    key.push(0);
    key
}

/// What is said of sites, in the order of their names.
pub(super) struct SiteClaims {
    records: Sorted,
    /// Of what was taken so far; `None` where the batch has no records of sites.
    hasher: Option<blake3::Hasher>,
    /// Records that another one of their site overruled, as far as they were taken.
    pub(super) overruled: u64,
}

impl SiteClaims {
    /// What is said of the next site, if its name is before this one; with `None` of any.
    pub(super) fn before(
        &mut self,
        name: Option<&str>,
    ) -> Result<Option<SiteAttributes>, EngineError> {
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

    /// What is said of a site, where all before it were taken.
    pub(super) fn of(&mut self, name: &str) -> Result<Option<SiteAttributes>, EngineError> {
        self.take(&key_of(name))
    }

    fn take(&mut self, of_site: &[u8]) -> Result<Option<SiteAttributes>, EngineError> {
        let mut largest: Option<Vec<u8>> = None;
        while let Some((_, value)) = self.records.next_under(of_site)? {
            self.overruled += u64::from(largest.is_some());
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

    /// The digest of all that was said; `None` where nothing was, so that a batch of pages alone has
    /// the digest that it had before there were records of sites.
    pub(super) fn digest(&self) -> Option<blake3::Hash> {
        self.hasher.as_ref().map(blake3::Hasher::finalize)
    }
}
