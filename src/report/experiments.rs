//! The figures of the experiments.

use super::{Report, coverage, crawl, distance_map, fetches};
use crate::engine::evaluate::{BudgetEvaluation, DistancesEvaluation, Estimate};
use crate::engine::plan::Method;
use crate::html::bars::{Bar, bars};
use crate::html::chart::Frame;
use crate::html::figure::Figure;
use crate::html::text::{Count, Measure, WithError};

/// The figures of value per page fetched.
pub(super) fn by_fetches(report: &Report) -> Vec<Figure> {
    let fetches = report
        .crawl
        .iter()
        .filter_map(|crawl| crawl.fetches.as_ref());
    let mut all: Vec<Figure> = fetches.flat_map(fetches::figures).collect();
    all.extend(report.budget.as_ref().map(budgets));
    all
}

/// The papers' experiments that concern the plan, in the order of the page.
pub(super) fn figures(report: &Report) -> Vec<Figure> {
    let mut all = Vec::new();
    if let Some(crawl) = &report.crawl {
        all.extend(crawl::figures(crawl));
    }
    if covers_sites(report) {
        all.extend(coverage_figures(report));
    }
    all.extend(report.distances.as_ref().map(distance_figure));
    all
}

/// The papers' experiments on other methods than the plan's.
pub(super) fn other_figures(report: &Report) -> Vec<Figure> {
    if covers_sites(report) {
        return Vec::new();
    }
    coverage_figures(report)
}

fn coverage_figures(report: &Report) -> Vec<Figure> {
    let coverage = report.coverage.iter();
    coverage
        .flat_map(|found| coverage::figures(report, found))
        .collect()
}

/// Whether the plan covers sites.
pub(super) fn covers_sites(report: &Report) -> bool {
    report.method != Method::Cores && !report.is_web()
}

fn budgets(budget: &BudgetEvaluation) -> Figure {
    let title = format!(
        "What a crawl of {} gives",
        budget.budget.counted("page", "pages")
    );
    let all: Vec<Bar> = (0..)
        .zip(&budget.lists)
        .map(|(at, row)| {
            let pagerank = 100.0 * row.pagerank;
            Bar {
                name: if at == 0 {
                    "these seeds".to_owned()
                } else {
                    format!("{}: {}", at + 1, row.list.name)
                },
                number: pagerank,
                error: 0.0,
                text: format!("{} %", ((pagerank * 100.0).round() / 100.0).short()),
                is_highlighted: at == 0,
            }
        })
        .collect();
    let frame = Frame {
        id: "budget",
        title: &title,
        description: "One bar for each list of seeds with its number beside it.",
        x: "PageRank reached (% of the web)",
        y: "",
    };
    let chart = bars(&frame, &all, 12.0);
    let rows = (1..)
        .zip(&budget.lists)
        .map(|(at, row)| {
            vec![
                format!("{at}: {}", row.list.name),
                row.pages.whole(),
                row.value.short(),
                row.clicks.whole(),
                row.spam.whole(),
                (100.0 * row.pagerank).short(),
            ]
        })
        .collect();
    let heads = [
        "List",
        "Pages fetched",
        "Value",
        "Clicks",
        "Spam (pages)",
        "PageRank (% of the web)",
    ];
    let about = "Breadth first from the seeds, of this refresh and of other plans, in PageRank reached together (% of the web).";
    Figure::open(&*title, about, chart, &heads, rows)
}

fn distance_figure(found: &DistancesEvaluation) -> Figure {
    let distances = &found.distances;
    let all = distances.len();
    let shown = all.min(distance_map::SHOWN);
    let title = "How far the cores are from each other";
    let means = [
        (
            found.neighbours.mean.map(Measure::short),
            "between cores that are neighbours in rank",
        ),
        (found.all.mean.map(Measure::short), "between any two cores"),
        (
            found.graph.mean.map(Estimate::with_error),
            "between two pages of the web",
        ),
    ];
    let known = means
        .into_iter()
        .filter_map(|(mean, of)| Some(format!(" {} {of}", mean?)));
    let about = format!(
        "Links on the shortest path from a core (row) to another (column). On average{}; {} without a path. The farther the better: seeds should not lead to the same places.",
        known.collect::<Vec<String>>().join(","),
        found.all.unreachable.counted("pair is", "pairs are")
    );
    let frame = Frame {
        id: "distances",
        title,
        description: "A square for each pair of cores, shaded by the scale under the map, which goes from near to far; the table below has the numbers.",
        x: "to core",
        y: "from",
    };
    let heads = std::iter::once("From \\ to (links)".to_owned())
        .chain((1..=shown).map(|rank| rank.to_string()))
        .collect();
    let rows = (0..shown)
        .map(|from| {
            let cells = distances[from].iter().take(shown).enumerate();
            let cells = cells.map(|(to, distance)| match distance {
                _ if to == from => "·".to_owned(),
                None => "–".to_owned(),
                Some(distance) => distance.to_string(),
            });
            std::iter::once((from + 1).to_string())
                .chain(cells)
                .collect()
        })
        .collect();
    Figure {
        title: title.to_owned(),
        about,
        chart: distance_map::distance_map(&frame, distances),
        note: (all > shown).then(|| format!("The first {shown} of {all} cores.")),
        folded: Some("The distances as a table"),
        heads,
        rows,
    }
}
