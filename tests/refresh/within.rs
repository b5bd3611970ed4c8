//! Refreshes within a bound, through a bank: what the next refresh starts from, and when it starts
//! from scratch. `cores/within_tests.rs` checks the bound of each step on random histories.

use std::fmt::Write;

use crate::support::banks::TestBank;
use crate::support::banks::cores_of;
use crate::support::days::friendlinks;
use crate::support::{gunzip, shared};
use seedbank::engine::query::CoreView;
use seedbank::engine::refresh::StepsView;
use seedbank::engine::{PlanOptions, RefreshReport, Which};
use seedbank::synth::{SynthOptions, day_text};
use seedbank_algorithms::cores::{Hits, Pick};

fn within(percent: &str) -> PlanOptions {
    PlanOptions {
        seeds: Some(40),
        within: Some(percent.parse().unwrap()),
        ..PlanOptions::default()
    }
}

fn crawl(rng_seed: u64) -> SynthOptions {
    SynthOptions {
        days: 4,
        sites: Some(300),
        born_per_day: 0.001,
        changed_per_day: 0.005,
        gone_per_day: 0.0005,
        rng_seed,
        ..SynthOptions::new(2_000)
    }
}

fn cores(bank: &TestBank, report: &RefreshReport) -> Vec<CoreView> {
    let which = Which {
        refresh: Some(report.view.refresh),
        ..Which::default()
    };

    cores_of(&bank.bank, &which)
}

fn steps(report: &RefreshReport) -> StepsView {
    report.steps.unwrap()
}

/// Every core lies within the reported bound.
fn holds(bank: &TestBank, report: &RefreshReport, share: f64) {
    assert!(
        report.view.uncertified_reason.is_none(),
        "{:?}",
        report.view.uncertified_reason
    );
    let cores = cores(bank, report);
    assert_eq!(cores.len(), report.view.cores as usize);
    for core in cores {
        let bound = core.sigma_bound.unwrap();
        assert!(
            core.sigma <= bound && core.sigma >= (1.0 - share) * bound,
            "{core:?}"
        );
    }
}

#[test]
fn days_of_a_crawl_keep_their_cores() {
    let bank = TestBank::new();
    bank.delta(&day_text(&crawl(3), 0).unwrap());
    let first = bank.refresh("near", &within("1"), false);
    assert!(first.view.cold && steps(&first).computed == 40);
    for day in 1..=4 {
        bank.delta(&day_text(&crawl(3), day).unwrap());
        let again = bank.refresh("near", &within("1"), false);
        holds(&bank, &again, 0.01);
        assert!(!again.view.cold);
        let StepsView {
            computed,
            bound_recomputed,
            ..
        } = steps(&again);
        assert_eq!(
            again.view.steps_recomputed,
            u64::from(computed + bound_recomputed)
        );
        assert_eq!(again.view.steps_reused + again.view.steps_recomputed, 40);
    }
    bank.is_sound();
}

#[test]
fn nothing_is_computed_where_nothing_has_changed() {
    let bank = TestBank::new();
    bank.delta(&day_text(&crawl(4), 0).unwrap());
    let first = bank.refresh("near", &within("1"), false);
    let again = bank.refresh("near", &within("1"), false);
    assert_eq!((again.view.steps_reused, again.view.cold), (40, false));
    assert!(again.view.link_visits < first.view.link_visits / 2);
    let pages = |report: &RefreshReport| -> Vec<(String, Vec<String>, String)> {
        let cores = cores(&bank, report).into_iter();
        cores
            .map(|core| (core.seed, core.hubs, core.sides))
            .collect()
    };
    assert_eq!(pages(&first), pages(&again));
    bank.is_sound();
}

/// Another share, another parameter and `--cold` begin anew; the number of seeds and the pick do not.
#[test]
fn what_begins_anew() {
    let bank = TestBank::new();
    bank.delta(&day_text(&crawl(5), 0).unwrap());
    bank.refresh("near", &within("1"), false);
    let fewer = PlanOptions {
        seeds: Some(30),
        pick: Some(Pick::Stable),
        ..within("1")
    };
    assert!(!bank.refresh("near", &fewer, false).view.cold);
    assert!(bank.refresh("near", &fewer, true).view.cold);
    assert!(bank.refresh("near", &within("2"), false).view.cold);
    let sparse = PlanOptions {
        density: Some("80".parse().unwrap()),
        ..within("2")
    };
    assert!(bank.refresh("near", &sparse, false).view.cold);
    let exact = PlanOptions {
        density: Some("80".parse().unwrap()),
        ..within("0")
    };
    let exact = bank.refresh("near", &exact, false);
    assert!(exact.view.cold && exact.steps.is_none());
    assert!(
        cores(&bank, &exact)
            .iter()
            .all(|core| core.sigma_bound.is_none())
    );
    assert!(
        !bank
            .refresh("near", &PlanOptions::default(), false)
            .view
            .cold
    );
    let classic = PlanOptions {
        hits: Some(Hits::Classic),
        ..within("1")
    };
    assert!(
        classic
            .resolve()
            .unwrap_err()
            .to_string()
            .contains("a bound of 0 per cent")
    );
    bank.is_sound();
}

