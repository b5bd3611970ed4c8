//! A refresh by cover of sites that changed follows what the last one kept of them, through a bank.
//!
//! - `days_of_a_crawl`: large sites that change every day, by each number of hops. Catches what a
//!   refresh keeps wrongly or reads wrongly of a site, and what costs as much as a run from scratch.
//! - `what_is_kept`: that of a plan's last refresh alone, whatever becomes of refreshes, plans, batches
//!   and forgotten pages.
//! - `damage_is_told`: never a wrong list.

use std::collections::BTreeSet;

use crate::cover::by;
use crate::support::banks::TestBank;
use seedbank::engine::{
    CoverMethod, EngineError, ForgetRequest, PlanOptions, RefreshReport, RefreshRequest,
};
use seedbank::synth::{SynthOptions, day_text};
use seedbank::watch::Unwatched;
use seedbank_algorithms::page::SiteId;
use seedbank_store::records::RefreshId;
use seedbank_store::{Reader, raw_entries, raw_write, tables};

fn crawl(pages: u64, sites: u32, daily: f64) -> SynthOptions {
    SynthOptions {
        days: 4,
        sites: Some(sites),
        rng_seed: 5,
        ..SynthOptions::new(pages).with_daily_share(daily)
    }
}

/// The sites of which something is kept, with the refresh that picked their seeds.
fn kept(bank: &TestBank) -> BTreeSet<(RefreshId, SiteId)> {
    let reader = Reader::open(bank.bank.path()).unwrap();
    let entries = reader.scan(&tables::KEPT_SITES).unwrap();
    let keys = entries.map(|entry| entry.unwrap().0);
    keys.map(|key| (key.refresh, key.site)).collect()
}

/// Of these, those that a refresh of a plan sees.
fn seen(bank: &TestBank, refresh: RefreshId) -> BTreeSet<(RefreshId, SiteId)> {
    let reader = Reader::open(bank.bank.path()).unwrap();
    let entries = reader.scan_under(&tables::COVERS, &refresh.to_be_bytes());
    let records = entries.unwrap().map(|entry| entry.unwrap());
    let large = records.filter(|(_, record)| record.crawled >= 256);
    large
        .map(|((_, site), record)| (record.since, site))
        .collect()
}

#[test]
fn days_of_a_crawl() {
    let crawl = crawl(4_000, 6, 0.01);
    let plans = [
        ("greedy-1", CoverMethod::Greedy, 1, 0.4),
        ("greedy-2", CoverMethod::Greedy, 2, 0.45),
        ("greedy-3", CoverMethod::Greedy, 3, 0.6),
        ("greedy-5", CoverMethod::Greedy, 5, 1.2),
        ("weight-5", CoverMethod::MaxWeight, 5, 0.7),
    ];
    let bank = TestBank::new();
    let mut costs = [(0, 0); 5];
    for day in 0..=4 {
        bank.delta(&day_text(&crawl, day).unwrap());
        for ((plan, method, hops, _), cost) in plans.into_iter().zip(&mut costs) {
            let options = PlanOptions {
                hops: Some(hops),
                ..by(method)
            };
            let report = bank.refresh(plan, &options, false);
            let cold = bank.refresh("cold", &options, true);
            assert_eq!(
                bank.bare_seeds(plan),
                bank.bare_seeds("cold"),
                "{plan} on day {day}"
            );
            if day > 0 {
                cost.0 += report.view.page_visits;
                cost.1 += cold.view.page_visits;
            }
        }
        if day == 2 {
            bank.bank.undo(false, 64 << 20, &Unwatched).unwrap();
        }
    }
    bank.is_sound();
    for ((plan, _, _, most), (followed, cold)) in plans.into_iter().zip(costs) {
        let share =
            f64::from(u32::try_from(followed).unwrap()) / f64::from(u32::try_from(cold).unwrap());
        eprintln!("{plan}: {followed} page visits of {cold}");
        assert!(share < most, "{plan}: {followed} page visits of {cold}");
    }
}

#[test]
fn what_is_kept() {
    let crawl = crawl(3_000, 6, 0.02);
    let bank = TestBank::new();
    bank.delta(&day_text(&crawl, 0).unwrap());
    let refresh = |cold: bool, keep: Option<u32>| -> RefreshReport {
        let request = RefreshRequest {
            plan: Some("p".to_owned()),
            options: by(CoverMethod::Greedy),
            cold,
            keep,
            ..RefreshRequest::default()
        };
        bank.bank.refresh(&request, &Unwatched).unwrap()
    };
    for (day, cold, keep) in [(1, false, None), (2, true, None), (3, false, Some(1))] {
        let last = refresh(cold, keep).view.refresh;
        assert_eq!(kept(&bank), seen(&bank, last));
        assert!(kept(&bank).len() > 1);
        bank.is_sound();
        bank.delta(&day_text(&crawl, day).unwrap());
    }
    let last = refresh(false, None).view.refresh;
    let before = kept(&bank);
    assert_eq!(before, seen(&bank, last));
    // By other methods nothing is kept.
    bank.refresh("other", &by(CoverMethod::MaxOut), false);
    assert_eq!(kept(&bank), before);
    let url = bank.seeds("p").remove(0);
    let request = ForgetRequest {
        what: vec![url.url.clone()],
        ..ForgetRequest::default()
    };
    bank.bank.forget(&request, &Unwatched).unwrap();
    let left = kept(&bank);
    assert_eq!(before.difference(&left).count(), 1, "{}", url.url);
    bank.is_sound();
    refresh(false, None);
    bank.refresh("cold", &by(CoverMethod::Greedy), true);
    assert_eq!(bank.bare_seeds("p"), bank.bare_seeds("cold"));
    bank.is_sound();
    for plan in ["p", "cold", "other"] {
        bank.bank.delete_plan(plan, false, &Unwatched).unwrap();
        bank.is_sound();
    }
    assert!(kept(&bank).is_empty());
}

#[test]
fn damage_is_told() {
    let crawl = crawl(1_000, 2, 0.02);
    let bank = TestBank::new();
    bank.delta(&day_text(&crawl, 0).unwrap());
    bank.refresh("p", &by(CoverMethod::Greedy), false);
    let entries = raw_entries(bank.bank.path(), "kept_sites").unwrap();
    for (key, value) in &entries {
        let mut other = value.clone();
        *other.last_mut().unwrap() ^= 1;
        let change = (key.clone(), Some(other));
        raw_write(bank.bank.path(), "kept_sites", &[change]).unwrap();
    }
    bank.delta(&day_text(&crawl, 1).unwrap());
    let request = |cold| RefreshRequest {
        plan: Some("p".to_owned()),
        cold,
        ..RefreshRequest::default()
    };
    let error = bank.bank.refresh(&request(false), &Unwatched).unwrap_err();
    assert!(matches!(error, EngineError::Ledger(_)), "{error:?}");
    assert!(bank.bank.check(&Unwatched).unwrap().live.walk.count > 0);
    // One from scratch reads nothing of it, and puts something else in its place.
    bank.bank.refresh(&request(true), &Unwatched).unwrap();
    bank.is_sound();
}
