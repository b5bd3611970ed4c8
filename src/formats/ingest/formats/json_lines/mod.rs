//! JSON Lines: one record per line (`schema/record.schema.json`).
//!
//! A line is parsed in two steps: first its structure, in which the fields stay raw JSON
//! ([`fields`]), then the fields that matter. So, with `gone: true`, the other fields are truly
//! ignored; a number such as 1e400 gets a reason of its own; and an outlink that cannot be decoded
//! (an unpaired surrogate) costs the outlink and not the record ([`outlinks`](mod@outlinks)).

mod fields;
mod outlinks;

use std::str::FromStr;

use crate::ingest::digest::digest_hash;
use crate::ingest::fetch::{Outcome, mark_crawled};
use crate::ingest::interner::UrlNumber;
use crate::ingest::lines::LineFormat;
use crate::ingest::number::{integer, quality, ten_thousandths};
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::record::{
    Event, FailedFetches, FetchOrigin, MAX_CLICKS, MAX_UNCRAWLED_OUTLINKS, PageRecord,
    UncrawledOutlinks,
};
use crate::ingest::reject::{Fault, RejectReason};
use crate::ingest::timestamp::{Timestamp, parse_timestamp, parse_timestamp_number};
pub(super) use fields::Fields;
pub(super) use fields::{decode_string, wrong_type};
pub(crate) use fields::{parse_structure, truth};
use outlinks::outlinks;
use seedbank_algorithms::fetch_status::{FetchStatus, STATUS_EXPECTED};
use seedbank_algorithms::page::AliasBy;
use seedbank_algorithms::yields::Yield;

/// The names of the fields of a record.
pub const RECORD_FIELDS: [&str; 20] = [
    "url",
    "outlinks",
    "spam",
    "clicks",
    "uncrawled_outlinks",
    "quality",
    "digest",
    "fetched",
    "redirect",
    "canonical",
    "gone",
    "status",
    "failures",
    "failing_since",
    "failed",
    "observed_days",
    "new_links",
    "seed",
    "via",
    "depth",
];

/// The JSON Lines format.
///
/// Where the format leaves a choice:
///
/// * An unknown field is ignored and counted by name. Null means absent, except in
///   `uncrawled_outlinks`, where it means that the bank counts them, and in `quality`, which it
///   removes.
/// * A field that occurs twice, known or not, rejects the record; objects within ignored values are
///   not examined.
/// * With `gone: true`, only `url` and the fields of failures and of sums are read, `fetched` if it is a time, to
///   find the latest of several records, and `seed`, `via` and `depth` if all are valid: the other fields may
///   contain any JSON.
/// * With the `status` of a failed fetch and without `failures`, only `url`, `fetched`, `seed`, `via` and `depth`
///   are read.
/// * A `seed` is a URL, or `true` if the page itself is one, as Browsertrix Crawler writes it; `false` means
///   absent.
/// * An outlink is a string, or an object with a string as `url` or else `href`, whose other fields
///   are ignored. One that is not a URL is dropped and counted; any other element rejects the
///   record.
/// * A `redirect` or `canonical` is a string like `url`. One that is not the URL of a page is
///   dropped and counted with the outlinks, and one that is the page itself is ignored.
/// * An empty `digest` is a digest like any other. One that is the hash of a digest, as `export`
///   writes it, is used as that hash.
#[derive(Clone, Copy, Debug, Default)]
pub struct JsonLines;

impl LineFormat for JsonLines {
    fn read(&self, line: &str, parser: &mut PieceParser) -> Result<Event<UrlNumber>, Fault> {
        let fields = parse_structure(line, &RECORD_FIELDS)?;
        for name in &fields.unknown {
            parser.summary.unknown_fields.count(name);
        }
        fields.check()?;
        let url = fields
            .text("url")?
            .ok_or_else(|| Fault::new(RejectReason::MissingUrl, "a record must have a url"))?;
        let url = parser.page(&url)?;
        let mut record = PageRecord::new(url);
        let status = fields.status()?;
        record.failures = fields.failures(status, parser)?;
        record.sums = fields.sums()?;
        // With `failures`, the status is theirs.
        let outcome = status.filter(|_| record.failures.is_none());
        let outcome = outcome.map(|status| (Outcome::from_status(status), status));
        if fields.truth("gone")? == Some(true) || matches!(outcome, Some((Outcome::Gone, _))) {
            record.gone = true;
            // The time only decides which of several records is the latest: it cannot reject this one.
            let fetched = fields.fetched().ok().flatten();
            record.fetched = fetched.map(|time| parser.time(time));
            record.origin = fields.origin(url, parser).ok().flatten();
            return Ok(Event::Record(record));
        }
        let origin = fields.origin(url, parser)?;
        if let Some((Outcome::Failed, status)) = outcome {
            let fetched = fields.fetched()?.map(|time| parser.time(time));
            let failed = PageRecord::failed(url, status, fetched);
            return Ok(Event::Record(PageRecord { origin, ..failed }));
        }
        record.spam = fields.truth("spam")?;
        record.clicks = fields.count("clicks", MAX_CLICKS)?;
        record.uncrawled_outlinks = fields.uncrawled_outlinks()?;
        record.quality = fields.attribute("quality", quality)?;
        record.digest = fields.text("digest")?.map(|digest| digest_hash(&digest));
        let fetched = fields.fetched()?;
        let aliases = [
            (fields.text("redirect")?, AliasBy::Redirect),
            (fields.text("canonical")?, AliasBy::Canonical),
        ];
        // Last, so that nothing is counted for a record that is rejected.
        record.outlinks = fields.outlinks(url, parser)?;
        for (to, by) in aliases {
            let to = to.and_then(|to| parser.alias_target(url, &to));
            if record.alias.is_none() {
                record.alias = to.map(|to| (to, by));
            }
        }
        if record.alias.is_some() {
            record.outlinks = None;
        }
        record.fetched = fetched.map(|time| parser.time(time));
        match outcome {
            Some((Outcome::Redirect, status)) if record.alias.is_none() => {
                record = PageRecord::failed(url, status, record.fetched);
            }
            Some(_) => mark_crawled(&mut record),
            None => {}
        }
        record.origin = origin;
        Ok(Event::Record(record))
    }
}

