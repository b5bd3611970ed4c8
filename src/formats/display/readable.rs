//! Decoding of URLs for people: `https://example.org/caf%C3%A9` becomes `https://example.org/café`.
//!
//! Only escapes that encode back to the same URL are decoded: upper-case escapes of UTF-8 letters and
//! digits outside ASCII. A word stays encoded if it could be mistaken for another: if it mixes
//! scripts, looks like ASCII, or contains anything but letters of the supported scripts. Escapes of
//! control characters, blanks, direction marks, combining accents and ASCII are never decoded, nor is
//! a host's punycode.

use std::borrow::Cow;

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
#[path = "readable_tests.rs"]
mod tests;
