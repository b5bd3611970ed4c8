//! Figures of what crawls from the seeds, and from other lists, find per page fetched.

use crate::engine::evaluate::{ComparedList, Comparison, Estimate, GatheredView, ListKind};
use crate::engine::plan::Measure as Compared;
use crate::html::bars::{Bar, bars};
use crate::html::chart::Frame;
use crate::html::figure::Figure;
use crate::html::text::{Count, Measure, WithError};

/// The results that lists are compared by: those with held-out pages, if there are any.
pub(super) fn compared_results(list: &ComparedList) -> &GatheredView {
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
pub(super) const fn figure_name(measure: Compared) -> &'static str {
    match measure {
        Compared::Crawled => "Crawled pages",
        Compared::Discovered => "Pages seen for the first time",
        Compared::Pagerank => "PageRank",
    }
}

/// The bar of a list; `is_own` if it is the list of the report.
pub(super) fn bar(list: &ComparedList, measure: Compared, is_own: bool) -> Bar {
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
pub(super) fn baselines(found: &Comparison, budget: u64) -> Vec<&ComparedList> {
    let of_budget = |list: &&ComparedList| list.budget == budget;
    let lists = found.lists.iter().filter(of_budget);
    let mut lists: Vec<&ComparedList> = lists
        .filter(|list| list.kind == ListKind::Baseline)
        .collect();
    let figure = |list: &ComparedList| compared_results(list).by(found.measure).mean;
    lists.sort_by(|a, b| figure(b).total_cmp(&figure(a)));
    lists
}
