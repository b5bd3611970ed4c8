//! HTTP responses, up to their content.
//!
//! The header has the same shape as that of a record, and is parsed as one: lines that are not a
//! name and a value are ignored. So is the version (`HTTP/2 200`).

use crate::ingest::formats::archive::header;

/// The header of a response; `None` stands for a missing value.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct HttpResponse<'a> {
    /// The status, from 100 to 599.
    pub(super) status: Option<u16>,
    /// `Location`.
    pub(super) location: Option<&'a [u8]>,
    /// `Content-Type`, with parameters.
    pub(super) content: Option<&'a [u8]>,
    /// `Content-Encoding`.
    pub(super) content_encoding: &'a [u8],
    /// `Transfer-Encoding`.
    pub(super) transfer_encoding: &'a [u8],
    /// Length of the header with its blank line, in bytes.
    pub(super) end: usize,
}

impl<'a> HttpResponse<'a> {
    /// Parses the header of a response, which may be followed by content.
    pub(super) fn read(block: &'a [u8]) -> Self {
        let end = header::end(block).unwrap_or(block.len());
        let text = block.get(..end).unwrap_or_default();
        let [location, content, coding, transfer] = header::first_values(
            text,
            [
                "Location",
                "Content-Type",
                "Content-Encoding",
                "Transfer-Encoding",
            ],
        );
        Self {
            status: status(text),
            location,
            content: content.filter(|content| !content.is_empty()),
            content_encoding: coding.unwrap_or_default(),
            transfer_encoding: transfer.unwrap_or_default(),
            end,
        }
    }

    /// Returns whether the response has a status of 200 to 299.
    pub(super) fn is_page(&self) -> bool {
        self.status
            .is_some_and(|status| (200..300).contains(&status))
    }

    /// Returns whether the content type is HTML or missing.
    pub(super) fn may_be_html(&self) -> bool {
        self.content.is_none_or(|content| {
            let name = header::media_type(content);
            let types: [&[u8]; 2] = [b"text/html", b"application/xhtml+xml"];
            types.iter().any(|html| name.eq_ignore_ascii_case(html))
        })
    }

    /// Returns whether the content, given by its beginning, is HTML.
    pub(super) fn is_html(&self, content: &[u8]) -> bool {
        self.may_be_html() && (self.content.is_some() || begins_as_html(content))
    }
}

/// Parses the status of a line such as `HTTP/1.1 200 OK`.
fn status(head: &[u8]) -> Option<u16> {
    let line = head.split(|byte| *byte == b'\n').next()?;
    let line = line.strip_prefix(b"HTTP/")?;
    let space = line.iter().position(|byte| *byte == b' ')?;
    let digits = line.get(space..)?.trim_ascii_start().get(..3)?;
    let status = std::str::from_utf8(digits).ok()?.parse().ok();
    status.filter(|status| (100..600).contains(status))
}

/// Returns whether content without a type begins with a tag by which browsers recognise HTML (WHATWG
/// *MIME Sniffing*, 7.1).
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
            b"HTTP/2 200\ncontent-type: Text/HTML; charset=x\nodd line\nLocation:  /x \n\n<p>";
        let response = HttpResponse::read(text);
        assert_eq!(response.status, Some(200));
        assert_eq!(response.location, Some(&b"/x"[..]));
        assert_eq!(text.get(response.end..), Some(&b"<p>"[..]));
        assert!(response.is_page() && response.may_be_html());
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
