//! Current links from the hubs to the authorities of a core: small cores by hand, and every core of a
//! generated crawl, days after its refresh, compared with the links of all pages. Catches links to
//! gone pages, intra-site links, shared rows that count once, and neighbours that include the core
//! itself.

use std::collections::BTreeMap;

use crate::support::banks::{TestBank, cores_of};
use crate::support::command::record;
use crate::support::model::pages_of;
use crate::support::plans::plan;
use seedbank::engine::PlanOptions;
use seedbank::engine::query::{CoreView, PageState};
use seedbank::synth::{SynthOptions, day_text};

#[test]
fn lost_links_are_missing() {
    let bank = TestBank::new();
    let authorities = [
        "http://a1.example/",
        "http://a2.example/",
        "http://a3.example/",
    ];
    let hub = |n: u32| format!("http://h{n}.example/");
    let hubs: String = (1..=4).map(|n| record(&hub(n), &authorities)).collect();
    let others = ["http://b1.example/", "http://b2.example/"];
    let other = record("http://k1.example/", &others) + &record("http://k2.example/", &others);
    bank.delta(&(hubs + &other));
    bank.refresh("default", &plan("seeds=2"), false);
    let which = "default";
    let links = bank.bank.core_links(which, 1).unwrap();
    assert_eq!((links.refresh, links.rank), (1, 1));
    assert_eq!((links.hubs, links.authorities, links.edges), (4, 3, 12));
    assert_eq!((links.current_edges, links.lost_edges), (12, 0));
    assert_eq!(links.links, vec![vec![0, 1, 2]; 4]);
    assert!(links.neighbours.is_empty());
    // One hub goes, one links to the other core in the place of an authority, another authority goes.
    let core = bank.bank.core(which, 1).unwrap();
    let gone = |url: &str| serde_json::json!({"url": url, "gone": true}).to_string() + "\n";
    let to = [&*core.authorities[1], others[0], "http://k2.example/"];
    let day = gone(&core.hubs[0]) + &record(&core.hubs[1], &to) + &gone(&core.authorities[2]);
    bank.delta(&day);
    let links = bank.bank.core_links(which, 1).unwrap();
    assert_eq!(links.links, [vec![], vec![1], vec![0, 1], vec![0, 1]]);
    assert_eq!((links.current_edges, links.lost_edges), (5, 7));
    assert_eq!(links.neighbours.len(), 1);
    let to = &links.neighbours[0];
    assert_eq!((to.rank, to.links, &*to.seed), (2, 2, "http://k1.example/"));
    let error = bank.bank.core_links(which, 3).unwrap_err();
    assert_eq!(
        error.to_string(),
        "refresh 1 has no core 3: its cores are 1 to 2"
    );
}

#[test]
fn a_core_of_thousands_of_hubs_is_truncated() {
    let bank = TestBank::new();
    let authorities = ["http://a1.example/", "http://a2.example/"];
    let hub = |n: u32| format!("http://h.example/{n}");
    let hubs: String = (0..1_200).map(|n| record(&hub(n), &authorities)).collect();
    bank.delta(&hubs);
    bank.refresh("default", &PlanOptions::default(), false);
    let links = bank.bank.core_links("default", 1).unwrap();
    assert_eq!(
        (links.hubs, links.current_edges, links.lost_edges),
        (1_200, 2_400, 0)
    );
    assert_eq!(links.links, vec![vec![0, 1]; 1_000]);
}

#[test]
fn the_links_of_cores_are_those_of_all_pages() {
    let options = SynthOptions {
        rng_seed: 11,
        days: 3,
        ..SynthOptions::new(1_500)
    };
    let bank = TestBank::new();
    for day in 0..4 {
        bank.delta(&day_text(&options, day).unwrap());
        if day == 0 {
            bank.refresh("default", &plan("seeds=25"), false);
        }
    }
    let pages = pages_of(&bank.bank);
    let live = |url: &str| {
        let page = pages.get(url);
        page.filter(|page| matches!(page.state, PageState::Known | PageState::Crawled))
    };
    let which = "default";
    let cores: Vec<CoreView> = cores_of(&bank.bank, which);
    let mut in_core: BTreeMap<&str, u32> = BTreeMap::new();
    for core in &cores {
        let of_core = core.hubs.iter().chain(&core.authorities);
        in_core.extend(of_core.map(|page| (&**page, core.rank)));
    }
    let (mut lost, mut linked) = (0, 0);
    for core in &cores {
        let found = bank.bank.core_links(which, core.rank).unwrap();
        let mut neighbours: BTreeMap<u32, u64> = BTreeMap::new();
        let mut links = Vec::new();
        for hub in &core.hubs {
            let hub = live(hub);
            let to = hub.iter().flat_map(|hub| {
                let to = hub.outlinks.iter();
                to.filter(|to| live(to).is_some_and(|page| page.site != hub.site))
            });
            let to: Vec<&str> = to.map(String::as_str).collect();
            let mut places: Vec<u32> = (0..)
                .zip(&core.authorities)
                .filter(|(_, authority)| to.contains(&&***authority))
                .map(|(place, _)| place)
                .collect();
            places.sort_unstable();
            links.push(places);
            let others = to.iter().filter_map(|to| in_core.get(to));
            for other in others.filter(|other| **other != core.rank) {
                *neighbours.entry(*other).or_default() += 1;
            }
        }
        let today = links.iter().map(Vec::len).sum::<usize>() as u64;
        assert_eq!(found.links, links);
        assert_eq!(found.edges, core.edges);
        assert_eq!(found.current_edges, today);
        assert_eq!(found.lost_edges, core.edges.saturating_sub(today));
        let mut neighbours: Vec<(u32, u64)> = neighbours.into_iter().collect();
        neighbours.sort_by_key(|(rank, links)| (std::cmp::Reverse(*links), *rank));
        neighbours.truncate(10);
        let neighbours_found = found
            .neighbours
            .iter()
            .map(|other| (other.rank, other.links));
        assert_eq!(neighbours_found.collect::<Vec<_>>(), neighbours);
        for other in &found.neighbours {
            assert_eq!(other.seed, cores[other.rank as usize - 1].seed);
        }
        lost += found.lost_edges;
        linked += neighbours.len();
    }
    assert!(lost > 0 && linked > 0, "{lost} {linked}");
}
