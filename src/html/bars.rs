//! Bar charts as inline SVG: one bar per line, with its name on the left and its number on the right.

use std::borrow::Cow;

use super::chart::{Frame, WIDTH, label, open, stroke, ticks};
use super::text::{put, tick};

const LINE: f64 = 22.0;
const TOP: f64 = 22.0;
const BOTTOM: f64 = 40.0;
/// The bottom margin without an axis title.
const BOTTOM_BARE: f64 = 20.0;
/// The width of a letter relative to the font size; slightly more than in most fonts.
const LETTER: f64 = 0.6;
/// The width of a bold letter relative to a regular one.
const BOLD: f64 = 1.15;
/// The space between a text and its neighbour.
const GAP: f64 = 6.0;
/// The largest width of the names; longer names are truncated.
const MAX_NAMES_WIDTH: f64 = 0.52 * WIDTH;
/// The distance between two numbers under the axis, in letters.
const TICK_DISTANCE: f64 = 7.0;

/// One bar.
pub(crate) struct Bar {
    pub(crate) name: String,
    pub(crate) number: f64,
    pub(crate) error: f64,
    /// The formatted number.
    pub(crate) text: String,
    /// Whether the bar is highlighted.
    pub(crate) is_highlighted: bool,
}

/// Draws a bar chart. `size` is the font size in the units of the chart, which must match the style sheet.
pub(crate) fn bars(frame: &Frame<'_>, bars: &[Bar], size: f64) -> String {
    let letter = LETTER * size;
    let wide = |bar: &Bar| {
        if bar.is_highlighted {
            BOLD * letter
        } else {
            letter
        }
    };
    let room = |text: &dyn Fn(&Bar) -> &str| {
        let widths = bars
            .iter()
            .map(|bar| text(bar).chars().count() as f64 * wide(bar));
        widths.fold(0.0, f64::max) + 2.0 * GAP
    };
    let left = room(&|bar| &bar.name).min(MAX_NAMES_WIDTH);
    let right = WIDTH - room(&|bar| &bar.text);
    let bounds = bars
        .iter()
        .flat_map(|bar| [bar.number - bar.error, bar.number + bar.error]);
    let (low, high) = bounds.fold((0.0_f64, 0.0_f64), |(low, high), x| {
        (low.min(x), high.max(x))
    });
    let wanted = ((right - left) / (TICK_DISTANCE * letter)).floor();
    let xs = ticks(low, high, wanted.clamp(1.0, 4.0));
    let (low, high) = (xs[0], xs[xs.len() - 1]);
    let bottom = TOP + LINE * bars.len() as f64;
    let x_of = |x: f64| left + (x - low) / (high - low) * (right - left);

    let mut out = String::new();
    let below = if frame.x.is_empty() {
        BOTTOM_BARE
    } else {
        BOTTOM
    };
    open(&mut out, frame, bottom + below);
    label(&mut out, 2.0, 12.0, "axis", frame.y);
    for &x in &xs {
        let class = if x == 0.0 { "zero" } else { "grid" };
        stroke(&mut out, class, (x_of(x), TOP), (x_of(x), bottom + 3.0));
        label(&mut out, x_of(x), bottom + 16.0, "mid", &tick(x));
    }
    let middle = f64::midpoint(left, right);
    if !frame.x.is_empty() {
        label(&mut out, middle, bottom + below - 6.0, "mid axis", frame.x);
    }
    for (at, bar) in (0..).zip(bars) {
        let top = TOP + LINE * f64::from(at);
        let middle = top + LINE / 2.0;
        let (from, to) = (x_of(bar.number.min(0.0)), x_of(bar.number.max(0.0)));
        let class = if bar.is_highlighted {
            "bar ours"
        } else {
            "bar"
        };
        put(
            &mut out,
            format_args!(
                "<rect class=\"{class}\" x=\"{from:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
                top + 4.0,
                (to - from).max(0.5),
                LINE - 8.0
            ),
        );
        if bar.error > 0.0 {
            let (a, b) = (x_of(bar.number - bar.error), x_of(bar.number + bar.error));
            stroke(&mut out, "whisker", (a, middle), (b, middle));
            stroke(&mut out, "whisker", (a, middle - 3.0), (a, middle + 3.0));
            stroke(&mut out, "whisker", (b, middle - 3.0), (b, middle + 3.0));
        }
        let class = if bar.is_highlighted {
            "end strong"
        } else {
            "end"
        };
        let name = truncate(&bar.name, (left - GAP) / wide(bar));
        label(&mut out, left - GAP, middle + 4.0, class, &name);
        let class = if bar.is_highlighted { "strong" } else { "" };
        label(&mut out, right + GAP, middle + 4.0, class, &bar.text);
    }
    out.push_str("</svg>");
    out
}

/// Truncates a name to at most `most` letters.
pub(crate) fn truncate(name: &str, most: f64) -> Cow<'_, str> {
    let letters = name.chars().count();
    let mut length = letters;
    while length > 1 && length as f64 > most {
        length -= 1;
    }
    if length == letters {
        return name.into();
    }
    let truncated: String = name.chars().take(length - 1).collect();
    format!("{truncated}…").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_start_at_zero_on_either_side() {
        let bar = |number| Bar {
            name: "<b>".to_owned(),
            number,
            error: 0.0,
            text: String::new(),
            is_highlighted: false,
        };
        let frame = Frame {
            id: "b",
            title: "",
            description: "",
            x: "",
            y: "",
        };
        // Three letters of 12 units and two gaps at the left, two gaps at the right.
        let drawn = bars(&frame, &[bar(10.0), bar(-10.0)], 12.0);
        let (left, right) = (3.0 * 7.2 + 12.0, 344.0 - 12.0);
        let (half, middle) = ((right - left) / 2.0, f64::midpoint(left, right));
        let of = |x: f64, y: &str| format!("x=\"{x:.1}\" y=\"{y}\" width=\"{half:.1}\"");
        assert!(drawn.contains(&of(middle, "26.0")), "{drawn}");
        assert!(drawn.contains(&of(left, "48.0")), "{drawn}");
        assert!(drawn.contains("&lt;b&gt;"));
    }

    #[test]
    fn long_names_are_truncated() {
        assert_eq!(truncate("abc", 3.0), "abc");
        assert_eq!(truncate("abcd", 3.9), "ab…");
        assert_eq!(truncate("ab", 0.0), "…");
        assert_eq!(truncate("", 0.0), "");
    }
}
