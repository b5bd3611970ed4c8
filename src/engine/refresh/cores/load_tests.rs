//! Tests of the loader of the host-pruned graph.

use std::path::Path;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;

use super::*;
use crate::engine::plan::{Plan, PlanOptions, ResolvedPlan};
use crate::engine::policy::{List, LoadedPolicy};
use crate::engine::properties::repeatable;
use crate::engine::refresh::process_stores_tests::{PARTS, in_processes, owners, scratch};
use crate::engine::{Bank, IngestRequest};
use seedbank_algorithms::communicator::alone;
use seedbank_algorithms::page::SiteId;
use seedbank_algorithms::watch::Unwatched;
use seedbank_formats::ingest::{self, Input, Naming, Record, SiteMode, UrlRules};
use seedbank_store::{Reader, Store, tables};

/// Loads the graph for a plan in one process.
fn load_alone(store: &Store, options: &PlanOptions) -> LoadedHubs {
    with_plan(store, options, |context| {
        LoadedHubs::load(context, &alone(), &[]).unwrap()
    })
}

/// The default plan.
fn exact() -> PlanOptions {
    Plan::cores()
        .within(crate::engine::plan::Slack::EXACT)
        .into()
}

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
            allow_private: true,
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
        let hubs = load_alone(&store, &exact());
        let url = |page: &PageId| {
            let record = store.need(&tables::PAGES, page).unwrap();
            let site = store.need(&tables::SITES, &page.site()).unwrap();
            ingest::url(&site.name, &record.local, mode)
        };
        let urls: Vec<String> = hubs.pages.list().iter().map(url).collect();
        assert_eq!(urls, URLS, "{mode:?}");
        assert!(hubs.ineligible.is_empty());
        for (number, page) in (0..).zip(hubs.pages.list()) {
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
    let load = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let load = || load_alone(&store, &exact());
        pool.build().unwrap().install(load)
    };
    let (one, two) = (load(1), load(2));
    assert!(one.pages.list().len() > 1000 && !one.ineligible.is_empty());
    assert!(one.graph() == two.graph());
    assert_eq!(one.pages.list(), two.pages.list());
    assert_eq!(one.ineligible, two.ineligible);
    let serial = serial(&store, &one);
    assert!(*one.graph() == serial, "parts give another graph");
}

