//! Sets of pages: bytes are rejected, or are a set that counts, orders and combines as a set does.

use seedbank_algorithms::page::PageSet;
use seedbank_store::Value;
use seedbank_store::records::RowMembers;

use super::kind;
use super::tables::{comes_back, written};

/// How many members are looked at: a set of all pages of a site takes only a few bytes.
const LOOKED_AT: usize = 2_000;

pub(super) fn run(data: &[u8]) {
    let (kind, rest) = kind(data);
    if kind % 2 == 1 {
        comes_back::<RowMembers>(rest);
        return;
    }
    let Ok(set) = PageSet::decode(rest) else {
        return;
    };
    comes_back::<PageSet>(rest);
    assert_eq!(written(&set).len(), rest.len(), "nothing was passed over");
    assert_eq!(set.is_empty(), set.iter().next().is_none());
    assert_eq!(set.min(), set.iter().next());
    assert_eq!(set.max(), set.iter().next_back());
    let first: Vec<u64> = set.iter().take(LOOKED_AT).collect();
    assert!(first.is_sorted_by(|a, b| a < b));
    if first.len() < LOOKED_AT {
        assert_eq!(set.len(), first.len() as u64);
    }
    assert!(first.iter().all(|page| set.contains(*page)));
    let few: PageSet = first.iter().copied().collect();
    assert_eq!(&few | &set, set);
    assert_eq!(&few & &set, few);
    assert!((&few - &set).is_empty());
    assert_eq!((&set - &few).len() + few.len(), set.len());
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let sets: [PageSet; 4] = [
        PageSet::new(),
        [3, 9, 1 << 40].into_iter().collect(),
        (0..5_000).map(|n| n * 3).collect(),
        (7..40_000).collect(),
    ];
    let mut seeds: Vec<Vec<u8>> = sets
        .iter()
        .map(|set| [&[0], &written(set)[..]].concat())
        .collect();
    let members = RowMembers {
        uncrawled: 300,
        pages: [1, 5, 70_000].into_iter().collect(),
    };
    seeds.push([&[1], &written(&members)[..]].concat());
    // A set in runs, as other programs write them: 2 to 11 on site 0.
    seeds.push(vec![
        0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x3b, 0x30, 0, 0, 1, 0, 0, 9, 0, 1, 0, 2, 0, 9, 0,
    ]);
    seeds
}
