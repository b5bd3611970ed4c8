use super::*;
use crate::engine::plan::{CoverMethod, Method};

fn cover(rank: u32, seats: Option<u32>) -> Seed {
    Seed {
        rank,
        url: "http://a.example/?q=1,2".to_owned(),
        site: "a.example".to_owned(),
        method: Method::Cover(CoverMethod::MaxWeight),
        plan: "weekly".to_owned(),
        refresh: 7,
        alive: true,
        by_policy: None,
        evidence: Evidence::Cover {
            gain: Some(12.5),
            covered_pages: 3,
            covered_value: -0.25,
            pick: 2,
            since: 6,
            seats,
        },
        succeeds: None,
        failures: None,
    }
}

#[test]
fn cover_seeds_fill_their_own_columns() {
    assert_eq!(
        record_line(&cover(1, Some(4))),
        "1,\"http://a.example/?q=1,2\",a.example,max-weight,weekly,7,,,,12.5,3,-0.25,2,6,4,\r\n"
    );
    for line in [
        record_header::<Seed>(),
        record_line(&cover(1, None)).replace("1,2", "12"),
    ] {
        assert_eq!(line.matches(',').count(), 15, "{line}");
    }
    assert_eq!(
        heritrix_line(&cover(2, None)),
        "http://a.example/?q=1,2 # rank 2, gain 12.5, covered_pages 3, covered_value -0.25, \
             pick 2, since 6"
    );
    assert_eq!(
        nutch_line(&cover(2, Some(4)), 2),
        "http://a.example/?q=1,2\tseed.rank=2\tseed.plan=weekly\tseed.method=max-weight\t\
             seed.refresh=7\tseed.gain=12.5\tseed.covered_pages=3\tseed.covered_value=-0.25\t\
             seed.pick=2\tseed.since=6\tseed.seats=4\tnutch.score=0.5"
    );
}

#[test]
fn parts_have_whole_sites_in_order() {
    let seed = |(rank, site): (u32, &str)| Seed {
        site: site.to_owned(),
        ..cover(rank, None)
    };
    let seeds: Vec<Seed> = [(1, "a"), (2, "b"), (3, "a"), (4, "c"), (5, "d"), (6, "b")]
        .map(seed)
        .into();
    let ranks = |parts: usize| {
        let split = split_seeds(&seeds, parts);
        let ranks = |part: &Vec<Seed>| part.iter().map(|seed| seed.rank).collect();
        split.iter().map(ranks).collect::<Vec<Vec<u32>>>()
    };
    assert_eq!(ranks(1), [[1, 2, 3, 4, 5, 6]]);
    assert_eq!(ranks(2), [[1, 3, 4], [2, 5, 6]]);
    assert_eq!(ranks(5), [vec![1, 3], vec![2, 6], vec![4], vec![5], vec![]]);
}

#[test]
fn a_nutch_score_is_above_0_and_falls() {
    let mut last = f32::INFINITY;
    for rank in 1..=1000 {
        let line = nutch_line(&cover(rank, None), 1000);
        let (_, score) = line.rsplit_once("nutch.score=").unwrap();
        let score: f32 = score.parse().unwrap();
        assert!(score > 0.0 && score < last, "{line}");
        last = score;
    }
}

#[test]
fn scrapy_has_few_priorities_that_never_rise() {
    for seeds in [1, 2, 15, 16, 17, 33, 1_000] {
        let priority = |rank: u32| {
            let request = scrapy_request(&cover(rank, None), seeds).unwrap();
            let request: serde_json::Value = serde_json::from_str(&request).unwrap();
            request["priority"].as_u64().unwrap()
        };
        let ranks = 1..=u32::try_from(seeds).unwrap();
        let mut found: Vec<u64> = ranks.map(priority).collect();
        let parts = seeds.min(16) as u64;
        assert_eq!((found[0], found[seeds - 1]), (parts, 1));
        assert!(found.is_sorted_by(|a, b| a >= b), "{found:?}");
        found.dedup();
        assert_eq!(found.len() as u64, parts);
        // Ranks may be higher than the number of seeds, as in a part of a list.
        assert_eq!(priority(2_000), 1);
    }
}
