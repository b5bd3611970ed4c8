//! Failed fetches: what a record's `status` does to its page.
//!
//! * each rule by hand: every kind of status, pages of every state, snapshots, aliases, undo, forget, a record
//!   beside failed fetches in one batch;
//! * random fetches of some pages: cut into batches in the order of their times, the bank has what a model
//!   computes from the whole list, whatever the cuts; in any other order it has the same pages, links and last
//!   failures, and never counts more of them than there are.

use std::collections::BTreeMap;

use crate::dated_bank::{A, B, C, DatedBank, NOON, fetched};
use crate::support::histories::{exported, exported_web, made_of};
use crate::support::model::{assert_clean, pages_of};
use proptest::prelude::*;
use proptest::sample::Index;
use seedbank::engine::Bank;
use seedbank::engine::ingest::ForgetRequest;
use seedbank::engine::query::{Failures, PageLimits, PageState};
use seedbank::ingest::{FetchStatus, Record};

impl DatedBank {
    fn page_state(&self, url: &str) -> PageState {
        pages_of(&self.bank).remove(url).unwrap().state
    }

    fn failures(&self, url: &str) -> Option<Failures> {
        failures_of(&self.bank, url)
    }

    fn failing(&self) -> u64 {
        self.bank.status().unwrap().last_batch.unwrap().failing
    }
}

fn failures_of(bank: &Bank, url: &str) -> Option<Failures> {
    bank.page(url, PageLimits::default()).unwrap().failures
}

fn status(text: &str) -> FetchStatus {
    text.parse().unwrap()
}

fn failed(url: &str, of: &str, time: u64) -> Record {
    Record::new(url)
        .status(status(of))
        .fetched(time.to_string())
}

#[expect(clippy::unnecessary_wraps, reason = "compared with what a page has")]
fn run(of: &str, count: u32, since: u64, last: u64) -> Option<Failures> {
    Some(Failures {
        status: status(of),
        count,
        since,
        last,
    })
}

#[test]
fn a_status_says_what_became_of_the_page() {
    for (text, state, fails) in [
        ("200", PageState::Crawled, false),
        ("204", PageState::Crawled, false),
        ("304", PageState::Crawled, false),
        ("404", PageState::Gone, false),
        ("410", PageState::Gone, false),
        ("301", PageState::Known, true),
        ("403", PageState::Known, true),
        ("503", PageState::Known, true),
        ("timeout", PageState::Known, true),
        ("robots", PageState::Known, true),
    ] {
        let case = DatedBank::accepting_any_loss();
        let record = Record::new(A).status(status(text));
        let report = case.at(NOON, &[record.clone().outlinks([B]).digest("d")]);
        assert_eq!(case.page_state(A), state, "{text}");
        let failures = if fails {
            run(text, 1, NOON, NOON)
        } else {
            None
        };
        assert_eq!(case.failures(A), failures, "{text}");
        assert_eq!(
            (report.failed, case.failing()),
            (fails.into(), fails.into())
        );
        // Only a fetch that did not fail tells the links.
        let links = pages_of(&case.bank)[A].outlinks.len();
        assert_eq!(links, usize::from(state == PageState::Crawled), "{text}");

        // Alone it says the same.
        let case = DatedBank::accepting_any_loss();
        case.at(NOON, &[record]);
        assert_eq!(
            (case.page_state(A), case.failures(A)),
            (state, failures),
            "{text}"
        );
    }
    let case = DatedBank::accepting_any_loss();
    case.at(NOON, &[Record::new(A).status(status("301")).redirect(B)]);
    assert_eq!(case.page_state(A), PageState::Alias);
    // One that leads to the page itself leads nowhere.
    case.at(NOON, &[Record::new(C).status(status("302")).redirect(C)]);
    assert_eq!(
        (case.page_state(C), case.failures(C)),
        (PageState::Known, run("302", 1, NOON, NOON))
    );
}

