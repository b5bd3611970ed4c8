//! What is kept of the records of a WARC.

use super::answer::Answered;
use super::coding;
use crate::ingest::formats::archive::head::{self, Head};
use crate::ingest::formats::archive::layout::Layout;
use crate::ingest::formats::archive::links::Nofollow;
use crate::ingest::location::other_scheme;
use crate::ingest::sniff::DetectedFormat;
use crate::ingest::summary::{SkipReason, Unread};

/// What is kept of a record: [`Kept`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Warc {
    pub(super) nofollow: Nofollow,
}

/// A record that says something of a page.
#[derive(Debug)]
pub(crate) struct Kept {
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

impl Kept {
    pub(super) fn head(&self) -> Head<'_> {
        head::read(self.text.get(..self.head).unwrap_or_default())
    }

    /// What is kept of the block.
    pub(super) fn block(&self) -> &[u8] {
        self.text.get(self.head..).unwrap_or_default()
    }
}

impl Layout for Warc {
    type Item = Kept;

    const IS: DetectedFormat = DetectedFormat::Warc;
    const HOLDS_RECORDS: bool = true;
    const LONGEST: Option<usize> = None;

    fn wants(&self, head: &Head<'_>, beginning: &[u8]) -> bool {
        if head.is("response") {
            let answered = Answered::read(beginning);
            answered.is_page() && answered.may_be_html()
        } else {
            head.is("metadata") && has_notes(head, beginning)
        }
    }

    fn item(
        &self,
        text: &[u8],
        head: &Head<'_>,
        block: &[u8],
        whole: bool,
    ) -> Result<Kept, SkipReason> {
        if head.is("continuation") || !matches!(head.segment, b"" | b"1") {
            return Err(SkipReason::Continuation);
        }
        let url = String::from_utf8_lossy(head.url.unwrap_or_default());
        if head.is("metadata") {
            if !has_notes(head, block) || other_scheme(&url).is_some() {
                return Err(SkipReason::NoResponse);
            }
            return Ok(Kept {
                text: [text, block].concat(),
                head: text.len(),
                kind: Kind::Notes,
            });
        }
        let is_revisit = head.is("revisit");
        if !is_revisit && !head.is("response") {
            return Err(SkipReason::NoResponse);
        }
        if other_scheme(&url).is_some() {
            return Err(SkipReason::OtherScheme);
        }
        let is_http = head.content.is_empty()
            || head.content.eq_ignore_ascii_case(b"application/http")
            || is_revisit && block.is_empty();
        if !is_http {
            return Err(SkipReason::NoResponse);
        }
        let is_cut = !whole || !head.segment.is_empty() || !head.truncated.is_empty();
        Ok(answer(text, block, is_revisit, is_cut))
    }

    fn memory(item: &Kept) -> usize {
        item.text.len()
    }

    fn belongs(before: &Kept, item: &Kept) -> bool {
        let are_two = matches!(before.kind, Kind::Notes) != matches!(item.kind, Kind::Notes);
        are_two && before.head().url.is_some() && before.head().url == item.head().url
    }
}

/// Whether a record has links that a crawler noted.
fn has_notes(head: &Head<'_>, block: &[u8]) -> bool {
    let lines = || block.split(|byte| *byte == b'\n');
    head.content
        .eq_ignore_ascii_case(b"application/warc-fields")
        && lines().any(|line| outlink(line).is_some())
}

/// What is kept of an answer.
fn answer(head: &[u8], block: &[u8], is_revisit: bool, is_cut: bool) -> Kept {
    let answered = Answered::read(block);
    let (http, body) = block.split_at_checked(answered.end).unwrap_or((block, &[]));
    let mut text = [head, http].concat();
    let mut is_html = false;
    let mut unread = None;
    if answered.is_page() && answered.may_be_html() && !is_revisit {
        match coding::undone(&answered, body) {
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
    Kept {
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
