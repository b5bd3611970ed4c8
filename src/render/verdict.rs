//! Renders the verdict on a plan.

use crate::engine::plan::{HeldOutVerdict, Measure, Method, PlanOptions, Scope};
use seedbank_algorithms::evaluate::Estimate;
use seedbank_formats::display::{counted, thousands};

/// Formats a verdict as a sentence.
///
/// ```text
/// held out, a crawl of 5,000 pages from these seeds finds 3,986 crawled pages, 1.22 ± 0.03 times the best
/// baseline (pagerank, 3,274)
/// ```
#[must_use]
pub fn verdict_sentence(verdict: &HeldOutVerdict) -> String {
    let figure = |found: Estimate| match verdict.measure {
        Measure::Crawled | Measure::Discovered => thousands(found.mean.round().max(0.0)),
        Measure::Pagerank => format!("{:.2} %", 100.0 * found.mean),
    };
    let found = figure(verdict.found);
    let found = match verdict.measure {
        Measure::Crawled => format!("finds {found} crawled pages"),
        Measure::Discovered => format!("sees {found} pages for the first time"),
        Measure::Pagerank => format!("fetches {found} of the PageRank"),
    };
    format!(
        "held out, a crawl of {} from these seeds {found}, {}",
        counted_pages(verdict.budget),
        verdict_ratio(verdict)
    )
}

/// Formats how the list compares with the best baseline, such as `1.22 ± 0.03 times the best baseline
/// (pagerank, 3,274)`.
#[must_use]
pub fn verdict_ratio(verdict: &HeldOutVerdict) -> String {
    let baseline = match verdict.measure {
        Measure::Crawled | Measure::Discovered => {
            thousands(verdict.baseline_found.mean.round().max(0.0))
        }
        Measure::Pagerank => format!("{:.2} %", 100.0 * verdict.baseline_found.mean),
    };
    let name = &verdict.baseline;
    let Some(times) = verdict.times_best_baseline else {
        return format!("where the best baseline ({name}) finds nothing");
    };
    let times = times_with_error(times);
    format!("{times} times the best baseline ({name}, {baseline})")
}

/// Formats a ratio with its standard error, such as `1.22 ± 0.03`.
#[must_use]
pub fn times_with_error(times: Estimate) -> String {
    let error = times
        .standard_error
        .map_or_else(String::new, |error| format!(" ± {error:.2}"));
    format!("{:.2}{error}", times.mean)
}

/// Returns what to do if the list finds less than a baseline; `None` if it does not.
#[must_use]
pub fn verdict_advice(verdict: &HeldOutVerdict, plan: &PlanOptions) -> Option<&'static str> {
    let is_over_web = plan.scope == Some(Scope::Web);
    match plan.method.unwrap_or_default() {
        _ if !verdict.is_loss() => None,
        Method::Cover(_) if is_over_web => Some(
            "`evaluate BANK methods` compares every goal and method for this number of seeds and pages",
        ),
        _ => Some("the goal coverage selects for crawls of a number of pages"),
    }
}

fn counted_pages(pages: u64) -> String {
    match pages {
        1 => counted(pages, "page"),
        pages => format!("{} pages", thousands(pages)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_the_unit_of_the_measure() {
        let estimate = |mean| Estimate {
            mean,
            standard_error: Some(0.031),
        };
        let mut verdict = HeldOutVerdict {
            batch: 1,
            seeds: 20,
            budget: 5000,
            draws: 3,
            measure: Measure::Crawled,
            found: estimate(3986.4),
            baseline: "pagerank".to_owned(),
            baseline_found: estimate(3274.0),
            times_best_baseline: Some(estimate(1.2176)),
        };
        assert_eq!(
            verdict_sentence(&verdict),
            "held out, a crawl of 5,000 pages from these seeds finds 3,986 crawled pages, \
             1.22 ± 0.03 times the best baseline (pagerank, 3,274)"
        );
        assert_eq!(verdict_advice(&verdict, &PlanOptions::default()), None);
        verdict.measure = Measure::Pagerank;
        (verdict.found, verdict.baseline_found) = (estimate(0.041), estimate(0.05));
        verdict.times_best_baseline = Some(estimate(0.82));
        assert_eq!(
            verdict_sentence(&verdict),
            "held out, a crawl of 5,000 pages from these seeds fetches 4.10 % of the PageRank, \
             0.82 ± 0.03 times the best baseline (pagerank, 5.00 %)"
        );
        assert!(verdict_advice(&verdict, &PlanOptions::default()).is_some());
        verdict.measure = Measure::Discovered;
        (verdict.budget, verdict.times_best_baseline) = (1, None);
        verdict.found = estimate(2.0);
        assert_eq!(
            verdict_sentence(&verdict),
            "held out, a crawl of 1 page from these seeds sees 2 pages for the first time, \
             where the best baseline (pagerank) finds nothing"
        );
    }
}
