//! Growth in a graph that several processes share, beside growth in the whole graph, on scores with many ties and zeros.

use std::cell::Cell;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::super::params::CoreParams;
use super::super::share_tests::params_of_growth;
use super::*;
use crate::graph::hub_share::tests::{Links, dealt, in_shares, links};
use crate::graph::{Csr, HubGraph, Role, number};
use crate::properties::repeatable;
use crate::rank::tests::uniform;
use crate::rank::{Doubt, Next, PowerIteration, Ranker};
use crate::watch::Unwatched;

const PAGES: u32 = 40;

/// Scores by page, and the error of each as a share of it.
#[derive(Clone, Debug)]
struct Scores {
    of_pages: Vec<f64>,
    errors: Vec<f64>,
}

impl Scores {
    /// Other scores within the errors, given the place of each between -1 and 1; they have no errors.
    fn within_errors(&self, places: &[f64]) -> Self {
        let scores = self.of_pages.iter().zip(&self.errors).zip(places);
        Self {
            // Rounding does not take them out of the errors.
            of_pages: scores
                .map(|((score, error), place)| score * (1.0 + 0.999_999 * error * place))
                .collect(),
            errors: vec![0.0; PAGES as usize],
        }
    }

    /// Replaces the scores of the classes of these pages. Without links or pages, the score is 0.
    fn replace(&self, scores: &mut [f64], errors: &mut [f64], pages: impl Iterator<Item = u32>) {
        for ((score, error), page) in scores.iter_mut().zip(errors).zip(pages) {
            if *score > 0.0 {
                *score = self.of_pages[page as usize];
            }
            *error = *score * self.errors[page as usize];
        }
    }
}

/// A level, and a distance from it in fifths of the threshold of ties.
fn level(level: u32, fifths: u32) -> f64 {
    f64::from(level) * (1.0 - 2e-10 * f64::from(fifths))
}

fn scores(errors: impl Strategy<Value = Vec<f64>>) -> impl Strategy<Value = Scores> {
    let of_page = (0_u32..3, prop_oneof![Just(0), 0_u32..7]);
    let of_page = of_page.prop_map(|(of, fifths)| level(of, fifths));
    let of_pages = prop::collection::vec(of_page, PAGES as usize);
    (of_pages, errors).prop_map(|(of_pages, errors)| Scores { of_pages, errors })
}

/// The same small error of all scores.
fn even_errors() -> impl Strategy<Value = Vec<f64>> {
    let error = prop_oneof![Just(0.0), Just(1e-12)];
    error.prop_map(|error| vec![error; PAGES as usize])
}

/// A different error for each score; some are larger than the threshold of ties.
fn uneven_errors() -> impl Strategy<Value = Vec<f64>> {
    let errors = prop::sample::select(vec![0.0, 1e-12, 1e-12, 1e-12, 3e-10, 1e-9, 5e-8, 0.6]);
    prop::collection::vec(errors, PAGES as usize)
}

/// Returns the scores of one iteration.
fn principal(ranker: &mut dyn Ranker, graph: &HubGraph, left: &Remaining) -> Option<Principal> {
    match ranker.next(graph, left, &Unwatched).unwrap()? {
        Next::Solved(principal) => Some(Arc::unwrap_or_clone(principal)),
        Next::Cached { .. } => None,
    }
}

fn first_pages(members: &Csr) -> Vec<u32> {
    let classes = 0..number(members.len());
    classes.map(|class| members.list(class)[0]).collect()
}

/// The core of the whole graph.
fn whole(links: &Links, removed: &[u32], scores: &Scores, params: &CoreParams) -> Option<Grown> {
    let graph = dealt(links, 1)[0].graph().unwrap();
    let mut left = Remaining::all(&graph);
    left.remove(&graph, removed.iter().copied());
    let mut principal = uniform(&graph, &left)?;
    let hubs = first_pages(graph.hub_members());
    let authorities = first_pages(graph.authority_members());
    let region = principal.region.clone();
    let pages = region.hubs().iter().map(|class| hubs[*class as usize]);
    scores.replace(&mut principal.hub_scores, &mut principal.hub_errors, pages);
    let pages = region.authorities().iter();
    let pages = pages.map(|class| authorities[*class as usize]);
    scores.replace(
        &mut principal.authority_scores,
        &mut principal.authority_errors,
        pages,
    );
    let share = HubShare::of_graph(graph);
    Some(extract(&share, &left, &principal, params).unwrap().grown)
}

