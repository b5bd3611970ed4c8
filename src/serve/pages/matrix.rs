//! A picture of a core's links: who links to whom, drawn as lines, or from thirty pages on as a matrix.

use crate::engine::CoreLinks;
use crate::html::text::put;

/// From so many hubs or authorities on the picture is a matrix.
const MATRIX_FROM: usize = 30;

/// Of so many hubs and authorities a matrix has room for.
const MOST: usize = 150;

/// A core's links today as SVG, and what it leaves out in words; empty where it leaves out nothing.
pub(super) fn picture(links: &CoreLinks) -> (String, String) {
    let hubs = usize::try_from(links.hubs).unwrap_or(usize::MAX);
    let authorities = usize::try_from(links.authorities).unwrap_or(usize::MAX);
    if hubs < MATRIX_FROM && authorities < MATRIX_FROM {
        return (lines(links, hubs, authorities), String::new());
    }
    let (rows, columns) = (hubs.min(MOST), authorities.min(MOST));
    let left_out = if (rows, columns) == (hubs, authorities) {
        String::new()
    } else {
        format!("The first {rows} of {hubs} hubs and {columns} of {authorities} authorities.")
    };
    (matrix(links, rows, columns), left_out)
}

fn open(out: &mut String, links: &CoreLinks, width: usize, height: usize) {
    put(
        out,
        format_args!(
            "<svg class=\"matrix\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"m-t m-d\">\
             <title id=\"m-t\">Links from hubs to authorities today</title>\
             <desc id=\"m-d\">{} hubs, {} authorities, {} links; the lists below name them in this order.</desc>",
            links.hubs, links.authorities, links.current_edges
        ),
    );
}

/// Hubs at the left, authorities at the right, a line for each link.
fn lines(links: &CoreLinks, hubs: usize, authorities: usize) -> String {
    let height = 14 * hubs.max(authorities) + 30;
    let place = |at: usize, of: usize| {
        let room = (height - 30) as f64;
        24.0 + room * (at as f64 + 0.5) / of as f64
    };
    let mut out = String::new();
    open(&mut out, links, 320, height);
    out.push_str("<text x=\"40\" y=\"12\" text-anchor=\"middle\">hubs</text><text x=\"280\" y=\"12\" text-anchor=\"middle\">authorities</text>");
    for (hub, to) in links.links.iter().enumerate() {
        for &authority in to {
            let (from, to) = (place(hub, hubs), place(authority as usize, authorities));
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
            let y = place(at, count);
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

/// A line for each hub, a column for each authority, a field for each link.
fn matrix(links: &CoreLinks, rows: usize, columns: usize) -> String {
    const SIZE: usize = 6;
    // There is room for the words above and beside it.
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
    // One path draws all fields: a page of thousands of elements is slow.
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
            "edges": 1, "today": 1, "lost": 0, "links": vec![all; hubs], "neighbours": [],
        }))
        .unwrap()
    }

    #[test]
    fn a_small_core_is_lines_and_a_large_one_fields() {
        let (small, left_out) = picture(&core(3, 4));
        assert_eq!(small.matches("<line ").count(), 12);
        assert_eq!(small.matches("<circle ").count(), 7);
        assert_eq!(left_out, "");
        let (large, left_out) = picture(&core(2, 30));
        assert_eq!(large.matches("h5v5h-5z").count(), 60);
        assert_eq!(left_out, "");
        let (cut, left_out) = picture(&core(MOST + 1, 31));
        assert_eq!(cut.matches("h5v5h-5z").count(), MOST * 31);
        assert_eq!(
            left_out,
            "The first 150 of 151 hubs and 31 of 31 authorities."
        );
    }
}
