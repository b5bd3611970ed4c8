//! Other people's texts as they are shown: names, paths and URLs in messages.
//!
//! Whoever chose them may be hostile. A line end in a name turns what follows into a line of its
//! own, an escape sequence controls the terminal, and direction marks make one URL look like
//! another.

use std::borrow::Cow;

/// How many characters of a URL a message shows at most.
const MOST: usize = 200;

/// Whether a character is invisible and changes how others are shown: controls, line and paragraph
/// separators, direction marks, zero widths.
#[must_use]
pub fn is_steering(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{feff}')
}

/// A text on one line, with each such character written by name or number, as `\n` or `\u{202e}`.
///
/// ```
/// assert_eq!(seedbank::shown::plain("day\n1"), "day\\n1");
/// ```
#[must_use]
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(is_steering) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_steering(c) {
            plain.extend(c.escape_default());
        } else {
            plain.push(c);
        }
    }
    Cow::Owned(plain)
}

/// The first 200 characters of a longer text, followed by its length; a shorter one as it is.
#[must_use]
pub fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MOST) {
        None => Cow::Borrowed(text),
        Some((end, _)) => {
            let beginning = text.get(..end).unwrap_or_default();
            Cow::Owned(format!("{beginning}… ({} bytes)", text.len()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_is_shown() {
        assert_eq!(plain("é ☃ \\ \u{1f600}"), "é ☃ \\ \u{1f600}");
        assert_eq!(
            plain("a\r\n\t\u{1b}[31m\u{85}\u{7f}\0"),
            "a\\r\\n\\t\\u{1b}[31m\\u{85}\\u{7f}\\u{0}"
        );
        for steering in "\u{2028}\u{2029}\u{202a}\u{202e}\u{2066}\u{2069}\u{200f}".chars() {
            let shown = format!("\\u{{{:x}}}", u32::from(steering));
            assert_eq!(plain(&steering.to_string()), shown);
        }
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let most = "é".repeat(MOST);
        assert_eq!(shortened(&most), most);
        assert_eq!(
            shortened(&format!("{most}x")),
            format!("{most}… (401 bytes)")
        );
    }
}
