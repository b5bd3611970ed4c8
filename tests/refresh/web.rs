//! Refresh over the whole web, through a bank.
//!
//! - `random_histories`: on small random webs, after every batch, the seeds are those of the
//!   definition, worked out from the pages alone; a refresh, which reuses gains, gives what one from scratch gives, and
//!   every page has the reason why it is a seed or not. Catches a graph that is not that of the pages, an
//!   order that is not that of URLs, and evidence that says something else than the selection.
//! - `thirty_days`: the same plan from scratch gives the same list and explanations, on a crawl that goes on, and searches more.
//! - the rest: what is tried and kept, what is taken over, what `--keep` deletes, what is refused.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use crate::support::banks::TestBank;
use crate::support::model::pages_of;
use crate::support::over_web::{Judge, Terms, over_web};
use crate::support::plans::exact_cores;
use crate::support::records::{Batch, record, site_line};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use seedbank::engine::plan::{CoverMethod, Duplicates, Method, Scope, Slack, Value, ValueBy};
use seedbank::engine::query::{DiffRequest, Evidence, IneligibleReason, PageKind, PageState, Why};
use seedbank::engine::{EngineError, PlanOptions, RefreshRequest, Which};
use seedbank::synth::{SynthOptions, day_text};

fn which(plan: &str) -> Which {
    Which {
        plan: Some(plan.to_owned()),
        refresh: None,
    }
}

/// A value in millionths.
fn millionths(units: f64) -> i64 {
    let rounded = (units * 1e6).round();
    format!("{rounded:.0}").parse().unwrap()
}

/// Compares the explanation of every page with the judge.
fn every_page_is_told_why(bank: &TestBank, judge: &Judge, seeds: usize, terms: Terms) {
    let picks = judge.greedy(seeds, terms);
    let reached_by = |picks: &[(String, i64)]| -> BTreeSet<String> {
        let within = picks.iter().map(|pick| judge.within(&pick.0, terms.hops));
        within.flat_map(BTreeMap::into_keys).collect()
    };
    let reached = reached_by(&picks);
    let before_last = reached_by(&picks[..picks.len().saturating_sub(1)]);
    let candidates = judge.candidates(terms);
    let explainer = match bank.bank.explainer(which("greedy")) {
        Ok(explainer) => explainer,
        Err(e) => panic!("{e}"),
    };
    for (url, page) in pages_of(&bank.bank) {
        let explanation = explainer.page(&url).unwrap();
        // An alias is followed through at most five others.
        let most = if explanation.page.alias.is_some() {
            25
        } else {
            20
        };
        assert!(
            explanation.cost.reads <= most,
            "{} reads: {explanation:?}",
            explanation.cost.reads
        );
        let first = picks
            .iter()
            .zip(1..)
            .find_map(|(pick, number)| {
                Some((number, *judge.within(&pick.0, terms.hops).get(&url)?))
            })
            .filter(|_| judge.pages.contains_key(&url));
        match explanation.why {
            Why::WebSeed(seed) => {
                let at = usize::try_from(seed.rank).unwrap() - 1;
                assert_eq!(picks[at].0, url);
                assert_eq!(millionths(seed.reaches.net), picks[at].1);
                assert_eq!(millionths(seed.gain.unwrap()), picks[at].1);
                let before = seed.reached_by.map(|(by, hop)| (by.pick, hop as usize));
                assert_eq!(before, first.filter(|first| first.0 != seed.rank));
            }
            Why::Represented { by } => {
                assert!(terms.once);
                assert_eq!(judge.represented_by.get(&url), Some(&by));
            }
            _ if terms.once && !picks.is_empty() && judge.represented_by.contains_key(&url) => {
                panic!("{url} is a copy")
            }
            Why::Reached { by, hop } => assert_eq!(Some((by.pick, hop as usize)), first),
            Why::Unreached(_) if page.kind == PageKind::Document => assert!(first.is_none()),
            Why::Unreached(unreached) => {
                assert!(candidates.contains(&&url) && first.is_none());
                let gain = judge.gain(&url, &reached, terms);
                assert_eq!(millionths(unreached.score.unwrap()), gain);
                if let Some(last) = &unreached.last_pick {
                    // The last pick may take pages of negative value off others, whose scores rise then.
                    let then = judge.gain(&url, &before_last, terms);
                    assert!(millionths(last.gain.unwrap()) >= then);
                }
            }
            Why::Ineligible { reason } => {
                assert!(first.is_none());
                let wanted = match page.state {
                    PageState::Gone => IneligibleReason::Gone,
                    PageState::Alias => IneligibleReason::Alias,
                    PageState::Resource => IneligibleReason::Resource,
                    _ if page.spam => IneligibleReason::Spam,
                    PageState::Known => IneligibleReason::NotCrawled,
                    _ => IneligibleReason::NoLinks,
                };
                // Of a refresh without seeds nothing is kept.
                if !picks.is_empty() {
                    assert!(!candidates.contains(&&url));
                    assert_eq!(reason, wanted, "{url}");
                }
            }
            why => panic!("{url}: {why:?}"),
        }
    }
}

