//! What the database says of a page, whatever it was dumped as.
//!
//! | status | in the bank |
//! | --- | --- |
//! | `db_fetched`, `db_notmodified`, `db_duplicate` | crawled, with the signature as digest |
//! | `db_parse_failed` | crawled; the signature is that of an earlier fetch, if any |
//! | `db_redir_perm`, `db_redir_temp` | a redirect, to the URL in `_pst_` of the metadata |
//! | `db_gone` | gone, but where `_pst_` says anything else than `gone` or `notfound` the page is as it was |
//! | `db_unfetched`, `db_orphan` | known |
//!
//! Nutch keeps the time at which a page is due, not that of its fetch: its schedules make it of the
//! time of the fetch and the interval, so the interval is taken off again.

use super::date::java_date;
use crate::ingest::entries::Entry;
use crate::ingest::fetch::{Answer, Fetch, count_if_accepted, mark_crawled};
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::record::{Event, PageRecord};
use crate::ingest::reject::{Fault, RejectReason};
use crate::ingest::summary::SkipReason;
use crate::ingest::timestamp::Timestamp;

const MICROS: i64 = 1_000_000;

/// A page of the database, as texts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Datum<'a> {
    pub(super) url: &'a str,
    /// The name of the status.
    pub(super) status: Option<&'a str>,
    /// When it is due.
    pub(super) due: Option<&'a str>,
    /// After how many seconds it is fetched again.
    pub(super) interval: Option<&'a str>,
    pub(super) signature: Option<&'a str>,
    /// What is kept of the last answer: `moved(12), lastModified=0: http://b.example/`.
    pub(super) protocol: Option<&'a str>,
}

impl Datum<'_> {
    /// What it says. Of one that is refused nothing is counted.
    pub(super) fn said(&self, parser: &mut PieceParser) -> Result<Entry, Fault> {
        let status = self
            .status
            .ok_or_else(|| Fault::new(RejectReason::MissingType, "a page must have a status"))?;
        let answer = match status {
            "db_fetched" | "db_notmodified" | "db_duplicate" | "db_parse_failed" => Answer::Crawled,
            "db_redir_perm" | "db_redir_temp" => Answer::Redirect,
            "db_gone" if self.is_gone() => Answer::Gone,
            "db_gone" => return Ok(Entry::Skipped(SkipReason::OtherStatus)),
            "db_unfetched" | "db_orphan" => {
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
        let signature = self.signature.filter(|text| !matches!(*text, "" | "null"));
        let fetch = Fetch {
            url: self.url,
            answer,
            time: None,
            time_field: "",
            digest: signature.filter(|_| status != "db_parse_failed"),
            location: self.target(),
        };
        let time = self.fetched()?;
        count_if_accepted(parser, |parser| {
            Ok(match fetch.record(parser)? {
                Ok(mut record) => {
                    record.fetched = time.map(|time| parser.time(time));
                    if answer == Answer::Crawled {
                        mark_crawled(&mut record);
                    }
                    Entry::One(Event::Record(record))
                }
                Err(reason) => Entry::Skipped(reason),
            })
        })
    }

    /// When the page was fetched; `None` where that is not said.
    fn fetched(&self) -> Result<Option<Timestamp>, Fault> {
        let Some((due, interval)) = self.due.zip(self.interval) else {
            return Ok(None);
        };
        let wrong = |said: &str| Fault::new(RejectReason::InvalidTimestamp, said);
        let due = java_date(due).ok_or_else(|| {
            wrong("the fetch time must be a time as Java writes it: Thu Nov 19 04:00:00 UTC 2026")
        })?;
        // CSV has the seconds as a fraction.
        let seconds = interval.strip_suffix(".0").unwrap_or(interval);
        let seconds: i64 = match seconds.parse() {
            Ok(seconds) => seconds,
            Err(_) => by_exponent(seconds)
                .ok_or_else(|| wrong("the interval must be a number of seconds"))?,
        };
        let micros = seconds.checked_mul(MICROS);
        let micros = micros.and_then(|interval| due.micros.checked_sub(interval));
        Ok(micros
            .filter(|at| *at > 0)
            .map(|micros| Timestamp { micros, ..due }))
    }

    /// Whether the page is gone for good, as far as is said.
    fn is_gone(&self) -> bool {
        self.protocol
            .is_none_or(|said| said.starts_with("gone(") || said.starts_with("notfound("))
    }

    /// Where the last answer led.
    fn target(&self) -> Option<&str> {
        let said = self.protocol?;
        if !(said.starts_with("moved(") || said.starts_with("temp_moved(")) {
            return None;
        }
        let (_, after) = said.split_once("lastModified=")?;
        after.split_once(": ").map(|(_, url)| url.trim())
    }
}

/// A number of seconds as Java writes those from ten million on where it has them as a fraction:
/// `1.5552E7`.
fn by_exponent(text: &str) -> Option<i64> {
    let (digits, exponent) = text.split_once('E')?;
    let (whole, fraction) = digits.split_once('.')?;
    let exponent: usize = exponent.parse().ok().filter(|exponent| *exponent < 18)?;
    let fraction = fraction.trim_end_matches('0');
    let zeros = exponent.checked_sub(fraction.len())?;
    format!("{whole}{fraction}{}", "0".repeat(zeros))
        .parse()
        .ok()
}
