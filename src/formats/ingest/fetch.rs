//! What a fetch says of its page, by the status of the answer: what archives of the web, their indexes
//! and logs of crawlers share.

use super::digest::digest_hash;
use super::interner::UrlNumber;
use super::piece_parser::PieceParser;
use super::record::PageRecord;
use super::reject::{Fault, RejectReason};
use super::resolve_url::BaseUrl;
use super::summary::{DropReason, SkipReason};
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
        parser: &mut PieceParser,
    ) -> Result<Result<PageRecord<UrlNumber>, SkipReason>, Fault> {
        if self.answer == Answer::Leads && self.location.is_none() {
            return Ok(Err(SkipReason::OtherStatus));
        }
        let page = parser.page(self.url)?;
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
        record.fetched = time.map(|time| parser.time(time));
        match (self.answer, self.location) {
            (Answer::Crawled, _) => record.digest = self.digest.map(digest_hash),
            (Answer::Leads, Some(location)) => {
                let mut base = BaseUrl::new(self.url, None);
                let Some(to) = lead(page, location, base.as_mut(), parser) else {
                    return Ok(Err(SkipReason::LeadsNowhere));
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
    base: Option<&mut BaseUrl>,
    parser: &mut PieceParser,
) -> Option<UrlNumber> {
    let absolute = match base {
        None => return parser.lead(page, link),
        Some(base) => base.absolute(link),
    };
    match absolute {
        Ok(url) => parser.lead(page, &url),
        Err(problem) => {
            parser.summary.dropped(DropReason::from(&problem));
            None
        }
    }
}

/// Reads a record, of which nothing is counted where it is refused.
pub(super) fn counted<T>(
    parser: &mut PieceParser,
    read: impl FnOnce(&mut PieceParser) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let before = std::mem::take(&mut parser.summary);
    let said = read(parser);
    let counted = std::mem::replace(&mut parser.summary, before);
    if said.is_ok() {
        parser.summary.merge(&counted);
    }
    said
}