#[test]
fn random_histories() {
    let config = Config {
        cases: crate::support::cases(5),
        ..Config::with_source_file("tests/refresh/web.rs")
    };
    let terms = (
        prop_oneof![Just(0), Just(300_000)],
        prop_oneof![2 => Just(0), 1 => Just(250_000), 1 => Just(-1_000_000)],
        prop_oneof![1 => Just(0), 1 => Just(333_333), 1 => Just(-2_000_001)],
        prop_oneof![Just(0), Just(330_000), Just(1_000_000)],
        0_usize..4,
        any::<bool>(),
        select(vec![
            Slack::EXACT,
            Slack::ONE_PERCENT,
            "20".parse().unwrap(),
        ]),
    );
    let batch = (
        // After a small batch, the refresh reuses most gains.
        prop_oneof![
            proptest::collection::vec(record(), 4..30),
            proptest::collection::vec(record(), 1..4),
        ],
        proptest::collection::vec(site_line(), 0..2),
    );
    let batches = proptest::collection::vec(batch, 1..5);
    let reused = Cell::new(0);
    let result = TestRunner::new(config).run(
        &(terms, batches),
        |((p_uniq, known, quality, price, hops, once, slack), batches)| {
            let terms = Terms {
                p_uniq,
                known,
                quality,
                price,
                hops,
                once,
            };
            let bank = TestBank::new();
            let plan = PlanOptions {
                p_uniq: Some(Value(p_uniq)),
                value_known: Some(Value(known)),
                value_quality: Some(Value(quality)),
                fetch_cost: Some(Value(price)),
                hops: Some(u32::try_from(hops).unwrap()),
                duplicates: once.then_some(Duplicates::Once),
                ..over_web(CoverMethod::Greedy, 4)
            };
            let tried = PlanOptions {
                hops: None,
                fetch_cost: None,
                budget: Some(7),
                ..plan.clone()
            };
            for (records, sites) in batches {
                let batch = Batch {
                    sites,
                    ..Batch::delta(records)
                };
                bank.delta_with_sites(&batch.text(), &batch.site_list());
                let report = bank.refresh("greedy", &plan, false);
                reused.set(reused.get() + u32::from(!report.view.cold));
                let judge = Judge::of(&bank);
                let found = bank
                    .seeds("greedy")
                    .into_iter()
                    .map(|seed| match seed.evidence {
                        Evidence::Cover { gain, .. } => (seed.url, millionths(gain.unwrap())),
                        Evidence::Core { .. } | Evidence::ByPolicy {} => panic!("no cover"),
                    });
                let found: Vec<(String, i64)> = found.collect();
                prop_assert_eq!(&found, &judge.greedy(4, terms));
                every_page_is_told_why(&bank, &judge, 4, terms);
                bank.refresh("cold", &plan, true);
                prop_assert_eq!(bank.bare_seeds("greedy"), bank.bare_seeds("cold"));
                same_explanations(&bank, "greedy", "cold");
                a_list_is_kept_as_from_scratch(&bank, &plan, slack);
                // Settings that were tried stay, and give what the same settings give from scratch.
                let kept = bank.refresh("tried", &tried, false).view.parameters;
                bank.refresh(
                    "given",
                    &PlanOptions {
                        tuned: None,
                        ..kept
                    },
                    true,
                );
                prop_assert_eq!(bank.bare_seeds("tried"), bank.bare_seeds("given"));
                for method in [
                    CoverMethod::MaxWeight,
                    CoverMethod::MaxOut,
                    CoverMethod::Pagerank,
                ] {
                    bank.refresh(method.name(), &over_web(method, 3), false);
                }
                bank.is_sound();
            }
            Ok(())
        },
    );
    result.unwrap();
    // A few histories may have large batches only.
    assert!(reused.get() > 0 || crate::support::cases(5) < 50);
}

