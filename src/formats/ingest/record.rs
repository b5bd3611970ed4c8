//! What a batch says of pages: whole records, or parts of them.

use serde::{Deserialize, Serialize};

use super::interner::{Interner, UrlNumber};
use super::location::Location;
use super::reject::Reject;
use seedbank_algorithms::page::AliasBy;
pub use seedbank_algorithms::page::MAX_QUALITY;

/// The most clicks a record can give: the largest count that every JSON reader keeps exactly.
pub const MAX_CLICKS: u64 = 1 << 53;

/// The most uncrawled outlinks a record can give; keeps sums of values far from overflow.
pub const MAX_UNCRAWLED_OUTLINKS: u32 = 1_000_000;

/// What a record says of a page's uncrawled outlinks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum UncrawledOutlinks {
    /// Nothing: the bank leaves it as it was.
    #[default]
    Absent,
    /// An explicit null: from now on the bank counts them itself.
    Counted,
    /// A number, at most [`MAX_UNCRAWLED_OUTLINKS`]; it stays until it is given as null.
    Given(u32),
}

/// What a record says of an attribute that can be taken away again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum Attribute<T> {
    /// Nothing: the bank leaves it as it was.
    #[default]
    Absent,
    /// An explicit null: from now on there is none.
    Removed,
    /// This.
    Given(T),
}

impl<T> Attribute<T> {
    /// Whether the record says nothing of it.
    #[must_use]
    pub const fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

impl<T: Copy> Attribute<T> {
    /// What there is after the record, where `before` was there.
    #[must_use]
    pub const fn after(self, before: Option<T>) -> Option<T> {
        match self {
            Self::Absent => before,
            Self::Removed => None,
            Self::Given(value) => Some(value),
        }
    }
}

/// One record: a page and what is said of it. `None` means absent: the bank leaves it as it was.
///
/// `U` is a URL: a [`Location`], or its number among those of a piece.
///
/// ```
/// use seedbank_formats::ingest::{Naming, PageRecord, parse};
///
/// let mut record = PageRecord::new(parse("HTTP://Example.org:80/%7ea#top", Naming::default())?);
/// assert_eq!(record.url.url(Naming::default().sites), "http://example.org/~a");
/// // A record with attributes only does not make its page crawled.
/// record.clicks = Some(3);
/// assert!(!record.is_crawl());
/// record.outlinks = Some(vec![parse("https://example.net/", Naming::default())?]);
/// assert!(record.is_crawl());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PageRecord<U = Location> {
    /// The page.
    pub url: U,
    /// The page's links, sorted, without duplicates and without the page itself; they replace
    /// those that the bank has.
    pub outlinks: Option<Vec<U>>,
    /// Whether the page is spam.
    pub spam: Option<bool>,
    /// The page's clicks, at most [`MAX_CLICKS`].
    pub clicks: Option<u64>,
    /// The page's uncrawled outlinks.
    pub uncrawled_outlinks: UncrawledOutlinks,
    /// The page's quality in ten-thousandths, at most [`MAX_QUALITY`].
    pub quality: Attribute<u16>,
    /// The first 128 bits of the BLAKE3 hash of the digest as given.
    pub digest: Option<[u8; 16]>,
    /// When the page was fetched: microseconds since 1970-01-01T00:00:00Z.
    pub fetched: Option<i64>,
    /// The page that its redirect, or else its canonical URL, leads to, never the page itself. Such
    /// a page is an alias and has no outlinks of its own.
    pub alias: Option<(U, AliasBy)>,
    /// Whether the page was fetched, although nothing is said of its links, its content and the time.
    #[serde(default)]
    pub crawled: bool,
    /// Whether the page is gone; then everything else except the fetch time is absent.
    pub gone: bool,
}

impl<U> PageRecord<U> {
    /// A record that names a page and says nothing of it.
    #[must_use]
    pub const fn new(url: U) -> Self {
        Self {
            url,
            outlinks: None,
            spam: None,
            clicks: None,
            uncrawled_outlinks: UncrawledOutlinks::Absent,
            quality: Attribute::Absent,
            digest: None,
            fetched: None,
            alias: None,
            crawled: false,
            gone: false,
        }
    }

