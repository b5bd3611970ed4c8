use super::*;
use crate::engine::evaluate::methods::ByFetches;

fn gathered(value: f64, crawled: f64, pagerank: f64) -> ByFetches {
    let number = |mean| Estimate {
        mean,
        standard_error: None,
    };
    let view = GatheredView {
        fetched: number(10.0),
        value: number(value),
        crawled: number(crawled),
        contents: number(crawled),
        new_pages: number(0.0),
        new_contents: number(0.0),
        discovered: number(0.0),
        pagerank: number(pagerank),
    };
    ByFetches {
        all: view,
        of_crawled: view,
    }
}

fn list(name: &str, kind: ListKind, budget: u64, found: &ByFetches) -> ComparedList {
    let is_plan = kind == ListKind::Plan;
    ComparedList {
        list: name.to_owned(),
        kind,
        parameters: is_plan.then(Default::default),
        seeds: 2,
        listed: 2,
        budget,
        // What is held out decides, not this.
        known: gathered(99.0, 99.0, 0.9),
        held_out: Some(*found),
        since: None,
        times_best_baseline: is_plan.then_some(Estimate {
            mean: found.all.crawled.mean / 4.0,
            standard_error: Some(0.1),
        }),
        times_best_value: is_plan.then_some(Estimate {
            mean: found.all.value.mean / 3.0,
            standard_error: Some(0.1),
        }),
        above_baselines: is_plan.then_some(found.all.crawled.mean > 5.0),
    }
}

#[test]
fn the_claim_names_the_best_plan_and_where_baselines_exceed_it() {
    let lists = [
        list("greedy", ListKind::Plan, 1000, &gathered(6.0, 6.0, 0.2)),
        list("cores", ListKind::Plan, 1000, &gathered(3.0, 3.0, 0.1)),
        list(
            "pagerank",
            ListKind::Baseline,
            1000,
            &gathered(4.0, 4.0, 0.4),
        ),
        list("greedy", ListKind::Plan, 90, &gathered(5.0, 4.8, 0.5)),
        list("cores", ListKind::Plan, 90, &gathered(5.0, 5.0, 0.5)),
        list("pagerank", ListKind::Baseline, 90, &gathered(4.0, 4.0, 0.4)),
    ];
    let claim = &claims(&lists, Measure::Crawled, None)[0];
    assert!(!claim.holds);
    assert_eq!(
        claim.text,
        "Per page fetched, selected without the pages held out, greedy gathers 1.20 to 1.50 times \
             the crawled pages of the best baseline, and 1.67 to 2.00 times the best value; more than \
             every baseline by over two standard errors in 1 of 2 cases. It gathers less PageRank \
             with 2 seeds at 1,000 fetches (0.50 times that of pagerank)."
    );
    let plans: Vec<(u64, String)> = recommended(&lists, Measure::Crawled)
        .into_iter()
        .map(|plan| (plan.budget, plan.list))
        .collect();
    assert_eq!(
        plans,
        [(90, "cores".to_owned()), (1000, "greedy".to_owned())]
    );
    let cores = &claims(&lists, Measure::Crawled, Some("cores"))[0];
    assert!(
        cores.text.contains("cores gathers 0.75 to 1.25 times"),
        "{cores:?}"
    );
    assert!(cores.text.contains(
        "fewer crawled pages with 2 seeds at 1,000 fetches (0.75 times that of pagerank)"
    ));
    assert!(claims(&[], Measure::Crawled, None).is_empty());
}

#[test]
fn nothing_is_recommended_that_gathers_nothing() {
    let lists = [
        list("greedy", ListKind::Plan, 10, &gathered(-1.0, 0.0, 0.2)),
        list(
            "pagerank",
            ListKind::Baseline,
            10,
            &gathered(-2.0, 0.0, 0.2),
        ),
    ];
    assert!(recommended(&lists, Measure::Crawled).is_empty());
}
