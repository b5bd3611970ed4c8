//! Detection of crawler output (Nutch dumps, Heritrix logs, lists of Browsertrix) from the first lines.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::crawl_log::LogLine;

/// The form of a dump of a Nutch database.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NutchDump {
    /// Pages, each on several lines.
    Text,
    /// Pages as CSV.
    Csv,
    /// Pages as JSON, one per line.
    Json,
    /// Links, grouped below their target page.
    Links,
}

/// A kind of crawler output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CrawlerOutput {
    Nutch(NutchDump),
    /// Heritrix's `crawl.log`.
    Log,
    /// A list of pages of Browsertrix.
    PageList,
}

/// The beginning of the header of Nutch's CSV.
pub(super) const HEADER: &str = "Url,Status code,Status name,Fetch Time,";

/// Follows the URL of a page in a text dump.
pub(super) const VERSION: &str = "\tVersion: ";

/// Follows the URL of a page in a dump of links.
pub(super) const INLINKS: &str = "\tInlinks:";

/// The beginning of a line that names a linking page.
pub(super) const FROM: &str = " fromUrl: ";

/// The fields that distinguish a page of a Nutch database from other objects.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NutchPage {
    #[serde(rename = "url")]
    _url: String,
    #[serde(rename = "statusCode")]
    _status_code: u8,
    status_name: String,
    #[serde(rename = "fetchTime")]
    _fetch_time: String,
    #[serde(rename = "retriesSinceFetch")]
    _retries_since_fetch: IgnoredAny,
}

/// The header of a list of pages of Browsertrix.
#[derive(Deserialize)]
struct PageListHeader<'a> {
    format: &'a str,
}

/// The `format` of a list of pages, without its version.
const PAGE_LIST: &str = "json-pages-";

/// Detects the kind of output from the first lines that are neither blank nor comments.
pub(super) fn detect<'a, I: Iterator<Item = &'a str>>(
    lines: impl Fn() -> I,
) -> Option<CrawlerOutput> {
    let mut head = lines();
    let first = head.next()?;
    let second = head.next();
    let second_begins = |text: &str| second.is_none_or(|line| line.starts_with(text));
    let dump = if first.starts_with(HEADER) {
        NutchDump::Csv
    } else if first.contains(VERSION) && second_begins("Status: ") {
        NutchDump::Text
    } else if first.ends_with(INLINKS) && second_begins(FROM) {
        NutchDump::Links
    } else if first.starts_with('{') {
        let header = serde_json::from_str(first);
        if header.is_ok_and(|header: PageListHeader<'_>| header.format.starts_with(PAGE_LIST)) {
            return Some(CrawlerOutput::PageList);
        }
        let page: NutchPage = serde_json::from_str(first).ok()?;
        if !page.status_name.starts_with("db_") {
            return None;
        }
        NutchDump::Json
    } else {
        let is_log = lines().all(|line| LogLine::parse(line).is_some());
        return is_log.then_some(CrawlerOutput::Log);
    };
    Some(CrawlerOutput::Nutch(dump))
}
