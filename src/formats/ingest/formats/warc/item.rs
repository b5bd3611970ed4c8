//! What is kept of the records of a WARC.

use super::http_response::HttpResponse;
use super::content_encoding;
use crate::ingest::foreign::Foreign;
use crate::ingest::formats::archive::header::{self, WarcHeader};
use crate::ingest::formats::archive::archive_format::ArchiveFormat;
use crate::ingest::formats::archive::page_links::Nofollow;
use crate::ingest::location::foreign_scheme;
use crate::ingest::summary::{PassedOver, Unread};

/// What is kept of a record: [`WarcItem`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Warc {
    pub(super) nofollow: Nofollow,
}

/// A record that says something of a page.
#[derive(Debug)]
pub(crate) struct WarcItem {
    /// Its head, and what is kept of its block.
    pub(super) text: Vec<u8>,
    head: usize,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    /// The head of an answer, and the body where it is HTML.
    Answer {
        http: usize,
        is_revisit: bool,
        is_html: bool,
        /// What of the body was not read.
        unread: Option<Unread>,
    },
    /// What a crawler noted of an answer.
    Notes,
}

impl WarcItem {
    pub(super) fn head(&self) -> WarcHeader<'_> {
        header::read(self.text.get(..self.head).unwrap_or_default())
    }

    /// What is kept of the block.
    pub(super) fn block(&self) -> &[u8] {
        self.text.get(self.head..).unwrap_or_default()
    }
}

impl ArchiveFormat for Warc {
    type Item = WarcItem;

    const KIND: Foreign = Foreign::Warc;
    const MAY_CONTAIN_RECORDS: bool = true;
    const MAX_BLOCK: Option<usize> = None;

    fn wants(&self, head: &WarcHeader<'_>, beginning: &[u8]) -> bool {
        if head.is("response") {
            let answered = HttpResponse::read(beginning);
            answered.is_page() && answered.may_be_html()
        } else {
            head.is("metadata") && has_notes(head, beginning)
        }
    }

    fn item(
        &self,
        text: &[u8],
        head: &WarcHeader<'_>,
        block: &[u8],
        whole: bool,
    ) -> Result<WarcItem, PassedOver> {
        if head.is("continuation") || !matches!(head.segment, b"" | b"1") {
            return Err(PassedOver::Continuation);
        }
        let url = String::from_utf8_lossy(head.url.unwrap_or_default());
        if head.is("metadata") {
            if !has_notes(head, block) || foreign_scheme(&url).is_some() {
                return Err(PassedOver::NoResponse);
            }
            return Ok(WarcItem {
                text: [text, block].concat(),
                head: text.len(),
                kind: Kind::Notes,
            });
        }
        let is_revisit = head.is("revisit");
        if !is_revisit && !head.is("response") {
            return Err(PassedOver::NoResponse);
        }
        if foreign_scheme(&url).is_some() {
            return Err(PassedOver::OtherScheme);
        }
        let is_http = head.content.is_empty()
            || head.content.eq_ignore_ascii_case(b"application/http")
            || is_revisit && block.is_empty();
        if !is_http {
            return Err(PassedOver::NoResponse);
        }
        let is_cut = !whole || !head.segment.is_empty() || !head.truncated.is_empty();
        Ok(answer(text, block, is_revisit, is_cut))
    }

    fn memory(item: &WarcItem) -> usize {
        item.text.len()
    }

    fn belongs(before: &WarcItem, item: &WarcItem) -> bool {
        let are_two = matches!(before.kind, Kind::Notes) != matches!(item.kind, Kind::Notes);
        are_two && before.head().url.is_some() && before.head().url == item.head().url
    }
}

/// Whether a record has links that a crawler noted.
fn has_notes(head: &WarcHeader<'_>, block: &[u8]) -> bool {
    let lines = || block.split(|byte| *byte == b'\n');
    head.content
        .eq_ignore_ascii_case(b"application/warc-fields")
        && lines().any(|line| outlink(line).is_some())
}

/// What is kept of an answer.
fn answer(head: &[u8], block: &[u8], is_revisit: bool, is_cut: bool) -> WarcItem {
    let answered = HttpResponse::read(block);
    let (http, body) = block.split_at_checked(answered.end).unwrap_or((block, &[]));
    let mut text = [head, http].concat();
    let mut is_html = false;
    let mut unread = None;
    if answered.is_page() && answered.may_be_html() && !is_revisit {
        match content_encoding::decoded(&answered, body) {
            Ok((body, reason)) => {
                is_html = answered.is_html(&body);
                text.extend_from_slice(if is_html { &body } else { &[] });
                unread = is_cut.then_some(Unread::CutOff).or(reason);
            }
            Err(reason) => unread = Some(reason),
        }
        if answered.content.is_none() && !is_html {
            unread = None;
        }
    }
    WarcItem {
        text,
        head: head.len(),
        kind: Kind::Answer {
            http: http.len(),
            is_revisit,
            is_html,
            unread,
        },
    }
}

/// The link and its kind, of a line that notes one: `outlink: URL kind context`.
pub(super) fn outlink(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let (name, value) = line.split_at_checked(b"outlink:".len())?;
    if !name.eq_ignore_ascii_case(b"outlink:") {
        return None;
    }
    let mut words = value
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    Some((words.next()?, words.next()?))
}
