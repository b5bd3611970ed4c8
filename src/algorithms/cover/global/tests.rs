//! Picks, passes and crawls over small random webs, compared with brute force, which recomputes
//! everything at every step.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::super::params::{CoverParams, Method};
use super::super::pick::{Pick, Score, Scored, Stop};
use super::super::value::{UNIT, Value};
use super::samples::{SmallWeb, large, ring, web, webs};
use super::*;
use crate::crawl_limits::{Amount, CrawlLimits, Crawls, Enter};
use crate::graph::Csr;
use crate::watch::Unwatched;

fn plan(method: Method) -> WebParams {
    WebParams {
        cover: CoverParams {
            method,
            ..CoverParams::default()
        },
        ..WebParams::default()
    }
}

/// A pick with its gain, and the runner-up with its gain.
type Picked = (u32, i64, Option<(u32, i64)>);

/// Picks by the definition: recomputes all gains at each pick.
fn by_definition(web: &SmallWeb, choice: &WebChoice) -> (Vec<Picked>, Stop) {
    let Setting {
        hops, fetch_cost, ..
    } = choice.setting().unwrap();
    let depth = choice.depth_within(hops);
    let net = |page: u32| web.values[page as usize] - fetch_cost.0;
    let mut reached: BTreeSet<u32> = BTreeSet::new();
    let mut picks: Vec<Picked> = Vec::new();
    loop {
        let is_open = |page: &u32| !reached.contains(page) && net(*page) != 0;
        if !picks.is_empty() && !web.all().iter().any(is_open) {
            return (picks, Stop::NoValueLeft);
        }
        let picked: Vec<u32> = picks.iter().map(|pick| pick.0).collect();
        let open = web.candidates().into_iter().filter(|p| !picked.contains(p));
        let gain = |page: u32| {
            let new = web.within(page, depth);
            let new = new.difference(&reached);
            (page, new.map(|&page| net(page)).sum::<i64>())
        };
        let mut gains: Vec<(u32, i64)> = open.map(gain).collect();
        gains.sort_by_key(|&(page, gain)| (std::cmp::Reverse(gain), page));
        let Some(&(page, gain)) = gains.first() else {
            return (picks, Stop::NoPageLeft);
        };
        if picks.len() == choice.seeds as usize {
            return (picks, Stop::Complete);
        }
        let within = web.within(page, hops);
        let adds: i64 = within.difference(&reached).map(|&page| net(page)).sum();
        if choice.positive_only && adds <= 0 {
            return (picks, Stop::NotPositive);
        }
        reached.extend(within);
        picks.push((page, gain, gains.get(1).copied()));
    }
}

fn found(cover: &WebCover) -> Vec<Picked> {
    let weight = |scored: Scored| match scored.score {
        Score::Weight(weight) => (scored.page, weight),
        other => panic!("{other:?} is no weight"),
    };
    let picks = cover.picks.iter();
    picks
        .map(|pick| {
            let (page, gain) = weight(pick.seed);
            (page, gain, pick.runner_up.map(weight))
        })
        .collect()
}

/// Checks that each pick reports the pages that it is the first to reach.
fn check_reached(web: &SmallWeb, cover: &WebCover, hops: u32) {
    let mut reached = BTreeSet::new();
    for pick in &cover.picks {
        let levels = web.levels(&[pick.seed.page], hops, &web.all());
        assert_eq!(pick.hops.len(), levels.len());
        for (of_hop, level) in pick.hops.iter().zip(levels) {
            let new: BTreeSet<u32> = level.difference(&reached).copied().collect();
            assert_eq!(of_hop.pages.iter().collect::<BTreeSet<_>>(), new);
            assert_eq!(of_hop.value, web.worth(&new));
            reached.extend(new);
        }
    }
    let left: Vec<u32> = cover.uncovered.iter().map(|scored| scored.page).collect();
    let wanted = web
        .candidates()
        .into_iter()
        .filter(|p| !reached.contains(p));
    assert_eq!(left, wanted.collect::<Vec<_>>());
}

/// Whether a page of a test is crawled.
const fn is_crawled(page: u32) -> bool {
    page % 7 < 2
}

