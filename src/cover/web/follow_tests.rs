//! Following an earlier selection gives what selecting from scratch gives, gain by gain, on random
//! small webs that change and on a larger one, where it takes a small part of the visits.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence::SourceParallel;

use super::super::params::{CoverParams, Method};
use super::super::pick::{Score, Scored};
use super::super::value::{UNIT, Value};
use super::samples::{Plain, large, plain_large, web, wide_web};
use super::*;
use crate::graph::NONE;
use crate::watch::Unwatched;

fn choice(method: Method, hops: u32, depth: Option<u32>, price: i64, seeds: u32) -> WebChoice {
    let params = WebParams {
        cover: CoverParams {
            method,
            depth,
            seeds: Some(seeds),
            ..CoverParams::default()
        },
        hops: Some(hops),
        fetch_cost: Some(Value(price)),
        ..WebParams::default()
    };
    params.choose().unwrap()
}

fn weight(scored: Scored) -> (u32, i64) {
    match scored.score {
        Score::Weight(gain) => (scored.page, gain),
        other => panic!("{other:?} is no weight"),
    }
}

/// What is kept of a selection, with the changes since.
fn former(graph: &WebGraph, cover: &WebCover, changes: Changes) -> Former {
    let mut rounds = vec![NONE; graph.pages() as usize];
    for (round, pick) in (0..).zip(&cover.picks) {
        for page in pick.reached() {
            rounds[page as usize] = round;
        }
    }
    let pick = |pick: &WebPick| {
        let (page, gain) = weight(pick.seed);
        let next = pick.next.iter().map(|&next| weight(next));
        FormerPick {
            page: Some(page),
            gain,
            next: next.map(|(page, gain)| (Some(page), gain)).collect(),
        }
    };
    let mut margins = vec![0; graph.pages() as usize];
    for (&page, &margin) in graph.candidates().iter().zip(&cover.margins) {
        margins[page as usize] = margin;
    }
    Former {
        picks: cover.picks.iter().map(pick).collect(),
        rounds,
        rest: cover.rest.iter().map(|&scored| weight(scored)).collect(),
        margins,
        changes,
        most_visits: Some(u64::MAX),
    }
}

/// What differs between two webs of the same pages.
fn known(before: &Plain, now: &Plain) -> Changes {
    let pages = 0..u32::try_from(before.values.len()).unwrap();
    let links =
        |web: &Plain, page: u32| -> Vec<u32> { web.links[page as usize].iter().copied().collect() };
    let then: BTreeSet<u32> = before.candidates().into_iter().collect();
    Changes::Known {
        values: pages
            .clone()
            .map(|page| (page, before.values[page as usize]))
            .filter(|&(page, value)| value != now.values[page as usize])
            .collect(),
        links: pages
            .map(|page| (page, links(before, page)))
            .filter(|(page, then)| *then != links(now, *page))
            .collect(),
        new: now
            .candidates()
            .into_iter()
            .filter(|page| !then.contains(page))
            .collect(),
    }
}

/// Compares with a selection from scratch; the lists of those that came next may be shorter.
fn same(followed: &WebCover, cold: &WebCover) {
    assert_eq!(followed.picks.len(), cold.picks.len());
    for (ours, theirs) in followed.picks.iter().zip(&cold.picks) {
        assert_eq!((ours.seed, &ours.hops), (theirs.seed, &theirs.hops));
        assert!(theirs.next.starts_with(&ours.next));
        assert_eq!(ours.next.is_empty(), theirs.next.is_empty());
    }
    assert_eq!(followed.rest, cold.rest);
    assert_eq!(followed.stop, cold.stop);
}

/// A page with what it comes to: its value, whom it links to, whether it may be a seed.
type Change = (u32, Option<i64>, Option<Vec<u32>>, Option<bool>);

fn change(pages: u32) -> impl Strategy<Value = Change> {
    (
        0..pages,
        proptest::option::weighted(0.4, prop_oneof![Just(UNIT), Just(0), -5_i64..5]),
        proptest::option::weighted(0.5, proptest::collection::vec(0..pages, 0..4)),
        proptest::option::weighted(0.2, any::<bool>()),
    )
}

