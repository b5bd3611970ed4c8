//! A run that takes over what an earlier one found gives what a run from scratch gives.
//!
//! - `a_thousand_sequences_of_changes`: random small webs of several components, changed again and
//!   again, all rules. Catches a component that is wrongly taken for unchanged, cores of several
//!   components in a wrong order, and evidence that belongs to another rank.
//! - the rest: the changes that are known to be nasty, each with what must be computed again.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::properties::repeatable;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use seedbank::watch::Unwatched;
use seedbank_algorithms::cores::{
    CachedComponent, CachedCore, Core, CoreCache, CoreParams, Growth, NearClasses, NearPage,
    Nearness, OneSeedPerCore, Rule, Selection, SelectionInput, select, whole_graph,
};
use seedbank_algorithms::graph::{Fingerprint, HubGraph, Rows, WeakComponents};
use seedbank_algorithms::page::PageId;

/// A web: for each page, by id, the ids of the pages that it links to. Ids are in URL order.
#[derive(Clone, Debug, Default)]
struct Web(BTreeMap<u64, BTreeSet<u64>>);

impl Web {
    /// Adds all links from these pages to those.
    fn complete(mut self, hubs: std::ops::Range<u64>, authorities: std::ops::Range<u64>) -> Self {
        for hub in hubs {
            self.0.entry(hub).or_default().extend(authorities.clone());
        }
        self
    }

    /// The pages by number: only those on links, so numbers move when pages come and go.
    fn pages(&self) -> Vec<u64> {
        let linking = self.0.iter().filter(|(_, to)| !to.is_empty());
        let pages: BTreeSet<u64> = linking
            .flat_map(|(hub, to)| to.iter().chain([hub]))
            .copied()
            .collect();
        pages.into_iter().collect()
    }

    fn graph(&self, pages: &[u64]) -> HubGraph {
        let number = |page: &u64| u32::try_from(pages.binary_search(page).unwrap()).unwrap();
        let mut rows = Rows::new();
        for (hub, to) in self.0.iter().filter(|(_, to)| !to.is_empty()) {
            let targets: Vec<u32> = to.iter().map(number).collect();
            rows.push(&[number(hub)], &targets).unwrap();
        }
        rows.graph().unwrap()
    }
}

/// What a run leaves, in page ids.
#[derive(Clone, Debug, Default)]
struct Kept(BTreeMap<Fingerprint, CachedComponent>);

fn renumber(component: &CachedComponent, page: impl Fn(u32) -> u32) -> CachedComponent {
    let pages = |list: &[u32]| list.iter().map(|&p| page(p)).collect();
    let core = |known: &CachedCore| CachedCore {
        core: Core {
            hubs: pages(&known.core.hubs),
            authorities: pages(&known.core.authorities),
            seed: page(known.core.seed),
            ..known.core.clone()
        },
        near: known
            .near
            .iter()
            .map(|n| NearPage {
                page: page(n.page),
                ..*n
            })
            .collect(),
        origin: known.origin,
    };
    CachedComponent {
        cores: component.cores.iter().map(core).collect(),
        next: component.next,
    }
}

/// Runs on a web with what an earlier run left; returns what it found and what it leaves.
fn run(web: &Web, params: &CoreParams, kept: &Kept) -> (Vec<u64>, HubGraph, Selection, Kept) {
    let pages = web.pages();
    let graph = web.graph(&pages);
    let ids: Vec<PageId> = pages.iter().map(|&page| PageId(page)).collect();
    let components = WeakComponents::new(&graph, &ids);
    let known = components
        .fingerprints()
        .iter()
        .zip(0..)
        .filter_map(|(print, component)| {
            let number =
                |id: u32| u32::try_from(pages.binary_search(&u64::from(id)).unwrap()).unwrap();
            Some((component, renumber(kept.0.get(print)?, number)))
        });
    let known = known.collect();
    let ledger = CoreCache::new(components, known);
    let mut each = OneSeedPerCore { left: params.seeds };
    let input = SelectionInput {
        cache: Some(&ledger),
        ..SelectionInput::default()
    };
    let share = whole_graph(graph.clone(), params);
    let selection = select(&share, params, input, &mut each, &Unwatched).unwrap();
    let found = selection.found.iter().map(|(&component, found)| {
        let cores = found.cores.iter().map(|(rank, near)| CachedCore {
            core: selection.cores[*rank as usize - 1].clone(),
            near: near.clone(),
            origin: Some(0),
        });
        let known = CachedComponent {
            cores: cores.collect(),
            next: found.next,
        };
        let id = |number: u32| u32::try_from(pages[number as usize]).unwrap();
        (
            ledger.components().fingerprints()[component as usize],
            renumber(&known, id),
        )
    });
    let kept = Kept(found.collect());
    (pages, graph, selection, kept)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * a.abs().max(b.abs())
}

