//! How many bits each link takes on disk in a compacted bank, and how much of that a page rewrites.

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::scratch;
use seedbank::engine::{Bank, IngestRequest};
use seedbank::ingest::{Input, SiteMode, UrlRules};
use seedbank::synth::{SynthOptions, day_text};
use seedbank_store::raw_entries;

fn ingest(bank: &Bank, file: &Path, text: &str) {
    std::fs::write(file, text).unwrap();
    let request = IngestRequest {
        inputs: vec![Input::named(file.to_path_buf())],
        ..IngestRequest::default()
    };
    bank.ingest(&request).unwrap();
}

/// The bits per link of a compacted bank with a snapshot, and with one more day.
fn bits(options: &SynthOptions) -> Vec<f64> {
    let folder = scratch();
    let bank = Bank::create(
        folder.path().join("bank"),
        SiteMode::Host.with(UrlRules::Whatwg),
    )
    .unwrap();
    let mut bits = Vec::new();
    for day in 0..=1 {
        let text = day_text(options, day).unwrap();
        ingest(&bank, &folder.path().join("day.jsonl"), &text);
        let before = bank.status().unwrap();
        bank.compact(false).unwrap();
        let status = bank.status().unwrap();
        assert!(status.compacted);
        assert_eq!(status.counters, before.counters);
        let kinds: Vec<&str> = status
            .tables
            .iter()
            .filter(|table| format!("{:?}", table.group) == "Links")
            .map(|table| table.table.as_str())
            .collect();
        let all = [
            "intra",
            "intra_in",
            "rows",
            "row_hashes",
            "row_members",
            "citers",
        ];
        assert_eq!(kinds, all);
        bits.push(status.bits_per_link.unwrap());
    }
    assert!(bank.check().unwrap().is_clean());
    bits
}

#[test]
fn a_link_takes_twelve_bits_both_ways() {
    let options = SynthOptions {
        days: 1,
        ..SynthOptions::uk_2002(12_000)
    };
    for bits in bits(&options) {
        assert!(bits > 4.0 && bits <= 12.0, "{bits}");
    }
}

fn entries(bank: &Bank, table: &str) -> BTreeMap<Vec<u8>, Vec<u8>> {
    raw_entries(bank.path(), table)
        .unwrap()
        .into_iter()
        .collect()
}

#[test]
fn a_page_rewrites_its_neighbours_and_no_more() {
    let folder = scratch();
    let bank = Bank::create(
        folder.path().join("bank"),
        SiteMode::Host.with(UrlRules::Whatwg),
    )
    .unwrap();
    let file = folder.path().join("batch.jsonl");
    let url = |page: u32| format!("http://one.example/{page:05}");
    let line = |page: u32, to: &[u32], other: &str| {
        let mut links: Vec<String> = to.iter().map(|to| url(*to)).collect();
        links.push(other.to_owned());
        serde_json::json!({"url": url(page), "outlinks": links}).to_string() + "\n"
    };
    let other = |page: u32| format!("http://site{}.example/", page % 300);
    let text: String = (0..2000)
        .map(|page| line(page, &[(page * 7) % 2000, (page * 11) % 2000], &other(page)))
        .collect();
    ingest(&bank, &file, &text);
    let tables = ["intra", "intra_in", "rows", "citers"];
    let before = tables.map(|table| entries(&bank, table));
    // Two targets fewer, two others more; and a row that does not exist yet.
    ingest(&bank, &file, &line(1000, &[5, 1500], "http://new.example/"));
    let changed = |at: usize| -> usize {
        let after = entries(&bank, tables[at]);
        let keys = before[at].keys().chain(after.keys());
        let differ = keys.filter(|key| before[at].get(*key) != after.get(*key));
        differ.collect::<std::collections::BTreeSet<_>>().len()
    };
    assert!(before[0].len() > 30 && before[2].len() > 4 && before[3].len() > 250);
    assert_eq!(changed(0), 1);
    // A target whose block still has a link to it from there is not touched.
    assert!((2..=4).contains(&changed(1)), "{}", changed(1));
    assert_eq!(changed(2), 1);
    assert!((1..=2).contains(&changed(3)), "{}", changed(3));
    assert!(bank.check().unwrap().is_clean());
}
