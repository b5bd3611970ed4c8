//! Selections by several processes: the same for any number of them, and judged step by step as those of one.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::row_sums::row_sums;
use super::*;
use crate::graph::hub_share::tests::{Links, dealt, in_shares, links};
use crate::graph::{Csr, HubShare, Role, WeakComponents, number};
use crate::page::PageId;
use crate::properties::repeatable;
use crate::rank::{CachedRegion, CachedStep, CachedSteps, ProvenStep, Work};
use crate::watch::Unwatched;

const PAGES: u32 = 40;

/// Parameters of all kinds, except for those that say how pages are ranked.
pub(super) fn params_of_growth() -> impl Strategy<Value = CoreParams> {
    let densities = prop_oneof![Just(100_u32), Just(60), Just(30)];
    let growth = prop_oneof![Just(Growth::Maximal), Just(Growth::Literal)];
    let density = (densities, growth).prop_map(|(percent, growth)| Rule::Density {
        density: Density::from_millionths(u64::from(percent) * 1_000_000).unwrap(),
        growth,
    });
    let size =
        (2_u32..8, 1_u32..4).prop_map(|(size, new_members)| Rule::Size { size, new_members });
    let pick = prop_oneof![Just(Pick::Best), Just(Pick::Stable)];
    let max_hubs = prop_oneof![Just(None), Just(Some(2))];
    (prop_oneof![density, size], pick, max_hubs, 1_u32..9).prop_map(
        |(rule, pick, max_hubs, seeds)| CoreParams {
            seeds,
            rule,
            max_hubs,
            pick,
            ..CoreParams::default()
        },
    )
}

fn params() -> impl Strategy<Value = CoreParams> {
    (params_of_growth(), 1_u32..30).prop_map(|(params, percent)| CoreParams {
        within: percent.to_string().parse().unwrap(),
        ..params
    })
}

/// What all processes together know: with classes named by their smallest pages.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Selected {
    pub(super) cores: Vec<Core>,
    reads: Work,
    pub(super) led_to: Vec<Vec<u32>>,
    reused: Vec<bool>,
    pub(super) near: [BTreeMap<u32, Nearness>; 2],
    pub(super) steps: Vec<ProvenStep>,
    regions: Vec<CachedRegion>,
}

pub(super) fn selected(
    links: &Links,
    processes: usize,
    params: &CoreParams,
    cached: &CachedSteps,
) -> Selected {
    let found = in_shares(links, processes, |share| {
        let mut rules = OneSeedPerCore { left: params.seeds };
        let input = SelectionInput {
            previous_seeds: &[3, 1, 7],
            steps: Some(cached),
            ..SelectionInput::default()
        };
        let found = select(share, params, input, &mut rules, &Unwatched);
        let found = found.unwrap();
        let near = [
            (Role::Hub, &found.near.hubs),
            (Role::Authority, &found.near.authorities),
        ];
        let near = near.map(|(role, near)| named(share, role, near));
        let ids = share.side(Role::Authority).ids();
        let steps = found.steps.into_iter().map(|mut step| {
            step.cached
                .scores
                .iter_mut()
                .for_each(|of| of.0 = ids[of.0 as usize]);
            step.cached
                .weights
                .iter_mut()
                .for_each(|of| of.0 = ids[of.0 as usize]);
            step
        });
        let mut doubts = found.cores.iter().zip(1..);
        let doubt = doubts.find_map(|(core, rank)| Some((rank, core.doubt?)));
        assert_eq!(found.uncertified_reason, doubt);
        assert_eq!(found.certified, doubt.is_none());
        // Exact scores leave nothing open.
        assert!(found.certified || params.hits == Hits::Classic, "{doubt:?}");
        Selected {
            reads: found.reads,
            steps: steps.collect(),
            regions: found.regions,
            cores: found.cores,
            led_to: found.led_to,
            reused: found.reused,
            near,
        }
    });
    let mut all = found[0].clone();
    for of_process in &found[1..] {
        assert_eq!(of_process.cores, all.cores);
        assert_eq!(of_process.regions, all.regions);
        assert_eq!(
            (&of_process.led_to, &of_process.reused, of_process.reads),
            (&all.led_to, &all.reused, all.reads)
        );
        for (near, own) in all.near.iter_mut().zip(&of_process.near) {
            near.extend(own);
        }
        for (step, own) in all.steps.iter_mut().zip(&of_process.steps) {
            assert_eq!(
                (step.sigma_bound, step.origin),
                (own.sigma_bound, own.origin)
            );
            step.cached.scores.extend(&own.cached.scores);
            step.cached.weights.extend(&own.cached.weights);
        }
    }
    for step in &mut all.steps {
        step.cached.scores.sort_unstable();
        step.cached.weights.sort_unstable();
    }
    all
}

