//! The steps of an ingest in one process: runs of passes between which entries reach other processes.

use std::collections::BTreeMap;

use roaring::RoaringTreemap;
use serde::{Deserialize, Serialize};

use super::batch_digest::{PartDigest, PartDigests};
use super::canonical::CanonicalRecords;
use super::deduplicate::{Deduplicated, deduplicate, find_losers, numbers_of};
use super::exchange::stream::Stream;
use super::gather::{CollectedInput, InputCollector};
use super::loss::Loss;
use super::passes::Passes;
use super::resolve::{Resolved, group_by_page, resolve};
use super::site_records::SiteCounts;
use super::totals::{add_change, add_counts};
use super::{citers, links, pages, row_blocks, rows, seed_fetches, targets, yields};
use crate::engine::{EngineError, Result};
use seedbank_store::Sorted;
use seedbank_store::records::{BatchCounts, Counters, FetchCounts, Observed};

/// Options of a batch that passes depend on.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(in crate::engine) struct BatchOptions {
    /// Whether crawled pages without a record become gone.
    pub(super) snapshot: bool,
    /// The given time of records without one.
    pub(super) as_of: Option<u64>,
}

impl BatchOptions {
    /// Returns what the digest of the batch begins with.
    ///
    /// The same records at another time are another batch. Without a given time the digest is that of the records
    /// alone.
    fn digest(self) -> blake3::Hasher {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&[u8::from(self.snapshot)]);
        if let Some(time) = self.as_of {
            hasher.update(&time.to_le_bytes());
        }
        hasher
    }
}

/// The passes of a batch in one process. Its steps are methods, in the order in which they are called.
pub(super) struct Worker<'p, 'a> {
    pub(super) passes: &'p mut Passes<'a>,
    options: BatchOptions,
    stage: Stage,
    /// Digests of the records of pages of this process; complete after the links step.
    pub(super) digests: PartDigests,
    /// Digests of records of sites, by part.
    of_sites: Vec<PartDigest>,
    /// Number of pages with failed fetches before the batch.
    failing_before: u64,
}

/// What a step leaves for the next.
enum Stage {
    /// Nothing: a step is running or has failed, or its results are in the passes.
    None,
    /// The input of this process, and the records that others supersede.
    Collected(Box<CollectedInput>, RoaringTreemap),
    Deduplicated(Box<Deduplicated>),
    /// Pieces of records of portions with these numbers of URLs, and the ids of the URLs.
    Resolved(Box<(Sorted, BTreeMap<u32, u32>, Resolved)>),
}

/// The result of resolving URLs.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct ResolveResult {
    /// Number of URLs with a record.
    pub(super) records: u64,
    /// Number of records that another of the same site or of the same page of a graph superseded.
    pub(super) superseded: u64,
    /// Whether there are records of sites.
    pub(super) has_sites: bool,
    /// Shards with new sites, with their last numbers.
    pub(super) shards: Vec<(u32, u32)>,
    /// The least number above the ids of all sites.
    pub(super) next_site: u32,
    pub(super) sites: SiteCounts,
}

/// The result of the links step.
#[derive(Serialize, Deserialize)]
pub(super) struct LinksResult {
    /// Digests of records of pages and of sites, by part.
    pub(super) pages: Vec<PartDigest>,
    pub(super) sites: Vec<PartDigest>,
    /// Whether all records have a time.
    pub(super) is_dated: bool,
    pub(super) stale: u64,
    pub(super) failed: u64,
    /// Number of pages with failed fetches, after the changes of this process.
    pub(super) failing: u64,
    failing_before: u64,
    pub(super) observed: Observed,
    /// The time of the last fetch.
    pub(super) last_fetch: u64,
    pub(super) attributed: u64,
    /// Fetches without a seed.
    pub(super) unattributed: FetchCounts,
    pub(super) loss: Loss,
}

/// The result of the last passes.
#[derive(Serialize, Deserialize)]
pub(super) struct PagesResult {
    pub(super) counts: BatchCounts,
    /// Totals before the batch, with the changes of sites of this process.
    pub(super) counters: Counters,
}

const fn out_of_order() -> EngineError {
    EngineError::Internal("the steps of an ingest are out of order")
}

