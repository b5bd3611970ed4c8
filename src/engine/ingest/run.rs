//! Runs the passes of a batch, in one process or in several.

use super::exchange::stream::Stream;
use super::fetch_log::LearnedCounts;
use super::passes::Passes;
use super::report::IngestReport;
use super::request::IngestRequest;
use super::team::Team;
use super::team::step::Step;
use super::worker::{LinksResult, ResolveResult, Worker};
use super::yields;
use crate::engine::{EngineError, Result};
use seedbank_store::records::{BatchId, BatchKind};
use seedbank_store::{StoreError, Writer, tables};

/// What is known of a batch that was read.
#[derive(Clone, Copy)]
pub(super) struct BatchInput {
    /// The time of records without one, in seconds since 1970.
    pub(super) time: u64,
    /// Whether a fetch has an origin.
    pub(super) any_seed: bool,
}

/// Runs all passes, with results in the passes and `report`. Returns the batch's digest.
pub(super) fn run_passes(
    writer: &Writer,
    input: BatchInput,
    request: &IngestRequest,
    worker: &mut Worker<'_, '_>,
    team: &Team<'_>,
    report: &mut IngestReport,
) -> Result<blake3::Hash> {
    let watch = worker.passes.watch;
    team.run(&Step::FindLosers, || worker.find_losers())?;
    let superseded: Vec<u64> = team.run(&Step::Deduplicate, || worker.deduplicate())?;
    watch.stage("find", None);
    let resolved = team.run(&Step::Resolve, || worker.resolve())?;
    let own_records = resolved.first().map(|own: &ResolveResult| own.records);
    let resolved = sum(resolved, ResolveResult::add)?;
    worker.passes.site_ids.merge(&resolved.shards);
    worker.passes.counters.next_site = resolved.next_site;
    worker.passes.of_sites = resolved.sites;
    // An empty snapshot is most likely a failed export.
    if request.snapshot && resolved.records == 0 {
        return Err(EngineError::EmptySnapshot);
    }
    // A delta without records changes nothing, and must not replace what `undo` needs.
    if report.kind == BatchKind::Delta && resolved.records == 0 && !resolved.has_sites {
        report.is_empty = true;
        return Ok(worker.digests.of_batch(Vec::new(), Vec::new()));
    }
    team.run(&Step::Group, || worker.group())?;
    change_aliases(worker.passes, request.snapshot)?;
    watch.stage("links", own_records);
    if let Some(exchange) = team.exchange() {
        worker.passes.times.send_to(exchange);
    }
    let BatchInput { time, any_seed } = input;
    let links = team.run(&Step::Links { time, any_seed }, || worker.links(any_seed))?;
    let links = sum(links, LinksResult::add)?;
    report.stale = links.stale;
    let has_sites = !links.sites.is_empty();
    let is_dated = links.is_dated && !has_sites;
    let digest = worker
        .digests
        .of_batch(links.pages.clone(), links.sites.clone());
    let passes = &mut *worker.passes;
    set_totals(passes, links)?;
    if !request.again
        && let Some((number, is_present)) = find_same_batch(writer, &digest)?
    {
        // Records with fetch times are equal only if the times are. Without times a page may have
        // changed and changed back, so only right after the same batch the new one certainly
        // changes nothing. Records of sites have no time.
        if is_dated || is_present {
            report.same_as = Some(number);
            return Ok(digest);
        }
        report.repeats = Some(number);
    }
    report.failed = passes.failures.failed;
    report.attributed = passes.by_seed.attributed;
    // The links pass has counted all losses, and nothing was changed yet.
    let (limit, snapshot) = (request.max_loss, request.snapshot);
    passes
        .loss
        .check(writer, &passes.counters, limit, snapshot)?;
    yields::decide_bulk(passes, request.learn_from_bulk)?;
    report.learned = LearnedCounts::from(&passes.fetches.observed);
    let is_bulk = passes.fetches.observed.is_bulk;
    team.run(&Step::Rows { is_bulk }, || worker.rows(is_bulk))?;
    watch.stage("targets", None);
    team.run(&Step::Targets, || worker.targets())?;
    let pages = team.run(&Step::Pages, || worker.pages())?;
    let before = writer.counters()?;
    let pages = sum(pages, |all, other| all.add(&other, &before))?;
    let passes = &mut *worker.passes;
    passes.counters = pages.counters;
    passes.counts = pages.counts;
    passes.counts.records = report.read.records;
    passes.counts.rejected = report.read.rejected();
    passes.counts.superseded = superseded.iter().sum::<u64>() + resolved.superseded;
    passes.counts.dropped_outlinks = report.read.dropped_outlinks.values().sum();
    report.counts = passes.counts.clone();
    report.aliases = passes.aliases.counts;
    report.sites = passes.of_sites;
    if let Some(exchange) = team.exchange()
        && !request.dry_run
    {
        team.run(&Step::KeepChanges, || Ok(()))?;
        let mut changes = exchange.received(Stream::Changes)?;
        while let Some((key, value)) = changes.next_entry()? {
            passes.changes.put_entry(key, value)?;
        }
    }
    Ok(digest)
}

/// Adds up the results of all processes.
fn sum<T>(results: Vec<T>, mut add: impl FnMut(&mut T, T)) -> Result<T> {
    let mut results = results.into_iter();
    let none = EngineError::Internal("a step has no result");
    let mut all = results.next().ok_or(none)?;
    results.for_each(|result| add(&mut all, result));
    Ok(all)
}

/// Determines the changes of aliases from the input of all processes.
fn change_aliases(passes: &mut Passes<'_>, snapshot: bool) -> Result<()> {
    let Passes {
        aliases,
        times,
        watch,
        exchange,
        ..
    } = passes;
    if let Some(exchange) = exchange {
        aliases.receive_inputs(exchange)?;
    }
    aliases.resolve_changes(snapshot, times, *watch)?;
    match exchange {
        Some(exchange) => aliases.send_changes(exchange),
        None => Ok(()),
    }
}

/// Sets the totals over all processes.
fn set_totals(passes: &mut Passes<'_>, links: LinksResult) -> Result<()> {
    passes.times.stale = links.stale;
    passes.times.list_received()?;
    passes.failures.failed = links.failed;
    passes.failures.failing = links.failing;
    passes.fetches.observed = links.observed;
    passes.fetches.last_fetches[1] = links.last_fetch;
    passes.by_seed.attributed = links.attributed;
    passes.by_seed.unattributed = links.unattributed;
    passes.loss = links.loss;
    Ok(())
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
