//! How crawlers came to the fetches of a batch, in the input.

use serde::{Deserialize, Serialize};

use super::fetch_times::FetchTimes;
use crate::engine::Result;
use seedbank_algorithms::page::PageId;
use seedbank_store::seed_fetches::SeedFetch;

/// How a crawler came to a fetch. Pages are numbers of URLs in a portion, then ranks, then ids.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Origin {
    /// Whether the fetch failed.
    pub(super) failed: bool,
    seed: u64,
    via: Option<u64>,
    depth: Option<u32>,
    /// Hash of the URLs and the depth, which does not depend on ids.
    hash: u64,
}

impl Origin {
    pub(super) const fn new(failed: bool, seed: u32, via: Option<u32>, depth: Option<u32>) -> Self {
        let via = match via {
            Some(via) => Some(via as u64),
            None => None,
        };
        Self {
            failed,
            seed: seed as u64,
            via,
            depth,
            hash: 0,
        }
    }

    /// Replaces the numbers of pages.
    pub(super) fn renumbered(self, mut number: impl FnMut(u64) -> Result<u64>) -> Result<Self> {
        Ok(Self {
            seed: number(self.seed)?,
            via: self.via.map(number).transpose()?,
            ..self
        })
    }

    /// Sets the hash, given that of a URL by its number.
    pub(super) fn hashed(self, mut hash: impl FnMut(u64) -> Result<u128>) -> Result<Self> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&hash(self.seed)?.to_be_bytes());
        let via = self.via.map(hash).transpose()?;
        hasher.update(&via.unwrap_or(0).to_be_bytes());
        hasher.update(&self.depth.map_or(u64::MAX, u64::from).to_be_bytes());
        let mut first = [0; 8];
        first.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
        Ok(Self {
            hash: u64::from_be_bytes(first),
            ..self
        })
    }

    const fn fetch(self) -> SeedFetch {
        SeedFetch {
            seed: PageId(self.seed),
            via: match self.via {
                Some(via) => Some(PageId(via)),
                None => None,
            },
            depth: self.depth,
        }
    }
}

/// Returns the origin of the fetch of a page at a time, in seconds. Another record of the same fetch may tell it,
/// such as a line of a log beside an archive. Of several, the first in the order of hashes counts.
pub(super) fn origin_of(
    origins: &[(u64, Origin)],
    failed: bool,
    at: Option<u64>,
    times: &FetchTimes,
) -> Option<SeedFetch> {
    let at = at?;
    let is_same = |(order, origin): &&(u64, Origin)| {
        origin.failed == failed && times.seconds(*order) == Some(at)
    };
    let first = origins.iter().filter(is_same).min_by_key(|of| of.1.hash);
    first.map(|(_, origin)| origin.fetch())
}

/// Appends origins to the bytes of a record in a batch's digest. Without any, the digest is that of before they
/// existed.
pub(super) fn put(origins: &[(u64, Origin)], bytes: &mut Vec<u8>) {
    let key = |(order, origin): &(u64, Origin)| (*order, origin.failed, origin.hash);
    let mut keys: Vec<_> = origins.iter().map(key).collect();
    keys.sort_unstable();
    for (order, failed, hash) in keys {
        bytes.extend_from_slice(&order.to_le_bytes());
        bytes.push(u8::from(failed));
        bytes.extend_from_slice(&hash.to_le_bytes());
    }
}
