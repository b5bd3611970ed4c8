//! Aliases come and go: after each step a refresh gives what one from scratch gives, and when all
//! are pages again, what there was before. Catches links that stay where an alias led, or do not
//! come back; evidence that does not notice; chains and circles that are followed too far.
//!
//! `make test-long [LONG_STEPS=500]` takes the steps on a real crawl; the suite takes fewer, on a
//! generated one.

use std::collections::BTreeMap;
use std::io::Read;

use crate::support;
use crate::support::banks::TestBank;
use crate::support::banks::seeds_of;
use crate::support::model::assert_clean;
use crate::support::over_web::over_web;
use crate::support::plans::exact_cores;
use crate::support::refreshes::came_to_the_same;
use rand::seq::IteratorRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use seedbank::engine::plan::{CoverMethod, Method, Value as Amount};
use seedbank::engine::query::Seed;
use seedbank::engine::{Bank, PlanOptions, RefreshRequest, Which};
use seedbank::synth::{SynthOptions, Web};
use seedbank_store::records::RefreshId;
use serde_json::{Value, json};

/// Crawled pages by URL, with their records.
type Crawl = BTreeMap<String, String>;

fn crawl(text: &str) -> Crawl {
    let records = text.lines().filter(|line| !line.is_empty());
    let by_url = records.map(|line| {
        let record: Value = serde_json::from_str(line).unwrap();
        (record["url"].as_str().unwrap().to_owned(), line.to_owned())
    });
    by_url.collect()
}

fn generated(pages: u64) -> Crawl {
    let options = SynthOptions {
        rng_seed: 7,
        ..SynthOptions::new(pages)
    };
    let mut text = String::new();
    let web = Web::new(&options).unwrap();
    web.day(0).unwrap().read_to_string(&mut text).unwrap();
    let mut crawl = crawl(&text);
    // Known pages are not written as crawled ones.
    crawl.retain(|_, line| line.contains("\"outlinks\""));
    // Pages come back as they were, which is no older news.
    for line in crawl.values_mut() {
        let mut record: Value = serde_json::from_str(line).unwrap();
        record.as_object_mut().unwrap().remove("fetched");
        *line = record.to_string();
    }
    crawl
}

fn ku(test: &str) -> Option<Crawl> {
    let shared = support::shared(test)?;
    let path = shared.join("data/ku-2017-webir/crawl.jsonl.gz");
    Some(crawl(&support::gunzip(&path)))
}

fn bank_of(crawl: &Crawl) -> TestBank {
    let bank = TestBank::new();
    let lines: Vec<&str> = crawl.values().map(String::as_str).collect();
    bank.delta(&(lines.join("\n") + "\n"));
    bank
}

fn refresh(bank: &Bank, plan: &str, options: PlanOptions, cold: bool) -> RefreshId {
    let request = RefreshRequest {
        plan: Some(plan.to_owned()),
        options: exact_cores(options),
        cold,
        keep: Some(2),
        ..RefreshRequest::default()
    };
    bank.refresh(&request).unwrap().view.refresh
}

fn by_cores(seeds: u32) -> PlanOptions {
    PlanOptions {
        seeds: Some(seeds),
        ..PlanOptions::default()
    }
}

fn by_cover() -> PlanOptions {
    PlanOptions {
        method: Some(Method::Cover(CoverMethod::MaxWeight)),
        per_site: Some(2),
        ..PlanOptions::default()
    }
}

fn by_web() -> PlanOptions {
    PlanOptions {
        hops: Some(2),
        fetch_cost: Some(Amount(330_000)),
        ..over_web(CoverMethod::Greedy, 8)
    }
}

/// The seeds of a refresh by a cover method, without what says when they were picked.
fn picks(bank: &Bank, refresh: RefreshId) -> Vec<(String, String)> {
    let which = Which {
        plan: None,
        refresh: Some(refresh),
    };
    let pick = |seed: Seed| {
        let mut shown = serde_json::to_value(&seed).unwrap();
        for time in ["refresh", "plan", "since"] {
            shown.as_object_mut().unwrap().remove(time);
        }
        (seed.url, shown.to_string())
    };
    seeds_of(bank, &which).into_iter().map(pick).collect()
}

/// What the seeds and cores of a plan print, but for the numbers of refreshes.
fn printed(bank: &Bank, seeds: u32) -> Vec<String> {
    let refresh = refresh(bank, "printed", by_cores(seeds), true);
    let which = Which {
        plan: None,
        refresh: Some(refresh),
    };
    let mut lines = Vec::new();
    for seed in seeds_of(bank, &which) {
        let mut seed = serde_json::to_value(seed).unwrap();
        seed["refresh"] = Value::Null;
        lines.push(seed.to_string());
    }
    for core in bank.cores(&which).unwrap() {
        let core = core.unwrap();
        let mut core = serde_json::to_value(core).unwrap();
        core["refresh"] = Value::Null;
        lines.push(core.to_string());
    }
    lines
}

