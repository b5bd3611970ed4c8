//! What crawls from the seeds gather per page fetched, beside what other lists gather.

use crate::engine::{ComparedList, Comparison, Estimate, GatheredView, ListKind};
use crate::html::bars::{Bar, bars};
use crate::html::chart::Frame;
use crate::html::figure::Figure;
use crate::html::text::{Count, Measure, WithError, optional};

/// What a list is judged by: with pages held out, where any were.
pub(super) fn basis(list: &ComparedList) -> &GatheredView {
    &list.held_out.as_ref().unwrap_or(&list.known).all
}

/// A figure for each number of fetches; the list of the report is the first of each.
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
    let about = format!("Value of the pages that a breadth-first crawl fetches. {how}");
    let all: Vec<Bar> = lists
        .iter()
        .enumerate()
        .map(|(at, list)| bar(list, at == 0))
        .collect();
    let frame = Frame {
        id: &format!("fetches-{budget}"),
        title: &title,
        description: "One bar for each list of seeds; the table below has the numbers.",
        x: "value gathered",
        y: "",
    };
    let chart = bars(&frame, &all, 12.0);
    let percent = |number: Estimate| number.times(100.0).with_error();
    let rows = lists
        .iter()
        .map(|list| {
            let judged = basis(list);
            vec![
                list.list.clone(),
                judged.value.with_error(),
                judged.crawled.with_error(),
                judged.new_pages.with_error(),
                percent(judged.pagerank),
                list.known.all.value.mean.short(),
                optional(list.held_out.as_ref().map(|held| held.of_crawled.value)),
            ]
        })
        .collect();
    let heads = [
        "List",
        "Value",
        "Crawled (pages)",
        "Newly found (pages)",
        "PageRank (% of the web)",
        "Value, chosen with all known",
        "Value, of crawled pages alone",
    ];
    Figure::open(title.clone(), about, chart, &heads, rows)
}

/// A list as a bar.
pub(super) fn bar(list: &ComparedList, ours: bool) -> Bar {
    let value = basis(list).value;
    Bar {
        name: if ours {
            "these seeds".to_owned()
        } else {
            list.list.clone()
        },
        number: value.mean,
        error: value.error(),
        text: value.mean.short(),
        ours,
    }
}

/// The baselines at a number of fetches, the one of most value first.
pub(super) fn baselines(found: &Comparison, budget: u64) -> Vec<&ComparedList> {
    let of_budget = |list: &&ComparedList| list.budget == budget;
    let lists = found.lists.iter().filter(of_budget);
    let mut lists: Vec<&ComparedList> = lists
        .filter(|list| list.kind == ListKind::Baseline)
        .collect();
    lists.sort_by(|a, b| basis(b).value.mean.total_cmp(&basis(a).value.mean));
    lists
}
