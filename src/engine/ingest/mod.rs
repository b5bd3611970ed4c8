//! Ingest: applies a batch of records to the bank, atomically.
//!
//! `passes` contains a diagram of the passes and the data between them.

mod aliases;
mod bad_records;
mod batch_fetches;
mod blocklist;
mod canonical;
mod deduplicate;
mod failed_run;
mod failures;
mod fetch_log;
mod fetch_times;
mod fields;
mod forget;
mod gather;
mod intra_links;
mod link_delta;
mod links;
mod loss;
mod origins;
mod page_update;
mod pages;
mod passes;
mod pieces;
mod push;
mod record_order;
mod refusal;
mod reject_list;
mod report;
mod request;
mod resolve;
mod row_blocks;
mod rows;
mod seed_fetches;
mod site_records;
mod targets;
pub(in crate::engine) mod undo;
mod urls;
mod yields;

// Types of requests and answers that other crates declare.
pub use seedbank_store::records::{BatchId, BatchKind};

use std::time::Instant;

use crate::engine::clock::now;
use crate::engine::{Bank, EngineError, Result};
pub use aliases::AliasCounts;
use bad_records::bad_records;
pub use blocklist::BlockedCounts;
use blocklist::Blocklist;
use canonical::CanonicalRecords;
pub(in crate::engine) use fetch_log::KEPT_BATCHES;
pub use fetch_log::LearnedCounts;
use fetch_times::FetchTimes;
pub use forget::{ForgetReport, ForgetRequest};
use gather::InputCollector;
use passes::Passes;
pub use push::PushedBatch;
pub use refusal::{RefusalReason, RefusedBatch};
use reject_list::RejectList;
pub(in crate::engine) use reject_list::list_of;
pub use report::IngestReport;
pub(in crate::engine) use report::readable;
pub use request::IngestRequest;
use seedbank_algorithms::watch::Watch;
pub use seedbank_formats::ingest::Format;
use seedbank_formats::ingest::{
    Event, Input, Naming, ReadError, ReadSummary, SUFFIX_LIST, SiteMode, Source, read_pieces,
    site_list_source, within_limit,
};
use seedbank_store::records::{BatchRecord, Counters};
use seedbank_store::tables;
use seedbank_store::{Changes, StoreError, Writer};
pub use site_records::SiteCounts;
pub use undo::UndoReport;

impl Bank {
    /// Ingests a batch. If it fails, nothing has changed, but the bank remembers the last refused batch
    /// ([`Status::refused`](crate::engine::query::Status::refused)). A delta without any good record is no batch:
    /// it changes nothing either, not even what [`undo`](Self::undo) can take back.
    ///
    /// A batch with the same records as an earlier one changes nothing, unless [`again`] is set. If
    /// some records have no fetch time, this applies only right after that batch, since a page may
    /// change and change back.
    ///
    /// A record of a fetch that is older than the page's last one is skipped, counted
    /// ([`IngestReport::stale`]) and listed with the bad records.
    ///
    /// Cost: sorting the batch's records and links, in `memory` bytes or in temporary files; one
    /// lookup for every distinct URL and every changed page, row and target; for a snapshot also a
    /// scan of all pages.
    ///
    /// [`again`]: IngestRequest::again
    pub fn ingest(&self, request: &IngestRequest) -> Result<IngestReport> {
        let request = &*request.found(self.shared_watch())?;
        let mut sources = request.format.sources(&request.inputs);
        let of_pages = sources.len();
        sources.extend(request.sites.iter().map(site_list_source));
        let of_batch = request.inputs.iter().chain(&request.sites);
        let inputs = Inputs {
            sources: &mut sources,
            of_links: request.inputs.len(),
            of_pages,
            names: of_batch.map(ToString::to_string).collect(),
            name: first_name(request),
        };
        self.ingest_from(request, inputs)
    }

