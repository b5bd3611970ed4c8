//! An older fetch never overwrites a newer one, on the command line: `--as-of`, what is reported, and the days of
//! a real crawl in another order.

use std::path::PathBuf;

use crate::support;
use crate::support::command::{Place, record};
use crate::support::histories::without_sums;

const A: &str = "http://a.example/";
const B: &str = "http://b.example/";
const C: &str = "http://c.example/";

#[test]
fn an_older_record_is_reported() {
    let place = Place::with_bank();
    let later = record(A, &[B]) + &record(B, &[A]);
    let ingest = ["ingest", "bank", "-", "--as-of"];
    let report = place.run_with(
        &[&ingest[..], &["20261119040000"]].concat(),
        later.as_bytes(),
    );
    assert!(!report.done().contains("stale"));
    let earlier = record(A, &[C]);
    let at = [&ingest[..], &["2026-11-19 03:59:59.9"]].concat();
    let text = place.run_with(&at, earlier.as_bytes()).done();
    let told = "stale: 1 record of pages that were fetched later, skipped; listed in bank/rejects/batch-000002.jsonl\n";
    assert!(text.contains(told), "{text}");
    let list = std::fs::read_to_string(place.path("bank/rejects/batch-000002.jsonl")).unwrap();
    assert_eq!(
        list,
        r#"{"url":"http://a.example/","reason":"stale","fetched":"2026-11-19T03:59:59Z","page_fetched":"2026-11-19T04:00:00Z"}
"#
    );
    let status = place.run(&["status", "bank"]).done();
    let told = ", 1 record, 0 rejected, 1 stale, listed in ";
    assert!(status.contains(told), "{status}");
    let history = place.run(&["history", "bank"]).done();
    assert!(
        history.contains(": 1 record (0 rejected, 1 stale), "),
        "{history}"
    );
    let metrics = place.run(&["status", "bank", "--metrics", "bank.prom"]);
    metrics.done();
    let metrics = std::fs::read_to_string(place.path("bank.prom")).unwrap();
    assert!(
        metrics.contains("\nseedbank_last_batch_stale_records 1\n"),
        "{metrics}"
    );

    let page = place.run(&["page", "bank", A]).done();
    let told = "crawled, last fetched 2026-11-19T04:00:00Z; first seen in batch 1";
    assert!(page.contains(told), "{page}");
    let page = place.run(&["page", "bank", A, "--format", "json"]).json();
    assert_eq!(page["fetched"], 1_795_060_800);
}

#[test]
fn a_time_that_is_none_is_refused() {
    let place = Place::with_bank();
    for (time, told) in [
        ("yesterday", "expected a time such as"),
        ("1969-12-31", "after 1970"),
    ] {
        let error = place
            .run(&["ingest", "bank", "-", "--as-of", time])
            .fails(2);
        assert!(error.contains(told), "{error}");
    }
}

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
            without_sums(&place.run(&["export", "bank"]).out),
        )
    };
    let (stale, seeds, export) = came_to(&days);
    assert_eq!((stale, seeds.lines().count()), (0, 20));
    let (stale, other_seeds, other_export) = came_to(&pairs);
    assert_eq!(stale, if days.len() == 17 { 2_026 } else { 36 });
    assert_eq!(other_seeds, seeds);
    assert_eq!(other_export, export);
}