/// Checks that with the same previous list, what is reused changes nothing, and that a list stays on an unchanged state.
fn a_list_is_kept_as_from_scratch(bank: &TestBank, plan: &PlanOptions, slack: Slack) {
    let calm = PlanOptions {
        keep_seeds: Some(slack),
        ..plan.clone()
    };
    let dry_run = |cold| {
        let request = RefreshRequest {
            plan: Some("kept".to_owned()),
            options: calm.clone(),
            cold,
            ..RefreshRequest::default()
        };
        let found = bank.bank.dry_run(&request).unwrap();
        let seeds = found.seed_list.into_iter();
        let seeds: Vec<String> = seeds.map(|seed| seed.url).collect();
        (seeds, found.report.kept)
    };
    let warm = dry_run(false);
    assert_eq!(dry_run(true), warm);
    let least = 1.0 - slack.share() - 1e-9;
    assert!(warm.1.is_none_or(|kept| kept.worth >= least), "{warm:?}");
    bank.refresh("kept", &calm, false);
    assert_eq!(dry_run(true).0, warm.0);
}

/// Checks that two plans explain every page in the same way, but for the numbers of their refreshes and the tuning.
fn same_explanations(bank: &TestBank, one: &str, other: &str) {
    let [one, other] = [one, other].map(|plan| bank.bank.explainer(which(plan)).unwrap());
    for url in pages_of(&bank.bank).keys() {
        let [one, other] = [&one, &other].map(|explainer| {
            let why = explainer.page(url).unwrap().why;
            let mut why = serde_json::to_value(why).unwrap();
            let fields = why.as_object_mut().unwrap();
            fields.remove("since");
            // Whether the setting was tuned is no part of it.
            fields.get_mut("terms").map(|terms| terms["tuned"].take());
            why
        });
        assert_eq!(one, other, "{url}");
    }
}

#[test]
fn thirty_days() {
    let crawl = SynthOptions {
        days: 30,
        sites: Some(40),
        rng_seed: 5,
        ..SynthOptions::new(800)
    };
    let bank = TestBank::new();
    let plan = PlanOptions {
        budget: Some(300),
        ..over_web(CoverMethod::Greedy, 12)
    };
    let mut searched = (0, 0);
    for day in 0..=30 {
        bank.delta(&day_text(&crawl, day).unwrap());
        let report = bank.refresh("web", &plan, false);
        // What was tried on the first day stays.
        assert_eq!(report.tuning.is_some(), day == 0);
        assert_eq!(report.view.seeds, 12);
        let given = PlanOptions {
            tuned: None,
            ..report.view.parameters
        };
        let from_scratch = bank.refresh("cold", &given, true);
        assert_eq!(bank.bare_seeds("web"), bank.bare_seeds("cold"));
        same_explanations(&bank, "web", "cold");
        let (of_day, all) = (report.candidates.unwrap(), from_scratch.candidates.unwrap());
        assert_eq!(report.view.cold, day == 0);
        assert_eq!((of_day.all, all.searched), (all.all, all.all));
        if day > 0 {
            assert!(report.view.page_visits < from_scratch.view.page_visits);
            searched = (searched.0 + of_day.searched, searched.1 + all.all);
        }
    }
    assert!(searched.0 < searched.1 / 2, "{searched:?}");
    bank.is_sound();
    // Every change has a cause.
    let diff = DiffRequest {
        plan: Some("web".to_owned()),
        ..DiffRequest::default()
    };
    let diff = bank.bank.diff(&diff).unwrap();
    assert_eq!(diff.summary.kept + diff.summary.lost, 12);
}

