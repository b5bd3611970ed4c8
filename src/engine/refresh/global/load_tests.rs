//! The shares of several processes, compared with the web of one process.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;

use super::*;
use crate::engine::plan::kinds::Greedy;
use crate::engine::plan::{Duplicates, Plan, PlanOptions, ResolvedPlan, Revisit, Value};
use crate::engine::policy::{List, LoadedPolicy};
use crate::engine::properties::repeatable;
use crate::engine::refresh::process_stores_tests::{PARTS, in_processes, owners, scratch};
use crate::engine::{Bank, EngineError, IngestRequest};
use seedbank_algorithms::fetch_status::FetchStatus;
use seedbank_algorithms::watch::Unwatched;
use seedbank_formats::ingest::{Naming, Record};
use seedbank_store::{Reader, Store};

/// Hosts of four domains. Most domains have sites in several parts.
const HOSTS: [&str; 8] = [
    "a.example",
    "www.a.example",
    "b.example",
    "news.c.co.uk",
    "shop.c.co.uk",
    "d.example",
    "x.d.example",
    "y.d.example",
];

/// Schemes, ports and paths, so that the order of URLs is not that of paths.
const PLACES: [(&str, &str); 4] = [
    ("http", "/"),
    ("https", "/"),
    ("http", ":8080/x"),
    ("http", "/x"),
];

const PAGES: u8 = 32;

fn url(page: u8) -> String {
    let (scheme, rest) = PLACES[usize::from(page) % PLACES.len()];
    format!(
        "{scheme}://{}{rest}",
        HOSTS[usize::from(page) / PLACES.len()]
    )
}

#[derive(Clone, Debug)]
enum Action {
    /// A fetch of a page, with its targets and its attributes in one number.
    Fetch(u8, Vec<u8>, u8),
    Fail(u8),
    Gone(u8),
    Redirect(u8, u8),
}

fn action() -> impl Strategy<Value = Action> {
    let targets = prop::collection::vec(0..PAGES, 0..7);
    prop_oneof![
        8 => (0..PAGES, targets, any::<u8>()).prop_map(|(page, to, of)| Action::Fetch(page, to, of)),
        1 => (0..PAGES).prop_map(Action::Fail),
        1 => (0..PAGES).prop_map(Action::Gone),
        1 => (0..PAGES, 0..PAGES).prop_map(|(page, to)| Action::Redirect(page, to)),
    ]
}

fn record(action: &Action) -> Record {
    match action {
        Action::Fetch(page, to, of) => {
            let record = Record::new(url(*page))
                .outlinks(to.iter().map(|to| url(*to)))
                .spam(of % 5 == 0)
                .clicks(u64::from(of % 3))
                .quality(f64::from(of % 7) / 10.0)
                .digest(format!("{}", of % 4));
            match of % 11 {
                0 => record.uncrawled_outlinks(9),
                _ => record,
            }
        }
        Action::Fail(page) => Record::new(url(*page)).status(FetchStatus::Timeout),
        Action::Gone(page) => Record::new(url(*page)).gone(),
        Action::Redirect(page, to) => Record::new(url(*page)).redirect(url(*to)),
    }
}

/// Ingests a batch of the day after the last one.
fn ingest(bank: &Bank, actions: &[Action]) {
    let days = Reader::open(bank.path()).unwrap().counters().unwrap().batch;
    let request = IngestRequest {
        as_of: Some(u64::from(days + 1) * 86_400),
        max_loss: 100.0,
        again: true,
        ..IngestRequest::default()
    };
    bank.ingest_records(&request, actions.iter().map(record))
        .unwrap();
}

