//! Captures in formats that do not list the links of a page.

use std::borrow::Cow;

use crate::ingest::entries::Entry;
use crate::ingest::fetch::{Answer, Fetch, count_if_accepted, mark_crawled};
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::record::Event;
use crate::ingest::summary::Fault;
use crate::ingest::timestamp::Timestamp;

/// Reads a capture as an entry. A crawled page keeps the links that the bank has. Nothing of a
/// rejected entry is counted. `fetched` replaces the time of the fetch in formats that do not write
/// it as one text.
pub(super) fn capture_entry(
    fetch: &Fetch<'_>,
    fetched: Option<Timestamp>,
    parser: &mut PieceParser,
) -> Result<Entry, Fault> {
    let record = count_if_accepted(parser, |parser| fetch.record(parser))?;
    Ok(match record {
        Ok(mut record) => {
            if let Some(fetched) = fetched {
                let time = parser.time("fetch time", fetched);
                match &mut record.failures {
                    Some(failures) => failures.last = time,
                    None => record.fetched = time,
                }
            }
            if fetch.answer == Answer::Crawled {
                mark_crawled(&mut record);
            }
            Entry::One(Event::Record(record))
        }
        Err(reason) => Entry::Skipped(reason),
    })
}

/// Adds to a SHA-1 digest the label that archives write and most indexes omit.
pub(super) fn labelled_digest(digest: &str) -> Cow<'_, str> {
    let is_base_32 = |byte: u8| matches!(byte, b'A'..=b'Z' | b'2'..=b'7');
    if digest.len() == 32 && digest.bytes().all(is_base_32) {
        Cow::Owned(format!("sha1:{digest}"))
    } else {
        Cow::Borrowed(digest)
    }
}
