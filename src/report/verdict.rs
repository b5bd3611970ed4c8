//! The verdict: whether the seeds are worth it, in one word with its figures.
//!
//! The verdict compares what a crawl from the seeds finds per page fetched, by the figure of the plan's goal,
//! with what common baselines find. The lists were selected while pages were held out, so that known
//! pages alone do not decide it.
//! Also the figures of what crawls find per page fetched, from which it follows.

use super::Report;

use crate::answers::dated_verdict;
use crate::engine::evaluate::{
    ComparedList, Comparison, CoverageCurve, Estimate, GatheredView, ListKind,
};
use crate::engine::plan::{CoverMethod, HeldOutVerdict, Measure as Compared, Method};
use crate::html::bars::{Bar, bars};
use crate::html::chart::Frame;
use crate::html::figure::Figure;
use crate::html::text::{Count, Measure, WithError};

/// The number of baselines that the chart shows.
const SHOWN: usize = 3;

/// The verdict with its figures.
pub(super) struct Verdict {
    pub(super) word: &'static str,
    pub(super) class: &'static str,
    /// The reason in a few words.
    pub(super) brief: Option<String>,
    /// The sentence with the figures; `None` if nothing was measured.
    pub(super) text: Option<String>,
}

/// With the experiments, returns *yes* if the figure that decides exceeds that of every baseline by more than two
/// standard errors at every number of fetches, *in part* if it does at some, else *no*. Without them, returns the
/// verdict that the refresh stored.
pub(super) fn verdict(report: &Report) -> Verdict {
    let fetches = fetches(report);
    if let (None, Some(stored)) = (fetches, stored(report)) {
        return of_stored(stored);
    }
    let own = fetches.map(own_results).unwrap_or_default();
    let mut verdict = compare(&own);
    let claim = fetches.and_then(|found| found.claims.first());
    verdict.text = claim.map(|claim| claim.text.clone());
    verdict
}

/// The comparison by fetches of the experiments; `None` if they were not run.
fn fetches(report: &Report) -> Option<&Comparison> {
    report.crawl.as_ref()?.fetches.as_ref()
}

/// The verdict that the refresh stored; `None` if the plan was not judged.
fn stored(report: &Report) -> Option<&HeldOutVerdict> {
    report.refresh.parameters.judged.as_ref()
}

/// Returns *yes* if the figure exceeds that of the best baseline by more than two standard errors, *no* if it is
/// less, else *uncertain*; *not measured* if another list was judged.
fn of_stored(stored: &HeldOutVerdict) -> Verdict {
    if !stored.is_of_this_list() {
        return Verdict {
            word: "Not measured",
            class: "unknown",
            brief: None,
            text: Some(format!("The plan {}.", dated_verdict(stored))),
        };
    }
    let is_above = stored.times_best_baseline.is_none_or(|times| {
        let error = times.standard_error.unwrap_or(f64::INFINITY);
        times.mean - 2.0 * error > 1.0
    });
    let (word, class) = match (stored.is_loss(), is_above) {
        (true, _) => ("No", "fails"),
        (false, true) => ("Yes", "holds"),
        (false, false) => ("Uncertain", "partly"),
    };
    Verdict {
        word,
        class,
        brief: stored.times_best_baseline.map(|times| {
            format!(
                "Times what the best baseline finds in {}: {}",
                stored.budget.counted("page fetched", "pages fetched"),
                times.with_error()
            )
        }),
        text: Some(format!("The plan {}.", dated_verdict(stored))),
    }
}

/// The results of the list of the report, one per number of fetches.
fn own_results(found: &Comparison) -> Vec<&ComparedList> {
    let Some(first) = found.lists.first() else {
        return Vec::new();
    };
    let lists = found.lists.iter();
    lists.filter(|list| list.list == first.list).collect()
}

fn compare(own: &[&ComparedList]) -> Verdict {
    let known: Vec<bool> = own.iter().filter_map(|list| list.above_baselines).collect();
    let above = known.iter().filter(|above| **above).count();
    let (word, class) = match (above, known.len()) {
        (_, 0) => ("Not measured", "unknown"),
        (0, _) => ("No", "fails"),
        (above, all) if above == all => ("Yes", "holds"),
        _ => ("In part", "partly"),
    };
    let times = own.iter().filter_map(|list| {
        let times = list.times_best_baseline?.mean.short();
        Some(format!("{times} at {}", list.budget.whole()))
    });
    let times: Vec<String> = times.collect();
    Verdict {
        word,
        class,
        brief: (!times.is_empty()).then(|| {
            format!(
                "Times what the best baseline finds, by pages fetched: {}",
                times.join(", ")
            )
        }),
        text: None,
    }
}

