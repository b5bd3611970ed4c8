//! URLs of a portion by number, and in key order.

use rayon::iter::ParallelIterator;
use rayon::slice::ParallelSliceMut;

use seedbank_formats::ingest::{Interner, UrlNumber};

/// The absence of a number.
const NONE: u32 = u32::MAX;

/// URLs of a portion.
pub(super) struct Urls {
    interner: Interner,
    /// Known flags of each URL.
    flags: Vec<u8>,
    /// Numbers of URLs by their numbers in the current block.
    of_block: Vec<u32>,
}

impl Urls {
    /// Creates an empty set, for blocks whose interners are like this one.
    pub(super) const fn new(interner: Interner) -> Self {
        Self {
            interner,
            flags: Vec::new(),
            of_block: Vec::new(),
        }
    }

    /// Starts another block.
    pub(super) fn start_block(&mut self, block: &Interner) {
        self.of_block.clear();
        self.of_block.resize(block.len(), NONE);
    }

    pub(super) fn len(&self) -> usize {
        self.interner.len()
    }

    /// Returns the number of a URL of the block, and adds `flags` to its flags.
    pub(super) fn number(&mut self, block: &Interner, number: UrlNumber, flags: u8) -> u32 {
        let mut found = self.of_block[number as usize];
        if found == NONE {
            found = self.interner.import(block, number);
            self.of_block[number as usize] = found;
            self.flags.resize(self.interner.len(), 0);
        }
        self.flags[found as usize] |= flags;
        found
    }

    /// Returns the memory usage in bytes, including sorting and the hashes for comparing records.
    pub(super) fn bytes(&self) -> usize {
        let of_url = size_of::<Ordered>() + 2 * size_of::<u32>() + size_of::<u128>();
        self.interner.bytes() + self.interner.len() * of_url
    }

    /// Writes a URL's key (site, NUL byte, the rest) to `key`, and returns its flags.
    pub(super) fn key(&self, number: u32, key: &mut Vec<u8>) -> u8 {
        let (site, local) = self.interner.parts(number);
        key.clear();
        key.extend_from_slice(site.as_bytes());
        key.push(0);
        key.extend_from_slice(local.as_bytes());
        self.flags[number as usize]
    }

    /// Returns the length of a URL's key, in bytes.
    pub(super) fn key_length(&self, number: u32) -> usize {
        let (site, local) = self.interner.parts(number);
        site.len() + 1 + local.len()
    }

    /// Returns the URLs that are used or have one of the flags, in key order.
    pub(super) fn order(&self, used: &[bool], flags: u8) -> Vec<u32> {
        // Names contain no NUL byte, so they sort as the keys, in which one follows them.
        let ranks = self.interner.site_ranks();
        let wanted = (0..).zip(&self.flags).zip(used);
        let wanted = wanted.filter(|((_, of_url), used)| **used || **of_url & flags != 0);
        let of_url = wanted.map(|((number, _), _)| Ordered {
            site: ranks[self.interner.site_of(number) as usize],
            number,
            head: 0,
        });
        let mut order: Vec<Ordered> = of_url.collect();
        order.par_sort_unstable_by_key(|url| (url.site, url.number));
        order
            .par_chunk_by_mut(|a, b| a.site == b.site)
            .for_each(|of_site| self.sort_site(of_site));
        order.into_iter().map(|url| url.number).collect()
    }

    /// Sorts the URLs of a site. They share a prefix, so the 16 bytes after it decide most
    /// comparisons.
    fn sort_site(&self, urls: &mut [Ordered]) {
        let text = |number: u32| self.interner.local(number).as_bytes();
        let Some((first, others)) = urls.split_first() else {
            return;
        };
        let first = text(first.number);
        let alike = others.iter().fold(first.len(), |alike, other| {
            let both = first[..alike].iter().zip(text(other.number));
            both.take_while(|(a, b)| a == b).count()
        });
        let after = |number: u32| &text(number)[alike..];
        for url in &mut *urls {
            let mut head = [0; 16];
            let rest = after(url.number);
            let length = rest.len().min(head.len());
            head[..length].copy_from_slice(&rest[..length]);
            url.head = u128::from_be_bytes(head);
        }
        urls.par_sort_unstable_by(|a, b| {
            let texts = || after(a.number).cmp(after(b.number));
            a.head.cmp(&b.head).then_with(texts)
        });
    }

    /// Removes all URLs, but stays in the block.
    pub(super) fn clear(&mut self) {
        self.interner.clear();
        self.flags.clear();
        self.of_block.fill(NONE);
    }
}

/// A URL that is being sorted.
struct Ordered {
    /// The rank of its site.
    site: u32,
    number: u32,
    head: u128,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use seedbank_formats::ingest::Location;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Compares with keys in a map: names that are prefixes of others, URLs that are, and URLs
        /// that agree in more bytes than a head has.
        #[test]
        fn urls_come_in_the_order_of_their_keys(
            urls in proptest::collection::btree_map(
                ("[a-b.]{1,3}", "0(/aaaaaaaaaaaaaaaaaaa|/b)?[a-b/]{0,14}"),
                (0_u8..4, any::<bool>()),
                0..300,
            ),
        ) {
            let mut portion = Urls::new(Interner::default());
            let mut used = Vec::new();
            let mut expected = BTreeMap::new();
            // In another order than that of the keys.
            let mut urls: Vec<_> = urls.into_iter().collect();
            urls.sort_by_key(|((_, local), _)| local.bytes().rev().collect::<Vec<u8>>());
            for ((site, local), (flags, is_used)) in urls {
                let number = portion.interner.number(&Location { site, local });
                portion.flags.push(flags);
                used.push(is_used);
                let mut key = Vec::new();
                portion.key(number, &mut key);
                if is_used || flags & 2 != 0 {
                    expected.insert(key, number);
                }
            }
            let expected: Vec<u32> = expected.into_values().collect();
            prop_assert_eq!(portion.order(&used, 2), expected);
        }
    }
}