/// Calls `run` with a plan on a store.
fn with_plan<T>(
    store: &Store,
    options: &PlanOptions,
    run: impl FnOnce(RunContext<'_, WebChoice>) -> T,
) -> T {
    let ResolvedPlan::Web(choice) = options.resolve().unwrap() else {
        panic!("another plan");
    };
    let policy = options.policy().unwrap();
    let policy = LoadedPolicy::load(store, policy, options.lists(), &Unwatched).unwrap();
    run(RunContext::new(store, &choice, &policy, &Unwatched))
}

/// What [`LoadedShare`] and [`LoadedWeb::load_share`] have of a process.
type Loaded = (LoadedShare, LoadedWeb);

/// Loads the shares of several processes.
fn load(bank: &Path, options: &PlanOptions, processes: usize) -> Vec<Result<Loaded>> {
    let owners = owners(processes);
    in_processes(bank, processes, |communicator, store| {
        with_plan(store, options, |context| {
            let share = LoadedShare::load(context, &*communicator, &owners)?;
            let web = LoadedWeb::load_share(context, &communicator, &owners)?;
            Ok((share, web))
        })
    })
}

/// A plan with many constraints, and one without.
fn plans(pins: &[u8], max_failures: u32, excluded: &str) -> [PlanOptions; 2] {
    let lines: String = pins.iter().map(|page| url(*page) + "\n").collect();
    let plan = Plan::over_web(Greedy)
        .seeds(20)
        .hops(2)
        .value_spam(Value(-300_000))
        .value_quality(Value(2_000_000))
        .value_known(Value(100_000))
        .p_uniq(Value(700_000))
        .duplicates(Duplicates::Once)
        .revisit(Revisit::Days(2))
        .min_quality(Value(100_000))
        .max_failures(max_failures)
        .max_per_site(2)
        .max_per_domain(3)
        .pin(List::parse("pins", &lines))
        .exclude(List::parse("excluded", "https://b.example/"))
        .exclude_from_graph(List::parse("not in the web", excluded));
    [plan.into(), Plan::over_web(Greedy).seeds(20).hops(2).into()]
}

/// Counts of what was compared.
#[derive(Debug, Default)]
struct Compared {
    pages: usize,
    ghosts: u32,
    known: usize,
    pins: usize,
    shared_domains: usize,
    copies: usize,
    taken: u32,
}

/// Compares shares with the whole web.
fn compare(whole: &LoadedWeb, shares: &[Loaded], compared: &mut Compared) {
    let mut is_found = vec![false; whole.pages.len()];
    // The groups of the caps of each share, by those of the whole web, and the reverse.
    let mut groups: Vec<(HashMap<u32, u32>, HashMap<u32, u32>)> = Vec::new();
    groups.resize_with(whole.graph.caps().len(), Default::default);
    let mut domains: Vec<BTreeSet<u32>> = Vec::new();
    for (process, (share, web)) in shares.iter().enumerate() {
        let own = share.numbers.len();
        assert!(share.numbers.is_sorted_by(|a, b| a < b));
        assert_eq!(share.successors.len(), own);
        assert_eq!(share.pages.marks, web.marks);
        assert_eq!(share.constraints.pins, whole.graph.pins());
        assert_eq!(share.constraints.caps.len(), whole.graph.caps().len());
        assert!(web.scores.is_empty());
        assert_eq!(web.mirrored, whole.mirrored);
        // The ghosts: the number in the web of each, as its owner has it.
        let mut targets = share.numbers.clone();
        for (owner, (of_owner, count)) in shares.iter().zip(&share.ghosts.counts).enumerate() {
            let mirrors = &of_owner.0.ghosts.mirrors[process];
            assert_eq!(mirrors.len(), *count as usize);
            assert!(mirrors.is_sorted_by(|a, b| a < b));
            assert!(owner != process || mirrors.is_empty());
            targets.extend(mirrors.iter().map(|at| of_owner.0.numbers[*at as usize]));
            compared.ghosts += count;
        }
        let mut of_share = BTreeSet::new();
        for (local, &page) in (0..).zip(&share.numbers) {
            let (at, in_web) = (local as usize, page as usize);
            assert!(!std::mem::replace(&mut is_found[in_web], true));
            assert_eq!(share.pages.ids[at], whole.pages[in_web]);
            assert_eq!(share.pages.marks[at], whole.marks[in_web]);
            assert_eq!(web.graph.values()[at], whole.graph.values()[in_web]);
            assert_eq!(web.graph.is_known(local), whole.graph.is_known(page));
            let represented_by = whole.contents.represented_by(page);
            assert_eq!(web.contents.represented_by(local), represented_by);
            assert_eq!(web.graph.number(local), page);
            assert_eq!(web.graph.local(page), Some(local));
            let links = share.successors.list(local);
            assert!(links.is_sorted_by(|a, b| a < b));
            let mut links: Vec<u32> = links.iter().map(|to| targets[*to as usize]).collect();
            links.sort_unstable();
            assert_eq!(links, whole.graph.successors().list(page));
            let caps = share.constraints.caps.iter().zip(whole.graph.caps());
            for ((cap, of_whole), (there, back)) in caps.zip(&mut groups) {
                assert_eq!(cap.most, of_whole.most);
                let (group, of_whole) = (cap.group[at], of_whole.group[in_web]);
                assert_eq!(*there.entry(of_whole).or_insert(group), group);
                assert_eq!(*back.entry(group).or_insert(of_whole), of_whole);
            }
            of_share.extend(whole.graph.caps().last().map(|cap| cap.group[in_web]));
            compared.known += usize::from(whole.graph.is_known(page));
        }
        compared.pages += own;
        domains.push(of_share);
    }
    assert!(is_found.iter().all(|is_found| *is_found));
    for &(copy, by) in &whole.contents.copies {
        let links = |page: u32| whole.graph.predecessors().list(page).len();
        let place = whole.pages.iter().position(|page| *page == by).unwrap();
        let is_pinned = whole.graph.pins().contains(&number(place));
        assert!(is_pinned || links(number(place)) >= links(copy));
        assert_eq!(whole.graph.values()[copy as usize], 0);
        assert!(whole.graph.candidates().binary_search(&copy).is_err());
        compared.copies += 1;
    }
    compared.taken += whole.mirrored.iter().map(|of| of.taken).sum::<u32>();
    compared.pins += whole.graph.pins().len();
    let in_several = domains.iter().enumerate().flat_map(|(at, of_share)| {
        let others = &domains[..at];
        let is_in_several = |domain: &&u32| others.iter().any(|other| other.contains(domain));
        of_share.iter().filter(is_in_several).collect::<Vec<_>>()
    });
    compared.shared_domains += in_several.count();
}

#[test]
fn the_shares_together_are_the_web() {
    let mut runner = TestRunner::new(ProptestConfig {
        max_shrink_iters: 40,
        ..repeatable(16)
    });
    let batches = prop::collection::vec(prop::collection::vec(action(), 1..40), 0..4);
    let pins = prop::collection::vec(0..PAGES, 0..5);
    let excluded = select(
        &[
            "",
            "https://a.example/",
            "http://www.a.example/\nshop.c.co.uk",
        ][..],
    );
    let inputs = (
        select(&Naming::ALL[..]),
        batches,
        (pins, 0_u32..2, excluded),
    );
    let compared = std::cell::RefCell::new(Compared::default());
    let outcome = runner.run(&inputs, |(naming, batches, (pins, failures, excluded))| {
        let folder = scratch();
        let bank = Bank::create_cluster(folder.path().join("bank"), naming, PARTS).unwrap();
        // In every case there are links to other processes, some of them to known pages.
        let first = (0..PAGES).step_by(3).map(|page| {
            let targets = [5, 11, 17].map(|step| (page + step) % PAGES);
            Action::Fetch(page, targets.to_vec(), page)
        });
        let mut first: Vec<Action> = first.collect();
        // Two hosts have one content on `/`; a page of one is not crawled, and its twin on the other is.
        first.push(Action::Fetch(4, vec![7], 4));
        ingest(&bank, &first);
        for batch in &batches {
            ingest(&bank, batch);
        }
        for options in plans(&pins, failures, excluded) {
            let whole = Reader::open(bank.path()).unwrap();
            let whole = with_plan(&whole, &options, |context| {
                LoadedWeb::load(context).unwrap()
            });
            for processes in [1, 2, 3] {
                let shares = load(bank.path(), &options, processes);
                let shares: Vec<Loaded> = shares.into_iter().map(Result::unwrap).collect();
                compare(&whole, &shares, &mut compared.borrow_mut());
            }
        }
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
    let compared = compared.into_inner();
    assert!(
        compared.pages > 500
            && compared.ghosts > 200
            && compared.known > 100
            && compared.pins > 10
            && compared.shared_domains > 20
            && compared.copies > 100
            && compared.taken > 0,
        "{compared:?}"
    );
}

#[test]
fn a_link_to_a_page_that_does_not_exist_is_an_error() {
    let folder = scratch();
    let bank = Bank::create_cluster(folder.path().join("bank"), Naming::default(), PARTS).unwrap();
    let everything: Vec<Action> = (0..PAGES)
        .map(|page| Action::Fetch(page, vec![(page + 9) % PAGES, (page + 20) % PAGES], 1))
        .collect();
    ingest(&bank, &everything);
    let damaged = {
        let reader = Reader::open(bank.path()).unwrap();
        let parts = reader.site_parts().unwrap();
        let mut rows = reader.scan(&tables::ROWS).unwrap().map(Result::unwrap);
        rows.find_map(|(key, mut block)| {
            let (place, mut targets) = block
                .lists()
                .map(|(place, targets)| (place, targets.to_vec()))
                .next()?;
            let last = *targets.last()?;
            let part = parts.of_site(key.site);
            // In another process, of two.
            let is_ghost = owners(2)[parts.of_site(last.site())] != owners(2)[part];
            targets.push(PageId::new(last.site(), 12_345));
            block.set(place, targets);
            let (mut entry, mut key_bytes) = (Vec::new(), Vec::new());
            seedbank_store::Value::encode(&block, &mut entry).unwrap();
            seedbank_store::Key::put(&key, &mut key_bytes);
            is_ghost.then_some((part, vec![(key_bytes, Some(entry))]))
        })
    };
    let (part, changes) = damaged.unwrap();
    let folder = match part {
        0 => bank.path().to_path_buf(),
        part => bank.path().join("parts").join(format!("{part:03}")),
    };
    seedbank_store::raw_write(&folder, tables::ROWS.name, &changes).unwrap();
    // A commit publishes it.
    ingest(&bank, &[Action::Fail(0)]);
    let [_, options] = plans(&[], 0, "");
    let whole = Reader::open(bank.path()).unwrap();
    let expected = with_plan(&whole, &options, |context| LoadedWeb::load(context).err());
    let expected = expected.unwrap().to_string();
    assert!(expected.contains("12345"), "{expected}");
    let mut found: Vec<EngineError> = load(bank.path(), &options, 2)
        .into_iter()
        .map(|share| share.err().unwrap())
        .collect();
    // The other process was waiting.
    found.retain(|error| !matches!(error, EngineError::Interrupted(_)));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].to_string(), expected);
}
