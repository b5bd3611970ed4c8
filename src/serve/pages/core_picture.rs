//! Draws the links of a core as SVG: as lines, or as a matrix if there are many pages.

use crate::engine::query::CoreLinks;
use crate::html::text::put;

/// Minimum number of hubs or authorities for a matrix.
const MATRIX_FROM: usize = 30;

/// Maximum number of rows and of columns of a matrix.
const MAX_ROWS: usize = 150;

/// A drawing of the links of a core.
pub(super) struct Picture {
    pub(super) svg: String,
    /// Which pages are shown; empty if all are.
    pub(super) note: String,
}

/// Draws the current links of a core.
pub(super) fn draw(links: &CoreLinks) -> Picture {
    let hubs = usize::try_from(links.hubs).unwrap_or(usize::MAX);
    let authorities = usize::try_from(links.authorities).unwrap_or(usize::MAX);
    if hubs < MATRIX_FROM && authorities < MATRIX_FROM {
        return Picture {
            svg: lines(links, hubs, authorities),
            note: String::new(),
        };
    }
    let (rows, columns) = (hubs.min(MAX_ROWS), authorities.min(MAX_ROWS));
    let note = if (rows, columns) == (hubs, authorities) {
        String::new()
    } else {
        format!("The first {rows} of {hubs} hubs and {columns} of {authorities} authorities.")
    };
    Picture {
        svg: matrix(links, rows, columns),
        note,
    }
}

fn open(out: &mut String, links: &CoreLinks, width: usize, height: usize) {
    put(
        out,
        format_args!(
            "<svg class=\"matrix\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"m-t m-d\">\
             <title id=\"m-t\">Current links from hubs to authorities</title>\
             <desc id=\"m-d\">{} hubs, {} authorities, {} links; the lists below name them in this order.</desc>",
            links.hubs, links.authorities, links.current_edges
        ),
    );
}

/// Draws hubs on the left, authorities on the right, and a line for each link.
fn lines(links: &CoreLinks, hubs: usize, authorities: usize) -> String {
    let height = 14 * hubs.max(authorities) + 30;
    let y_of = |at: usize, of: usize| {
        let room = (height - 30) as f64;
        24.0 + room * (at as f64 + 0.5) / of as f64
    };
    let mut out = String::new();
    open(&mut out, links, 320, height);
    out.push_str("<text x=\"40\" y=\"12\" text-anchor=\"middle\">hubs</text><text x=\"280\" y=\"12\" text-anchor=\"middle\">authorities</text>");
    for (hub, to) in links.links.iter().enumerate() {
        for &authority in to {
            let (from, to) = (y_of(hub, hubs), y_of(authority as usize, authorities));
            put(
                &mut out,
                format_args!(
                    "<line class=\"edge\" x1=\"40\" y1=\"{from:.1}\" x2=\"280\" y2=\"{to:.1}\"/>"
                ),
            );
        }
    }
    for (x, anchor, label, count) in [(40, "end", 30, hubs), (280, "start", 290, authorities)] {
        for at in 0..count {
            let y = y_of(at, count);
            put(
                &mut out,
                format_args!(
                    "<circle class=\"dot\" cx=\"{x}\" cy=\"{y:.1}\" r=\"3\"/>\
                     <text x=\"{label}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
                    y + 3.5,
                    at + 1
                ),
            );
        }
    }
    out.push_str("</svg>");
    out
}

/// Draws a row for each hub, a column for each authority, and a square for each link.
fn matrix(links: &CoreLinks, rows: usize, columns: usize) -> String {
    const SIZE: usize = 6;
    // Leave room for the labels above and beside the matrix.
    let (width, height) = ((SIZE * columns + 24).max(90), (SIZE * rows + 24).max(60));
    let mut out = String::new();
    open(&mut out, links, width, height);
    put(
        &mut out,
        format_args!(
            "<text x=\"20\" y=\"12\">authorities</text>\
             <text x=\"10\" y=\"22\" transform=\"rotate(90 10 22)\">hubs</text>\
             <rect class=\"off\" x=\"20\" y=\"18\" width=\"{}\" height=\"{}\"/>",
            SIZE * columns,
            SIZE * rows
        ),
    );
    // Draw all squares as one path, since a page with thousands of elements is slow.
    out.push_str("<path class=\"on\" d=\"");
    for (hub, to) in links.links.iter().take(rows).enumerate() {
        for &authority in to.iter().filter(|at| (**at as usize) < columns) {
            let (x, y) = (20 + SIZE * authority as usize, 18 + SIZE * hub);
            put(&mut out, format_args!("M{x} {y}h5v5h-5z"));
        }
    }
    out.push_str("\"/></svg>");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn core(hubs: usize, authorities: u32) -> CoreLinks {
        let all: Vec<u32> = (0..authorities).collect();
        serde_json::from_value(serde_json::json!({
            "refresh": 1, "rank": 1, "hubs": hubs, "authorities": authorities,
            "edges": 1, "current_edges": 1, "lost_edges": 0, "links": vec![all; hubs], "neighbours": [],
        }))
        .unwrap()
    }

    #[test]
    fn a_small_core_has_lines_and_a_large_one_a_matrix() {
        let small = draw(&core(3, 4));
        assert_eq!(small.svg.matches("<line ").count(), 12);
        assert_eq!(small.svg.matches("<circle ").count(), 7);
        assert_eq!(small.note, "");
        let large = draw(&core(2, 30));
        assert_eq!(large.svg.matches("h5v5h-5z").count(), 60);
        assert_eq!(large.note, "");
        let truncated = draw(&core(MAX_ROWS + 1, 31));
        assert_eq!(truncated.svg.matches("h5v5h-5z").count(), MAX_ROWS * 31);
        assert_eq!(
            truncated.note,
            "The first 150 of 151 hubs and 31 of 31 authorities."
        );
    }
}
