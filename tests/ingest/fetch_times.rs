//! An older fetch never overwrites a newer one.
//!
//! * each rule by hand: records, lists, attributes, pages that are gone, aliases, snapshots, undo,
//!   forget, the list of skipped records;
//! * batches with a time for every record, in any order: the same bank, as an export has it, and the
//!   same as all in one batch.

use std::fs;

use crate::dated_bank::{A, B, C, DatedBank, NOON, fetched};
use crate::support::histories::{exported, exported_web, made_of};
use crate::support::model::{assert_clean, pages_of};
use proptest::prelude::*;
use seedbank::engine::ingest::ForgetRequest;
use seedbank::engine::ingest::Format;
use seedbank::engine::query::{PageLimits, PageState, PageView};
use seedbank::engine::{IngestReport, IngestRequest};
use seedbank::ingest::{Input, Record};
use serde_json::Value;

const D: &str = "http://d.example/";

impl DatedBank {
    fn snapshot(&self, as_of: u64, records: &[Record]) -> IngestReport {
        self.ingest(as_of, true, records)
    }

    fn page(&self, url: &str) -> Option<PageView> {
        pages_of(&self.bank).remove(url)
    }

    /// The state of a page and the time of its last fetch.
    fn state(&self, url: &str) -> (PageState, Option<u64>) {
        let page = self.page(url).unwrap();
        let facts = self.bank.page(url, PageLimits::default()).unwrap();
        assert_eq!((facts.state, facts.fetched), (page.state, page.fetched));
        (page.state, page.fetched)
    }

    fn outlinks(&self, url: &str) -> Vec<String> {
        self.page(url).unwrap().outlinks
    }
}

fn undated(url: &str, to: &str) -> Record {
    Record::new(url).outlinks([to])
}

#[test]
fn an_older_record_is_skipped() {
    let case = DatedBank::new();
    case.at(NOON, &[fetched(A, B, NOON - 10)]);
    assert_eq!(case.state(A), (PageState::Crawled, Some(NOON - 10)));

    let report = case.at(NOON, &[fetched(A, C, NOON - 11).clicks(7)]);
    assert_eq!((report.stale, report.batch), (1, Some(2)));
    assert_eq!((report.counts.changed, report.counts.new_pages), (0, 0));
    assert_eq!(case.outlinks(A), [B]);
    assert_eq!(case.page(A).unwrap().clicks, 0, "skipped as a whole");
    assert_eq!(case.page(C), None, "only the skipped record names it");
    assert_eq!(case.bank.history().unwrap().batches[1].record.stale, 1);
    assert_eq!(case.bank.status().unwrap().last_batch.unwrap().stale, 1);

    // At the same second, the later batch counts.
    let report = case.at(NOON, &[fetched(A, C, NOON - 10)]);
    assert_eq!((report.stale, case.outlinks(A)), (0, vec![C.to_owned()]));
    // A page that a skipped record named first can be linked to later.
    assert_eq!(case.state(C), (PageState::Known, None));
    case.at(NOON, &[fetched(A, D, NOON)]);
    assert_eq!(case.state(A).1, Some(NOON));
}

/// The same at another time changes nothing for readers.
#[test]
fn a_page_that_was_fetched_again_has_not_changed() {
    let case = DatedBank::new();
    case.at(NOON, &[fetched(A, B, NOON)]);
    let report = case.at(NOON, &[fetched(A, B, NOON + 5)]);
    assert_eq!((report.batch, report.counts.changed), (Some(2), 0));
    assert_eq!(case.state(A).1, Some(NOON + 5));
}

#[test]
fn records_without_a_time_count_as_fetched_at_that_of_the_batch() {
    let case = DatedBank::new();
    case.at(NOON, &[undated(A, B), Record::new(B).digest("b")]);
    assert_eq!(case.state(A).1, Some(NOON));
    assert_eq!(case.state(B), (PageState::Crawled, Some(NOON)));
    assert_eq!(case.at(NOON - 1, &[undated(A, C)]).stale, 1);
    assert_eq!(case.at(NOON, &[fetched(A, C, NOON - 1)]).stale, 1);
    assert_eq!(case.at(NOON + 1, &[undated(A, C)]).stale, 0);
    assert_eq!(case.outlinks(A), [C]);

    // Without a given time it is that of the ingest.
    let before = seconds_now();
    let request = IngestRequest::default();
    let records = [undated(A, D)];
    case.bank.ingest_records(&request, records).unwrap();
    let time = case.state(A).1.unwrap();
    assert!((before..=seconds_now()).contains(&time), "{time}");
}

