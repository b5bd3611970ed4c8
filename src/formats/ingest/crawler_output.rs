//! What crawlers write of themselves, told by its first lines.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::crawl_log::LogLine;

/// What a database of Nutch is dumped as.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NutchDump {
    /// Pages, each in several lines.
    Text,
    /// Pages as CSV.
    Csv,
    /// Pages as JSON, one a line.
    Json,
    /// Links, below the page that they lead to.
    Links,
}

/// What a crawler wrote.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Crawlers {
    Nutch(NutchDump),
    /// Heritrix's `crawl.log`.
    Log,
}

/// What the header of Nutch's CSV begins with.
pub(super) const HEADER: &str = "Url,Status code,Status name,Fetch Time,";

/// What stands after the URL of a page of Nutch, as text.
pub(super) const VERSION: &str = "\tVersion: ";

/// What stands after a page's URL where the pages follow that link to it.
pub(super) const INLINKS: &str = "\tInlinks:";

/// What a line begins with that names a page which links.
pub(super) const FROM: &str = " fromUrl: ";

/// The fields by which a page of Nutch's database is told from any other object.
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

/// What a text is with these lines, neither blank nor comments, at its beginning.
pub(super) fn of<'a, I: Iterator<Item = &'a str>>(lines: impl Fn() -> I) -> Option<Crawlers> {
    let mut some = lines();
    let first = some.next()?;
    let second = some.next();
    let second_begins = |text: &str| second.is_none_or(|line| line.starts_with(text));
    let dump = if first.starts_with(HEADER) {
        NutchDump::Csv
    } else if first.contains(VERSION) && second_begins("Status: ") {
        NutchDump::Text
    } else if first.ends_with(INLINKS) && second_begins(FROM) {
        NutchDump::Links
    } else if first.starts_with('{') {
        let page: NutchPage = serde_json::from_str(first).ok()?;
        if !page.status_name.starts_with("db_") {
            return None;
        }
        NutchDump::Json
    } else {
        let is_log = lines().all(|line| LogLine::of(line).is_some());
        return is_log.then_some(Crawlers::Log);
    };
    Some(Crawlers::Nutch(dump))
}