/// Whether a curve is that of the plan's method, at the plan's depth if it has one.
pub(super) fn is_own_method(report: &Report, curve: &CoverageCurve) -> bool {
    let depth = report.refresh.parameters.depth.unwrap_or(2);
    let same_depth = curve.depth.is_none_or(|of_curve| of_curve == depth);
    report.method == Method::Cover(curve.method)
        && (same_depth || curve.method == CoverMethod::Greedy)
}

/// A chart of what the seeds and the best baselines find: at the middle number of fetches of the experiments, else
/// at the number of fetches of the stored verdict on this list.
pub(super) fn chart(report: &Report) -> Option<String> {
    let (measure, budget, all) = if let Some(found) = fetches(report) {
        let budget = *found.budgets.get(found.budgets.len() / 2)?;
        let own = found.lists.iter().find(|list| list.budget == budget)?;
        let others = baselines(found, budget).into_iter().take(SHOWN);
        let others = others.map(|list| bar(list, found.measure, false));
        let mut all = vec![bar(own, found.measure, true)];
        all.extend(others);
        (found.measure, budget, all)
    } else {
        let stored = stored(report).filter(|stored| stored.is_of_this_list())?;
        (stored.measure, stored.budget, stored_bars(stored))
    };
    let title = format!(
        "{} in {}",
        figure_name(measure),
        budget.counted("page fetched", "pages fetched")
    );
    let frame = Frame {
        id: "answer-chart",
        title: &title,
        description: "A bar for the seeds and for each of the best baselines, with their numbers.",
        x: "",
        y: &title,
    };
    Some(bars(&frame, &all, 14.0))
}

fn stored_bars(stored: &HeldOutVerdict) -> Vec<Bar> {
    let bar = |name: &str, found: Estimate, is_own: bool| Bar {
        name: name.to_owned(),
        number: found.mean,
        error: found.error(),
        text: found.mean.short(),
        is_highlighted: is_own,
    };
    vec![
        bar("these seeds", stored.found, true),
        bar(&stored.baseline, stored.baseline_found, false),
    ]
}

/// The results that lists are compared by: those with held-out pages, if there are any.
fn compared_results(list: &ComparedList) -> &GatheredView {
    &list.held_out.as_ref().unwrap_or(&list.known).all
}

/// A figure for each number of fetches; the list of the report is the first.
pub(super) fn figures(found: &Comparison) -> Vec<Figure> {
    let budgets = found.budgets.iter();
    budgets.map(|&budget| figure(found, budget)).collect()
}

fn figure(found: &Comparison, budget: u64) -> Figure {
    let lists: Vec<&ComparedList> = found.lists.iter().filter(|l| l.budget == budget).collect();
    let title = format!(
        "What {}",
        budget.counted("page fetched brings", "pages fetched bring")
    );
    let how = if found.draws > 0 {
        format!(
            "Each list was chosen {} with {} of this web held out, and judged with everything (mean ± standard error). Newly found are those that were held out.",
            found.draws.counted("time", "times"),
            found.held_out.counted("crawled page", "crawled pages")
        )
    } else {
        "Each list was chosen and judged with everything known.".to_owned()
    };
    let about = format!(
        "{} among the pages that a breadth-first crawl fetches. {how}",
        figure_name(found.measure)
    );
    let all: Vec<Bar> = lists
        .iter()
        .enumerate()
        .map(|(at, list)| bar(list, found.measure, at == 0))
        .collect();
    let frame = Frame {
        id: &format!("fetches-{budget}"),
        title: &title,
        description: "One bar for each list of seeds; the table below has the numbers.",
        x: figure_name(found.measure),
        y: "",
    };
    let chart = bars(&frame, &all, 12.0);
    let percent = |number: Estimate| number.times(100.0).with_error();
    let rows = lists
        .iter()
        .map(|list| {
            let results = compared_results(list);
            vec![
                list.list.clone(),
                results.contents.with_error(),
                results.crawled.with_error(),
                results.new_pages.with_error(),
                results.discovered.with_error(),
                percent(results.pagerank),
                results.value.with_error(),
                list.known.all.value.mean.short(),
            ]
        })
        .collect();
    let heads = [
        "List",
        "Distinct contents",
        "Crawled (pages)",
        "Newly found (pages)",
        "Seen for the first time (pages)",
        "PageRank (% of the web)",
        "Value",
        "Value, chosen with all known",
    ];
    Figure::open(title.clone(), about, chart, &heads, rows)
}