impl<'p, 'a> Worker<'p, 'a> {
    pub(super) fn new(passes: &'p mut Passes<'a>, options: BatchOptions) -> Self {
        Self {
            digests: PartDigests::new(passes.store, options.digest()),
            failing_before: passes.failures.failing,
            of_sites: Vec::new(),
            stage: Stage::None,
            options,
            passes,
        }
    }

    fn take_stage(&mut self) -> Stage {
        std::mem::replace(&mut self.stage, Stage::None)
    }

    /// Ends the collection of input. Returns whether a fetch has an origin.
    pub(super) fn collect(&mut self, collector: InputCollector) -> Result<bool> {
        let collected = collector.finish(self.passes.watch)?;
        let any_seed = collected.any_seed;
        self.stage = Stage::Collected(Box::new(collected), RoaringTreemap::new());
        Ok(any_seed)
    }

    /// Finds records that others supersede.
    pub(super) fn find_losers(&mut self) -> Result<()> {
        let Stage::Collected(collected, losers) = &mut self.stage else {
            return Err(out_of_order());
        };
        *losers = find_losers(collected, self.passes)?;
        Ok(())
    }

    /// Removes superseded records. Returns their number.
    pub(super) fn deduplicate(&mut self) -> Result<u64> {
        let Stage::Collected(collected, losers) = self.take_stage() else {
            return Err(out_of_order());
        };
        let input = deduplicate(*collected, losers, self.passes)?;
        let superseded = input.superseded;
        self.stage = Stage::Deduplicated(Box::new(input));
        Ok(superseded)
    }

    /// Gives URLs their ids.
    pub(super) fn resolve(&mut self) -> Result<ResolveResult> {
        let Stage::Deduplicated(input) = self.take_stage() else {
            return Err(out_of_order());
        };
        let mut input = *input;
        let passes = &mut *self.passes;
        if let Some(exchange) = &passes.exchange {
            input.unnamed |= numbers_of(exchange.received(Stream::Unnamed)?)?;
        }
        let mut of_sites = input.sites.finish(passes.store)?;
        let resolved = resolve(input.urls.take()?, &input.unnamed, &mut of_sites, passes)?;
        passes.flush()?;
        self.of_sites = of_sites.digests();
        let result = ResolveResult {
            records: resolved.records,
            superseded: of_sites.superseded + resolved.superseded_count,
            has_sites: !self.of_sites.is_empty(),
            shards: passes.site_ids.changed_shards(),
            next_site: passes.counters.next_site,
            sites: passes.of_sites,
        };
        self.stage = Stage::Resolved(Box::new((input.pieces, input.lengths, resolved)));
        Ok(result)
    }

    /// Groups the pieces of records by page.
    pub(super) fn group(&mut self) -> Result<()> {
        let Stage::Resolved(resolved) = self.take_stage() else {
            return Err(out_of_order());
        };
        let (pieces, lengths, mut resolved) = *resolved;
        let passes = &mut *self.passes;
        if let Some(exchange) = &passes.exchange {
            resolved.superseded |= numbers_of(exchange.received(Stream::Superseded)?)?;
            passes.fetches.receive_new_pages(exchange)?;
            passes.aliases.receive_named(exchange)?;
        }
        group_by_page(pieces, &lengths, resolved, passes)?;
        if let Some(exchange) = &passes.exchange
            && !exchange.is_coordinator()
        {
            passes.aliases.send_inputs(exchange)?;
        }
        passes.flush()
    }

    /// Updates the links of pages. The times of the passes are those of the batch.
    pub(super) fn links(&mut self, any_seed: bool) -> Result<LinksResult> {
        let passes = &mut *self.passes;
        passes.by_seed.any_seed = any_seed;
        if let Some(exchange) = &passes.exchange
            && !exchange.is_coordinator()
        {
            passes.aliases.receive_changes(exchange)?;
        }
        let parts = passes.records.take()?;
        let BatchOptions { snapshot, as_of } = self.options;
        let mut records = CanonicalRecords::new(parts, snapshot, as_of.is_some());
        links::links_pass(&mut records, passes, &mut self.digests)?;
        passes.times.flush()?;
        passes.flush()?;
        passes.loss.finish_site();
        Ok(LinksResult {
            pages: self.digests.finish(),
            sites: std::mem::take(&mut self.of_sites),
            is_dated: records.dated,
            stale: passes.times.stale,
            failed: passes.failures.failed,
            failing: passes.failures.failing,
            failing_before: self.failing_before,
            observed: passes.fetches.observed,
            last_fetch: passes.fetches.last_fetches[1],
            attributed: passes.by_seed.attributed,
            unattributed: passes.by_seed.unattributed,
            loss: std::mem::take(&mut passes.loss),
        })
    }

