//! Runs the passes of a batch.
//!
//! All processes of an ingest run the same passes, each for its own sites. Between some passes they add up what they
//! found, and process 0 decides whether and how the batch is applied.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::canonical::CanonicalRecords;
use super::exchange::Exchange;
use super::fetch_log::LearnedCounts;
use super::gather::CollectedInput;
use super::loss::Loss;
use super::passes::Passes;
use super::report::IngestReport;
use super::request::{IngestRequest, Truncated};
use super::resolve::{deduplicate, group_by_page, resolve};
use super::site_records::{PartDigest, PartDigests, SiteCounts};
use super::{links, pages, rows, same_content, targets, yields};
use crate::engine::clock::now;
use crate::engine::{EngineError, Result};
use seedbank_formats::ingest::{Hosts, Naming, ReadOptions};
use seedbank_store::records::{BatchCounts, BatchId, BatchKind, Counters, FetchCounts, Observed};
use seedbank_store::tables::{self, PageSetKey};
use seedbank_store::{StoreError, Writer};

/// Options of a batch that passes depend on.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct BatchOptions {
    /// Whether crawled pages without a record become gone.
    pub(super) snapshot: bool,
    /// The given time of records without one.
    pub(super) as_of: Option<u64>,
    /// The hosts that URLs may have.
    pub(super) hosts: Hosts,
    /// The latest time that a record can have, in microseconds since 1970.
    latest: i64,
    keeps_truncated: bool,
}

/// The number of seconds by which a fetch may be after the batch and after now: clocks of machines differ.
const MAX_AFTER_BATCH: u64 = 86_400;

impl BatchOptions {
    pub(super) fn new(request: &IngestRequest) -> Self {
        let latest = request.as_of.unwrap_or(0).max(now()) + MAX_AFTER_BATCH;
        Self {
            snapshot: request.snapshot,
            as_of: request.as_of,
            hosts: if request.allow_private {
                Hosts::Fetchable
            } else {
                Hosts::Public
            },
            latest: i64::try_from(latest.saturating_mul(1_000_000)).unwrap_or(i64::MAX),
            keeps_truncated: request.truncated == Truncated::Keep,
        }
    }

    /// Returns how to read the inputs of a bank with this naming.
    pub(super) fn reading(self, naming: Naming) -> ReadOptions {
        ReadOptions {
            naming: Naming {
                hosts: self.hosts,
                ..naming
            },
            latest: self.latest,
            keeps_truncated: self.keeps_truncated,
        }
    }

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

/// What process 0 decides with about a batch, and where it reports what the passes found.
pub(super) struct Coordinator<'a> {
    pub(super) writer: &'a Writer,
    pub(super) request: &'a IngestRequest,
    pub(super) report: &'a mut IngestReport,
}

/// The results of resolving URLs, of all processes.
#[derive(Serialize, Deserialize)]
struct ResolveResult {
    /// Number of URLs with a record.
    records: u64,
    /// Number of records that another of the same page or site superseded.
    superseded: u64,
    /// Whether there are records of sites.
    has_sites: bool,
    /// Shards with new sites, with their last numbers.
    shards: Vec<(u32, u32)>,
    /// The least number above the ids of all sites.
    next_site: u32,
    sites: SiteCounts,
}

/// The results of the links pass, of all processes.
#[derive(Serialize, Deserialize)]
struct LinksResult {
    /// Digests of records of pages and of sites, by part.
    pages: Vec<PartDigest>,
    sites: Vec<PartDigest>,
    /// Whether all records have a time.
    is_dated: bool,
    stale: u64,
    failed: u64,
    /// Number of pages with failed fetches, after the changes of the process, and before the batch.
    failing: u64,
    failing_before: u64,
    observed: Observed,
    /// The time of the last fetch.
    last_fetch: u64,
    attributed: u64,
    /// Fetches without a seed.
    unattributed: FetchCounts,
    loss: Loss,
}

