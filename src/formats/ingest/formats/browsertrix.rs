//! The lists of pages of Browsertrix Crawler: `pages.jsonl` and `extraPages.jsonl`, for the pages
//! that it loaded, and `skippedPages.jsonl`, for those that it did not.
//!
//! ```text
//! {"format":"json-pages-1.0","id":"pages","title":"Seed Pages","hasText":"false"}
//! {"id":"4b...","url":"http://a.example/","title":"A","loadState":4,"ts":"2026-11-19T04:00:00.000Z","mime":"text/html","status":200,"seed":true,"depth":0}
//! {"url":"http://a.example/x","seedUrl":"http://a.example/","depth":1,"seed":false,"reason":"robotsTxt","ts":"2026-11-19T04:00:01.000Z"}
//! ```
//!
//! All have the same header. A line with a `reason` describes a page that was skipped
//! (`SkippedReason` of the crawler's `src/util/constants.ts`), any other line a page that was
//! loaded or failed to load. Only lines of skipped pages name the seed that the crawl came from;
//! other lines say whether the page itself is a seed.

use super::capture_entry::capture_entry;
use super::json_lines::{Fields, parse_structure};
use crate::ingest::entries::{Entry, EntryFormat};
use crate::ingest::fetch::{Answer, Fetch};
use crate::ingest::kind::KindEvidence;
use crate::ingest::location::other_scheme;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::record::Event;
use crate::ingest::summary::{Fault, RejectReason, SkipReason};

use seedbank_algorithms::fetch_status::FetchStatus;

/// The fields that are read.
const FIELDS: [&str; 10] = [
    "format",
    "url",
    "ts",
    "mime",
    "status",
    "loadState",
    "reason",
    "seed",
    "seedUrl",
    "depth",
];

/// The `loadState` of a page that failed to load.
const FAILED: u64 = 0;

/// A list of pages.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PageList {
    /// Whether the responses of the same crawl are read too. Then only pages without one are read here.
    is_beside_responses: bool,
}

impl PageList {
    /// A list beside the responses of the same crawl.
    pub(super) const fn beside_responses() -> Self {
        Self {
            is_beside_responses: true,
        }
    }
}

impl EntryFormat for PageList {
    type Context = ();

    fn read(&self, line: &str, _context: &(), parser: &mut PieceParser) -> Result<Entry, Fault> {
        let fields = parse_structure(line, &FIELDS, parser)?;
        fields.check(parser)?;
        let url = match fields.essential("url", fields.text("url"))? {
            Some(url) => url,
            // A header. Concatenated lists have several.
            None if fields.raw("format").is_some() => {
                return Ok(Entry::Skipped(SkipReason::NoPage));
            }
            None => {
                let detail = "a page must have a url";
                return Err(Fault::new(RejectReason::MissingUrl, detail));
            }
        };
        if other_scheme(&url).is_some() {
            return Ok(Entry::Skipped(SkipReason::NoPage));
        }
        let Some(answer) = answer(&fields, parser) else {
            return Ok(Entry::Skipped(SkipReason::OtherStatus));
        };
        if self.is_beside_responses && !is_unanswered(&fields, answer) {
            return Ok(Entry::Skipped(SkipReason::BesideResponse));
        }
        let time = parser.field("ts", fields.text("ts"));
        let mime = parser.field("mime", fields.text("mime"));
        let fetch = Fetch {
            url: &url,
            answer,
            time: time.as_deref(),
            digest: None,
            location: None,
            kind: KindEvidence {
                mime: mime.as_deref(),
                ..KindEvidence::default()
            },
        };
        let mut entry = capture_entry(&fetch, None, parser)?;
        if let Entry::One(Event::Record(record)) = &mut entry {
            // Only lists of skipped pages name the seed; others say which pages are seeds.
            let named = fields.text("seedUrl").ok().flatten();
            let itself = (fields.raw("seed") == Some("true")).then_some(&*url);
            let depth = fields.count("depth", u64::from(u32::MAX)).ok().flatten();
            let depth = depth.and_then(|depth| u32::try_from(depth).ok());
            record.origin = parser.noted_origin(named.as_deref().or(itself), None, depth);
        }
        Ok(entry)
    }
}

/// Returns the result of the fetch that a line describes; `None` if there was none.
fn answer(fields: &Fields<'_, { FIELDS.len() }>, parser: &mut PieceParser) -> Option<Answer> {
    if let Some(reason) = parser.field("reason", fields.text("reason")) {
        return answer_of_reason(&reason);
    }
    if let Some(status) = parser.field("status", fields.count("status", u64::from(u16::MAX))) {
        return u16::try_from(status).ok().and_then(Answer::from_status);
    }
    let load_state = parser.field("loadState", fields.count("loadState", u64::MAX));
    Some(match load_state {
        Some(FAILED) => Answer::Failed(FetchStatus::Other),
        _ => Answer::Crawled,
    })
}

/// Returns whether a line says that its page has no response: robots.txt forbids it, or it did not load.
fn is_unanswered(fields: &Fields<'_, { FIELDS.len() }>, answer: Answer) -> bool {
    match answer {
        Answer::Failed(FetchStatus::Robots) => true,
        Answer::Failed(FetchStatus::Other) => {
            fields.raw("status").is_none() && fields.raw("reason").is_none()
        }
        _ => false,
    }
}

/// Returns the meaning of the reason for which a page was skipped; `None` for a decision of the crawler: the scope, a limit, a
/// redirect out of the scope, the content of another page.
fn answer_of_reason(reason: &str) -> Option<Answer> {
    match reason {
        "robotsTxt" => Some(Answer::Failed(FetchStatus::Robots)),
        // Refused with one of several statuses, or blocked while it was loaded.
        "rateLimited" | "failed" => Some(Answer::Failed(FetchStatus::Other)),
        _ => None,
    }
}

#[cfg(test)]
#[path = "browsertrix_tests.rs"]
mod tests;
