//! Runs within a bound, judged by plain computations that share nothing with them: whether sigma and its
//! bound enclose the largest sigma of the remaining graph, and whether every pick follows from the scores that
//! are kept.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::graph::{Role, Rows};
use crate::rank::{CachedRegion, CachedStep, CachedSteps, Origin, ProvenStep};
use crate::watch::Unwatched;

/// Links from each page.
pub(super) type Links = BTreeMap<u32, BTreeSet<u32>>;

pub(super) fn linked(links: &Links) -> crate::graph::HubGraph {
    let mut rows = Rows::new();
    for (&from, to) in links {
        let to: Vec<u32> = to.iter().copied().collect();
        rows.push(&[from], &to).unwrap();
    }
    rows.graph().unwrap()
}

/// The largest singular value of the links, by squaring their matrix until one direction is left.
fn largest_sigma(links: &Links) -> f64 {
    let targets: BTreeSet<u32> = links.values().flatten().copied().collect();
    let at: BTreeMap<u32, usize> = targets.into_iter().zip(0..).collect();
    let n = at.len();
    let mut matrix = vec![vec![0.0_f64; n]; n];
    for to in links.values() {
        for a in to {
            for b in to {
                matrix[at[a]][at[b]] += 1.0;
            }
        }
    }
    let first = matrix.clone();
    for _ in 0..24 {
        let top = matrix.iter().flatten().fold(0.0_f64, |a, b| a.max(*b));
        if top == 0.0 {
            return 0.0;
        }
        let product = |i: usize, j: usize| -> f64 {
            (0..n)
                .map(|k| matrix[i][k] / top * (matrix[k][j] / top))
                .sum()
        };
        matrix = (0..n)
            .map(|i| (0..n).map(|j| product(i, j)).collect())
            .collect();
    }
    let x: Vec<f64> = (0..n).map(|i| matrix[i].iter().sum()).collect();
    let image = |i: usize| -> f64 { (0..n).map(|j| first[i][j] * x[j]).sum() };
    let above: f64 = (0..n).map(|i| image(i) * x[i]).sum();
    let below: f64 = x.iter().map(|x| x * x).sum();
    (above / below).sqrt()
}

/// The score of a code, from its definition: octaves below 1, each in 16 steps.
fn score(code: u8) -> f64 {
    let at = i32::from(code) - 1;
    (1.0 + f64::from(at % 16) / 16.0) * 2.0_f64.powi(at / 16 - 9)
}

/// The core that grows from these scores of authorities by the rules: its hubs, authorities and sides.
fn replayed(
    links: &Links,
    scores: &BTreeMap<u32, f64>,
    percent: u64,
) -> (Vec<u32>, Vec<u32>, String) {
    let of = |page: &u32| scores.get(page).copied().unwrap_or(0.0);
    let hub_score = |hub: u32| -> f64 { links[&hub].iter().map(of).sum() };
    let best = |pages: Vec<(u32, f64)>| -> Option<u32> {
        let top = pages.iter().map(|page| page.1).fold(-1.0, f64::max);
        let tied = pages.iter().filter(|page| page.1 >= top * (1.0 - 1e-9));
        tied.map(|page| page.0).min()
    };
    let targets: BTreeSet<u32> = links.values().flatten().copied().collect();
    let first = best(targets.iter().map(|page| (*page, of(page))).collect()).unwrap();
    let (mut hubs, mut authorities, mut sides) = (vec![], vec![first], "a".to_owned());
    let mut edges = 0;
    let needed = |h: usize, a: usize| (percent * (h * a) as u64).div_ceil(100);
    loop {
        let need = needed(hubs.len() + 1, authorities.len())
            .saturating_sub(edges)
            .max(1);
        let links_of = |hub: u32| {
            authorities
                .iter()
                .filter(|a| links[&hub].contains(a))
                .count() as u64
        };
        let fits = links
            .keys()
            .filter(|hub| !hubs.contains(*hub) && links_of(**hub) >= need);
        let hub = best(fits.map(|hub| (*hub, hub_score(*hub))).collect());
        if let Some(hub) = hub {
            edges += links_of(hub);
            hubs.push(hub);
            sides.push('h');
        }
        let need = needed(hubs.len(), authorities.len() + 1)
            .saturating_sub(edges)
            .max(1);
        let links_of = |page: u32| {
            hubs.iter()
                .filter(|hub| links[*hub].contains(&page))
                .count() as u64
        };
        let fits = targets
            .iter()
            .filter(|page| !authorities.contains(*page) && links_of(**page) >= need);
        let authority = best(fits.map(|page| (*page, of(page))).collect());
        if let Some(page) = authority {
            edges += links_of(page);
            authorities.push(page);
            sides.push('a');
        }
        if hub.is_none() && authority.is_none() {
            return (hubs, authorities, sides);
        }
    }
}