/// Runs all passes over the input of this process; the times of `passes` are those of the batch. `any_seed` tells whether
/// a fetch of any process has an origin. Process 0 has the `coordinator`.
///
/// Returns the digest of the batch; `None` if it changes nothing.
#[expect(
    clippy::too_many_lines,
    reason = "the passes one after the other, as every process runs them"
)]
pub(super) fn run_passes(
    passes: &mut Passes<'_>,
    collected: CollectedInput,
    options: BatchOptions,
    any_seed: bool,
    mut coordinator: Option<Coordinator<'_>>,
) -> Result<Option<blake3::Hash>> {
    let exchange = Arc::clone(&passes.exchange);
    let watch = passes.watch;
    let before = passes.counters;
    let failing_before = passes.failures.failing;

    let mut input = deduplicate(collected, passes)?;
    watch.stage("find", None);
    let mut site_records = input.sites.finish(passes.store)?;
    let resolved = resolve(
        input.urls.take()?,
        &input.unnamed,
        &mut site_records,
        passes,
    )?;
    let own_records = resolved.records;
    let of_sites = site_records.digests();
    let found = ResolveResult {
        records: own_records,
        superseded: input.superseded + site_records.superseded + resolved.superseded_count,
        has_sites: !of_sites.is_empty(),
        shards: passes.site_ids.changed_shards(),
        next_site: passes.counters.next_site,
        sites: passes.of_sites,
    };
    let found = sum(exchange.gather(found)?, ResolveResult::add)?;
    passes.site_ids.merge(&found.shards);
    passes.counters.next_site = found.next_site;
    passes.of_sites = found.sites;
    let has_records = decide(&exchange, &mut coordinator, |of| of.has_records(&found))?;
    if !has_records {
        return Ok(None);
    }

    group_by_page(input.pieces, &input.lengths, resolved, passes)?;
    same_content::answer(passes)?;
    let Passes { aliases, times, .. } = &mut *passes;
    aliases.determine_changes(options.snapshot, times, watch, &exchange)?;

    watch.stage("links", Some(own_records));
    passes.by_seed.any_seed = any_seed;
    let mut digests = PartDigests::new(passes.store, options.digest());
    let mut records = CanonicalRecords::new(
        passes.records.take()?,
        options.snapshot,
        options.as_of.is_some(),
    );
    links::links_pass(&mut records, passes, &mut digests)?;
    passes.times.list_sent()?;
    passes.loss.finish_site();
    let links = LinksResult {
        pages: digests.finish(),
        sites: of_sites,
        is_dated: records.dated,
        stale: passes.times.stale,
        failed: passes.failures.failed,
        failing: passes.failures.failing,
        failing_before,
        observed: passes.fetches.observed,
        last_fetch: passes.fetches.last_fetches[1],
        attributed: passes.by_seed.attributed,
        unattributed: passes.by_seed.unattributed,
        loss: std::mem::take(&mut passes.loss),
    };
    let links = sum(exchange.gather(links)?, LinksResult::add)?;
    let is_dated = links.is_dated && links.sites.is_empty();
    let digest = digests.of_batch(links.pages, links.sites);
    passes.times.stale = links.stale;
    passes.failures.failed = links.failed;
    passes.failures.failing = links.failing;
    passes.fetches.observed = links.observed;
    passes.fetches.last_fetches[1] = links.last_fetch;
    passes.by_seed.attributed = links.attributed;
    passes.by_seed.unattributed = links.unattributed;
    passes.loss = links.loss;
    let is_bulk = decide(&exchange, &mut coordinator, |of| {
        of.accepts(passes, &digest, is_dated)
    })?;
    let Some(is_bulk) = is_bulk else {
        return Ok(None);
    };
    passes.fetches.observed.is_bulk = is_bulk;

    let fetches = passes.take(|passes| &mut passes.fetches.events)?;
    yields::yields_pass(fetches, passes)?;
    yields::seed_fetches_pass(passes)?;
    watch.stage("rows", None);
    let new_rows = passes.take(|passes| &mut passes.new_rows)?;
    rows::rows_pass(new_rows, passes)?;
    let members = passes.take(|passes| &mut passes.members)?;
    rows::members_pass(members, passes)?;
    let of_blocks = passes.take(|passes| &mut passes.rows)?;
    rows::row_blocks_pass(of_blocks, passes)?;

    watch.stage("targets", None);
    let events = passes.targets.take()?;
    targets::targets_pass(events, passes)?;
    let events = passes.citers.take()?;
    rows::citers_pass(events, passes)?;
    let counts = passes.take(|passes| &mut passes.row_counts)?;
    rows::row_counts_pass(counts, passes)?;
    let of_hashes = passes.take(|passes| &mut passes.row_hashes)?;
    rows::row_hashes_pass(of_hashes, passes)?;

    watch.stage("pages", None);
    let events = passes.take(|passes| &mut passes.pages)?;
    pages::pages_pass(events, passes)?;
    let of_digests = passes.take(|passes| &mut passes.digests)?;
    pages::digests_pass(of_digests, passes)?;
    let of_sites = passes.take(|passes| &mut passes.sites)?;
    pages::sites_pass(of_sites, passes)?;
    let totals = exchange.gather((passes.counts.clone(), passes.counters))?;
    let (counts, counters) = sum(totals, |(counts, counters), other| {
        add_counts(counts, &other.0);
        add_change(counters, &before, &other.1);
    })?;
    passes.counts = counts;
    passes.counts.superseded = found.superseded;
    passes.counters = counters;
    put_page_sets(passes)?;
    if let Some(coordinator) = coordinator {
        coordinator.report_totals(passes);
    }
    Ok(Some(digest))
}

