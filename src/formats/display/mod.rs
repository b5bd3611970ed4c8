//! How things are shown to people: the texts of others, URLs among them, and counts.
//!
//! Texts of others are names, paths and URLs in messages.
//!
//! Whoever chose them may be hostile. A line end in a name turns what follows into a line of its
//! own, an escape sequence controls the terminal, and direction marks make one URL look like
//! another.

mod readable;

use std::borrow::Cow;
use std::fmt::Display;

pub use readable::readable;

/// How many characters of a URL a message shows at most.
const MOST: usize = 200;

/// Whether a character is invisible and changes how others are shown: controls, line and paragraph
/// separators, direction marks, zero widths.
#[must_use]
pub fn is_invisible_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{feff}')
}

/// The last part of a path, which says nothing of where that leads; of a path without parts all of it.
pub fn file_name(path: &str) -> &str {
    let mut parts = path.rsplit(std::path::is_separator);
    parts.find(|part| !part.is_empty()).unwrap_or(path)
}

/// A text on one line, with each such character written by name or number, as `\n` or `\u{202e}`.
///
/// ```
/// assert_eq!(seedbank_formats::display::escape_controls("day\n1"), "day\\n1");
/// ```
#[must_use]
pub fn escape_controls(text: &str) -> Cow<'_, str> {
    if !text.contains(is_invisible_control) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_invisible_control(c) {
            plain.extend(c.escape_default());
        } else {
            plain.push(c);
        }
    }
    Cow::Owned(plain)
}

/// The first 200 characters of a longer text, followed by its length; a shorter one as it is.
#[must_use]
pub fn truncated(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MOST) {
        None => Cow::Borrowed(text),
        Some((end, _)) => {
            let beginning = text.get(..end).unwrap_or_default();
            Cow::Owned(format!("{beginning}… ({} bytes)", text.len()))
        }
    }
}

/// A count with its noun, which is in the singular where it is 1.
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
    let hisses = ["s", "x", "ch", "sh"].iter().any(|end| noun.ends_with(end));
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{count} {stem}ies"),
        _ if hisses => format!("{count} {noun}es"),
        _ => format!("{count} {noun}s"),
    }
}

/// A whole number with its thousands apart.
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

/// `is` of one, `are` of any other count.
#[must_use]
pub fn is_or_are<N: PartialEq + From<u8>>(count: &N) -> &'static str {
    if *count == N::from(1) { "is" } else { "are" }
}

/// A number of bytes in a form for people.
#[must_use]
pub fn bytes(bytes: u64) -> String {
    indicatif::BinaryBytes(bytes).to_string()
}

/// An age in seconds in a form for people: its two largest units.
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

/// A field in the form of RFC 4180: quoted where necessary, with inner quotes doubled.
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
    fn what_steers_is_shown() {
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
        let most = "é".repeat(MOST);
        assert_eq!(truncated(&most), most);
        assert_eq!(
            truncated(&format!("{most}x")),
            format!("{most}… (401 bytes)")
        );
    }
}
