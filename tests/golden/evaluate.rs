//! PageRank, the crawl from seeds, the distances between cores, and the coverage by every method on real graphs equal
//! the results of an independent implementation.
//!
//! Catches pages or links that the whole graph leaves out or has in excess (gone, known,
//! intra-site, rows), hops that are counted differently, and cores that are taken to be anything
//! but all their pages; for coverage, methods that stop early and means over other sites.

use crate::support::banks::TestBank;
use crate::support::sites::load;
use crate::support::{golden, shared};
use seedbank::engine::evaluate::{
    ComparedList, ComparedWith, CoverageCurve, CoverageRequest, CrawlEvaluation, CrawlRequest,
    DistancesRequest, ListKind, MethodsRequest, SeedList,
};
use seedbank::engine::plan::{CoverMethod, Covered, Crawls, Goal};
use seedbank::engine::policy::Limit;
use seedbank::engine::{PlanOptions, RefreshRequest, Which};
use serde_json::Value;

fn close(found: f64, wanted: &Value, what: &str) {
    let wanted = wanted.as_f64().unwrap();
    assert!(
        (found - wanted).abs() <= 1e-9 * wanted,
        "{what}: {found} is not {wanted}"
    );
}

fn crawl(bank: &TestBank, urls: Vec<String>, top: u32) -> CrawlEvaluation {
    let request = CrawlRequest {
        list: SeedList::Urls {
            name: "golden".to_owned(),
            urls,
        },
        depth: 1000,
        draws: 2,
        rng_seed: 0,
        top,
        compared_with: ComparedWith::Nothing,
        ..CrawlRequest::default()
    };
    bank.bank.evaluate_crawl(&request).unwrap()
}

fn top_agrees(name: &str, found: &CrawlEvaluation, wanted: &Value) {
    let wanted = wanted["pagerank_top"].as_object().unwrap();
    assert!(wanted.len() >= 20, "{name}");
    assert_eq!(found.top_pages.len(), wanted.len(), "{name}");
    let last = found.top_pages.last().unwrap().pagerank;
    for page in &found.top_pages {
        match wanted.get(&page.url) {
            Some(rank) => close(page.pagerank, rank, &format!("{name}: {}", page.url)),
            // Of pages tied for the last place, any may be named.
            None => assert!((page.pagerank - last).abs() <= 1e-9 * last, "{}", page.url),
        }
    }
}

fn crawl_agrees(name: &str, found: &CrawlEvaluation, wanted: &Value) {
    let wanted = wanted["crawl"].as_array().unwrap();
    let found: Vec<_> = found.depths.iter().filter(|d| d.new_pages > 0).collect();
    assert_eq!(found.len(), wanted.len(), "{name}");
    for (found, wanted) in found.iter().zip(wanted) {
        assert_eq!(found.depth, wanted["depth"], "{name}");
        assert_eq!(found.new_pages, wanted["new"], "{name}");
        assert_eq!(found.pages, wanted["cumulative"], "{name}");
        let what = format!("{name} at depth {}", found.depth);
        close(found.pagerank, &wanted["sum_pagerank"], &what);
        close(
            found.mean_pagerank.unwrap(),
            &wanted["mean_pagerank"],
            &what,
        );
    }
}

fn distances_agree(name: &str, bank: &TestBank, wanted: &Value) {
    let request = DistancesRequest {
        which: Which::default(),
        cores: 20,
        samples: 10,
        rng_seed: 0,
    };
    let found = bank.bank.evaluate_distances(&request).unwrap();
    let wanted = &wanted["core_distances"];
    assert_eq!(
        serde_json::json!(found.distances),
        wanted["distance"],
        "{name}"
    );
    assert_eq!(found.all.pairs, wanted["pairs"], "{name}");
    assert_eq!(found.all.reachable, wanted["reachable_pairs"], "{name}");
    assert_eq!(serde_json::json!(found.all.min), wanted["min"], "{name}");
    assert_eq!(serde_json::json!(found.all.max), wanted["max"], "{name}");
    close(found.all.mean.unwrap(), &wanted["mean"], name);
}

