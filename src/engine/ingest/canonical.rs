//! From input events to canonical records: one per URL, in the order of page ids.
//!
//! Of several records for one URL the one with the latest fetch time wins, or else the largest one
//! (`weight`). Of several lines of attributes for one URL the largest one counts.
//! Links and attribute lines of the TSV formats are gathered into one record per page. Such a
//! record replaces the page's links where a line has the page as its source, and in a snapshot. In
//! a delta, a page that is only pointed to, or has only a line of attributes, keeps its links. Where a
//! page has a record too, that record counts; if it says nothing of links, those of the lists are its.

use super::page_update::PageUpdate;
use super::fields::{Bytes, Fields, group};
use super::gather::{Gaps, PageInput, put_said, take_said};
use super::record_order::RecordOrder;
use crate::engine::EngineError;
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Watch;
use seedbank_store::{self, Sorted};

/// A canonical record, with the ids of its page and targets.
pub(super) struct CanonicalRecord {
    pub(super) page: PageId,
    /// Whether the bank did not have the page.
    pub(super) born: bool,
    pub(super) claim: PageUpdate,
    /// The fetch time, as a number that grows with it; 0 without one.
    pub(super) order: u64,
    /// Distinct targets other than the page itself, ascending.
    pub(super) targets: Vec<PageId>,
}

/// Splits the key of a URL into the site and the rest; between them it has a NUL byte.
///
/// Sites contain no NUL byte, so the keys of a site are neighbours and sort as its URLs do.
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

/// Marks what is known of a record's page.
pub(super) const PAGE: u8 = 0;
/// Marks a piece of what is said of the page.
pub(super) const PIECE: u8 = 1;

/// The prefix of the keys of a record's parts. What is known of its page comes first, then its
/// pieces in the order of their fetch times.
pub(super) fn by_record(page: PageId) -> Bytes {
    Bytes::default().u64(page.0)
}

/// The canonical records, in the order of their pages.
pub(super) struct CanonicalRecords {
    parts: Sorted,
    pub(super) snapshot: bool,
    /// Whether every record so far says when it was fetched.
    pub(super) dated: bool,
}

impl CanonicalRecords {
    pub(super) fn new(parts: Sorted, snapshot: bool) -> Self {
        Self {
            parts,
            snapshot,
            dated: true,
        }
    }

    pub(super) fn next_record(
        &mut self,
        watch: &dyn Watch,
    ) -> Result<Option<CanonicalRecord>, EngineError> {
        watch.proceed()?;
        let lost = || EngineError::Internal("a record lost its page between two passes");
        let Some(first) = self.parts.peek()? else {
            return Ok(None);
        };
        let of_page: [u8; 8] = group(first)?;
        let page = PageId(u64::from_be_bytes(of_page));
        let (key, value) = self.parts.next_under(&of_page)?.ok_or_else(lost)?;
        if key[of_page.len()..] != [PAGE] {
            return Err(lost());
        }
        let born = Fields(value).byte()? == 1;
        let mut record: Option<PageUpdate> = None;
        let mut order = 0;
        let mut attributes = PageUpdate::NAMED;
        let mut largest = RecordOrder::default();
        // A snapshot gives the whole state, so also the links of a page that has none.
        let has_links = self.snapshot;
        let mut targets = Vec::new();
        // What lists say: whether it is a page of its own there, and which links it has.
        let mut is_listed = false;
        let mut has_listed_links = false;
        let mut listed = Vec::new();
        while let Some((key, mut value)) = self.parts.next_under(&of_page)? {
            order = key.last_chunk().map_or(0, |at| u64::from_be_bytes(*at));
            let said = seedbank_store::unpack(take_said(&mut value)?)?;
            let of_piece = Gaps::new(value).map(PageId);
            match said {
                PageInput::Record(claim) => {
                    record = Some(claim);
                    targets.clear();
                    targets.extend(of_piece);
                }
                PageInput::Links => {
                    is_listed = true;
                    has_listed_links = true;
                    listed.extend(of_piece);
                }
                PageInput::Attributes(claim) => {
                    is_listed = true;
                    has_listed_links |= claim.links;
                    // A page that is merely named gets no attributes.
                    let claim = PageUpdate {
                        links: false,
                        ..claim
                    };
                    let weight = RecordOrder::of_claim(&claim)?;
                    if claim != PageUpdate::NAMED && weight >= largest {
                        (attributes, largest) = (claim, weight);
                    }
                }
            }
        }
        attributes.links = has_links;
        let has_own = record.as_ref().is_some_and(PageUpdate::is_whole);
        let mut claim = record.unwrap_or(attributes);
        if is_listed && !has_own {
            claim.crawled = true;
            if has_listed_links {
                claim.links = true;
                targets = listed;
            }
        }
        // Lists have no time.
        self.dated &= order > 0 && (has_own || !is_listed);
        targets.sort_unstable();
        targets.dedup();
        targets.retain(|target| *target != page);
        Ok(Some(CanonicalRecord {
            page,
            born,
            claim,
            order,
            targets,
        }))
    }
}

/// Adds a record to the batch's digest, which is taken over the canonical records and does not
/// depend on the order of the input. Within a bank an id stands for a URL, even before the URL has
/// come in.
pub(super) fn digest(record: &CanonicalRecord, hasher: &mut blake3::Hasher) -> Result<(), EngineError> {
    let claim = record.claim.digested()?;
    let mut bytes = Vec::with_capacity(64 + record.targets.len() * 8);
    bytes.extend_from_slice(&record.page.0.to_le_bytes());
    // The same contents at another time are no repetition: a page may change and change back.
    bytes.extend_from_slice(&record.order.to_le_bytes());
    put_said(&claim, &mut bytes)?;
    bytes.extend_from_slice(&(record.targets.len() as u64).to_le_bytes());
    for target in &record.targets {
        bytes.extend_from_slice(&target.0.to_le_bytes());
    }
    hasher.update(&bytes);
    Ok(())
}