    /// Writes what fetches brought, and rows with their pages. `is_bulk` tells whether the batch teaches nothing.
    pub(super) fn rows(&mut self, is_bulk: bool) -> Result<()> {
        let passes = &mut *self.passes;
        passes.fetches.observed.is_bulk = is_bulk;
        let fetches = passes.take(|passes| &mut passes.fetches.events)?;
        yields::yields_pass(fetches, passes)?;
        seed_fetches::seed_fetches_pass(passes)?;
        passes.watch.stage("rows", None);
        let rows = passes.take(|passes| &mut passes.new_rows)?;
        rows::rows_pass(rows, passes)?;
        let members = passes.take(|passes| &mut passes.members)?;
        rows::members_pass(members, passes)?;
        let of_blocks = passes.take(|passes| &mut passes.rows)?;
        row_blocks::row_blocks_pass(of_blocks, passes)?;
        passes.flush()
    }

    /// Updates pages as targets of links.
    pub(super) fn targets(&mut self) -> Result<()> {
        let passes = &mut *self.passes;
        let targets = passes.targets.take()?;
        targets::targets_pass(targets, passes)?;
        passes.flush()
    }

    /// Writes the records of rows, pages and sites.
    pub(super) fn pages(&mut self) -> Result<PagesResult> {
        let passes = &mut *self.passes;
        let citers = passes.citers.take()?;
        citers::citers_pass(citers, passes)?;
        let counts = passes.take(|passes| &mut passes.row_counts)?;
        rows::row_counts_pass(counts, passes)?;
        let of_hashes = passes.take(|passes| &mut passes.row_hashes)?;
        rows::row_hashes_pass(of_hashes, passes)?;
        passes.watch.stage("pages", None);
        let pages = passes.take(|passes| &mut passes.pages)?;
        pages::pages_pass(pages, passes)?;
        let digests = passes.take(|passes| &mut passes.digests)?;
        pages::digests_pass(digests, passes)?;
        let sites = passes.take(|passes| &mut passes.sites)?;
        pages::sites_pass(sites, passes)?;
        passes.flush()?;
        Ok(PagesResult {
            counts: passes.counts.clone(),
            counters: passes.counters,
        })
    }
}

impl ResolveResult {
    /// Adds the result of another process.
    pub(super) fn add(&mut self, other: Self) {
        self.records += other.records;
        self.superseded += other.superseded;
        self.has_sites |= other.has_sites;
        self.shards.extend(other.shards);
        self.next_site = self.next_site.max(other.next_site);
        self.sites.named += other.sites.named;
        self.sites.changed += other.sites.changed;
    }
}

impl PagesResult {
    /// Adds the result of another process; both began with the counters `before`.
    pub(super) fn add(&mut self, other: &Self, before: &Counters) {
        add_counts(&mut self.counts, &other.counts);
        add_change(&mut self.counters, before, &other.counters);
    }
}

impl LinksResult {
    /// Adds the result of another process.
    pub(super) fn add(&mut self, other: Self) {
        self.pages.extend(other.pages);
        self.sites.extend(other.sites);
        self.is_dated &= other.is_dated;
        self.stale += other.stale;
        self.failed += other.failed;
        // Both began with the same number.
        let more = other.failing.wrapping_sub(other.failing_before);
        self.failing = self.failing.wrapping_add(more);
        self.observed.add(&other.observed);
        self.last_fetch = self.last_fetch.max(other.last_fetch);
        self.attributed += other.attributed;
        self.unattributed = self.unattributed + other.unattributed;
        self.loss.add(other.loss);
    }
}
