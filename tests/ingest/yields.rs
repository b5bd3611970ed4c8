//! What fetches of pages brought.
//!
//! * each rule by hand: the first fetch, later ones, unchanged ones, pages that are gone, failed first tries,
//!   bulk imports, undo and the same batch again, forget, export;
//! * random fetches of some pages in several batches: the sums are those of a model that adds them up from the
//!   whole list, in floating-point numbers, and an export makes a bank with the same sums.

use std::collections::{BTreeMap, BTreeSet};

use crate::dated_bank::{A, B, C, DatedBank, NOON, fetched};
use crate::support::histories::{exported, made_of};
use crate::support::model::assert_clean;
use proptest::prelude::*;
use seedbank::engine::ingest::{ForgetRequest, LearnedCounts};
use seedbank::engine::query::{PageLimits, PageYield};
use seedbank::engine::{Bank, IngestReport, IngestRequest};
use seedbank::ingest::{FetchStatus, Record};
use seedbank_algorithms::yields::{YIELD_UNIT, Yield};

const DAY: u64 = 86_400;

fn yields_of(bank: &Bank, url: &str) -> Option<PageYield> {
    bank.page(url, PageLimits::default()).unwrap().yields
}

#[expect(clippy::unnecessary_wraps, reason = "compared with what a page has")]
fn sums(observed_days: f64, new_links: f64) -> Option<PageYield> {
    Some(PageYield {
        observed_days,
        new_links,
    })
}

fn links(url: &str, to: &[&str], time: u64) -> Record {
    Record::new(url)
        .outlinks(to.iter().copied())
        .fetched(time.to_string())
}

fn new_url(number: u64) -> String {
    format!("http://new.example/{number}")
}

/// A page that was fetched twice, was gone, and is known again: its record cannot have a time.
#[test]
fn sums_without_a_time_stay_out_of_a_bank() {
    let case = DatedBank::new();
    case.at(NOON, &[links(A, &[], NOON)]);
    let time = NOON + DAY;
    case.at(time, &[Record::new(A).gone().fetched(time.to_string())]);
    case.at(time, &[Record::new(A)]);
    assert_eq!(yields_of(&case.bank, A), sums(1.0, 0.0));
    let records = String::from_utf8(exported(&case.bank)).unwrap();
    assert!(!records.contains("observed_days"), "{records}");
    let (_folder, new) = made_of(&case.bank);
    assert_clean(&new);

    // Nor are they taken from a record if the bank has no fetch of its page.
    let given = Yield {
        days: 3 * YIELD_UNIT,
        new: 2 * YIELD_UNIT,
    };
    case.at(time, &[Record::new("http://other.test/").sums(given)]);
    assert_eq!(yields_of(&case.bank, "http://other.test/"), None);
}

#[test]
fn fetches_after_the_first_count() {
    let case = DatedBank::new();
    let report = case.at(NOON, &[links(A, &[B, C], NOON)]);
    assert_eq!(report.learned, LearnedCounts::default());
    assert_eq!(yields_of(&case.bank, A), None);

    // Two days later: one link of two is new to the bank.
    let (time, new) = (NOON + 2 * DAY, new_url(1));
    let report = case.at(time, &[links(A, &[B, &new], time)]);
    let learned = LearnedCounts {
        fetched_again: 1,
        days: 2.0,
        new_links: 1,
        ..LearnedCounts::default()
    };
    assert_eq!(report.learned, learned);
    assert_eq!(yields_of(&case.bank, A), sums(2.0, 1.0));

    // A link that the bank had is not new, also if the page had not. A line without links is a fetch.
    let time = time + DAY;
    case.at(time, &[links(A, &[B, C, &new], time)]);
    let time = time + DAY;
    case.at(time, &[Record::new(A).fetched(time.to_string())]);
    let half_life = 64.0;
    let decay = |days: f64| (-days / half_life).exp2();
    let found = yields_of(&case.bank, A).unwrap();
    assert!((found.new_links - decay(2.0)).abs() < 2e-4, "{found:?}");
    let days = 2.0 * decay(2.0) + decay(1.0) + 1.0;
    assert!((found.observed_days - days).abs() < 2e-4, "{found:?}");

    // Attributes alone are no fetch, and neither is the same fetch once more.
    case.at(time + DAY, &[Record::new(A).clicks(3)]);
    case.at(time + DAY, &[links(A, &[&new_url(2)], time)]);
    assert_eq!(yields_of(&case.bank, A), Some(found));
    // A page that is gone brought nothing.
    let time = time + 64 * DAY;
    case.at(time, &[Record::new(A).gone().fetched(time.to_string())]);
    let gone = yields_of(&case.bank, A).unwrap();
    assert!((gone.new_links - found.new_links / 2.0).abs() < 1e-4);
    assert!((gone.observed_days - found.observed_days / 2.0 - 64.0).abs() < 1e-4);
}

