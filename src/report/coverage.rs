//! What cover methods cover beyond random pages: by method, by the number of seeds, by hops.

use super::Report;
use super::verdict::is_ours;
use crate::engine::{CoverMethod, CoverageCurve, CoverageEvaluation, CoveragePoint, Estimate};
use crate::html::bars::{Bar, bars};
use crate::html::chart::{Frame, LOOKS, Point, Series, lines};
use crate::html::figure::Figure;
use crate::html::text::{Count, Measure, WithError, optional};

/// Where curves are told in numbers; a column for every point would be wider than the page.
const IN_TABLE: [u32; 4] = [1, 2, 3, 5];

/// The figures on coverage; curves without a point that can be compared with random are left out.
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
        ("by-seeds", "seeds for each site", ["seed", "seeds"]),
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
        (
            "by-hops",
            "links that a seed reaches (hops)",
            ["link", "links"],
        ),
        &coverage.by_hops,
        |point| point.hops,
    );
    let all = [Some(by_method(report, coverage)), by_seeds, by_hops];
    all.into_iter().flatten()
}

/// A method's name, with the depth of its weight.
fn name(curve: &CoverageCurve) -> String {
    let method = curve.method.name();
    match curve.depth {
        // Greedy looks as far as a seed reaches.
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
            Some((more, name(curve), is_ours(report, curve)))
        })
        .collect();
    of_methods.sort_by(|a, b| b.0.mean.total_cmp(&a.0.mean).then(a.1.cmp(&b.1)));
    let all: Vec<Bar> = of_methods
        .into_iter()
        .map(|(more, name, ours)| Bar {
            name,
            number: more.mean,
            error: more.error(),
            text: {
                let plus = if more.mean > 0.0 { "+" } else { "" };
                // Two decimals have room beside the bar.
                format!("{plus}{} %", ((more.mean * 100.0).round() / 100.0).short())
            },
            ours,
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

/// A line for each method that is compared with random; `None` where none is.
fn covered(
    title: &str,
    about: impl Fn(&CoveragePoint) -> String,
    (id, axis, [one, many]): (&str, &str, [&str; 2]),
    curves: &[CoverageCurve],
    along: impl Fn(&CoveragePoint) -> u32,
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
                // Errors are in the table: so many whiskers would hide the lines.
                .filter_map(|p| Some(Point::at(along(p), p.value.improvement?.mean, 0.0)))
                .collect(),
        })
        .collect();
    let about = about(methods.first()?.points.first()?);
    let about = format!("Beyond what random pages cover, {about}. Zero is random itself.");
    let frame = Frame {
        id,
        title,
        description: "One line for each method; the table below has the numbers.",
        x: axis,
        y: "value covered above random (%)",
    };
    let chart = lines(&frame, &series, 110.0, None);
    let numbers = IN_TABLE.map(|at| at.counted(one, many));
    let mut heads = vec!["Above random (%)"];
    heads.extend(numbers.iter().map(String::as_str));
    let rows = methods
        .iter()
        .map(|curve| {
            let cells = IN_TABLE.iter().map(|&at| {
                let here = curve.points.iter().find(|p| along(p) == at);
                optional(here.and_then(|p| p.value.improvement))
            });
            std::iter::once(name(curve)).chain(cells).collect()
        })
        .collect();
    Some(Figure::open(title, about, chart, &heads, rows))
}