/// Fills a bank from one of the graphs and compares everything there is about it.
fn agrees(name: &str) {
    let Some(shared) = shared(&format!("golden_evaluate {name}")) else {
        return;
    };
    let wanted = golden(&shared, &format!("{name}.evaluate"));
    let bank = TestBank::real(&shared, name);
    let seeds: Vec<String> = serde_json::from_value(wanted["seeds"].clone()).unwrap();
    let top = u32::try_from(wanted["pagerank_top"].as_object().unwrap().len()).unwrap();
    if seeds.is_empty() {
        // One site, so no cores: any page will do to see the PageRank.
        let first = wanted["pagerank_top"].as_object().unwrap().keys().next();
        let found = crawl(&bank, vec![first.unwrap().clone()], top);
        return top_agrees(name, &found, &wanted);
    }
    let options = PlanOptions {
        seeds: Some(20),
        ..PlanOptions::default()
    };
    bank.refresh("default", &options, true);
    let urls: Vec<String> = bank.seeds("default").into_iter().map(|s| s.url).collect();
    assert_eq!(urls, seeds, "{name}");
    let found = crawl(&bank, seeds, top);
    assert_eq!((found.list.dead, found.list.unknown), (0, 0));
    top_agrees(name, &found, &wanted);
    crawl_agrees(name, &found, &wanted);
    distances_agree(name, &bank, &wanted);
}

#[test]
fn ku_2017_webir() {
    agrees("ku-2017-webir");
}

#[test]
fn toronto() {
    agrees("toronto-movies");
    agrees("toronto-cheese");
}

#[test]
fn epa_and_hollins() {
    agrees("epa");
    agrees("hollins");
}

#[test]
fn generated_and_wikispeedia() {
    agrees("generated");
    agrees("wikispeedia");
}

/// The key of a method in the golden results `*.cover`.
fn key(curve: &CoverageCurve) -> String {
    let depth = curve.depth.filter(|_| curve.method != CoverMethod::Greedy);
    let depth = depth.map_or_else(String::new, |depth| format!("-{depth}"));
    let removes = curve.covered == Some(Covered::Remove) && curve.method != CoverMethod::MaxOut;
    let end = if removes { "-remove" } else { "" };
    format!("{}{depth}{end}", curve.method.name())
}

/// Coverage by 1 to 10 seeds is that of the golden picks `*.cover`, whose sites all have a link from another one.
fn coverage_agrees(name: &str) {
    let Some(shared) = shared(&format!("coverage_agrees {name}")) else {
        return;
    };
    let wanted = golden(&shared, &format!("{name}.cover"));
    let loaded = load(&shared, name);
    let request = CoverageRequest {
        min_pages: 5,
        fixed_seeds: 1,
        max_sites: u32::MAX,
        draws: 1,
        ..CoverageRequest::default()
    };
    let bank = TestBank::real(&shared, name);
    let found = bank.bank.evaluate_coverage(&request).unwrap();
    assert_eq!(found.by_seeds.len(), 13, "{name}");
    // The first curve is that of random seeds.
    for curve in &found.by_seeds[1..] {
        let key = key(curve);
        let sites = wanted[&key].as_array().unwrap();
        assert_eq!(found.sites, sites.len() as u64, "{name} {key}");
        assert_eq!(curve.points.len(), 10, "{name} {key}");
        for point in &curve.points {
            let gained = |of: &Value, what: &str| -> f64 {
                let gains = of[what].as_array().unwrap().iter();
                gains
                    .take(point.seeds as usize)
                    .map(|of| of.as_f64().unwrap())
                    .sum()
            };
            let (mut pages, mut value, mut valued) = (0.0, 0.0, 0.0);
            for of in sites {
                let site = &loaded.sites[of["site"].as_str().unwrap()];
                let positive: i64 = site.graph.values().iter().map(|value| value.max(&0)).sum();
                pages += gained(of, "covered_pages") / f64::from(site.graph.pages());
                // A site without positive value has no share of it.
                if positive > 0 {
                    value += gained(of, "covered_value_millionths") / positive as f64;
                    valued += 1.0;
                }
            }
            let at = format!("{name} {key}, {} seeds", point.seeds);
            let pages = Value::from(100.0 * pages / sites.len() as f64);
            close(point.pages.percent.mean, &pages, &at);
            close(
                point.value.percent.mean,
                &Value::from(100.0 * value / valued),
                &at,
            );
        }
    }
}