fn seconds_now() -> u64 {
    std::time::UNIX_EPOCH.elapsed().unwrap().as_secs()
}

#[test]
fn attributes_alone_apply_at_any_time() {
    let case = DatedBank::new();
    case.at(NOON, &[undated(A, B)]);
    let report = case.at(7, &[Record::new(A).clicks(3), Record::new(B).spam(true)]);
    assert_eq!(report.stale, 0);
    let page = case.page(A).unwrap();
    assert_eq!((page.clicks, page.fetched), (3, Some(NOON)));
    assert_eq!(case.state(B), (PageState::Known, None));
}

#[test]
fn lists_of_links_have_the_time_of_their_batch() {
    let case = DatedBank::new();
    case.at(NOON, &[undated(A, B)]);
    let file = case.bank.path().with_extension("tsv");
    fs::write(&file, format!("{A}\t{C}\n{D}\t{A}\n")).unwrap();
    let links = |as_of| {
        let request = IngestRequest {
            inputs: vec![Input::named(file.clone())],
            format: Format::Links { pages: None },
            as_of: Some(as_of),
            ..IngestRequest::default()
        };
        case.bank.ingest(&request).unwrap()
    };
    assert_eq!(links(NOON - 1).stale, 1);
    assert_eq!(case.outlinks(A), [B]);
    assert_eq!(case.state(D), (PageState::Crawled, Some(NOON - 1)));
    // With the same time it is the same batch, with another one it is not.
    assert_eq!(links(NOON - 1).same_as, Some(2));
    assert_eq!(links(NOON).batch, Some(3));
    assert_eq!(case.outlinks(A), [C]);
    assert_eq!(links(NOON - 1).same_as, Some(2));
}

#[test]
fn pages_that_are_gone_obey_their_time() {
    let case = DatedBank::new();
    case.at(NOON, &[fetched(A, B, NOON), fetched(B, A, NOON)]);
    let gone = |time: u64| Record::new(A).gone().fetched(time.to_string());
    assert_eq!(case.at(NOON, &[gone(NOON - 1)]).stale, 1);
    assert_eq!(case.state(A).0, PageState::Crawled);
    assert_eq!(case.at(NOON - 1, &[Record::new(B).gone()]).stale, 1);
    case.at(NOON + 2, &[gone(NOON + 1), Record::new(B).gone()]);
    assert_eq!(case.state(A), (PageState::Gone, Some(NOON + 1)));
    assert_eq!(case.state(B), (PageState::Gone, Some(NOON + 2)));
    assert_eq!(case.at(NOON, &[fetched(A, B, NOON)]).stale, 1);
    case.at(NOON, &[fetched(A, B, NOON + 3)]);
    assert_eq!(case.state(A).0, PageState::Crawled);
}

#[test]
fn aliases_obey_their_time() {
    let case = DatedBank::new();
    let redirect = |to: &str, time: u64| Record::new(A).redirect(to).fetched(time.to_string());
    case.at(NOON, &[fetched(D, A, NOON), redirect(B, NOON)]);
    assert_eq!(case.outlinks(D), [B]);
    // Neither another target nor an end of the alias.
    assert_eq!(case.at(NOON, &[redirect(C, NOON - 1)]).stale, 1);
    assert_eq!(case.at(NOON, &[fetched(A, C, NOON - 1)]).stale, 1);
    assert_eq!(case.state(A), (PageState::Alias, Some(NOON)));
    assert_eq!(case.outlinks(D), [B]);
    // A stale record of a page that links to an alias which changes.
    let report = case.at(NOON, &[redirect(C, NOON + 1), fetched(D, B, NOON - 1)]);
    assert_eq!((report.stale, report.aliases.became), (1, 0));
    assert_eq!(case.outlinks(D), [C]);
    // An alias that ends, and one that begins too late.
    case.at(NOON, &[fetched(A, B, NOON + 2)]);
    assert_eq!(case.outlinks(D), [A]);
    assert_eq!(case.at(NOON, &[redirect(C, NOON + 1)]).stale, 1);
    assert_eq!(case.state(A).0, PageState::Crawled);
    assert_eq!(case.outlinks(D), [A]);
}

