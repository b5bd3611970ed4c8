//! Canonical records: one per URL, in the order of page ids.
//!
//! Several records for one URL are merged by field ([`super::page_fields`]), and so are several attribute lines. Links and
//! attribute lines of the TSV formats are collected into one record per page. Such a record
//! replaces the page's links if a line has the page as its source, and in a snapshot. In a delta, a
//! page that is only a target, or has only an attribute line, keeps its links. If a page also has a
//! record, the record wins; if the record contains no links, those of the lists are used.

use super::events::{Bytes, Fields, group};
use super::page_fields::MergedRecords;
use super::pieces::{self, FailedRun};
use super::pieces::{Gaps, Origin, PageInput, PageUpdate, put_input, take_input};
use crate::engine::{EngineError, Result};
use seedbank_algorithms::page::{PageId, PageKind};
use seedbank_algorithms::watch::Watch;
use seedbank_store::{self, Sorted};

pub(super) struct CanonicalRecord {
    pub(super) page: PageId,
    /// Whether the page is new to the bank.
    pub(super) is_new: bool,
    pub(super) update: PageUpdate,
    /// The fetch time as an ascending number ([`super::fetch_times`]); 0 without one.
    pub(super) order: u64,
    /// Distinct targets other than the page itself, ascending.
    pub(super) targets: Vec<PageId>,
    /// Failed fetches.
    pub(super) failures: Vec<FailedRun>,
    /// How crawlers came to fetches, by the times of these.
    pub(super) origins: Vec<(u64, Origin)>,
}

