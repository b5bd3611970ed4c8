//! Refresh by cores, through a bank: what is taken over from the previous refresh, and why the rest
//! is not. `again` does the same in memory, over many more changes.
//!
//! - `days_of_a_crawl`: a refresh gives what the same plan gives from scratch, evidence included.
//! - `clicks_change_nothing`: a delta without links costs a look at the graph, and no more.
//! - `a_bank_twice_as_large`: only what changed is ranked again, whatever is stored.
//! - `one_site_changes`: components elsewhere are taken over, and `--explain-cost` names the batch
//!   and the site.
//! - `iterations_of_hits`: how far classic cores have converged.
//! - `other_parameters`, `pruned`, `mixed_up_components`, `forgotten_meanwhile`: what may be taken
//!   over, and from which refresh.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::{Arc, Mutex};

use crate::support::banks::TestBank;
use crate::support::plans::exact_cores;
use crate::support::refreshes::came_to_the_same;
use seedbank::engine::evaluate::{ComparedWith, CrawlRequest, SeedList};
use seedbank::engine::query::CoreView;
use seedbank::engine::refresh::{Proof, RecomputeReason};
use seedbank::engine::{PlanOptions, RefreshRequest, Which};
use seedbank::synth::{SynthOptions, day_text};
use seedbank::watch::Watch;
use seedbank_algorithms::cores::Hits;
use seedbank_store::records::RefreshId;
use seedbank_store::{Reader, raw_entries, raw_write, tables};

fn seeds(count: u32) -> PlanOptions {
    PlanOptions {
        seeds: Some(count),
        ..PlanOptions::default()
    }
}

/// A plan gives what it gives from scratch; returns how many steps were taken over and computed.
#[track_caller]
fn compare(bank: &TestBank, options: &PlanOptions) -> (u64, u64) {
    let again = bank.refresh("again", options, false);
    let cold = bank.refresh("cold", options, true);
    assert_eq!((cold.view.steps_reused, cold.view.cold), (0, true));
    assert_eq!([again.view.proof, cold.view.proof], [Proof::Exact; 2]);
    came_to_the_same(&bank.bank, again.view.refresh, cold.view.refresh);
    (again.view.steps_reused, again.view.steps_recomputed)
}

#[test]
fn days_of_a_crawl() {
    let crawl = SynthOptions {
        days: 6,
        sites: Some(400),
        rng_seed: 5,
        ..SynthOptions::new(1_500)
    };
    let bank = TestBank::new();
    for day in 0..=6 {
        bank.delta(&day_text(&crawl, day).unwrap());
        compare(&bank, &seeds(60));
    }
    bank.is_sound();
}

/// Complete places of six hubs and a few authorities each, each place on sites of its own.
fn places(count: usize) -> String {
    let mut text = String::new();
    for place in 0..count {
        for hub in 0..6 {
            let to: Vec<String> = (0..3 + place % 5)
                .map(|a| format!("\"http://a{place}.test/{a}\""))
                .collect();
            writeln!(
                text,
                r#"{{"url":"http://h{place}.test/{hub}","outlinks":[{}]}}"#,
                to.join(",")
            )
            .unwrap();
        }
    }
    text
}