#[test]
fn first_fetches_of_known_pages_are_counted_apart() {
    let case = DatedBank::new();
    let (one, two) = (new_url(1), new_url(2));
    case.at(NOON, &[links(A, &[B, C], NOON)]);
    let time = NOON + DAY;
    let failed = Record::new(C)
        .status(FetchStatus::Timeout)
        .fetched(time.to_string());
    let report = case.at(time, &[links(B, &[A, &one, &two], time), failed.clone()]);
    let learned = LearnedCounts {
        tried: 2,
        answered: 1,
        new_links_of_first: 2,
        ..LearnedCounts::default()
    };
    assert_eq!(report.learned, learned);
    // The page was tried before.
    let time = time + DAY;
    let report = case.at(time, &[links(C, &[&new_url(3)], time)]);
    let learned = LearnedCounts {
        answered: 1,
        new_links_of_first: 1,
        ..LearnedCounts::default()
    };
    assert_eq!(report.learned, learned);
    // A page of which nothing was known teaches nothing.
    let time = time + DAY;
    let report = case.at(time, &[links("http://d.example/", &[&new_url(4)], time)]);
    assert_eq!(report.learned, LearnedCounts::default());
}

/// Returns the number of pages with sums in an export.
fn with_sums(bank: &Bank) -> usize {
    let text = String::from_utf8(exported(bank)).unwrap();
    text.matches("observed_days").count()
}

fn batch(first: u64, count: u64) -> Vec<String> {
    (first..first + count).map(new_url).collect()
}

#[test]
fn a_bulk_import_teaches_nothing_unless_asked() {
    let case = DatedBank::new();
    case.at(NOON, &[fetched(A, B, NOON)]);
    let time = NOON + DAY;
    let few = batch(0, 3);
    let few: Vec<&str> = few.iter().map(String::as_str).collect();
    case.at(time, &[links(A, &few, time)]);
    assert_eq!(yields_of(&case.bank, A), sums(1.0, 3.0));
    // Ten times as many as expected, and one more.
    let many = batch(100, 31);
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let time = time + DAY;
    let report = case.at(time, &[links(A, &many, time)]);
    assert!(report.learned.is_bulk, "{:?}", report.learned);
    let decayed = yields_of(&case.bank, A).unwrap();
    assert!(decayed.observed_days < 1.0 && decayed.new_links < 3.0);
    case.bank.undo(false, 64 << 20).unwrap();
    assert_eq!(yields_of(&case.bank, A), sums(1.0, 3.0));
    let request = IngestRequest {
        learn_from_bulk: true,
        ..IngestRequest::default()
    };
    let asked = case
        .bank
        .ingest_records(&request, [links(A, &many, time)])
        .unwrap();
    assert!(!asked.learned.is_bulk);
    assert_eq!(asked.learned.new_links, 31);
    assert!(yields_of(&case.bank, A).unwrap().new_links > 33.0);
}

#[test]
fn the_same_batch_after_an_undo_teaches_the_same() {
    let case = DatedBank::new();
    case.at(NOON, &[fetched(A, B, NOON)]);
    let before = exported(&case.bank);
    let (time, new) = (NOON + DAY, new_url(1));
    let records = [links(A, &[B, &new], time)];
    let first = case.at(time, &records);
    let after = exported(&case.bank);
    case.bank.undo(false, 64 << 20).unwrap();
    assert_eq!(exported(&case.bank), before);
    assert_eq!(yields_of(&case.bank, A), None);
    let second = case.at(time, &records);
    assert_eq!(
        (second.learned, second.learned.new_links),
        (first.learned, 1)
    );
    assert_eq!(exported(&case.bank), after);
}

#[test]
fn a_forgotten_page_leaves_no_sums() {
    let case = DatedBank::new();
    case.at(NOON, &[fetched(A, B, NOON), fetched(C, B, NOON)]);
    let time = NOON + DAY;
    case.at(time, &[fetched(A, B, time), fetched(C, A, time)]);
    assert_eq!(with_sums(&case.bank), 2);
    let request = ForgetRequest {
        what: vec![A.to_owned()],
        ..ForgetRequest::default()
    };
    case.bank.forget(&request).unwrap();
    assert_clean(&case.bank);
    assert_eq!(with_sums(&case.bank), 1);
    // The page keeps its own.
    assert_eq!(yields_of(&case.bank, C), sums(1.0, 0.0));
}

