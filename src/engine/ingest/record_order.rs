//! Order of several records of one page with the same fetch time: the largest counts.
//!
//! The result of a batch must not depend on the order of its records, so records of one page need a
//! total order that depends only on their content. They are compared by fetch time; at equal times,
//! or without, by the length of their canonical form; at equal lengths by its hash. The canonical
//! form consists of the packed attributes and the keys of the URLs to which the page links or
//! leads. These URLs are normalised, so their spelling does not matter, nor does their order: the
//! hash covers the sum of their hashes.

use super::page_update::PageUpdate;
use super::urls::Urls;
use crate::engine::Result;

/// The size of a record in its canonical form, and its hash. Records of equal order have the same
/// content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct RecordOrder {
    pub(super) bytes: u64,
    pub(super) hash: [u8; 16],
}

impl RecordOrder {
    /// Returns the order of a record without links.
    pub(super) fn of_update(update: &PageUpdate) -> Result<Self> {
        Ok(Self::new(&update.digest_bytes()?, 0, 0))
    }

    /// `links` is the length of the keys of the record's URLs in bytes, `sum` the sum of their
    /// hashes.
    fn new(attributes: &[u8], links: u64, sum: u128) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(attributes);
        hasher.update(&sum.to_be_bytes());
        Self {
            bytes: attributes.len() as u64 + links,
            hash: first_half(&hasher.finalize()).to_be_bytes(),
        }
    }
}

/// Computes the order of the records of a portion. Each URL is hashed once.
pub(super) struct RecordHasher {
    /// Hashes of URLs by number; 0 if not computed. Empty until the first record.
    hashes: Vec<u128>,
    key: Vec<u8>,
}

impl RecordHasher {
    pub(super) const fn new() -> Self {
        Self {
            hashes: Vec::new(),
            key: Vec::new(),
        }
    }

    /// Returns the order of a record with distinct `targets`, given by their numbers among `urls`.
    pub(super) fn order_of(
        &mut self,
        update: &PageUpdate,
        targets: &[u32],
        urls: &Urls,
    ) -> Result<RecordOrder> {
        let (mut links, mut sum) = (0, 0_u128);
        for target in targets {
            links += urls.key_length(*target) as u64;
            sum = sum.wrapping_add(self.hash_of(*target, urls));
        }
        Ok(RecordOrder::new(&update.digest_bytes()?, links, sum))
    }

    /// Returns the hash of a URL's key.
    pub(super) fn hash_of(&mut self, url: u32, urls: &Urls) -> u128 {
        self.hashes.resize(urls.len(), 0);
        let hash = &mut self.hashes[url as usize];
        if *hash == 0 {
            urls.key(url, &mut self.key);
            *hash = first_half(&blake3::hash(&self.key));
        }
        *hash
    }
}

fn first_half(hash: &blake3::Hash) -> u128 {
    let mut half = [0; 16];
    half.copy_from_slice(&hash.as_bytes()[..16]);
    u128::from_be_bytes(half)
}
