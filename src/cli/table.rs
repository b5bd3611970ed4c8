//! Tables: aligned text and comma-separated values.

use seedbank::display::{csv_field, escape_controls};
use seedbank::engine::evaluate::Estimate;
use unicode_width::UnicodeWidthStr;

/// Formats an aligned table: the first column flush left, the others flush right. Widths are those on a
/// terminal, where some characters take two columns and combining ones none.
pub(super) fn aligned(header: &[&str], rows: &[Vec<String>]) -> String {
    let plain_row = |row: &Vec<String>| {
        row.iter()
            .map(|cell| escape_controls(cell).into_owned())
            .collect()
    };
    let rows: Vec<Vec<String>> = rows.iter().map(plain_row).collect();
    let mut widths: Vec<usize> = header.iter().map(|cell| cell.width()).collect();
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    let mut text = String::new();
    let header: Vec<String> = header.iter().map(|cell| (*cell).to_owned()).collect();
    for row in std::iter::once(&header).chain(&rows) {
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let missing = " ".repeat(width - cell.width());
            if at == 0 {
                text.push_str(cell);
                text.push_str(&missing);
            } else {
                text.push_str("  ");
                text.push_str(&missing);
                text.push_str(cell);
            }
        }
        text.truncate(text.trim_end_matches(' ').len());
        text.push('\n');
    }
    text
}

/// Formats comma-separated values (RFC 4180). The header consists of plain names, already joined.
pub(super) fn comma_separated(header: &str, rows: &[Vec<String>]) -> String {
    let mut text = format!("{header}\r\n");
    for row in rows {
        let fields: Vec<String> = row.iter().map(|field| csv_field(field)).collect();
        text.push_str(&fields.join(","));
        text.push_str("\r\n");
    }
    text
}

/// Formats a number; empty if there is none.
pub(super) fn or_nothing<T: ToString>(number: Option<T>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

/// Formats the mean and the error as two fields.
pub(super) fn fields(estimate: Option<Estimate>) -> [String; 2] {
    [
        or_nothing(estimate.map(|e| e.mean)),
        or_nothing(estimate.and_then(|e| e.standard_error)),
    ]
}

/// Formats the mean and the error in one cell; `-` if there is none.
pub(super) fn plus_minus(estimate: Option<Estimate>, decimals: usize) -> String {
    let Some(estimate) = estimate else {
        return "-".to_owned();
    };
    let mean = format!("{:.decimals$}", estimate.mean);
    // A number that rounds to zero has no sign.
    let nothing = mean.trim_start_matches(['-', '0', '.']).is_empty();
    let mean = mean.trim_start_matches(if nothing { "-" } else { "" });
    match estimate.standard_error {
        None => mean.to_owned(),
        Some(error) => format!("{mean} ±{error:.decimals$}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [
            vec!["a".to_owned(), "1 ±2".to_owned()],
            vec!["lo\nng".to_owned(), String::new()],
        ];
        assert_eq!(
            aligned(&["x", "y"], &rows),
            "x          y\na       1 ±2\nlo\\nng\n"
        );
        // Wide characters, an emoji, and an accent of its own.
        let rows = ["日本語", "😀", "e\u{301}te"].map(|name| vec![name.to_owned(), "1".to_owned()]);
        assert_eq!(
            aligned(&["name", "n"], &rows),
            "name    n\n日本語  1\n😀      1\ne\u{301}te     1\n"
        );
    }

    #[test]
    fn quotes_are_doubled() {
        assert_eq!(csv_field("a\"b"), "\"a\"\"b\"");
        assert_eq!(csv_field("a\nb"), "\"a\nb\"");
        assert_eq!(csv_field("ab"), "ab");
        let rows = [vec!["a,b".to_owned(), "1".to_owned()]];
        assert_eq!(comma_separated("x,y", &rows), "x,y\r\n\"a,b\",1\r\n");
    }

    #[test]
    fn estimates_have_their_errors() {
        let of = |standard_error| {
            Some(Estimate {
                mean: 1.25,
                standard_error,
            })
        };
        assert_eq!(plus_minus(of(Some(0.5)), 2), "1.25 ±0.50");
        assert_eq!(plus_minus(of(None), 1), "1.2");
        assert_eq!(plus_minus(None, 1), "-");
        let below = |mean| {
            Some(Estimate {
                mean,
                standard_error: None,
            })
        };
        assert_eq!(plus_minus(below(-0.04), 1), "0.0");
        assert_eq!(plus_minus(below(-0.05), 2), "-0.05");
        assert_eq!(fields(of(None)), ["1.25", ""]);
        assert_eq!(fields(None), ["", ""]);
    }
}
