//! Escaping of text and formatting of numbers.
//!
//! URLs and names come from the web and are untrusted: templates write all text through [`PageText`], except
//! expressions marked as `safe`, such as charts and the style sheet.

use std::fmt::{self, Write};

use askama::filters::Escaper;

use crate::engine::evaluate::Estimate;
use seedbank_formats::clock::time;
use seedbank_formats::display::{is_invisible_control, thousands};

/// Appends formatted text; writing to a `String` cannot fail.
pub(crate) fn put(out: &mut String, text: fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}

/// The escaper of all templates, for element content and quoted attributes (configured in `askama.toml`).
///
/// Characters that control the direction of text are written as numbers, since they could make one URL look
/// like another.
#[derive(Clone, Copy)]
pub(crate) struct PageText;

impl Escaper for PageText {
    fn write_escaped_str<W: Write>(&self, mut out: W, text: &str) -> fmt::Result {
        for c in text.chars() {
            match c {
                '&' => out.write_str("&amp;")?,
                '<' => out.write_str("&lt;")?,
                '>' => out.write_str("&gt;")?,
                '"' => out.write_str("&quot;")?,
                '\'' => out.write_str("&#39;")?,
                c if is_invisible_control(c) => write!(out, "\\u{{{:x}}}", u32::from(c))?,
                c => out.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// Escapes text for a chart, as templates do.
pub(crate) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let _ = PageText.write_escaped_str(&mut safe, text);
    safe
}

/// Formats counts.
pub(crate) trait Count: Copy + fmt::Display {
    /// With thousands separators.
    fn whole(self) -> String {
        thousands(self)
    }

    /// With a noun in the singular or plural.
    fn counted(self, one: &str, many: &str) -> String {
        let number = self.whole();
        let word = if number == "1" { one } else { many };
        format!("{number} {word}")
    }

    /// With a noun and "All", or "The only".
    fn all(self, one: &str, many: &str) -> String {
        let counted = self.counted(one, many);
        match counted.strip_prefix("1 ") {
            Some(only) => format!("The only {only}"),
            None => format!("All {counted}"),
        }
    }
}

impl Count for u32 {}
impl Count for u64 {}
impl Count for usize {}

/// Formats measurements.
pub(crate) trait Measure {
    /// With about three significant digits.
    fn short(self) -> String;
}

impl Measure for f64 {
    fn short(self) -> String {
        let size = self.abs();
        if !self.is_finite() {
            "–".to_owned()
        } else if size >= 999.5 {
            let sign = if self < 0.0 { "−" } else { "" };
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "not negative, and saturates at 2^64"
            )]
            let rounded = size.round() as u64;
            format!("{sign}{}", rounded.whole())
        } else {
            let places = match size {
                s if s >= 99.95 || s == 0.0 => 0,
                s if s >= 9.995 => 1,
                s if s >= 0.0995 => 2,
                s if s >= 0.000_995 => 4,
                _ => 6,
            };
            let text = format!("{self:.places$}");
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
}

/// Formats a number for an axis.
pub(crate) fn tick(number: f64) -> String {
    match number.abs() {
        size if size >= 1e9 => format!("{}G", (number / 1e9).short()),
        size if size >= 1e6 => format!("{}M", (number / 1e6).short()),
        size if size >= 1e4 => format!("{}k", (number / 1e3).short()),
        _ => number.short(),
    }
}

/// Formats means with standard errors.
pub(crate) trait WithError {
    /// The standard error; NaN, which charts do not draw, if there is none.
    fn error(self) -> f64;

    /// The mean with its standard error, both rounded to the precision of the error.
    fn with_error(self) -> String;
}

impl WithError for Estimate {
    fn error(self) -> f64 {
        self.standard_error.unwrap_or(f64::NAN)
    }

    fn with_error(self) -> String {
        let Some(error) = self.standard_error else {
            return self.mean.short();
        };
        let places = match error.abs() {
            e if e >= 9.95 || !e.is_finite() => 0,
            e if e >= 0.995 => 1,
            e if e >= 0.0195 => 2,
            e if e >= 0.000_5 => 3,
            _ => return format!("{} ± 0", self.mean.short()),
        };
        let fixed = |number: f64| {
            let size = number.abs();
            if size >= 999.5 || !size.is_finite() {
                return number.short();
            }
            let text = format!("{size:.places$}");
            let zero = text.chars().all(|c| matches!(c, '0' | '.'));
            let sign = if number < 0.0 && !zero { "−" } else { "" };
            format!("{sign}{text}")
        };
        format!("{} ± {}", fixed(self.mean), fixed(error))
    }
}

/// Formats a mean with its standard error; a dash for `None`.
pub(crate) fn optional(mean: Option<Estimate>) -> String {
    mean.map_or_else(|| "–".to_owned(), Estimate::with_error)
}

/// Formats the day of a time.
pub(crate) fn day(at: u64) -> String {
    time(at).chars().take(10).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untrusted_text_is_escaped() {
        assert_eq!(
            escape("<script>&\"'\u{202e}\u{7}"),
            "&lt;script&gt;&amp;&quot;&#39;\\u{202e}\\u{7}"
        );
    }

    #[test]
    fn numbers_are_short() {
        for (number, text) in [
            (0.0_f64, "0"),
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
            assert_eq!(number.short(), text, "{number}");
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
            let standard_error = Some(error);
            let estimate = Estimate {
                mean,
                standard_error,
            };
            assert_eq!(estimate.with_error(), text);
        }
        assert_eq!(1_234_567_u64.whole(), "1,234,567");
        assert_eq!(1_u32.all("seed", "seeds"), "The only seed");
        assert_eq!(1_000_u32.all("seed", "seeds"), "All 1,000 seeds");
        assert_eq!(tick(25_000.0), "25k");
        assert_eq!(tick(1_500_000.0), "1.5M");
    }
}