/// A fetch of one of few pages, some hours after the one before.
#[derive(Clone, Debug)]
struct Fetch {
    page: usize,
    hours: u64,
    targets: BTreeSet<u64>,
    is_gone: bool,
    /// Whether a batch ends after it.
    ends: bool,
}

fn fetches() -> impl Strategy<Value = Vec<Fetch>> {
    let targets = prop::collection::btree_set(0_u64..25, 0..5);
    let fetch = (
        0_usize..3,
        1_u64..900,
        targets,
        prop::bool::weighted(0.1),
        any::<bool>(),
    );
    let fetch = fetch.prop_map(|(page, hours, targets, is_gone, ends)| Fetch {
        page,
        hours,
        targets,
        is_gone,
        ends,
    });
    prop::collection::vec(fetch, 1..25)
}

/// What the model knows of a page: the time of its last fetch, and all later ones with the time since the one
/// before and the number of new links.
#[derive(Default)]
struct Modelled {
    fetched: Option<u64>,
    observed: Vec<(u64, u64, usize)>,
}

fn ingest(bank: &Bank, time: u64, records: &[Record]) -> IngestReport {
    let request = IngestRequest {
        as_of: Some(time),
        max_loss: 100.0,
        again: true,
        learn_from_bulk: true,
        ..IngestRequest::default()
    };
    bank.ingest_records(&request, records.iter().cloned())
        .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::support::cases(10)))]

    #[test]
    fn sums_are_those_of_the_whole_list(fetches in fetches()) {
        let case = DatedBank::new();
        let pages = [A, B, C];
        let mut known: BTreeSet<String> = BTreeSet::new();
        let mut modelled: BTreeMap<usize, Modelled> = BTreeMap::new();
        let mut time = NOON;
        // Of several fetches of a page in one batch, the last one counts.
        let mut batch: BTreeMap<usize, (u64, Fetch)> = BTreeMap::new();
        let last = fetches.len() - 1;
        for (at, fetch) in fetches.into_iter().enumerate() {
            time += fetch.hours * 3600;
            let ends = fetch.ends || at == last;
            batch.insert(fetch.page, (time, fetch));
            if !ends {
                continue;
            }
            let of_batch = std::mem::take(&mut batch);
            let mut named: BTreeSet<String> = BTreeSet::new();
            let mut records = Vec::new();
            for (page, (at, fetch)) in &of_batch {
                let targets: Vec<String> = fetch.targets.iter().map(|to| new_url(*to)).collect();
                let of_page = modelled.entry(*page).or_default();
                let new = targets.iter().filter(|to| !known.contains(*to)).count();
                let new = if fetch.is_gone { 0 } else { new };
                if let Some(before) = of_page.fetched {
                    of_page.observed.push((*at, at - before, new));
                }
                of_page.fetched = Some(*at);
                let record = Record::new(pages[*page]).fetched(at.to_string());
                if fetch.is_gone {
                    records.push(record.gone());
                } else {
                    named.extend(targets.iter().cloned());
                    records.push(record.outlinks(targets));
                }
            }
            known.extend(named);
            let report = ingest(&case.bank, time, &records);
            let again = modelled.values().flat_map(|of| &of.observed);
            let again = again.filter(|(at, ..)| of_batch.values().any(|(of, _)| of == at));
            prop_assert_eq!(report.learned.fetched_again, again.count() as u64);
        }
        assert_clean(&case.bank);
        for (page, of_page) in &modelled {
            let found = yields_of(&case.bank, pages[*page]);
            prop_assert_eq!(found.is_some(), !of_page.observed.is_empty());
            let (mut days, mut new) = (0.0, 0.0);
            for (at, since, found) in &of_page.observed {
                let age = (of_page.fetched.unwrap() - at) as f64 / DAY as f64;
                let weight = (-age / 64.0).exp2();
                days += weight * (*since as f64 / DAY as f64);
                new += weight * *found as f64;
            }
            let found = found.unwrap_or(PageYield { observed_days: 0.0, new_links: 0.0 });
            prop_assert!((found.observed_days - days).abs() < 5e-3, "{found:?} {days}");
            prop_assert!((found.new_links - new).abs() < 5e-3, "{found:?} {new}");
        }
        let (_folder, made) = made_of(&case.bank);
        prop_assert_eq!(exported(&made), exported(&case.bank));
    }
}