#[test]
fn clicks_change_nothing() {
    let bank = TestBank::new();
    bank.delta(&places(20));
    let first = bank.refresh("again", &seeds(15), false);
    assert_eq!(
        (
            first.view.steps_reused,
            first.view.steps_recomputed,
            first.view.cold
        ),
        (0, 15, true)
    );
    bank.delta(r#"{"url":"http://h3.test/1","clicks":7}"#);
    let (reused, computed) = compare(&bank, &seeds(15));
    assert_eq!((reused, computed), (15, 0));
    let again = bank.refresh("again", &seeds(15), false);
    assert_eq!((again.components, again.components_verified), (20, 20));
    assert_eq!((again.pages_loaded, again.view.link_visits), (0, 0));
    assert!(!again.view.cold);
    // Five more seeds: the places that were no core yet are computed.
    let (reused, computed) = compare(&bank, &seeds(20));
    assert_eq!((reused, computed), (15, 5));
    // After all of them nothing is left, and nothing is looked at to find that out.
    compare(&bank, &seeds(30));
    let again = bank.refresh("again", &seeds(30), false);
    assert_eq!((again.view.steps_reused, again.pages_loaded), (20, 0));
    let (reused, computed) = compare(&bank, &seeds(4));
    assert_eq!((reused, computed), (4, 0));
    bank.is_sound();
}

/// Batch, site, pages.
type Changed = (u32, String, u64);

fn explained(bank: &TestBank) -> Vec<(Vec<u32>, RecomputeReason, Vec<Changed>)> {
    let request = RefreshRequest {
        plan: Some("again".to_owned()),
        explain_cost: true,
        ..RefreshRequest::default()
    };
    let report = bank.bank.refresh(&request).unwrap();
    let costs = report.costs.unwrap().into_iter().map(|cost| {
        let changes = cost.changes.into_iter();
        let changes = changes.map(|change| (change.batch, change.site, change.pages));
        (cost.cores, cost.reason, changes.collect())
    });
    costs.collect()
}

#[test]
fn one_site_changes() {
    let bank = TestBank::new();
    bank.delta(&places(20));
    compare(&bank, &seeds(20));
    // A hub of the densest place loses a link, one of another place is marked as spam, and a third
    // one goes; batch 3 changes nothing that matters.
    bank.delta(
        "{\"url\":\"http://h4.test/0\",\"outlinks\":[\"http://a4.test/1\"]}\n\
         {\"url\":\"http://h9.test/2\",\"spam\":true}",
    );
    bank.delta(r#"{"url":"http://h9.test/3","clicks":1}"#);
    bank.delta(r#"{"url":"http://h0.test/5","gone":true}"#);
    let costs = explained(&bank);
    let changes: Vec<_> = costs.iter().flat_map(|cost| cost.2.clone()).collect();
    let change = |batch, site: &str| (batch, site.to_owned(), 1);
    let mut sorted = changes.clone();
    sorted.sort();
    let all = [
        change(2, "h4.test"),
        change(2, "h9.test"),
        change(4, "h0.test"),
    ];
    assert_eq!(sorted, all, "{costs:?}");
    assert!(costs.iter().all(|cost| cost.1 == RecomputeReason::Changed));
    let (reused, computed) = compare(&bank, &seeds(20));
    assert_eq!((reused, computed), (20, 0));
    // An authority goes, whose hubs stay; a new page joins two places.
    bank.delta(r#"{"url":"http://a7.test/0","gone":true}"#);
    bank.delta(r#"{"url":"http://new.test/","outlinks":["http://a1.test/0","http://a2.test/0"]}"#);
    let costs = explained(&bank);
    let sites: Vec<_> = costs.iter().map(|cost| cost.2.clone()).collect();
    assert!(sites.contains(&vec![change(5, "a7.test")]), "{costs:?}");
    assert!(
        sites
            .iter()
            .any(|sites| sites.contains(&change(6, "new.test"))),
        "{costs:?}"
    );
    let (reused, computed) = compare(&bank, &seeds(20));
    assert_eq!((reused, computed), (20, 0));
    bank.is_sound();
}

#[test]
fn other_parameters() {
    let bank = TestBank::new();
    bank.delta(&places(5));
    bank.refresh("again", &seeds(5), false);
    let other = PlanOptions {
        density: Some("80".parse().unwrap()),
        ..seeds(5)
    };
    let report = bank.refresh("again", &other, false);
    assert_eq!((report.view.steps_reused, report.view.cold), (0, true));
    // The number of seeds and the pick are no business of the cores.
    let stable = PlanOptions {
        pick: Some(seedbank_algorithms::cores::Pick::Stable),
        seeds: Some(3),
        ..other
    };
    let report = bank.refresh("again", &stable, false);
    assert_eq!((report.view.steps_reused, report.view.cold), (3, false));
    let classic = PlanOptions {
        hits: Some(seedbank_algorithms::cores::Hits::Classic),
        ..stable
    };
    let report = bank.refresh("again", &classic, false);
    assert_eq!((report.view.steps_reused, report.view.cold), (0, true));
    assert_eq!((components(&bank, 1), report.components), (0, 5));
    // Nothing has changed since.
    let report = bank.refresh("again", &classic, false);
    assert_eq!((report.view.steps_reused, report.view.cold), (3, false));
    bank.is_sound();
}

/// Few iterations find other cores than converged HITS, many the same: `evaluate crawl` says so, as the cores themselves do.
#[test]
fn iterations_of_hits() {
    let crawl = SynthOptions {
        days: 0,
        sites: Some(400),
        rng_seed: 5,
        ..SynthOptions::new(1_500)
    };
    let bank = TestBank::new();
    bank.delta(&day_text(&crawl, 0).unwrap());
    let which = |plan: &str| Which {
        plan: Some(plan.to_owned()),
        refresh: None,
    };
    let cores = |plan: &str| -> Vec<CoreView> {
        let cores = bank.bank.cores(which(plan)).unwrap();
        cores.map(Result::unwrap).collect()
    };
    let sorted = |pages: &[String]| -> Vec<String> {
        let pages: BTreeSet<String> = pages.iter().cloned().collect();
        pages.into_iter().collect()
    };
    let members = |core: &CoreView| (sorted(&core.hubs), sorted(&core.authorities));
    let evaluate = |plan: &str| {
        let request = CrawlRequest {
            list: SeedList::Refresh(which(plan)),
            draws: 1,
            compared_with: ComparedWith::Nothing,
            ..CrawlRequest::default()
        };
        bank.bank.evaluate_crawl(&request).unwrap()
    };
    bank.refresh("exact", &seeds(30), true);
    assert_eq!(evaluate("exact").convergence, None);
    let exact: Vec<_> = cores("exact").iter().map(members).collect();
    for (iterations, are_enough) in [(1, false), (5, false), (2_000, true)] {
        let options = PlanOptions {
            hits: Some(Hits::Classic),
            iterations: Some(iterations),
            ..seeds(30)
        };
        let plan = format!("classic-{iterations}");
        bank.refresh(&plan, &options, true);
        let classic = cores(&plan);
        let found = evaluate(&plan);
        let claim = found.claims.last().unwrap();
        assert_eq!(claim.holds, are_enough, "{claim:?}");
        let found = found.convergence.unwrap();
        assert_eq!((found.iterations, found.cores.len()), (iterations, 30));
        let mut places = classic.iter().map(members).zip(&exact);
        let first = places.position(|(core, exact)| core != *exact);
        assert_eq!(found.first_difference.map(|rank| rank as usize - 1), first);
        assert_eq!(first.is_none(), are_enough);
        for (of, core) in found.cores.iter().zip(&classic) {
            let pages = members(core);
            let rank = exact.iter().position(|exact| *exact == pages);
            assert_eq!(of.converged_rank.map(|rank| rank as usize - 1), rank);
            assert_eq!(
                (of.residual, of.sigma_change),
                (core.residual.unwrap(), core.sigma_change.unwrap())
            );
            assert_eq!(
                (of.hubs as usize, of.authorities as usize),
                (core.hubs.len(), core.authorities.len())
            );
            // Where the two largest singular values are close, scores converge later than pages do.
            let is_still = of.residual < 1e-3 && of.sigma_change < 1e-6;
            assert!(is_still || !are_enough, "{of:?}");
            assert!(iterations > 1 || of.sigma_change >= 1.0, "{of:?}");
        }
    }
    bank.is_sound();
}

/// How many components the refreshes of a series keep cores of.
fn components(bank: &TestBank, series: RefreshId) -> usize {
    let reader = Reader::open(bank.bank.path()).unwrap();
    let kept = reader.scan_under(&tables::COMPONENT_CACHE, &series.to_be_bytes());
    let kept = kept.unwrap().map(|entry| entry.unwrap().1);
    kept.filter(|record| !record.cores.is_empty()).count()
}

/// What is cached of one component is stored under another: components are recognised by their pages and links.
#[test]
fn mixed_up_components() {
    let bank = TestBank::new();
    bank.delta(&places(5));
    let first = bank.refresh("again", &seeds(5), false);
    assert_eq!(components(&bank, first.view.refresh), 5);
    let entries = raw_entries(bank.bank.path(), "component_cache").unwrap();
    let swapped = [
        (entries[0].0.clone(), Some(entries[1].1.clone())),
        (entries[1].0.clone(), Some(entries[0].1.clone())),
    ];
    raw_write(bank.bank.path(), "component_cache", &swapped).unwrap();
    // Publishes that state, and changes what a component is made of.
    bank.delta(r#"{"url":"http://h3.test/1","outlinks":["http://a3.test/0","http://a3.test/1"]}"#);
    let again = bank.refresh("again", &seeds(5), false);
    let cold = bank.refresh("cold", &seeds(5), true);
    came_to_the_same(&bank.bank, again.view.refresh, cold.view.refresh);
}

/// The same delta on a bank twice as large takes about the same work: only what changed is ranked again.
#[test]
fn a_bank_twice_as_large() {
    let [small, large] = [60, 120].map(|count| {
        let bank = TestBank::new();
        bank.delta(&places(count));
        bank.refresh("again", &seeds(30), false);
        // A hub of a place that is not a core yet gets links that make it one of the densest.
        let to: Vec<String> = (0..40).map(|a| format!("\"http://a5.test/{a}\"")).collect();
        let to = to.join(",");
        let hubs = (0..6)
            .map(|hub| format!(r#"{{"url":"http://h5.test/{hub}","outlinks":[{to}]}}"#) + "\n");
        bank.delta(&hubs.collect::<String>());
        let report = bank.refresh("again", &seeds(30), false);
        let cold = bank.refresh("cold", &seeds(30), true);
        came_to_the_same(&bank.bank, report.view.refresh, cold.view.refresh);
        report
    });
    // Two passes over the links of the other components, each of which has one hub class and one authority class.
    let visits = [&small, &large].map(|report| report.view.link_visits);
    assert!(visits[1] <= visits[0] + 2 * 60, "{small:?} {large:?}");
    for report in [small, large] {
        let ranked = report.components - report.components_verified;
        assert_eq!((report.view.steps_recomputed, ranked), (1, 1), "{report:?}");
    }
}

/// Does something just before a run is stored.
struct Meanwhile(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl Watch for Meanwhile {
    fn stage(&self, name: &str, _total: Option<u64>) {
        let what = if name == "commit" {
            self.0.lock().unwrap().take()
        } else {
            None
        };
        if let Some(what) = what {
            what();
        }
    }
}

/// While a plan runs for the first time (or, with `ran`, again), a batch comes in, and another plan
/// is refreshed and keeps this many refreshes. Returns the batch that the plan ended up at.
fn beside_another(keep: u32, ran: bool) -> u32 {
    let bank = Arc::new(TestBank::new());
    bank.delta(&places(12));
    let other = move |bank: &TestBank| {
        let request = RefreshRequest {
            plan: Some("other".to_owned()),
            options: exact_cores(seeds(8)),
            keep: Some(keep),
            ..RefreshRequest::default()
        };
        bank.bank.refresh(&request).unwrap();
    };
    if ran {
        other(&bank);
    }
    let gone: Vec<String> = (0..6)
        .map(|hub| format!(r#"{{"url":"http://h4.test/{hub}","gone":true}}"#))
        .collect();
    let beside = Arc::clone(&bank);
    let others = move || {
        beside.delta(&gone.join("\n"));
        other(&beside);
    };
    let request = RefreshRequest {
        plan: Some("again".to_owned()),
        options: exact_cores(seeds(8)),
        ..RefreshRequest::default()
    };
    let meanwhile = Meanwhile(Mutex::new(Some(Box::new(others))));
    let watched = bank.bank.watched(meanwhile);
    let report = watched.refresh(&request).unwrap();
    bank.delta(r#"{"url":"http://h3.test/1","clicks":7}"#);
    compare(&bank, &seeds(8));
    bank.is_sound();
    report.view.batch
}

#[test]
fn forgotten_meanwhile() {
    // The other plan made the bank forget what this one needs, so it runs again.
    assert_eq!(beside_another(1, true), 2);
    // Nothing is forgotten where no refresh was deleted.
    assert_eq!(beside_another(3, true), 1);
    assert_eq!(beside_another(1, false), 1);
}

#[test]
fn pruned() {
    let bank = TestBank::new();
    bank.delta(&places(8));
    for _ in 0..3 {
        let request = RefreshRequest {
            plan: Some("again".to_owned()),
            options: exact_cores(seeds(8)),
            keep: Some(1),
            ..RefreshRequest::default()
        };
        bank.bank.refresh(&request).unwrap();
        bank.is_sound();
    }
    let reader = Reader::open(bank.bank.path()).unwrap();
    let kept = reader.scan(&tables::COMPONENT_CACHE).unwrap();
    assert!(
        kept.map(|entry| entry.unwrap().0.0)
            .all(|series| series == 1)
    );
    let (reused, _) = compare(&bank, &seeds(8));
    assert_eq!(reused, 8);
}
