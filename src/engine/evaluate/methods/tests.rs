//! Lists selected with pages held out equal those of a bank without their records.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::*;
use crate::engine::plan::{Duplicates, Method, Scope, ValueBy};
use crate::engine::scratch::scratch;
use crate::engine::{IngestRequest, RefreshRequest, Which};
use held_out::HeldOutWeb;
use seedbank_algorithms::cover::Share;
use seedbank_algorithms::evaluate::harmonic::Harmonic;
use seedbank_algorithms::watch::Unwatched;
use seedbank_formats::ingest::{Input, Naming};
use seedbank_formats::synth::{SynthOptions, day_text};
use seedbank_store::Reader;

fn bank(folder: &Path, name: &str, text: &str) -> Bank {
    let file = folder.join(format!("{name}.jsonl"));
    std::fs::write(&file, text).unwrap();
    let bank = Bank::create(folder.join(name), Naming::default()).unwrap();
    let request = IngestRequest {
        inputs: vec![Input::File(file)],
        ..IngestRequest::default()
    };
    bank.ingest(&request).unwrap();
    bank
}

/// Plans of every method, some with parameters of their own.
fn plans() -> Vec<PlanOptions> {
    let value = PlanOptions {
        value_known: Some("0.25".parse().unwrap()),
        ..PlanOptions::default()
    };
    let mut plans: Vec<PlanOptions> = Contender::plans(&value, Crawls::default())
        .iter()
        .filter_map(|contender| contender.parameters(12, 60))
        .collect();
    let greedy = |options: PlanOptions| PlanOptions {
        method: Method::named("greedy"),
        ..options
    };
    plans.push(greedy(PlanOptions {
        scope: Some(Scope::Site),
        per_site: Some(2),
        p_uniq: Some("0.5".parse().unwrap()),
        ..PlanOptions::default()
    }));
    for share in [Share::Value, Share::Quality, Share::Pagerank] {
        plans.push(greedy(PlanOptions {
            seeds: Some(20),
            share: Some(share),
            ..PlanOptions::default()
        }));
    }
    plans.push(PlanOptions {
        method: Some(Method::Cores),
        pages: Some(crate::engine::plan::Pages::Crawled),
        keep_spam: Some(true),
        seeds: Some(12),
        ..PlanOptions::default()
    });
    for name in ["pagerank", "random", "out-degree"] {
        plans.push(PlanOptions {
            method: Method::named(name),
            scope: Some(Scope::Web),
            seeds: Some(12),
            ..PlanOptions::default()
        });
    }
    plans.into_iter().map(new_plan).collect()
}

/// The seeds of a refresh of a plan.
fn refreshed(bank: &Bank, plan: usize, options: &PlanOptions) -> Vec<String> {
    let plan = Some(format!("plan-{plan}"));
    let request = RefreshRequest {
        plan: plan.clone(),
        options: options.clone(),
        cold: true,
        ..RefreshRequest::default()
    };
    bank.refresh(&request).unwrap();
    let which = Which {
        plan,
        refresh: None,
    };
    let seeds = bank
        .seeds(&which)
        .unwrap()
        .collect::<Result<Vec<_>, _>>()
        .unwrap();
    seeds.into_iter().map(|seed| seed.url).collect()
}

/// The seeds that a plan selects on the rest of a bank's web.
fn chosen(
    views: &Views,
    left: &HeldOutWeb<'_>,
    web: &BankWeb,
    options: &PlanOptions,
) -> Vec<String> {
    let list = select::by_plan(left, options, None, &Unwatched).unwrap();
    let url = |page: u32| {
        let id = web.ids[left.pages[page as usize] as usize];
        views.name(id).unwrap().1
    };
    list.into_iter().map(url).collect()
}

/// Loads the web of a bank, in which each page counts.
fn web_of(views: &Views) -> BankWeb {
    let (mode, each) = (views.naming.sites, Duplicates::Each);
    BankWeb::load(&views.reader, mode, each, &[], &Unwatched).unwrap()
}