/// The core that several processes extract, which all of them must know.
fn shared(
    links: &Links,
    removed: &[u32],
    scores: &Scores,
    params: &CoreParams,
    processes: usize,
) -> Option<Grown> {
    let found = in_shares(links, processes, |share| {
        let graph = share.graph();
        let mut left = share.all();
        share.remove(&mut left, removed.iter().copied()).unwrap();
        let mut ranker = PowerIteration::new(share, &left, 1).unwrap();
        let mut principal = principal(&mut ranker, graph, &left)?;
        let ids = |role: Role| share.side(role).ids().iter().copied();
        scores.replace(
            &mut principal.hub_scores,
            &mut principal.hub_errors,
            ids(Role::Hub),
        );
        scores.replace(
            &mut principal.authority_scores,
            &mut principal.authority_errors,
            ids(Role::Authority),
        );
        let core = extract(share, &left, &principal, params).unwrap();
        // Pages are counted where their classes are.
        let local = |role: Role| {
            let (pages, members, index) = match role {
                Role::Hub => (&core.grown.hubs, graph.hub_members(), 0),
                Role::Authority => (&core.grown.authorities, graph.authority_members(), 1),
            };
            share.side(role).own().all(|class| {
                let of_class = members.list(class).iter();
                let taken = of_class.filter(|page| pages.contains(page)).count();
                core.pages[index].get(&class).copied().unwrap_or(0) as usize == taken
            })
        };
        assert!(local(Role::Hub) && local(Role::Authority));
        Some(core.grown)
    });
    for other in &found[1..] {
        assert!(are_equal(other.as_ref(), found[0].as_ref()));
    }
    found.into_iter().next().unwrap()
}

fn are_equal(a: Option<&Grown>, b: Option<&Grown>) -> bool {
    let (Some(a), Some(b)) = (a, b) else {
        return a.is_none() && b.is_none();
    };
    let scores = |of: &Grown| {
        let scores = of.hub_scores.iter().chain(&of.authority_scores);
        scores.map(|score| score.to_bits()).collect::<Vec<_>>()
    };
    (&a.hubs, &a.authorities, &a.sides, a.edges, a.doubt)
        == (&b.hubs, &b.authorities, &b.sides, b.edges, b.doubt)
        && scores(a) == scores(b)
        && a.error.to_bits() == b.error.to_bits()
}

#[test]
fn the_core_is_that_of_the_whole_graph() {
    // Differences of exactly the threshold are in doubt, and nothing else.
    let (doubts, cases) = doubts_beside_the_whole_graph(even_errors());
    assert!((cases / 100..cases / 3).contains(&doubts), "{doubts}");
}

#[test]
fn a_core_that_errors_leave_open_is_in_doubt() {
    let (doubts, cases) = doubts_beside_the_whole_graph(uneven_errors());
    assert!((cases / 3..cases * 19 / 20).contains(&doubts), "{doubts}");
}

/// Compares cores of several processes, of one that shares the graph with itself, and of the whole graph. Returns how often
/// they are in doubt, and of how many.
fn doubts_beside_the_whole_graph(errors: impl Strategy<Value = Vec<f64>>) -> (u32, u32) {
    let inputs = (
        links(PAGES),
        prop::collection::vec(0..PAGES, 0..8),
        scores(errors),
        params_of_growth(),
        2_usize..6,
        prop::collection::vec(-1.0..1.0, PAGES as usize),
    );
    let doubts = Cell::new(0);
    let mut runner = TestRunner::new(repeatable(600));
    let result = runner.run(
        &inputs,
        |(links, removed, scores, params, processes, places)| {
            let whole = whole(&links, &removed, &scores, &params);
            // As all rankers do, give an authority a score if a link is left.
            let first = whole.as_ref().and_then(|of| of.authority_scores.first());
            prop_assume!(first.is_none_or(|score| *score > 0.0));
            let alone = shared(&links, &removed, &scores, &params, 1);
            let several = shared(&links, &removed, &scores, &params, processes);
            prop_assert!(
                are_equal(alone.as_ref(), several.as_ref()),
                "{alone:?} {several:?}"
            );
            let in_doubt =
                |grown: &Option<Grown>| grown.as_ref().is_some_and(|of| of.doubt.is_some());
            let [of_whole, of_share] = [&whole, &alone].map(in_doubt);
            // A core that is not in doubt is the core of all scores within the errors.
            if !of_share {
                let other = shared(&links, &removed, &scores.within_errors(&places), &params, 1);
                let pages = |of: &Option<Grown>| {
                    let of = of.as_ref()?;
                    Some((of.hubs.clone(), of.authorities.clone(), of.sides.clone()))
                };
                prop_assert_eq!(pages(&other), pages(&alone));
            }
            // Symmetry may decide what is unclear, in one process only. Of candidates with different errors, only several
            // processes test each by its own.
            let mut errors = scores.errors.iter().map(|error| error.to_bits());
            let first = errors.next();
            let is_even = errors.all(|error| Some(error) == first);
            prop_assert!(of_share || !of_whole || !is_even);
            prop_assert!(
                of_share || of_whole || are_equal(alone.as_ref(), whole.as_ref()),
                "{alone:?} {whole:?}"
            );
            doubts.set(doubts.get() + u32::from(of_share));
            Ok(())
        },
    );
    result.unwrap();
    (doubts.get(), runner.config().cases)
}

