//! Deleted plans among others: nothing of them remains, and nothing of the others is missing. Each
//! kind of plan is deleted once, from a bank that has refreshed all of them for days, and created
//! again. Catches remains (`check`), evidence or history of other plans that is deleted too, and later
//! refreshes that depend on deleted data.

use std::collections::BTreeMap;
use std::io::Read;

use crate::support::banks::TestBank;
use crate::support::over_web::over_web;
use crate::support::refreshes::came_to_the_same;
use seedbank::engine::plan::{CoverMethod, Growth, Hits, Method};
use seedbank::engine::query::DiffRequest;
use seedbank::engine::{EngineError, PlanOptions, Which};
use seedbank::synth::{SynthOptions, Web};
use seedbank_store::{Key, Reader, Table, Value as TableValue, tables};

const DAYS: u32 = 3;

fn plans() -> [(&'static str, PlanOptions); 5] {
    let cores = |seeds| PlanOptions {
        seeds: Some(seeds),
        ..PlanOptions::default()
    };
    let classic = PlanOptions {
        hits: Some(Hits::Classic),
        growth: Some(Growth::Literal),
        ..cores(4)
    };
    let sites = PlanOptions {
        method: Some(Method::Cover(CoverMethod::MaxWeight)),
        per_site: Some(2),
        ..PlanOptions::default()
    };
    [
        ("few", cores(3)),
        ("many", cores(12)),
        ("classic", classic),
        ("sites", sites),
        (
            "web",
            PlanOptions {
                hops: Some(2),
                ..over_web(CoverMethod::Greedy, 5)
            },
        ),
    ]
}

fn days() -> Vec<String> {
    let options = SynthOptions {
        days: DAYS,
        rng_seed: 11,
        changed_per_day: 0.1,
        ..SynthOptions::new(120)
    };
    let web = Web::new(&options).unwrap();
    let texts = (0..=DAYS).map(|day| {
        let mut text = String::new();
        web.day(day).unwrap().read_to_string(&mut text).unwrap();
        text
    });
    texts.collect()
}

/// The answers about refreshes of the other plans: evidence of many pages, and what changed from
/// one refresh to the next.
fn answers(bank: &TestBank, but: &str) -> BTreeMap<String, String> {
    let mut urls = Vec::new();
    let every = bank.bank.pages::<EngineError>(|page| {
        urls.push(page.url);
        Ok(())
    });
    every.unwrap();
    // The order is that of the ids, so these are pages of many sites.
    let urls: Vec<String> = urls.into_iter().step_by(7).collect();
    let mut all = BTreeMap::new();
    for (plan, _) in plans().iter().filter(|(plan, _)| *plan != but) {
        let plan = Some((*plan).to_owned());
        let which = Which {
            plan: plan.clone(),
            refresh: None,
        };
        let explainer = bank.bank.explainer(&which).unwrap();
        for url in &urls {
            let why = explainer.page(url).unwrap().why;
            all.insert(format!("{plan:?} {url}"), format!("{why:?}"));
        }
        // Older refreshes too, as far as a diff reads them.
        let request = DiffRequest {
            plan: plan.clone(),
            ..DiffRequest::default()
        };
        let diff = bank.bank.diff(&request).unwrap();
        all.insert(format!("{plan:?} diff"), format!("{diff:?}"));
    }
    all
}

fn is_empty<K: Key, V: TableValue>(reader: &Reader, table: &Table<K, V>) -> bool {
    reader.scan(table).unwrap().next().is_none()
}

#[test]
fn nothing_is_left_of_a_deleted_plan_and_all_of_the_others() {
    let days = days();
    let bank = TestBank::new();
    for day in &days[..2] {
        bank.delta(day);
        for (plan, options) in plans() {
            bank.refresh(plan, &options, false);
        }
    }
    let mut deleted = 0;
    // The second one is of the same kind as the first.
    for (victim, options) in plans().into_iter().skip(1) {
        let before = answers(&bank, victim);
        let gone = bank.bank.delete_plan(victim, false).unwrap();
        deleted += gone.refreshes.len();
        bank.is_sound();
        let after = answers(&bank, victim);
        for (what, said) in &before {
            assert_eq!(&after[what], said, "{victim}: {what}");
        }
        // The same plan begins anew, as one that never was.
        let again = bank.refresh(victim, &options, false);
        assert_eq!((again.view.cold, again.plan_changed), (true, false));
        let cold = bank.refresh("cold", &options, true);
        let (ours, theirs) = (again.view.refresh, cold.view.refresh);
        if ["few", "many", "classic"].contains(&victim) {
            came_to_the_same(&bank.bank, ours, theirs);
        } else {
            assert_eq!(bank.bare_seeds(victim), bank.bare_seeds("cold"));
        }
        bank.bank.delete_plan("cold", false).unwrap();
        bank.refresh(victim, &options, false);
    }
    // All go on, under numbers that nobody had.
    bank.delta(&days[2]);
    for (plan, options) in plans() {
        let last = bank.refresh(plan, &options, false).view.refresh;
        assert!(last as usize > deleted + 10);
    }
    // All may go: then the bank is as if it had never been refreshed, but for its counter.
    for (plan, _) in plans() {
        bank.bank.delete_plan(plan, false).unwrap();
    }
    bank.is_sound();
    assert!(bank.bank.plans().unwrap().plans.is_empty());
    let reader = Reader::open(bank.bank.path()).unwrap();
    assert!(is_empty(&reader, &tables::REFRESHES) && is_empty(&reader, &tables::SEEDS));
    assert!(is_empty(&reader, &tables::CORES) && is_empty(&reader, &tables::CORE_SCORES));
    assert!(
        is_empty(&reader, &tables::COMPONENT_CACHE) && is_empty(&reader, &tables::PAGE_EVIDENCE)
    );
    assert!(is_empty(&reader, &tables::COVERS) && is_empty(&reader, &tables::REACH));
    assert!(is_empty(&reader, &tables::PAGE_HISTORY) && is_empty(&reader, &tables::REMOVED_ROWS));
    drop(reader);
    bank.delta(&days[3]);
    let (plan, options) = &plans()[0];
    assert!(bank.refresh(plan, options, false).view.cold);
    bank.is_sound();
}