/// A small web with a page that leads to everything, a chain, and pages that are only linked to.
fn small() -> TestBank {
    let bank = TestBank::new();
    bank.delta(
        r#"{"url":"http://hub.example/","outlinks":["http://a.example/","http://b.example/","http://c.example/","http://x.example/1","http://x.example/2"]}
{"url":"http://a.example/","outlinks":["http://a.example/2"]}
{"url":"http://a.example/2","outlinks":["http://a.example/3"]}
{"url":"http://a.example/3","outlinks":["http://a.example/"]}
{"url":"http://b.example/","outlinks":["http://c.example/"]}
{"url":"http://c.example/","outlinks":[],"fetched":"2026-01-01T00:00:00Z"}
{"url":"http://bad.example/","outlinks":["http://hub.example/"],"spam":true}
"#,
    );
    bank
}

#[test]
fn what_is_tried_is_told_kept_and_tried_again_when_asked() {
    let bank = small();
    let plan = PlanOptions {
        budget: Some(4),
        ..over_web(CoverMethod::Greedy, 2)
    };
    let first = bank.refresh("web", &plan, false);
    let tuning = first.tuning.unwrap();
    // Too few pages are crawled to hold some out.
    assert_eq!(
        (tuning.draws, tuning.budget, &tuning.left_out),
        (0, 4, &vec![])
    );
    // At least every second price for each number of hops.
    assert!(tuning.trials.len() >= 25, "{tuning:?}");
    let best = tuning
        .trials
        .iter()
        .map(|trial| trial.gathered)
        .fold(0.0, f64::max);
    let tuned = first.view.parameters.tuned.clone().unwrap();
    assert_eq!((tuned.batch, tuned.crawled), (1, 7));
    assert_eq!(tuned.settings as usize, tuning.trials.len());
    assert!(
        tuning
            .trials
            .iter()
            .filter(|trial| tuning.is_chosen(trial))
            .count()
            == 1
    );
    assert!((tuned.gathered - best).abs() < 1e-9);
    assert_eq!(first.view.parameters.hops, Some(tuning.hops));
    assert_eq!(first.view.parameters.fetch_cost, Some(tuning.fetch_cost));
    assert_eq!(first.view.parameters.value_known, Some(tuning.value_known));
    // The name is enough from then on, and the budget again changes nothing.
    for options in [PlanOptions::default(), plan.clone()] {
        let again = bank.refresh("web", &options, false);
        assert_eq!((again.tuning, again.plan_changed), (None, false));
        assert_eq!(again.view.parameters, first.view.parameters);
        assert!(!again.view.cold && again.view.page_visits == 0);
    }
    // Another budget is tried for; so is the same one where that is asked for.
    let other = PlanOptions {
        budget: Some(6),
        ..PlanOptions::default()
    };
    assert_eq!(bank.refresh("web", &other, false).tuning.unwrap().budget, 6);
    let tune = |options: PlanOptions| {
        let request = RefreshRequest {
            plan: Some("web".to_owned()),
            options,
            tune: true,
            ..RefreshRequest::default()
        };
        bank.bank.refresh(&request)
    };
    let all = tune(PlanOptions::default()).unwrap().tuning.unwrap();
    assert!(all.trials.len() >= 25, "{all:?}");
    let hops = PlanOptions {
        hops: Some(2),
        ..PlanOptions::default()
    };
    let some = tune(hops.clone()).unwrap();
    let settings = some.view.parameters.tuned.as_ref().unwrap().settings;
    let tried = some.tuning.unwrap().trials;
    assert!(tried.iter().all(|trial| trial.hops == 2) && tried.len() < all.trials.len());
    assert_eq!(some.view.parameters.hops, Some(2));
    // What was given stays when the rest is tuned again.
    let again = tune(PlanOptions::default()).unwrap();
    assert_eq!(again.view.parameters.hops, Some(2));
    let everything = PlanOptions {
        fetch_cost: Some(Value(0)),
        value_known: Some(Value(0)),
        ..hops
    };
    assert!(matches!(tune(everything), Err(EngineError::Plan(_))));
    let Why::WebSeed(seed) = bank
        .bank
        .explain("http://hub.example/", which("web"))
        .unwrap()
        .why
    else {
        panic!("the hub is no seed");
    };
    assert_eq!(seed.terms.tuned.map(|tuned| tuned.settings), Some(settings));
    bank.is_sound();
}