/// The graph by one scan, number by number.
fn serial(store: &Store, hubs: &LoadedHubs) -> HubGraph {
    let numbers: std::collections::BTreeMap<PageId, u32> =
        hubs.pages.list().iter().copied().zip(0..).collect();
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

const SITES: u8 = 12;
const PAGES: u8 = 36;

fn numbered_url(page: u8) -> String {
    // Order by URL differs from that by number, and from that by site.
    let scheme = if page.is_multiple_of(2) {
        "https"
    } else {
        "http"
    };
    format!("{scheme}://s{}.example/{}", page * 7 % SITES, page / SITES)
}

/// A page with its targets, and its attributes in one number.
type Fetch = (u8, Vec<u8>, u8);

fn record((page, targets, attributes): &Fetch) -> Record {
    let record = Record::new(numbered_url(*page));
    match attributes % 8 {
        0 => record.gone(),
        1 => record
            .spam(true)
            .outlinks(targets.iter().map(|to| numbered_url(*to))),
        _ => record.outlinks(targets.iter().map(|to| numbered_url(*to))),
    }
}

fn ingest(bank: &Bank, fetches: &[Fetch]) {
    let request = IngestRequest {
        max_loss: 100.0,
        again: true,
        ..IngestRequest::default()
    };
    let records = fetches.iter().map(record);
    bank.ingest_records(&request, records).unwrap();
}

fn plans(excluded: &str) -> [PlanOptions; 3] {
    let mut crawled: PlanOptions = Plan::cores().seeds(5).into();
    crawled.pages = Some(crate::engine::plan::Pages::Crawled);
    let mut with_spam: PlanOptions = Plan::cores().seeds(5).into();
    with_spam.keep_spam = Some(true);
    with_spam.exclude_from_graph = Some(List::parse("not in the graph", excluded));
    [Plan::cores().seeds(5).into(), crawled, with_spam]
}

fn with_plan<T>(
    store: &Store,
    options: &PlanOptions,
    run: impl FnOnce(RunContext<'_, CorePlan>) -> T,
) -> T {
    let ResolvedPlan::Cores(plan) = options.resolve().unwrap() else {
        panic!("another plan");
    };
    let policy = options.policy().unwrap();
    let policy = LoadedPolicy::load(store, policy, options.lists(), &Unwatched).unwrap();
    run(RunContext::new(store, &plan, &policy, &Unwatched))
}

/// Loads the shares of several processes.
fn load(bank: &Path, options: &PlanOptions, processes: usize) -> Vec<LoadedRows> {
    let owners = owners(processes);
    in_processes(bank, processes, |communicator, store| {
        with_plan(store, options, |context| {
            LoadedRows::load(context, &*communicator, &owners).unwrap()
        })
    })
}

#[derive(Debug, Default)]
struct Compared {
    links: u64,
    ineligible: usize,
    excluded: usize,
}

fn compare(whole: &LoadedRows, shares: &[LoadedRows], compared: &mut Compared) {
    let mut rows = Rows::new();
    let mut pages: Vec<(u32, PageId)> = Vec::new();
    let mut ineligible: Ineligible = Vec::new();
    for share in shares {
        rows.append(&share.rows).unwrap();
        let own = &share.pages;
        assert_eq!(own.len(), own.numbers().len());
        assert!(own.numbers().is_sorted_by(|a, b| a < b));
        let of_share = own.by_id().map(|(page, at)| (own.numbers()[at], page));
        for (number, page) in of_share {
            assert_eq!(
                (own.number(page), own.page(number)),
                (Some(number), Some(page))
            );
            pages.push((number, page));
        }
        assert!(share.ineligible.is_sorted_by_key(|of| of.0));
        ineligible.extend(&share.ineligible);
    }
    pages.sort_unstable();
    ineligible.sort_unstable_by_key(|of| of.0);
    assert!(
        pages
            .into_iter()
            .eq((0..).zip(whole.pages.list().iter().copied()))
    );
    assert_eq!(ineligible, whole.ineligible);
    let graph = whole.rows.graph().unwrap();
    assert!(rows.graph().unwrap() == graph);
    compared.links += graph.links();
    compared.ineligible += ineligible.len();
    let is_excluded = |of: &&(PageId, _)| of.1 == seedbank_store::evidence::LinkStatus::Excluded;
    compared.excluded += ineligible.iter().filter(is_excluded).count();
}

#[test]
fn the_shares_together_are_the_graph() {
    let mut runner = TestRunner::new(ProptestConfig {
        max_shrink_iters: 40,
        ..repeatable(6)
    });
    let targets = prop::collection::vec(0..PAGES, 0..6);
    let batch = prop::collection::vec((0..PAGES, targets, any::<u8>()), 1..40);
    let batches = prop::collection::vec(batch, 1..4);
    let excluded = select(&["https://s0.example/", "s7.example\nhttp://s3.example/2"][..]);
    let inputs = (select(&Naming::ALL[..]), batches, excluded);
    let compared = std::cell::RefCell::new(Compared::default());
    let outcome = runner.run(&inputs, |(naming, batches, excluded)| {
        let folder = scratch();
        let bank = Bank::create_cluster(folder.path().join("bank"), naming, PARTS).unwrap();
        for batch in &batches {
            ingest(&bank, batch);
        }
        for options in plans(excluded) {
            let whole = load(bank.path(), &options, 1).pop().unwrap();
            for processes in 2..=3 {
                let shares = load(bank.path(), &options, processes);
                compare(&whole, &shares, &mut compared.borrow_mut());
            }
        }
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
    let compared = compared.into_inner();
    let is_much = compared.links > 500 && compared.ineligible > 100 && compared.excluded > 10;
    assert!(is_much, "{compared:?}");
}
