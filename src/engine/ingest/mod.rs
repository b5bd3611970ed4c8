//! Ingest: applies a batch of records to the bank, atomically.
//!
//! `passes` contains a diagram of the passes and the data between them.

mod aliases;
mod blocklist;
mod canonical;
mod events;
mod exchange;
mod fetch_log;
mod fetch_times;
mod forget;
mod gather;
mod links;
mod loss;
mod page_fields;
mod pages;
mod passes;
mod pieces;
pub(in crate::engine) mod processes;
mod push;
mod reading;
mod reject_list;
mod report;
mod request;
mod resolve;
mod rows;
mod run;
mod same_content;
mod site_records;
mod targets;
pub(in crate::engine) mod undo;
mod yields;

// Types of requests and answers that other crates declare.
pub use seedbank_store::records::{BatchId, BatchKind};

use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::Instant;

use crate::engine::clock::now;
use crate::engine::error::RequestError;
use crate::engine::{Bank, Result};
pub use aliases::AliasCounts;
pub use blocklist::BlockedCounts;
use blocklist::Blocklist;
use exchange::Exchange;
pub(in crate::engine) use fetch_log::KEPT_BATCHES;
pub use fetch_log::LearnedCounts;
pub use forget::{ForgetReport, ForgetRequest};
use passes::{Passes, writable_naming};
use processes::{Begin, in_one_thread, receive_changes, run_in_all};
pub use push::PushedBatch;
use reading::{InputPiece, Inputs, Reading};
use reject_list::RejectList;
pub(in crate::engine) use reject_list::list_of;
pub(in crate::engine) use report::readable;
pub use report::{ClockDifference, IngestReport, RefusalReason, RefusedBatch};
pub use request::{IngestRequest, Truncated};
use run::{BatchOptions, Coordinator, run_passes};
use seedbank_algorithms::watch::Watch;
pub use seedbank_formats::ingest::{ColumnNames, Format};
use seedbank_formats::ingest::{Input, Naming, Source, Stop, site_list_source};
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
        let mut request = request.found(self.shared_watch())?;
        self.wait_for_input(&mut request)?;
        let request = &request;
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

    /// Waits for the first input that is no file, so that a stalled one does not keep other writers from the bank.
    /// Inputs after it are waited for while they are read, since one process may write them one after another.
    fn wait_for_input(&self, request: &mut IngestRequest) -> Result<()> {
        let mut inputs = request.inputs_in_order().into_iter();
        let Some(input) = inputs.find(|input| input.may_wait()) else {
            return Ok(());
        };
        // Whoever writes the input should learn of a wrong path at once.
        if let Err(error @ StoreError::NoBank(_)) = self.open_state() {
            return Err(error.into());
        }
        Ok(input.wait(self.watch()).map_err(Stop::from)?)
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
        if request.snapshot && request.truncated == Truncated::Keep {
            return Err(RequestError::TruncatedSnapshot.into());
        }
        let settings = Begin {
            options: BatchOptions::new(request),
            memory: request.memory,
            dry_run: request.dry_run,
        };
        let watch = self.watch();
        let naming = writable_naming(writer)?;
        let threads = inputs.threads(request);
        let apply = |exchange: &Arc<Exchange>, threads: Vec<_>, watch: &dyn Watch| {
            let (folder, memory) = (writer.spill_folder(), exchange.memory_of(request.memory));
            let exchange = Arc::clone(exchange);
            let mut passes = Passes::new(writer, folder, memory, watch, exchange)?;
            let mut report = IngestReport {
                dry_run: request.dry_run,
                ..IngestReport::begun(name.to_owned(), kind)
            };
            let report_of = &mut report;
            let options = (settings.options, naming);
            let digest = self.apply_batch(
                writer,
                &mut passes,
                request,
                options,
                (&mut inputs, threads),
                report_of,
            )?;
            report.seconds = begun.elapsed().as_secs_f64();
            let Some(digest) = digest.filter(|_| !request.dry_run) else {
                return Ok((report, None));
            };
            let names = std::mem::take(&mut inputs.names);
            let changes = finish_batch(passes, &report, *digest.as_bytes(), names)?;
            Ok((report, Some(changes)))
        };
        let local = self.local_process();
        let ((mut report, changes), others) =
            run_in_all(local, writer, (settings, threads), watch, apply)?;
        let Some((mut changes, counters)) = changes else {
            return Ok(report);
        };
        for of_thread in others {
            changes.append(of_thread)?;
        }
        watch.stage("commit", None);
        watch.proceed()?;
        let batch = counters.batch;
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

    /// Runs the passes of a batch in this process, which is process 0. Returns the digest of the batch; `None` if it
    /// changes nothing.
    fn apply_batch(
        &self,
        writer: &Writer,
        passes: &mut Passes<'_>,
        request: &IngestRequest,
        (options, naming): (BatchOptions, Naming),
        (inputs, threads): (&mut Inputs<'_, '_>, Vec<SyncSender<InputPiece>>),
        report: &mut IngestReport,
    ) -> Result<Option<blake3::Hash>> {
        let rejects = RejectList::new(request.rejects.as_deref(), self.path(), passes.batch)?;
        let reading = options.reading(naming);
        let collector = passes.collector(Blocklist::load(writer)?, request.snapshot);
        for source in &mut *inputs.sources {
            source.limit_memory(request.memory);
            source.name_columns(&request.columns);
        }
        if inputs.of_pages == 1 && collector.may_number_nodes() {
            inputs.sources[0].number_nodes(reading.naming);
        }
        let reading = Reading {
            request,
            inputs,
            options: reading,
            rejects,
        };
        let (found, collected, rejects) = reading.run(collector, passes, threads)?;
        let time = request.as_of.unwrap_or_else(now);
        let time = passes.exchange.decide(|| Ok(time))?;
        passes.times = passes.times_of(time, Some(rejects), naming.sites);
        report.blocked = found.blocked;
        report.read = found.read;
        let coordinator = Coordinator {
            writer,
            request,
            report: &mut *report,
        };
        let are_threads = passes.exchange.are_threads();
        let run = || {
            let coordinator = Some(coordinator);
            run_passes(passes, collected, options, found.any_seed, coordinator)
        };
        let digest = if are_threads {
            in_one_thread(run)?
        } else {
            run()
        };
        // A rejected batch has a list too.
        let listed = passes.times.take_list().map(RejectList::finish);
        let digest = digest?;
        if digest.is_some() && !request.dry_run {
            receive_changes(passes)?;
        }
        if let Some(time) = passes
            .times
            .batch()
            .filter(|_| digest.is_some() && request.as_of.is_none())
        {
            let after = passes.fetches.last_fetch(Some(time));
            report.clock = ClockDifference::new(time, writer.last_fetch()?, after);
        }
        if let Some(listed) = listed.transpose()? {
            report.rejects_file = listed.file;
            report.rejects_listed = listed.count;
        }
        Ok(digest)
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
    counters.batch = batch;
    Ok((changes, counters))
}

fn first_name(request: &IngestRequest) -> String {
    match request.inputs.first().or(request.sites.as_ref()) {
        Some(Input::File(path) | Input::Pipe(path, _)) => path.file_name().map_or_else(
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