fn assert_same(again: &Selection, cold: &Selection) {
    assert_eq!(again.certified, cold.certified);
    assert_eq!(again.cores.len(), cold.cores.len());
    for (ours, cold) in again.cores.iter().zip(&cold.cores) {
        let exact = |core: &Core| {
            (
                core.hubs.clone(),
                core.authorities.clone(),
                core.sides.clone(),
                core.seed,
                core.edges,
            )
        };
        assert_eq!(exact(ours), exact(cold));
        assert!(
            close(ours.sigma, cold.sigma),
            "{} {}",
            ours.sigma,
            cold.sigma
        );
        let scores =
            |core: &Core| [core.hub_scores.clone(), core.authority_scores.clone()].concat();
        assert!(
            scores(ours)
                .iter()
                .zip(scores(cold))
                .all(|(a, b)| close(*a, b))
        );
    }
    let same = |a: &[Option<Nearness>], b: &[Option<Nearness>]| {
        assert_eq!(a.len(), b.len());
        for (a, b) in a.iter().zip(b) {
            let exact = |near: &Nearness| (near.core, near.links);
            assert_eq!(a.as_ref().map(exact), b.as_ref().map(exact));
            assert!(a.iter().zip(b).all(|(a, b)| close(a.score, b.score)));
        }
    };
    let NearClasses { hubs, authorities } = &again.near;
    same(hubs, &cold.near.hubs);
    same(authorities, &cold.near.authorities);
}

/// Runs both ways; returns how many steps were taken over, and what is left to the next run.
fn compare(web: &Web, params: &CoreParams, kept: &Kept) -> (usize, Selection, Kept) {
    let (_, _, cold, _) = run(web, params, &Kept::default());
    let (_, _, again, kept) = run(web, params, kept);
    assert_same(&again, &cold);
    assert!(cold.reused.iter().all(|reused| !reused));
    (
        again.reused.iter().filter(|reused| **reused).count(),
        again,
        kept,
    )
}

/// A change: the page at this place links to exactly these.
type Change = (u64, Vec<u64>);

/// Webs of twelve pages in three loose groups, so that components form, split and merge.
fn change() -> impl Strategy<Value = Change> {
    (0_u64..12, prop::collection::vec((0_u64..4, 0_u8..12), 0..4)).prop_map(|(page, targets)| {
        let group = page / 4;
        let targets = targets.into_iter().map(|(target, far)| {
            if far == 0 {
                (group * 4 + target + 5) % 12
            } else {
                group * 4 + target
            }
        });
        (page, targets.filter(|target| *target != page).collect())
    })
}

fn params() -> impl Strategy<Value = CoreParams> {
    let density = (prop::sample::select(vec!["100", "75", "60"]), any::<bool>()).prop_map(
        |(density, literal)| Rule::Density {
            density: density.parse().unwrap(),
            growth: if literal {
                Growth::Literal
            } else {
                Growth::Maximal
            },
        },
    );
    let size =
        (2_u32..6, 1_u32..3).prop_map(|(size, new_members)| Rule::Size { size, new_members });
    (prop_oneof![density, size], prop::option::of(1_u32..3)).prop_map(|(rule, max_hubs)| {
        CoreParams {
            rule,
            max_hubs,
            ..CoreParams::default()
        }
    })
}

