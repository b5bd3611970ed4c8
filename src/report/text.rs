//! Text and numbers as they go into the page.
//!
//! URLs and names come from the web, and whoever wrote them may be hostile: everything that is not
//! written here by hand goes through [`escape`], and only `http` and `https` become links.

use std::fmt::{self, Write};

use super::data::Mean;
use crate::shown::is_steering;

/// Appends; writing to a String cannot fail.
pub(super) fn put(out: &mut String, text: fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}

/// Text for the page, in element content and in quoted attributes alike.
///
/// Characters that steer the direction of text are shown by number: they could make one URL look
/// like another.
pub(super) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c if is_steering(c) => put(&mut safe, format_args!("\\u{{{:x}}}", u32::from(c))),
            c => safe.push(c),
        }
    }
    safe
}

/// A URL as a link where that is safe, else as text.
pub(super) fn link(url: &str) -> String {
    let text = escape(url);
    if url.starts_with("http://") || url.starts_with("https://") {
        format!("<a href=\"{text}\" rel=\"noopener noreferrer nofollow\">{text}</a>")
    } else {
        format!("<span class=\"url\">{text}</span>")
    }
}

/// A whole number with its thousands apart.
pub(super) fn whole(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count and its word.
pub(super) fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", whole(number), if number == 1 { one } else { many })
}

/// A number with about three digits that count.
pub(super) fn short(number: f64) -> String {
    let size = number.abs();
    if !number.is_finite() {
        "–".to_owned()
    } else if size >= 999.5 {
        let sign = if number < 0.0 { "−" } else { "" };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, and beyond 2^64 it is the largest that is shown"
        )]
        let rounded = size.round() as u64;
        format!("{sign}{}", whole(rounded))
    } else {
        let places = match size {
            s if s >= 99.95 || s == 0.0 => 0,
            s if s >= 9.995 => 1,
            s if s >= 0.0995 => 2,
            s if s >= 0.000_995 => 4,
            _ => 6,
        };
        let text = format!("{number:.places$}");
        let text = if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.')
        } else {
            &text
        };
        match text.strip_prefix('-') {
            Some("0") => "0".to_owned(),
            Some(positive) => format!("−{positive}"),
            None => text.to_owned(),
        }
    }
}

/// A number for an axis.
pub(super) fn tick(number: f64) -> String {
    match number.abs() {
        size if size >= 1e9 => format!("{}G", short(number / 1e9)),
        size if size >= 1e6 => format!("{}M", short(number / 1e6)),
        size if size >= 1e4 => format!("{}k", short(number / 1e3)),
        _ => short(number),
    }
}

/// A mean and its standard error, both with the digits that the error leaves.
pub(super) fn with_error(mean: Mean) -> String {
    if mean.error.is_nan() {
        return short(mean.mean);
    }
    let places = match mean.error.abs() {
        e if e >= 9.95 || !e.is_finite() => 0,
        e if e >= 0.995 => 1,
        e if e >= 0.0195 => 2,
        e if e >= 0.000_5 => 3,
        _ => return format!("{} ± 0", short(mean.mean)),
    };
    let fixed = |number: f64| {
        let size = number.abs();
        if size >= 999.5 || !size.is_finite() {
            return short(number);
        }
        let text = format!("{size:.places$}");
        let zero = text.chars().all(|c| matches!(c, '0' | '.'));
        let sign = if number < 0.0 && !zero { "−" } else { "" };
        format!("{sign}{text}")
    };
    format!("{} ± {}", fixed(mean.mean), fixed(mean.error))
}

/// A mean in per cent, its sign and its standard error.
pub(super) fn signed_percent(mean: Mean) -> String {
    let plus = if mean.mean > 0.0 { "+" } else { "" };
    format!("{plus}{} %", with_error(mean))
}

/// A list of names, of which a few are shown.
pub(super) fn some_of(names: &[String], shown: usize) -> String {
    let listed: Vec<String> = names
        .iter()
        .take(shown)
        .map(|name| format!("<b class=\"site\">{}</b>", escape(name)))
        .collect();
    let more = names.len().saturating_sub(shown);
    let mut text = listed.join(", ");
    if more > 0 {
        put(&mut text, format_args!(" and {} more", whole(more as u64)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_stays_text() {
        assert_eq!(
            escape("<script>&\"'\u{202e}\u{7}"),
            "&lt;script&gt;&amp;&quot;&#39;\\u{202e}\\u{7}"
        );
        for url in ["javascript:alert(1)", "data:text/html,x", "//a.example/"] {
            assert!(!link(url).contains("href"), "{url}");
        }
        assert_eq!(
            link("http://a.example/?\"><b>"),
            "<a href=\"http://a.example/?&quot;&gt;&lt;b&gt;\" rel=\"noopener noreferrer nofollow\">\
             http://a.example/?&quot;&gt;&lt;b&gt;</a>"
        );
    }

    #[test]
    fn numbers_are_short() {
        for (number, text) in [
            (0.0, "0"),
            (-0.000_000_1, "0"),
            (1.0, "1"),
            (2.5, "2.5"),
            (88.772, "88.8"),
            (123.4, "123"),
            (999.6, "1,000"),
            (-1_234_567.0, "−1,234,567"),
            (0.25, "0.25"),
            (-0.012_34, "−0.0123"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(short(number), text, "{number}");
        }
        for (mean, error, text) in [
            (1.163, 0.0175, "1.163 ± 0.018"),
            (11.84, 0.72, "11.84 ± 0.72"),
            (18.62, 3.83, "18.6 ± 3.8"),
            (-0.04, 2.0, "0.0 ± 2.0"),
            (-7.0, 12.3, "−7 ± 12"),
            (21_951.6, 1_121.9, "21,952 ± 1,122"),
            (20.0, 0.0, "20 ± 0"),
        ] {
            assert_eq!(with_error(Mean { mean, error }), text);
        }
        assert_eq!(whole(1_234_567), "1,234,567");
        assert_eq!(tick(25_000.0), "25k");
        assert_eq!(tick(1_500_000.0), "1.5M");
    }
}
