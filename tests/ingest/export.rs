//! A bank is written as records, and another one is made of them: the same pages, links, attributes,
//! counts and seeds, and the same bytes when it is written in its turn.
//!
//! Families of cases, and what they catch:
//! * random histories of every naming: a state that no record says or that a record says otherwise
//!   (aliases, chains and circles of them, pages that are gone and known again, attributes of sites
//!   and of their pages); ids, batches or the way to a state that show in the bytes;
//! * the same batch after that, in both banks: links that were given and are not those that count;
//! * a generated crawl after some days, under plans of every kind: seeds, cores and reasons.

use std::cell::Cell;
use std::collections::BTreeMap;

use crate::support::banks::TestBank;
use crate::support::banks::seeds_of;
use crate::support::histories::{PLENTY, exported, exported_web, for_each_history, made_of, parts};
use crate::support::model::{assert_clean, digests_of, ingest, pages_of, totals_of};
use crate::support::over_web::over_web;
use crate::support::plans::exact_cores;
use seedbank::engine::export::ExportReport;
use seedbank::engine::plan::{CoverMethod, Method};
use seedbank::engine::query::{PageState, PageView};
use seedbank::engine::{Bank, PlanOptions, RefreshRequest, Which};
use seedbank::synth::{SynthOptions, day_text};
use seedbank_algorithms::cores::{Growth, Hits};
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

/// Whether the bank has pages that no page links to any more and that have no record. No export has them.
fn has_unlinked(bank: &Bank) -> bool {
    let reader = Reader::open(bank.path()).unwrap();
    let mut pages = reader.scan(&tables::PAGES).unwrap();
    pages.any(|entry| entry.unwrap().1.state == records::PageState::Unlinked)
}

/// Without what says when and in which batch or refresh something was.
fn timeless(told: Value) -> Value {
    match told {
        Value::Object(fields) => {
            let times = [
                "at",
                "batch",
                "first_seen",
                "last_seen",
                "refresh",
                "since",
                "--method",
                "cores",
                "--within",
                "0",
                "state_batch",
            ];
            let kept = fields
                .into_iter()
                .filter(|(name, _)| !times.contains(&&**name));
            Value::Object(kept.map(|(name, value)| (name, timeless(value))).collect())
        }
        Value::Array(items) => items.into_iter().map(timeless).collect(),
        other => other,
    }
}

fn plans() -> Vec<(&'static str, PlanOptions)> {
    let seeds = Some(8);
    let cover = |method| PlanOptions {
        method: Some(Method::Cover(method)),
        per_site: Some(2),
        ..PlanOptions::default()
    };
    vec![
        (
            "cores",
            PlanOptions {
                seeds,
                ..PlanOptions::default()
            },
        ),
        (
            "classic",
            PlanOptions {
                seeds,
                hits: Some(Hits::Classic),
                growth: Some(Growth::Literal),
                ..PlanOptions::default()
            },
        ),
        ("weight", cover(CoverMethod::MaxWeight)),
        ("random", cover(CoverMethod::Random)),
        ("web", over_web(CoverMethod::Greedy, 8)),
        ("web-pagerank", over_web(CoverMethod::Pagerank, 8)),
    ]
}

/// What plans without a past select, and why, as text.
fn selected(bank: &Bank, plans: Vec<(&str, PlanOptions)>, urls: &[String]) -> Vec<String> {
    let mut told = Vec::new();
    let mut tell = |plan: &str, what: Value| told.push(format!("{plan}: {}", timeless(what)));
    for (plan, options) in plans {
        let request = RefreshRequest {
            plan: Some(plan.to_owned()),
            options: exact_cores(options),
            cold: true,
            ..RefreshRequest::default()
        };
        bank.refresh(&request).unwrap();
        let which = Which {
            plan: Some(plan.to_owned()),
            refresh: None,
        };
        for seed in seeds_of(bank, &which) {
            tell(plan, serde_json::to_value(seed).unwrap());
        }
        for core in bank.cores(&which).unwrap() {
            let core = core.unwrap();
            tell(plan, serde_json::to_value(core).unwrap());
        }
        let explainer = bank.explainer(&which).unwrap();
        for url in urls {
            let why = explainer.page(url).unwrap();
            tell(plan, serde_json::to_value(why).unwrap());
        }
    }
    told
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
            for bank in [bank, &new] {
                ingest(bank, &more[0], PLENTY);
            }
            // Links to such pages are new to the new bank alone.
            if had_unlinked {
                assert_same_pages(bank, &new);
            } else {
                assert_same_state(bank, &new);
            }
        }
    });
    assert!(compared.get() > 2, "{}", compared.get());
}

#[test]
fn random_histories_give_the_same_seeds() {
    for_each_history(4, 0, |bank, _| {
        let (_folder, new) = made_of(bank);
        let few = || plans().into_iter().step_by(2).collect();
        assert_eq!(selected(bank, few(), &[]), selected(&new, few(), &[]));
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
    let ours = selected(&old.bank, plans(), &urls);
    let theirs = selected(&new, plans(), &urls);
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs);
    }
    assert_eq!(ours.len(), theirs.len());
}
