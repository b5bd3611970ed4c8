//! After an undo, a refresh equals one from scratch, whether or not one ran on the undone batch, and
//! the evidence of refreshes in between can still be queried.
//!
//! Catches pages that are no longer what a refresh in between saw and were not recomputed, evidence of
//! pages that came with the undone batch, and restored rows that are taken for earlier ones.

use crate::support::banks::TestBank;
use crate::support::model::of_batch;
use crate::support::properties::repeatable;
use crate::support::records::{Batch, batch};
use crate::support::refreshes::came_to_the_same;
use proptest::prelude::*;
use seedbank::engine::PlanOptions;
use seedbank::engine::plan::{CoverMethod, Method, Scope};
use seedbank::engine::query::DiffRequest;

/// The plans of every kind.
fn plans() -> [(&'static str, PlanOptions); 3] {
    let cover = |scope| PlanOptions {
        method: Some(Method::Cover(CoverMethod::Greedy)),
        seeds: Some(4),
        scope: Some(scope),
        ..PlanOptions::default()
    };
    let cores = PlanOptions {
        seeds: Some(4),
        ..PlanOptions::default()
    };
    let sites = PlanOptions {
        seeds: None,
        per_site: Some(2),
        ..cover(Scope::Site)
    };
    [
        ("cores", cores),
        ("sites", sites),
        ("web", cover(Scope::Web)),
    ]
}

/// Refreshes each plan as it stands and from scratch, and compares what they came to.
fn refreshed(bank: &TestBank) {
    for (plan, options) in plans() {
        let cold = format!("{plan}-cold");
        let ours = bank.refresh(plan, &options, false);
        let scratch = bank.refresh(&cold, &options, true);
        assert_eq!(bank.bare_seeds(plan), bank.bare_seeds(&cold), "{plan}");
        if plan == "cores" {
            came_to_the_same(&bank.bank, ours.view.refresh, scratch.view.refresh);
        }
    }
}

fn ingest(bank: &TestBank, batch: &Batch) {
    let request = of_batch(&bank.bank, batch);
    bank.bank.ingest(&request).unwrap();
}

/// A batch; whether a refresh runs on it; whether it is taken back.
type Turn = (Batch, bool, bool);

fn live(turns: &[Turn]) {
    let bank = TestBank::new();
    for (batch, seen, undone) in turns {
        ingest(&bank, batch);
        if *seen {
            refreshed(&bank);
        }
        if *undone {
            // Nothing of what is ingested a second time is new, and it leaves nothing to take back.
            if bank.bank.status().unwrap().undo.is_some() {
                bank.bank.undo(false, 64 << 20).unwrap();
            }
            refreshed(&bank);
        }
    }
    refreshed(&bank);
    bank.is_sound();
    // All of the past can be asked: every two refreshes of a plan, with causes.
    let history = bank.bank.history().unwrap();
    for (plan, _) in plans() {
        let of_plan = history.refreshes.iter().filter(|view| view.plan == plan);
        let of_plan: Vec<u32> = of_plan.map(|view| view.refresh).collect();
        for pair in of_plan.windows(2) {
            let request = DiffRequest {
                plan: Some(plan.to_owned()),
                refreshes: pair.to_vec(),
                ..DiffRequest::default()
            };
            bank.bank.diff(&request).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        max_shrink_iters: 100,
..repeatable(3)})]

    #[test]
    fn random_histories(
        turns in proptest::collection::vec((batch(14), any::<bool>(), any::<bool>()), 2..6),
    ) {
        live(&turns);
    }
}