#[test]
fn a_thousand_sequences_of_changes() {
    let mut runner = TestRunner::new(repeatable(1_000));
    let web = prop::collection::vec(change(), 4..14);
    let days = prop::collection::vec((prop::collection::vec(change(), 0..3), 1_u32..8), 1..6);
    let reused = std::cell::Cell::new(0);
    let computed = std::cell::Cell::new(0);
    runner
        .run(&(web, params(), days), |(pages, params, days)| {
            let mut web = Web::default();
            let mut kept = Kept::default();
            let first = [(pages, 100)];
            for (changes, seeds) in first.into_iter().chain(days) {
                for (page, targets) in changes {
                    web.0.insert(page, targets.into_iter().collect());
                }
                let params = CoreParams { seeds, ..params };
                let (taken, again, left) = compare(&web, &params, &kept);
                reused.set(reused.get() + taken);
                computed.set(computed.get() + again.cores.len() - taken);
                kept = left;
            }
            Ok(())
        })
        .unwrap();
    // Neither way may be the exception.
    assert!(
        reused.get() > 1_000 && computed.get() > 1_000,
        "{reused:?} {computed:?}"
    );
}

/// Ids that leave room between groups.
fn two_places() -> Web {
    Web::default()
        .complete(0..6, 10..15)
        .complete(100..104, 110..114)
}

fn start(web: &Web) -> (CoreParams, Kept) {
    let params = CoreParams::default();
    let (_, _, kept) = compare(web, &params, &Kept::default());
    (params, kept)
}

#[test]
fn nothing_changed() {
    let web = two_places();
    let (params, kept) = start(&web);
    let (taken, again, _) = compare(&web, &params, &kept);
    assert_eq!((taken, again.cores.len()), (2, 2));
    // Only the cost of seeing that nothing changed: one pass.
    let merged = web.graph(&web.pages()).rows().entries().len() as u64;
    assert_eq!(again.reads.visits, merged);
}

/// A warm start without any weight on a new, denser place must not win.
#[test]
fn a_denser_place_appears_far_from_all_others() {
    let web = two_places();
    let (params, kept) = start(&web);
    let web = web.complete(50..58, 60..67);
    let (taken, again, _) = compare(&web, &params, &kept);
    assert_eq!(taken, 2);
    assert_eq!(again.reused, [false, true, true]);
    assert!((again.cores[0].sigma - 56_f64.sqrt()).abs() < 1e-9);
}

#[test]
fn one_link_of_the_first_core_changes_and_changes_back() {
    let before = two_places();
    let (params, kept) = start(&before);
    let mut web = before.clone();
    web.0.get_mut(&3).unwrap().remove(&12);
    let (taken, _, changed) = compare(&web, &params, &kept);
    assert_eq!(taken, 1, "the other place stays");
    let (taken, _, _) = compare(&before, &params, &changed);
    assert_eq!(taken, 1, "only what the last run left is there");
}

#[test]
fn every_core_vanishes_and_comes_back() {
    let before = two_places();
    let (params, kept) = start(&before);
    let (taken, again, nothing) = compare(&Web::default(), &params, &kept);
    assert_eq!((taken, again.cores.len()), (0, 0));
    let (taken, again, _) = compare(&before, &params, &nothing);
    assert_eq!((taken, again.cores.len()), (0, 2));
}

#[test]
fn components_merge_and_split_again() {
    let apart = two_places();
    let (params, kept) = start(&apart);
    let mut joined = apart.clone();
    joined.0.get_mut(&5).unwrap().insert(112);
    let (taken, _, of_joined) = compare(&joined, &params, &kept);
    assert_eq!(taken, 0);
    let (taken, _, _) = compare(&apart, &params, &of_joined);
    assert_eq!(taken, 0);
}

