//! Values made up from the input's bytes, written and read: they come back, and with a byte more or
//! less they do not.

use std::collections::BTreeSet;
use std::fmt::Debug;

use seedbank_algorithms::page::{PageId, PageSet, SiteId};
use seedbank_store::Value;
use seedbank_store::component_cache::CoreOrigin;
use seedbank_store::evidence::{
    CoreProximity, Covered, LinkStatus, PageEvidence, PageEvidenceBlock, Reach,
};
use seedbank_store::page_blocks::{BLOCK, PageBlock};
use seedbank_store::records::RemovedRow;

use super::cursor::Cursor;
use super::kind;
use super::tables::written;

pub(super) fn run(data: &[u8]) {
    let (kind, rest) = kind(data);
    let mut from = Cursor::of(rest);
    match kind % 7 {
        0 => {
            let pages = places(&mut from, standing);
            comes_back(&PageEvidenceBlock(Some(PageBlock(pages))));
        }
        1 => {
            let pages = places(&mut from, reach);
            comes_back(&PageBlock(pages));
        }
        2 => comes_back(&ascending(&mut from, Cursor::small)),
        3 => comes_back(&ascending(&mut from, |from| PageId(from.number()))),
        4 => comes_back(&RemovedRow {
            until: from.small(),
            targets: ascending(&mut from, |from| PageId(from.number())),
        }),
        5 => comes_back(&from.list(255, Cursor::score)),
        _ => comes_back(
            &ascending(&mut from, Cursor::number)
                .into_iter()
                .collect::<PageSet>(),
        ),
    }
}

fn comes_back<V: Value + PartialEq + Debug>(value: &V) {
    let bytes = written(value);
    assert_eq!(V::decode(&bytes).as_ref(), Ok(value));
    assert_ne!(V::decode(&[&bytes[..], &[0]].concat()).as_ref(), Ok(value));
    if let Some((_, cut)) = bytes.split_last() {
        assert_ne!(V::decode(cut).as_ref(), Ok(value));
    }
}

fn ascending<'a, T: Ord>(from: &mut Cursor<'a>, take: impl FnMut(&mut Cursor<'a>) -> T) -> Vec<T> {
    let all: BTreeSet<T> = from.list(255, take).into_iter().collect();
    all.into_iter().collect()
}

/// Facts at ascending places of a block, at least one.
fn places<T>(from: &mut Cursor<'_>, take: impl Fn(&mut Cursor<'_>) -> T) -> Vec<(u32, T)> {
    let mut next = 0;
    let mut places = from.list(200, |from| {
        next += 1 + u32::from(from.byte() % 32);
        (next - 1, take(from))
    });
    if places.is_empty() {
        places.push((BLOCK - 1, take(from)));
    }
    places.retain(|(place, _)| *place < BLOCK);
    places
}

fn standing(from: &mut Cursor<'_>) -> PageEvidence {
    let links = match from.byte() % 5 {
        0 => LinkStatus::Spam,
        1 => LinkStatus::Gone,
        2 => LinkStatus::NotCrawled,
        3 => LinkStatus::Isolated,
        _ => LinkStatus::Counted {
            component: PageId::new(SiteId(from.small()), from.small()),
            as_authority: from.number(),
            as_hub: from.number(),
        },
    };
    let near = from.maybe(|from| CoreProximity {
        core: CoreOrigin {
            refresh: from.small(),
            rank: from.small(),
        },
        hub: from.byte() % 2 == 1,
        links: from.small(),
        score: from.score(),
    });
    PageEvidence { links, near }
}

fn reach(from: &mut Cursor<'_>) -> Reach {
    Reach {
        pick: from.maybe(Cursor::small),
        covered: from.maybe(|from| Covered {
            pick: from.small(),
            hop: from.small(),
        }),
        score: from.maybe(Cursor::score),
        exact: from.byte() % 2 == 1,
        represented_by: from.maybe(|from| PageId::new(SiteId(from.small()), from.small())),
    }
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let bytes: Vec<u8> = (0..60).map(|n: u8| n.wrapping_mul(37) >> (n % 5)).collect();
    (0..7)
        .map(|kind| [&[kind, 20], &bytes[..]].concat())
        .collect()
}
