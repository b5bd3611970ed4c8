//! The map of distances between cores as inline SVG: one square for each ordered pair of cores.
//!
//! Cores that are near each other lead to the same pages. Light and dark colour schemes shade in opposite
//! directions, so the scale below the map explains the shades. A pair without a path is an empty square with
//! a dot.

use crate::html::chart::{Frame, WIDTH, label, open};
use crate::html::text::put;

/// The most cores on the map; with more, squares would be too small.
pub(super) const SHOWN: usize = 40;
/// Up to this many cores, the squares contain the distances.
const NUMBERED: usize = 24;
const LEFT: f64 = 36.0;
const TOP: f64 = 34.0;
/// The number of shades, from near to far; the style sheet has a colour for each.
const SHADES: u32 = 7;

/// The shade of a distance; all distances from [`SHADES`] on have the same.
fn shade(distance: u32) -> u32 {
    distance.clamp(1, SHADES)
}

/// Draws the distances from each (row) of the first [`SHOWN`] cores to each (column), in links; `None`
/// without a path.
pub(super) fn distance_map(frame: &Frame<'_>, distances: &[Vec<Option<u32>>]) -> String {
    let shown = distances.len().min(SHOWN);
    // With few cores, squares do not fill the width.
    let size = ((WIDTH - LEFT - 4.0) / shown.max(1) as f64).min(30.0);
    let bottom = TOP + size * shown as f64;
    let mut out = String::new();
    open(&mut out, frame, bottom + 56.0);
    label(&mut out, LEFT, 12.0, "axis", frame.x);
    label(&mut out, 2.0, 12.0, "axis", frame.y);
    let every = shown.div_ceil(20).max(1);
    for (row, from) in (0_u32..).zip(distances.iter().take(shown)) {
        let y = TOP + size * f64::from(row);
        if (row as usize).is_multiple_of(every) {
            let name = (row + 1).to_string();
            label(
                &mut out,
                LEFT - 5.0,
                y + size / 2.0 + 4.0,
                "end tiny",
                &name,
            );
            let x = LEFT + size * (f64::from(row) + 0.5);
            label(&mut out, x, TOP - 5.0, "mid tiny", &name);
        }
        for (column, distance) in (0_u32..).zip(from.iter().take(shown)) {
            let x = LEFT + size * f64::from(column);
            let middle = (x + size / 2.0, y + size / 2.0);
            let class = match distance {
                _ if row == column => "self".to_owned(),
                None => "none".to_owned(),
                Some(distance) => format!("d{}", shade(*distance)),
            };
            put(
                &mut out,
                format_args!(
                    "<rect class=\"cell {class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
                    size - 0.8,
                    size - 0.8
                ),
            );
            match distance {
                _ if row == column => {}
                None => put(
                    &mut out,
                    format_args!(
                        "<circle class=\"no\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"1.3\"/>",
                        middle.0, middle.1
                    ),
                ),
                Some(distance) if shown <= NUMBERED => {
                    let class = format!("mid cell-text t{}", shade(*distance));
                    label(
                        &mut out,
                        middle.0,
                        middle.1 + 3.6,
                        &class,
                        &distance.to_string(),
                    );
                }
                Some(_) => {}
            }
        }
    }
    legend(&mut out, bottom + 14.0);
    out.push_str("</svg>");
    out
}

/// Draws the legend of the shades.
fn legend(out: &mut String, y: f64) {
    label(out, 2.0, y + 11.0, "", "links:");
    for shade in 1..=SHADES {
        let x = LEFT + 33.0 * f64::from(shade - 1);
        put(
            out,
            format_args!(
                "<rect class=\"cell d{shade}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"14\" height=\"14\"/>"
            ),
        );
        let more = if shade == SHADES { "+" } else { "" };
        label(out, x + 17.0, y + 11.0, "", &format!("{shade}{more}"));
        let end = match shade {
            1 => "near",
            SHADES => "far",
            _ => continue,
        };
        label(out, x, y + 28.0, "axis", end);
    }
    let x = LEFT + 33.0 * f64::from(SHADES) + 5.0;
    put(
        out,
        format_args!(
            "<rect class=\"cell none\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"14\" height=\"14\"/>\
             <circle class=\"no\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"1.3\"/>",
            x + 7.0,
            y + 7.0
        ),
    );
    label(out, x + 17.0, y + 11.0, "", "no path");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_has_its_square() {
        let frame = Frame {
            id: "m",
            title: "",
            description: "",
            x: "",
            y: "",
        };
        let distances = [
            vec![Some(0), Some(1), None],
            vec![Some(9), Some(0), Some(2)],
            vec![None, None, Some(0)],
        ];
        let drawn = distance_map(&frame, &distances);
        let legend = |class: &str| drawn.matches(&format!("cell {class}\"")).count() - 1;
        assert_eq!((legend("d1"), legend("d2"), legend("d7")), (1, 1, 1));
        assert_eq!(legend("none"), 3);
        assert_eq!(drawn.matches("cell self\"").count(), 3);
        assert!(drawn.contains(">9</text>"), "{drawn}");
    }
}
