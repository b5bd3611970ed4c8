//! Decoding of the content of a response.
//!
//! Some crawlers store bodies as they were sent, others decode them and keep the headers. So an
//! encoding is removed only if the body begins like one in this encoding.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use super::http_response::{HttpResponse, begins_as_html};
use crate::ingest::blocks::MAX_LINE;
use crate::ingest::compression::brotli;
use crate::ingest::summary::Unread;

/// The most encodings that are removed, one after another.
const MAX_ENCODINGS: usize = 4;

/// The largest window of zstd, as a power of two, that RFC 9659 allows servers.
const ZSTD_WINDOW: u32 = 23;

/// A body, and why the rest of it is missing.
type Decoded<'a> = (Cow<'a, [u8]>, Option<Unread>);

/// Returns the first 16 MiB of a response's content; `Err` if an encoding is not supported.
pub(super) fn decoded<'a>(
    response: &HttpResponse<'_>,
    body: &'a [u8],
) -> Result<Decoded<'a>, Unread> {
    let mut content: Cow<'a, [u8]> = Cow::Borrowed(body);
    let mut missing = None;
    let transfer = tokens(response.transfer_encoding);
    let codings = transfer.chain(tokens(response.content_encoding));
    for (number, coding) in codings.enumerate() {
        if number == MAX_ENCODINGS {
            return Err(Unread::Coding);
        }
        let is = |names: &[&str]| {
            let mut names = names.iter();
            names.any(|name| coding.eq_ignore_ascii_case(name.as_bytes()))
        };
        let step = match () {
            () if is(&["identity"]) => None,
            () if is(&["chunked"]) => unchunked(&content),
            () if is(&["gzip", "x-gzip"]) => gunzipped(&content),
            () if is(&["deflate"]) => inflated(&content),
            () if is(&["zstd"]) => unzstd(&content),
            () if is(&["br"]) => unbrotli(&content)?,
            // Whoever wrote the archive may have decoded it.
            () if begins_as_html(&content) => None,
            () => return Err(Unread::Coding),
        };
        if let Some((body, reason)) = step {
            content = Cow::Owned(body);
            missing = missing.or(reason);
        }
    }
    Ok((content, missing))
}

/// Returns the names in a list of encodings, the one that was applied last first.
fn tokens(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    let names = list.rsplit(|byte| *byte == b',');
    names
        .map(<[u8]>::trim_ascii)
        .filter(|name| !name.is_empty())
}

/// The result of removing one encoding: the body, and why the rest of it is missing; `None` if the
/// body does not have the encoding.
type Step = Option<(Vec<u8>, Option<Unread>)>;

/// Joins the chunks of a body (RFC 9112, 7.1) as far as they are valid; `None` if there is not one
/// complete chunk.
fn unchunked(body: &[u8]) -> Step {
    let mut content = Vec::new();
    let mut rest = body;
    loop {
        let has_chunk = !content.is_empty();
        let ends = |content, why| has_chunk.then_some((content, Some(why)));
        let Some(end) = rest.iter().position(|byte| *byte == b'\n') else {
            // The body ends between chunks, or within a length.
            let mut bytes = rest.iter();
            let is_length = bytes.all(|byte| byte.is_ascii_hexdigit() || *byte == b'\r');
            return ends(
                content,
                if is_length {
                    Unread::CutOff
                } else {
                    Unread::Damaged
                },
            );
        };
        let line = rest.get(..end)?;
        let extension = line.iter().position(|byte| *byte == b';');
        let digits = line.get(..extension.unwrap_or(line.len()))?.trim_ascii();
        let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit);
        let digits = std::str::from_utf8(digits).ok().filter(|_| is_number);
        let Some(length) = digits.and_then(|digits| usize::from_str_radix(digits, 16).ok()) else {
            return ends(content, Unread::Damaged);
        };
        rest = rest.get(end + 1..)?;
        if length == 0 {
            return Some((content, None));
        }
        let chunk = rest.get(..length).unwrap_or(rest);
        rest = rest.get(chunk.len()..)?;
        let is_whole = chunk.len() == length;
        let follows = match rest {
            [b'\r', b'\n', ..] => Some(2),
            [b'\n', ..] => Some(1),
            _ => None,
        };
        if let Some(line_end) = follows.filter(|_| is_whole) {
            content.extend_from_slice(chunk);
            rest = rest.get(line_end..)?;
        } else if rest.is_empty() || rest == b"\r" {
            content.extend_from_slice(chunk);
            return Some((content, Some(Unread::CutOff)));
        } else if has_chunk {
            // The length or the data is wrong: only the chunks before are certain.
            return Some((content, Some(Unread::Damaged)));
        } else {
            return None;
        }
    }
}

fn gunzipped(body: &[u8]) -> Step {
    body.starts_with(b"\x1f\x8b")
        .then(|| bounded(MultiGzDecoder::new(body)))
}

/// Decodes what servers call `deflate`: zlib, or raw deflate.
fn inflated(body: &[u8]) -> Step {
    let is_zlib = match body {
        [method, flags, ..] => {
            let both = u16::from_be_bytes([*method, *flags]);
            method & 0x0f == 8 && both.is_multiple_of(31)
        }
        _ => return None,
    };
    let (content, missing) = if is_zlib {
        bounded(ZlibDecoder::new(body))
    } else {
        bounded(DeflateDecoder::new(body))
    };
    // A body that is damaged from its first byte on is not deflate.
    let is_none = begins_as_html(body) || content.is_empty() && missing.is_some();
    (!is_none).then_some((content, missing))
}

fn unzstd(body: &[u8]) -> Step {
    if !body.starts_with(b"\x28\xb5\x2f\xfd") {
        return None;
    }
    let mut decoder = zstd::stream::read::Decoder::with_buffer(body).ok()?;
    decoder.window_log_max(ZSTD_WINDOW).ok()?;
    Some(bounded(decoder))
}

/// Decodes brotli, which has no magic number; but no stream begins with `<`. `Err` if nothing of a body
/// can be decoded.
fn unbrotli(body: &[u8]) -> Result<Step, Unread> {
    if begins_as_html(body) || body.trim_ascii_start().starts_with(b"<") {
        return Ok(None);
    }
    match bounded(brotli(body)) {
        (content, Some(missing)) if content.is_empty() => Err(missing),
        step => Ok(Some(step)),
    }
}

/// Reads the first 16 MiB, or as much as can be decoded.
fn bounded(mut from: impl Read) -> (Vec<u8>, Option<Unread>) {
    let mut content = Vec::new();
    // Data before an error is kept.
    let read = (&mut from).take(MAX_LINE as u64).read_to_end(&mut content);
    let missing = match read {
        Err(_) => Some(Unread::Damaged),
        Ok(_) if content.len() < MAX_LINE => None,
        Ok(_) => match from.read(&mut [0]) {
            Ok(0) => None,
            _ => Some(Unread::CutOff),
        },
    };
    (content, missing)
}

#[cfg(test)]
#[path = "content_encoding_tests.rs"]
mod tests;