/// The pages that a crawl with limits fetches, by its definition: in each round the first pages that were found, as far as
/// the limits of their sites allow.
fn limited_crawl(
    web: &SmallWeb,
    seeds: &[u32],
    budget: usize,
    limits: CrawlLimits,
    sites: &[u32],
) -> (Vec<u32>, usize) {
    let amount = |limit: Option<Amount>, without: usize| {
        limit.map_or(without, |limit| {
            usize::try_from(limit.of(budget as u64)).unwrap()
        })
    };
    let site = |page: u32| sites[page as usize];
    let count = u32::try_from(web.links.len()).unwrap();
    let is_entered = |page: u32| {
        let has_crawled = || (0..count).any(|other| is_crawled(other) && site(other) == site(page));
        limits.enter == Enter::All
            || seeds.iter().any(|&seed| site(seed) == site(page))
            || limits.enter == Enter::Crawled && has_crawled()
    };
    let without = if limits.has_rounds() { 1 } else { usize::MAX };
    let of_round = amount(limits.per_site_round, without);
    let mut met: BTreeSet<u32> = seeds.iter().copied().collect();
    let mut found: Vec<(u32, usize, u32)> =
        (0..).zip(seeds).map(|(at, &seed)| (0, at, seed)).collect();
    let mut of_site = [0; 24];
    let (mut pages, mut fetches) = (Vec::new(), 0);
    for _ in 0..amount(limits.rounds, usize::MAX) {
        found.retain(|(depth, _, page)| limits.reach(*depth) && is_entered(*page));
        found.sort_unstable();
        let (mut round, mut in_round) = (Vec::new(), [0; 24]);
        for &(depth, place, page) in &found {
            let site = site(page) as usize;
            let is_next = limits.has_rounds()
                || round
                    .first()
                    .is_none_or(|first: &(u32, usize, u32)| first.0 == depth);
            if is_next
                && of_site[site] < amount(limits.per_site, usize::MAX)
                && in_round[site] < of_round
                && round.len() < amount(limits.round, usize::MAX).min(budget - fetches)
            {
                of_site[site] += 1;
                in_round[site] += 1;
                round.push((depth, place, page));
            }
        }
        if round.is_empty() {
            break;
        }
        fetches += round.len();
        // A page beyond the limit of its site is never pages.
        found.retain(|of| !round.contains(of));
        for (depth, _, page) in round {
            if limits.fails(page) {
                continue;
            }
            pages.push(page);
            for &target in &web.links[page as usize] {
                if met.insert(target) {
                    found.push((depth + 1, target as usize, target));
                }
            }
        }
    }
    (pages, fetches)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn picks_are_those_of_the_definition(
        web in web(),
        hops in 0_u32..5,
        depth in 0_u32..5,
        price in prop_oneof![Just(0), Just(UNIT / 3), Just(UNIT), 0..2 * UNIT],
        seeds in 1_u32..9,
        by_depth in any::<bool>(),
        positive_only in any::<bool>(),
    ) {
        let mut params = plan(if by_depth { Method::MaxWeight } else { Method::Greedy });
        params.cover.depth = by_depth.then_some(depth.min(hops));
        params.cover.seeds = Some(seeds);
        params.cover.positive_only = positive_only;
        params.hops = Some(hops);
        params.fetch_cost = Some(Value(price));
        let choice = params.choose().unwrap();
        let selected = select(&mut web.graph(), &choice, &[], &Unwatched).unwrap();
        let (picks, stop) = by_definition(&web, &choice);
        prop_assert_eq!(found(&selected.cover), picks);
        prop_assert_eq!(selected.cover.stop, stop);
        check_reached(&web, &selected.cover, hops);
        // The scores of the uncovered candidates are exact.
        let reached: BTreeSet<u32> = selected.cover.picks.iter().flat_map(Pick::covered).collect();
        for scored in &selected.cover.uncovered {
            let left = web.within(scored.page, choice.depth_within(hops));
            let gain = left.difference(&reached).map(|&p| web.values[p as usize] - price).sum();
            prop_assert_eq!(scored.score, Score::Weight(gain));
        }
    }

    #[test]
    fn a_pass_gives_values_and_pages_within_reach(web in web(), deepest in 0_u32..5) {
        let graph = web.graph();
        let pool = SearchPool::new(&graph);
        let found = reach::reach_by_hops(&graph, deepest, u64::MAX, &pool, &Unwatched).unwrap();
        prop_assert_eq!(found.by_hops.len(), deepest as usize + 1);
        prop_assert_eq!(graph.candidates(), web.candidates());
        for reach in &found.by_hops {
            let mut visits = 0;
            for (at, &page) in web.candidates().iter().enumerate() {
                let within = web.within(page, reach.hops);
                prop_assert_eq!(reach.value[at], web.worth(&within));
                prop_assert_eq!(reach.pages[at] as usize, within.len());
                let inner = reach.hops.checked_sub(1).map(|hops| web.within(page, hops));
                let links = inner.iter().flatten().map(|&page| web.links[page as usize].len());
                visits += within.len() + links.sum::<usize>();
            }
            prop_assert_eq!(reach.visits, visits as u64);
        }
    }

    #[test]
    fn crawls_fetch_the_first_pages_that_limits_allow(
        web in web(),
        seeds in proptest::collection::btree_set(0_u32..24, 1..6),
        budget in 1_usize..30,
        limits in (
            proptest::option::of(1_u64..5),
            proptest::option::of(0_u32..4),
            proptest::option::of(1_u64..6),
            proptest::option::of(1_u64..6),
            proptest::option::of(1_u64..4),
            prop_oneof![2 => Just(0), 1 => Just(30_000_000_u64)],
            prop_oneof![2 => Just(Enter::All), 1 => Just(Enter::Seeds), 1 => Just(Enter::Crawled)],
        ),
    ) {
        let sites: Vec<u32> = (0..24).map(|page| page * page % 5).collect();
        let graph = web.graph();
        let known = (0..graph.pages()).map(|page| !is_crawled(page)).collect();
        let graph = graph.clone().with_sites(sites[..graph.pages() as usize].to_vec());
        let graph = graph.with_known(known, Vec::new());
        let seeds: Vec<u32> = seeds.into_iter().filter(|&s| s < graph.pages()).rev().collect();
        let (per_site, depth, rounds, round, per_site_round, fail, enter) = limits;
        let [per_site, rounds, round, per_site_round] =
            [per_site, rounds, round, per_site_round].map(|of| of.map(Amount::Number));
        let limits = CrawlLimits { per_site, depth, rounds, round, per_site_round, fail, enter };
        let whole = crawl::Crawler::new(&graph).crawl(&limits, &seeds, budget as u64).unwrap();
        let (wanted, fetches) = limited_crawl(&web, &seeds, budget, limits, &sites);
        prop_assert_eq!(whole.worth(&graph).unwrap(), web.worth(&wanted));
        prop_assert_eq!(whole.fetched(), fetches as u64);
        prop_assert_eq!(whole.pages(), wanted);
    }

    #[test]
    fn without_pages_held_out_tuning_takes_the_setting_whose_crawl_gathers_most(
        web in web(),
        seeds in 1_u32..6,
        budget in 1_u64..30,
        is_panel in any::<bool>(),
        tunes_max_per_site in any::<bool>(),
    ) {
        let sites: Vec<u32> = (0..24).map(|page| page * page % 5).collect();
        let graph = web.graph();
        let graph = graph.clone().with_sites(sites[..graph.pages() as usize].to_vec());
        let mut params = plan(Method::Greedy);
        params.cover.seeds = Some(seeds);
        (params.budget, params.holdouts) = (Some(budget), Some(0));
        params.crawl = if is_panel { Crawls::Panel } else { Crawls::default() };
        params.tunes_max_per_site = tunes_max_per_site;
        params.value_known = Some(Value(0));
        let choice = params.choose().unwrap();
        prop_assert_eq!(choice.setting(), None);
        let selected = select(&mut graph.clone(), &choice, &[], &Unwatched).unwrap();
        let tuning = selected.tuning.unwrap();
        prop_assert_eq!(tuning.draws, 0);
        prop_assert_eq!(tunes_max_per_site, tuning.trials.iter().any(|of| of.setting.max_per_site.is_some()));
        // At least every second cost, for every number of hops.
        prop_assert!(tuning.trials.len() >= 25);
        let mut best: Option<(i64, Setting, Vec<Pick>)> = None;
        for trial in &tuning.trials {
            params.hops = Some(trial.setting.hops);
            params.fetch_cost = Some(trial.setting.fetch_cost);
            params.max_per_site = trial.setting.max_per_site;
            let fixed = params.choose().unwrap();
            let again = select(&mut graph.clone(), &fixed, &[], &Unwatched).unwrap();
            prop_assert_eq!(again.tuning, None);
            let list: Vec<u32> = again.cover.picks.iter().map(|pick| pick.seed.page).collect();
            let budget = usize::try_from(budget).unwrap();
            let crawls = params.crawl.limits().iter();
            let crawls: Vec<(i64, usize)> = crawls
                .map(|limits| {
                    let (pages, fetches) = limited_crawl(&web, &list, budget, *limits, &sites);
                    (web.worth(&pages), fetches)
                })
                .collect();
            if is_panel {
                // In logarithms, which have other errors of rounding.
                let logs = crawls.iter().map(|(worth, _)| ((*worth).max(0) as f64 / 1e6).ln_1p());
                let mean = 1e6 * (logs.sum::<f64>() / crawls.len() as f64).exp_m1();
                prop_assert!((trial.found[0] as f64 - mean).abs() <= 0.6, "{mean}");
            } else {
                prop_assert_eq!(trial.found[0], crawls[0].0);
            }
            prop_assert_eq!(trial.fetched, crawls[0].1 as u64);
            prop_assert_eq!(trial.seeds, list.len());
            if best.as_ref().is_none_or(|(found, ..)| trial.found[0] > *found) {
                best = Some((trial.found[0], trial.setting, again.cover.picks));
            }
        }
        // The result is that of a plan with the best setting.
        let (_, setting, picks) = best.unwrap();
        prop_assert_eq!(selected.setting, setting);
        prop_assert_eq!(selected.cover.picks, picks);
    }

    #[test]
    fn max_out_picks_by_links_to_what_remains(
        web in web(),
        hops in 0_u32..4,
        seeds in 1_u32..6,
        positive_only in any::<bool>(),
    ) {
        let mut params = plan(Method::MaxOut);
        params.cover.seeds = Some(seeds);
        params.cover.positive_only = positive_only;
        params.hops = Some(hops);
        let choice = params.choose().unwrap();
        let selected = select(&mut web.graph(), &choice, &[], &Unwatched).unwrap();
        let (mut there, mut reached) = (web.all(), BTreeSet::new());
        let best = |there: &BTreeSet<u32>| {
            let open = web.candidates().into_iter().filter(|page| there.contains(page));
            let degree = |page: u32| web.links[page as usize].intersection(there).count();
            open.map(|page| (degree(page), page)).max_by_key(|&(degree, page)| (degree, std::cmp::Reverse(page)))
        };
        for pick in &selected.cover.picks {
            let (degree, first) = best(&there).unwrap();
            prop_assert_eq!(first, pick.seed.page);
            prop_assert_eq!(pick.seed.score, Score::OutDegree(u32::try_from(degree).unwrap()));
            let within = web.within(first, hops);
            prop_assert!(!positive_only || !within.is_subset(&reached));
            reached.extend(within);
            for page in web.levels(&[first], hops, &there).into_iter().flatten() {
                there.remove(&page);
            }
        }
        let stop = match best(&there) {
            None => Stop::NoPageLeft,
            Some(_) if selected.cover.picks.len() == seeds as usize => Stop::Complete,
            Some((_, next)) => {
                prop_assert!(positive_only && web.within(next, hops).is_subset(&reached));
                Stop::NotPositive
            }
        };
        prop_assert_eq!(selected.cover.stop, stop);
        check_reached(&web, &selected.cover, hops);
    }

    #[test]
    fn baselines_rank_the_candidates(web in web(), seeds in 1_u32..9) {
        let ranks: Vec<f64> = web.values.iter().map(|&value| (20 + value % 10) as f64).collect();
        for method in [Method::Random, Method::Pagerank, Method::OutDegree] {
            let mut params = plan(method);
            params.cover.seeds = Some(seeds);
            let choice = params.choose().unwrap();
            let selected = select(&mut web.graph(), &choice, &ranks, &Unwatched).unwrap();
            let picks: Vec<u32> = selected.cover.picks.iter().map(|p| p.seed.page).collect();
            let mut order = web.candidates();
            match method {
                Method::Random => prop_assert!(picks.iter().all(|page| order.contains(page))),
                Method::Pagerank => {
                    order.sort_by(|&a, &b| ranks[b as usize].total_cmp(&ranks[a as usize]));
                }
                _ => order.sort_by_key(|&p| std::cmp::Reverse(web.links[p as usize].len())),
            }
            order.truncate(seeds as usize);
            if method == Method::Random {
                prop_assert_eq!(picks.len(), order.len());
                prop_assert_eq!(picks.iter().collect::<BTreeSet<_>>().len(), picks.len());
            } else {
                prop_assert_eq!(picks, order);
            }
            check_reached(&web, &selected.cover, 5);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn lists_for_several_budgets_are_those_for_each(
        web in webs(2..40),
        asked in proptest::collection::vec((1_u32..6, 1_u64..30), 1..5),
        positive_only in any::<bool>(),
    ) {
        let graph = web.graph();
        let mut params = plan(Method::Greedy);
        params.cover.positive_only = positive_only;
        params.budget = Some(1);
        let found = budget_lists(&graph, &params.choose().unwrap(), &asked, &Unwatched).unwrap();
        for (list, (seeds, budget)) in found.into_iter().zip(asked) {
            (params.cover.seeds, params.budget) = (Some(seeds), Some(budget));
            let alone = select(&mut graph.clone(), &params.choose().unwrap(), &[], &Unwatched).unwrap();
            let alone: Vec<u32> = alone.cover.picks.iter().map(|pick| pick.seed.page).collect();
            prop_assert_eq!(list, alone);
        }
    }
}

#[test]
fn few_fetches_by_pagerank_take_a_price_far_above_the_average() {
    // Page 0 links to two pages worth 10, page 1 to twenty worth 2.9; a crawl fetches three pages.
    let dear = [2, 3];
    let mut values = vec![0; 24];
    values[2..].fill(29 * UNIT / 10);
    values[2..4].fill(10 * UNIT);
    let mut links = vec![BTreeSet::new(); 24];
    links[0] = dear.into_iter().collect();
    links[1] = (4..24).collect();
    let web = SmallWeb {
        values,
        links,
        may_be_seed: vec![true; 24],
    };
    let mut params = plan(Method::Greedy);
    params.cover.seeds = Some(1);
    (params.budget, params.value_by) = (Some(3), ValueBy::Pagerank);
    params.holdouts = Some(0);
    let choice = params.choose().unwrap();
    let selected = select(&mut web.graph(), &choice, &[], &Unwatched).unwrap();
    // At 2 the many are still worth 20 * 0.9 - 2, the two 2 * 8 - 2.
    let price = Value::units(3);
    let setting = Setting {
        hops: 1,
        fetch_cost: price,
        value_known: Value(0),
        max_per_site: None,
    };
    assert_eq!(selected.setting, setting);
    let tuning = selected.tuning.unwrap();
    assert_eq!(tuning.best().unwrap().mean(), 20 * UNIT);
    let at_two = tuning
        .trials
        .iter()
        .find(|trial| trial.setting.fetch_cost == Value::units(2));
    assert_eq!(at_two.unwrap().mean(), 2 * 29 * UNIT / 10);
}

#[test]
fn a_draw_is_judged_by_the_setting_that_the_others_choose() {
    let trial = |hops, found: &[i64]| Trial {
        setting: Setting {
            hops,
            ..Setting::default()
        },
        seeds: 1,
        fetched: 1,
        found: found.to_vec(),
        lists: (0..)
            .map(|draw| vec![hops, draw])
            .take(found.len())
            .collect(),
        pass_visits: 0,
        page_visits: 0,
    };
    let mut tuning = Tuning {
        trials: vec![trial(1, &[9, 1, 1]), trial(2, &[1, 4, 4]), trial(3, &[99])],
        draws: 3,
        ..Tuning::default()
    };
    let hops = |tuning: &Tuning| -> Vec<u32> {
        let settings = tuning.best_without_each().into_iter().zip(0..);
        let hops = settings.map(|((setting, list), draw)| {
            assert_eq!(list, [setting.hops, draw]);
            setting.hops
        });
        hops.collect()
    };
    assert_eq!(tuning.best().unwrap().setting.hops, 1);
    assert_eq!(hops(&tuning), [2, 1, 1]);
    // One draw, or none, says nothing about another.
    tuning.trials.truncate(0);
    assert_eq!(hops(&tuning), [0; 0]);
    tuning = Tuning {
        trials: vec![trial(1, &[9])],
        draws: 1,
        ..Tuning::default()
    };
    assert_eq!(hops(&tuning), [0; 0]);
}

#[test]
fn hops_that_take_too_many_visits_are_skipped() {
    let web = ring(500).graph();
    let pool = SearchPool::new(&web);
    let all = reach::reach_by_hops(&web, 4, u64::MAX, &pool, &Unwatched).unwrap();
    let visits: Vec<u64> = all.by_hops.iter().map(|reach| reach.visits).collect();
    assert!(visits.is_sorted(), "{visits:?}");
    assert_eq!(all.visits, visits[4]);
    for (most, left) in [(visits[3], 3), (visits[3] - 1, 2), (visits[2], 2), (0, 1)] {
        let found = reach::reach_by_hops(&web, 4, most, &pool, &Unwatched).unwrap();
        assert_eq!(found.by_hops, all.by_hops[..=left]);
        assert_eq!(found.visits, visits[4]);
    }
    let mut params = plan(Method::Greedy);
    (params.budget, params.tune_visits) = (Some(100), Some(visits[2]));
    (params.holdouts, params.value_known) = (Some(0), Some(Value(0)));
    let choice = params.choose().unwrap();
    let tuning = select(&mut web.clone(), &choice, &[], &Unwatched)
        .unwrap()
        .tuning
        .unwrap();
    assert_eq!(tuning.left_out, [3, 4, 8]);
    assert!(tuning.trials.iter().all(|trial| trial.setting.hops <= 2));
    // Given hops are tried, whatever they cost; then the visits are used up.
    (params.hops, params.tune_visits) = (Some(4), Some(1));
    let choice = params.choose().unwrap();
    let tuning = select(&mut web.clone(), &choice, &[], &Unwatched)
        .unwrap()
        .tuning
        .unwrap();
    assert_eq!((tuning.trials.len(), tuning.left_out), (1, vec![]));
}

#[test]
fn invalid_graphs_are_rejected() {
    let lists = |lists: &[&[u32]]| {
        let mut csr = Csr::default();
        for list in lists {
            csr.push(list.iter().copied());
        }
        csr
    };
    assert!(WebGraph::new(vec![1], lists(&[&[1]]), &[true]).is_err());
    assert!(WebGraph::new(vec![1, 1], lists(&[&[1]]), &[true; 2]).is_err());
    assert!(WebGraph::new(vec![1], lists(&[&[]]), &[]).is_err());
    assert!(WebGraph::new(vec![i64::MAX], lists(&[&[]]), &[true]).is_err());
    let empty = WebGraph::new(vec![], lists(&[]), &[]).unwrap();
    let choice = plan(Method::Greedy).choose().unwrap();
    let selected = select(&mut empty.clone(), &choice, &[], &Unwatched).unwrap();
    assert_eq!(selected.cover.stop, Stop::NoPageLeft);
}

#[test]
fn all_picks_take_about_one_more_pass() {
    let mut params = plan(Method::Greedy);
    params.cover.seeds = Some(500);
    params.cover.positive_only = false;
    params.budget = Some(1000);
    let choice = params.choose().unwrap();
    let tuning = select(&mut large(), &choice, &[], &Unwatched)
        .unwrap()
        .tuning
        .unwrap();
    assert!(tuning.trials.len() > 20, "{}", tuning.trials.len());
    for trial in tuning.trials {
        let passes = (trial.pass_visits + trial.page_visits) as f64 / trial.pass_visits as f64;
        assert!(passes <= 2.2, "{passes} passes: {trial:?}");
    }
}

#[test]
fn a_sample_estimates_the_cost_of_a_pass() {
    let web = large();
    let pool = SearchPool::new(&web);
    // More candidates than a sample has.
    assert!(web.candidates().len() > 5000);
    let all = reach::reach_by_hops(&web, 3, u64::MAX, &pool, &Unwatched).unwrap();
    let visits = all.by_hops[2].visits;
    for (most, left) in [(visits / 10 * 11, 2), (visits / 10 * 9, 1)] {
        let found = reach::reach_by_hops(&web, 3, most, &pool, &Unwatched).unwrap();
        assert_eq!(found.by_hops, all.by_hops[..=left]);
        assert!(found.visits > all.by_hops[left].visits);
    }
}
