//! From input events to canonical records: one per URL, in URL order within each site.
//!
//! Of several records for one URL the one with the latest fetch time wins, else the last. Links
//! and attribute lines of the TSV formats are gathered into one record per page. Such a record
//! replaces the page's links where a line has it as the source, and in a snapshot; in a delta a page
//! that is only pointed to, or only has a line of attributes, keeps its links.

use serde::{Deserialize, Serialize};

use crate::engine::EngineError;
use crate::ingest::{Event, Location, PageAttributes, PageRecord, UncrawledOutlinks};
use crate::storage::{self, Hash128, Sorted, Sorter};
use crate::watch::Watch;

/// A canonical record without its URL and outlinks.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Claim {
    /// Whether the outlinks are replaced.
    pub(super) links: bool,
    /// Whether the record makes its page crawled.
    pub(super) crawled: bool,
    pub(super) gone: bool,
    pub(super) spam: Option<bool>,
    pub(super) clicks: Option<u64>,
    pub(super) uncrawled: UncrawledOutlinks,
    pub(super) digest: Option<Hash128>,
}

impl Claim {
    /// What a record says of a page that is gone.
    pub(super) const GONE: Self = Self {
        links: true,
        crawled: false,
        gone: true,
        spam: None,
        clicks: None,
        uncrawled: UncrawledOutlinks::Absent,
        digest: None,
    };

    /// A page that a list of links points to: that says nothing of its own links.
    const NAMED: Self = Self {
        links: false,
        crawled: true,
        gone: false,
        spam: None,
        clicks: None,
        uncrawled: UncrawledOutlinks::Absent,
        digest: None,
    };
}

/// What the sort of input events holds for one URL.
#[derive(Serialize, Deserialize)]
enum Piece {
    Record(Claim, Vec<Location>),
    Link(Location),
    Attributes(Claim),
}

/// A canonical record.
pub(super) struct Canonical {
    pub(super) key: Vec<u8>,
    pub(super) claim: Claim,
    /// When the record was fetched, as a number that grows with the time; 0 without one.
    pub(super) order: u64,
    /// Distinct targets other than the page itself, in the order of [`url_key`].
    pub(super) outlinks: Vec<Vec<u8>>,
}

/// Sites contain no NUL byte, so the keys of a site are neighbours and order as its URLs do.
pub(super) fn url_key(url: &Location) -> Vec<u8> {
    let mut key = Vec::with_capacity(url.site.len() + url.local.len() + 1);
    key.extend_from_slice(url.site.as_bytes());
    key.push(0);
    key.extend_from_slice(url.local.as_bytes());
    key
}

/// The site and the rest of the URL that a [`url_key`] stands for.
pub(super) fn split_key(key: &[u8]) -> Result<(&str, &str), EngineError> {
    let broken = EngineError::Internal("a URL between two passes is broken");
    let middle = key.iter().position(|byte| *byte == 0);
    let parts = middle.map(|at| {
        (
            std::str::from_utf8(&key[..at]),
            std::str::from_utf8(&key[at + 1..]),
        )
    });
    match parts {
        Some((Ok(site), Ok(local))) => Ok((site, local)),
        _ => Err(broken),
    }
}

/// Collects input events by URL.
pub(super) struct Gather {
    sorter: Sorter,
    snapshot: bool,
}

impl Gather {
    pub(super) fn new(sorter: Sorter, snapshot: bool) -> Self {
        Self { sorter, snapshot }
    }

    /// `of_links`: the event comes from a list of links, where a page alone is one without them.
    pub(super) fn add(&mut self, event: Event, of_links: bool) -> Result<(), EngineError> {
        match event {
            Event::Record(record) => self.record(record),
            Event::Link { from, to } => {
                self.push(&url_key(&to), 0, &Piece::Attributes(Claim::NAMED))?;
                self.push(&url_key(&from), 0, &Piece::Link(to))
            }
            Event::Rejected(_) => Ok(()),
            Event::Page(PageAttributes {
                url,
                spam,
                clicks,
                uncrawled_outlinks,
            }) => {
                let claim = Claim {
                    links: of_links,
                    spam,
                    clicks,
                    uncrawled: uncrawled_outlinks,
                    ..Claim::NAMED
                };
                self.push(&url_key(&url), 0, &Piece::Attributes(claim))
            }
        }
    }

