//! Two refreshes by cores that must have the same result: seeds, cores, their order, evidence.
//! Pages, orders and counts have to be equal, scores to 1e-6.

use std::collections::BTreeMap;

use super::banks::{cores_of, seeds_of};
use seedbank::engine::query::{CoreView, Evidence};
use seedbank::engine::{Bank, Which};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_store::component_cache::CoreOrigin;
use seedbank_store::evidence::{
    CoreEvidence, CoreProximity, Member, PageEvidence, PageEvidenceBlock, SidePlace,
};
use seedbank_store::records::RefreshId;
use seedbank_store::{Reader, Store, tables};

type Blocks = BTreeMap<(SiteId, u32), Vec<(u32, PageEvidence)>>;

/// The standings that a refresh sees, cores by their ranks in it.
fn standings(store: &Store, refresh: RefreshId) -> Blocks {
    let ranks = store.scan_under(&tables::CORE_ORIGINS, &refresh.to_be_bytes());
    let ranks = ranks.unwrap().map(|entry| entry.unwrap());
    let ranks: BTreeMap<CoreOrigin, u32> = ranks.map(|(key, rank)| (key.origin, rank)).collect();
    let ranked = |mut standing: PageEvidence| {
        let near = standing.near.take();
        standing.near = near.and_then(|mut near| {
            let rank = *ranks.get(&near.core)?;
            near.core = CoreOrigin { refresh: 0, rank };
            Some(near)
        });
        standing
    };
    let record = store.need(&tables::REFRESHES, &refresh).unwrap();
    let series = record.standings.unwrap().series;
    let mut blocks = Blocks::new();
    let mut seen = None;
    for entry in store
        .scan_under(&tables::PAGE_EVIDENCE, &series.to_be_bytes())
        .unwrap()
    {
        let (key, PageEvidenceBlock(block)) = entry.unwrap();
        let place = (key.site, key.block);
        if key.refresh <= refresh && seen.replace(place) != Some(place) {
            let facts = block.map(|block| block.0.into_iter());
            let facts = facts.map(|facts| facts.map(|(at, fact)| (at, ranked(fact))));
            blocks.extend(facts.map(|facts| (place, facts.collect())));
        }
    }
    blocks
}

#[track_caller]
fn is_near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-6 * a.abs().max(b.abs()), "{a} {b}");
}

#[track_caller]
fn are_near(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        is_near(*a, *b);
    }
}

fn cores(bank: &Bank, refresh: RefreshId) -> Vec<CoreView> {
    cores_of(bank, which(refresh))
}

fn which(refresh: RefreshId) -> Which {
    Which {
        plan: None,
        refresh: Some(refresh),
    }
}

