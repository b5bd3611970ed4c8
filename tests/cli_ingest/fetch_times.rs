//! An older fetch never overwrites a newer one: the days of a real crawl in another order.

use std::path::PathBuf;

use crate::support;
use crate::support::command::Place;
use crate::support::histories::without_sums;

#[test]
fn days_of_a_real_crawl_in_another_order() {
    let Some(shared) = support::shared("days_of_a_real_crawl_in_another_order") else {
        return;
    };
    let days = support::real_days(&shared, 10);
    let mut pairs = days.clone();
    for pair in pairs.chunks_mut(2) {
        pair.reverse();
    }
    let came_to = |days: &[(String, PathBuf)]| {
        let place = Place::with_bank();
        let mut stale = 0;
        for (date, file) in days {
            let file = file.to_str().unwrap();
            let ingest = ["ingest", "bank", file, "--as-of", date, "--max-loss", "100"];
            let report = place
                .run(&[&ingest[..], &["--format", "json"]].concat())
                .json();
            stale += report["stale"].as_u64().unwrap();
        }
        let plan = ["--method", "cores", "--within", "0", "--seeds", "20"];
        place
            .run(&[&["refresh", "bank"], &plan[..]].concat())
            .done();
        place.run(&["check", "bank"]).done();
        let seeds = place.run(&["seeds", "bank"]).done();
        (
            stale,
            seeds,
            without_sums(&place.run(&["export", "bank"]).out, |_| true),
        )
    };
    let (stale, seeds, export) = came_to(&days);
    assert_eq!((stale, seeds.lines().count()), (0, 20));
    let (stale, other_seeds, other_export) = came_to(&pairs);
    assert_eq!(stale, if days.len() == 17 { 2_010 } else { 29 });
    assert_eq!(other_seeds, seeds);
    assert_eq!(other_export, export);
}