#[test]
fn an_answer_is_taken_over_until_a_batch_comes_in() {
    let bank = small();
    let plan = over_web(CoverMethod::Greedy, 2);
    bank.refresh("web", &plan, false);
    let seeds = bank.seeds("web");
    let again = bank.refresh("web", &plan, false);
    assert_eq!(
        (again.view.steps_reused, again.view.steps_recomputed),
        (2, 0)
    );
    assert_eq!(bank.seeds("web").len(), seeds.len());
    bank.is_sound();
    // What the first refresh picked stays while the second one has it.
    let keep = |options: &PlanOptions| {
        let request = RefreshRequest {
            plan: Some("web".to_owned()),
            options: exact_cores(options.clone()),
            keep: Some(1),
            replace: true,
            ..RefreshRequest::default()
        };
        let pruned = bank.bank.refresh(&request).unwrap().pruned;
        bank.is_sound();
        pruned
    };
    assert_eq!(keep(&plan), [1, 2]);
    let explanation = bank
        .bank
        .explain("http://c.example/", which("web"))
        .unwrap();
    assert!(
        matches!(explanation.why, Why::Reached { hop: 1, .. }),
        "{:?}",
        explanation.why
    );
    bank.delta("{\"url\":\"http://new.example/\",\"outlinks\":[\"http://hub.example/\",\"http://a.example/2\"]}\n");
    assert_eq!(keep(&plan), [3]);
    assert!(
        bank.bare_seeds("web")
            .iter()
            .any(|seed| seed.1 == "http://new.example/")
    );
    // Another method, then sites: what was kept over the web goes.
    assert_eq!(keep(&over_web(CoverMethod::Random, 2)), [4]);
    let sites = PlanOptions {
        method: Some(Method::Cover(CoverMethod::Random)),
        scope: Some(Scope::Site),
        seeds: Some(2),
        ..PlanOptions::default()
    };
    assert_eq!(keep(&sites), [5]);
}

#[test]
fn pages_by_pagerank_are_worth_their_share_of_the_web() {
    let bank = small();
    let plan = PlanOptions {
        value_by: Some(ValueBy::Pagerank),
        hops: Some(9),
        ..over_web(CoverMethod::Greedy, 9)
    };
    bank.refresh("web", &plan, false);
    // All pages but the spam page, which nobody links to, are reached.
    let reached: f64 = bank
        .seeds("web")
        .iter()
        .map(|seed| match &seed.evidence {
            Evidence::Cover { covered_value, .. } => *covered_value,
            Evidence::Core { .. } | Evidence::ByPolicy {} => panic!("no cover"),
        })
        .sum();
    let alone = 0.15 + 0.85 * (9.0 - reached) / 9.0;
    assert!((7.5..8.9).contains(&reached) && alone > 0.0, "{reached}");
}

#[test]
fn nothing_to_start_from_is_an_empty_list() {
    let bank = TestBank::new();
    bank.delta("{\"url\":\"http://a.example/\",\"outlinks\":[]}\n");
    let plan = PlanOptions {
        budget: Some(10),
        ..over_web(CoverMethod::Greedy, 3)
    };
    for _ in 0..2 {
        assert_eq!(bank.refresh("web", &plan, false).view.seeds, 0);
    }
    bank.is_sound();
    let explanation = bank
        .bank
        .explain("http://a.example/", which("web"))
        .unwrap();
    assert!(matches!(
        explanation.why,
        Why::Ineligible {
            reason: IneligibleReason::NoLinks
        }
    ));
    assert!(bank.bank.explain_site("a.example", which("web")).is_ok());
}