/// A record that makes a page an alias: most lead to a page of the crawl, few to one that is new,
/// or to another alias, or in a circle.
fn alias(url: &str, targets: &[&String], rng: &mut Pcg64Mcg) -> String {
    let to = match rng.random_range(0..20_u32) {
        0 => format!("{url}moved"),
        _ => (*targets.iter().choose(rng).unwrap()).clone(),
    };
    json!({"url": url, "redirect": to, "fetched": null}).to_string()
}

fn live_through(crawl: &Crawl, steps: u32, seeds: u32, most: usize) {
    let bank = bank_of(crawl);
    let before = refresh(&bank.bank, "before", by_cores(seeds), true);
    let picked = refresh(&bank.bank, "picked", by_cover(), true);
    let picked = picks(&bank.bank, picked);
    let mut rng = Pcg64Mcg::seed_from_u64(17);
    // So that aliases are among the targets of others.
    let hot: Vec<&String> = crawl.keys().take(40).collect();
    let all: Vec<&String> = crawl.keys().collect();
    let mut aliases: Vec<&String> = Vec::new();
    for step in 0..steps {
        let mut lines = Vec::new();
        for _ in 0..rng.random_range(0..=most.min(aliases.len())) {
            let at = rng.random_range(0..aliases.len());
            lines.push(crawl[aliases.swap_remove(at)].clone());
        }
        for _ in 0..rng.random_range(1..=most) {
            let (from, to) = if rng.random_range(0..3_u32) == 0 {
                (&hot, &hot)
            } else {
                (&all, &all)
            };
            let url = *from.iter().choose(&mut rng).unwrap();
            // Of several records of a page without a time the last one counts.
            lines.push(alias(url, to, &mut rng));
            if !aliases.contains(&url) {
                aliases.push(url);
            }
        }
        bank.delta(&(lines.join("\n") + "\n"));
        let ours = refresh(&bank.bank, "again", by_cores(seeds), false);
        let cold = refresh(&bank.bank, "cold", by_cores(seeds), true);
        came_to_the_same(&bank.bank, ours, cold);
        let ours = refresh(&bank.bank, "picks", by_cover(), false);
        let cold = refresh(&bank.bank, "picks-cold", by_cover(), true);
        assert_eq!(
            picks(&bank.bank, ours),
            picks(&bank.bank, cold),
            "step {step}"
        );
        let ours = refresh(&bank.bank, "web", by_web(), false);
        let cold = refresh(&bank.bank, "web-cold", by_web(), true);
        assert_eq!(
            picks(&bank.bank, ours),
            picks(&bank.bank, cold),
            "step {step}"
        );
        if step % 10 == 0 {
            assert_clean(&bank.bank);
        }
    }
    let lines: Vec<&str> = aliases.iter().map(|url| crawl[*url].as_str()).collect();
    bank.delta(&(lines.join("\n") + "\n"));
    assert_clean(&bank.bank);
    let after = refresh(&bank.bank, "again", by_cores(seeds), false);
    came_to_the_same(&bank.bank, after, before);
    let after = refresh(&bank.bank, "picks", by_cover(), false);
    assert_eq!(picks(&bank.bank, after), picked);
}

#[test]
fn steps_on_a_generated_crawl() {
    live_through(&generated(300), 16, 8, 12);
}

#[test]
fn long_steps_on_a_real_crawl() {
    let Ok(steps) = std::env::var("LONG_STEPS") else {
        return;
    };
    if let Some(crawl) = ku("long_steps_on_a_real_crawl") {
        live_through(&crawl, steps.parse().unwrap(), 30, 500);
    }
}

#[test]
fn a_canonical_url_of_its_own_changes_nothing() {
    let Some(crawl) = ku("a_canonical_url_of_its_own_changes_nothing") else {
        return;
    };
    let own = |(url, line): (&String, &String)| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        record["canonical"] = json!(format!("{url}#top"));
        (url.clone(), record.to_string())
    };
    let with_own: Crawl = crawl.iter().map(own).collect();
    let (plain, own) = (bank_of(&crawl), bank_of(&with_own));
    assert_eq!(printed(&plain.bank, 30), printed(&own.bank, 30));
}

#[test]
fn redirects_that_are_taken_back_leave_no_trace() {
    let Some(crawl) = ku("redirects_that_are_taken_back_leave_no_trace") else {
        return;
    };
    let bank = bank_of(&crawl);
    let before = printed(&bank.bank, 30);
    let mut rng = Pcg64Mcg::seed_from_u64(3);
    let all: Vec<&String> = crawl.keys().collect();
    let chosen: Vec<&&String> = all.iter().sample(&mut rng, 500);
    let redirect = |url: &&&String| {
        let to = all[url.len() * 37 % all.len()];
        json!({"url": url, "redirect": to}).to_string()
    };
    let lines: Vec<String> = chosen.iter().map(redirect).collect();
    bank.delta(&(lines.join("\n") + "\n"));
    assert_clean(&bank.bank);
    assert_ne!(printed(&bank.bank, 30), before);
    let lines: Vec<&str> = chosen.iter().map(|url| crawl[**url].as_str()).collect();
    bank.delta(&(lines.join("\n") + "\n"));
    assert_clean(&bank.bank);
    assert_eq!(printed(&bank.bank, 30), before);
}
