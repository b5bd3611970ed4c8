//! What cover methods cover beyond random pages: by method, by the number of seeds, by hops.

use super::bars::{Bar, bars};
use super::chart::{Frame, LOOKS, Series, lines};
use super::data::{Coverage, CoveragePoint, Mean, MethodCurve, Report};
use super::experiments::{figure, optional, point, table};
use super::judge::is_ours;
use super::text::{counted, short, whole, with_error};

/// Where curves are told in numbers; a column for every point would be wider than the page.
const IN_TABLE: [u32; 4] = [1, 2, 3, 5];

/// The three charts on coverage.
pub(super) fn charts(out: &mut String, report: &Report, coverage: &Coverage) {
    covered_by_method(out, report, coverage);
    covered(
        out,
        "Value covered, by the number of seeds",
        &format!(
            "each seed covering what is within {}",
            counted(coverage.hops.into(), "link", "links")
        ),
        ("by-seeds", "seeds for each site"),
        &coverage.by_seeds,
        |point| point.per_site,
    );
    covered(
        out,
        "Value covered, by how far a seed reaches",
        &format!(
            "with {} for each site",
            counted(coverage.per_site.into(), "seed", "seeds")
        ),
        ("by-hops", "links that a seed reaches (hops)"),
        &coverage.by_hops,
        |point| point.hops,
    );
}

/// A method's name, with the depth of its weight.
fn name(curve: &MethodCurve) -> String {
    match curve.depth {
        // Greedy looks as far as a seed reaches.
        Some(depth) if curve.method != "greedy" => format!("{} d{depth}", curve.method),
        _ => curve.method.clone(),
    }
}

fn covered_by_method(out: &mut String, report: &Report, coverage: &Coverage) {
    let most = coverage.by_seeds.iter();
    let most = most.filter_map(|curve| curve.points.last().map(|point| point.per_site));
    let title = format!(
        "Value that {} for each site cover, by method",
        counted(most.max().unwrap_or(0).into(), "seed", "seeds")
    );
    let about = format!(
        "Beyond what random pages cover: mean over {} of the {} with {} crawled pages or more, whiskers: ± standard error. d2 weighs what lies within 2 links.",
        whole(coverage.sites),
        counted(coverage.sites_all, "site", "sites"),
        coverage.min_pages
    );
    let mut of_methods: Vec<(Mean, String, bool)> = coverage
        .by_seeds
        .iter()
        .filter_map(|curve| {
            let more = curve.points.last()?.more_value?;
            Some((more, name(curve), is_ours(report, curve)))
        })
        .collect();
    of_methods.sort_by(|a, b| b.0.mean.total_cmp(&a.0.mean).then(a.1.cmp(&b.1)));
    let all: Vec<Bar> = of_methods
        .into_iter()
        .map(|(more, name, ours)| Bar {
            name,
            number: more.mean,
            error: more.error,
            text: {
                let plus = if more.mean > 0.0 { "+" } else { "" };
                // Two decimals have room beside the bar.
                format!("{plus}{} %", short((more.mean * 100.0).round() / 100.0))
            },
            ours,
        })
        .collect();
    figure(out, &title, &about);
    let frame = Frame {
        id: "methods",
        title: &title,
        description: "One bar for each method with its number beside it, the best first.",
        x: "value covered above random (%)",
        y: "",
    };
    out.push_str(&bars(&frame, &all, 108.0, 66.0));
    let rows: Vec<Vec<String>> = coverage
        .by_seeds
        .iter()
        .filter_map(|curve| {
            let last = curve.points.last()?;
            Some(vec![
                name(curve),
                optional(last.more_value),
                with_error(last.value),
                with_error(last.pages),
            ])
        })
        .collect();
    table(
        out,
        &[
            "Method",
            "Value above random (%)",
            "Value (% of site)",
            "Pages (% of site)",
        ],
        &rows,
    );
    out.push_str("</figure>\n");
}

fn covered(
    out: &mut String,
    title: &str,
    about: &str,
    (id, axis): (&str, &str),
    curves: &[MethodCurve],
    along: impl Fn(&CoveragePoint) -> u32,
) {
    let methods: Vec<&MethodCurve> = curves
        .iter()
        .filter(|curve| curve.points.iter().any(|p| p.more_value.is_some()))
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
                .filter_map(|p| Some(point(along(p), p.more_value?.mean, 0.0)))
                .collect(),
        })
        .collect();
    if series.is_empty() {
        return;
    }
    figure(
        out,
        title,
        &format!("Beyond what random pages cover, {about}. Zero is random itself."),
    );
    let frame = Frame {
        id,
        title,
        description: "One line for each method; the table below has the numbers.",
        x: axis,
        y: "value covered above random (%)",
    };
    out.push_str(&lines(&frame, &series, 110.0));
    let mut heads = vec!["Above random (%)".to_owned()];
    heads.extend(IN_TABLE.iter().map(ToString::to_string));
    let rows: Vec<Vec<String>> = methods
        .iter()
        .map(|curve| {
            let cells = IN_TABLE.iter().map(|&at| {
                let here = curve.points.iter().find(|p| along(p) == at);
                optional(here.and_then(|p| p.more_value))
            });
            std::iter::once(name(curve)).chain(cells).collect()
        })
        .collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    table(out, &heads, &rows);
    out.push_str("</figure>\n");
}
