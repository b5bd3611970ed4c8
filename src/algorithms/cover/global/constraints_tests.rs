//! Pins and caps over the whole web, compared with brute force: every gain is recomputed at every step, and
//! caps are counted from the picks alone.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use proptest::prelude::*;

use super::super::params::{CoverParams, Method};
use super::super::pick::{Score, Stop};
use super::super::value::{UNIT, Value};
use super::samples::{SmallWeb, web};
use super::*;
use crate::watch::Unwatched;

/// Whether every cap admits a page after these picks.
fn is_admitted(picks: &[u32], page: u32, caps: &[Cap]) -> bool {
    caps.iter().all(|cap| {
        let group = |page: u32| cap.group[page as usize];
        let taken = picks.iter().filter(|&&pick| group(pick) == group(page));
        taken.count() < cap.most as usize
    })
}

/// The picks by gain with these pins and caps.
fn by_definition(web: &SmallWeb, choice: &WebChoice, pins: &[u32], caps: &[Cap]) -> Vec<u32> {
    let Setting {
        hops, fetch_cost, ..
    } = choice.setting().unwrap();
    let net = |page: u32| web.values[page as usize] - fetch_cost.0;
    let mut reached: BTreeSet<u32> = BTreeSet::new();
    let mut picks: Vec<u32> = Vec::new();
    for &pin in pins {
        reached.extend(web.within(pin, hops));
        picks.push(pin);
    }
    while picks.len() < choice.seeds as usize {
        let is_open = |page: &u32| !reached.contains(page) && net(*page) != 0;
        if !picks.is_empty() && !web.all().iter().any(is_open) {
            break;
        }
        let open = web.candidates().into_iter();
        let open = open.filter(|page| !picks.contains(page) && is_admitted(&picks, *page, caps));
        let gain = |page: u32| {
            let new = web.within(page, hops);
            new.difference(&reached).map(|&page| net(page)).sum::<i64>()
        };
        let Some((gain, Reverse(page))) = open.map(|page| (gain(page), Reverse(page))).max() else {
            break;
        };
        if choice.positive_only && gain <= 0 {
            break;
        }
        reached.extend(web.within(page, hops));
        picks.push(page);
    }
    picks
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn pins_are_first_and_caps_are_kept(
        web in web(),
        method in 0..6_usize,
        hops in 1_u32..4,
        seeds in 1_u32..9,
        pins in prop::collection::btree_set(0_u32..40, 0..3),
        groups in (1_u32..7, 1_u32..4),
        most in (1_u32..4, 1_u32..6),
        max_per_site in proptest::option::of(1_u32..4),
        budget in any::<bool>(),
    ) {
        let graph = web.graph();
        let pages = graph.pages();
        let pins: Vec<u32> = pins.into_iter().rev().filter(|&pin| pin < pages).collect();
        prop_assume!(pins.len() <= seeds as usize);
        let cap = |groups: u32, most: u32| Cap {
            group: (0..pages).map(|page| page % groups).collect(),
            most,
        };
        // The groups of the second are made of those of the first.
        let caps = vec![cap(groups.0 * groups.1, most.0), cap(groups.0, most.1)];
        let graph = graph.with_constraints(pins.clone(), caps.clone()).unwrap();
        let sites: Vec<u32> = (0..pages).map(|page| page * page % 5).collect();
        let graph = graph.with_sites(sites.clone());
        let of_sites = max_per_site.map(|most| Cap { group: sites, most });
        let caps: Vec<Cap> = caps.into_iter().chain(of_sites).collect();
        let method = [
            Method::Greedy,
            Method::MaxWeight,
            Method::MaxOut,
            Method::Random,
            Method::Pagerank,
            Method::OutDegree,
        ][method];
        let by_gain = matches!(method, Method::Greedy | Method::MaxWeight);
        let params = WebParams {
            cover: CoverParams {
                method,
                seeds: Some(seeds),
                depth: (method == Method::MaxWeight).then_some(hops),
                ..CoverParams::default()
            },
            hops: Some(hops),
            fetch_cost: by_gain.then_some(Value(UNIT / 3)),
            value_known: Some(Value(0)),
            budget: (method == Method::Greedy && budget).then_some(6),
            max_per_site,
            ..WebParams::default()
        };
        let choice = params.choose().unwrap();
        let ranks: Vec<f64> = (0..pages).map(|page| f64::from(page * 7 % 11)).collect();
        let found = select(&mut graph.clone(), &choice, &ranks, &Unwatched).unwrap();
        let picks: Vec<u32> = found.cover.picks.iter().map(|pick| pick.seed.page).collect();
        prop_assert_eq!(&picks[..pins.len()], &pins[..]);
        for (at, &page) in picks.iter().enumerate().skip(pins.len()) {
            prop_assert!(is_admitted(&picks[..at], page, &caps));
            prop_assert!(found.cover.picks[at].seed.score != Score::Drawn || method == Method::Random);
        }
        if by_gain {
            prop_assert_eq!(picks, by_definition(&web, &choice, &pins, &caps));
        } else if picks.len() < seeds as usize && found.cover.stop == Stop::NoPageLeft && method != Method::MaxOut {
            // Baselines go on as long as the caps admit a candidate.
            let open = |page: &&u32| !picks.contains(page) && is_admitted(&picks, **page, &caps);
            prop_assert!(!graph.candidates().iter().any(|page| open(&page)));
        }
    }
}