/// The bound on pages that were not searched from yet ends no search too early.
#[test]
fn net_reach_has_the_best_pages_of_all_sites() {
    let folder = scratch();
    let text = day_text(&SynthOptions::new(1_500), 0).unwrap();
    let whole = bank(folder.path(), "whole", &text);
    let views = Views::open(&whole).unwrap();
    let web = web_of(&views);
    let left = HeldOutWeb::new(&web, &vec![false; web.of.len()], false, &Unwatched).unwrap();
    let links = |page: u32| left.successors.list(page).iter().copied();
    let mut best: BTreeMap<u32, (i64, Reverse<u32>)> = BTreeMap::new();
    for page in left.candidates() {
        let mut reached = BTreeSet::from([page]);
        reached.extend(links(page).chain(links(page).flat_map(links)));
        let worth = |to: &u32| if left.crawled[*to as usize] { 7 } else { -3 };
        let score = reached.iter().map(worth).sum();
        let of_site = best
            .entry(left.site_of(page))
            .or_insert((i64::MIN, Reverse(page)));
        *of_site = (score, Reverse(page)).max(*of_site);
    }
    let mut list: Vec<(i64, Reverse<u32>)> = best.into_values().collect();
    list.sort_unstable_by_key(|of| Reverse(*of));
    let orders = select::BaselineOrders::new(&left, Harmonic::default(), 0);
    for seeds in [0, 1, 5, 20, list.len() + 1] {
        let wanted: Vec<u32> = list
            .iter()
            .take(seeds)
            .map(|(_, Reverse(page))| *page)
            .collect();
        assert_eq!(orders.list(Baseline::NetReach, seeds, 0), wanted);
    }
}

#[test]
fn lists_are_those_of_a_bank_that_never_fetched_what_is_held_out() {
    let folder = scratch();
    let text = day_text(&SynthOptions::new(700), 0).unwrap();
    let whole = bank(folder.path(), "whole", &text);
    let views = Views::open(&whole).unwrap();
    let web = web_of(&views);
    let crawled = web.crawled();
    for tenth in [None, Some(0), Some(7)] {
        let held: Vec<u32> = match tenth {
            None => Vec::new(),
            Some(from) => crawled.iter().copied().skip(from).step_by(10).collect(),
        };
        let mut is_held = vec![false; web.of.len()];
        let mut urls = BTreeSet::new();
        for &page in &held {
            is_held[page as usize] = true;
            urls.insert(views.name(web.ids[page as usize]).unwrap().1);
        }
        let left = HeldOutWeb::new(&web, &is_held, false, &Unwatched).unwrap();
        // The same without the records of these pages; of a page that is still linked to, its spam
        // mark is known.
        let still: BTreeSet<String> = left
            .pages
            .iter()
            .filter(|&&page| is_held[page as usize])
            .map(|&page| views.name(web.ids[page as usize]).unwrap().1)
            .collect();
        let mut rest = String::new();
        for line in text.lines() {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            let url = record["url"].as_str().unwrap();
            if !urls.contains(url) {
                rest.push_str(line);
                rest.push('\n');
            } else if still.contains(url) && record["spam"] == true {
                rest.push_str(&serde_json::json!({"url": url, "spam": true}).to_string());
                rest.push('\n');
            }
        }
        let name = format!("rest-{tenth:?}");
        let rest = bank(folder.path(), &name, &rest);
        let counters = Reader::open(rest.path()).unwrap().counters().unwrap();
        assert_eq!(left.pages.len() as u64, counters.crawled + counters.known);
        for (at, options) in plans().into_iter().enumerate() {
            let found = chosen(&views, &left, &web, &options);
            assert_eq!(found, refreshed(&rest, at, &options), "{options:?}");
            assert!(!found.is_empty(), "{options:?}");
        }
    }
}

