//! Normalisation of percent-encoding (RFC 3986, 6.2.2): upper case, unreserved characters decoded.
//!
//! A percent sign without two hexadecimal digits is left unchanged. An encoded digit that would complete
//! it to an escape if decoded stays encoded, so that normalisation is idempotent and keeps the meaning.

/// Returns whether [`normalised`] is known to leave the text unchanged.
pub(super) fn is_normal(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'%')
        .all(|(at, _)| match bytes.get(at + 1..at + 3) {
            Some(&[high, low]) => match (digit(high), digit(low)) {
                (Some(h), Some(l)) => {
                    let is_lower = high.is_ascii_lowercase() || low.is_ascii_lowercase();
                    !is_lower && !is_unreserved(h << 4 | l)
                }
                _ => false,
            },
            _ => false,
        })
}

/// Normalises the percent-encoding of a path and query.
pub(super) fn normalised(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    // Offset in `out` of the last percent sign that does not begin an escape.
    let mut stray = None;
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let code = from.as_bytes().get(1..3).and_then(|pair| {
            let [high, low] = *pair else { return None };
            Some((digit(high)? << 4 | digit(low)?, high, low))
        });
        let Some((byte, high, low)) = code else {
            stray = Some(out.len());
            out.push('%');
            rest = &from[1..];
            continue;
        };
        if is_unreserved(byte) && !(byte.is_ascii_hexdigit() && completes(&out, stray)) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push(char::from(high.to_ascii_uppercase()));
            out.push(char::from(low.to_ascii_uppercase()));
        }
        rest = &from[3..];
    }
    out.push_str(rest);
    assert!(out.len() <= bytes.len(), "normal form is never longer");
    out
}

/// Returns whether a hexadecimal digit appended to `out` would belong to the percent sign at `stray`.
fn completes(out: &str, stray: Option<usize>) -> bool {
    let after = stray.and_then(|at| out.as_bytes().get(at + 1..));
    match after {
        Some([]) => true,
        Some([first]) => first.is_ascii_hexdigit(),
        _ => false,
    }
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escapes_get_their_normal_form() {
        for (given, normal) in [
            ("/%e0%E0", "/%E0%E0"),
            ("/%7Euser/%7e", "/~user/~"),
            ("/%41%5a%30%2D%2e%5F", "/AZ0-._"),
            ("/a%2fb?q=%3D%26", "/a%2Fb?q=%3D%26"),
            ("/100%", "/100%"),
            ("/%zz%4", "/%zz%4"),
            // The 4 would make the percent sign before it another character.
            ("/%%34%31", "/%%341"),
            ("/%4%31", "/%4%31"),
            ("/%4g%31", "/%4g1"),
        ] {
            assert_eq!(normalised(given), normal, "{given}");
            assert!(!is_normal(given) || given == normal, "{given}");
        }
    }

    #[test]
    fn most_of_what_is_normal_is_seen_at_once() {
        for text in ["/", "/a?q=%20", "/%E0%B8%81", "/%2Fa~b"] {
            assert!(is_normal(text), "{text}");
        }
    }

    /// What a server decodes a path to.
    fn decoded(text: &str) -> Vec<u8> {
        let bytes = text.as_bytes();
        let mut out = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let code = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
            if let Some(byte) = code.and_then(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)) {
                out.push(byte);
                at += 3;
            } else {
                out.push(bytes[at]);
                at += 1;
            }
        }
        out
    }

    proptest! {
        #[test]
        fn what_is_normal_stays_and_means_the_same(text in "(%|4|1|e|E|g|%41|%7e|%2f|é){0,12}") {
            let once = normalised(&text);
            prop_assert_eq!(&normalised(&once), &once);
            prop_assert_eq!(decoded(&once), decoded(&text));
            prop_assert!(!is_normal(&text) || once == text);
        }
    }
}