/// Splits the key of a URL into the site and the rest, which a NUL byte separates.
///
/// Sites contain no NUL byte, so the keys of a site are contiguous and sort as its URLs do.
pub(super) fn split_key(key: &[u8]) -> Result<(&str, &str)> {
    let broken = EngineError::Internal("a URL in temporary data is invalid");
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

/// Marks the entry about a record's page.
pub(super) const PAGE: u8 = 0;
/// Marks a piece of input about the page.
pub(super) const PIECE: u8 = 1;

/// Returns the key prefix of a record's parts: first the entry about its page, then its pieces in
/// the order of their fetch times.
pub(super) fn by_record(page: PageId) -> Bytes {
    Bytes::default().u64(page.0)
}

/// Canonical records, in the order of their pages.
pub(super) struct CanonicalRecords {
    parts: Sorted,
    pub(super) snapshot: bool,
    /// Whether the user gave a time for records without one.
    has_given_time: bool,
    /// Whether all records so far have a time, in which they are equal only if the times are.
    pub(super) dated: bool,
}

impl CanonicalRecords {
    pub(super) fn new(parts: Sorted, snapshot: bool, has_given_time: bool) -> Self {
        Self {
            parts,
            snapshot,
            has_given_time,
            dated: true,
        }
    }

    pub(super) fn next_record(&mut self, watch: &dyn Watch) -> Result<Option<CanonicalRecord>> {
        watch.proceed()?;
        let lost = || EngineError::Internal("a record in temporary data has no page");
        let Some(first) = self.parts.peek()? else {
            return Ok(None);
        };
        let of_page: [u8; 8] = group(first)?;
        let page = PageId(u64::from_be_bytes(of_page));
        let (key, value) = self.parts.next_under(&of_page)?.ok_or_else(lost)?;
        if key[of_page.len()..] != [PAGE] {
            return Err(lost());
        }
        let is_new = Fields(value).byte()? == 1;
        let mut records: Vec<(PageUpdate, u64, Vec<PageId>)> = Vec::new();
        let mut attributes = MergedRecords::default();
        // Input from lists: whether they contain the page itself, and its links.
        let mut is_listed = false;
        let mut has_listed_links = false;
        let mut listed = Vec::new();
        let mut failures = Vec::new();
        let mut origins = Vec::new();
        let mut canonicals = Vec::new();
        while let Some((key, mut value)) = self.parts.next_under(&of_page)? {
            let of_key = key.last_chunk().map_or(0, |at| u64::from_be_bytes(*at));
            let input = seedbank_store::unpack(take_input(&mut value)?)?;
            let mut of_piece = Gaps::new(value).map(PageId);
            match input {
                PageInput::Failures(run) => failures.push(run),
                PageInput::Origin(origin) => origins.push((of_key, origin)),
                PageInput::Canonical(order) => {
                    let to = of_piece.next();
                    canonicals.push((of_key, to.map(|to| (order, to))));
                }
                PageInput::Record(update) => records.push((update, of_key, of_piece.collect())),
                // The links were asked for when pieces were grouped; the answers are records.
                PageInput::SameContent { .. } => {}
                PageInput::Links => {
                    is_listed = true;
                    has_listed_links = true;
                    listed.extend(of_piece);
                }
                PageInput::Attributes(update) => {
                    is_listed = true;
                    has_listed_links |= update.links;
                    attributes.add(&update, 0, ());
                }
            }
        }
        let (record, order, mut targets) = merged(records);
        let has_own = record.as_ref().is_some_and(PageUpdate::sets_links);
        let is_only_failed = record.is_none() && !is_listed && !failures.is_empty();
        let mut update = match record {
            Some(record) => record,
            None if is_only_failed => PageUpdate::FAILED,
            None => PageUpdate {
                // A snapshot contains the whole state, including the links of a page that has none.
                links: self.snapshot,
                crawled: true,
                kind: Some(PageKind::Page),
                ..attributes.finish(true).0
            },
        };
        if is_listed && !has_own {
            update.crawled = true;
            update.kind = update.kind.or(Some(PageKind::Page));
            if has_listed_links {
                update.links = true;
                targets = listed;
            }
        }
        if !canonicals.is_empty() {
            update.add_canonicals(order, canonicals.into_iter());
        }
        // Lists have no fetch times.
        let has_time = is_only_failed || order > 0 && (has_own || !is_listed);
        self.dated &= has_time || self.has_given_time && update.is_fetch();
        self.dated &= self.has_given_time || failures.iter().all(FailedRun::is_dated);
        targets.sort_unstable();
        targets.dedup();
        targets.retain(|target| *target != page);
        Ok(Some(CanonicalRecord {
            page,
            is_new,
            update,
            order,
            targets,
            failures,
            origins,
        }))
    }
}

/// Merges the records of a page: the record that states what all do, its time and its targets.
pub(super) fn merged(
    mut records: Vec<(PageUpdate, u64, Vec<PageId>)>,
) -> (Option<PageUpdate>, u64, Vec<PageId>) {
    let is_plain = |update: &PageUpdate| !update.gone && update.times.is_empty();
    if records.len() < 2 && records.iter().all(|(update, ..)| is_plain(update)) {
        return match records.pop() {
            Some((update, order, targets)) => (Some(update), order, targets),
            None => (None, 0, Vec::new()),
        };
    }
    let mut all = MergedRecords::default();
    for (update, order, targets) in records {
        all.add(&update, order, targets);
    }
    let (update, order, targets) = all.finish(true);
    (Some(update), order, targets.unwrap_or_default())
}

/// Adds a record to the batch's digest. It is computed over the canonical records, so it does not
/// depend on the order of the input. Within a bank an id identifies a URL, even before the batch is
/// committed.
pub(super) fn digest(record: &CanonicalRecord, hasher: &mut blake3::Hasher) -> Result<()> {
    let update = record.update.digest_bytes()?;
    let mut bytes = Vec::with_capacity(64 + record.targets.len() * 8);
    bytes.extend_from_slice(&record.page.0.to_le_bytes());
    // The same content at another time is not a repetition: a page may change and change back.
    bytes.extend_from_slice(&record.order.to_le_bytes());
    put_input(&update, &mut bytes)?;
    bytes.extend_from_slice(&(record.targets.len() as u64).to_le_bytes());
    for target in &record.targets {
        bytes.extend_from_slice(&target.0.to_le_bytes());
    }
    pieces::put_failed_runs(&record.failures, &mut bytes);
    pieces::put_origins(&record.origins, &mut bytes);
    hasher.update(&bytes);
    Ok(())
}