#[test]
fn failures_are_counted_until_a_fetch_that_did_not_fail() {
    let case = DatedBank::accepting_any_loss();
    case.at(NOON, &[fetched(A, B, NOON)]);
    for (number, of) in [(1, "503"), (2, "timeout"), (3, "dns")] {
        let time = NOON + 10 * u64::from(number);
        let report = case.at(time, &[failed(A, of, time)]);
        assert_eq!((report.failed, report.stale), (1, 0));
        assert_eq!(report.counts.links_removed, 0);
        assert_eq!(case.failures(A), run(of, number, NOON + 10, time));
    }
    // The same batch again changes nothing, and counts nothing.
    let report = case.at(NOON + 30, &[failed(A, "dns", NOON + 30)]);
    assert_eq!((report.same_as, report.failed), (Some(4), 0));
    let page = pages_of(&case.bank).remove(A).unwrap();
    assert_eq!((page.state, page.fetched), (PageState::Crawled, Some(NOON)));
    assert_eq!(page.outlinks, [B]);
    // The same log again: the last failure is the same one, older ones are stale.
    let again = [
        failed(A, "503", NOON + 10),
        failed(A, "503", NOON + 30),
        fetched(A, B, NOON),
    ];
    let report = case.at(NOON + 99, &again);
    assert_eq!((report.stale, report.failed), (1, 1));
    assert_eq!(case.failures(A), run("503", 3, NOON + 10, NOON + 30));
    // News from between: at least the last one failed after it.
    case.at(NOON + 99, &[fetched(A, C, NOON + 25)]);
    assert_eq!(case.failures(A), run("503", 1, NOON + 30, NOON + 30));
    case.at(NOON + 99, &[fetched(A, C, NOON + 30)]);
    assert_eq!((case.failures(A), case.failing()), (None, 0));
    let report = case.at(NOON + 99, &[failed(A, "503", NOON + 29)]);
    assert_eq!((report.stale, report.failed), (1, 0));
    assert_eq!(case.failures(A), None);
}

#[test]
fn a_failed_fetch_keeps_the_state() {
    let case = DatedBank::accepting_any_loss();
    let page = [
        fetched(A, B, NOON),
        Record::new(C).gone().fetched(NOON.to_string()),
    ];
    case.at(NOON, &page);
    // Known only from a link, gone, and unknown until then.
    let new = "http://d.example/";
    for (url, state) in [
        (B, PageState::Known),
        (C, PageState::Gone),
        (new, PageState::Known),
    ] {
        case.at(NOON, &[failed(url, "connect", NOON + 1)]);
        assert_eq!(case.page_state(url), state, "{url}");
        assert_eq!(case.failures(url), run("connect", 1, NOON + 1, NOON + 1));
    }
    assert_eq!(case.failing(), 3);
    // An alias stays one, and what it leads to has not failed.
    case.at(
        NOON,
        &[Record::new(A).redirect(B).fetched((NOON + 2).to_string())],
    );
    case.at(NOON, &[failed(A, "tls", NOON + 3)]);
    assert_eq!((case.page_state(A), case.failing()), (PageState::Alias, 4));
    // Gone and redirected pages answered.
    for url in [A, B, C, new] {
        case.at(
            NOON,
            &[Record::new(url).gone().fetched((NOON + 9).to_string())],
        );
        assert_eq!(case.failures(url), None);
    }
    assert_eq!(case.failing(), 0);
    // Without links to it, the page is one because of its record.
    let case = DatedBank::accepting_any_loss();
    case.at(NOON, &[fetched(A, B, NOON)]);
    case.at(NOON, &[failed(B, "503", NOON)]);
    case.at(NOON, &[fetched(A, C, NOON + 1)]);
    assert_eq!(case.page_state(B), PageState::Known);
    // Attributes alone say nothing about a fetch.
    case.at(NOON + 9, &[Record::new(B).clicks(3)]);
    assert_eq!(case.failures(B), run("503", 1, NOON, NOON));
}

#[test]
fn a_snapshot_needs_an_answer_or_a_failure() {
    let case = DatedBank::accepting_any_loss();
    case.at(
        NOON,
        &[
            fetched(A, B, NOON),
            fetched(B, A, NOON),
            fetched(C, A, NOON),
        ],
    );
    case.at(
        NOON,
        &[failed(B, "503", NOON + 1), failed(C, "503", NOON + 9)],
    );
    case.ingest(NOON + 5, true, &[failed(A, "timeout", NOON + 2)]);
    // A page with a failed fetch is not omitted; one that is omitted is gone.
    assert_eq!(
        (case.page_state(A), case.failures(A)),
        (PageState::Crawled, run("timeout", 1, NOON + 2, NOON + 2))
    );
    assert_eq!(
        (case.page_state(B), case.failures(B)),
        (PageState::Gone, None)
    );
    // This failed after the snapshot.
    assert_eq!(
        (case.page_state(C), case.failures(C)),
        (PageState::Gone, run("503", 1, NOON + 9, NOON + 9))
    );
}

