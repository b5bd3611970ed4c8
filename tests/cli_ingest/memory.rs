//! The memory that a refresh reports.

use std::fmt::Write;

use crate::support::command::Place;

/// Sites with one page each, so that memory goes into what is kept for each site or page.
const SITES: u32 = 60_000;

#[test]
#[cfg(target_os = "linux")]
fn many_sites_are_loaded_in_little_memory() {
    let place = Place::with_bank();
    let mut crawl = String::new();
    for site in 0..SITES {
        // Targets lie scattered over all sites, so every part of the bank links to most of them.
        let targets = (1..=16).map(|step| (site + step * step * 211) % SITES);
        let targets: Vec<String> = targets.map(|to| format!("\"http://s{to}.org/\"")).collect();
        let targets = targets.join(",");
        writeln!(
            crawl,
            r#"{{"url":"http://s{site}.org/","outlinks":[{targets}]}}"#
        )
        .unwrap();
    }
    place.write("crawl.jsonl", crawl);
    let ingest = ["ingest", "bank", "crawl.jsonl", "--snapshot"];
    place.run(&ingest).done();
    let refresh = [
        "refresh",
        "bank",
        "--method",
        "cores",
        "--within",
        "0",
        "--seeds",
        "1",
        "--hits",
        "classic",
        "--iterations",
        "1",
    ];
    let report = place
        .run(&[&refresh[..], &["--format", "json"]].concat())
        .json();
    assert_eq!(report["cores"], 1);
    let peak = report["peak_memory"].as_u64().unwrap() >> 20;
    println!("{peak} MiB");
    assert!(peak < 130, "{peak} MiB for {SITES} sites of one page");
}