    fn record(&mut self, record: PageRecord) -> Result<(), EngineError> {
        // Records without a fetch time come before all that have one.
        let order = record
            .fetched
            .map_or(0, |at| (at.cast_unsigned() ^ (1 << 63)).max(1));
        let key = url_key(&record.url);
        let piece = if record.gone {
            Piece::Record(Claim::GONE, Vec::new())
        } else {
            let claim = Claim {
                links: record.outlinks.is_some(),
                crawled: record.is_crawl(),
                gone: false,
                spam: record.spam,
                clicks: record.clicks,
                uncrawled: record.uncrawled_outlinks,
                digest: record.digest,
            };
            Piece::Record(claim, record.outlinks.unwrap_or_default())
        };
        self.push(&key, order, &piece)
    }

    fn push(&mut self, key: &[u8], order: u64, piece: &Piece) -> Result<(), EngineError> {
        let mut full = Vec::with_capacity(key.len() + 9);
        full.extend_from_slice(key);
        full.push(0);
        full.extend_from_slice(&order.to_be_bytes());
        Ok(self.sorter.push(&full, &storage::pack(piece)?)?)
    }

    pub(super) fn finish(self) -> Result<Winners, EngineError> {
        Ok(Winners {
            sorted: self.sorter.finish()?,
            snapshot: self.snapshot,
            overruled: 0,
        })
    }
}

/// The canonical records, in the order of [`url_key`].
pub(super) struct Winners {
    sorted: Sorted,
    snapshot: bool,
    /// Records that another one of the same URL overruled, so far.
    pub(super) overruled: u64,
}

impl Winners {
    pub(super) fn next_record(
        &mut self,
        watch: &dyn Watch,
    ) -> Result<Option<Canonical>, EngineError> {
        watch.proceed()?;
        let Some(first) = self.sorted.peek()? else {
            return Ok(None);
        };
        // Without the fetch time; its separator stays, so that no longer URL is taken in.
        let prefix = first[..first.len().saturating_sub(8)].to_vec();
        let key = prefix[..prefix.len().saturating_sub(1)].to_vec();
        let mut record: Option<(Claim, Vec<Location>)> = None;
        let mut records = 0_u64;
        let mut order = 0;
        let mut attributes = Claim::NAMED;
        // The whole state has a page's links even where that is none.
        let mut has_links = self.snapshot;
        let mut links = Vec::new();
        while let Some((key, value)) = self.sorted.next_under(&prefix)? {
            order = key.last_chunk().map_or(0, |at| u64::from_be_bytes(*at));
            match storage::unpack(value)? {
                Piece::Record(claim, outlinks) => {
                    records += 1;
                    record = Some((claim, outlinks));
                }
                Piece::Link(to) => links.push(to),
                Piece::Attributes(claim) => {
                    has_links |= claim.links;
                    // A page that is merely named says nothing of its attributes.
                    let claim = Claim {
                        links: false,
                        ..claim
                    };
                    if claim != Claim::NAMED {
                        attributes = claim;
                    }
                }
            }
        }
        self.overruled += records.saturating_sub(1);
        attributes.links = has_links || !links.is_empty();
        let (claim, outlinks) = record.unwrap_or((attributes, links));
        let mut outlinks: Vec<Vec<u8>> = outlinks.iter().map(url_key).collect();
        outlinks.sort_unstable();
        outlinks.dedup();
        outlinks.retain(|target| *target != key);
        Ok(Some(Canonical {
            key,
            claim,
            order,
            outlinks,
        }))
    }
}
