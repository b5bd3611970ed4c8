//! Blocks of facts about neighbouring pages under one key.
//!
//! ```text
//! block: the distinct facts, then for each page: (gap of its index, number of its fact)
//! ```
//!
//! Pages of one template mostly share one fact. A page with a shared fact takes two bytes, others a few
//! more. A block covers [`BLOCK`] page indexes, so that a point read is bounded whatever the size of the
//! site.

use std::collections::BTreeMap;

use crate::tables::codec::{self, Malformed};
use crate::tables::table::Value;
use seedbank_algorithms::page::{PageId, SiteId};

/// The number of page indexes that a block covers.
pub const BLOCK: u32 = 1 << 12;

/// The maximum size of a fact in bytes; decoding rejects larger ones.
const MAX_FACT_BYTES: u64 = 256;

/// A value that a block stores for a page.
pub trait Fact: Sized {
    /// Appends the bytes of the fact.
    fn put(&self, out: &mut Vec<u8>);
    /// Decodes a fact from the front of `bytes` and advances it.
    fn take(bytes: &mut &[u8]) -> Result<Self, Malformed>;
}

/// Returns the block of a page index, and the position in the block.
#[must_use]
pub const fn place(index: u32) -> (u32, u32) {
    (index / BLOCK, index % BLOCK)
}

/// Returns the page at a position of a block; the last one that its site can have if there is no such page.
pub(crate) fn page_at(site: SiteId, block: u32, place: u32) -> PageId {
    PageId::new(site, block.saturating_mul(BLOCK).saturating_add(place))
}

/// The facts of the pages of a block with their positions, ascending; never empty.
#[derive(Clone, PartialEq, Debug)]
pub struct PageBlock<T>(pub Vec<(u32, T)>);

impl<T> PageBlock<T> {
    /// Returns the fact at a position; `None` if there is none.
    #[must_use]
    pub fn at(&self, place: u32) -> Option<&T> {
        let found = self.0.binary_search_by_key(&place, |entry| entry.0).ok()?;
        Some(&self.0[found].1)
    }
}

