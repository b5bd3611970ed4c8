//! Ingest: applies a batch of records to the bank, atomically.
//!
//! `passes` contains a diagram of the passes and the data between them.

mod aliases;
mod bad_records;
mod batch_digest;
mod batch_fetches;
mod blocklist;
mod canonical;
mod citers;
mod deduplicate;
pub(in crate::engine) mod exchange;
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
mod memory;
mod naming;
mod origins;
mod page_update;
mod pages;
mod passes;
mod pieces;
mod push;
mod read_share;
mod reading;
mod record_order;
mod refusal;
mod reject_list;
mod report;
mod request;
mod resolve;
mod row_blocks;
mod rows;
mod run;
mod seed_fetches;
mod sent_aliases;
mod sent_page_set;
mod site_records;
mod target_events;
mod targets;
pub(in crate::engine) mod team;
mod totals;
pub(in crate::engine) mod undo;
mod urls;
mod worker;
mod yields;

// Types of requests and answers that other crates declare.
pub use seedbank_store::records::{BatchId, BatchKind};

use std::time::Instant;

use crate::engine::clock::now;
use crate::engine::failing_watch::FailingWatch;
use crate::engine::{Bank, Result};
pub use aliases::AliasCounts;
pub use blocklist::BlockedCounts;
use blocklist::Blocklist;
pub(in crate::engine) use fetch_log::KEPT_BATCHES;
pub use fetch_log::LearnedCounts;
use fetch_times::FetchTimes;
pub use forget::{ForgetReport, ForgetRequest};
use naming::writable_naming;
use passes::Passes;
pub use push::PushedBatch;
use reading::{Inputs, Reading};
pub use refusal::{RefusalReason, RefusedBatch};
use reject_list::RejectList;
pub(in crate::engine) use reject_list::list_of;
pub use report::IngestReport;
pub(in crate::engine) use report::readable;
pub use request::IngestRequest;
use run::{BatchInput, run_passes};
use seedbank_algorithms::watch::Watch;
pub use seedbank_formats::ingest::Format;
use seedbank_formats::ingest::{Input, Source, site_list_source};
use seedbank_store::records::{BatchRecord, Counters};
use seedbank_store::tables::{self, PageSetKey};
use seedbank_store::{Changes, StoreError, Writer};
pub use site_records::SiteCounts;
use team::Team;
pub use undo::UndoReport;
use worker::{BatchOptions, Worker};

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
            are_of_request: true,
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
            are_of_request: false,
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
        let stops = FailingWatch::new(self.watch());
        let watch: &dyn Watch = &stops;
        let naming = writable_naming(writer)?;
        let options = BatchOptions {
            snapshot: request.snapshot,
            as_of: request.as_of,
        };
        let team = Team::begin(
            self.local_process(),
            writer,
            request.memory,
            options,
            &stops,
        )?;
        let folder = writer.spill_folder();
        let exchange = team.exchange().cloned();
        let mut passes = Passes::new(writer, folder, request.memory, watch, exchange)?;
        let batch = passes.batch;
        let rejects = RejectList::new(request.rejects.as_deref(), self.path(), batch)?;
        let collector = passes.collector(Blocklist::load(writer)?);
        for source in &mut *inputs.sources {
            source.limit_memory(request.memory);
        }
        if inputs.of_pages == 1 && collector.may_number_nodes() {
            inputs.sources[0].number_nodes(naming);
        }
        let mut worker = Worker::new(&mut passes, options);
        let reading = Reading {
            request,
            inputs: &mut inputs,
            naming,
            rejects,
        };
        let (input, rejects) = reading.run(collector, &mut worker, &team)?;
        let time = request.as_of.unwrap_or_else(now);
        worker.passes.times = FetchTimes::of_batch(time, rejects, naming.sites);
        let mut report = IngestReport {
            dry_run: request.dry_run,
            blocked: input.blocked,
            ..IngestReport::begun(name.to_owned(), kind, input.read)
        };
        let batch_input = BatchInput {
            time,
            any_seed: input.any_seed,
        };
        let digest = run_passes(
            writer,
            batch_input,
            request,
            &mut worker,
            &team,
            &mut report,
        );
        // A rejected batch has a list too.
        let listed = passes.times.take_list().map(RejectList::finish);
        let digest = digest?;
        // The other processes have kept their changes.
        drop(team);
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
    changed.finish(PageSetKey::Changed(batch), true, &mut changes)?;
    former.finish(PageSetKey::History(batch), false, &mut changes)?;
    counters.batch = batch;
    Ok((changes, counters))
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