#[track_caller]
fn same_seeds(bank: &Bank, ours: RefreshId, theirs: RefreshId) {
    let seeds = |refresh| seeds_of(bank, which(refresh));
    let (ours, theirs) = (seeds(ours), seeds(theirs));
    assert_eq!(ours.len(), theirs.len());
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!((ours.rank, &ours.url), (theirs.rank, &theirs.url));
        match (&ours.evidence, &theirs.evidence) {
            (
                Evidence::Core {
                    core,
                    sigma,
                    hub_score,
                },
                Evidence::Core {
                    core: core_2,
                    sigma: sigma_2,
                    hub_score: hub_score_2,
                },
            ) => {
                assert_eq!(core, core_2);
                is_near(*sigma, *sigma_2);
                is_near(*hub_score, *hub_score_2);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[track_caller]
fn same_cores(bank: &Bank, ours: RefreshId, theirs: RefreshId) {
    let (ours, theirs) = (cores(bank, ours), cores(bank, theirs));
    assert_eq!(ours.len(), theirs.len());
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(
            (ours.rank, ours.edges, &ours.seed, &ours.sides),
            (theirs.rank, theirs.edges, &theirs.seed, &theirs.sides)
        );
        assert_eq!(ours.hubs, theirs.hubs, "core {}", ours.rank);
        assert_eq!(ours.authorities, theirs.authorities, "core {}", ours.rank);
        is_near(ours.sigma, theirs.sigma);
        is_near(ours.density, theirs.density);
        are_near(&ours.hub_scores, &theirs.hub_scores);
        are_near(&ours.authority_scores, &theirs.authority_scores);
    }
}

#[track_caller]
fn same_members(store: &Store, ours: RefreshId, theirs: RefreshId) {
    let members = |refresh: RefreshId| -> Vec<(PageId, Member)> {
        let entries = store.scan_under(&tables::CORE_MEMBERS, &refresh.to_be_bytes());
        let entries = entries.unwrap().map(|entry| entry.unwrap());
        entries.map(|(key, member)| (key.1, member)).collect()
    };
    let (ours, theirs) = (members(ours), members(theirs));
    assert_eq!(ours.len(), theirs.len());
    for ((page, ours), (other, theirs)) in ours.iter().zip(&theirs) {
        let place = |place: Option<SidePlace>| place.map(|place| (place.taken, place.rank));
        let exact = |member: &Member| (member.core, place(member.hub), place(member.authority));
        assert_eq!((page, exact(ours)), (other, exact(theirs)));
        let scores = |member: &Member| -> Vec<f64> {
            let places = member.hub.iter().chain(&member.authority);
            places.map(|place| place.score).collect()
        };
        are_near(&scores(ours), &scores(theirs));
    }
}

#[track_caller]
fn same_core_evidence(store: &Store, ours: RefreshId, theirs: RefreshId) {
    let all = |refresh: RefreshId| -> Vec<CoreEvidence> {
        let entries = store.scan_under(&tables::CORE_EVIDENCE, &refresh.to_be_bytes());
        entries.unwrap().map(|entry| entry.unwrap().1).collect()
    };
    let (ours, theirs) = (all(ours), all(theirs));
    assert_eq!(ours.len(), theirs.len());
    for (ours, theirs) in ours.iter().zip(&theirs) {
        // How long the seed has been one depends on the plan.
        let scores = |evidence: &CoreEvidence| {
            let mut scores = vec![evidence.sigma, evidence.seed_place.score];
            scores.extend(evidence.runner_up.map(|runner_up| runner_up.1));
            scores.extend([evidence.weakest_hub.1, evidence.weakest_authority.1]);
            scores
        };
        are_near(&scores(ours), &scores(theirs));
        let bare = |evidence: &CoreEvidence| CoreEvidence {
            sigma: 0.0,
            since: 0,
            seed_place: SidePlace {
                score: 0.0,
                ..evidence.seed_place
            },
            runner_up: evidence.runner_up.map(|(page, _)| (page, 0.0)),
            weakest_hub: (evidence.weakest_hub.0, 0.0),
            weakest_authority: (evidence.weakest_authority.0, 0.0),
            ..evidence.clone()
        };
        assert_eq!(bare(ours), bare(theirs));
    }
}

#[track_caller]
fn same_standings(store: &Store, ours: RefreshId, theirs: RefreshId) {
    let (ours, theirs) = (standings(store, ours), standings(store, theirs));
    assert!(ours.keys().eq(theirs.keys()));
    for (ours, theirs) in ours.values().zip(theirs.values()) {
        assert_eq!(ours.len(), theirs.len());
        for ((page, ours), (other, theirs)) in ours.iter().zip(theirs) {
            let exact = |near: &CoreProximity| (near.core, near.hub, near.links);
            assert_eq!((page, ours.links), (other, theirs.links));
            assert_eq!(
                ours.near.as_ref().map(exact),
                theirs.near.as_ref().map(exact)
            );
            if let (Some(ours), Some(theirs)) = (&ours.near, &theirs.near) {
                is_near(ours.score, theirs.score);
            }
        }
    }
}

/// Fails unless two refreshes found the same seeds and cores in the same order, for the same
/// reasons.
#[track_caller]
pub fn came_to_the_same(bank: &Bank, ours: RefreshId, theirs: RefreshId) {
    same_seeds(bank, ours, theirs);
    same_cores(bank, ours, theirs);
    let reader = Reader::open(bank.path()).unwrap();
    same_members(&reader, ours, theirs);
    same_core_evidence(&reader, ours, theirs);
    same_standings(&reader, ours, theirs);
}
