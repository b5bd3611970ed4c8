//! Tests of blocks of links.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

/// Lists by place, kept in a map that blocks are compared with.
type Lists<T> = BTreeMap<u32, BTreeSet<T>>;

fn lists<T: Ord + std::fmt::Debug>(
    entry: impl Strategy<Value = T>,
) -> impl Strategy<Value = Lists<T>> {
    let list = prop::collection::btree_set(entry, 1..40);
    prop::collection::btree_map(0..BLOCK_LEN, list, 1..20)
}

fn block<T: Link>(lists: &Lists<T>) -> LinkBlock<T> {
    let mut block = LinkBlock::default();
    // In whatever order they are set.
    for (place, list) in lists.iter().rev() {
        block.set(*place, vec![*list.iter().next().unwrap()]);
        block.set(*place, list.iter().copied().collect());
    }
    block
}

fn comes_back<T: Link + std::fmt::Debug>(lists: &Lists<T>) {
    let block = block(lists);
    let mut bytes = Vec::new();
    block.encode(&mut bytes).unwrap();
    let back = LinkBlock::<T>::decode(&bytes).unwrap();
    let found: Lists<T> = back
        .lists()
        .map(|(place, list)| (place, list.iter().copied().collect()))
        .collect();
    assert_eq!(found, *lists);
    let all: BTreeSet<T> = lists.values().flatten().copied().collect();
    assert_eq!(back.distinct(), all.iter().copied().collect::<Vec<_>>());
    for entry in all {
        let has = lists.iter().filter(|(_, list)| list.contains(&entry));
        let places: Vec<u32> = has.map(|(place, _)| *place).collect();
        assert_eq!(back.places_of(entry).collect::<Vec<_>>(), places);
    }
    assert!(LinkBlock::<T>::decode(&bytes[..bytes.len() - 1]).is_err());
    bytes.push(0);
    assert!(LinkBlock::<T>::decode(&bytes).is_err());
}

fn page() -> impl Strategy<Value = PageId> {
    let site = prop_oneof![0_u32..4, any::<u32>()];
    let index = prop_oneof![0_u32..4, any::<u32>()];
    (site, index).prop_map(|(site, index)| PageId::new(SiteId(site), index))
}

proptest! {
    #[test]
    fn blocks_come_back(
        near in lists(0_u32..90),
        far in lists(any::<u32>()),
        pages in lists(page()),
    ) {
        comes_back(&near);
        comes_back(&far);
        let keys = pages.iter().map(|(place, list)| {
            (*place, list.iter().map(|page| LinkKey::of_page(*page).0).collect())
        });
        comes_back(&keys.collect::<Lists<LinkKey>>());
        comes_back(&pages);
    }

    #[test]
    fn any_bytes_are_read_or_refused(
        bytes in prop::collection::vec(any::<u8>(), 0..60),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0_u8..8), 1..4),
        good in lists(0_u32..500),
    ) {
        let mut damaged = Vec::new();
        block(&good).encode(&mut damaged).unwrap();
        for (at, bit) in flips {
            *at.get_mut(&mut damaged) ^= 1 << bit;
        }
        for bytes in [bytes, damaged] {
            let _ = LinkBlock::<PageId>::decode(&bytes);
            let _ = LinkBlock::<LinkKey>::decode(&bytes);
            if let Ok(block) = LinkBlock::<u32>::decode(&bytes) {
                // Bytes that can be read are those that the block would be written as.
                let mut again = Vec::new();
                block.encode(&mut again).unwrap();
                prop_assert_eq!(LinkBlock::decode(&again).unwrap(), block);
            }
        }
    }
}

#[test]
fn a_list_that_is_emptied_is_gone() {
    let mut block = LinkBlock::default();
    block.set(3, vec![1_u32, 5]);
    block.set(9, Vec::new());
    assert_eq!((block.at(3), block.at(9)), (&[1, 5][..], &[][..]));
    block.set(3, Vec::new());
    assert!(block.is_empty());
    assert!(block.encode(&mut Vec::new()).is_err());
}

#[test]
fn a_list_that_does_not_ascend_is_refused() {
    let mut block = LinkBlock::default();
    block.set(0, vec![2_u32, 2]);
    assert!(block.encode(&mut Vec::new()).is_err());
    block.set(0, vec![2]);
    block.set(BLOCK_LEN, vec![2]);
    assert!(block.encode(&mut Vec::new()).is_err());
}

#[test]
fn keys_cover_all_indexes() {
    for index in [0, 63, 64, u32::MAX] {
        let (key, place) = LinkKey::of_page(PageId::new(SiteId(7), index));
        assert_eq!(key.index(place), index);
        assert_eq!(LinkKey::take(&key.bytes()), Some(key));
    }
    assert_eq!(LinkKey::take(&[0, 0, 0, 1, 255, 0, 0, 0]), None);
}

/// High halves that fill their range take no bits, so only the numbers after them show that they
/// are missing.
#[test]
fn a_few_bytes_do_not_make_a_long_list() {
    let mut bytes = Vec::new();
    let mut out = BitWriter::new(&mut bytes);
    out.zeta(MAX_LINKS - 1, 3);
    out.zeta(MAX_LINKS - 1, 5);
    out.bits(0, 40);
    out.finish();
    let refused = LinkBlock::<PageId>::decode(&bytes).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "block exceeds the maximum number of targets"
    );
}
