//! Records of pages and sites, whole or in parts.

use serde::{Deserialize, Serialize};

use super::interner::{Interner, UrlNumber};
use super::location::Location;
use super::summary::Reject;
use seedbank_algorithms::fetch_status::FetchStatus;
pub use seedbank_algorithms::page::MAX_QUALITY;
use seedbank_algorithms::page::PageKind;
use seedbank_algorithms::yields::Yield;

/// The maximum number of clicks of a record: the largest count that every JSON parser represents exactly.
pub const MAX_CLICKS: u64 = 1 << 53;

/// The maximum number of uncrawled outlinks of a record; keeps sums of values far from overflow.
pub const MAX_UNCRAWLED_OUTLINKS: u32 = 1_000_000;

/// The update of a page's number of uncrawled outlinks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum UncrawledOutlinks {
    /// Unchanged.
    #[default]
    Absent,
    /// An explicit null: the bank counts them from now on.
    Counted,
    /// A number, at most [`MAX_UNCRAWLED_OUTLINKS`]; applies until an explicit null.
    Given(u32),
}

/// The update of an attribute that can be removed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum Attribute<T> {
    /// Unchanged.
    #[default]
    Absent,
    /// An explicit null: the attribute is removed.
    Removed,
    /// A new value.
    Given(T),
}

impl<T> Attribute<T> {
    /// Returns whether the attribute is unchanged.
    #[must_use]
    pub const fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// Replaces the value.
    #[must_use]
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Attribute<U> {
        match self {
            Self::Absent => Attribute::Absent,
            Self::Removed => Attribute::Removed,
            Self::Given(value) => Attribute::Given(change(value)),
        }
    }
}

impl<T: Copy> Attribute<T> {
    /// Applies the update to the previous value.
    #[must_use]
    pub const fn apply_to(self, previous: Option<T>) -> Option<T> {
        match self {
            Self::Absent => previous,
            Self::Removed => None,
            Self::Given(value) => Some(value),
        }
    }
}

/// A record of a page. Attributes that are `None` leave the bank unchanged.
///
/// `U` is a URL: a [`Location`], or its number in an [`Interner`].
///
/// ```
/// use seedbank_formats::ingest::{Naming, PageRecord, parse};
///
/// let mut record = PageRecord::new(parse("HTTP://Example.org:80/%7ea#top", Naming::default())?);
/// assert_eq!(record.url.url(Naming::default().sites), "http://example.org/~a");
/// // A record with only attributes does not mark its page as crawled.
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
    /// The page's links, sorted, without duplicates and without the page itself. They replace those in the
    /// bank.
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
    /// The fetch time in microseconds since 1970-01-01T00:00:00Z.
    pub fetched: Option<i64>,
    /// A time at which the content is known to have changed, in microseconds since 1970-01-01T00:00:00Z.
    pub changed: Option<i64>,
    /// The target of the redirect, never the page itself. A page that redirects is an alias, and has neither outlinks nor
    /// a canonical URL of its own.
    pub redirect: Option<U>,
    /// The page that this one names as canonical, never itself. A record with outlinks and no canonical URL removes that of
    /// the page.
    pub canonical: Attribute<U>,
    /// What the answer to the fetch is; `None` if an earlier record says it. It says nothing in a record that does not mark
    /// its page as crawled. A resource has neither outlinks nor a canonical URL.
    pub kind: Option<PageKind>,
    /// Another page whose content the fetch found, as `revisit` records of web archives name it. If the record states no
    /// links, those of that page count.
    #[serde(default)]
    pub same_content: Option<U>,
    /// Whether the page was fetched, although the record has neither links, digest nor time.
    #[serde(default)]
    pub crawled: bool,
    /// Whether the page is gone; if so, all other attributes except times and failures are absent.
    pub gone: bool,
    /// Fetches that failed after the one that the other attributes describe, if there was one.
    pub failures: Option<FailedFetches>,
    /// What fetches of the page after the first brought so far; replaces what the bank has learned.
    pub sums: Option<Yield>,
    /// How the crawler came to the fetch; `None` if it does not say so.
    pub origin: Option<Box<FetchOrigin<U>>>,
}

/// How a crawler came to fetch a page, as far as it says so. `U` is a URL.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FetchOrigin<U = Location> {
    /// The seed that the crawl came from.
    pub seed: Option<U>,
    /// The page by which the crawler found this one.
    pub via: Option<U>,
    /// The number of links from the seed.
    pub depth: Option<u32>,
}

impl<U> FetchOrigin<U> {
    /// Returns the origin, or `None` if it says nothing.
    #[must_use]
    pub fn known(self) -> Option<Box<Self>> {
        let is_known = self.seed.is_some() || self.via.is_some() || self.depth.is_some();
        is_known.then(|| Box::new(self))
    }
}

