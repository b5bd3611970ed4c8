use proptest::prelude::*;

use super::*;
use crate::tables::records::component_cache::CoreOrigin;
use crate::tables::records::evidence::{CoreProximity, Covered, LinkStatus, PageEvidence, Reach};
use seedbank_algorithms::page::PageId;

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
    (pick, prop::option::of(covered), score).prop_map(|(pick, covered, score)| Reach {
        pick,
        covered,
        score: score.map(|score| score.0),
        exact: score.is_none_or(|score| score.1),
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
