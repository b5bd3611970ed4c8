//! Blocks of links: bytes are rejected, or are a block that comes back; lists that are set come
//! back.

use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_store::Value;
use seedbank_store::links::{BLOCK_LEN, Link, LinkBlock, LinkKey};

use super::cursor::Cursor;
use super::kind;
use super::tables::{comes_back, written};

/// A block may have 2^26 links, and lists that hold all that fits take no bits. Decoded, a link
/// takes eight bytes, and some lists are held several times.
pub(super) const MEMORY: usize = 3 << 30;

pub(super) fn run(data: &[u8]) {
    let (kind, rest) = kind(data);
    match kind % 6 {
        0 => comes_back::<LinkBlock<u32>>(rest),
        1 => comes_back::<LinkBlock<PageId>>(rest),
        2 => comes_back::<LinkBlock<LinkKey>>(rest),
        3 => block_comes_back(&block::<u32>(rest)),
        4 => block_comes_back(&block::<PageId>(rest)),
        _ => block_comes_back(&block::<LinkKey>(rest)),
    }
}

/// Lists at some places, some of them runs of neighbours.
fn block<T: Link>(bytes: &[u8]) -> LinkBlock<T> {
    let mut from = Cursor::of(bytes);
    let mut block = LinkBlock::default();
    while !from.is_empty() {
        let place = u32::from(from.byte()) % BLOCK_LEN;
        let mut high = 0;
        let parts = from.list(20, |from| {
            high = if from.byte() % 2 == 1 {
                from.small()
            } else {
                high
            };
            (high, from.small(), from.byte() % 16)
        });
        let run = |(high, low, length): (u32, u32, u8)| {
            (0..=u32::from(length)).filter_map(move |more| T::join(high, low.checked_add(more)?))
        };
        let mut list: Vec<T> = parts.into_iter().flat_map(run).collect();
        list.sort_unstable();
        list.dedup();
        block.set(place, list);
    }
    block
}

fn block_comes_back<T: Link + std::fmt::Debug>(block: &LinkBlock<T>) {
    if block.is_empty() {
        return;
    }
    let bytes = written(block);
    let read = LinkBlock::<T>::decode(&bytes).expect("what was written can be read");
    assert_eq!(&read, block);
    assert!(LinkBlock::<T>::decode(&[&bytes[..], &[0]].concat()).is_err());
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let mut pages = LinkBlock::default();
    pages.set(
        0,
        vec![PageId::new(SiteId(1), 2), PageId::new(SiteId(7), 9)],
    );
    pages.set(
        5,
        (0..40).map(|n| PageId::new(SiteId(n / 9), 3 * n)).collect(),
    );
    let mut numbers = LinkBlock::default();
    numbers.set(3, (0..30_u32).collect());
    numbers.set(63, vec![5, 70, 1 << 20]);
    let mut keys = LinkBlock::default();
    let key = |site, block| LinkKey {
        site: SiteId(site),
        block,
    };
    keys.set(9, vec![key(0, 1), key(0, 2), key(900, 0)]);
    let lists = [
        1, 3, 1, 2, 1, 7, 2, 0, 2, 1, 0, 15, 2, 1, 9, 1, 3, 4, 3, 0, 0, 0, 1, 200,
    ];
    let mut seeds = vec![
        [&[0], &written(&numbers)[..]].concat(),
        [&[1], &written(&pages)[..]].concat(),
        [&[2], &written(&keys)[..]].concat(),
    ];
    seeds.extend((3..6).map(|kind| [&[kind], &lists[..]].concat()));
    seeds
}
