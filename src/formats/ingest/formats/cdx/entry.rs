//! What an entry of an index says of its page.

use std::borrow::Cow;

use crate::ingest::entries::Entry;
use crate::ingest::fetch::{Answer, Fetch, count_if_accepted, mark_crawled};
use crate::ingest::formats::json_lines::{Fields, parse_structure};
use crate::ingest::location::other_scheme;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::record::Event;
use crate::ingest::reject::{Fault, RejectReason};
use crate::ingest::summary::SkipReason;

/// The fields of JSON that are read; all others say nothing that a record has.
const FIELDS: [&str; 6] = ["url", "status", "digest", "mime", "redirect", "method"];

/// An entry, as texts.
#[derive(Debug)]
pub(super) struct Capture<'a> {
    pub(super) url: Cow<'a, str>,
    pub(super) time: Option<&'a str>,
    pub(super) status: Option<Cow<'a, str>>,
    pub(super) digest: Option<Cow<'a, str>>,
    pub(super) mime: Option<Cow<'a, str>>,
    /// Where it leads.
    pub(super) location: Option<Cow<'a, str>>,
    /// How it was asked for; `None` is GET.
    pub(super) method: Option<Cow<'a, str>>,
}

/// What the JSON of an entry of this time says.
pub(super) fn of_json(time: &str, json: &str, parser: &mut PieceParser) -> Result<Entry, Fault> {
    let fields = parse_structure(json, &FIELDS)?;
    fields.check()?;
    let url = fields
        .text("url")?
        .ok_or_else(|| Fault::new(RejectReason::MissingUrl, "an entry must have a url"))?;
    let capture = Capture {
        url,
        time: Some(time),
        status: status(&fields)?,
        digest: given(fields.text("digest")?),
        mime: fields.text("mime")?,
        location: given(fields.text("redirect")?),
        method: fields.text("method")?,
    };
    capture.said(parser)
}

/// The status, which is a number in some indexes.
fn status<'a>(fields: &Fields<'a, { FIELDS.len() }>) -> Result<Option<Cow<'a, str>>, Fault> {
    match fields.raw("status") {
        Some(raw) if raw.starts_with(|c: char| c.is_ascii_digit()) => Ok(Some(Cow::Borrowed(raw))),
        _ => Ok(given(fields.text("status")?)),
    }
}

/// A field that says something.
fn given(field: Option<Cow<'_, str>>) -> Option<Cow<'_, str>> {
    field.filter(|text| !matches!(&**text, "" | "-"))
}

impl Capture<'_> {
    /// What it says. Of an entry that is refused nothing is counted.
    pub(super) fn said(&self, parser: &mut PieceParser) -> Result<Entry, Fault> {
        // Answers of name servers, screenshots, notes of a crawler; and what a form led to.
        let is_get = self.method.as_deref().is_none_or(|method| method == "GET");
        if other_scheme(&self.url).is_some() || !is_get {
            return Ok(Entry::Skipped(SkipReason::NoPage));
        }
        let is_revisit = self.mime.as_deref() == Some("warc/revisit");
        let answer = match self.status.as_deref() {
            // Its content was found to be as it was.
            None | Some("304") if is_revisit => Some(Answer::Crawled),
            Some(status) => match status.parse() {
                Ok(status) => Answer::from_status(status),
                Err(_) => {
                    return Err(Fault::new(
                        RejectReason::WrongType,
                        "the status must be a number",
                    ));
                }
            },
            None => return Ok(Entry::Skipped(SkipReason::NoStatus)),
        };
        let Some(answer) = answer else {
            return Ok(Entry::Skipped(SkipReason::OtherStatus));
        };
        let digest = self.digest.as_deref().map(labelled);
        let fetch = Fetch {
            url: &self.url,
            answer,
            time: self.time,
            time_field: "the time",
            digest: digest.as_deref(),
            location: self.location.as_deref(),
        };
        count_if_accepted(parser, |parser| {
            Ok(match fetch.record(parser)? {
                Ok(mut record) => {
                    if answer == Answer::Crawled {
                        mark_crawled(&mut record);
                    }
                    Entry::One(Event::Record(record))
                }
                Err(reason) => Entry::Skipped(reason),
            })
        })
    }
}

/// A digest as archives have it: that of SHA-1 stands in most indexes without its name.
fn labelled(digest: &str) -> Cow<'_, str> {
    let is_base_32 = |byte: u8| matches!(byte, b'A'..=b'Z' | b'2'..=b'7');
    if digest.len() == 32 && digest.bytes().all(is_base_32) {
        Cow::Owned(format!("sha1:{digest}"))
    } else {
        Cow::Borrowed(digest)
    }
}
