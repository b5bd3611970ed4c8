//! Evidence that is written only where it changed says the same as evidence written at once.
//!
//! Days of a generated crawl go in. One plan is refreshed every day, another keeps only its last
//! two refreshes, and each day a new plan starts afresh. All three must say the same of every page,
//! every kept refresh must say what it said when it was new, and `check` must find nothing.
//!
//! Catches: blocks that are not rewritten when their pages change, or that a later refresh hides
//! from an earlier one; blocks that `--keep` deletes although they are still seen, or leaves
//! behind.

use std::collections::BTreeMap;

use crate::support;
use crate::support::model::{assert_clean, request};
use crate::support::plans::{exact_cores, plan};
use seedbank::engine::{Bank, EngineError, PlanOptions, RefreshRequest, Which};
use seedbank::synth::{SynthOptions, generate};
use seedbank::watch::Unwatched;
use serde_json::Value;

const DAYS: u32 = 5;

fn refresh(bank: &Bank, plan: &str, options: &PlanOptions, keep: Option<u32>) -> u32 {
    let request = RefreshRequest {
        plan: Some(plan.to_owned()),
        options: exact_cores(options.clone()),
        keep,
        ..RefreshRequest::default()
    };
    bank.refresh(&request).unwrap().view.refresh
}

/// Both say the same, including of pages about which a refresh keeps nothing.
#[track_caller]
fn same(later: &BTreeMap<String, Value>, first: &BTreeMap<String, Value>) {
    assert_eq!(later.len(), first.len());
    for (url, wanted) in first {
        assert_eq!(&later[url], wanted, "{url}");
    }
}

/// What a refresh says of every page, without the names in it and without what is said of today.
fn answers(bank: &Bank, refresh: u32, urls: &[String]) -> BTreeMap<String, Value> {
    let which = Which {
        plan: None,
        refresh: Some(refresh),
    };
    let explainer = bank.explainer(&which).unwrap();
    let all = urls.iter().map(|url| {
        let mut answer = serde_json::to_value(explainer.page(url).unwrap()).unwrap();
        for field in ["plan", "refresh", "since", "page"] {
            answer.as_object_mut().unwrap().remove(field);
        }
        (url.clone(), answer)
    });
    all.collect()
}

fn follow_days(options: &PlanOptions) {
    let place = support::scratch();
    let crawl = place.path().join("crawl");
    let synth = SynthOptions {
        days: DAYS,
        rng_seed: 5,
        changed_per_day: 0.1,
        ..SynthOptions::new(200)
    };
    generate(&crawl, &synth, &Unwatched).unwrap();
    let bank = Bank::create(
        place.path().join("bank"),
        seedbank::ingest::Naming::default(),
    )
    .unwrap();
    let mut before: Vec<(u32, BTreeMap<String, Value>)> = Vec::new();
    let mut kept = Vec::new();
    for day in 0..=DAYS {
        let file = crawl.join(format!("day-{day:03}.jsonl.zst"));
        bank.ingest(&request(&file)).unwrap();
        let daily = refresh(&bank, "daily", options, None);
        kept.push(refresh(&bank, "kept", options, Some(2)));
        let fresh = refresh(&bank, &format!("fresh-{day}"), options, None);
        let mut urls = Vec::new();
        bank.pages::<EngineError>(|page| {
            urls.push(page.url);
            Ok(())
        })
        .unwrap();
        let wanted = answers(&bank, fresh, &urls);
        same(&answers(&bank, daily, &urls), &wanted);
        for &refresh in kept.iter().rev().take(2).skip(1) {
            // The pages that yesterday knew.
            let known: Vec<String> = before.last().unwrap().1.keys().cloned().collect();
            same(&answers(&bank, refresh, &known), &before.last().unwrap().1);
        }
        same(&answers(&bank, kept[kept.len() - 1], &urls), &wanted);
        if let Some(forgotten) = kept.iter().rev().nth(2) {
            let which = Which {
                plan: None,
                refresh: Some(*forgotten),
            };
            let error = bank.explain(&urls[0], &which).unwrap_err();
            assert!(matches!(error, EngineError::DeletedRefresh(_)), "{error}");
        }
        before.push((daily, wanted));
        assert_clean(&bank);
    }
    for (refresh, wanted) in before {
        let urls: Vec<String> = wanted.keys().cloned().collect();
        same(&answers(&bank, refresh, &urls), &wanted);
    }
}

#[test]
fn days_by_cores() {
    // Any other pick would make a plan's seeds depend on its past.
    follow_days(&plan("seeds=12 pick=best"));
}

#[test]
fn days_by_cover() {
    follow_days(&plan("method=max-weight per-site=2"));
}