#[test]
fn an_undone_batch_leaves_no_failures_and_a_forgotten_page_none() {
    let case = DatedBank::accepting_any_loss();
    case.at(NOON, &[fetched(A, B, NOON), fetched(C, A, NOON)]);
    case.at(NOON, &[failed(A, "503", NOON + 1)]);
    let before = exported(&case.bank);
    case.at(
        NOON,
        &[
            fetched(A, C, NOON + 2),
            failed(B, "dns", NOON + 2),
            failed(C, "dns", NOON + 2),
        ],
    );
    case.bank.undo(false, 64 << 20).unwrap();
    assert_clean(&case.bank);
    assert_eq!(exported(&case.bank), before);
    assert_eq!(
        (case.failures(A), case.failing()),
        (run("503", 1, NOON + 1, NOON + 1), 1)
    );
    let request = ForgetRequest {
        what: vec![A.to_owned()],
        ..ForgetRequest::default()
    };
    case.bank.forget(&request).unwrap();
    assert_clean(&case.bank);
    assert_eq!(case.failing(), 0);
    // The first batch of a bank, with failures alone.
    let case = DatedBank::accepting_any_loss();
    case.at(NOON, &[failed(A, "503", NOON)]);
    case.bank.undo(false, 64 << 20).unwrap();
    assert_clean(&case.bank);
    assert_eq!(case.failing(), 0);
}

#[test]
fn failures_and_a_record_in_one_batch_both_count() {
    let batch = [
        failed(A, "503", NOON + 1),
        failed(A, "timeout", NOON + 3),
        fetched(A, B, NOON + 2),
        failed(A, "dns", NOON + 4),
        // The same second is the same fetch.
        failed(A, "502", NOON + 4),
        // A fetch that did not fail at the same second counts.
        failed(B, "503", NOON),
        fetched(B, A, NOON),
    ];
    let case = DatedBank::accepting_any_loss();
    let report = case.at(NOON, &batch);
    assert_eq!((report.failed, report.stale), (1, 0));
    assert_eq!(case.failures(A), run("502", 2, NOON + 3, NOON + 4));
    assert_eq!(
        (case.page_state(A), case.failures(B)),
        (PageState::Crawled, None)
    );
    // Without times all are of the time of the batch.
    let case = DatedBank::accepting_any_loss();
    let undated = Record::new(A).status(status("503"));
    case.at(
        NOON,
        &[
            undated.clone(),
            undated.clone(),
            Record::new(A).outlinks([B]),
        ],
    );
    assert_eq!(
        (case.page_state(A), case.failures(A)),
        (PageState::Crawled, None)
    );
    case.at(NOON + 1, &[undated.clone(), undated]);
    assert_eq!(case.failures(A), run("503", 1, NOON + 1, NOON + 1));
}

#[test]
fn an_export_has_the_failures_and_a_bank_made_of_it_too() {
    let case = DatedBank::accepting_any_loss();
    let at = |time: u64| time.to_string();
    case.at(
        NOON,
        &[
            fetched(A, B, NOON).failures(3, status("503"), at(NOON + 5), at(NOON + 7)),
            Record::new(B).failures(1, status("robots"), at(NOON + 1), at(NOON + 1)),
            Record::new(C).gone().fetched(at(NOON)).failures(
                2,
                status("dns"),
                at(NOON + 3),
                at(NOON + 4),
            ),
            Record::new("http://d.example/")
                .redirect(A)
                .fetched(at(NOON))
                .failures(2, status("403"), at(NOON + 3), at(NOON + 4)),
        ],
    );
    assert_eq!(case.failures(A), run("503", 3, NOON + 5, NOON + 7));
    assert_eq!(
        (case.page_state(B), case.failures(B)),
        (PageState::Known, run("robots", 1, NOON + 1, NOON + 1))
    );
    assert_eq!((case.page_state(C), case.failing()), (PageState::Gone, 4));
    let (_folder, other) = made_of(&case.bank);
    assert_clean(&other);
    assert_eq!(exported(&other), exported(&case.bank));
    assert_eq!(failures_of(&other, A), case.failures(A));
}

/// A fetch of a page: whether it failed, and the link that it found otherwise.
#[derive(Clone, Copy, Debug)]
struct Fetch {
    page: usize,
    time: u64,
    failed: Option<u16>,
    to: usize,
}