#[test]
fn a_snapshot_says_nothing_of_what_was_fetched_after_it() {
    let case = DatedBank::new();
    let redirect = |url: &str, to: &str| Record::new(url).redirect(to);
    case.at(NOON, &[undated(A, B), undated(C, "http://e.example/")]);
    let later = [
        undated(D, "http://f.example/"),
        redirect("http://f.example/", B),
    ];
    case.at(NOON + 5, &later);
    assert_eq!(case.outlinks(D), [B]);
    // C was last fetched before, D after it; its record of F is stale, and B becomes an alias.
    let records = [
        undated(A, B),
        undated("http://f.example/", C),
        redirect(B, A),
    ];
    let report = case.snapshot(NOON + 1, &records);
    assert_eq!((report.stale, report.counts.became_gone), (1, 1));
    assert_eq!(case.state(C), (PageState::Gone, Some(NOON)));
    assert_eq!(case.state(D), (PageState::Crawled, Some(NOON + 5)));
    // The links of D follow the new alias, although the snapshot omits it.
    assert_eq!(case.outlinks(D), [A]);
    // A snapshot with the page that was omitted brings it back, with the same fetch.
    let report = case.snapshot(NOON + 6, &[fetched(C, A, NOON), undated(D, A)]);
    assert_eq!(report.stale, 0);
    assert_eq!(case.state(C), (PageState::Crawled, Some(NOON)));
    assert_eq!(case.state(A).0, PageState::Gone);
    // An alias that the snapshot omits ends, unless it was fetched later.
    case.at(NOON + 9, &[redirect(A, D)]);
    case.snapshot(NOON + 8, &[undated(D, C)]);
    assert_eq!(case.state(A), (PageState::Alias, Some(NOON + 9)));
    case.snapshot(NOON + 9, &[undated(D, C)]);
    assert_eq!(case.state(A).0, PageState::Gone);
}

#[test]
fn undo_and_forget_take_the_time_with_them() {
    let case = DatedBank::new();
    case.at(NOON, &[fetched(A, B, NOON), fetched(B, A, NOON)]);
    let before = exported(&case.bank);
    case.at(NOON, &[fetched(A, C, NOON + 5), fetched(C, A, NOON + 5)]);
    case.bank.undo(false, 64 << 20).unwrap();
    assert_eq!(exported(&case.bank), before);
    assert_eq!(case.at(NOON, &[fetched(A, C, NOON + 1)]).stale, 0);
    assert_eq!(case.at(NOON, &[fetched(C, A, NOON + 1)]).stale, 0);

    let request = ForgetRequest {
        what: vec![A.to_owned()],
        ..ForgetRequest::default()
    };
    case.bank.forget(&request).unwrap();
    assert_clean(&case.bank);
    // The pages that linked to it were not fetched, and it may come back as it was.
    assert_eq!(case.state(B), (PageState::Crawled, Some(NOON)));
    assert_eq!(case.at(NOON, &[fetched(A, C, 7)]).stale, 0);
}

#[test]
fn the_time_goes_there_and_back() {
    let case = DatedBank::new();
    let gone = Record::new(C).gone();
    case.at(NOON, &[fetched(A, B, NOON - 7), undated(B, A), gone]);
    case.at(NOON, &[Record::new(D).redirect(A).fetched("1969-12-31")]);
    let (_folder, new) = made_of(&case.bank);
    assert_eq!(pages_of(&new), pages_of(&case.bank));
    assert_eq!(exported(&new), exported(&case.bank));
    let text = String::from_utf8(exported(&new)).unwrap();
    let times: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["fetched"].clone())
        .collect();
    let noon = "2026-11-19T11:00:00Z";
    assert_eq!(
        times,
        ["2026-11-19T10:59:53Z", noon, noon, "1970-01-01T00:00:00Z"]
    );
}