#[test]
fn a_plan_is_evaluated_by_lists_selected_without_held_out_pages() {
    let folder = scratch();
    let text = day_text(&SynthOptions::new(300), 0).unwrap();
    let bank = bank(folder.path(), "bank", &text);
    let request = MethodsRequest {
        seeds: vec![5, 5, 2],
        budgets: vec![100, 20],
        draws: 3,
        ..MethodsRequest::default()
    };
    let found = bank.evaluate_methods(&request).unwrap();
    let again = bank.evaluate_methods(&request).unwrap();
    assert_eq!(found, again);
    let comparison = found.comparison;
    assert_eq!(
        (comparison.seeds, comparison.budgets),
        (vec![2, 5], vec![20, 100])
    );
    let plans = Contender::plans(&PlanOptions::default(), Crawls::default());
    // One batch has no oldest fetches.
    let all = plans.len() + Baseline::ALL.len() - 1;
    assert_eq!(comparison.lists.len(), 4 * all);
    let crawled = found.state.crawled;
    assert_eq!(comparison.held_out, crawled / 10);
    assert_eq!((comparison.since, comparison.crawled_since), (None, None));
    for list in &comparison.lists {
        assert!(list.listed <= u64::from(list.seeds), "{list:?}");
        let held = list.held_out.unwrap();
        for part in [
            list.known.all,
            list.known.of_crawled,
            held.all,
            held.of_crawled,
        ] {
            assert!(part.fetched.mean <= list.budget as f64, "{list:?}");
            assert!(part.crawled.mean <= part.fetched.mean, "{list:?}");
            assert!(
                part.new_pages.mean <= comparison.held_out as f64,
                "{list:?}"
            );
            assert!(part.discovered.mean >= 0.0, "{list:?}");
            assert!(part.pagerank.mean <= 1.0, "{list:?}");
        }
        // With everything known nothing is new, and of crawled pages alone all are crawled.
        assert!(list.known.all.new_pages.mean.abs() < 1e-9, "{list:?}");
        let of_crawled = list.known.of_crawled;
        assert!((of_crawled.crawled.mean - of_crawled.fetched.mean).abs() < 1e-9);
        assert_eq!(list.above_baselines.is_some(), list.kind == ListKind::Plan);
    }
    assert_eq!(found.recommended.len(), 4);
    assert_eq!(comparison.claims.len(), 1);
}

#[test]
fn pages_crawled_since_a_batch_are_held_out() {
    let folder = scratch();
    let page =
        |url: &str, to: &[&str]| format!("{}\n", serde_json::json!({"url": url, "outlinks": to}));
    let old = ["http://a.example/", "http://b.example/"];
    let mut text = page(old[0], &[old[1], "http://c.example/"]);
    text.push_str(&page(old[1], &[old[0]]));
    let bank = bank(folder.path(), "bank", &text);
    let file = folder.path().join("next.jsonl");
    std::fs::write(&file, page("http://c.example/", &["http://d.example/"])).unwrap();
    let request = IngestRequest {
        inputs: vec![Input::File(file)],
        ..IngestRequest::default()
    };
    bank.ingest(&request).unwrap();
    let request = MethodsRequest {
        seeds: vec![1],
        budgets: vec![3],
        draws: 0,
        crawl: Some(Crawls::default()),
        value: PlanOptions {
            value_by: Some(ValueBy::Weights),
            ..PlanOptions::default()
        },
        ..MethodsRequest::default()
    };
    let found = bank.evaluate_methods(&request).unwrap().comparison;
    assert_eq!((found.since, found.crawled_since), (Some(1), Some(1)));
    let pagerank = found.lists.iter().find(|list| list.list == "pagerank");
    let since = pagerank.and_then(|list| list.since).unwrap();
    // Among a and b, which were crawled then, either leads to the other and to c.
    assert!((since.all.new_pages.mean - 1.0).abs() < 1e-9, "{since:?}");
    assert!((since.all.crawled.mean - 3.0).abs() < 1e-9, "{since:?}");
    for batch in [0, 2, 9] {
        let asked = MethodsRequest {
            since: Some(batch),
            ..request.clone()
        };
        let refused = bank.evaluate_methods(&asked).unwrap_err();
        assert!(refused.to_string().contains("batch"), "{refused}");
    }
}

#[test]
fn fetches_follow_the_size_of_the_crawl() {
    assert_eq!(budgets_of(9_916), [1_000, 5_000, 20_000]);
    assert_eq!(budgets_of(205_703), [20_000, 100_000, 400_000]);
    assert_eq!(budgets_of(3), [1, 1, 6]);
    assert_eq!(budgets_of(0), [1, 1, 1]);
}
