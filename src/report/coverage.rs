//! Figures of the coverage of methods above random seeds: by method, by the number of seeds, by hops.

use super::Report;
use super::verdict::is_own_method;
use crate::engine::evaluate::{CoverageCurve, CoverageEvaluation, CoveragePoint, Estimate};
use crate::engine::plan::CoverMethod;
use crate::html::bars::{Bar, bars};
use crate::html::chart::{Frame, LOOKS, Point, Series, lines};
use crate::html::figure::Figure;
use crate::html::text::{Count, Measure, WithError, optional};

/// The points of a curve that the table shows; all points would be wider than the page.
const TABLE_POINTS: [u32; 4] = [1, 2, 3, 5];

/// The figures on coverage, without curves that cannot be compared with random.
pub(super) fn figures(
    report: &Report,
    coverage: &CoverageEvaluation,
) -> impl Iterator<Item = Figure> {
    let by_seeds = covered(
        "Value covered, by the number of seeds",
        |point| {
            let links = point.hops.counted("link", "links");
            format!("each seed covering what is within {links}")
        },
        &Axis {
            id: "by-seeds",
            title: "seeds for each site",
            one: "seed",
            many: "seeds",
        },
        &coverage.by_seeds,
        |point| point.seeds,
    );
    let by_hops = covered(
        "Value covered, by how far a seed reaches",
        |point| {
            format!(
                "with {} for each site",
                point.seeds.counted("seed", "seeds")
            )
        },
        &Axis {
            id: "by-hops",
            title: "links that a seed reaches (hops)",
            one: "link",
            many: "links",
        },
        &coverage.by_hops,
        |point| point.hops,
    );
    let all = [Some(by_method(report, coverage)), by_seeds, by_hops];
    all.into_iter().flatten()
}

/// The horizontal axis of a figure, with the noun of its numbers.
struct Axis<'a> {
    id: &'a str,
    title: &'a str,
    one: &'a str,
    many: &'a str,
}

/// The name of a method, with the depth of its weight.
fn name(curve: &CoverageCurve) -> String {
    let method = curve.method.name();
    match curve.depth {
        // The depth of greedy is always the number of hops.
        Some(depth) if curve.method != CoverMethod::Greedy => format!("{method} d{depth}"),
        _ => method.to_owned(),
    }
}

fn by_method(report: &Report, coverage: &CoverageEvaluation) -> Figure {
    let most = coverage.by_seeds.iter();
    let most = most.filter_map(|curve| curve.points.last().map(|point| point.seeds));
    let title = format!(
        "Value that {} for each site cover, by method",
        most.max().unwrap_or(0).counted("seed", "seeds")
    );
    let about = format!(
        "Beyond what random pages cover: mean over {} of the {} with {} crawled pages or more, whiskers: ± standard error. d2 weighs what lies within 2 links.",
        coverage.sites.whole(),
        coverage.eligible_sites.counted("site", "sites"),
        coverage.min_pages
    );
    let mut of_methods: Vec<(Estimate, String, bool)> = coverage
        .by_seeds
        .iter()
        .filter_map(|curve| {
            let more = curve.points.last()?.value.improvement?;
            Some((more, name(curve), is_own_method(report, curve)))
        })
        .collect();
    of_methods.sort_by(|a, b| b.0.mean.total_cmp(&a.0.mean).then(a.1.cmp(&b.1)));
    let all: Vec<Bar> = of_methods
        .into_iter()
        .map(|(more, name, is_own)| Bar {
            name,
            number: more.mean,
            error: more.error(),
            text: {
                let plus = if more.mean > 0.0 { "+" } else { "" };
                // At most two decimals fit beside the bar.
                format!("{plus}{} %", ((more.mean * 100.0).round() / 100.0).short())
            },
            is_highlighted: is_own,
        })
        .collect();
    let frame = Frame {
        id: "methods",
        title: &title,
        description: "One bar for each method with its number beside it, the best first.",
        x: "value covered above random (%)",
        y: "",
    };
    let chart = bars(&frame, &all, 12.0);
    let rows = coverage
        .by_seeds
        .iter()
        .filter_map(|curve| {
            let last = curve.points.last()?;
            Some(vec![
                name(curve),
                optional(last.value.improvement),
                last.value.percent.with_error(),
                last.pages.percent.with_error(),
            ])
        })
        .collect();
    let heads = [
        "Method",
        "Value above random (%)",
        "Value (% of site)",
        "Pages (% of site)",
    ];
    Figure::open(&*title, about, chart, &heads, rows)
}

/// A figure with a line for each method that can be compared with random; `None` if there is none.
fn covered(
    title: &str,
    about: impl Fn(&CoveragePoint) -> String,
    axis: &Axis<'_>,
    curves: &[CoverageCurve],
    x: impl Fn(&CoveragePoint) -> u32,
) -> Option<Figure> {
    let methods: Vec<&CoverageCurve> = curves
        .iter()
        .filter(|curve| curve.points.iter().any(|p| p.value.improvement.is_some()))
        .collect();
    let series: Vec<Series> = methods
        .iter()
        .enumerate()
        .map(|(look, curve)| Series {
            name: name(curve),
            look: look % LOOKS,
            points: curve
                .points
                .iter()
                // Errors are in the table: error bars would hide the lines.
                .filter_map(|p| Some(Point::at(x(p), p.value.improvement?.mean, 0.0)))
                .collect(),
        })
        .collect();
    let about = about(methods.first()?.points.first()?);
    let about = format!("Beyond what random pages cover, {about}. Zero is random itself.");
    let frame = Frame {
        id: axis.id,
        title,
        description: "One line for each method; the table below has the numbers.",
        x: axis.title,
        y: "value covered above random (%)",
    };
    let chart = lines(&frame, &series, 110.0, None);
    let numbers = TABLE_POINTS.map(|at| at.counted(axis.one, axis.many));
    let mut heads = vec!["Above random (%)"];
    heads.extend(numbers.iter().map(String::as_str));
    let rows = methods
        .iter()
        .map(|curve| {
            let cells = TABLE_POINTS.iter().map(|&at| {
                let here = curve.points.iter().find(|p| x(p) == at);
                optional(here.and_then(|p| p.value.improvement))
            });
            std::iter::once(name(curve)).chain(cells).collect()
        })
        .collect();
    Some(Figure::open(title, about, chart, &heads, rows))
}
