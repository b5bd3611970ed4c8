//! The shares of several processes, compared with the graph of one process.

use std::path::Path;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;

use super::*;
use crate::engine::plan::{Plan, PlanOptions, ResolvedPlan};
use crate::engine::policy::{List, LoadedPolicy};
use crate::engine::refresh::cores::load::LoadedHubGraph;
use crate::engine::refresh::process_stores_tests::{PARTS, in_processes, owners, scratch};
use crate::engine::{Bank, IngestRequest};
use seedbank_algorithms::watch::Unwatched;
use seedbank_formats::ingest::{Naming, Record};
use seedbank_store::{Reader, Store};

const SITES: u8 = 12;
const PAGES: u8 = 36;

fn url(page: u8) -> String {
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
    let record = Record::new(url(*page));
    match attributes % 8 {
        0 => record.gone(),
        1 => record
            .spam(true)
            .outlinks(targets.iter().map(|to| url(*to))),
        _ => record.outlinks(targets.iter().map(|to| url(*to))),
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

fn compare(whole: &LoadedHubGraph, shares: &[LoadedRows], compared: &mut Compared) {
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
    assert!(pages.into_iter().eq((0..).zip(whole.pages.iter().copied())));
    assert_eq!(ineligible, whole.ineligible);
    assert!(rows.graph().unwrap() == whole.graph);
    compared.links += whole.graph.links();
    compared.ineligible += ineligible.len();
    let is_excluded = |of: &&(PageId, _)| of.1 == seedbank_store::evidence::LinkStatus::Excluded;
    compared.excluded += ineligible.iter().filter(is_excluded).count();
}

#[test]
fn the_shares_together_are_the_graph() {
    let mut runner = TestRunner::new(ProptestConfig {
        cases: 6,
        max_shrink_iters: 40,
        failure_persistence: None,
        ..ProptestConfig::default()
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
            let store = Reader::open(bank.path()).unwrap();
            let whole = with_plan(&store, &options, |context| {
                let excluded = context.policy.candidates.graph_exclusions();
                LoadedHubGraph::load(&store, context.plan, excluded, &Unwatched).unwrap()
            });
            for processes in 1..=3 {
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
