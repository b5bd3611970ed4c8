//! Tests of the coding of images.

use proptest::prelude::*;

use super::section_codec::{self, Bytes};

proptest! {
    #[test]
    fn lists_are_read_back(
        lists in prop::collection::vec(prop::collection::btree_set(0_u32..1 << 20, 0..40), 0..80),
    ) {
        let lists: Vec<Vec<u32>> = lists.into_iter().map(|list| list.into_iter().collect()).collect();
        let mut bytes = Vec::new();
        section_codec::put_lists(lists.iter().map(Vec::as_slice), &mut bytes);
        let mut from = Bytes::new(&bytes);
        let (lengths, entries) = section_codec::take_lists(&mut from, lists.len(), 1 << 20).unwrap();
        from.finish().unwrap();
        prop_assert_eq!(entries, lists.concat());
        let expected: Vec<u32> = lists.iter().map(|list| u32::try_from(list.len()).unwrap()).collect();
        prop_assert_eq!(lengths, expected);
    }
}