/// What a run leaves to the next one.
#[derive(Default)]
pub(super) struct Past {
    pub(super) steps: CachedSteps,
    pub(super) seeds: Vec<u32>,
}

fn run(links: &Links, params: &CoreParams, past: &Past) -> Selection {
    let graph = linked(links);
    let mut rules = OneSeedPerCore { left: params.seeds };
    let input = SelectionInput {
        previous_seeds: &past.seeds,
        steps: Some(&past.steps),
        ..SelectionInput::default()
    };
    let share = whole_graph(graph.clone(), params);
    let mut selection = select(&share, params, input, &mut rules, &Unwatched).unwrap();
    // From the classes by slice to those in the order of their smallest pages.
    let ids = share.side(Role::Authority).ids();
    let class = |class: u32| graph.authority_class(ids[class as usize]).unwrap();
    for step in &mut selection.steps {
        let CachedStep {
            scores, weights, ..
        } = &mut step.cached;
        for of in scores {
            of.0 = class(of.0);
        }
        for of in weights {
            of.0 = class(of.0);
        }
    }
    selection
}

/// A run that begins with `past`, every step of which is judged.
fn judged(links: &Links, params: &CoreParams, past: &Past) -> (Past, Vec<Origin>) {
    let selection = run(links, params, past);
    assert!(selection.certified, "{:?}", selection.uncertified_reason);
    judge(
        links,
        params,
        &selection.cores,
        &selection.steps,
        &selection.regions,
    )
}

/// Judges the cores and the steps of a run; these name the classes of the whole graph.
pub(super) fn judge(
    links: &Links,
    params: &CoreParams,
    cores: &[Core],
    steps: &[ProvenStep],
    regions: &[CachedRegion],
) -> (Past, Vec<Origin>) {
    let graph = linked(links);
    let percent = match params.rule {
        Rule::Density { density, .. } => density.millionths() / 1_000_000,
        Rule::Size { .. } => unreachable!("no such runs here"),
    };
    let mut left = links.clone();
    assert_eq!(cores.len(), steps.len());
    for (core, step) in cores.iter().zip(steps) {
        let sigma = largest_sigma(&left);
        let bound = core.sigma_bound.unwrap();
        assert!(
            core.sigma <= sigma * (1.0 + 1e-9),
            "{} of {sigma}",
            core.sigma
        );
        assert!(sigma <= bound * (1.0 + 1e-9), "{sigma} of {bound}");
        assert!(core.sigma >= (1.0 - params.within.share()) * bound);
        let live: BTreeSet<u32> = left.values().flatten().copied().collect();
        let scores: BTreeMap<u32, f64> = step
            .cached
            .scores
            .iter()
            .flat_map(|&(class, code)| {
                let pages = graph.authority_members().list(class);
                pages.iter().map(move |page| (*page, score(code)))
            })
            .filter(|(page, _)| live.contains(page))
            .collect();
        let squares = |scores: &mut dyn Iterator<Item = f64>| scores.map(|s| s * s).sum::<f64>();
        let lead = |to: &BTreeSet<u32>| to.iter().filter_map(|page| scores.get(page)).sum::<f64>();
        let above = squares(&mut left.values().map(lead));
        let told = (above / squares(&mut scores.values().copied())).sqrt();
        assert!(
            (core.sigma / told - 1.0).abs() < 1e-9,
            "{} {told}",
            core.sigma
        );
        let replay = replayed(&left, &scores, percent);
        let taken = (
            core.hubs.clone(),
            core.authorities.clone(),
            core.sides.clone(),
        );
        assert_eq!(taken, replay);
        let gone: BTreeSet<u32> = core.pages().collect();
        left.retain(|from, to| {
            to.retain(|to| !gone.contains(to));
            !gone.contains(from) && !to.is_empty()
        });
    }
    if cores.len() < params.seeds as usize {
        assert!(left.is_empty());
    }
    let past = Past {
        seeds: cores.iter().map(|core| core.seed).collect(),
        steps: CachedSteps {
            groups: graph.authority_members().clone(),
            regions: regions.to_vec(),
            steps: steps.iter().map(|step| step.cached.clone()).collect(),
        },
    };
    (past, steps.iter().map(|step| step.origin).collect())
}