/// The name of the figure that decides.
const fn figure_name(measure: Compared) -> &'static str {
    match measure {
        Compared::Crawled => "Crawled pages",
        Compared::Contents => "Distinct contents",
        Compared::Discovered => "Pages seen for the first time",
        Compared::Pagerank => "PageRank",
    }
}

/// The bar of a list; `is_own` if it is the list of the report.
fn bar(list: &ComparedList, measure: Compared, is_own: bool) -> Bar {
    let value = compared_results(list).by(measure);
    Bar {
        name: if is_own {
            "these seeds".to_owned()
        } else {
            list.list.clone()
        },
        number: value.mean,
        error: value.error(),
        text: value.mean.short(),
        is_highlighted: is_own,
    }
}

/// The baselines at a number of fetches, by descending figure.
fn baselines(found: &Comparison, budget: u64) -> Vec<&ComparedList> {
    let of_budget = |list: &&ComparedList| list.budget == budget;
    let lists = found.lists.iter().filter(of_budget);
    let mut lists: Vec<&ComparedList> = lists
        .filter(|list| list.kind == ListKind::Baseline)
        .collect();
    let figure = |list: &ComparedList| compared_results(list).by(found.measure).mean;
    lists.sort_by(|a, b| figure(b).total_cmp(&figure(a)));
    lists
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::evaluate::{ByFetches, GatheredView, ListKind};
    use crate::engine::plan::{Crawls, Measure as Compared};

    fn list(above_baselines: Option<bool>) -> ComparedList {
        let number = Estimate {
            mean: 1.5,
            standard_error: Some(0.1),
        };
        let gathered = GatheredView {
            fetched: number,
            value: number,
            crawled: number,
            contents: number,
            new_pages: number,
            new_contents: number,
            discovered: number,
            pagerank: number,
        };
        let by_fetches = ByFetches {
            all: gathered,
            of_crawled: gathered,
        };
        ComparedList {
            list: "refresh 1 of plan default".to_owned(),
            kind: ListKind::Plan,
            parameters: None,
            seeds: 20,
            listed: 20,
            budget: 5000,
            known: by_fetches,
            held_out: Some(by_fetches),
            since: None,
            times_best_baseline: Some(number),
            times_best_value: Some(number),
            above_baselines,
        }
    }

    #[track_caller]
    fn word(above: &[Option<bool>], expected: &str) -> Option<String> {
        let lists: Vec<ComparedList> = above.iter().copied().map(list).collect();
        let verdict = compare(&lists.iter().collect::<Vec<_>>());
        assert_eq!(verdict.word, expected);
        verdict.brief
    }

    #[test]
    fn yes_needs_every_number_of_fetches() {
        assert_eq!(
            word(&[Some(true), Some(true)], "Yes").as_deref(),
            Some(
                "Times what the best baseline finds, by pages fetched: 1.5 at 5,000, 1.5 at 5,000"
            )
        );
        word(&[Some(true), Some(false)], "In part");
        word(&[Some(false)], "No");
        word(&[None], "Not measured");
        assert_eq!(word(&[], "Not measured"), None);
    }

    #[test]
    fn a_stored_verdict_is_uncertain_within_two_standard_errors() {
        let of = |times: Option<f64>, age_batches| {
            let estimate = |mean| Estimate {
                mean,
                standard_error: Some(0.1),
            };
            of_stored(&HeldOutVerdict {
                batch: 3,
                age_batches,
                seeds: 20,
                budget: 5000,
                crawl: Crawls::default(),
                whole_after: None,
                draws: 3,
                list: None,
                new: None,
                breadth_first: None,
                measure: Compared::Crawled,
                found: estimate(3986.0),
                baseline: "pagerank".to_owned(),
                baseline_found: estimate(3274.0),
                times_best_baseline: times.map(estimate),
            })
        };
        for (times, expected) in [
            (Some(1.21), "Yes"),
            (Some(1.19), "Uncertain"),
            (Some(0.99), "No"),
            (None, "Yes"),
        ] {
            let verdict = of(times, 0);
            assert_eq!(verdict.word, expected, "{times:?}");
            assert_eq!(verdict.brief.is_some(), times.is_some());
            let text = verdict.text.unwrap();
            let start =
                "The plan was judged after batch 3: from this list a crawl of 5,000 fetches";
            assert!(text.starts_with(start), "{text}");
            let verdict = of(times, 2);
            assert_eq!((verdict.word, verdict.brief), ("Not measured", None));
            let text = verdict.text.unwrap();
            let start = "The plan was judged after batch 3, of another list: from its list a crawl of 5,000";
            assert!(text.starts_with(start), "{text}");
        }
    }
}