    /// Ingests a batch from the caller's own sources, as [`ingest`](Self::ingest) does from files.
    /// Ignores the request's inputs, format and sites; a list of sites is a source of its own
    /// ([`Lines`](seedbank_formats::ingest::Lines) of a
    /// [`SiteList`](seedbank_formats::ingest::SiteList)). The batch has the name of the first
    /// source unless the request names it.
    pub fn ingest_sources(
        &self,
        request: &IngestRequest,
        sources: &mut [Box<dyn Source + '_>],
    ) -> Result<IngestReport> {
        let names: Vec<String> = sources.iter().map(|source| source.name()).collect();
        let inputs = Inputs {
            of_links: sources.len(),
            of_pages: sources.len(),
            sources,
            name: names.first().cloned().unwrap_or_default(),
            names,
        };
        self.ingest_from(request, inputs)
    }

    fn ingest_from(&self, request: &IngestRequest, inputs: Inputs<'_, '_>) -> Result<IngestReport> {
        let begun = Instant::now();
        let writer = self.open_writer(request.wait, self.watch())?;
        writer.limit_memory(request.memory);
        let name = request.name.as_ref().unwrap_or(&inputs.name).clone();
        let kind = if request.snapshot {
            BatchKind::Snapshot
        } else {
            BatchKind::Delta
        };
        let result = self.ingest_named(&writer, &name, kind, request, inputs, begun);
        if !request.dry_run {
            self.note_refusal(&writer, &name, kind, &result);
        }
        result
    }

    /// Ingests a batch with this name and kind, whose ingest began at this time.
    fn ingest_named(
        &self,
        writer: &Writer,
        name: &str,
        kind: BatchKind,
        request: &IngestRequest,
        mut inputs: Inputs<'_, '_>,
        begun: Instant,
    ) -> Result<IngestReport> {
        let watch = self.watch();
        let naming = writable_naming(writer)?;
        let mut passes = Passes::new(writer, request.memory, watch)?;
        let batch = passes.batch;
        let rejects = RejectList::new(request.rejects.as_deref(), self.path(), batch)?;
        let collector = passes.collector(Blocklist::load(writer)?);
        for source in &mut *inputs.sources {
            source.limit_memory(request.memory);
        }
        if inputs.of_pages == 1 && collector.may_number_nodes() {
            inputs.sources[0].number_nodes(naming);
        }
        let (collector, read, rejects) =
            read_inputs(request, &mut inputs, naming, collector, rejects, watch)?;
        let time = request.as_of.unwrap_or_else(now);
        passes.times = FetchTimes::of_batch(time, rejects, naming.sites);
        let mut report = IngestReport {
            dry_run: request.dry_run,
            blocked: collector.blocked(),
            ..IngestReport::begun(name.to_owned(), kind, read)
        };
        let digest = run_passes(writer, collector, request, &mut passes, &mut report);
        // A rejected batch has a list too.
        let listed = passes.times.take_list().map(RejectList::finish);
        let digest = digest?;
        if let Some(listed) = listed.transpose()? {
            report.rejects_file = listed.file;
            report.rejects_listed = listed.count;
        }
        report.seconds = begun.elapsed().as_secs_f64();
        if report.same_as.is_some() || report.is_empty || request.dry_run {
            return Ok(report);
        }
        let (changes, counters) = finish_batch(passes, &report, *digest.as_bytes(), inputs.names)?;
        watch.stage("commit", None);
        watch.proceed()?;
        let committed = writer.commit_batch(changes, counters);
        // An unpublished batch is committed too, so its list of bad records gets its name.
        let is_in = matches!(&committed, Ok(()) | Err(StoreError::Unpublished(_)));
        if is_in && request.rejects.is_none() {
            let attempt = report.rejects_file.take();
            report.rejects_file = attempt.map(|path| reject_list::name_after(batch, path));
        }
        committed?;
        report.batch = Some(batch);
        report.seconds = begun.elapsed().as_secs_f64();
        Ok(report)
    }
}

/// Returns the changes and counters of a processed batch, with its record. `digest` is that of its
/// records, and `inputs` are the names of its inputs.
fn finish_batch(
    passes: Passes<'_>,
    report: &IngestReport,
    digest: [u8; 32],
    inputs: Vec<String>,
) -> Result<(Changes, Counters)> {
    let Passes {
        mut changes,
        mut counters,
        site_ids,
        changed,
        former,
        batch,
        failures,
        fetches,
        by_seed,
        times,
        ..
    } = passes;
    let record = BatchRecord {
        name: report.name.clone(),
        kind: report.kind,
        inputs,
        digest,
        at: now(),
        seconds: report.seconds,
        counts: report.counts.clone(),
        stale: report.stale,
        failed: failures.failed,
        failing: failures.failing,
        last_fetch: fetches.last_fetch(times.batch()),
        observed: fetches.observed,
        attributed: by_seed.attributed,
        unattributed: by_seed.unattributed,
    };
    changes.put(&tables::BATCHES, &batch, &record)?;
    site_ids.put(&mut changes)?;
    changed.finish(&mut changes)?;
    if !former.is_empty() {
        former.finish(&mut changes)?;
    }
    counters.batch = batch;
    Ok((changes, counters))
}

struct Inputs<'a, 's> {
    sources: &'a mut [Box<dyn Source + 's>],
    /// Number of sources that are inputs; those after them list pages and sites.
    of_links: usize,
    /// Number of sources with records of pages; after them comes the list of sites.
    of_pages: usize,
    names: Vec<String>,
    /// Name of the batch unless the request contains one.
    name: String,
}