pub(super) fn params(within: &str, density: &str) -> CoreParams {
    CoreParams {
        seeds: 8,
        within: within.parse().unwrap(),
        rule: Rule::Density {
            density: density.parse().unwrap(),
            growth: Growth::Maximal,
        },
        ..CoreParams::default()
    }
}

/// A change of one link: added, or taken away where it is there.
pub(super) fn flip(links: &mut Links, from: u32, to: u32) {
    if from == to {
        return;
    }
    let of = links.entry(from).or_default();
    if !of.remove(&to) {
        of.insert(to);
    }
    if of.is_empty() {
        links.remove(&from);
    }
}

/// Every one of these links to every one of those.
fn join(links: &mut Links, from: impl Iterator<Item = u32>, to: std::ops::Range<u32>) {
    for from in from {
        links
            .entry(from)
            .or_default()
            .extend(to.clone().filter(|to| *to != from));
    }
}

/// How many histories are tried, or days of a long one; `make test-long` tries more.
fn long_within(usual: u32) -> u32 {
    std::env::var("LONG_WITHIN").map_or(usual, |text| text.parse().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(long_within(100)))]

    #[test]
    fn every_step_holds_what_it_tells_after_any_history(
        first in prop::collection::vec((0_u32..24, 0_u32..24), 1..90),
        days in prop::collection::vec(prop::collection::vec((0_u32..24, 0_u32..24), 0..12), 1..5),
        within in prop::sample::select(vec!["0.5", "1", "5", "20"]),
        density in prop::sample::select(vec!["100", "80"]),
    ) {
        let params = params(within, density);
        let mut links = Links::new();
        for (from, to) in first {
            flip(&mut links, from, to);
        }
        let (mut past, _) = judged(&links, &params, &Past::default());
        for day in days {
            for (from, to) in day {
                flip(&mut links, from, to);
            }
            (past, _) = judged(&links, &params, &past);
        }
    }
}

/// Ten communities of hubs and authorities that thin links hold together.
fn web() -> Links {
    let mut links = Links::new();
    for place in 0..7 {
        let (hubs, authorities) = (100 * place, 100 * place + 50);
        let size = 4 + place % 5;
        join(
            &mut links,
            hubs..hubs + size,
            authorities..authorities + size + 2,
        );
        links
            .entry(hubs)
            .or_default()
            .insert((authorities + 100) % 700);
        links
            .entry(hubs + 1)
            .or_default()
            .insert((authorities + 301) % 700);
    }
    links
}

fn origins(past: &Past, links: &Links, within: &str) -> (Past, Vec<Origin>) {
    let mut params = params(within, "100");
    params.seeds = 12;
    judged(links, &params, past)
}

#[test]
fn nothing_is_computed_where_nothing_has_changed() {
    let links = web();
    let (past, first) = origins(&Past::default(), &links, "1");
    assert!(first.iter().all(|origin| *origin == Origin::Computed));
    let (again, second) = origins(&past, &links, "1");
    assert!(
        second
            .iter()
            .all(|origin| matches!(origin, Origin::Carried | Origin::Proven)),
        "{second:?}"
    );
    assert_eq!(past.seeds, again.seeds);
}

