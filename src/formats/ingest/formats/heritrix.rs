//! The log of a crawl by Heritrix, `crawl.log`: a line for each URL that it tried.
//!
//! ```text
//! 2026-11-19T04:00:01.123Z   200       1299 http://a.example/x LL http://a.example/ text/html #014 20261119040000574+225 sha1:YIUO... - -
//! time                    status size       URL                path via             type      thread  start+duration     digest source annotations
//! ```
//!
//! The log does not list the links of pages. It says by which page each URL was found: a tree that
//! has, of all links to a page, only the one that was followed. So pages and links are two formats
//! of the same file. [`CrawlLog`] does not say which links a page has, and keeps those that the bank
//! has from elsewhere, but says from which seed each page was reached if the crawler tags seeds (the source column,
//! `sourceTagSeeds`); [`ViaLinks`] gives the tree, which replaces the links of the pages.

use super::capture_entry::capture_entry;
use crate::ingest::entries::{Entry, EntryFormat};
use crate::ingest::fetch::{Answer, Fetch, count_if_accepted};
use crate::ingest::interner::UrlNumber;
use crate::ingest::kind::KindEvidence;
use crate::ingest::location::other_scheme;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::record::{Event, PageAttributes, PageRecord};
use crate::ingest::sniff::LogLine;
use crate::ingest::summary::{Fault, RejectReason, SkipReason};

use crate::ingest::timestamp::parse_timestamp;
use seedbank_algorithms::fetch_status::FetchStatus;

/// A log, read for its pages.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CrawlLog;

impl EntryFormat for CrawlLog {
    type Context = ();

    fn read(&self, line: &str, _context: &(), parser: &mut PieceParser) -> Result<Entry, Fault> {
        let line = log_line(line)?;
        if line.is_prerequisite() {
            return Ok(Entry::Skipped(SkipReason::Prerequisite));
        }
        if other_scheme(line.url).is_some() {
            return Ok(Entry::Skipped(SkipReason::NoPage));
        }
        let time = line.time();
        // The target of a redirect has a line of its own, which names the page that led to it.
        let redirect = count_if_accepted(parser, |parser| redirect(&line, &time, parser))?;
        let page = page(&line, &time, parser)?;
        Ok(match (redirect, page) {
            (Some(redirect), Entry::One(page)) => Entry::Two(redirect, page),
            (Some(redirect), _) => Entry::One(redirect),
            (None, page) => page,
        })
    }
}

fn log_line(line: &str) -> Result<LogLine<'_>, Fault> {
    LogLine::parse(line).ok_or_else(|| {
        Fault::new(
            RejectReason::Columns,
            "not a line of crawl.log: time, status, size, URL, path, via, type, #thread, start, digest, ...",
        )
    })
}

/// Returns what a line says of the kind of its answer.
fn evidence<'a>(line: &LogLine<'a>) -> KindEvidence<'a> {
    KindEvidence {
        mime: line.mime,
        hops: Some(line.path),
        ..KindEvidence::default()
    }
}

/// Returns the page that redirected to the URL of a line, as an alias of it.
fn redirect(
    line: &LogLine<'_>,
    time: &str,
    parser: &mut PieceParser,
) -> Result<Option<Event<UrlNumber>>, Fault> {
    let is_page = |via: &&str| {
        let is_redirect = line.last_step() == Some('R') && other_scheme(via).is_none();
        is_redirect && !evidence(line).is_resource(line.url)
    };
    let Some(via) = line.via.filter(is_page) else {
        return Ok(None);
    };
    let to = parser.page(line.url)?;
    let via = parser.page(via)?;
    if via == to {
        return Ok(None);
    }
    let mut record = PageRecord::new(via);
    record.redirect = Some(to);
    let time = parse_timestamp(time);
    record.fetched = time.ok().and_then(|time| parser.time("fetch time", time));
    Ok(Some(Event::Record(record)))
}

/// Reads the page of a line.
fn page(line: &LogLine<'_>, time: &str, parser: &mut PieceParser) -> Result<Entry, Fault> {
    // HTTP statuses have three digits; all others are codes of Heritrix.
    let status = u16::try_from(line.status)
        .ok()
        .filter(|status| (100..600).contains(status));
    let answer = match status {
        Some(status) => Answer::from_status(status),
        None => answer_of_code(line.status),
    };
    let Some(answer) = answer else {
        return Ok(Entry::Skipped(SkipReason::OtherStatus));
    };
    let fetch = Fetch {
        url: line.url,
        answer,
        time: Some(time),
        digest: line.digest,
        location: None,
        kind: KindEvidence {
            status,
            ..evidence(line)
        },
    };
    let mut entry = capture_entry(&fetch, None, parser)?;
    if let Entry::One(Event::Record(record)) = &mut entry {
        record.origin = parser.noted_origin(line.source, line.via, line.depth());
    }
    Ok(entry)
}

/// Returns the meaning of a code of Heritrix (`FetchStatusCodes`), which is not positive; `None` for a decision of the crawler
/// and for a fetch that was not tried.
fn answer_of_code(code: i32) -> Option<Answer> {
    let status = match code {
        // No address of the host, also when it was looked up for another fetch.
        -1 | -6 => FetchStatus::Dns,
        // No connection, or a broken one.
        -2 | -3 => FetchStatus::Connect,
        -4 => FetchStatus::Timeout,
        // Exceptions of the crawler, every retry failed, or another prerequisite did.
        -5 | -8 | -62 | -63 | -3000 => FetchStatus::Other,
        // robots.txt could not be fetched, or forbids the page.
        -61 | -9998 => FetchStatus::Robots,
        // Taken for a page that does not exist.
        -404 => return Some(Answer::Gone),
        _ => return None,
    };
    Some(Answer::Failed(status))
}

/// A log, read for the links between pages that were followed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ViaLinks;

impl EntryFormat for ViaLinks {
    type Context = ();

    fn read(&self, line: &str, _context: &(), parser: &mut PieceParser) -> Result<Entry, Fault> {
        let line = log_line(line)?;
        let is_page = |url: &str| other_scheme(url).is_none();
        let via = line.via.filter(|via| is_page(via) && is_page(line.url));
        let Some(via) = via.filter(|_| line.last_step() == Some('L')) else {
            return Ok(Entry::Skipped(SkipReason::NoLink));
        };
        let from = parser.page(via)?;
        Ok(Entry::One(match parser.target(from, line.url) {
            Some(to) => Event::Outlink { from, to },
            None => Event::Page(PageAttributes::named(from)),
        }))
    }
}

#[cfg(test)]
#[path = "heritrix_tests.rs"]
mod tests;
