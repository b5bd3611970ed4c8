//! URLs that are normal already, as nearly all outlinks of a crawl are.
//!
//! What passes here is left as it is by the URL standard's parser, which takes ten times as long:
//! every byte is one that the parser copies, and no rule of it applies. Whatever may be otherwise
//! goes to the parser. `location_tests.rs` compares the two.

use super::location::Scheme;

/// A URL that is normal already.
pub(super) struct Plain<'a> {
    pub(super) scheme: Scheme,
    pub(super) host: &'a str,
    /// From the slash after the host.
    pub(super) rest: &'a str,
}

/// Longer names are not looked at here.
const MOST_HOST: usize = 253;

/// Bytes that stand for themselves in a path and in a query.
const KEPT: [bool; 256] = {
    let mut kept = [false; 256];
    let letters = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let others = b"0123456789-._~!$&()*+,;=:@/%";
    let mut at = 0;
    while at < letters.len() {
        kept[letters[at] as usize] = true;
        at += 1;
    }
    at = 0;
    while at < others.len() {
        kept[others[at] as usize] = true;
        at += 1;
    }
    kept
};

/// The parts of a URL that is surely normal.
pub(super) fn plain(text: &str) -> Option<Plain<'_>> {
    let (scheme, after) = if let Some(after) = text.strip_prefix("https://") {
        (Scheme::Https, after)
    } else {
        (Scheme::Http, text.strip_prefix("http://")?)
    };
    let slash = after.bytes().position(|byte| byte == b'/')?;
    let (host, rest) = after.split_at(slash);
    (is_plain_host(host) && is_plain_rest(rest.as_bytes())).then_some(Plain { scheme, host, rest })
}

/// A name of lower-case labels without punycode; no address, which ends in a number.
fn is_plain_host(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or_default();
    host.len() <= MOST_HOST
        && last.starts_with(|first: char| first.is_ascii_lowercase())
        && host.split('.').all(is_plain_label)
}

fn is_plain_label(label: &str) -> bool {
    let kept = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !label.is_empty()
        && label.bytes().all(kept)
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label.as_bytes().get(2..4) != Some(b"--")
}

/// A path without dot segments, which begin with a dot or its escape, and perhaps a query.
fn is_plain_rest(rest: &[u8]) -> bool {
    let path = match rest.iter().position(|byte| *byte == b'?') {
        Some(mark) => {
            let (path, query) = rest.split_at(mark);
            let all = |byte: &u8| KEPT[usize::from(*byte)] || *byte == b'?';
            if !query.iter().all(all) {
                return false;
            }
            path
        }
        None => rest,
    };
    path.iter().all(|byte| KEPT[usize::from(*byte)])
        && !path.windows(2).any(|pair| pair == b"/.")
        && !path
            .windows(4)
            .any(|four| four.eq_ignore_ascii_case(b"/%2e"))
}