/// Fields that only records of pages have.
impl Fields<'_, { RECORD_FIELDS.len() }> {
    fn uncrawled_outlinks(&self) -> Result<UncrawledOutlinks, Fault> {
        let name = "uncrawled_outlinks";
        if self.raw_or_null(name) == Some("null") {
            return Ok(UncrawledOutlinks::Counted);
        }
        let count = self.count(name, u64::from(MAX_UNCRAWLED_OUTLINKS))?;
        Ok(match count.map(u32::try_from) {
            Some(Ok(count)) => UncrawledOutlinks::Given(count),
            _ => UncrawledOutlinks::Absent,
        })
    }

    /// Returns the result of the last fetch, which is a string or a number.
    fn status(&self) -> Result<Option<FetchStatus>, Fault> {
        let name = "status";
        let status = match self.raw(name) {
            None => return Ok(None),
            Some(raw) if raw.starts_with('"') => {
                let text = self.text(name)?.unwrap_or_default();
                FetchStatus::from_str(&text).ok()
            }
            Some(raw) => integer(raw, name, u64::from(u16::MAX))
                .ok()
                .and_then(|code| u16::try_from(code).ok())
                .and_then(FetchStatus::http),
        };
        status
            .map(Some)
            .ok_or_else(|| wrong_type(name, STATUS_EXPECTED))
    }

    /// Returns the failed fetches that the record counts, whose last one has this status.
    fn failures(
        &self,
        status: Option<FetchStatus>,
        parser: &mut PieceParser,
    ) -> Result<Option<FailedFetches>, Fault> {
        let Some(count) = self.count("failures", u64::from(u32::MAX))? else {
            return Ok(None);
        };
        let times = [self.time("failing_since")?, self.time("failed")?];
        let Some(count) = u32::try_from(count).ok().filter(|count| *count > 0) else {
            return Ok(None);
        };
        let status = status.filter(|status| Outcome::from_status(*status) == Outcome::Failed);
        let status = status.ok_or_else(|| {
            wrong_type("failures", "given with the status of a fetch that failed")
        })?;
        let [since, last] = times.map(|time| time.map(|time| parser.time(time)));
        Ok(Some(FailedFetches {
            status,
            count,
            since,
            last,
        }))
    }

    /// Returns what fetches of the page brought so far.
    fn sums(&self) -> Result<Option<Yield>, Fault> {
        let sum = |name: &'static str| {
            let raw = self.raw(name);
            raw.map(|raw| ten_thousandths(raw, name)).transpose()
        };
        let (days, new) = (sum("observed_days")?, sum("new_links")?);
        Ok((days.is_some() || new.is_some()).then(|| Yield {
            days: days.unwrap_or(0),
            new: new.unwrap_or(0),
        }))
    }

    /// Returns how the crawler came to the page.
    fn origin(
        &self,
        page: UrlNumber,
        parser: &mut PieceParser,
    ) -> Result<Option<Box<FetchOrigin<UrlNumber>>>, Fault> {
        let depth = self.count("depth", u64::from(u32::MAX))?;
        let seed = match self.raw("seed") {
            None | Some("false") => None,
            Some("true") => Some(page),
            Some(raw) if raw.starts_with('"') => self.page("seed", parser)?,
            Some(_) => return Err(wrong_type("seed", "a URL, or true for the page itself")),
        };
        let origin = FetchOrigin {
            seed,
            via: self.page("via", parser)?,
            depth: depth.and_then(|depth| u32::try_from(depth).ok()),
        };
        Ok(origin.known())
    }

    /// Returns the page that a field names.
    fn page(
        &self,
        name: &'static str,
        parser: &mut PieceParser,
    ) -> Result<Option<UrlNumber>, Fault> {
        let url = self.text(name)?;
        url.map(|url| parser.other_page(name, &url)).transpose()
    }

    /// Returns the time of the fetch.
    fn fetched(&self) -> Result<Option<Timestamp>, Fault> {
        self.time("fetched")
    }

    /// Returns a time, which is a string or a number.
    fn time(&self, name: &'static str) -> Result<Option<Timestamp>, Fault> {
        let time = match self.raw(name) {
            None => return Ok(None),
            Some(raw) if raw.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
                parse_timestamp_number(raw)
            }
            Some(raw) if raw.starts_with('"') => match self.text(name)? {
                Some(text) => parse_timestamp(&text),
                None => return Ok(None),
            },
            Some(_) => return Err(wrong_type(name, "a time, as a string or a number")),
        };
        time.map(Some)
            .map_err(|error| Fault::timestamp(name, error))
    }

    fn outlinks(
        &self,
        page: UrlNumber,
        parser: &mut PieceParser,
    ) -> Result<Option<Vec<UrlNumber>>, Fault> {
        match self.raw("outlinks") {
            None => Ok(None),
            Some(raw) if raw.starts_with('[') => outlinks(raw, page, parser).map(Some),
            Some(_) => Err(wrong_type("outlinks", "a list of URLs")),
        }
    }
}

#[cfg(test)]
mod tests;