impl Coordinator<'_> {
    /// Whether the batch has records. Fails for a snapshot without any.
    fn has_records(&mut self, found: &ResolveResult) -> Result<bool> {
        // An empty snapshot is most likely a failed export.
        if self.request.snapshot && found.records == 0 {
            return Err(EngineError::EmptySnapshot);
        }
        // A delta without records changes nothing, and must not replace what `undo` needs.
        let is_delta = self.report.kind == BatchKind::Delta;
        self.report.is_empty = is_delta && found.records == 0 && !found.has_sites;
        Ok(!self.report.is_empty)
    }

    /// Whether the batch is a bulk import; `None` if it was applied before and changes nothing. Fails if too much would
    /// be lost. The links pass has counted all losses, and nothing was changed yet.
    fn accepts(
        &mut self,
        passes: &mut Passes<'_>,
        digest: &blake3::Hash,
        is_dated: bool,
    ) -> Result<Option<bool>> {
        let Self {
            writer,
            request,
            report,
        } = self;
        report.stale = passes.times.stale;
        if !request.again
            && let Some((number, is_present)) = find_same_batch(writer, digest)?
        {
            // Records with fetch times are equal only if the times are. Without times a page may have
            // changed and changed back, so only right after the same batch the new one certainly
            // changes nothing. Records of sites have no time.
            if is_dated || is_present {
                report.same_as = Some(number);
                return Ok(None);
            }
            report.repeats = Some(number);
        }
        report.failed = passes.failures.failed;
        report.attributed = passes.by_seed.attributed;
        let (limit, snapshot) = (request.max_loss, request.snapshot);
        passes
            .loss
            .check(writer, &passes.counters, limit, snapshot)?;
        yields::decide_bulk(passes, request.learn_from_bulk)?;
        report.learned = LearnedCounts::from(&passes.fetches.observed);
        Ok(Some(passes.fetches.observed.is_bulk))
    }

    /// Reports the changes by the batch.
    fn report_totals(self, passes: &mut Passes<'_>) {
        let read = &self.report.read;
        passes.counts.records = read.records;
        passes.counts.rejected = read.rejected();
        passes.counts.truncated = read.truncated;
        passes.counts.dropped_outlinks = read.dropped_outlinks.values().sum();
        self.report.counts = passes.counts.clone();
        self.report.aliases = passes.aliases.counts;
        self.report.sites = passes.of_sites;
    }
}

/// Returns what process 0 decides, in all processes.
fn decide<'c, T: Serialize + DeserializeOwned>(
    exchange: &Exchange,
    coordinator: &mut Option<Coordinator<'c>>,
    decide: impl FnOnce(&mut Coordinator<'c>) -> Result<T>,
) -> Result<T> {
    let none = EngineError::Internal("process 0 has no request");
    exchange.decide(|| decide(coordinator.as_mut().ok_or(none)?))
}

