//! The page and the quality of a vertex.

use crate::ingest::entries::utf_8;
use crate::ingest::record::MAX_QUALITY;
use crate::ingest::reject::{Fault, RejectReason};

/// Writes the URL of the page that stands for a host with reversed labels: `http://www.example.com/`
/// for `com.example.www`.
///
/// Rejects a name that is not a host but would be the URL of another page (a port, a path, an
/// escape, an empty label); the rules of URLs decide the rest.
pub(super) fn push_url(name: &[u8], url: &mut String) -> Result<(), Fault> {
    let name = utf_8(name)?;
    let is_forbidden = |c: char| c <= ' ' || "/\\:@?#%[]\u{7f}".contains(c);
    if name.contains(is_forbidden) || name.split('.').any(str::is_empty) {
        return Err(Fault::new(
            RejectReason::InvalidUrl,
            "expected a host with its labels reversed, such as com.example.www",
        ));
    }
    url.clear();
    url.push_str("http://");
    for (index, label) in name.rsplit('.').enumerate() {
        if index > 0 {
            url.push('.');
        }
        url.push_str(label);
    }
    url.push('/');
    Ok(())
}

/// Returns the quality, in ten-thousandths, of the host at a position from 1 to `rows`: `1 -
/// ln(position) / ln(rows)`, rounded to the nearest.
///
/// The first host has 1, the last 0, and so has a position beyond the last. A single host has 1.
pub(super) fn quality(position: u64, rows: u64) -> u16 {
    if position <= 1 {
        return MAX_QUALITY;
    }
    if position >= rows {
        return 0;
    }
    let quality = 1.0 - (position as f64).ln() / (rows as f64).ln();
    let steps = (quality * f64::from(MAX_QUALITY)).round();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number from 0 to 10,000, as the position is from 1 to the number of rows"
    )]
    let steps = steps as u16;
    steps.min(MAX_QUALITY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(name: &str) -> Option<String> {
        let mut url = String::new();
        push_url(name.as_bytes(), &mut url).ok().map(|()| url)
    }

    #[test]
    fn labels_are_turned_round() {
        for (name, expected) in [
            ("com.example.www", "http://www.example.com/"),
            ("org", "http://org/"),
            ("com.example", "http://example.com/"),
            ("uk.co.b_c.a-", "http://a-.b_c.co.uk/"),
        ] {
            assert_eq!(url(name).as_deref(), Some(expected));
        }
        for name in [
            "",
            ".",
            "com.",
            ".com",
            "com..a",
            "com.a/b",
            "com.a:80",
            "com.u@a",
            "com.a b",
            "com.a%2fb",
            "com.[a",
            "com.a\\b",
            "com.a?b",
            "com.a#b",
            "com.a\tb",
        ] {
            assert_eq!(url(name), None, "{name:?}");
        }
    }

    #[test]
    fn qualities_in_closed_form() {
        for (position, rows, steps) in [
            (1, 1, 10_000),
            (1, 2, 10_000),
            (2, 2, 0),
            (2, 4, 5_000),
            (10, 1_000, 6_667),
            (100, 1_000, 3_333),
            (1_000, 1_000, 0),
            (4, 16, 5_000),
            (8, 16, 2_500),
            (260_000_000, 260_000_000, 0),
        ] {
            assert_eq!(quality(position, rows), steps, "{position} of {rows}");
        }
    }
}
