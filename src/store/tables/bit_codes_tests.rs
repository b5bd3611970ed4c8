use proptest::prelude::*;

use super::*;

fn written(write: impl FnOnce(&mut BitWriter<'_>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = BitWriter::new(&mut bytes);
    write(&mut writer);
    writer.finish();
    bytes
}

proptest! {
    #[test]
    fn numbers_come_back(values in prop::collection::vec((any::<u64>(), 0_u32..64), 0..50)) {
        let values: Vec<u64> = values.into_iter().map(|(v, by)| (v >> by).min(u64::MAX - 1)).collect();
        let bytes = written(|writer| writer.numbers(&values));
        let mut reader = BitReader::new(&bytes);
        prop_assert_eq!(reader.numbers(values.len(), u64::MAX).unwrap(), values);
        prop_assert!(reader.finish().is_ok());
    }

    #[test]
    fn bounded_numbers_come_back(bound in 1..=u64::MAX, by in 0_u32..64, part in any::<u64>()) {
        let bound = (bound >> by).max(1);
        let value = part % bound;
        let bytes = written(|writer| writer.below(value, bound));
        let mut reader = BitReader::new(&bytes);
        prop_assert_eq!(reader.below(bound).unwrap(), value);
        prop_assert!(reader.finish().is_ok());
    }

    #[test]
    fn lists_come_back(list in prop::collection::btree_set(any::<u64>(), 0..80), by in 0_u32..64) {
        let mut list: Vec<u64> = list.into_iter().map(|value| value >> by).collect();
        list.dedup();
        let high = u64::MAX >> by;
        let bytes = written(|writer| writer.ascending(&list, 0, high));
        let mut reader = BitReader::new(&bytes);
        let mut found = Vec::new();
        reader.ascending(list.len(), 0, high, &mut found).unwrap();
        prop_assert_eq!(found, list);
        prop_assert!(reader.finish().is_ok());
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..60), count in 0_usize..200, bound in any::<u64>()) {
        let mut list = Vec::new();
        let mut reader = BitReader::new(&bytes);
        if reader.ascending(count, 7, bound, &mut list).is_ok() {
            prop_assert_eq!(list.len(), count);
            prop_assert!(list.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(list.iter().all(|value| (7..=bound).contains(value)));
        }
        let _ = reader.numbers(count, 1000);
        let _ = reader.finish();
    }
}

#[test]
fn a_list_of_all_that_fits_takes_nothing() {
    let all: Vec<u64> = (3..90).collect();
    assert!(written(|writer| writer.ascending(&all, 3, 89)).is_empty());
}
