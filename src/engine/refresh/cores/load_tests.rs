//! Tests of the loader of the host-pruned graph.

use super::*;
use crate::engine::plan::{PlanOptions, ResolvedPlan};
use crate::engine::{Bank, IngestRequest};
use seedbank_algorithms::watch::Unwatched;
use seedbank_formats::ingest::Input;
use seedbank_formats::ingest::UrlRules;
use seedbank_store::Reader;

/// In URL order although their hosts, ports and schemes are mixed; all are on inter-site links,
/// whatever counts as a site.
const URLS: [&str; 14] = [
    "http://a.org/",
    "http://a.org/x",
    "http://a.org2.example.org/",
    "http://a.org:8080/",
    "http://a.org:8080/b",
    "http://b.a.org/",
    "http://b.example.org/",
    "http://c.a.org/z",
    "https://[::1]/",
    "https://[::1]:81/",
    "https://[::2]/a",
    "https://a.org/",
    "https://a.org/x",
    "https://b.example.org/",
];

fn bank(folder: &std::path::Path, sites: SiteMode) -> Bank {
    let place = folder.join(format!("{sites:?}"));
    let bank = Bank::create(&place, sites.with(UrlRules::Whatwg)).unwrap();
    // Ids follow the order of ingest.
    let (late, early): (Vec<_>, Vec<_>) = (0..URLS.len()).partition(|at| at % 3 == 0);
    for (name, urls) in [("early", early), ("late", late)] {
        let text: String = urls
            .iter()
            .map(|&at| {
                let links = [URLS[(at + 5) % 14], URLS[(at + 9) % 14], URLS[8]];
                serde_json::json!({"url": URLS[at], "outlinks": links}).to_string() + "\n"
            })
            .collect();
        let file = folder.join(name);
        std::fs::write(&file, text).unwrap();
        let request = IngestRequest {
            inputs: vec![Input::named(file)],
            ..IngestRequest::default()
        };
        bank.ingest(&request).unwrap();
    }
    bank
}

#[test]
fn pages_are_numbered_in_url_order() {
    let folder = tempfile::tempdir().unwrap();
    for mode in [SiteMode::BareHost, SiteMode::Host, SiteMode::Domain] {
        let bank = bank(folder.path(), mode);
        let store = Reader::open(bank.path()).unwrap();
        let sites = store.counters().unwrap().next_site;
        let ResolvedPlan::Cores(plan) = PlanOptions::default().resolve().unwrap() else {
            panic!("another method");
        };
        let hubs = LoadedHubGraph::load(&store, &plan, None, &Unwatched).unwrap();
        let url = |page: &PageId| {
            let record = store.need(&tables::PAGES, page).unwrap();
            let site = store.need(&tables::SITES, &page.site()).unwrap();
            ingest::url(&site.name, &record.local, mode)
        };
        let urls: Vec<String> = hubs.pages.iter().map(url).collect();
        assert_eq!(urls, URLS, "{mode:?}");
        assert!(hubs.ineligible.is_empty());
        for (number, page) in (0..).zip(&hubs.pages) {
            assert_eq!(hubs.number(*page), Some(number));
            assert_eq!(hubs.number(PageId::new(page.site(), u32::MAX)), None);
        }
        assert_eq!(hubs.number(PageId::new(SiteId(sites), 0)), None);
    }
}

#[test]
fn threads_make_no_difference() {
    let folder = tempfile::tempdir().unwrap();
    let bank = bank(folder.path(), SiteMode::Host);
    let crawl = seedbank_formats::synth::SynthOptions {
        days: 1,
        ..seedbank_formats::synth::SynthOptions::new(3000)
    };
    for day in 0..2 {
        let path = folder.path().join(format!("{day}.jsonl"));
        std::fs::write(
            &path,
            seedbank_formats::synth::day_text(&crawl, day).unwrap(),
        )
        .unwrap();
        let request = IngestRequest {
            inputs: vec![Input::named(path)],
            ..IngestRequest::default()
        };
        bank.ingest(&request).unwrap();
    }
    let store = Reader::open(bank.path()).unwrap();
    let ResolvedPlan::Cores(plan) = PlanOptions::default().resolve().unwrap() else {
        panic!("another method");
    };
    let load = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let load = || LoadedHubGraph::load(&store, &plan, None, &Unwatched).unwrap();
        pool.build().unwrap().install(load)
    };
    let (one, two) = (load(1), load(2));
    assert!(one.pages.len() > 1000 && !one.ineligible.is_empty());
    assert!(one.graph == two.graph);
    assert_eq!(one.pages, two.pages);
    assert_eq!(one.ineligible, two.ineligible);
    let serial = serial(&store, &one);
    assert!(one.graph == serial, "parts give another graph");
}

/// The graph by one scan, number by number.
fn serial(store: &Store, hubs: &LoadedHubGraph) -> HubGraph {
    let numbers: std::collections::BTreeMap<PageId, u32> =
        hubs.pages.iter().copied().zip(0..).collect();
    let mut rows = Rows::new();
    for entry in store.scan(&tables::ROW_MEMBERS).unwrap() {
        let (row, members) = entry.unwrap();
        let of = |pages: Vec<PageId>| {
            let mut all: Vec<u32> = pages
                .iter()
                .filter_map(|p| numbers.get(p))
                .copied()
                .collect();
            all.sort_unstable();
            all
        };
        let carriers = members
            .pages
            .iter()
            .map(|index| PageId::new(row.site(), index));
        let targets = store.need_row(row).unwrap();
        rows.push(&of(carriers.collect()), &of(targets)).unwrap();
    }
    rows.graph().unwrap()
}