/// Two banks with the same history have the same cores and scores, bit for bit.
#[test]
fn the_same_history_gives_the_same() {
    let [one, other] = [1, 2].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let bank = TestBank::new();
            let mut all = Vec::new();
            for day in 0..=2 {
                bank.delta(&day_text(&crawl(6), day).unwrap());
                let report = bank.refresh("near", &within("5"), false);
                holds(&bank, &report, 0.05);
                all.push(cores(&bank, &report));
            }
            all
        })
    });
    assert_eq!(one, other);
}

/// A plan has the steps of its last refresh alone. A delta that leaves most steps as they were leaves their entries
/// and most evidence as they were.
#[test]
fn only_what_changed_of_the_steps_is_written() {
    use seedbank_store::{Reader, tables};
    let bank = TestBank::new();
    bank.delta(&day_text(&crawl(7), 0).unwrap());
    let open = || Reader::open(bank.bank.path()).unwrap();
    let steps = || -> Vec<_> {
        let reader = open();
        let entries = reader.scan(&tables::STEP_CACHE).unwrap();
        entries.map(|entry| entry.unwrap()).collect()
    };
    let blocks_of = |refresh: u32| -> usize {
        let keys = open().keys_under(&tables::PAGE_EVIDENCE, &[]).unwrap();
        keys.iter().filter(|key| key.refresh == refresh).count()
    };
    let first = bank.refresh("near", &within("1"), false).view;
    let stored = steps();
    let ranks: Vec<_> = stored.iter().map(|(key, _)| *key).collect();
    let expected: Vec<_> = (0..=first.cores)
        .map(|rank| (first.refresh, rank))
        .collect();
    assert_eq!(ranks, expected);

    let same = bank.refresh("near", &within("1"), false).view;
    assert_eq!((steps(), blocks_of(same.refresh)), (stored.clone(), 0));

    // A page that nothing links to gains a link.
    let record = r#"{"url":"http://new.example/","outlinks":["http://other.example/"]}"#;
    bank.delta(&format!("{record}\n"));
    let next = bank.refresh("near", &within("1"), false).view;
    let kept = steps()
        .iter()
        .zip(&stored)
        .filter(|(new, old)| new == old)
        .count();
    assert!(kept * 10 > stored.len() * 9, "{kept} of {}", stored.len());
    let (new, all) = (blocks_of(next.refresh), blocks_of(first.refresh));
    assert!((1..=all / 10).contains(&new), "{new} of {all}");

    // Fewer cores have fewer steps; an exact refresh has none.
    let fewer = PlanOptions {
        seeds: Some(5),
        ..within("1")
    };
    let fewer = bank.refresh("near", &fewer, false).view;
    assert_eq!(steps().len(), fewer.cores as usize + 1);
    bank.refresh("near", &within("0"), false);
    assert!(steps().is_empty());
    let check = bank.bank.check().unwrap();
    assert!(check.is_clean(), "{check:?}");
}

#[test]
fn a_real_crawl_and_small_changes_to_it() {
    let Some(shared) = shared("a_real_crawl_and_small_changes_to_it") else {
        return;
    };
    let bank = TestBank::new();
    let text = gunzip(&shared.join("data/ku-2017-webir/crawl.jsonl.gz"));
    bank.delta(&text);
    let options = PlanOptions {
        seeds: Some(100),
        ..within("1")
    };
    let first = bank.refresh("near", &options, false);
    holds(&bank, &first, 0.01);
    let exact = PlanOptions {
        seeds: Some(100),
        ..PlanOptions::default()
    };
    let exact = bank.refresh("exact", &exact, false);
    let tops = |report: &RefreshReport| -> Vec<f64> {
        cores(&bank, report).iter().map(|core| core.sigma).collect()
    };
    // The largest sigma of all lies between the bounds of the first step.
    let near = &cores(&bank, &first)[0];
    let largest = tops(&exact)[0];
    assert!(near.sigma <= largest * (1.0 + 1e-9) && largest <= near.sigma_bound.unwrap());
    // Ten pages lose a link.
    let mut changed = String::new();
    for line in text
        .lines()
        .filter(|line| line.len() > 4_000)
        .step_by(7)
        .take(10)
    {
        let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
        record["outlinks"].as_array_mut().unwrap().pop();
        writeln!(changed, "{record}").unwrap();
    }
    assert!(!changed.is_empty());
    bank.delta(&changed);
    let again = bank.refresh("near", &options, false);
    holds(&bank, &again, 0.01);
    assert!(again.view.steps_reused >= 50, "{:?}", again.steps);
    bank.is_sound();
}

/// Real days on which up to half of the pages come or go: what was kept holds or is done anew, and the first
/// core is as dense as an exact run's, within the bound.
#[test]
fn real_days() {
    let Some(shared) = shared("real_days") else {
        return;
    };
    let bank = TestBank::new();
    for day in friendlinks(&shared, 10) {
        bank.day(&day);
        for (name, percent, share) in [("near", "1", 0.01), ("far", "5", 0.05)] {
            let report = bank.refresh(name, &within(percent), false);
            holds(&bank, &report, share);
        }
        let exact = PlanOptions {
            seeds: Some(1),
            ..PlanOptions::default()
        };
        let exact = bank.refresh("exact", &exact, false);
        for core in cores(&bank, &exact) {
            for plan in ["near", "far"] {
                let first = bank.bank.cores(plan).unwrap().next();
                let bound = first.unwrap().unwrap().sigma_bound.unwrap();
                assert!(core.sigma <= bound * (1.0 + 1e-9), "{plan}");
            }
        }
    }
    bank.is_sound();
}
