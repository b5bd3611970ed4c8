//! Formatting for people: untrusted text, URLs, counts and sizes; and the counts that they write.
//!
//! Names, paths and URLs in messages may be hostile: a line feed forges a line of output, an escape
//! sequence controls the terminal, and direction marks make one URL look like another.

mod count;
mod readable;

use std::borrow::Cow;
use std::fmt::Display;

pub use count::parse_count;
pub use readable::readable;

/// The limit of [`truncated`], in characters.
const MAX_CHARS: usize = 200;

/// Returns whether a character is invisible and changes how others are displayed: control characters,
/// line and paragraph separators, direction marks, zero-width characters.
#[must_use]
pub fn is_invisible_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{feff}')
}

/// Returns the last component of a path, so that the folder is not disclosed; a path without components
/// is returned unchanged.
pub fn file_name(path: &str) -> &str {
    let mut parts = path.rsplit(std::path::is_separator);
    parts.find(|part| !part.is_empty()).unwrap_or(path)
}

/// Escapes [invisible control characters](is_invisible_control), as in `\n` or `\u{202e}`, so that the
/// text fits on one line.
///
/// ```
/// assert_eq!(seedbank_formats::display::escape_controls("day\n1"), "day\\n1");
/// ```
#[must_use]
pub fn escape_controls(text: &str) -> Cow<'_, str> {
    if !text.contains(is_invisible_control) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_invisible_control(c) {
            escaped.extend(c.escape_default());
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

/// Cuts a text after 200 characters and appends its length; shorter texts are returned unchanged.
#[must_use]
pub fn truncated(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_CHARS) {
        None => Cow::Borrowed(text),
        Some((end, _)) => {
            let beginning = text.get(..end).unwrap_or_default();
            Cow::Owned(format!("{beginning}… ({} bytes)", text.len()))
        }
    }
}

/// Formats a count with its noun, in the plural unless the count is 1.
///
/// ```
/// use seedbank_formats::display::counted;
///
/// assert_eq!(counted(1, "batch"), "1 batch");
/// assert_eq!(counted(2, "batch"), "2 batches");
/// assert_eq!(counted(0, "authority"), "0 authorities");
/// ```
#[must_use]
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    if count == N::from(1) {
        return format!("{count} {noun}");
    }
    let takes_es = ["s", "x", "ch", "sh"].iter().any(|end| noun.ends_with(end));
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{count} {stem}ies"),
        _ if takes_es => format!("{count} {noun}es"),
        _ => format!("{count} {noun}s"),
    }
}

/// Formats an integer with thousands separators.
///
/// ```
/// assert_eq!(seedbank_formats::display::thousands(1_234_567), "1,234,567");
/// ```
#[must_use]
pub fn thousands(number: impl Display) -> String {
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

/// Returns `is` for a count of 1, and `are` for any other.
#[must_use]
pub fn is_or_are<N: PartialEq + From<u8>>(count: &N) -> &'static str {
    if *count == N::from(1) { "is" } else { "are" }
}

/// Formats a number of bytes with a binary unit.
#[must_use]
pub fn bytes(bytes: u64) -> String {
    indicatif::BinaryBytes(bytes).to_string()
}

/// Formats a duration in seconds by its two largest units.
#[must_use]
pub fn age(seconds: u64) -> String {
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min"),
        (0, _, _) => format!("{hours} h {minutes} min"),
        (_, _, _) => format!("{days} d {hours} h"),
    }
}

/// Formats a CSV field (RFC 4180): quoted if necessary, with inner quotes doubled.
#[must_use]
pub fn csv_field(field: &str) -> String {
    if field.contains(['"', ',', '\r', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        assert_eq!(counted(1_u32, "hub"), "1 hub");
        assert_eq!(counted(0_u64, "hub"), "0 hubs");
        assert_eq!(counted(2_usize, "stored refresh"), "2 stored refreshes");
        assert_eq!(counted(2, "entry"), "2 entries");
        assert_eq!(counted(2, "day"), "2 days");
        assert_eq!((is_or_are(&1), is_or_are(&0)), ("is", "are"));
    }

    #[test]
    fn the_last_part_of_a_path_names_no_folder() {
        for (path, last) in [
            ("/home/me/day.jsonl", "day.jsonl"),
            ("day.jsonl", "day.jsonl"),
            ("../a/graph/", "graph"),
            ("/home/me/..", ".."),
            ("@media", "@media"),
            ("-", "-"),
            ("", ""),
            ("/", "/"),
        ] {
            assert_eq!(file_name(path), last);
        }
    }

    #[test]
    fn invisible_controls_are_escaped() {
        assert_eq!(escape_controls("é ☃ \\ \u{1f600}"), "é ☃ \\ \u{1f600}");
        assert_eq!(
            escape_controls("a\r\n\t\u{1b}[31m\u{85}\u{7f}\0"),
            "a\\r\\n\\t\\u{1b}[31m\\u{85}\\u{7f}\\u{0}"
        );
        for steering in "\u{2028}\u{2029}\u{202a}\u{202e}\u{2066}\u{2069}\u{200f}".chars() {
            let shown = format!("\\u{{{:x}}}", u32::from(steering));
            assert_eq!(escape_controls(&steering.to_string()), shown);
        }
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let most = "é".repeat(MAX_CHARS);
        assert_eq!(truncated(&most), most);
        assert_eq!(
            truncated(&format!("{most}x")),
            format!("{most}… (401 bytes)")
        );
    }
}