#[test]
fn steps_that_one_bound_lets_through_are_kept_with_the_one_that_has_it() {
    // Communities whose numbers of authorities differ by one from one to the next, and one far denser.
    let mut links = Links::new();
    join(&mut links, 900..909, 950..959);
    for place in 0..6 {
        let (hubs, authorities) = (100 * place, 100 * place + 50);
        join(
            &mut links,
            hubs..hubs + 3,
            authorities..authorities + 14 - place,
        );
        links
            .entry(hubs)
            .or_default()
            .insert((authorities + 100) % 600);
    }
    let (mut past, _) = origins(&Past::default(), &links, "20");
    let has_proof = |step: &CachedStep| !step.weights.is_empty();
    let steps = &past.steps.steps;
    assert!(steps.iter().any(has_proof) && !steps[2..].iter().all(has_proof));
    for day in 0..3 {
        // All hubs but one of the first community after the dense one lead to a new page: the weights that
        // prove its bound have to be raised there.
        let hubs = (0..3).filter(|hub| *hub != day);
        join(&mut links, hubs, 800 + day..801 + day);
        let (next, origins) = origins(&past, &links, "20");
        let kept = &origins[..7];
        assert!(
            kept.iter().all(|origin| origin.is_cached()),
            "{day}: {origins:?}"
        );
        past = next;
    }
}

#[test]
fn a_new_community_far_from_all_comes_first() {
    let mut links = web();
    let (past, _) = origins(&Past::default(), &links, "1");
    join(&mut links, 2000..2020, 2050..2070);
    let (new, _) = origins(&past, &links, "1");
    assert_eq!(new.seeds[0], 2000);
    assert!(new.seeds[1..].iter().all(|seed| past.seeds.contains(seed)));
}

#[test]
fn a_region_without_a_change_is_taken_over_as_it_was() {
    let mut links = web();
    join(&mut links, 1000..1006, 1050..1057);
    join(&mut links, 1003..1009, 1055..1061);
    let of_second = |selection: &Selection| -> Vec<Core> {
        let cores = selection.cores.iter();
        cores.filter(|core| core.seed >= 1000).cloned().collect()
    };
    let mut params = params("1", "100");
    params.seeds = 20;
    let (past, _) = judged(&links, &params, &Past::default());
    let before = of_second(&run(&links, &params, &Past::default()));
    assert!(before.len() > 1);
    // The other region changes.
    join(&mut links, 0..3, 650..660);
    let warm = run(&links, &params, &past);
    assert_eq!(of_second(&warm), before);
    assert_eq!(of_second(&run(&links, &params, &Past::default())), before);
    let origins = warm.cores.iter().zip(&warm.steps);
    let mut origins = origins.filter(|(core, _)| core.seed >= 1000);
    assert!(origins.all(|(_, step)| step.origin == Origin::Proven));
    judged(&links, &params, &past);
}

#[test]
fn regions_take_no_more_passes_than_their_own_links() {
    let mut links = Links::new();
    for place in 0..300 {
        let (hubs, authorities) = (100 * place, 100 * place + 50);
        for hub in 0..4 + place % 9 {
            let to = (0..5 + place % 7).filter(|to| (to * 7 + hub * 5 + place) % 4 != 0);
            let to = to.map(|to| authorities + to);
            links.entry(hubs + hub).or_default().extend(to);
        }
    }
    let within = params("1", "100");
    let exact = params("0", "100");
    let [within, exact] =
        [within, exact].map(|params| run(&links, &params, &Past::default()).reads.visits);
    assert!(within <= 2 * exact, "{within} of {exact}");
}

#[test]
fn places_that_links_join_and_hubs_that_vanish() {
    let mut links = web();
    let (past, _) = origins(&Past::default(), &links, "5");
    join(&mut links, 300..304, 450..458);
    let (past, _) = origins(&past, &links, "5");
    links.retain(|from, _| !(400..410).contains(from));
    let (past, _) = origins(&past, &links, "5");
    let seeds = past.seeds;
    assert!(seeds.iter().all(|seed| !(400..410).contains(seed)));
}

#[test]
fn many_small_changes_drift_nowhere() {
    let mut links = web();
    let (mut past, _) = origins(&Past::default(), &links, "1");
    let mut random = 7_u32;
    for day in 0..long_within(60) {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (from, to) = ((random >> 8) % 700, (random >> 20) % 700);
        flip(&mut links, from, to);
        (past, _) = origins(&past, &links, if day % 2 == 0 { "1" } else { "5" });
    }
}
