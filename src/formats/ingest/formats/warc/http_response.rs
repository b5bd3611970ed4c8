//! What a server answered, up to its content.
//!
//! Its head has the shape of that of a record, and is read as one: what is no line of a name and a
//! value says nothing, and spoils nothing. Versions are not looked at (`HTTP/2 200`).

use crate::ingest::formats::archive::header;

/// The head of an answer; `None` is what it does not say.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct HttpResponse<'a> {
    /// The status, one that servers give.
    pub(super) status: Option<u16>,
    /// `Location`.
    pub(super) location: Option<&'a [u8]>,
    /// `Content-Type`, with its parameters.
    pub(super) content: Option<&'a [u8]>,
    /// `Content-Encoding`.
    pub(super) coding: &'a [u8],
    /// `Transfer-Encoding`.
    pub(super) transfer: &'a [u8],
    /// The length of the head, with its blank line.
    pub(super) end: usize,
}

impl<'a> HttpResponse<'a> {
    /// Reads the head of an answer, which may be followed by its content.
    pub(super) fn read(block: &'a [u8]) -> Self {
        let end = header::end(block).unwrap_or(block.len());
        let text = block.get(..end).unwrap_or_default();
        let mut answered = Self {
            status: status(text),
            end,
            ..Self::default()
        };
        let (mut coding, mut transfer) = (None, None);
        for (name, value) in header::fields(text) {
            let place = match () {
                () if name.eq_ignore_ascii_case(b"Location") => &mut answered.location,
                () if name.eq_ignore_ascii_case(b"Content-Type") => &mut answered.content,
                () if name.eq_ignore_ascii_case(b"Content-Encoding") => &mut coding,
                () if name.eq_ignore_ascii_case(b"Transfer-Encoding") => &mut transfer,
                () => continue,
            };
            place.get_or_insert(value);
        }
        answered.content = answered.content.filter(|content| !content.is_empty());
        answered.coding = coding.unwrap_or_default();
        answered.transfer = transfer.unwrap_or_default();
        answered
    }

    /// Whether the content of the page came with it.
    pub(super) fn is_page(&self) -> bool {
        self.status
            .is_some_and(|status| (200..300).contains(&status))
    }

    /// Whether the content is HTML, or is not said to be anything else.
    pub(super) fn may_be_html(&self) -> bool {
        self.content.is_none_or(|content| {
            let name = header::media_type(content);
            let types: [&[u8]; 2] = [b"text/html", b"application/xhtml+xml"];
            types.iter().any(|html| name.eq_ignore_ascii_case(html))
        })
    }

    /// Whether the content, of which this is the beginning, is HTML.
    pub(super) fn is_html(&self, content: &[u8]) -> bool {
        self.may_be_html() && (self.content.is_some() || begins_as_html(content))
    }
}

/// The status of a line such as `HTTP/1.1 200 OK`.
fn status(head: &[u8]) -> Option<u16> {
    let line = head.split(|byte| *byte == b'\n').next()?;
    let line = line.strip_prefix(b"HTTP/")?;
    let space = line.iter().position(|byte| *byte == b' ')?;
    let digits = line.get(space..)?.trim_ascii_start().get(..3)?;
    let status = std::str::from_utf8(digits).ok()?.parse().ok();
    status.filter(|status| (100..600).contains(status))
}

/// Whether a content begins with one of the tags by which browsers know HTML that is not said to be
/// (the WHATWG's standard *MIME Sniffing*, 7.1).
pub(super) fn begins_as_html(content: &[u8]) -> bool {
    let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
    let content = content.trim_ascii_start();
    let tags: [&[u8]; 17] = [
        b"<!doctype html",
        b"<html",
        b"<head",
        b"<script",
        b"<iframe",
        b"<h1",
        b"<div",
        b"<font",
        b"<table",
        b"<a",
        b"<style",
        b"<title",
        b"<b",
        b"<body",
        b"<br",
        b"<p",
        b"<!--",
    ];
    tags.iter().any(|tag| {
        let begins = content.get(..tag.len());
        let ends = content
            .get(tag.len())
            .is_none_or(|end| matches!(end, b' ' | b'>'));
        begins.is_some_and(|begin| begin.eq_ignore_ascii_case(tag)) && (ends || *tag == b"<!--")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_as_servers_write_them() {
        let text =
            b"HTTP/2 200\ncontent-type: ArchiveText/HTML; charset=x\nodd line\nLocation:  /x \n\n<p>";
        let answered = HttpResponse::read(text);
        assert_eq!(answered.status, Some(200));
        assert_eq!(answered.location, Some(&b"/x"[..]));
        assert_eq!(text.get(answered.end..), Some(&b"<p>"[..]));
        assert!(answered.is_page() && answered.may_be_html());
        for (line, status) in [
            ("HTTP/1.1 404 Not Found\r\n\r\n", Some(404)),
            ("HTTP/1.0  301\r\n", Some(301)),
            ("HTTP/1.1 20", None),
            ("HTTP/1.1 999 no", None),
            ("HTTP/1.1 +20 no", None),
            ("ICY 200 OK\r\n", None),
            ("", None),
        ] {
            assert_eq!(HttpResponse::read(line.as_bytes()).status, status, "{line}");
        }
    }

    #[test]
    fn a_content_without_a_type_is_known_by_its_first_tag() {
        for (content, is) in [
            ("\u{feff}\n <!DOCTYPE html><p>", true),
            ("<a href=/x>", true),
            ("<!--x-->", true),
            ("<abbr>", false),
            ("<?xml version='1.0'?>", false),
            ("%PDF-1.7", false),
            ("", false),
        ] {
            assert_eq!(begins_as_html(content.as_bytes()), is, "{content}");
        }
    }
}
