//! A fast path for URLs that are normalised already, as nearly all outlinks of a crawl are.
//!
//! The parser of the URL standard, which takes ten times as long, leaves every URL accepted here
//! unchanged: it copies every byte, and none of its rules applies. All other URLs go to the parser.
//! `location_tests.rs` compares the two.

use super::scheme::Scheme;

/// The parts of a normalised URL.
pub(super) struct NormalUrl<'a> {
    pub(super) scheme: Scheme,
    pub(super) host: &'a str,
    /// The URL from the slash after the host.
    pub(super) rest: &'a str,
}

/// The maximum length of a host in bytes.
const MAX_HOST: usize = 253;

/// The parts of a URL in which a byte may occur.
const IN_HOST: u8 = 1;
const IN_PATH: u8 = 2;
const IN_QUERY: u8 = 4;

const PARTS: [u8; 256] = {
    let mut parts = [0; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        parts[byte as usize] = match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' => IN_HOST | IN_PATH | IN_QUERY,
            b'A'..=b'Z'
            | b'.'
            | b'_'
            | b'~'
            | b'!'
            | b'$'
            | b'&'
            | b'('
            | b')'
            | b'*'
            | b'+'
            | b','
            | b';'
            | b'='
            | b':'
            | b'@'
            | b'/'
            | b'%' => IN_PATH | IN_QUERY,
            b'?' => IN_QUERY,
            _ => 0,
        };
        byte += 1;
    }
    parts
};

fn is_in(byte: u8, part: u8) -> bool {
    PARTS[usize::from(byte)] & part != 0
}

/// Splits a URL that is known to be normalised; otherwise returns `None`.
pub(super) fn split_normal(text: &str) -> Option<NormalUrl<'_>> {
    let (scheme, after) = if let Some(after) = text.strip_prefix("https://") {
        (Scheme::Https, after)
    } else {
        (Scheme::Http, text.strip_prefix("http://")?)
    };
    let slash = normal_host(after.as_bytes())?;
    let (host, rest) = after.split_at(slash);
    is_normal_rest(rest.as_bytes()).then_some(NormalUrl { scheme, host, rest })
}

/// Returns the length of a host of lower-case labels without punycode, followed by a slash. IP addresses
/// are not accepted: their last label begins with a digit.
fn normal_host(text: &[u8]) -> Option<usize> {
    let mut label = 0;
    for (at, &byte) in text.iter().enumerate().take(MAX_HOST + 1) {
        if is_in(byte, IN_HOST) {
            continue;
        }
        if byte != b'.' && byte != b'/' || !is_normal_label(&text[label..at]) {
            return None;
        }
        if byte == b'/' {
            return text[label].is_ascii_lowercase().then_some(at);
        }
        label = at + 1;
    }
    None
}

/// Returns whether a label has no leading or trailing hyphen and no `--` in the place of punycode.
fn is_normal_label(label: &[u8]) -> bool {
    label.first().is_some_and(|first| *first != b'-')
        && label.last() != Some(&b'-')
        && label.get(2..4) != Some(b"--")
}

/// Returns whether this is a path, optionally with a query, in which no segment begins with a dot or its
/// escape, as dot segments do.
fn is_normal_rest(rest: &[u8]) -> bool {
    let path = rest.iter().position(|byte| !is_in(*byte, IN_PATH));
    let (path, query) = rest.split_at(path.unwrap_or(rest.len()));
    // The path ends at the first question mark.
    query.iter().all(|byte| is_in(*byte, IN_QUERY))
        && query.first().is_none_or(|byte| *byte == b'?')
        && !path.iter().enumerate().any(|(at, byte)| {
            let after = &path[at + 1..];
            let dot = |after: &[u8]| {
                after.first() == Some(&b'.')
                    || after
                        .get(..3)
                        .is_some_and(|escape| escape.eq_ignore_ascii_case(b"%2e"))
            };
            *byte == b'/' && dot(after)
        })
}
