//! A refresh by cores of a graph that no batch has changed reuses the previous result, whatever the
//! method, and reads no page or link; if anything could matter, it runs.

use crate::support::banks::TestBank;
use crate::support::banks::seeds_of;
use crate::support::refreshes::came_to_the_same;
use seedbank::engine::refresh::StepsView;
use seedbank::engine::{PlanOptions, RefreshReport, Which};
use seedbank::synth::{SynthOptions, day_text};
use seedbank_algorithms::cores::{Hits, Pick};

fn crawl() -> SynthOptions {
    SynthOptions {
        days: 2,
        sites: Some(400),
        rng_seed: 8,
        ..SynthOptions::new(1_500)
    }
}

/// Clicks and another digest of its first page, without any link.
fn clicks() -> String {
    let text = day_text(&crawl(), 0).unwrap();
    let first: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let url = &first["url"];
    format!("{{\"url\":{url},\"clicks\":7}}\n{{\"url\":{url},\"digest\":\"another\"}}")
}

fn is_taken(report: &RefreshReport) -> bool {
    let view = &report.view;
    let is_reused = view.steps_recomputed == 0 && view.steps_reused == u64::from(view.cores);
    (report.pages_loaded, view.link_visits) == (0, 0)
        && is_reused
        && !view.cold
        && view.uncertified_reason.is_none()
}

#[test]
fn clicks_lead_to_the_same_cores_of_any_kind() {
    let bank = TestBank::new();
    bank.delta(&day_text(&crawl(), 0).unwrap());
    let of = |seeds| PlanOptions {
        seeds: Some(seeds),
        ..PlanOptions::default()
    };
    // The last of so many cores are stars that are tied.
    let plans = [
        ("few", of(20)),
        ("many", of(250)),
        (
            "stable",
            PlanOptions {
                pick: Some(Pick::Stable),
                ..of(60)
            },
        ),
        (
            "classic",
            PlanOptions {
                hits: Some(Hits::Classic),
                ..of(15)
            },
        ),
        (
            "near",
            PlanOptions {
                within: Some("1".parse().unwrap()),
                ..of(60)
            },
        ),
    ];
    for (name, options) in &plans {
        assert!(bank.refresh(name, options, false).view.cold);
    }
    bank.delta(&clicks());
    for (name, options) in &plans {
        let again = bank.refresh(name, options, false);
        assert!(is_taken(&again), "{name}: {again:?}");
        assert_eq!(again.components, again.components_verified);
        let cold = bank.refresh(&format!("cold-{name}"), options, true);
        assert_eq!(
            (again.stars, again.view.seeds),
            (cold.stars, cold.view.seeds)
        );
        if *name != "stable" {
            came_to_the_same(&bank.bank, again.view.refresh, cold.view.refresh);
        }
        // Nor does it where no batch came in.
        assert!(is_taken(&bank.refresh(name, options, false)), "{name}");
        if *name == "near" {
            let StepsView {
                proven,
                bound_inherited,
                repaired,
                bound_recomputed,
                computed,
                ..
            } = again.steps.unwrap();
            assert_eq!(
                (
                    proven,
                    bound_inherited + repaired + bound_recomputed + computed
                ),
                (again.view.cores, 0)
            );
        }
    }
    // What is kept of steps has moved on, and what comes next begins with it.
    bank.delta(&day_text(&crawl(), 1).unwrap());
    for (name, options) in &plans {
        let next = bank.refresh(name, options, false);
        assert!(!is_taken(&next), "{name}");
        assert_eq!(next.view.cold, *name == "classic", "{name}: {next:?}");
    }
    bank.is_sound();
}

#[test]
fn what_could_matter_is_looked_at() {
    let bank = TestBank::new();
    bank.delta(&day_text(&crawl(), 0).unwrap());
    let options = PlanOptions {
        seeds: Some(20),
        ..PlanOptions::default()
    };
    let careful = PlanOptions {
        min_quality: Some("0.1".parse().unwrap()),
        ..options.clone()
    };
    bank.refresh("a", &options, false);
    let first = bank.refresh("careful", &careful, false);
    assert_eq!(first.view.seeds, 0);
    let which = Which {
        refresh: Some(first.view.refresh - 1),
        ..Which::default()
    };
    let seed = seeds_of(&bank.bank, &which).remove(0).url;
    bank.delta(&format!(r#"{{"url":"{seed}","quality":0.9}}"#));
    // A quality is nothing to a plan without policies, and makes a seed by the other one.
    assert!(is_taken(&bank.refresh("a", &options, false)));
    assert_eq!(bank.refresh("careful", &careful, false).view.seeds, 1);
    // Other parameters, or from scratch.
    let fewer = PlanOptions {
        seeds: Some(10),
        ..PlanOptions::default()
    };
    assert_eq!(bank.refresh("a", &fewer, false).view.seeds, 10);
    assert!(bank.refresh("a", &fewer, true).view.cold);
    assert!(is_taken(&bank.refresh("a", &fewer, false)));
    // A seed that is gone.
    bank.delta(&format!(r#"{{"url":"{seed}","gone":true}}"#));
    let gone = bank.refresh("a", &fewer, false);
    assert!(!is_taken(&gone));
    let cold = bank.refresh("cold", &fewer, true);
    came_to_the_same(&bank.bank, gone.view.refresh, cold.view.refresh);
    bank.is_sound();
}