/// The web after changes, and the pages with other values, and with other links or roles.
fn changed(web: &Plain, changes: &[Change]) -> (Plain, (Vec<u32>, Vec<u32>)) {
    let mut web = web.clone();
    let count = u32::try_from(web.values.len()).unwrap();
    let mut revalued = BTreeSet::new();
    let mut relinked = BTreeSet::new();
    for (page, value, links, may_be_seed) in changes.iter().filter(|change| change.0 < count) {
        let at = *page as usize;
        relinked.insert(*page);
        revalued.extend(value.map(|_| *page));
        web.values[at] = value.unwrap_or(web.values[at]);
        web.may_be_seed[at] = may_be_seed.unwrap_or(web.may_be_seed[at]);
        if let Some(links) = links {
            let links = links.iter().copied();
            web.links[at] = links.filter(|to| to != page && *to < count).collect();
        }
    }
    let of = |pages: BTreeSet<u32>| pages.into_iter().collect();
    (web, (of(revalued), of(relinked)))
}

/// Follows a selection over some days, each of which changes the web, and compares each day with a
/// selection from scratch.
fn follow_days(mut web: Plain, days: &[Vec<Change>], choice: &WebChoice, is_known: bool) {
    let mut last = select(&web.graph(), choice, &[], &Unwatched).unwrap();
    for day in days {
        let (now, (revalued, relinked)) = changed(&web, day);
        let graph = now.graph();
        let changes = if is_known {
            known(&web, &now)
        } else {
            Changes::Unknown { revalued, relinked }
        };
        let former = former(&web.graph(), &last.cover, changes);
        let cold = select(&graph, choice, &[], &Unwatched).unwrap();
        // What was followed is followed again, with what is left of its lists.
        last = match select_after(&graph, choice, &former, &Unwatched).unwrap() {
            Followed::Found(followed) => {
                same(&followed.cover, &cold.cover);
                followed
            }
            Followed::GaveUp { .. } => cold,
        };
        web = now;
    }
}

fn method(hops: u32, by_depth: Option<u32>, price: i64, seeds: u32) -> WebChoice {
    let method = by_depth.map_or(Method::Greedy, |_| Method::MaxWeight);
    choice(
        method,
        hops,
        by_depth.map(|depth| depth.min(hops)),
        price,
        seeds,
    )
}

fn price() -> impl Strategy<Value = i64> {
    prop_oneof![Just(0), Just(UNIT / 3), Just(UNIT)]
}

/// So many cases; those that failed once stand in `tests/`.
fn persisted(cases: u32) -> ProptestConfig {
    ProptestConfig {
        failure_persistence: Some(Box::new(SourceParallel("tests/proptest-regressions"))),
        ..ProptestConfig::with_cases(cases)
    }
}

proptest! {
    #![proptest_config(persisted(600))]

    #[test]
    fn following_gives_what_selecting_from_scratch_gives(
        web in web(),
        days in proptest::collection::vec(proptest::collection::vec(change(24), 1..4), 1..5),
        hops in 0_u32..4,
        by_depth in proptest::option::of(0_u32..4),
        price in price(),
        seeds in 1_u32..7,
        is_known in any::<bool>(),
    ) {
        follow_days(web, &days, &method(hops, by_depth, price, seeds), is_known);
    }
}

proptest! {
    #![proptest_config(persisted(100))]

    #[test]
    fn so_it_does_where_most_candidates_are_not_listed(
        web in wide_web(),
        days in proptest::collection::vec(proptest::collection::vec(change(200), 1..6), 1..6),
        hops in 0_u32..4,
        by_depth in proptest::option::of(0_u32..4),
        price in price(),
        seeds in 1_u32..12,
        is_known in any::<bool>(),
    ) {
        follow_days(web, &days, &method(hops, by_depth, price, seeds), is_known);
    }
}

#[test]
fn a_small_change_takes_a_small_part_of_the_visits() {
    let web = plain_large();
    let graph = large();
    for (hops, price, share) in [
        (1, UNIT / 2, 0.03),
        (2, UNIT / 3, 0.05),
        (3, UNIT / 3, 0.05),
    ] {
        let choice = choice(Method::Greedy, hops, None, price, 60);
        let before = select(&graph, &choice, &[], &Unwatched).unwrap();
        let mut now = web.clone();
        let pages: Vec<u32> = (1..6).map(|at| 1500 * at + 7).collect();
        for &page in &pages {
            now.links[page as usize] = [page - 1, page / 2].into_iter().collect();
        }
        let today = now.graph();
        let cold = select(&today, &choice, &[], &Unwatched).unwrap();
        let former = former(&graph, &before.cover, known(&web, &now));
        let followed = select_after(&today, &choice, &former, &Unwatched).unwrap();
        let Followed::Found(followed) = followed else {
            panic!("{followed:?}");
        };
        same(&followed.cover, &cold.cover);
        let part = followed.cover.page_visits as f64 / cold.cover.page_visits as f64;
        assert!(part < share, "{part} of a cold run's visits at {hops} hops");
    }
}
