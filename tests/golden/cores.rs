//! Cores on real graphs equal the results of an independent implementation.
//!
//! Up to the first core that is delicate there (rounding could decide it) everything must match:
//! pages, orders, sides, seed, densities; sigma and scores to 1e-6. Beyond it, the number that
//! matched is printed.

use crate::support;
use crate::support::graphs::Web;
use seedbank::watch::Unwatched;
use seedbank_algorithms::cores::{
    Core, CoreParams, Growth, Hits, Rule, Selection, select_in_graph,
};
use serde_json::Value;

fn density(percent: &str, growth: Growth) -> Rule {
    Rule::Density {
        density: percent.parse().unwrap(),
        growth,
    }
}

/// The kinds of golden results: their parameters, whether spam is kept, and whether known pages are
/// left out.
fn kinds() -> Vec<(&'static str, CoreParams, bool, bool)> {
    let base = CoreParams::default();
    let seeds = |seeds| CoreParams { seeds, ..base };
    let rule = |seeds, rule| CoreParams {
        seeds,
        rule,
        ..base
    };
    let classic = CoreParams {
        seeds: 20,
        hits: Hits::Classic,
        ..base
    };
    let hubs50 = CoreParams {
        seeds: 50,
        max_hubs: Some(50),
        ..base
    };
    let size = Rule::Size {
        size: 20,
        new_members: 2,
    };
    vec![
        ("converged-maximal", base, false, false),
        (
            "converged-literal",
            rule(100, density("100", Growth::Literal)),
            false,
            false,
        ),
        ("converged-maximal-crawled", seeds(50), false, true),
        ("converged-maximal-keepspam", seeds(50), true, false),
        ("converged-maximal-hubs50", hubs50, false, false),
        (
            "converged-density60-maximal",
            rule(30, density("60", Growth::Maximal)),
            false,
            false,
        ),
        ("converged-size20-new2", rule(30, size), false, false),
        ("classic-maximal", classic, false, false),
    ]
}

fn near(ours: f64, golden: &Value) -> bool {
    let golden = golden.as_f64().unwrap();
    (ours - golden).abs() <= 1e-6 * golden.abs()
}

/// The first difference between a core and the golden one.
fn difference(core: &Core, golden: &Value, urls: &[&str]) -> Option<String> {
    let names = |pages: &[u32]| -> Vec<&str> { pages.iter().map(|&p| urls[p as usize]).collect() };
    let all = |field: &str| -> Vec<&str> {
        golden[field]
            .as_array()
            .unwrap()
            .iter()
            .map(|url| url.as_str().unwrap())
            .collect()
    };
    let scores = |ours: &[f64], field: &str| {
        let golden = golden[field].as_array().unwrap();
        golden.len() == ours.len().min(5) && ours.iter().zip(golden).all(|(o, g)| near(*o, g))
    };
    let checks = [
        ("sigma", near(core.sigma, &golden["sigma"])),
        ("sides", golden["sides"] == core.sides.as_str()),
        ("hubs", all("hubs") == names(&core.hubs)),
        (
            "authorities",
            all("authorities") == names(&core.authorities),
        ),
        ("density", near(core.density, &golden["density"])),
        ("seed", golden["seed"] == urls[core.seed as usize]),
        ("hub_scores", scores(&core.hub_scores, "hub_scores")),
        (
            "authority_scores",
            scores(&core.authority_scores, "authority_scores"),
        ),
    ];
    let wrong = checks.iter().find(|check| !check.1)?;
    Some(format!(
        "{}: sigma {} for {}, {} hubs, {} authorities",
        wrong.0,
        core.sigma,
        golden["sigma"],
        core.hubs.len(),
        core.authorities.len()
    ))
}

fn compare(name: &str, selection: &Selection, golden: &Value, urls: &[&str]) {
    let golden = golden.as_array().unwrap();
    let delicate = golden.iter().position(|core| core["delicate"] == true);
    let exact = delicate.unwrap_or(golden.len());
    if delicate.is_none() {
        assert_eq!(
            selection.cores.len(),
            golden.len(),
            "{name}: number of cores"
        );
    }
    let mut matched = 0;
    for (index, (core, golden)) in selection.cores.iter().zip(golden).enumerate() {
        if let Some(difference) = difference(core, golden, urls) {
            assert!(index >= exact, "{name}: core {}: {difference}", index + 1);
            break;
        }
        matched += 1;
    }
    assert!(selection.cores.len() >= exact, "{name}: too few cores");
    if delicate.is_none() {
        assert!(
            selection.certified,
            "{name}: {:?}",
            selection.uncertified_reason
        );
    }
    println!(
        "{name}: {matched} of {} match, delicate from {:?}, {} link visits, certified {} {:?}",
        golden.len(),
        delicate.map(|index| index + 1),
        selection.reads.visits,
        selection.certified,
        selection
            .uncertified_reason
            .map(|(rank, doubt)| (rank, doubt.to_string())),
    );
}

fn check(graph: &str) {
    let Some(shared) = support::shared(graph) else {
        return;
    };
    let web = Web::load(&shared.join("data").join(graph));
    let urls = web.urls();
    let mut compared = 0;
    for (kind, params, keep_spam, crawled_only) in kinds() {
        let name = format!("{graph}.cores-{kind}");
        if !shared
            .join("golden")
            .join(format!("{name}.json.gz"))
            .exists()
        {
            continue;
        }
        let hub_graph = web.hub_graph(keep_spam, crawled_only);
        let began = std::time::Instant::now();
        let selection = select_in_graph(&hub_graph, &params, &[], &Unwatched).unwrap();
        println!("{name}: {:?}", began.elapsed());
        compare(&name, &selection, &support::golden(&shared, &name), &urls);
        compared += 1;
    }
    assert!(compared >= 6, "{graph}: golden results are missing");
}

real_graphs! {
    check:
    a_university_crawl => "ku-2017-webir",
    a_query_graph_about_movies => "toronto-movies",
    a_query_graph_about_cheese => "toronto-cheese",
    pages_that_link_to_an_agency => "epa",
    a_small_university_where_links_run_out => "hollins",
    a_generated_crawl_with_spam => "generated",
}

#[test]
fn a_crawl_day_by_day() {
    let Some(shared) = support::shared("a_crawl_day_by_day") else {
        return;
    };
    let days = support::golden(&shared, "friendlinks.days");
    let mut web = Web::default();
    for (day, golden) in days.as_object().unwrap() {
        let delta = shared
            .join("data/friendlinks")
            .join(format!("{day}.jsonl.gz"));
        web.apply(&support::gunzip(&delta));
        let params = CoreParams {
            seeds: 30,
            ..CoreParams::default()
        };
        let selection =
            select_in_graph(&web.hub_graph(false, false), &params, &[], &Unwatched).unwrap();
        compare(day, &selection, golden, &web.urls());
    }
}
