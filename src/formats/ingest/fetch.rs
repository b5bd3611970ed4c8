//! What a fetch says of its page, by the status of the answer: what archives of the web, their indexes
//! and logs of crawlers share.

use super::base::Base;
use super::digest::digest_hash;
use super::interner::UrlNumber;
use super::reading::Reading;
use super::record::PageRecord;
use super::reject::{Fault, RejectReason};
use super::summary::{DropReason, PassedOver};
use super::timestamp::parse_timestamp;
use seedbank_algorithms::page::AliasBy;

/// What a status says of the page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    /// 200 to 299: its content was fetched.
    Crawled,
    /// 300 to 399, but not 304: it leads to another page, if the answer says to which.
    Leads,
    /// 404 and 410: there is no such page.
    Gone,
}

impl Answer {
    /// `None` where the page is as it was (403, 500, 304, ...).
    pub(super) const fn of(status: u16) -> Option<Self> {
        match status {
            200..=299 => Some(Self::Crawled),
            304 => None,
            300..=399 => Some(Self::Leads),
            404 | 410 => Some(Self::Gone),
            _ => None,
        }
    }
}

/// A fetch of a page, without the content that came.
#[derive(Debug)]
pub(super) struct Fetch<'a> {
    /// The page's URL.
    pub(super) url: &'a str,
    /// What the answer says.
    pub(super) answer: Answer,
    /// When it was, as it is given; `None` where that is not said.
    pub(super) time: Option<&'a str>,
    /// What `time` is called, for a refusal.
    pub(super) time_field: &'static str,
    /// The digest of the content; `None` where there is none.
    pub(super) digest: Option<&'a str>,
    /// Where the answer leads, relative to the page; `None` where it does not say.
    pub(super) location: Option<&'a str>,
}

impl Fetch<'_> {
    /// The record of the page, with all but what the content says; `Err` in it where nothing is said
    /// of the page.
    pub(super) fn record(
        &self,
        reading: &mut Reading,
    ) -> Result<Result<PageRecord<UrlNumber>, PassedOver>, Fault> {
        if self.answer == Answer::Leads && self.location.is_none() {
            return Ok(Err(PassedOver::OtherStatus));
        }
        let page = reading.page(self.url)?;
        let mut record = PageRecord::new(page);
        let time = self.time.map(parse_timestamp).transpose();
        let time = time.map_err(|problem| {
            let detail = format!("{}: {problem}", self.time_field);
            Fault::new(RejectReason::InvalidTimestamp, detail)
        });
        record.gone = self.answer == Answer::Gone;
        // Of a page that is gone it only says which of several records is the latest, and cannot
        // reject this one.
        let time = if record.gone {
            time.ok().flatten()
        } else {
            time?
        };
        record.fetched = time.map(|time| reading.time(time));
        match (self.answer, self.location) {
            (Answer::Crawled, _) => record.digest = self.digest.map(digest_hash),
            (Answer::Leads, Some(location)) => {
                let mut base = Base::of(self.url, None);
                let Some(to) = lead(page, location, base.as_mut(), reading) else {
                    return Ok(Err(PassedOver::LeadsNowhere));
                };
                record.alias = Some((to, AliasBy::Redirect));
            }
            _ => {}
        }
        Ok(Ok(record))
    }
}

/// Makes a record of a page whose content was fetched one of a crawled page, whatever else is unknown.
pub(super) fn as_crawled(record: &mut PageRecord<UrlNumber>) {
    record.crawled = !record.is_crawl();
}

/// The page that a page leads to; `None` where there is no other, which is counted.
pub(super) fn lead(
    page: UrlNumber,
    link: &str,
    base: Option<&mut Base>,
    reading: &mut Reading,
) -> Option<UrlNumber> {
    let absolute = match base {
        None => return reading.lead(page, link),
        Some(base) => base.absolute(link),
    };
    match absolute {
        Ok(url) => reading.lead(page, &url),
        Err(problem) => {
            reading.summary.dropped(DropReason::from(&problem));
            None
        }
    }
}

/// Reads a record, of which nothing is counted where it is refused.
pub(super) fn counted<T>(
    reading: &mut Reading,
    read: impl FnOnce(&mut Reading) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let before = std::mem::take(&mut reading.summary);
    let said = read(reading);
    let counted = std::mem::replace(&mut reading.summary, before);
    if said.is_ok() {
        reading.summary.merge(&counted);
    }
    said
}
