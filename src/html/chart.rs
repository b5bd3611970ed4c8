//! Line charts as inline SVG: axes with units, lines named at their ends, error bars, and a description for
//! screen readers.
//!
//! A chart is drawn at the width of a phone and scales up, so that its text is readable at 320 pixels. Lines
//! differ in colour (the colour-blind safe palette of Okabe and Ito), mark and dash.

use super::text::{escape, put, tick};

/// The width of every chart, in its own units.
pub(crate) const WIDTH: f64 = 344.0;
const HEIGHT: f64 = 250.0;
const LEFT: f64 = 44.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 44.0;
/// The height of a line of text.
const LINE: f64 = 13.0;
/// The width of a digit on an axis.
const LETTER: f64 = 7.2;

/// The title, description and axis titles of a chart.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a> {
    /// The id of the chart, unique on the page.
    pub(crate) id: &'a str,
    /// The title.
    pub(crate) title: &'a str,
    /// The description for screen readers.
    pub(crate) description: &'a str,
    /// The title of the horizontal axis, with its unit.
    pub(crate) x: &'a str,
    /// The title of the vertical axis, with its unit.
    pub(crate) y: &'a str,
}

/// A point with the standard error of `y`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) error: f64,
}

impl Point {
    /// A point at an integer, such as a depth.
    pub(crate) fn at(x: u32, y: f64, error: f64) -> Self {
        let x = f64::from(x);
        Point { x, y, error }
    }
}

/// The number of line styles in the style sheet.
pub(crate) const LOOKS: usize = 10;

/// One line.
pub(crate) struct Series {
    pub(crate) name: String,
    /// The number of its line style: colour, dash and mark.
    pub(crate) look: usize,
    pub(crate) points: Vec<Point>,
}

/// Writes the start of an SVG image with its title and description.
pub(crate) fn open(out: &mut String, frame: &Frame<'_>, height: f64) {
    put(
        out,
        format_args!(
            "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" \
             aria-labelledby=\"{id}-t {id}-d\"><title id=\"{id}-t\">{}</title>\
             <desc id=\"{id}-d\">{}</desc>",
            escape(frame.title),
            escape(frame.description),
            id = frame.id,
        ),
    );
}

/// Writes text; `class` selects its anchor and style.
pub(crate) fn label(out: &mut String, x: f64, y: f64, class: &str, text: &str) {
    put(
        out,
        format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"{class}\">{}</text>",
            escape(text)
        ),
    );
}

/// Writes a straight line.
pub(crate) fn stroke(out: &mut String, class: &str, from: (f64, f64), to: (f64, f64)) {
    put(
        out,
        format_args!(
            "<line class=\"{class}\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>",
            from.0, from.1, to.0, to.1
        ),
    );
}

/// Returns round numbers that span a range in about `wanted` steps.
pub(crate) fn ticks(low: f64, high: f64, wanted: f64) -> Vec<f64> {
    let span = high - low;
    // Also handles NaN.
    if !(span > 0.0 && span.is_finite()) {
        return vec![low, low + 1.0];
    }
    let rough = span / wanted;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= rough * 0.999)
        .unwrap_or(10.0 * power);
    let first = (low / step + 1e-9).floor();
    let last = (high / step - 1e-9).ceil();
    let mut found = Vec::new();
    let mut at = first;
    while at <= last && found.len() < 50 {
        found.push(at * step);
        at += 1.0;
    }
    found
}

/// Places the names of lines at the right without overlaps, each as near to its preferred position as the
/// others allow.
fn spread(preferred: &[f64], low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..preferred.len()).collect();
    order.sort_by(|&a, &b| preferred[a].total_cmp(&preferred[b]).then(a.cmp(&b)));
    let mut places = vec![0.0; preferred.len()];
    let mut next = low;
    for &at in &order {
        places[at] = preferred[at].max(next);
        next = places[at] + LINE;
    }
    let mut next = high;
    for &at in order.iter().rev() {
        places[at] = places[at].min(next);
        next = places[at] - LINE;
    }
    places
}

/// Draws a line chart. `names` is the width for the names at the right. If `most` is given, error bars are
/// clipped to 0 and `most`.
pub(crate) fn lines(frame: &Frame<'_>, series: &[Series], names: f64, most: Option<f64>) -> String {
    draw(frame, series, names, most, false)
}

/// As [`lines`], of positive numbers without errors, on a logarithmic vertical axis from 1 to a power of ten.
pub(crate) fn log_lines(frame: &Frame<'_>, series: &[Series], names: f64) -> String {
    let logarithm = |point: &Point| Point {
        y: point.y.max(1.0).log10(),
        ..*point
    };
    let of_line = |line: &Series| Series {
        name: line.name.clone(),
        look: line.look,
        points: line.points.iter().map(logarithm).collect(),
    };
    let series: Vec<Series> = series.iter().map(of_line).collect();
    draw(frame, &series, names, None, true)
}