#[test]
fn stale_records_are_listed_with_the_bad_ones() {
    let case = DatedBank::new();
    case.at(NOON, &[fetched(A, B, NOON), fetched(B, A, NOON)]);
    let bad = Record::new("nowhere").clicks(1);
    let records = [
        fetched(A, C, NOON - 61),
        bad,
        fetched(B, C, 0),
        undated(C, A),
    ];
    let request = IngestRequest {
        max_rejects: 50.0,
        as_of: Some(NOON),
        ..IngestRequest::default()
    };
    for dry_run in [true, false] {
        let request = IngestRequest {
            dry_run,
            ..request.clone()
        };
        let report = case.bank.ingest_records(&request, records.clone());
        let report = report.unwrap();
        assert_eq!((report.stale, report.read.rejected()), (2, 1));
        assert_eq!(report.rejects_listed, 1);
        let list = fs::read_to_string(report.rejects_file.unwrap()).unwrap();
        let lines: Vec<Value> = list
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[0]["reason"], "relative_url");
        let stale = |url: &str, time: &str| {
            serde_json::json!({"url": url, "reason": "stale", "fetched": time,
                "page_fetched": "2026-11-19T11:00:00Z"})
        };
        assert_eq!(lines[1], stale(A, "2026-11-19T10:58:59Z"));
        assert_eq!(lines[2], stale(B, "1970-01-01T00:00:00Z"));
    }
    assert_eq!(case.state(C), (PageState::Crawled, Some(NOON)));
}

/// What a record says of its page.
#[derive(Clone, Debug)]
enum News {
    Links(Vec<usize>),
    Alias(usize),
    Gone,
}

fn url(page: usize) -> String {
    format!("http://s{}.example/{page}", page % 3)
}

/// A record with a time and, unless the page is gone, with every attribute.
fn record(page: usize, news: &News, time: u64) -> Record {
    let record = Record::new(url(page)).fetched(time.to_string());
    let number = time % 5;
    let record = match news {
        News::Gone => return record.gone(),
        // A page is no alias of itself.
        News::Alias(to) => record.redirect(url(if *to == page { 9 } else { *to })),
        News::Links(to) => record.outlinks(to.iter().map(|to| url(*to))),
    };
    record
        .clicks(number)
        .spam(number == 1)
        .uncrawled_outlinks(number)
        .quality(0.25)
        .digest(format!("digest {number}"))
}

fn news() -> impl Strategy<Value = News> {
    prop_oneof![
        5 => proptest::collection::vec(0..9_usize, 0..4).prop_map(News::Links),
        2 => (0..9_usize).prop_map(News::Alias),
        1 => Just(News::Gone),
    ]
}

/// Records with distinct times, in several batches, and the batches in another order.
fn batches() -> impl Strategy<Value = (Vec<Vec<Record>>, Vec<Vec<Record>>)> {
    proptest::collection::vec((0..9_usize, news(), 0..5_usize), 1..40).prop_flat_map(|all| {
        let mut batches = vec![Vec::new(); 5];
        for (time, (page, news, batch)) in (NOON..).zip(all) {
            batches[batch].push(record(page, &news, time));
        }
        batches.retain(|batch| !batch.is_empty());
        (Just(batches.clone()), Just(batches).prop_shuffle())
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: crate::support::cases(10),
        max_shrink_iters: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_order_of_batches_changes_nothing((batches, shuffled) in batches()) {
        let exports = [batches.clone(), shuffled, vec![batches.concat()]].map(|batches| {
            let case = DatedBank::new();
            for (time, records) in (7..).zip(&batches) {
                case.at(time, records);
            }
            exported_web(&case.bank)
        });
        prop_assert_eq!(&exports[0], &exports[1]);
        prop_assert_eq!(&exports[0], &exports[2]);
    }
}