/// Scores of 0, without errors, except for the pages given.
fn scores_of(pages: &[(u32, f64, f64)]) -> Scores {
    let zero = vec![0.0; PAGES as usize];
    let mut scores = Scores {
        of_pages: zero.clone(),
        errors: zero,
    };
    for (page, score, error) in pages {
        scores.of_pages[*page as usize] = *score;
        scores.errors[*page as usize] = *error;
    }
    scores
}

fn linked(links: &[(u32, &[u32])]) -> Links {
    let row = |(from, to): &(u32, &[u32])| ([*from].into(), to.iter().copied().collect());
    links.iter().map(row).collect()
}

#[test]
fn an_error_of_another_process_counts() {
    // Pages 3 and 7 have the best score, 7 with an error. Page 32 may be tied with it, and may exceed what is certain of page
    // 7, but not the score of page 3. Page 3 comes first, and is tied whatever the errors.
    let links = linked(&[(0, &[7, 15, 17]), (1, &[31, 32]), (2, &[3, 9]), (3, &[31])]);
    let scores = scores_of(&[(3, 2.0, 0.0), (7, 2.0, 1e-12), (32, level(2, 5), 1e-9)]);
    let params = CoreParams::default();
    let alone = shared(&links, &[], &scores, &params, 1).unwrap();
    assert_eq!(
        (&alone.hubs[..], &alone.authorities[..]),
        (&[2][..], &[3, 9][..])
    );
    assert_eq!(alone.doubt, None);
    for processes in 2..7 {
        let several = shared(&links, &[], &scores, &params, processes);
        assert!(
            are_equal(several.as_ref(), Some(&alone)),
            "{processes} {several:?}"
        );
    }
}

#[test]
fn a_score_without_error_excludes_pages_below_one_with_an_error() {
    // Page 1 may be tied with page 8, as far as the score of page 8 is certain, but not with page 2, which has no error.
    let links = linked(&[
        (0, &[1, 3, 4, 10]),
        (1, &[1, 3, 4, 10]),
        (9, &[2]),
        (2, &[3, 8, 9, 10]),
        (3, &[3, 8, 9, 10]),
    ]);
    let scores = scores_of(&[(2, 2.0, 0.0), (8, 2.0, 3e-10), (1, level(2, 6), 0.0)]);
    let params = CoreParams::default();
    let whole = whole(&links, &[], &scores, &params).unwrap();
    assert_eq!((&whole.authorities[..], whole.doubt), (&[2][..], None));
    for processes in 1..5 {
        let found = shared(&links, &[], &scores, &params, processes);
        assert!(
            are_equal(found.as_ref(), Some(&whole)),
            "{processes} {found:?}"
        );
    }
}

#[test]
fn a_tied_page_that_may_be_the_best_leaves_others_open() {
    // Page 15 is tied with page 7 whatever its error. If its score is larger than that of page 7, page 3 is not tied.
    let links = linked(&[(0, &[7]), (1, &[15]), (2, &[3])]);
    let scores = scores_of(&[
        (7, 2.0, 0.0),
        (15, level(2, 1), 6e-10),
        (3, level(2, 4), 0.0),
    ]);
    for processes in 1..5 {
        let found = shared(&links, &[], &scores, &CoreParams::default(), processes).unwrap();
        let error = level(2, 1) * 6e-10;
        assert_eq!(
            found.doubt,
            Some(Doubt::Comparison { error }),
            "{processes}"
        );
        // Page 3 is tied by the scores alone.
        assert_eq!(found.authorities, [3]);
    }
}