fn named(share: &HubShare, role: Role, near: &[Option<Nearness>]) -> BTreeMap<u32, Nearness> {
    let ids = share.side(role).ids().iter();
    ids.zip(near)
        .filter_map(|(id, near)| Some((*id, (*near)?)))
        .collect()
}

/// The steps of a run, as a later run on other links gets them: by group of pages.
fn cached(links: &Links, of: &Selected) -> CachedSteps {
    let graph = dealt(links, 1)[0].graph().unwrap();
    let members = graph.authority_members();
    let mut groups = Csr::default();
    let ids: Vec<u32> = (0..number(members.len()))
        .map(|class| members.list(class)[0])
        .collect();
    for class in 0..number(members.len()) {
        groups.push(members.list(class).iter().copied());
    }
    let group = |id: u32| number(ids.binary_search(&id).unwrap());
    let steps = of.steps.iter().map(|step| CachedStep {
        scores: step
            .cached
            .scores
            .iter()
            .map(|of| (group(of.0), of.1))
            .collect(),
        weights: step
            .cached
            .weights
            .iter()
            .map(|of| (group(of.0), of.1))
            .collect(),
        ..step.cached
    });
    CachedSteps {
        groups,
        regions: of.regions.clone(),
        steps: steps.collect(),
    }
}

/// The first cores take all pages that the last computation gave weight.
#[test]
fn a_vector_without_pages_is_no_start() {
    let rows: [(&[u32], &[u32]); 7] = [
        (&[7, 15, 16], &[2, 15, 26, 29, 35]),
        (&[31], &[19]),
        (&[5, 29, 30], &[5, 7, 13, 16, 26]),
        (&[3, 4, 14], &[4, 19, 28]),
        (&[8, 19], &[14, 32]),
        (&[2, 6, 33], &[24, 34, 36]),
        (&[9, 17], &[13, 24, 28]),
    ];
    let set = |pages: &[u32]| pages.iter().copied().collect::<BTreeSet<u32>>();
    let links: Links = rows.iter().map(|(from, to)| (set(from), set(to))).collect();
    let params = CoreParams {
        seeds: 5,
        rule: Rule::Density {
            density: Density::COMPLETE,
            growth: Growth::Literal,
        },
        within: "1".parse().unwrap(),
        ..CoreParams::default()
    };
    let none = CachedSteps::default();
    let alone = selected(&links, 1, &params, &none);
    assert_eq!(alone.cores.len(), 5);
    assert_eq!(selected(&links, 2, &params, &none), alone);
}