/// Consecutive fetches of a page that failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FailedFetches {
    /// The result of the last one.
    pub status: FetchStatus,
    /// The half-days (UTC) with a failed fetch: bit 0 is that of the last one, bit n the n-th before it.
    pub half_days: u64,
    /// The time of the last one in microseconds since 1970-01-01T00:00:00Z; `None` for the time of the batch.
    pub last: Option<i64>,
}

impl<U> PageRecord<U> {
    /// Creates a record without attributes.
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
            changed: None,
            redirect: None,
            canonical: Attribute::Absent,
            kind: Some(PageKind::Page),
            same_content: None,
            crawled: false,
            gone: false,
            failures: None,
            sums: None,
            origin: None,
        }
    }

    /// Creates the record of a page whose fetch failed at this time; `None` for the time of the batch.
    #[must_use]
    pub fn failed(url: U, status: FetchStatus, at: Option<i64>) -> Self {
        let failures = FailedFetches {
            status,
            half_days: 1,
            last: at,
        };
        Self {
            failures: Some(failures),
            ..Self::new(url)
        }
    }

    /// Returns whether the record marks its page as crawled: explicitly, or by outlinks, a digest or a fetch
    /// time.
    #[must_use]
    pub const fn is_crawl(&self) -> bool {
        self.crawled || self.outlinks.is_some() || self.digest.is_some() || self.fetched.is_some()
    }

    /// Returns whether the record says that the answer is a resource.
    #[must_use]
    pub const fn is_resource(&self) -> bool {
        matches!(self.kind, Some(PageKind::Resource))
    }
}

impl<U: Clone + PartialEq> PageRecord<U> {
    /// Returns whether the record has failed fetches and nothing else, except for their origin.
    #[must_use]
    pub fn is_only_failures(&self) -> bool {
        self.failures.is_some()
            && *self
                == Self {
                    failures: self.failures,
                    origin: self.origin.clone(),
                    ..Self::new(self.url.clone())
                }
    }
}

/// A page named in a links or pages TSV, with its attributes in a pages TSV.
///
/// Every named page counts as crawled, and its outlinks are replaced by its [`Event::Link`]s of the batch;
/// a page named only as a target or in a pages TSV has none.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PageAttributes<U = Location> {
    /// The page.
    pub url: U,
    /// Whether the page is spam.
    pub spam: Option<bool>,
    /// The page's clicks, at most [`MAX_CLICKS`].
    pub clicks: Option<u64>,
    /// The page's uncrawled outlinks; never [`UncrawledOutlinks::Counted`], which TSV cannot express.
    pub uncrawled_outlinks: UncrawledOutlinks,
}

impl<U> PageAttributes<U> {
    /// Creates a page without attributes.
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

/// A record of a site, from a site list.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SiteAttributes {
    /// The name of the site in the bank.
    pub site: String,
    /// The quality, in ten-thousandths, of pages without a quality of their own.
    pub quality: Attribute<u16>,
    /// Whether pages without a spam flag of their own are spam.
    pub spam: Attribute<bool>,
    /// The maximum number of pages that a crawl should fetch.
    pub quota: Attribute<u32>,
}

impl SiteAttributes {
    /// Creates a record without attributes.
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

/// The content of a record of a source; `U` is a URL.
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
    /// A link of a crawled page to another page, whose state is unknown (inlinks of a Nutch database).
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
    /// The record is rejected.
    Rejected(Reject),
    /// The page of a rejected record.
    Seen(U),
    /// A field that cannot be read, of the record that follows.
    BadField(Reject),
}

impl<U> Event<U> {
    /// Returns whether the event is one of the records that a summary counts. Others say more of a record beside them.
    #[must_use]
    pub const fn is_record(&self) -> bool {
        !matches!(self, Self::Seen(_) | Self::BadField(_))
    }
}

impl Event<UrlNumber> {
    /// Replaces URL numbers by locations.
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
                changed: record.changed,
                redirect: record.redirect.map(at),
                canonical: record.canonical.map(at),
                kind: record.kind,
                same_content: record.same_content.map(at),
                crawled: record.crawled,
                gone: record.gone,
                failures: record.failures,
                sums: record.sums,
                origin: record.origin.map(|origin| {
                    Box::new(FetchOrigin {
                        seed: origin.seed.map(at),
                        via: origin.via.map(at),
                        depth: origin.depth,
                    })
                }),
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
            Self::Seen(page) => Event::Seen(at(page)),
            Self::BadField(reject) => Event::BadField(reject),
        }
    }
}
