//! A bank is written as records, and another one is made of them: the same pages, links, attributes,
//! counts and seeds, and the same bytes when it is written in its turn.
//!
//! Families of cases, and what they catch:
//! * random histories of every naming: a state that no record expresses, or that one expresses wrongly
//!   (aliases, chains and circles of them, pages that are gone and known again, attributes of sites
//!   and of their pages); ids, batches or the way to a state that show in the bytes;
//! * the same batch after that, in both banks: links as recorded that are not those that count;
//! * a generated crawl after some days, under plans of every kind: seeds, cores and reasons.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use crate::support::banks::{TestBank, cores_of, seeds_of};
use crate::support::histories::{
    PLENTY, exported, exported_web, for_each_history, made_of, parts, without_sums,
};
use crate::support::model::{assert_clean, digests_of, ingest, pages_of, totals_of};
use crate::support::plans::{exact_cores, plan};
use seedbank::engine::export::ExportReport;
use seedbank::engine::query::{PageState, PageView};
use seedbank::engine::{Bank, RefreshRequest};
use seedbank::ingest::{SiteMode, url as ingest_url};
use seedbank::synth::{SynthOptions, day_text};
use seedbank_store::{Reader, records, tables};
use serde_json::Value;

/// All pages by URL; without what their records cannot say: attributes of gone ones, and when known
/// ones were fetched before they were gone.
fn live_pages_of(bank: &Bank) -> BTreeMap<String, PageView> {
    let mut pages = pages_of(bank);
    for page in pages.values_mut() {
        if page.state == PageState::Gone {
            (page.clicks, page.spam, page.quality) = (0, false, None);
            (page.uncrawled_outlinks, page.uncrawled_given) = (0, false);
        }
        if page.state == PageState::Known {
            page.fetched = None;
        }
    }
    pages
}

/// Returns what an export says of the state.
#[track_caller]
fn assert_same_state(one: &Bank, other: &Bank) -> ExportReport {
    let (records, sites, report) = parts(one);
    assert_eq!(exported(other), [records, sites].concat());
    assert_same_pages(one, other);
    report
}

#[track_caller]
fn assert_same_pages(one: &Bank, other: &Bank) {
    assert_eq!(exported_web(one), exported_web(other));
    assert_eq!(live_pages_of(one), live_pages_of(other));
    assert_eq!(totals_of(one), totals_of(other));
    assert_eq!(digests_of(one), digests_of(other));
}

/// Whether the bank has pages without records that no page links to any more; no export has them.
fn has_unlinked(bank: &Bank) -> bool {
    let reader = Reader::open(bank.path()).unwrap();
    let mut pages = reader.scan(&tables::PAGES).unwrap();
    pages.any(|entry| entry.unwrap().1.state == records::PageState::Unlinked)
}

/// The URLs of pages whose last fetch has the time of its batch. A log of the same day completes such a fetch, but is a fetch of
/// its own in a bank that is made of an export, which states the time.
fn undated(bank: &Bank, mode: SiteMode) -> BTreeSet<String> {
    let reader = Reader::open(bank.path()).unwrap();
    let undated = (records::PageField::Undated, 0);
    let pages = reader.scan(&tables::PAGES).unwrap().map(Result::unwrap);
    let pages = pages.filter(|(_, page)| page.earlier.contains(&undated));
    pages
        .map(|(id, page)| {
            let site = reader.need(&tables::SITES, &id.site()).unwrap();
            ingest_url(&site.name, &page.local, mode)
        })
        .collect()
}

/// Without what says when and in which batch or refresh something was.
fn timeless(answer: Value) -> Value {
    const TIMES: [&str; 7] = [
        "at",
        "batch",
        "first_seen",
        "last_seen",
        "refresh",
        "since",
        "state_batch",
    ];
    match answer {
        Value::Object(fields) => {
            let fields = fields.into_iter();
            let others = fields.filter(|(name, _)| !TIMES.contains(&&**name));
            Value::Object(
                others
                    .map(|(name, value)| (name, timeless(value)))
                    .collect(),
            )
        }
        Value::Array(items) => items.into_iter().map(timeless).collect(),
        other => other,
    }
}

const PLANS: [(&str, &str); 6] = [
    ("cores", "seeds=8"),
    ("classic", "seeds=8 hits=classic growth=literal"),
    ("weight", "method=max-weight per-site=2"),
    ("random", "method=random per-site=2"),
    ("web", "method=greedy scope=web seeds=8"),
    ("web-pagerank", "method=pagerank scope=web seeds=8"),
];

/// What plans without earlier refreshes select, and why, as text.
fn selected(bank: &Bank, step: usize, urls: &[String]) -> Vec<String> {
    fn text(plan: &str, answer: impl serde::Serialize) -> String {
        format!(
            "{plan}: {}",
            timeless(serde_json::to_value(answer).unwrap())
        )
    }
    let mut all = Vec::new();
    for (name, parameters) in PLANS.into_iter().step_by(step) {
        let request = RefreshRequest {
            plan: Some(name.to_owned()),
            options: exact_cores(plan(parameters)),
            cold: true,
            ..RefreshRequest::default()
        };
        bank.refresh(&request).unwrap();
        all.extend(seeds_of(bank, name).iter().map(|seed| text(name, seed)));
        all.extend(cores_of(bank, name).iter().map(|core| text(name, core)));
        let explainer = bank.explainer(name).unwrap();
        all.extend(
            urls.iter()
                .map(|url| text(name, explainer.page(url).unwrap())),
        );
    }
    all
}

#[test]
fn random_histories_come_back() {
    let compared = Cell::new(0);
    for_each_history(8, 1, |bank, more| {
        let (_folder, new) = made_of(bank);
        let report = assert_same_state(bank, &new);
        assert_clean(&new);
        // Records cannot say what gone pages had, which is there again when the pages are.
        if report.dropped_attributes == 0 {
            compared.set(compared.get() + 1);
            let had_unlinked = has_unlinked(bank);
            let undated = undated(bank, report.naming().sites);
            for bank in [bank, &new] {
                ingest(bank, &more[0], PLENTY);
            }
            assert_same_pages(bank, &new);
            // Links to such pages are new to the new bank alone.
            if !had_unlinked {
                let dated = |bank: &Bank| {
                    let records = String::from_utf8(exported(bank)).unwrap();
                    without_sums(&records, |url| undated.contains(url))
                };
                assert_eq!(dated(bank), dated(&new));
            }
        }
    });
    assert!(compared.get() > 2, "{}", compared.get());
}

#[test]
fn random_histories_give_the_same_seeds() {
    for_each_history(3, 0, |bank, _| {
        let (_folder, new) = made_of(bank);
        assert_eq!(selected(bank, 2, &[]), selected(&new, 2, &[]));
    });
}

#[test]
fn days_of_a_crawl_come_back() {
    let crawl = SynthOptions {
        days: 3,
        rng_seed: 3,
        ..SynthOptions::new(300)
    };
    let old = TestBank::new();
    for day in 0..=3 {
        old.delta(&day_text(&crawl, day).unwrap());
    }
    let (_folder, new) = made_of(&old.bank);
    assert_same_state(&old.bank, &new);
    assert_clean(&new);
    let urls: Vec<String> = pages_of(&new).into_keys().step_by(97).collect();
    let ours = selected(&old.bank, 1, &urls);
    let theirs = selected(&new, 1, &urls);
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs);
    }
    assert_eq!(ours.len(), theirs.len());
}
