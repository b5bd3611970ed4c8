//! Cover on random small sites with negative values, ties and pages that nothing reaches.
//!
//! - `picks_are_the_best`: each pick is judged by brute force over distances (Floyd-Warshall), which
//!   shares no code with the library. Catches a wrong reading of a method, a missed better page, a
//!   wrong tie, a wrong stop, a wrong gain.
//! - `lazy_is_reference`: larger sites, compared with full recomputation. Catches a bound that is too
//!   low, weights that are no longer exact, and a wrong runner-up.
//! - `greedy_is_near_the_optimum`: the guarantee for non-negative values.
//! - `order_and_threads_make_no_difference`.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::judge::{Judge, distances};
use proptest::prelude::*;
use seedbank::watch::{Interrupted, Unwatched, Watch};
use seedbank_algorithms::cover::{
    CoverError, CoverParams, Covered, Method, Pick, Score, Site, SiteCover, SiteGraph, Stop,
    reference, select, select_all,
};
use seedbank_algorithms::page::SiteId;

/// Few different values make ties common; zeros and negative ones are among them.
fn value() -> impl Strategy<Value = i64> {
    prop_oneof![4 => Just(1), 2 => Just(0), 2 => Just(-3), 1 => Just(10), 1 => -20_i64..20]
}

fn graph(pages: usize, links: usize) -> impl Strategy<Value = SiteGraph> {
    (1..=pages).prop_flat_map(move |pages| {
        let page = 0..u32::try_from(pages).unwrap();
        let links = prop::collection::vec((page.clone(), page), 0..=links.min(pages * 3));
        (prop::collection::vec(value(), pages), links)
            .prop_map(|(values, links)| SiteGraph::new(values, links).unwrap())
    })
}

fn params() -> impl Strategy<Value = CoverParams> {
    let methods = prop_oneof![
        Just((Method::Random, None)),
        Just((Method::Pagerank, None)),
        Just((Method::OutDegree, None)),
        Just((Method::MaxOut, None)),
        Just((Method::Greedy, None)),
        Just((Method::RootScc, None)),
        Just((Method::MaxWeight, Some(Covered::Zero))),
        Just((Method::MaxWeight, Some(Covered::Remove))),
        Just((Method::MaxScc, Some(Covered::Zero))),
        Just((Method::MaxScc, Some(Covered::Remove))),
    ];
    (methods, 0_u32..5, 0_u32..5, any::<bool>(), 0_u64..3).prop_map(
        |((method, covered), hops, depth, positive_only, rng_seed)| {
            let by_depth = matches!(method, Method::MaxWeight | Method::MaxScc | Method::RootScc);
            CoverParams {
                method,
                covered,
                hops,
                depth: by_depth.then_some(depth.min(hops)),
                positive_only,
                rng_seed,
                ..CoverParams::default()
            }
        },
    )
}

fn site(graph: &SiteGraph) -> Site<'_> {
    Site {
        id: SiteId(7),
        name: "a.example",
        graph,
    }
}

fn picked(cover: &SiteCover) -> Vec<u32> {
    cover.picks.iter().map(|pick| pick.seed.page).collect()
}

fn number(score: Score) -> Option<i64> {
    match score {
        Score::Weight(weight) => Some(weight),
        Score::OutDegree(degree) => Some(i64::from(degree)),
        Score::Pagerank(_) | Score::Days(_) | Score::Drawn => None,
    }
}

