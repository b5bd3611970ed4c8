//! Which WARC records are read, and what is extracted from them.

use super::http_response::HttpResponse;
use super::item::{Kind, NotedOrigin, Warc, WarcItem, has_outlinks};
use super::{content_encoding, page};
use crate::ingest::formats::archive::archive_format::ArchiveFormat;
use crate::ingest::formats::archive::header::WarcHeader;
use crate::ingest::formats::archive::records::Records;
use crate::ingest::location::other_scheme;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::sniff::DetectedFormat;
use crate::ingest::summary::{SkipReason, Unread};

impl ArchiveFormat for Warc {
    type Item = WarcItem;

    const KIND: DetectedFormat = DetectedFormat::Warc;
    const MAY_CONTAIN_RECORDS: bool = true;
    const MAX_BLOCK: Option<usize> = None;

    fn needs_block(self, header: &WarcHeader<'_>, prefix: &[u8]) -> bool {
        if header.is("response") {
            let response = HttpResponse::read(prefix);
            response.is_page() && response.may_be_html()
        } else {
            header.is("metadata") && has_notes(header, prefix)
        }
    }

    fn extract(
        self,
        text: &[u8],
        header: &WarcHeader<'_>,
        block: &[u8],
        is_complete: bool,
    ) -> Result<WarcItem, SkipReason> {
        if header.is("continuation") || !matches!(header.segment, b"" | b"1") {
            return Err(SkipReason::Continuation);
        }
        let url = String::from_utf8_lossy(header.url.unwrap_or_default());
        if header.is("metadata") {
            if !has_notes(header, block) || other_scheme(&url).is_some() {
                return Err(SkipReason::NoResponse);
            }
            return Ok(WarcItem {
                text: [text, block].concat(),
                header_length: text.len(),
                kind: Kind::Metadata,
            });
        }
        let is_revisit = header.is("revisit");
        if !is_revisit && !header.is("response") {
            return Err(SkipReason::NoResponse);
        }
        if other_scheme(&url).is_some() {
            return Err(SkipReason::OtherScheme);
        }
        let is_http = header.content.is_empty()
            || header.content.eq_ignore_ascii_case(b"application/http")
            || is_revisit && block.is_empty();
        if !is_http {
            return Err(SkipReason::NoResponse);
        }
        let is_truncated =
            !is_complete || !header.segment.is_empty() || !header.truncated.is_empty();
        Ok(response_item(text, block, is_revisit, is_truncated))
    }

    fn memory(item: &WarcItem) -> usize {
        item.text.len()
    }

    fn belongs(previous: &WarcItem, item: &WarcItem) -> bool {
        let is_pair = previous.is_metadata() != item.is_metadata();
        is_pair && previous.header().url.is_some() && previous.header().url == item.header().url
    }

    fn read(self, records: Records<WarcItem>, parser: &mut PieceParser) {
        page::read(0, self, records.items, parser);
    }
}

/// Returns whether a record lists links that a crawler found, or names the seed that it came from.
fn has_notes(header: &WarcHeader<'_>, block: &[u8]) -> bool {
    header
        .content
        .eq_ignore_ascii_case(b"application/warc-fields")
        && (has_outlinks(block) || NotedOrigin::read(block).has_seed())
}

/// Extracts the item of a response.
fn response_item(header: &[u8], block: &[u8], is_revisit: bool, is_truncated: bool) -> WarcItem {
    let response = HttpResponse::read(block);
    let (http, body) = block.split_at_checked(response.end).unwrap_or((block, &[]));
    let mut text = [header, http].concat();
    let mut is_html = false;
    let mut unread = None;
    if response.is_page() && response.may_be_html() && !is_revisit {
        match content_encoding::decoded(&response, body) {
            Ok((body, reason)) => {
                is_html = response.is_html(&body);
                text.extend_from_slice(if is_html { &body } else { &[] });
                unread = is_truncated.then_some(Unread::CutOff).or(reason);
            }
            Err(reason) => unread = Some(reason),
        }
        if response.content.is_none() && !is_html {
            unread = None;
        }
    }
    WarcItem {
        text,
        header_length: header.len(),
        kind: Kind::Response {
            header: http.len(),
            is_revisit,
            is_html,
            unread,
        },
    }
}
