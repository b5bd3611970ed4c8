//! Interpretation of a fetch by its HTTP status; shared by readers of web archives, indexes and logs.

use std::borrow::Cow;

use super::digest::digest_hash;
use super::interner::UrlNumber;
use super::kind::KindEvidence;
use super::location::BaseUrl;
use super::piece_parser::PieceParser;
use super::record::PageRecord;
use super::summary::{DropReason, Fault, SkipReason};

use super::timestamp::parse_timestamp;
use seedbank_algorithms::fetch_status::FetchStatus;

/// The meaning of a status for the page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    /// 200 to 299: the content was fetched.
    Crawled,
    /// 300 to 399 except 304: the page redirects, if the answer has a location.
    Redirect,
    /// 404 and 410: the page does not exist.
    Gone,
    /// Any other status: the fetch failed.
    Failed(FetchStatus),
}

impl Answer {
    /// Returns `None` if the status says nothing about the page: 304, and numbers that are no HTTP
    /// status.
    pub(super) fn from_status(status: u16) -> Option<Self> {
        let status = FetchStatus::http(status)?;
        match Outcome::from_status(status) {
            Outcome::Crawled if status == FetchStatus::Http(304) => None,
            Outcome::Crawled => Some(Self::Crawled),
            Outcome::Redirect => Some(Self::Redirect),
            Outcome::Gone => Some(Self::Gone),
            Outcome::Failed => Some(Self::Failed(status)),
        }
    }
}

/// The meaning of the result of a fetch for the page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// 200 to 299, and 304: the page was fetched, or has not changed.
    Crawled,
    /// 300 to 399 except 304: the page redirects. Without another page as its target, the fetch failed.
    Redirect,
    /// 404 and 410: the page does not exist.
    Gone,
    /// Any other code, or no answer: the fetch failed.
    Failed,
}

impl Outcome {
    /// Returns the meaning of a status.
    pub(super) const fn from_status(status: FetchStatus) -> Self {
        match status {
            FetchStatus::Http(200..=299 | 304) => Self::Crawled,
            FetchStatus::Http(300..=399) => Self::Redirect,
            FetchStatus::Http(404 | 410) => Self::Gone,
            _ => Self::Failed,
        }
    }
}

/// A fetch of a page, without its content.
#[derive(Debug)]
pub(super) struct Fetch<'a> {
    /// The page's URL.
    pub(super) url: &'a str,
    /// The meaning of the status.
    pub(super) answer: Answer,
    /// The fetch time as given.
    pub(super) time: Option<&'a str>,
    /// The digest of the content.
    pub(super) digest: Option<&'a str>,
    /// The target of a redirect, relative to the page.
    pub(super) location: Option<&'a str>,
    /// What says whether it is a page.
    pub(super) kind: KindEvidence<'a>,
}

impl Fetch<'_> {
    /// Creates the record of the page, without anything that depends on the content. The inner error is
    /// the reason why the fetch yields no record.
    pub(super) fn record(
        &self,
        parser: &mut PieceParser,
    ) -> Result<Result<PageRecord<UrlNumber>, SkipReason>, Fault> {
        if self.answer == Answer::Redirect && self.location.is_none() {
            return Ok(Err(SkipReason::OtherStatus));
        }
        // An error or a redirect in place of a resource says nothing of a page.
        if self.answer != Answer::Crawled && self.kind.is_resource(self.url) {
            return Ok(Err(SkipReason::NoPage));
        }
        let page = parser.page(self.url)?;
        let mut record = PageRecord::new(page);
        record.gone = self.answer == Answer::Gone;
        let name = "fetch time";
        let time = self.time.map(|time| parse_timestamp(&archive_time(time)));
        let time = time.transpose();
        let time = parser.field(name, time.map_err(|error| Fault::timestamp(name, error)));
        let time = time.and_then(|time| parser.time(name, time));
        if let Answer::Failed(status) = self.answer {
            return Ok(Ok(PageRecord::failed(page, status, time)));
        }
        record.fetched = time;
        match (self.answer, self.location) {
            (Answer::Crawled, _) => {
                record.kind = self.kind.kind(self.url);
                // Only the contents of pages are compared.
                let digest = self
                    .digest
                    .filter(|text| !record.is_resource() && parser.check_utf_8(text).is_ok());
                record.digest = digest.map(digest_hash);
            }
            (Answer::Redirect, Some(location)) => {
                let mut base = BaseUrl::new(self.url, None);
                let Some(to) = alias_target(page, location, base.as_mut(), parser) else {
                    return Ok(Err(SkipReason::LeadsNowhere));
                };
                record.redirect = Some(to);
            }
            _ => {}
        }
        Ok(Ok(record))
    }
}

/// Completes a year or a month, as WARC 1.1 has them, to its beginning.
fn archive_time(time: &str) -> Cow<'_, str> {
    let is_digit = |at: usize| time.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    match time.len() {
        4 if (0..4).all(is_digit) => format!("{time}-01-01T00:00Z").into(),
        7 if time.get(4..5) == Some("-") && (0..4).chain(5..7).all(is_digit) => {
            format!("{time}-01T00:00Z").into()
        }
        _ => time.into(),
    }
}

/// Marks the page of a record as crawled, even if the record has neither links, digest nor time.
pub(super) fn mark_crawled(record: &mut PageRecord<UrlNumber>) {
    record.crawled = !record.is_crawl();
}

/// Returns the target of a redirect or canonical link; `None` if it is invalid, which is counted, or the
/// page itself.
pub(super) fn alias_target(
    page: UrlNumber,
    link: &str,
    base: Option<&mut BaseUrl>,
    parser: &mut PieceParser,
) -> Option<UrlNumber> {
    let absolute = match base {
        None => return parser.alias_target(page, link),
        Some(base) => parser.check_utf_8(link).and_then(|()| base.resolve(link)),
    };
    match absolute {
        Ok(url) => parser.alias_target(page, &url),
        Err(problem) => {
            parser.summary.dropped(DropReason::from(&problem));
            None
        }
    }
}

/// Reads a record and discards its counts if it is rejected.
pub(super) fn count_if_accepted<T>(
    parser: &mut PieceParser,
    read: impl FnOnce(&mut PieceParser) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let summary = std::mem::take(&mut parser.summary);
    let result = read(parser);
    let counts = std::mem::replace(&mut parser.summary, summary);
    if result.is_ok() {
        parser.summary.merge(&counts);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years_and_months_are_their_beginnings() {
        for (time, completed) in [
            ("2014", "2014-01-01T00:00Z"),
            ("2014-03", "2014-03-01T00:00Z"),
            ("2014-03-02", "2014-03-02"),
            ("20140302010203", "20140302010203"),
            ("12-2014", "12-2014"),
        ] {
            assert_eq!(archive_time(time), completed);
        }
    }
}