/// Draws a line chart; `is_log` says that numbers are decimal logarithms of those on the axis.
fn draw(
    frame: &Frame<'_>,
    series: &[Series],
    names: f64,
    most: Option<f64>,
    is_log: bool,
) -> String {
    let right = WIDTH - names;
    let points = || series.iter().flat_map(|line| &line.points);
    let xs = points().map(|point| point.x);
    let (first, last) = (
        xs.clone().fold(f64::INFINITY, f64::min),
        xs.fold(f64::NEG_INFINITY, f64::max),
    );
    let top = |p: &Point| (p.y + p.error).min(most.map_or(f64::INFINITY, |most| most.max(p.y)));
    let foot = |p: &Point| (p.y - p.error).max(most.map_or(f64::NEG_INFINITY, |_| p.y.min(0.0)));
    let bounds = points().flat_map(|p| [foot(p), top(p)]);
    let (low, high) = bounds.fold((0.0_f64, 0.0_f64), |(low, high), y| {
        (low.min(y), high.max(y))
    });
    let ys = if is_log {
        let next = |power: &f64| (*power < high.max(1.0)).then_some(power + 1.0);
        std::iter::successors(Some(0.0), next).collect()
    } else {
        ticks(low, high, 5.0)
    };
    let (low, high) = (ys[0], ys[ys.len() - 1]);
    let bottom = HEIGHT - BOTTOM;
    let x_of = |x: f64| {
        let share = if last > first {
            (x - first) / (last - first)
        } else {
            0.5
        };
        LEFT + 8.0 + share * (right - LEFT - 16.0)
    };
    let y_of = |y: f64| bottom - (y - low) / (high - low) * (bottom - TOP);

    let mut out = String::new();
    open(&mut out, frame, HEIGHT);
    label(&mut out, 2.0, 12.0, "axis", frame.y);
    for &y in &ys {
        let class = if y == 0.0 { "zero" } else { "grid" };
        stroke(&mut out, class, (LEFT, y_of(y)), (right, y_of(y)));
        let number = if is_log { 10_f64.powf(y) } else { y };
        label(&mut out, LEFT - 5.0, y_of(y) + 4.0, "end", &tick(number));
    }
    // The width of the longest number with a margin.
    let step = LETTER * (tick(last).chars().count() + 1) as f64;
    for x in whole_steps(first, last, (right - LEFT) / step) {
        stroke(&mut out, "grid", (x_of(x), bottom), (x_of(x), bottom + 4.0));
        label(&mut out, x_of(x), bottom + 17.0, "mid", &tick(x));
    }
    let middle = f64::midpoint(LEFT, right);
    label(&mut out, middle, HEIGHT - 8.0, "mid axis", frame.x);

    let ends: Vec<f64> = series
        .iter()
        .map(|line| line.points.last().map_or(bottom, |end| y_of(end.y)))
        .collect();
    let places = spread(&ends, TOP, bottom);
    for ((line, end), place) in series.iter().zip(ends).zip(places) {
        let look = line.look;
        put(&mut out, format_args!("<g class=\"s{look}\">"));
        let path: Vec<String> = line
            .points
            .iter()
            .map(|p| format!("{:.1},{:.1}", x_of(p.x), y_of(p.y)))
            .collect();
        put(
            &mut out,
            format_args!("<polyline class=\"line\" points=\"{}\"/>", path.join(" ")),
        );
        for p in &line.points {
            let (x, y) = (x_of(p.x), y_of(p.y));
            if p.error > 0.0 {
                let (up, down) = (y_of(top(p)), y_of(foot(p)));
                stroke(&mut out, "error", (x, up), (x, down));
                stroke(&mut out, "error", (x - 3.0, up), (x + 3.0, up));
                stroke(&mut out, "error", (x - 3.0, down), (x + 3.0, down));
            }
            mark(&mut out, look, x, y);
        }
        let from = line.points.last().map_or(right, |end| x_of(end.x) + 5.0);
        if (end - place).abs() > 2.0 {
            stroke(&mut out, "lead", (from, end), (right + 3.0, place));
        }
        label(&mut out, right + 5.0, place + 4.0, "name", &line.name);
        out.push_str("</g>");
    }
    out.push_str("</svg>");
    out
}

/// Returns the integers to print on an axis: at most `room`, and at most eleven.
fn whole_steps(first: f64, last: f64, room: f64) -> Vec<f64> {
    let span = last - first;
    if !span.is_finite() {
        return Vec::new();
    }
    let steps = (room - 1.0).clamp(1.0, 10.0);
    let step = (span / steps).ceil().max(1.0);
    let mut found = Vec::new();
    let mut at = first;
    while at <= last + 1e-9 && found.len() < 12 {
        found.push(at);
        at += step;
    }
    found
}

/// Writes the mark of a line style: a disc, square, triangle or diamond, filled or empty.
fn mark(out: &mut String, look: usize, x: f64, y: f64) {
    let class = if (look / 4).is_multiple_of(2) {
        "full"
    } else {
        "empty"
    };
    let path = match look % 4 {
        0 => {
            return put(
                out,
                format_args!("<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.4\"/>"),
            );
        }
        1 => [(-3.0, -3.0), (3.0, -3.0), (3.0, 3.0), (-3.0, 3.0)].to_vec(),
        2 => [(0.0, -3.9), (3.6, 2.9), (-3.6, 2.9)].to_vec(),
        _ => [(0.0, -4.2), (4.2, 0.0), (0.0, 4.2), (-4.2, 0.0)].to_vec(),
    };
    let corners: Vec<String> = path
        .into_iter()
        .map(|(dx, dy)| format!("{:.1},{:.1}", x + dx, y + dy))
        .collect();
    put(
        out,
        format_args!(
            "<polygon class=\"{class}\" points=\"{}\"/>",
            corners.join(" ")
        ),
    );
}

#[cfg(test)]
#[path = "chart_tests.rs"]
mod tests;