proptest! {
    #![proptest_config(repeatable(300))]

    #[test]
    fn any_number_of_processes_selects_the_same_cores(
        first in links(PAGES),
        second in links(PAGES),
        kept in 0_usize..30,
        params in params(),
        processes in 2_usize..6,
    ) {
        let none = CachedSteps::default();
        let alone = selected(&first, 1, &params, &none);
        prop_assert_eq!(&selected(&first, processes, &params, &none), &alone);
        // Another day: some rows are new.
        let steps = cached(&first, &alone);
        let mut links: Links = first.into_iter().take(kept).collect();
        for (mut carriers, targets) in second {
            carriers.retain(|page| links.iter().all(|(others, _)| !others.contains(page)));
            if !carriers.is_empty() {
                links.push((carriers, targets));
            }
        }
        let alone = selected(&links, 1, &params, &steps);
        prop_assert_eq!(&selected(&links, processes, &params, &steps), &alone);
    }

    #[test]
    fn every_step_of_several_processes_holds(
        first in prop::collection::vec((0_u32..24, 0_u32..24), 1..90),
        days in prop::collection::vec(prop::collection::vec((0_u32..24, 0_u32..24), 0..12), 1..4),
        within in prop::sample::select(vec!["0.5", "1", "5", "20"]),
        density in prop::sample::select(vec!["100", "80"]),
        processes in 1_usize..5,
    ) {
        let params = within_tests::params(within, density);
        let mut all = within_tests::Links::new();
        let mut past = within_tests::Past::default();
        for day in std::iter::once(first).chain(days) {
            for (from, to) in day {
                within_tests::flip(&mut all, from, to);
            }
            let links: Links = all.iter().map(|(from, to)| (BTreeSet::from([*from]), to.clone())).collect();
            let mut found = selected(&links, processes, &params, &past.steps);
            // From the smallest pages of classes to their numbers in the whole graph.
            let graph = within_tests::linked(&all);
            for step in &mut found.steps {
                let class = |page: u32| graph.authority_class(page).unwrap();
                step.cached.scores.iter_mut().for_each(|of| of.0 = class(of.0));
                step.cached.weights.iter_mut().for_each(|of| of.0 = class(of.0));
            }
            (past, _) = within_tests::judge(&all, &params, &found.cores, &found.steps, &found.regions);
        }
    }

    #[test]
    fn pages_stand_as_in_the_whole_graph(
        links in links(PAGES),
        params in params(),
        owners in prop::collection::vec(0_usize..5, PAGES as usize),
        processes in 1_usize..6,
    ) {
        let graph = dealt(&links, 1)[0].graph().unwrap();
        let ids: Vec<PageId> = (0..PAGES).map(|page| PageId(page.into())).collect();
        let components = WeakComponents::new(&graph, &ids);
        let sums = row_sums(&HubShare::of_graph(graph.clone())).unwrap();
        let alone = selected(&links, 1, &params, &CachedSteps::default());
        let found = in_shares(&links, processes, |share| {
            let process = share.communicator().process();
            let own = (0..PAGES).filter(|page| owners[*page as usize] % processes == process);
            let own: Vec<u32> = own.collect();
            let components = share.components().unwrap();
            let mut rules = OneSeedPerCore { left: params.seeds };
            let input = SelectionInput {
                previous_seeds: &[3, 1, 7],
                ..SelectionInput::default()
            };
            let found = select(share, &params, input, &mut rules, &Unwatched);
            let near = found.unwrap().near;
            let found = standings(share, &components, &near, &own).unwrap();
            let pages = own.into_iter().enumerate();
            pages.map(|(at, page)| (page, found.of_page(at, page))).collect::<Vec<_>>()
        });
        let found: BTreeMap<u32, Option<PageStanding>> = found.into_iter().flatten().collect();
        for (page, found) in found {
            let (hub, authority) = (graph.hub_class(page), graph.authority_class(page));
            let component = components.component_of_page(&graph, page);
            let is_same = |other: &u32| components.component_of_page(&graph, *other) == component;
            let near = |of: &BTreeMap<u32, Nearness>, members: &Csr, class: Option<u32>| {
                of.get(&members.list(class?)[0]).copied()
            };
            let as_hub = near(&alone.near[0], graph.hub_members(), hub);
            let as_authority = near(&alone.near[1], graph.authority_members(), authority);
            let near = match (as_hub, as_authority) {
                (Some(hub), Some(authority)) if authority.core < hub.core => Some((authority, false)),
                (Some(hub), _) => Some((hub, true)),
                (None, authority) => authority.map(|near| (near, false)),
            };
            let expected = component.map(|_| PageStanding {
                component: (0..PAGES).find(is_same).unwrap(),
                as_hub: hub.map_or(0, |class| sums.hubs[class as usize]),
                as_authority: authority.map_or(0, |class| sums.authorities[class as usize]),
                near,
            });
            prop_assert_eq!(found, expected, "page {}", page);
        }
    }
}
