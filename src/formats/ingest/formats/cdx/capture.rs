//! The captures that an index lists.

use std::borrow::Cow;

use crate::ingest::entries::Entry;
use crate::ingest::fetch::{Answer, Fetch};
use crate::ingest::formats::capture_entry::{capture_entry, labelled_digest};
use crate::ingest::formats::json_lines::{Fields, parse_structure};
use crate::ingest::location::other_scheme;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::reject::{Fault, RejectReason};
use crate::ingest::summary::SkipReason;

/// The fields of the JSON that are read.
const FIELDS: [&str; 6] = ["url", "status", "digest", "mime", "redirect", "method"];

/// A capture, as texts.
#[derive(Debug)]
pub(super) struct Capture<'a> {
    pub(super) url: Cow<'a, str>,
    pub(super) time: Option<&'a str>,
    pub(super) status: Option<Cow<'a, str>>,
    pub(super) digest: Option<Cow<'a, str>>,
    pub(super) mime: Option<Cow<'a, str>>,
    /// The target of a redirect.
    pub(super) location: Option<Cow<'a, str>>,
    /// The method of the request; `None` means GET.
    pub(super) method: Option<Cow<'a, str>>,
}

/// Reads an entry of CDXJ.
pub(super) fn read_json(time: &str, json: &str, parser: &mut PieceParser) -> Result<Entry, Fault> {
    let fields = parse_structure(json, &FIELDS)?;
    fields.check()?;
    let url = fields
        .text("url")?
        .ok_or_else(|| Fault::new(RejectReason::MissingUrl, "an entry must have a url"))?;
    let capture = Capture {
        url,
        time: Some(time),
        status: status(&fields)?,
        digest: non_empty(fields.text("digest")?),
        mime: fields.text("mime")?,
        location: non_empty(fields.text("redirect")?),
        method: fields.text("method")?,
    };
    capture.entry(parser)
}

/// Returns the status, which is a number in some indexes.
fn status<'a>(fields: &Fields<'a, { FIELDS.len() }>) -> Result<Option<Cow<'a, str>>, Fault> {
    match fields.raw("status") {
        Some(raw) if raw.starts_with(|c: char| c.is_ascii_digit()) => Ok(Some(Cow::Borrowed(raw))),
        _ => Ok(non_empty(fields.text("status")?)),
    }
}

/// Turns an empty field or `-` into `None`.
fn non_empty(field: Option<Cow<'_, str>>) -> Option<Cow<'_, str>> {
    field.filter(|text| !matches!(&**text, "" | "-"))
}

impl Capture<'_> {
    /// Reads the capture. Nothing of a rejected entry is counted.
    pub(super) fn entry(&self, parser: &mut PieceParser) -> Result<Entry, Fault> {
        // DNS responses, screenshots and crawler metadata; and responses to forms.
        let is_get = self.method.as_deref().is_none_or(|method| method == "GET");
        if other_scheme(&self.url).is_some() || !is_get {
            return Ok(Entry::Skipped(SkipReason::NoPage));
        }
        let is_revisit = self.mime.as_deref() == Some("warc/revisit");
        let answer = match self.status.as_deref() {
            // The page was crawled and is unchanged.
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
        let digest = self.digest.as_deref().map(labelled_digest);
        let fetch = Fetch {
            url: &self.url,
            answer,
            time: self.time,
            time_field: "the time",
            digest: digest.as_deref(),
            location: self.location.as_deref(),
        };
        capture_entry(&fetch, None, parser)
    }
}
