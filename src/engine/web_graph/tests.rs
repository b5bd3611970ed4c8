use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::engine::scratch::scratch;
use crate::engine::{Bank, IngestRequest};
use seedbank_algorithms::watch::Unwatched;
use seedbank_formats::ingest::{Input, SiteMode, UrlRules};
use seedbank_formats::synth::{SynthOptions, day_text};
use seedbank_store::Reader;

/// Computes PageRank by URL from the records alone: every live page with all its links.
fn reference_pagerank(records: &BTreeMap<String, serde_json::Value>) -> BTreeMap<String, f64> {
    let mut links: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (url, record) in records.iter().filter(|(_, r)| r["gone"] != true) {
        let targets = record["outlinks"].as_array().into_iter().flatten();
        let live = |to: &&str| records.get(*to).is_none_or(|r| r["gone"] != true);
        let targets = targets.map(|to| to.as_str().unwrap()).filter(live);
        let of_page: BTreeSet<&str> = targets.filter(|to| to != url).collect();
        for to in &of_page {
            links.entry(to).or_default();
        }
        links.insert(url, of_page);
    }
    let count = links.len() as f64;
    let mut scores: BTreeMap<&str, f64> = links.keys().map(|url| (*url, 1.0 / count)).collect();
    for _ in 0..200 {
        let dangling: f64 = links
            .iter()
            .filter(|l| l.1.is_empty())
            .map(|l| scores[l.0])
            .sum();
        let base = (0.15 + 0.85 * dangling) / count;
        let mut next: BTreeMap<&str, f64> = links.keys().map(|url| (*url, base)).collect();
        for (url, targets) in &links {
            for to in targets {
                *next.get_mut(to).unwrap() += 0.85 * scores[url] / targets.len() as f64;
            }
        }
        scores = next;
    }
    scores
        .into_iter()
        .map(|(url, s)| (url.to_owned(), s))
        .collect()
}

#[test]
fn sites_have_the_rank_of_their_pages() {
    let folder = scratch();
    let bank = Bank::create(
        folder.path().join("bank"),
        SiteMode::Host.with(UrlRules::Whatwg),
    )
    .unwrap();
    let crawl = SynthOptions {
        days: 2,
        ..SynthOptions::new(400)
    };
    let mut records: BTreeMap<String, serde_json::Value> = BTreeMap::new();
    for day in 0..=2 {
        let mut text = day_text(&crawl, day).unwrap();
        // Some pages are reported gone, so that links to them do not count.
        let leaving = records
            .keys()
            .step_by(17)
            .take(if day == 2 { 20 } else { 0 });
        for url in leaving {
            text.push_str(r#"{"gone": true, "fetched": "2999-01-01T00:00:00Z", "url": ""#);
            text.push_str(url);
            text.push_str("\"}\n");
        }
        let file = folder.path().join(format!("{day}.jsonl"));
        std::fs::write(&file, &text).unwrap();
        let request = IngestRequest {
            inputs: vec![Input::File(file)],
            ..IngestRequest::default()
        };
        bank.ingest(&request).unwrap();
        for line in text.lines() {
            let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
            let url = record["url"].as_str().unwrap().to_owned();
            if record["gone"] != true
                && record.get("outlinks").is_none()
                && let Some(old) = records.get(&url)
            {
                record["outlinks"] = old["outlinks"].clone();
            }
            records.insert(url, record);
        }
    }
    let mut wanted: BTreeMap<String, f64> = BTreeMap::new();
    for (url, score) in reference_pagerank(&records) {
        let host = url::Url::parse(&url)
            .unwrap()
            .host_str()
            .unwrap()
            .to_owned();
        *wanted.entry(host).or_default() += score;
    }
    let reader = Reader::open(bank.path()).unwrap();
    let whole = LoadedGraph::load(&reader, &Unwatched).unwrap();
    let (found, visits) = whole.pagerank_by_site(&Unwatched).unwrap();
    assert!(visits > u64::from(whole.graph.pages()));
    assert_eq!(found.len(), wanted.len());
    for ((site, score), (name, wanted)) in found.into_iter().zip(wanted) {
        assert_eq!(reader.need(&tables::SITES, &site).unwrap().name, name);
        assert!(
            (score - wanted).abs() < 1e-9 * wanted,
            "{name}: {score} is not {wanted}"
        );
    }
}