    /// Whether the record makes its page crawled: it has outlinks, a digest or a fetch time, or says no
    /// more than that.
    #[must_use]
    pub const fn is_crawl(&self) -> bool {
        self.crawled || self.outlinks.is_some() || self.digest.is_some() || self.fetched.is_some()
    }
}

/// A page that a links or pages TSV names, and what a pages TSV says of it.
///
/// Every page named counts as crawled, and its outlinks are replaced by its [`Event::Link`]s of the
/// batch: a page named only as a target or in a pages TSV gets none.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PageAttributes<U = Location> {
    /// The page.
    pub url: U,
    /// Whether the page is spam.
    pub spam: Option<bool>,
    /// The page's clicks, at most [`MAX_CLICKS`].
    pub clicks: Option<u64>,
    /// The page's uncrawled outlinks; never [`UncrawledOutlinks::Counted`], which TSV cannot say.
    pub uncrawled_outlinks: UncrawledOutlinks,
}

impl<U> PageAttributes<U> {
    /// A page that is named, without attributes.
    #[must_use]
    pub const fn named(url: U) -> Self {
        Self {
            url,
            spam: None,
            clicks: None,
            uncrawled_outlinks: UncrawledOutlinks::Absent,
        }
    }
}

/// What a record of a site says of it (a list of sites).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SiteAttributes {
    /// The site, named as the bank names it.
    pub site: String,
    /// The quality, in ten-thousandths, of its pages that have none of their own.
    pub quality: Attribute<u16>,
    /// Whether its pages are spam whose records do not say.
    pub spam: Attribute<bool>,
    /// The most pages of it that a crawl should take.
    pub quota: Attribute<u32>,
}

impl SiteAttributes {
    /// A record that names a site and says nothing of it.
    #[must_use]
    pub const fn new(site: String) -> Self {
        Self {
            site,
            quality: Attribute::Absent,
            spam: Attribute::Absent,
            quota: Attribute::Absent,
        }
    }
}

/// What one record of a source says; `U` is a URL.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event<U = Location> {
    /// A whole record (JSON Lines).
    Record(PageRecord<U>),
    /// A link between two different pages, both of which are crawled (links TSV).
    Link {
        /// The page that links.
        from: U,
        /// The page linked to.
        to: U,
    },
    /// A link of a crawled page to another one, of which nothing is said (inlinks of a database).
    Outlink {
        /// The page that links.
        from: U,
        /// The page linked to.
        to: U,
    },
    /// A crawled page (pages TSV; a links TSV line whose link is dropped).
    Page(PageAttributes<U>),
    /// Attributes of a site.
    Site(SiteAttributes),
    /// The record is refused.
    Rejected(Reject),
}

impl Event<UrlNumber> {
    /// The event with its URLs instead of their numbers.
    #[must_use]
    pub fn located(self, urls: &Interner) -> Event {
        let at = |number| urls.location(number);
        match self {
            Self::Record(record) => Event::Record(PageRecord {
                url: at(record.url),
                outlinks: record.outlinks.map(|outlinks| {
                    let mut outlinks: Vec<Location> = outlinks.into_iter().map(at).collect();
                    outlinks.sort_unstable();
                    outlinks
                }),
                spam: record.spam,
                clicks: record.clicks,
                uncrawled_outlinks: record.uncrawled_outlinks,
                quality: record.quality,
                digest: record.digest,
                fetched: record.fetched,
                alias: record.alias.map(|(to, by)| (at(to), by)),
                crawled: record.crawled,
                gone: record.gone,
            }),
            Self::Link { from, to } => Event::Link {
                from: at(from),
                to: at(to),
            },
            Self::Outlink { from, to } => Event::Outlink {
                from: at(from),
                to: at(to),
            },
            Self::Page(page) => Event::Page(PageAttributes {
                url: at(page.url),
                spam: page.spam,
                clicks: page.clicks,
                uncrawled_outlinks: page.uncrawled_outlinks,
            }),
            Self::Site(site) => Event::Site(site),
            Self::Rejected(reject) => Event::Rejected(reject),
        }
    }
}
