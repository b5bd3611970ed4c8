//! A page of Nutch's database, in any form of dump.
//!
//! | status | in the bank |
//! | --- | --- |
//! | `db_fetched`, `db_notmodified`, `db_duplicate` | crawled, with the signature as digest |
//! | `db_parse_failed` | crawled; the signature is ignored, since it may be that of an earlier fetch |
//! | `db_redir_perm`, `db_redir_temp` | a redirect, to the URL in `_pst_` of the metadata |
//! | `db_gone` | gone; a failed fetch if `_pst_` is anything other than `gone` or `notfound` |
//! | `db_unfetched`, `db_orphan` | known; a failed fetch if `_pst_` says so |
//!
//! Nutch stores when a page is due, not when it was fetched. Its schedules add the interval to the
//! time of the fetch, so the interval is subtracted again. A page whose fetch failed for the moment is
//! unfetched, and due a day later.

use super::date::java_date;
use crate::ingest::entries::Entry;
use crate::ingest::fetch::{Answer, Fetch};
use crate::ingest::formats::capture_entry::capture_entry;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::record::{Event, PageRecord};
use crate::ingest::reject::{Fault, RejectReason};
use crate::ingest::summary::SkipReason;
use crate::ingest::timestamp::Timestamp;
use seedbank_algorithms::fetch_status::FetchStatus;

const MICROS: i64 = 1_000_000;

/// Parts of the names and messages of Java's exceptions, and what they mean.
const EXCEPTIONS: [(&str, FetchStatus); 6] = [
    ("Timeout", FetchStatus::Timeout),
    ("timed out", FetchStatus::Timeout),
    ("UnknownHost", FetchStatus::Dns),
    ("SSL", FetchStatus::Tls),
    ("Connect", FetchStatus::Connect),
    ("Socket", FetchStatus::Connect),
];

/// A page, as texts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Datum<'a> {
    pub(super) url: &'a str,
    /// The name of the status.
    pub(super) status: Option<&'a str>,
    /// When the page is due.
    pub(super) due: Option<&'a str>,
    /// Seconds until it is fetched again.
    pub(super) interval: Option<&'a str>,
    pub(super) signature: Option<&'a str>,
    /// The status of the last fetch: `moved(12), lastModified=0: http://b.example/`.
    pub(super) protocol: Option<&'a str>,
}

impl Datum<'_> {
    /// Reads the page. Nothing of a rejected page is counted.
    pub(super) fn entry(&self, parser: &mut PieceParser) -> Result<Entry, Fault> {
        let status = self
            .status
            .ok_or_else(|| Fault::new(RejectReason::MissingType, "a page must have a status"))?;
        let answer = match status {
            "db_fetched" | "db_notmodified" | "db_duplicate" | "db_parse_failed" => Answer::Crawled,
            "db_redir_perm" | "db_redir_temp" => Answer::Redirect,
            "db_gone" if self.is_gone() => Answer::Gone,
            "db_gone" => match self.failure() {
                Some(status) => Answer::Failed(status),
                None => return Ok(Entry::Skipped(SkipReason::OtherStatus)),
            },
            "db_unfetched" | "db_orphan" => {
                if let Some(status) = self.failure() {
                    let day = Self {
                        interval: Some("86400"),
                        ..*self
                    };
                    return day.capture(Answer::Failed(status), parser);
                }
                let page = parser.page(self.url)?;
                return Ok(Entry::One(Event::Record(PageRecord::new(page))));
            }
            other => {
                let head: String = other.chars().take(40).collect();
                return Err(Fault::new(
                    RejectReason::WrongType,
                    format!("{head} is not a status of Nutch's database"),
                ));
            }
        };
        self.capture(answer, parser)
    }

    /// Reads the page as a capture.
    fn capture(&self, answer: Answer, parser: &mut PieceParser) -> Result<Entry, Fault> {
        let signature = self.signature.filter(|text| !matches!(*text, "" | "null"));
        let is_unparsed = self.status == Some("db_parse_failed");
        let fetch = Fetch {
            url: self.url,
            answer,
            time: None,
            time_field: "",
            digest: signature.filter(|_| !is_unparsed),
            location: self.target(),
        };
        capture_entry(&fetch, self.fetched()?, parser)
    }

    /// Returns when the page was fetched; `None` if that is unknown.
    fn fetched(&self) -> Result<Option<Timestamp>, Fault> {
        let Some((due, interval)) = self.due.zip(self.interval) else {
            return Ok(None);
        };
        let wrong = |detail: &str| Fault::new(RejectReason::InvalidTimestamp, detail);
        let due = java_date(due).ok_or_else(|| {
            wrong("the fetch time must be a time as Java writes it: Thu Nov 19 04:00:00 UTC 2026")
        })?;
        // CSV writes the seconds as a double.
        let seconds = interval.strip_suffix(".0").unwrap_or(interval);
        let seconds: i64 = match seconds.parse() {
            Ok(seconds) => seconds,
            Err(_) => parse_exponent(seconds)
                .ok_or_else(|| wrong("the interval must be a number of seconds"))?,
        };
        let micros = seconds.checked_mul(MICROS);
        let micros = micros.and_then(|interval| due.micros.checked_sub(interval));
        Ok(micros
            .filter(|at| *at > 0)
            .map(|micros| Timestamp { micros, ..due }))
    }

    /// Returns whether the page is permanently gone, or its protocol status is unknown.
    fn is_gone(&self) -> bool {
        self.protocol
            .is_none_or(|status| status.starts_with("gone(") || status.starts_with("notfound("))
    }

    /// Returns why the last fetch failed; `None` if it did not, or was not tried.
    fn failure(&self) -> Option<FetchStatus> {
        let (name, rest) = self.protocol?.split_once('(')?;
        match name {
            "robots_denied" => Some(FetchStatus::Robots),
            "unknown_host" => Some(FetchStatus::Dns),
            "connection_timed_out" => Some(FetchStatus::Timeout),
            "access_denied" | "failed" | "proto_not_found" | "redir_exceeded" => {
                Some(FetchStatus::Other)
            }
            // The message has the status, or the class of the exception.
            "exception" | "retry" => {
                let reason = EXCEPTIONS.iter().find(|(text, _)| rest.contains(text));
                let reason = reason.map_or(FetchStatus::Other, |(_, status)| *status);
                let code = rest.split_once("Http code=").map(|(_, code)| code);
                let code = code.and_then(|code| code.get(..3)?.parse().ok());
                Some(code.and_then(FetchStatus::http).unwrap_or(reason))
            }
            _ => None,
        }
    }

    /// Returns the target of a redirect.
    fn target(&self) -> Option<&str> {
        let status = self.protocol?;
        if !(status.starts_with("moved(") || status.starts_with("temp_moved(")) {
            return None;
        }
        let (_, after) = status.split_once("lastModified=")?;
        after.split_once(": ").map(|(_, url)| url.trim())
    }
}

/// Parses a whole number in Java's notation for doubles of ten million or more: `1.5552E7`.
fn parse_exponent(text: &str) -> Option<i64> {
    let (digits, exponent) = text.split_once('E')?;
    let (whole, fraction) = digits.split_once('.')?;
    let exponent: usize = exponent.parse().ok().filter(|exponent| *exponent < 18)?;
    let fraction = fraction.trim_end_matches('0');
    let zeros = exponent.checked_sub(fraction.len())?;
    format!("{whole}{fraction}{}", "0".repeat(zeros))
        .parse()
        .ok()
}
