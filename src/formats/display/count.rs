//! Parsing of counts as people write them.

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

#[cfg(test)]
mod tests {
    use super::*;

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
