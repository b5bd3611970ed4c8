use std::collections::BTreeSet;

use proptest::prelude::*;

use super::super::super::pick::Score;
use super::super::crawl::Crawler;
use super::super::params::WebParams;
use super::super::samples::{labelled, shared_of, webs};
use super::super::select;
use crate::cover::value::{UNIT, Value};
use crate::cover::{CoverParams, Method};
use crate::crawl_limits::CrawlLimits;
use crate::graph::number;
use crate::watch::Unwatched;

/// The pages of each bit.
fn subset(bits: u32, pages: u32) -> Vec<u32> {
    (0..pages).filter(|page| bits >> page & 1 == 1).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// With any set of pins as the earlier seeds, the next pick gains what recomputation says.
    #[test]
    fn gains_count_each_content_once(
        mut web in webs(2..8),
        labels in labelled(8),
        hops in 0_u32..3,
        price in prop_oneof![Just(0), Just(UNIT / 3)],
    ) {
        let pages = number(web.values.len());
        let shared = shared_of(&labels[..web.values.len()]);
        let whole = web.graph();
        for of in shared.iter().filter(|of| of.rank > 0) {
            web.values[of.page as usize] = 0;
            web.may_be_seed[of.page as usize] = false;
        }
        let net = |pages: &BTreeSet<u32>| {
            pages.iter().map(|&page| web.values[page as usize] - price).sum::<i64>()
        };
        for bits in 0..1_u32 << pages {
            let pins = subset(bits, pages);
            let params = WebParams {
                cover: CoverParams {
                    method: Method::Greedy,
                    seeds: Some(u32::try_from(pins.len()).unwrap() + 1),
                    positive_only: false,
                    ..CoverParams::default()
                },
                hops: Some(hops),
                fetch_cost: Some(Value(price)),
                ..WebParams::default()
            };
            let graph = whole.clone().with_constraints(pins.clone(), Vec::new()).unwrap();
            let mut graph = graph.with_contents(&shared).unwrap();
            let choice = params.choose().unwrap();
            let selected = select(&mut graph, &choice, &[], &Unwatched).unwrap();
            let reached: BTreeSet<u32> =
                pins.iter().flat_map(|&pin| web.within(pin, hops)).collect();
            let gain = |page: u32| net(&web.within(page, hops).difference(&reached).copied().collect());
            let open = web.candidates().into_iter().filter(|page| !pins.contains(page));
            let best = open.clone().map(gain).max();
            if let Some(pick) = selected.cover.picks.get(pins.len()) {
                prop_assert!(open.clone().any(|page| page == pick.seed.page));
                prop_assert_eq!(Some(pick.seed.score), best.map(Score::Weight));
                prop_assert_eq!(Some(gain(pick.seed.page)), best);
            }
            for scored in selected.cover.uncovered {
                prop_assert!(web.candidates().contains(&scored.page));
            }
        }
    }

    #[test]
    fn crawls_count_the_first_page_of_each_content(web in webs(2..8), labels in labelled(8)) {
        let pages = number(web.values.len());
        let labels = &labels[..web.values.len()];
        let graph = web.graph().with_contents(&shared_of(labels)).unwrap();
        let mut crawler = Crawler::new(&graph);
        for bits in 1..1_u32 << pages {
            let seeds = subset(bits, pages);
            for budget in 1..=pages as usize {
                let crawl = crawler.crawl(&CrawlLimits::NONE, &seeds, budget as u64).unwrap();
                let mut met = BTreeSet::new();
                let mut first: Vec<(u32, i64)> = Vec::new();
                for page in web.crawl(&seeds, budget) {
                    let label = labels[page as usize];
                    if label.is_none_or(|label| met.insert(label)) {
                        first.push((page, web.values[page as usize]));
                    }
                }
                first.sort_unstable();
                let mut counted = crawl.counted(&graph).unwrap();
                counted.sort_unstable();
                prop_assert_eq!(counted, first);
            }
        }
    }
}