fn best(scores: &[(i64, u32)]) -> Option<(i64, u32)> {
    scores
        .iter()
        .copied()
        .max_by_key(|&(score, page)| (score, Reverse(page)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn picks_are_the_best(graph in graph(10, 30), params in params(), seats in 0_u32..8) {
        let cover = select(site(&graph), seats, &params, &Unwatched).unwrap();
        let mut judge = Judge::new(&graph, &params);
        let baseline = params.method.is_baseline();
        for pick in &cover.picks {
            prop_assert!(baseline || judge.picks.is_empty() || !judge.exhausted());
            let page = pick.seed.page;
            prop_assert!(!judge.picks.contains(&page));
            let mut scores = judge.scores();
            if let Some(score) = number(pick.seed.score) {
                prop_assert_eq!(Some((score, page)), best(&scores));
                scores.retain(|s| s.1 != page);
                if let Some(next) = pick.runner_up {
                    prop_assert_eq!(Some((number(next.score).unwrap(), next.page)), best(&scores));
                }
            }
            prop_assert!(baseline || !params.positive_only || judge.adds(page) > 0);
            let gains = judge.take(page);
            prop_assert_eq!(gains.len(), pick.hops.len());
            for (wanted, found) in gains.iter().zip(&pick.hops) {
                prop_assert_eq!(&wanted.0, &found.pages.iter().collect::<BTreeSet<u32>>());
                prop_assert_eq!(wanted.1, found.value);
            }
        }
        let picks = cover.picks.len();
        let stop = if !baseline && picks > 0 && judge.exhausted() {
            if judge.removing() { Stop::NoPageLeft } else { Stop::NoValueLeft }
        } else if judge.scores().is_empty() {
            Stop::NoPageLeft
        } else if picks == seats as usize {
            Stop::Complete
        } else {
            prop_assert!(params.positive_only && !baseline);
            prop_assert!(judge.adds(best(&judge.scores()).unwrap().1) <= 0);
            Stop::NotPositive
        };
        prop_assert_eq!(cover.stop, stop);
    }
}

fn lazy_is_reference(graph: &SiteGraph, params: &CoverParams, seats: u32) {
    let lazy = select(site(graph), seats, params, &Unwatched).unwrap();
    let reference = reference::select(site(graph), seats, params, &Unwatched).unwrap();
    assert_eq!(picked(&lazy), picked(&reference), "{params:?}");
    assert_eq!(lazy.stop, reference.stop, "{params:?}");
    for (lazy, reference) in lazy.picks.iter().zip(&reference.picks) {
        assert_eq!(lazy.seed, reference.seed, "{params:?}");
        assert_eq!(lazy.hops, reference.hops, "{params:?}");
        if lazy.runner_up.is_some() {
            assert_eq!(lazy.runner_up, reference.runner_up, "{params:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn lazy_is_reference_on_random_sites(graph in graph(150, 450), params in params(), seats in 0_u32..20) {
        lazy_is_reference(&graph, &params, seats);
    }

    #[test]
    fn lazy_is_reference_where_some_pages_cannot_be_seeds_and_others_are(
        graph in graph(60, 180),
        params in params(),
        seats in 0_u32..12,
        closed in prop::collection::vec(prop::bool::weighted(0.4), 60),
        pins in prop::collection::btree_set(0_u32..60, 0..4),
    ) {
        let pages = graph.pages();
        let closed = closed[..pages as usize].to_vec();
        let pins: Vec<u32> = pins.into_iter().rev().filter(|&pin| pin < pages).collect();
        let may_be = |page: &u32| !closed[*page as usize] || pins.contains(page);
        let graph = graph.clone().with_constraints(closed.clone(), pins.clone()).unwrap();
        lazy_is_reference(&graph, &params, seats);
        let cover = select(site(&graph), seats, &params, &Unwatched).unwrap();
        let picked = picked(&cover);
        prop_assert_eq!(&picked[..pins.len()], &pins[..]);
        prop_assert!(picked.iter().all(may_be));
        prop_assert!(picked.len() <= pins.len().max(seats as usize));
    }

    #[test]
    fn greedy_is_near_the_optimum(
        values in prop::collection::vec(0_i64..5, 8),
        links in prop::collection::vec((0_u32..8, 0_u32..8), 0..14),
        hops in 0_u32..3,
        seats in 1_u32..4,
    ) {
        let graph = SiteGraph::new(values, links).unwrap();
        let params = CoverParams { method: Method::Greedy, hops, ..CoverParams::default() };
        let cover = select(site(&graph), seats, &params, &Unwatched).unwrap();
        let found: i64 = cover.picks.iter().map(Pick::covered_value).sum();
        let all: BTreeSet<u32> = (0..8).collect();
        let distance = distances(&graph, &all);
        let optimum = (0_u32..256)
            .filter(|set| set.count_ones() == seats)
            .map(|set| {
                let near = |q: usize| (0..8).any(|p| set >> p & 1 == 1 && distance[p][q] <= hops);
                (0..8).filter(|&q| near(q)).map(|q| graph.values()[q]).sum::<i64>()
            })
            .max()
            .unwrap();
        prop_assert!(found <= optimum);
        // Sums of at most 40 are exact.
        let (found, optimum) = (f64::from(i32::try_from(found).unwrap()), f64::from(i32::try_from(optimum).unwrap()));
        prop_assert!(found >= (1.0 - (-1.0_f64).exp()) * optimum - 1e-9);
    }
}

/// A site whose pages link to a menu and to a few neighbours, so that most reach most of it: the
/// case that uses bounds, ball bounds and backward searches.
fn menu_site(pages: u32, spam_every: u32, rng_seed: u32) -> SiteGraph {
    let mut links = Vec::new();
    let mut state = rng_seed;
    let mut draw = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % below
    };
    for page in 0..pages {
        if draw(5) > 0 {
            links.extend((0..4).map(|menu| (page, menu * 7 % pages)));
        }
        for _ in 0..draw(4) {
            links.push((page, draw(pages)));
        }
        links.push((page, (page + draw(9)) % pages));
    }
    let value = |page: u32| match page {
        _ if page % spam_every == 3 => -10,
        _ if page.is_multiple_of(11) => 10,
        _ => 1 + i64::from(page % 3),
    };
    SiteGraph::new((0..pages).map(value).collect(), links).unwrap()
}

#[test]
fn lazy_is_reference_where_most_pages_reach_most_of_the_site() {
    for (pages, spam_every) in [(900, 1000), (700, 6)] {
        let graph = menu_site(pages, spam_every, 1);
        for method in [
            Method::Greedy,
            Method::MaxWeight,
            Method::MaxScc,
            Method::MaxOut,
        ] {
            for (positive_only, hops) in [(true, 2), (false, 5)] {
                let params = CoverParams {
                    method,
                    positive_only,
                    hops,
                    ..CoverParams::default()
                };
                lazy_is_reference(&graph, &params, 8);
                if matches!(method, Method::MaxWeight) {
                    let covered = Some(Covered::Remove);
                    lazy_is_reference(&graph, &CoverParams { covered, ..params }, 8);
                }
            }
        }
    }
}

#[test]
fn lazy_is_reference_where_bounds_decide() {
    for rng_seed in 2..14 {
        let graph = menu_site(400 + 30 * rng_seed, 5 + 9 * (rng_seed % 3), rng_seed);
        let params = CoverParams {
            method: Method::Greedy,
            hops: 2 + rng_seed % 3,
            ..CoverParams::default()
        };
        lazy_is_reference(&graph, &params, 6);
    }
}

#[test]
fn order_and_threads_make_no_difference() {
    let graphs: Vec<SiteGraph> = (1..20).map(|n| menu_site(n * 37, 9, 1)).collect();
    let with_threads = |threads: usize, method: Method| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let sites: Vec<(Site<'_>, u32)> = graphs.iter().map(|graph| (site(graph), 5)).collect();
        let params = CoverParams {
            method,
            ..CoverParams::default()
        };
        pool.install(|| select_all(&sites, &params, &Unwatched).unwrap())
    };
    for method in [
        Method::Greedy,
        Method::Pagerank,
        Method::MaxWeight,
        Method::Random,
    ] {
        // Page visits too, since they are reported.
        assert_eq!(
            with_threads(1, method),
            with_threads(8, method),
            "{method:?}"
        );
    }
    let links: Vec<(u32, u32)> = (0..37)
        .flat_map(|p| graphs[0].successors(p).iter().map(move |&q| (p, q)))
        .collect();
    let backward = SiteGraph::new(graphs[0].values().to_vec(), links.into_iter().rev()).unwrap();
    let params = CoverParams::default();
    assert_eq!(
        select(site(&backward), 5, &params, &Unwatched),
        select(site(&graphs[0]), 5, &params, &Unwatched),
    );
}

const METHODS: [Method; 8] = [
    Method::Random,
    Method::Pagerank,
    Method::OutDegree,
    Method::MaxOut,
    Method::MaxWeight,
    Method::MaxScc,
    Method::RootScc,
    Method::Greedy,
];

#[test]
fn an_empty_site_has_no_seeds() {
    let graph = SiteGraph::new(Vec::new(), []).unwrap();
    for method in METHODS {
        let params = CoverParams {
            method,
            ..CoverParams::default()
        };
        let cover = select(site(&graph), 3, &params, &Unwatched).unwrap();
        assert_eq!(
            (cover.picks.len(), cover.stop),
            (0, Stop::NoPageLeft),
            "{method:?}"
        );
    }
}

#[test]
fn a_stopped_watch_ends_the_selection() {
    struct Stopped;
    impl Watch for Stopped {
        fn stopped(&self) -> bool {
            true
        }
    }
    let graph = menu_site(500, 9, 1);
    for method in METHODS {
        let params = CoverParams {
            method,
            ..CoverParams::default()
        };
        let error = select(site(&graph), 3, &params, &Stopped).unwrap_err();
        assert_eq!(error, CoverError::Interrupted(Interrupted), "{method:?}");
    }
}

/// The worked example of section 3.1 of the CIKM 2009 paper, k = 2, h = 1: page 1 links to 3, 4, 5,
/// 6 and 11; page 2 has the next best out-degree, 4, but links to what page 1 covers already; page
/// 9 has fewer links, to pages that page 1 does not cover.
#[test]
fn max_out_against_out_degree_as_in_the_paper() {
    let links = [
        (1, 3),
        (1, 4),
        (1, 5),
        (1, 6),
        (1, 11),
        (2, 4),
        (2, 5),
        (2, 6),
        (2, 11),
        (9, 7),
        (9, 8),
        (9, 10),
    ];
    // Pages are numbered from 0: page n of the paper is n - 1 here.
    let links = links.map(|(from, to)| (from - 1, to - 1));
    let graph = SiteGraph::new(vec![1_000_000; 11], links).unwrap();
    let picks = |method| {
        let params = CoverParams {
            method,
            hops: 1,
            ..CoverParams::default()
        };
        let cover = select(site(&graph), 2, &params, &Unwatched).unwrap();
        (
            picked(&cover)
                .iter()
                .map(|page| page + 1)
                .collect::<Vec<_>>(),
            cover,
        )
    };
    let (by_degree, cover) = picks(Method::OutDegree);
    assert_eq!(by_degree, [1, 2]);
    assert_eq!(cover.picks[0].seed.score, Score::OutDegree(5));
    assert_eq!(cover.picks[1].seed.score, Score::OutDegree(4));
    assert_eq!(
        cover.picks[0].covered_pages() + cover.picks[1].covered_pages(),
        7
    );
    let (by_rest, cover) = picks(Method::MaxOut);
    assert_eq!(by_rest, [1, 9]);
    let covered: Vec<u32> = cover.picks[0].hops[1]
        .pages
        .iter()
        .map(|page| page + 1)
        .collect();
    assert_eq!(covered, [3, 4, 5, 6, 11]);
    assert_eq!(
        cover.picks[0].covered_pages() + cover.picks[1].covered_pages(),
        10
    );
}

/// Two pages that link to each other and two without links, all of the same value. Max-out has no page with links left
/// after its first pick, and the others still add themselves.
#[test]
fn max_out_goes_on_as_long_as_its_picks_add_pages() {
    let graph = SiteGraph::new(vec![1; 4], [(0, 1), (1, 0)]).unwrap();
    for positive_only in [true, false] {
        let params = CoverParams {
            method: Method::MaxOut,
            positive_only,
            ..CoverParams::default()
        };
        let cover = select(site(&graph), 10, &params, &Unwatched).unwrap();
        assert_eq!(picked(&cover), [0, 2, 3]);
        assert_eq!(cover.stop, Stop::NoPageLeft);
    }
}

/// Over two hops, 0 removes 1 and 2. 4 covers 3 through 2, but no longer leads to it over the remaining pages, so 3
/// remains and has the next best weight. It adds nothing.
#[test]
fn a_pick_that_earlier_picks_cover_adds_nothing() {
    let graph = SiteGraph::new(vec![9, 1, 1, 1, 5], [(0, 1), (1, 2), (2, 3), (4, 2)]).unwrap();
    let stops = [
        (true, vec![0, 4], Stop::NotPositive),
        (false, vec![0, 4, 3], Stop::NoPageLeft),
    ];
    for (positive_only, picks, stop) in stops {
        let params = CoverParams {
            method: Method::MaxWeight,
            covered: Some(Covered::Remove),
            depth: Some(0),
            hops: 2,
            positive_only,
            ..CoverParams::default()
        };
        let cover = select(site(&graph), 10, &params, &Unwatched).unwrap();
        assert_eq!(picked(&cover), picks);
        assert_eq!(cover.stop, stop);
    }
}

/// The weight of 0 over one hop is not positive, and over two hops it adds 6.
#[test]
fn a_pick_is_judged_by_all_its_hops() {
    let graph = SiteGraph::new(vec![1, -2, 7, 0], [(0, 1), (1, 2), (3, 0)]).unwrap();
    let graph = graph
        .with_constraints(vec![false, true, true, true], Vec::new())
        .unwrap();
    let params = CoverParams {
        method: Method::MaxWeight,
        depth: Some(1),
        hops: 2,
        ..CoverParams::default()
    };
    let cover = select(site(&graph), 10, &params, &Unwatched).unwrap();
    assert_eq!(picked(&cover), [0]);
    assert_eq!(cover.picks[0].seed.score, Score::Weight(-1));
    assert_eq!(cover.picks[0].covered_value(), 6);
}
