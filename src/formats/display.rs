//! Formatting for people: untrusted text, URLs, counts and sizes; and the counts that they write.
//!
//! Names, paths and URLs in messages may be hostile: a line feed forges a line of output, an escape
//! sequence controls the terminal, and direction marks make one URL look like another.

use std::borrow::Cow;
use std::fmt::Display;

/// The limit of [`truncated`], in characters.
const MAX_CHARS: usize = 200;

/// Returns whether a character is invisible and changes how others are displayed or read: control characters,
/// line and paragraph separators, direction marks, zero-width characters, tags.
#[must_use]
pub fn is_invisible_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
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
    truncated_to(text, MAX_CHARS)
}

/// As [`truncated`], after this many characters.
#[must_use]
pub fn truncated_to(text: &str, chars: usize) -> Cow<'_, str> {
    match text.char_indices().nth(chars) {
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

/// Formats a CSV field (RFC 4180): quoted if necessary, with inner quotes doubled. A text that spreadsheets would take for
/// a formula begins with an apostrophe.
#[must_use]
pub fn csv_field(field: &str) -> String {
    let is_number = || {
        let digits = field.trim_start_matches(['+', '-']);
        digits.starts_with(|c: char| c.is_ascii_digit()) && field.parse::<f64>().is_ok()
    };
    if field.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number() {
        return csv_field(&format!("'{field}"));
    }
    if field.contains(['"', ',', '\r', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

// Parsing of counts as people write them.

/// Parses a count as people write it: digits, with `,` or `_` between groups of three, and with a suffix
/// k, M or G for powers of 1000.
///
/// `None` if the text is not a count, is not a whole number, or does not fit.
///
/// ```
/// use seedbank_formats::display::parse_count;
///
/// for text in ["20000", "20,000", "20_000", "20k"] {
///     assert_eq!(parse_count(text), Some(20_000));
/// }
/// assert_eq!(parse_count("1.5M"), Some(1_500_000));
/// assert_eq!(parse_count("20.000"), None);
/// ```
#[must_use]
pub fn parse_count(text: &str) -> Option<u64> {
    let text = text.trim();
    let (number, zeros) = match text.char_indices().next_back()? {
        (at, 'k' | 'K') => (&text[..at], 3),
        (at, 'm' | 'M') => (&text[..at], 6),
        (at, 'g' | 'G') => (&text[..at], 9),
        _ => (text, 0),
    };
    let number = number.trim_end();
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    // A point without digits after it, or with more than the suffix makes whole, is no count.
    let has_point = whole.len() < number.len();
    let is_fraction = fraction.bytes().all(|byte| byte.is_ascii_digit());
    if has_point && fraction.is_empty() || !is_fraction || fraction.len() > zeros {
        return None;
    }
    let digits = [
        &ungrouped(whole)?,
        fraction,
        &"0".repeat(zeros - fraction.len()),
    ]
    .concat();
    digits.parse().ok()
}

/// Returns the digits of a number without the separators between its groups of three.
fn ungrouped(number: &str) -> Option<String> {
    let separator = number.chars().find(|c| matches!(c, ',' | '_'));
    let groups: Vec<&str> = match separator {
        Some(separator) => number.split(separator).collect(),
        None => vec![number],
    };
    let is_digits = |group: &&str| !group.is_empty() && group.bytes().all(|b| b.is_ascii_digit());
    let (first, others) = groups.split_first()?;
    let has_groups = others.is_empty() || first.len() <= 3;
    (groups.iter().all(is_digits) && has_groups && others.iter().all(|group| group.len() == 3))
        .then(|| groups.concat())
}

// Decoding of URLs for people: `https://example.org/caf%C3%A9` becomes `https://example.org/café`.
//
// Only escapes that encode back to the same URL are decoded: upper-case escapes of UTF-8 letters and
// digits outside ASCII. A word stays encoded if it could be mistaken for another: if it mixes
// scripts, looks like ASCII, or contains anything but letters of the supported scripts. Escapes of
// control characters, blanks, direction marks, combining accents and ASCII are never decoded, nor is
// a host's punycode.

/// Decodes the URLs in a text where that is unambiguous. For display only: never applied to data.
///
/// ```
/// use seedbank_formats::display::readable;
///
/// assert_eq!(
///     readable("seed 1 https://example.org/caf%C3%A9?q=a%20b%2Fc"),
///     "seed 1 https://example.org/café?q=a%20b%2Fc"
/// );
/// // Cyrillic letters that look like paypal.
/// let trap = "https://example.org/%D1%80%D0%B0%D1%83%D1%80%D0%B0l";
/// assert_eq!(readable(trap), trap);
/// ```
#[must_use]
pub fn readable(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(begin) = next_url(rest) {
        let (before, url) = rest.split_at(begin);
        out.push_str(before);
        let end = url.find(char::is_whitespace).unwrap_or(url.len());
        let (url, after) = url.split_at(end);
        decode(url, &mut out);
        rest = after;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Returns the offset of the next page URL.
fn next_url(text: &str) -> Option<usize> {
    let schemes = ["http://", "https://"];
    schemes.iter().filter_map(|scheme| text.find(scheme)).min()
}

fn decode(url: &str, out: &mut String) {
    let host = url.find("://").map_or(0, |at| at + 3);
    let path = url.get(host..).and_then(|rest| rest.find(['/', '?', '#']));
    let Some((head, mut rest)) = path.and_then(|at| url.split_at_checked(host + at)) else {
        out.push_str(url);
        return;
    };
    out.push_str(head);
    while !rest.is_empty() {
        let (length, has_escapes) = leading_word(rest);
        // Outside words, advance by one character.
        let length = length.max(rest.chars().next().map_or(1, char::len_utf8));
        let (word, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        match has_escapes.then(|| unescaped(word)).flatten() {
            Some(clear) if is_clear(&clear) => out.push_str(&clear),
            _ => out.push_str(word),
        }
        rest = after;
    }
}

/// Returns the length in bytes of the leading run of ASCII letters, ASCII digits and non-ASCII escapes,
/// and whether it contains an escape.
fn leading_word(text: &str) -> (usize, bool) {
    let bytes = text.as_bytes();
    let (mut at, mut has_escapes) = (0, false);
    while let Some(byte) = bytes.get(at) {
        if byte.is_ascii_alphanumeric() {
            at += 1;
        } else if escape(bytes, at).is_some_and(|byte| byte >= 0x80) {
            at += 3;
            has_escapes = true;
        } else {
            break;
        }
    }
    (at, has_escapes)
}

/// Decodes the escape at an offset; `None` if there is none or it is in lower case, which encoding would
/// not restore.
fn escape(bytes: &[u8], at: usize) -> Option<u8> {
    let [b'%', high, low] = *bytes.get(at..at + 3)? else {
        return None;
    };
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    };
    Some(digit(high)? << 4 | digit(low)?)
}

/// Decodes the escapes of a word; `None` if the result is not UTF-8.
fn unescaped(word: &str) -> Option<String> {
    let bytes = word.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if let Some(escaped) = escape(bytes, at) {
            plain.push(escaped);
            at += 3;
        } else {
            plain.push(*byte);
            at += 1;
        }
    }
    String::from_utf8(plain).ok()
}

/// The scripts that are decoded. Right-to-left scripts, and scripts in which several sequences of
/// characters display the same, are excluded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Script {
    Latin,
    Greek,
    Cyrillic,
    Thai,
    /// Chinese characters and Japanese syllables.
    Han,
    Hangul,
}

/// Returns the script of a composed non-ASCII letter or digit; `None` if it stays encoded.
const fn script(c: char) -> Option<Script> {
    Some(match c {
        // Excluded: Latin signs, dotless i, kra, long s, letters with an adjacent mark; katakana no
        // and strokes that look like a slash.
        '\u{131}' | '\u{138}' | '\u{13f}' | '\u{140}' | '\u{149}' | '\u{17f}' | '\u{d7}'
        | '\u{f7}' | '\u{30ce}' | '\u{4e36}' | '\u{4e3f}' => return None,
        '\u{c0}'..='\u{17f}' => Script::Latin,
        '\u{386}'
        | '\u{388}'..='\u{38a}'
        | '\u{38c}'
        | '\u{38e}'..='\u{3a1}'
        | '\u{3a3}'..='\u{3ce}' => Script::Greek,
        '\u{400}'..='\u{45f}' | '\u{490}' | '\u{491}' => Script::Cyrillic,
        // Excluded: the abbreviation sign, the twin of sara aa, and nikhahit, a component of sara am.
        '\u{e01}'..='\u{e2e}'
        | '\u{e30}'..='\u{e39}'
        | '\u{e40}'..='\u{e44}'
        | '\u{e46}'..='\u{e4c}'
        | '\u{e50}'..='\u{e59}' => Script::Thai,
        '\u{3041}'..='\u{3096}'
        | '\u{30a1}'..='\u{30fa}'
        | '\u{30fc}'
        | '\u{4e00}'..='\u{9fff}' => Script::Han,
        '\u{ac00}'..='\u{d7a3}' => Script::Hangul,
        _ => return None,
    })
}

/// Returns whether a non-ASCII letter looks like an ASCII character.
fn looks_like_ascii(c: char) -> bool {
    const GREEK: &str = "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαγηικνορστυχωϊ";
    const CYRILLIC: &str = "АВЕЗЅІЇЈКМНОРСТУХЬабгеѐёіїјорсѕухь";
    const OTHERS: &str = "ー一ニ二三ロ口トハ八エ工";
    [GREEK, CYRILLIC, OTHERS]
        .iter()
        .any(|like| like.contains(c))
}

/// Returns whether a word is unambiguous: in one script, with a letter that does not look like ASCII.
fn is_clear(word: &str) -> bool {
    let non_ascii = || word.chars().filter(|c| !c.is_ascii());
    let mut scripts = non_ascii().map(script);
    let Some(Some(first)) = scripts.next() else {
        return false;
    };
    if !scripts.all(|script| script == Some(first)) || non_ascii().all(looks_like_ascii) {
        return false;
    }
    match first {
        Script::Greek | Script::Cyrillic => !word.contains(|c: char| c.is_ascii_alphabetic()),
        Script::Thai => is_well_formed_thai(word),
        Script::Latin | Script::Han | Script::Hangul => true,
    }
}

/// Returns whether vowel signs and tone marks are in regular positions; other sequences can display the
/// same as a different spelling.
fn is_well_formed_thai(word: &str) -> bool {
    let is_consonant = |c: char| ('\u{e01}'..='\u{e2e}').contains(&c);
    let is_vowel = |c: char| matches!(c, '\u{e31}' | '\u{e34}'..='\u{e39}' | '\u{e47}');
    let is_tone = |c: char| matches!(c, '\u{e48}'..='\u{e4c}');
    let mut previous = None;
    word.chars().all(|c| {
        let base = previous.replace(c);
        match base {
            _ if is_vowel(c) => base.is_some_and(is_consonant),
            _ if is_tone(c) => base.is_some_and(|c| is_consonant(c) || is_vowel(c)),
            // Two of these look like a single other letter.
            Some('\u{e40}') => c != '\u{e40}',
            _ => true,
        }
    })
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
        for steering in
            "\u{2028}\u{2029}\u{202a}\u{202e}\u{2066}\u{2069}\u{200f}\u{e0041}\u{ad}".chars()
        {
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

    #[test]
    fn counts_are_read_as_people_write_them() {
        for (text, count) in [
            ("0", 0),
            ("7", 7),
            ("007", 7),
            ("20000", 20_000),
            ("20,000", 20_000),
            ("1_234_567", 1_234_567),
            ("20k", 20_000),
            ("20 K", 20_000),
            ("1M", 1_000_000),
            ("1.25m", 1_250_000),
            ("0.5k", 500),
            ("1,000k", 1_000_000),
            ("2G", 2_000_000_000),
            (" 9 ", 9),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parse_count(text), Some(count), "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_counts() {
        for text in [
            "",
            " ",
            "k",
            "-5",
            "+5",
            "x",
            "1.5",
            "1.",
            ".5",
            ".5k",
            "1.2345k",
            "20.000",
            "1,00",
            "1,0000",
            "1000,000",
            "1,",
            ",1",
            "1,000_000",
            "1__000",
            "1e3",
            "0x10",
            "20kk",
            "20kB",
            "2T",
            "18446744073709551616",
            "99999999999G",
            "５",
            "1é",
        ] {
            assert_eq!(parse_count(text), None, "{text}");
        }
    }
}

#[cfg(test)]
#[path = "display_readable_tests.rs"]
mod readable_tests;