/// Adds up the results of all processes.
fn sum<T>(results: Vec<T>, mut add: impl FnMut(&mut T, T)) -> Result<T> {
    let mut results = results.into_iter();
    let none = EngineError::Internal("a pass has no result");
    let mut all = results.next().ok_or(none)?;
    results.for_each(|result| add(&mut all, result));
    Ok(all)
}

/// Writes the sets of pages that the batch changed, in process 0.
fn put_page_sets(passes: &mut Passes<'_>) -> Result<()> {
    let Passes {
        changed,
        former,
        changes,
        batch,
        exchange,
        ..
    } = passes;
    let changed = changed.finish(PageSetKey::Changed(*batch), changes)?;
    let former = former.finish(PageSetKey::History(*batch), changes)?;
    if exchange.is_coordinator() {
        changed.finish(changes)?;
        if !former.is_empty() {
            former.finish(changes)?;
        }
    }
    Ok(())
}

impl ResolveResult {
    fn add(&mut self, other: Self) {
        self.records += other.records;
        self.superseded += other.superseded;
        self.has_sites |= other.has_sites;
        self.shards.extend(other.shards);
        self.next_site = self.next_site.max(other.next_site);
        self.sites.named += other.sites.named;
        self.sites.changed += other.sites.changed;
    }
}

impl LinksResult {
    fn add(&mut self, other: Self) {
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

fn add_counts(all: &mut BatchCounts, other: &BatchCounts) {
    // All fields are named, so that none is forgotten.
    let BatchCounts {
        records,
        rejected,
        superseded,
        truncated,
        dropped_outlinks,
        new_pages,
        became_crawled,
        became_gone,
        became_resources,
        changed,
        links_added,
        links_removed,
    } = other;
    all.records += records;
    all.rejected += rejected;
    all.superseded += superseded;
    all.truncated += truncated;
    all.dropped_outlinks += dropped_outlinks;
    all.new_pages += new_pages;
    all.became_crawled += became_crawled;
    all.became_gone += became_gone;
    all.became_resources += became_resources;
    all.changed += changed;
    all.links_added += links_added;
    all.links_removed += links_removed;
}

/// Adds the change of the totals from `before` to `after`.
fn add_change(all: &mut Counters, before: &Counters, after: &Counters) {
    // All fields are named, so that none is forgotten. The first ones are no totals.
    let Counters {
        epoch: _,
        batch: _,
        refresh: _,
        next_site: _,
        known,
        crawled,
        gone,
        documents,
        resources,
        spam,
        intra_links,
        inter_links,
        rows,
        row_links,
    } = after;
    // The sum is not negative, but changes are.
    let change = |total: &mut u64, before: u64, after: u64| {
        *total = total.wrapping_add(after).wrapping_sub(before);
    };
    change(&mut all.known, before.known, *known);
    change(&mut all.crawled, before.crawled, *crawled);
    change(&mut all.gone, before.gone, *gone);
    change(&mut all.documents, before.documents, *documents);
    change(&mut all.resources, before.resources, *resources);
    change(&mut all.spam, before.spam, *spam);
    change(&mut all.intra_links, before.intra_links, *intra_links);
    change(&mut all.inter_links, before.inter_links, *inter_links);
    change(&mut all.rows, before.rows, *rows);
    change(&mut all.row_links, before.row_links, *row_links);
}

/// Returns the last batch with this digest, and whether it made the current state. A batch that was
/// undone does not count.
fn find_same_batch(
    writer: &Writer,
    digest: &blake3::Hash,
) -> Result<Option<(BatchId, bool)>, StoreError> {
    let mut batches: Vec<(BatchId, bool)> = Vec::new();
    for entry in writer.scan(&tables::BATCHES)? {
        let (number, record) = entry?;
        if record.kind == BatchKind::Undo {
            batches.pop();
        } else {
            batches.push((number, record.digest == *digest.as_bytes()));
        }
    }
    let last = batches.last().map(|(number, _)| *number);
    let same = batches.iter().rev().find(|(_, is_same)| *is_same);
    Ok(same.map(|(number, _)| (*number, Some(*number) == last)))
}