impl<T: Fact + Clone> Value for PageBlock<T> {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        let mut numbers: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
        let mut items = Vec::new();
        let mut count = 0_u64;
        let mut entries = Vec::with_capacity(2 * self.0.len());
        let mut next = 0;
        for (place, fact) in &self.0 {
            if *place < next || *place >= BLOCK {
                return Err(Malformed("positions of a block do not ascend".to_owned()));
            }
            let mut item = Vec::new();
            fact.put(&mut item);
            let fresh = numbers.len();
            let number = *numbers.entry(item.clone()).or_insert(fresh);
            if number == fresh {
                count += 1;
                codec::put_varint(item.len() as u64, &mut items);
                items.extend_from_slice(&item);
            }
            codec::put_varint(u64::from(*place - next), &mut entries);
            codec::put_varint(number as u64, &mut entries);
            next = *place + 1;
        }
        codec::put_varint(count, out);
        out.extend_from_slice(&items);
        codec::put_varint(self.0.len() as u64, out);
        out.extend_from_slice(&entries);
        Ok(())
    }

    fn decode(mut bytes: &[u8]) -> Result<Self, Malformed> {
        let bad = |what: &str| Malformed(what.to_owned());
        let bytes = &mut bytes;
        let count = codec::take_varint(bytes)?;
        if count > u64::from(BLOCK) {
            return Err(bad("block has more facts than pages"));
        }
        let mut items = Vec::new();
        for _ in 0..count {
            let length = codec::take_varint(bytes)?;
            let length = usize::try_from(length.min(MAX_FACT_BYTES + 1)).unwrap_or(usize::MAX);
            let (mut item, rest) = bytes
                .split_at_checked(length)
                .ok_or_else(|| bad("block is truncated"))?;
            *bytes = rest;
            items.push(T::take(&mut item)?);
            if !item.is_empty() {
                return Err(bad("fact has trailing bytes"));
            }
        }
        let length = codec::take_varint(bytes)?;
        if length == 0 || length > u64::from(BLOCK) {
            return Err(bad("block is empty or has too many pages"));
        }
        let mut entries = Vec::new();
        let mut next = 0_u64;
        for _ in 0..length {
            let gap = codec::take_varint(bytes)?;
            let place = next.saturating_add(gap);
            let place = u32::try_from(place).unwrap_or(BLOCK);
            let number = codec::take_varint(bytes)?;
            let item = usize::try_from(number).ok().and_then(|n| items.get(n));
            let (Some(item), true) = (item, place < BLOCK) else {
                return Err(bad("entry of a block has an invalid fact or position"));
            };
            entries.push((place, item.clone()));
            next = u64::from(place) + 1;
        }
        if bytes.is_empty() {
            Ok(Self(entries))
        } else {
            Err(bad("block has trailing bytes"))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tables::records::component_cache::CoreOrigin;
    use crate::tables::records::evidence::{
        CoreProximity, Covered, LinkStatus, PageEvidence, Reach,
    };

    fn standing() -> impl Strategy<Value = PageEvidence> {
        let links = prop_oneof![
            Just(LinkStatus::Spam),
            Just(LinkStatus::Excluded),
            Just(LinkStatus::Gone),
            Just(LinkStatus::NotCrawled),
            Just(LinkStatus::Isolated),
            (any::<u64>(), 0_u64..3, any::<u64>()).prop_map(|(component, as_authority, as_hub)| {
                LinkStatus::Counted {
                    component: PageId(component),
                    as_authority,
                    as_hub,
                }
            }),
        ];
        let near =
            (1_u32..4, any::<bool>(), 1_u32..9, 0_u32..3).prop_map(|(rank, hub, links, score)| {
                CoreProximity {
                    core: CoreOrigin { refresh: 7, rank },
                    hub,
                    links,
                    score: f64::from(score) / 7.0,
                }
            });
        (links, prop::option::of(near)).prop_map(|(links, near)| PageEvidence { links, near })
    }

    fn reach() -> impl Strategy<Value = Reach> {
        let covered = (1_u32..9, 0_u32..6).prop_map(|(pick, hop)| Covered { pick, hop });
        let score = prop::option::of((any::<i32>().prop_map(f64::from), any::<bool>()));
        let pick = prop::option::of(1_u32..9);
        let page = (any::<u32>(), any::<u32>());
        let by = prop::option::of(page.prop_map(|(site, page)| PageId::new(SiteId(site), page)));
        let all = (pick, prop::option::of(covered), score, by);
        all.prop_map(|(pick, covered, score, represented_by)| Reach {
            pick,
            covered,
            score: score.map(|score| score.0),
            exact: score.is_none_or(|score| score.1),
            represented_by,
        })
    }

    fn comes_back<T: Fact + Clone + PartialEq + std::fmt::Debug>(facts: BTreeMap<u32, T>) {
        let block = PageBlock(facts.into_iter().collect());
        let mut bytes = Vec::new();
        block.encode(&mut bytes).unwrap();
        assert_eq!(PageBlock::decode(&bytes).unwrap(), block);
        assert!(PageBlock::<T>::decode(&bytes[..bytes.len() - 1]).is_err());
        bytes.push(0);
        assert!(PageBlock::<T>::decode(&bytes).is_err());
    }

    proptest! {
        #[test]
        fn blocks_come_back(
            standings in prop::collection::btree_map(0..BLOCK, standing(), 1..60),
            reach in prop::collection::btree_map(0..BLOCK, reach(), 1..60),
        ) {
            comes_back(standings);
            comes_back(reach);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(0_u8..40, 0..80)) {
            if let Ok(block) = PageBlock::<PageEvidence>::decode(&bytes) {
                prop_assert!(block.0.windows(2).all(|pair| pair[0].0 < pair[1].0));
            }
            let _ = PageBlock::<Reach>::decode(&bytes);
        }
    }
}
