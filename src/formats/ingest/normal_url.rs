//! URLs that are normal already, as nearly all outlinks of a crawl are.
//!
//! The URL standard's parser, which takes ten times as long, would leave every URL accepted here as
//! it is: every byte is one that the parser copies, and no rule of it applies. Whatever may be
//! otherwise goes to the parser. `location_tests.rs` compares the two.

use super::scheme::Scheme;

/// A URL that is normal already.
pub(super) struct Plain<'a> {
    pub(super) scheme: Scheme,
    pub(super) host: &'a str,
    /// The URL from the slash after the host on.
    pub(super) rest: &'a str,
}

/// The longest host, in bytes, that is looked at here.
const MOST_HOST: usize = 253;

/// Which parts of a URL a byte may occur in.
const IN_HOST: u8 = 1;
const IN_PATH: u8 = 2;
const IN_QUERY: u8 = 4;

const KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let letters = b"abcdefghijklmnopqrstuvwxyz";
    let mut at = 0;
    while at < letters.len() {
        kinds[letters[at] as usize] = IN_HOST | IN_PATH | IN_QUERY;
        kinds[letters[at].to_ascii_uppercase() as usize] = IN_PATH | IN_QUERY;
        at += 1;
    }
    let digits = b"0123456789-";
    at = 0;
    while at < digits.len() {
        kinds[digits[at] as usize] = IN_HOST | IN_PATH | IN_QUERY;
        at += 1;
    }
    let others = b"._~!$&()*+,;=:@/%";
    at = 0;
    while at < others.len() {
        kinds[others[at] as usize] = IN_PATH | IN_QUERY;
        at += 1;
    }
    kinds[b'?' as usize] = IN_QUERY;
    kinds
};

fn is_in(byte: u8, part: u8) -> bool {
    KINDS[usize::from(byte)] & part != 0
}

/// The parts of a URL that is certainly normal; otherwise `None`.
pub(super) fn plain(text: &str) -> Option<Plain<'_>> {
    let (scheme, after) = if let Some(after) = text.strip_prefix("https://") {
        (Scheme::Https, after)
    } else {
        (Scheme::Http, text.strip_prefix("http://")?)
    };
    let slash = plain_host(after.as_bytes())?;
    let (host, rest) = after.split_at(slash);
    is_plain_rest(rest.as_bytes()).then_some(Plain { scheme, host, rest })
}

/// The length of a host name of lower-case labels without punycode, followed by a slash. An address
/// is not accepted; it ends in a number.
fn plain_host(text: &[u8]) -> Option<usize> {
    let mut label = 0;
    for (at, &byte) in text.iter().enumerate().take(MOST_HOST + 1) {
        if is_in(byte, IN_HOST) {
            continue;
        }
        if byte != b'.' && byte != b'/' || !is_plain_label(&text[label..at]) {
            return None;
        }
        if byte == b'/' {
            return text[label].is_ascii_lowercase().then_some(at);
        }
        label = at + 1;
    }
    None
}

/// Whether a label consists of letters, digits and inner hyphens.
fn is_plain_label(label: &[u8]) -> bool {
    label.first().is_some_and(|first| *first != b'-')
        && label.last() != Some(&b'-')
        && label.get(2..4) != Some(b"--")
}

/// Whether this is a path without dot segments, which begin with a dot or its escape, and perhaps a
/// query.
fn is_plain_rest(rest: &[u8]) -> bool {
    let path = rest.iter().position(|byte| !is_in(*byte, IN_PATH));
    let (path, query) = rest.split_at(path.unwrap_or(rest.len()));
    // A path ends at a question mark, which only a query may contain.
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