#[test]
fn coverage_of_ku_2017_webir_and_hollins() {
    coverage_agrees("ku-2017-webir");
    coverage_agrees("hollins");
}

#[test]
fn coverage_of_a_generated_crawl_with_spam() {
    coverage_agrees("generated");
}

/// Greedy over the web, made for so many fetches, beside the best of what crawlers use today: what
/// crawls of 1,000, 5,000 and 20,000 pages from 20 seeds find, with everything known.
#[test]
fn greedy_over_the_web_finds_more_per_page_fetched() {
    let Some(shared) = shared("greedy_over_the_web") else {
        return;
    };
    let bank = TestBank::real(&shared, "ku-2017-webir");
    let value = |text: &str| Some(text.parse().unwrap());
    let request = MethodsRequest {
        seeds: vec![20],
        budgets: vec![1_000, 5_000, 20_000],
        draws: 0,
        crawl: Some(Crawls::default()),
        value: PlanOptions {
            p_uniq: value("0"),
            value_spam: value("0"),
            value_clicked: value("1"),
            ..PlanOptions::default()
        },
        ..MethodsRequest::default()
    };
    let found = bank.bank.evaluate_methods(&request).unwrap();
    for (budget, of_others, of_all) in
        [(1_000, 0.95, 0.95), (5_000, 1.25, 1.15), (20_000, 1.3, 1.3)]
    {
        let lists = found.comparison.lists.iter();
        let lists: Vec<_> = lists.filter(|list| list.budget == budget).collect();
        let contents = |list: &ComparedList| list.known.all.contents.mean;
        let greedy = lists.iter().find(|l| l.list == "coverage");
        // The net value within two links is the strongest baseline by far.
        for (wanted, with_reach) in [(of_others, false), (of_all, true)] {
            let baselines = lists.iter().filter(|list| list.kind == ListKind::Baseline);
            let baselines = baselines.filter(|list| with_reach || list.list != "net-reach");
            let best = baselines.map(|list| contents(list)).fold(0.0, f64::max);
            let times = contents(greedy.unwrap()) / best;
            assert!(
                times >= wanted,
                "{times} times the best baseline at {budget}"
            );
        }
    }
}

/// The draws by which a list is judged are those of tuning. A score of tuning follows from what the crawls of the verdict find
/// in all and of the pages held out, where the other draw chooses the same setting.
#[test]
fn a_verdict_after_tuning_has_the_draws_of_tuning() {
    let Some(shared) = shared("a_verdict_after_tuning") else {
        return;
    };
    let bank = TestBank::real(&shared, "epa");
    let value = |text: &str| Some(text.parse().unwrap());
    let crawled = bank.bank.status().unwrap().counters.crawled;
    for budget in [300, 500, 2_000] {
        let request = RefreshRequest {
            options: PlanOptions {
                goal: Some(Goal::Coverage),
                seeds: Some(20),
                budget: Some(budget),
                crawl: Some(Crawls::default()),
                hops: Some(2),
                value_known: value("0"),
                max_per_site: Some(Limit::None),
                holdouts: Some(2),
                ..PlanOptions::default()
            },
            replace: true,
            ..RefreshRequest::default()
        };
        let report = bank.bank.refresh(&request).unwrap();
        let (tuning, verdict) = (report.tuning.unwrap(), report.verdict.unwrap());
        let chosen = tuning.trials.iter().find(|trial| tuning.is_chosen(trial));
        let new = verdict.new.unwrap().found.mean;
        let (all, held_out) = (crawled as f64, (crawled / 10) as f64);
        let stayed = (verdict.found.mean - new) * all / (all - held_out);
        let score = f64::midpoint(stayed, new * all / held_out);
        let of_tuning = chosen.unwrap().gathered;
        assert!((score - of_tuning).abs() < 1e-3, "{score}, {of_tuning}");
    }
}