/// Reads the inputs and rejects the batch if too many records are bad.
fn read_inputs(
    request: &IngestRequest,
    inputs: &mut Inputs<'_, '_>,
    naming: Naming,
    mut collector: InputCollector,
    mut rejects: RejectList,
    watch: &dyn Watch,
) -> Result<(InputCollector, ReadSummary, RejectList)> {
    let Inputs {
        sources,
        of_links,
        of_pages,
        ..
    } = inputs;
    let read = read_pieces(sources, naming, watch, &mut |piece| {
        for (_, event) in &piece.events {
            if let Event::Rejected(reject) = event {
                rejects.list(piece.source, reject)?;
            }
        }
        // The file of pages comes after the inputs.
        let of_links = (piece.source as usize) < *of_links;
        collector.add(piece, of_links)
    });
    let read = match read {
        Err(ReadError::MostAreBad(read)) => {
            let bad = bad_records(
                &read,
                rejects.finish()?,
                &sources[..*of_pages],
                &request.format,
            );
            return Err(EngineError::MostlyRejected { bad });
        }
        read => read.map_err(bad_records::unread)?,
    };
    if !within_limit(read.rejected(), read.records, request.max_rejects) {
        let listed = rejects.finish()?;
        return Err(EngineError::TooManyRejects {
            limit: request.max_rejects,
            bad: bad_records(&read, listed, &sources[..*of_pages], &request.format),
        });
    }
    Ok((collector, read, rejects))
}

fn first_name(request: &IngestRequest) -> String {
    match request.inputs.first().or(request.sites.as_ref()) {
        Some(Input::File(path)) => path.file_name().map_or_else(
            || path.display().to_string(),
            |name| name.to_string_lossy().into_owned(),
        ),
        Some(Input::Remote(file)) => {
            let name = file.name();
            name.rsplit('/').next().unwrap_or(name).to_owned()
        }
        Some(Input::Member(_) | Input::Stdin) | None => "stdin".to_owned(),
    }
}