const PAGES: usize = 4;

fn url(page: usize) -> String {
    format!("http://{}.example/", ["a", "b", "c", "d"][page])
}

fn record(fetch: Fetch) -> Record {
    let record = Record::new(url(fetch.page)).fetched((NOON + fetch.time).to_string());
    match fetch.failed {
        Some(code) => record.status(FetchStatus::http(code).unwrap()),
        None => record.outlinks([url(fetch.to)]),
    }
}

/// The failures of each page that the whole list implies.
fn expected(fetches: &[Fetch]) -> BTreeMap<String, Failures> {
    let mut expected = BTreeMap::new();
    for page in 0..PAGES {
        let of_page = || fetches.iter().filter(move |fetch| fetch.page == page);
        let answered = of_page().filter(|fetch| fetch.failed.is_none());
        let answered = answered.map(|fetch| fetch.time).max();
        let failed: BTreeMap<u64, u16> = of_page()
            .filter(|fetch| Some(fetch.time) > answered)
            .map(|fetch| (fetch.time, fetch.failed.unwrap()))
            .collect();
        if let (Some((since, _)), Some((last, code))) =
            (failed.first_key_value(), failed.last_key_value())
        {
            let failures = Failures {
                status: FetchStatus::http(*code).unwrap(),
                count: u32::try_from(failed.len()).unwrap(),
                since: NOON + since,
                last: NOON + last,
            };
            expected.insert(url(page), failures);
        }
    }
    expected
}

fn found(bank: &Bank) -> BTreeMap<String, Failures> {
    let pages = pages_of(bank);
    let failures = pages
        .keys()
        .filter_map(|url| Some((url.clone(), failures_of(bank, url)?)));
    failures.collect()
}

fn fetches() -> impl Strategy<Value = Vec<Fetch>> {
    let fetch = (0..PAGES, 0..PAGES, prop::option::of(500_u16..504));
    // Every fetch has a second of its own.
    prop::collection::vec(fetch, 1..24).prop_map(|fetches| {
        let fetches = fetches.into_iter().zip(0..);
        let fetch = |((page, to, failed), time)| Fetch {
            page,
            time,
            failed,
            to,
        };
        fetches.map(fetch).collect()
    })
}

fn ingest_in_batches(fetches: &[Fetch], cuts: &[Index]) -> DatedBank {
    let case = DatedBank::accepting_any_loss();
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(fetches.len())).collect();
    cuts.extend([0, fetches.len()]);
    cuts.sort_unstable();
    cuts.dedup();
    for part in cuts.windows(2) {
        let records: Vec<Record> = fetches[part[0]..part[1]]
            .iter()
            .copied()
            .map(record)
            .collect();
        case.at(NOON + 100, &records);
    }
    case
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::support::cases(10)))]

    #[test]
    fn any_division_in_the_order_of_time_gives_the_same_bank(
        fetches in fetches(),
        cuts in prop::collection::vec(any::<Index>(), 0..6),
    ) {
        let case = ingest_in_batches(&fetches, &cuts);
        prop_assert_eq!(found(&case.bank), expected(&fetches));
        let whole = ingest_in_batches(&fetches, &[]);
        prop_assert_eq!(exported_web(&case.bank), exported_web(&whole.bank));
    }

    #[test]
    fn in_any_order_no_failure_is_counted_that_is_none(
        (fetches, shuffled) in fetches().prop_flat_map(|fetches| {
            (Just(fetches.clone()), Just(fetches).prop_shuffle())
        }),
        cuts in prop::collection::vec(any::<Index>(), 0..6),
    ) {
        let case = ingest_in_batches(&shuffled, &cuts);
        let whole = ingest_in_batches(&fetches, &[]);
        let (found, expected) = (found(&case.bank), expected(&fetches));
        prop_assert!(found.keys().eq(expected.keys()), "{:?} {:?}", found, expected);
        for (url, failures) in found {
            let all = expected[&url];
            prop_assert_eq!((failures.status, failures.last), (all.status, all.last));
            prop_assert!((1..=all.count).contains(&failures.count));
            prop_assert!(failures.since >= all.since);
        }
        for (url, page) in pages_of(&whole.bank) {
            let other = pages_of(&case.bank).remove(&url).unwrap();
            prop_assert_eq!((page.state, page.fetched), (other.state, other.fetched));
            prop_assert_eq!(page.outlinks, other.outlinks);
        }
    }
}