/// A page of the first core is an authority of the second place, which no path of links joins to
/// it: the page leaves both at once.
#[test]
fn a_page_in_both_roles_is_felt_in_both() {
    let mut web = two_places();
    web.0.entry(102).or_default().insert(3);
    web.0.entry(103).or_default().insert(3);
    let (params, kept) = start(&web);
    let (taken, _, _) = compare(&web, &params, &kept);
    assert_eq!(taken, 2);
    // The first core loses a hub, but the page that it removes from the second place is still the
    // same.
    let mut changed = web.clone();
    changed.0.insert(3, BTreeSet::new());
    let (taken, _, _) = compare(&changed, &params, &kept);
    assert_eq!(taken, 0);
}

#[test]
fn equal_places_in_one_component_and_in_two() {
    let twins = Web::default()
        .complete(20..24, 30..33)
        .complete(0..4, 10..13);
    let (params, kept) = start(&twins);
    let third = twins.clone().complete(40..44, 50..53);
    let (taken, again, _) = compare(&third, &params, &kept);
    assert_eq!((taken, again.reused.clone()), (2, vec![true, true, false]));
    let mut joined = twins.clone();
    joined.0.insert(7, [10, 30].into());
    let (params, kept) = start(&joined);
    let (taken, _, _) = compare(&joined, &params, &kept);
    assert_eq!(taken, 2);
}

/// Two sigmas of one component differ by less than a tie: what is elsewhere may decide which of
/// them comes first, so they are not taken over.
#[test]
fn sigmas_near_a_tie_are_computed_again() {
    // Sigmas that close need webs of a billion links, so the ledger is given made-up ones instead.
    let web = two_places();
    let (params, mut kept) = start(&web);
    for known in kept.0.values_mut() {
        for known in &mut known.cores {
            known.core.sigma = 5.0 * (1.0 + 1e-9 * f64::from(u8::from(known.core.hubs.len() == 6)));
        }
    }
    let (_, _, again, left) = run(&web, &params, &kept);
    assert_eq!(again.reused, [true, true]);
    let kept: usize = left.0.values().map(|component| component.cores.len()).sum();
    assert_eq!(kept, 1, "the first was near a tie");
}

#[test]
fn fewer_seeds_and_more() {
    let web = two_places().complete(50..53, 60..62);
    let few = CoreParams {
        seeds: 2,
        ..CoreParams::default()
    };
    let (_, _, kept) = compare(&web, &few, &Kept::default());
    let (taken, again, kept) = compare(&web, &CoreParams::default(), &kept);
    assert_eq!((taken, again.cores.len()), (2, 3));
    let (taken, _, _) = compare(&web, &few, &kept);
    assert_eq!(taken, 2);
}

/// A spam farm grows until it is the densest place.
#[test]
fn a_farm_overtakes() {
    let mut web = two_places();
    let (params, mut kept) = start(&web);
    for hubs in 201..220 {
        web = web.complete(200..hubs, 250..254);
        let (taken, again, left) = compare(&web, &params, &kept);
        assert_eq!((taken, again.cores.len()), (2, 3));
        kept = left;
    }
    let (_, _, again, _) = run(&web, &params, &kept);
    assert_eq!(again.cores[0].hubs.len(), 19);
}

/// What was found of places that gave no core is kept as long as nothing changes there.
#[test]
fn places_without_a_core_are_not_forgotten() {
    let mut web = Web::default().complete(0..3, 10..13);
    for star in 0..30 {
        let (hub, target) = (1_000 + star * 20, 1_010 + star * 20);
        for spoke in 0..4 {
            web = web.complete(hub + spoke..hub + spoke + 1, target..target + 1);
            let own = target + 1 + spoke;
            web = web.complete(hub + spoke..hub + spoke + 1, own..own + 1);
        }
    }
    let one = CoreParams {
        seeds: 1,
        ..CoreParams::default()
    };
    let mut kept = Kept::default();
    let mut visits = Vec::new();
    for _ in 0..4 {
        let (_, _, selection, left) = run(&web, &one, &kept);
        visits.push(selection.reads.visits);
        kept = left;
    }
    assert!(visits[1] < visits[0], "{visits:?}");
    assert_eq!(visits[1..], [visits[1]; 3]);
}