/// Returns how the bank delimits pages and sites. Fails if this build does so differently.
///
/// Another suffix list changes thousands of registrable domains. Of bare hosts it changes only
/// those few that are `www.` and a public suffix in only one of the lists, which is not a reason to
/// reject a bank.
fn writable_naming(writer: &Writer) -> Result<Naming> {
    let settings = writer.settings()?;
    let naming = crate::engine::naming(&settings)?;
    if naming.sites == SiteMode::Domain && settings.suffix_list != SUFFIX_LIST {
        return Err(EngineError::SuffixList {
            bank: settings.suffix_list,
            build: SUFFIX_LIST.to_owned(),
        });
    }
    Ok(naming)
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

/// Runs all passes, with results in `passes` and `report`. Returns the batch's digest.
fn run_passes(
    writer: &Writer,
    collector: InputCollector,
    request: &IngestRequest,
    passes: &mut Passes<'_>,
    report: &mut IngestReport,
) -> Result<blake3::Hash> {
    let watch = passes.watch;
    let mut hasher = blake3::Hasher::new();
    hasher.update(&[u8::from(request.snapshot)]);
    // The same records at another time are another batch. Without a given time the digest is that of the
    // records alone.
    if let Some(time) = request.as_of {
        hasher.update(&time.to_le_bytes());
    }
    watch.stage("sort", None);
    let collected = collector.finish(watch)?;
    passes.by_seed.any_seed = collected.any_seed;
    let input = deduplicate::deduplicate(collected, passes)?;
    watch.stage("find", None);
    let (urls, mut site_records) = (input.urls, input.sites);
    let resolved = resolve::resolve(urls, &input.unnamed, &mut site_records, passes)?;
    let (records, superseded) = (resolved.records, resolved.superseded.len());
    // An empty snapshot is most likely a failed export.
    if request.snapshot && records == 0 {
        return Err(EngineError::EmptySnapshot);
    }
    // A delta without records changes nothing, and must not replace what `undo` needs.
    if report.kind == BatchKind::Delta && records == 0 && site_records.digest().is_none() {
        report.is_empty = true;
        return Ok(hasher.finalize());
    }
    resolve::group_by_page(input.pieces, resolved, passes)?;
    let Passes { aliases, times, .. } = passes;
    aliases.resolve_changes(request.snapshot, times, watch)?;
    watch.stage("links", Some(records));
    let parts = passes.take(|passes| &mut passes.records)?;
    let mut records = CanonicalRecords::new(parts, request.snapshot, request.as_of.is_some());
    links::links_pass(&mut records, passes, &mut hasher)?;
    report.stale = passes.times.stale;
    let of_sites = site_records.digest();
    if let Some(digest) = &of_sites {
        hasher.update(digest.as_bytes());
    }
    let digest = hasher.finalize();
    if !request.again
        && let Some((number, is_present)) = find_same_batch(writer, &digest)?
    {
        // Records with fetch times are equal only if the times are. Without times a page may have
        // changed and changed back, so only right after the same batch the new one certainly
        // changes nothing. Records of sites have no time.
        let dated = records.dated && of_sites.is_none();
        if dated || is_present {
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
    let fetches = passes.take(|passes| &mut passes.fetches.events)?;
    yields::yields_pass(fetches, passes)?;
    seed_fetches::seed_fetches_pass(passes)?;
    watch.stage("rows", None);
    let rows = passes.take(|passes| &mut passes.new_rows)?;
    rows::rows_pass(rows, passes)?;
    let members = passes.take(|passes| &mut passes.members)?;
    rows::members_pass(members, passes)?;
    let of_blocks = passes.take(|passes| &mut passes.rows)?;
    row_blocks::row_blocks_pass(of_blocks, passes)?;
    watch.stage("targets", None);
    let targets = passes.take(|passes| &mut passes.targets)?;
    targets::targets_pass(targets, passes)?;
    let counts = passes.take(|passes| &mut passes.row_counts)?;
    rows::row_counts_pass(counts, passes)?;
    let of_hashes = passes.take(|passes| &mut passes.row_hashes)?;
    rows::row_hashes_pass(of_hashes, passes)?;
    watch.stage("pages", None);
    let pages = passes.take(|passes| &mut passes.pages)?;
    pages::pages_pass(pages, passes)?;
    let digests = passes.take(|passes| &mut passes.digests)?;
    pages::digests_pass(digests, passes)?;
    let sites = passes.take(|passes| &mut passes.sites)?;
    pages::sites_pass(sites, passes)?;
    passes.counts.records = report.read.records;
    passes.counts.rejected = report.read.rejected();
    passes.counts.superseded = input.superseded + superseded + site_records.superseded;
    passes.counts.dropped_outlinks = report.read.dropped_outlinks.values().sum();
    report.counts = passes.counts.clone();
    report.aliases = passes.aliases.counts;
    report.sites = passes.of_sites;
    Ok(digest)
}
