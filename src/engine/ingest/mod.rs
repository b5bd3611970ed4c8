//! Ingest: a batch of records is worked into the bank, all of it or nothing.
//!
//! The passes, and what goes between them, are drawn in `passes`.

mod aliases;
mod barred;
mod canonical;
mod claim;
mod fields;
mod forget;
mod intra;
mod links;
mod loss;
mod overruled;
mod pages;
mod passes;
mod portions;
mod push;
mod refused;
mod rejects;
mod replaced;
mod report;
mod resolve;
mod row_blocks;
mod rows;
mod sites;
mod targets;
pub(in crate::engine) mod undo;
mod urls;
mod weight;

use std::path::PathBuf;
use std::time::Instant;

use crate::engine::clock::now;
use crate::engine::{Bank, EngineError};
pub use aliases::AliasCounts;
use aliases::Aliases;
pub use barred::BarredCounts;
use barred::Bars;
use canonical::Winners;
pub use forget::{ForgetReport, ForgetRequest};
use passes::Passes;
use portions::Gather;
pub use push::PushedBatch;
use refused::bad_records;
pub(in crate::engine) use rejects::list_of;
use rejects::{Listed, RejectList};
pub use report::IngestReport;
pub(in crate::engine) use report::readable;
use seedbank_algorithms::watch::Watch;
pub use seedbank_formats::ingest::Format;
use seedbank_formats::ingest::{
    Event, Input, Naming, ReadError, ReadSummary, SUFFIX_LIST, SiteMode, Source, read_pieces,
    sites_source, within_limit,
};
use seedbank_store::records::{BatchId, BatchKind, BatchRecord, Counters};
use seedbank_store::tables::{self, BitmapKey};
use seedbank_store::{Changes, StoreError, Writer};
pub use sites::SitesCounts;
pub use undo::UndoReport;

/// What to ingest, and how.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::IngestRequest;
/// use seedbank::ingest::Input;
///
/// let delta = folder.path().join("day-1.jsonl");
/// std::fs::write(&delta, r#"{"url": "http://a.example/", "gone": true}"#)?;
/// let request = IngestRequest {
///     inputs: vec![Input::named(delta)],
///     name: Some("day 1".to_owned()),
///     ..IngestRequest::default()
/// };
/// let report = bank.ingest(&request, &Unwatched)?;
/// assert_eq!(report.batch, Some(2));
/// // The same batch a second time changes nothing.
/// assert_eq!(bank.ingest(&request, &Unwatched)?.same_as, Some(2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent switches of one command"
)]
pub struct IngestRequest {
    /// The inputs, which together are one batch.
    pub inputs: Vec<Input>,
    /// Their format.
    pub format: Format,
    /// A list of sites with their attributes, which belongs to the batch; it may be all of it.
    pub sites: Option<Input>,
    /// Whether crawled pages without a record become gone.
    pub snapshot: bool,
    /// The batch's name; the first input's where `None`.
    pub name: Option<String>,
    /// The highest share of bad records, in per cent of all records.
    pub max_rejects: f64,
    /// The highest net loss, in per cent, of all crawled pages, and of the links of pages that have
    /// a record and stay crawled. Fewer than 100 pages or 1,000 links are never too much; 100
    /// accepts every batch.
    pub max_loss: f64,
    /// Where bad records are listed; `None` for a file in the bank's own folder.
    pub rejects: Option<PathBuf>,
    /// Whether to do everything except change the bank.
    pub dry_run: bool,
    /// Whether to wait while another process writes to the bank.
    pub wait: bool,
    /// Whether to apply the batch even if an earlier batch had the same records.
    pub again: bool,
    /// How many bytes of memory sorting may take, besides the store's own.
    pub memory: usize,
}

impl Default for IngestRequest {
    fn default() -> Self {
        Self {
            inputs: Vec::new(),
            format: Format::default(),
            sites: None,
            snapshot: false,
            name: None,
            max_rejects: 1.0,
            max_loss: 20.0,
            rejects: None,
            dry_run: false,
            wait: false,
            again: false,
            memory: 512 << 20,
        }
    }
}

impl Bank {
    /// Ingests a batch: all of it, or nothing if an error comes back.
    ///
    /// A batch with the same records as an earlier one changes nothing, unless asked for with
    /// [`again`]. If not all records say when they were fetched, they count as the same only right
    /// after that batch: a page may change and change back.
    ///
    /// Cost: sorts of the batch's records and links, in `memory` bytes or outside memory; one
    /// lookup for every distinct URL and every changed page, row and target; for a snapshot also
    /// a scan of all pages.
    ///
    /// [`again`]: IngestRequest::again
    pub fn ingest(
        &self,
        request: &IngestRequest,
        watch: &dyn Watch,
    ) -> Result<IngestReport, EngineError> {
        let mut sources = request.format.sources(&request.inputs);
        let of_pages = sources.len();
        sources.extend(request.sites.iter().map(sites_source));
        let of_batch = request.inputs.iter().chain(&request.sites);
        let inputs = Inputs {
            sources: &mut sources,
            of_links: request.inputs.len(),
            of_pages,
            names: of_batch.map(ToString::to_string).collect(),
            name: first_name(request),
        };
        self.ingest_from(request, inputs, watch)
    }

    /// Ingests a batch from sources of a caller's own, as [`ingest`](Self::ingest) does from
    /// files. The request's inputs, format and sites are not looked at; a list of sites is a source of
    /// its own ([`Lines`](seedbank_formats::ingest::Lines) of a [`SiteList`](seedbank_formats::ingest::SiteList)). The batch
    /// has the first source's
    /// name unless the request names it.
    pub fn ingest_sources(
        &self,
        request: &IngestRequest,
        sources: &mut [Box<dyn Source + '_>],
        watch: &dyn Watch,
    ) -> Result<IngestReport, EngineError> {
        let names: Vec<String> = sources.iter().map(|source| source.name()).collect();
        let inputs = Inputs {
            of_links: sources.len(),
            of_pages: sources.len(),
            sources,
            name: names.first().cloned().unwrap_or_default(),
            names,
        };
        self.ingest_from(request, inputs, watch)
    }

    fn ingest_from(
        &self,
        request: &IngestRequest,
        mut inputs: Inputs<'_, '_>,
        watch: &dyn Watch,
    ) -> Result<IngestReport, EngineError> {
        let begun = Instant::now();
        let writer = Writer::open(self.path(), request.wait, watch)?;
        writer.limit_memory(request.memory);
        let naming = writable_naming(&writer)?;
        let last = writer.counters()?.batch;
        let batch = last.checked_add(1).ok_or(StoreError::Full("batch"))?;
        let spill = writer.spill_folder();
        let aliases = Aliases::of(&writer)?;
        let mut passes = Passes::new(&spill, request.memory, writer.counters()?, batch, aliases);
        let rejects = RejectList::new(request.rejects.as_deref(), self.path(), batch)?;
        let gather = passes.gather(Bars::of(&writer)?);
        for source in &mut *inputs.sources {
            source.limit_memory(request.memory);
        }
        let (gather, read, listed) = read(request, &mut inputs, naming, gather, rejects, watch)?;
        let kind = if request.snapshot {
            BatchKind::Snapshot
        } else {
            BatchKind::Delta
        };
        let name = request.name.clone().unwrap_or(inputs.name);
        let mut report = IngestReport {
            dry_run: request.dry_run,
            blocked: gather.barred(),
            rejects_file: listed.file,
            rejects_listed: listed.count,
            ..IngestReport::begun(name, kind, read)
        };
        let digest = work_in(&writer, gather, request, &mut passes, &mut report, watch)?;
        report.seconds = begun.elapsed().as_secs_f64();
        if report.same_as.is_some() || request.dry_run {
            return Ok(report);
        }
        let of_batch = (*digest.as_bytes(), inputs.names);
        let (changes, counters) = finished(passes, &report, of_batch)?;
        watch.stage("commit", None);
        watch.proceed()?;
        let committed = writer.commit_batch(changes, counters);
        let is_in = matches!(&committed, Ok(()) | Err(StoreError::Unpublished(_)));
        if is_in && request.rejects.is_none() {
            let attempt = report.rejects_file.take();
            report.rejects_file = attempt.map(|path| rejects::name_after(batch, path));
        }
        committed?;
        report.batch = Some(batch);
        report.seconds = begun.elapsed().as_secs_f64();
        Ok(report)
    }
}

/// The changes and counters of a batch that all passes have worked in, with its record. `of_batch` are
/// the digest of its records and the names of its inputs.
fn finished(
    passes: Passes<'_>,
    report: &IngestReport,
    (digest, inputs): ([u8; 32], Vec<String>),
) -> Result<(Changes, Counters), EngineError> {
    let Passes {
        mut changes,
        mut counters,
        changed,
        former,
        batch,
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
    };
    changes.put(&tables::BATCHES, &batch, &record)?;
    let changed = changed.finish()?;
    changes.put_encoded(&tables::BITMAPS, &BitmapKey::Changed(batch), &changed)?;
    if !former.is_empty() {
        let former = former.finish()?;
        changes.put_encoded(&tables::BITMAPS, &BitmapKey::Former(batch), &former)?;
    }
    counters.batch = batch;
    Ok((changes, counters))
}

/// What a batch is read from.
struct Inputs<'a, 's> {
    sources: &'a mut [Box<dyn Source + 's>],
    /// How many of them are inputs; those after them list pages and sites.
    of_links: usize,
    /// How many have records of pages; after them comes the list of sites.
    of_pages: usize,
    /// The names of the inputs, and of the list of sites.
    names: Vec<String>,
    /// What the batch is called unless the request names it.
    name: String,
}

/// Reads the inputs and checks that not too many records are bad.
fn read(
    request: &IngestRequest,
    inputs: &mut Inputs<'_, '_>,
    naming: Naming,
    mut gather: Gather,
    mut rejects: RejectList,
    watch: &dyn Watch,
) -> Result<(Gather, ReadSummary, Listed), EngineError> {
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
        gather.add(piece, of_links)
    });
    let read = match read {
        Err(ReadError::MostAreBad(read)) => {
            let bad = bad_records(
                &read,
                rejects.finish()?,
                &sources[..*of_pages],
                &request.format,
            );
            return Err(EngineError::MostAreBad { bad });
        }
        read => read.map_err(refused::unread)?,
    };
    let listed = rejects.finish()?;
    if !within_limit(read.rejected(), read.records, request.max_rejects) {
        return Err(EngineError::TooManyRejects {
            limit: request.max_rejects,
            bad: bad_records(&read, listed, &sources[..*of_pages], &request.format),
        });
    }
    Ok((gather, read, listed))
}

fn first_name(request: &IngestRequest) -> String {
    match request.inputs.first().or(request.sites.as_ref()) {
        Some(Input::File(path)) => path.file_name().map_or_else(
            || path.display().to_string(),
            |name| name.to_string_lossy().into_owned(),
        ),
        _ => "stdin".to_owned(),
    }
}

/// How the bank tells pages and sites apart; an error if this build does so differently.
///
/// Another suffix list moves registrable domains by the thousand. Of bare hosts it moves those few
/// that are `www.` and a public suffix in one list only, for which no bank is refused.
fn writable_naming(writer: &Writer) -> Result<Naming, EngineError> {
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

/// The last batch with this digest, and whether it made the present state. A batch that was taken
/// back is as if it had never been.
fn earlier(writer: &Writer, digest: &blake3::Hash) -> Result<Option<(BatchId, bool)>, StoreError> {
    let mut standing: Vec<(BatchId, bool)> = Vec::new();
    for entry in writer.scan(&tables::BATCHES)? {
        let (number, record) = entry?;
        if record.kind == BatchKind::Undo {
            standing.pop();
        } else {
            standing.push((number, record.digest == *digest.as_bytes()));
        }
    }
    let last = standing.last().map(|(number, _)| *number);
    let same = standing.iter().rev().find(|(_, is_same)| *is_same);
    Ok(same.map(|(number, _)| (*number, Some(*number) == last)))
}

/// Runs all passes; their results are in `passes` and `report`. Returns the batch's digest.
fn work_in(
    writer: &Writer,
    gather: Gather,
    request: &IngestRequest,
    passes: &mut Passes<'_>,
    report: &mut IngestReport,
    watch: &dyn Watch,
) -> Result<blake3::Hash, EngineError> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&[u8::from(request.snapshot)]);
    watch.stage("sort", None);
    let settled = overruled::settle(gather.finish()?, passes, watch)?;
    watch.stage("find", None);
    let (urls, mut said) = (settled.urls, settled.sites);
    let resolved = resolve::resolve(writer, urls, &settled.unnamed, &mut said, passes, watch)?;
    let records = resolved.records;
    if request.snapshot && records == 0 {
        return Err(EngineError::EmptySnapshot);
    }
    resolve::place(settled.pieces, resolved, passes, watch)?;
    passes.aliases.settle(writer, request.snapshot, watch)?;
    watch.stage("links", Some(records));
    let parts = passes.take(|passes| &mut passes.records)?;
    let mut records = Winners::new(parts, request.snapshot);
    links::links_pass(writer, &mut records, passes, &mut hasher, watch)?;
    let of_sites = said.digest();
    if let Some(digest) = &of_sites {
        hasher.update(digest.as_bytes());
    }
    let digest = hasher.finalize();
    if !request.again
        && let Some((number, is_present)) = earlier(writer, &digest)?
    {
        // Records that give their time are the same only if the times are too. Without it a page
        // may have changed and changed back: only right after itself is a batch certain to bring
        // nothing new. Records of sites never give a time.
        let dated = records.dated && of_sites.is_none();
        if dated || is_present {
            report.same_as = Some(number);
            return Ok(digest);
        }
        report.repeats = Some(number);
    }
    let crawled = passes.counters.crawled;
    let limit = (request.max_loss, request.snapshot);
    passes.loss.weigh(writer, crawled, limit, watch)?;
    watch.stage("rows", None);
    let rows = passes.take(|passes| &mut passes.new_rows)?;
    rows::rows_pass(writer, rows, passes, watch)?;
    let members = passes.take(|passes| &mut passes.members)?;
    rows::members_pass(writer, members, passes, watch)?;
    let of_blocks = passes.take(|passes| &mut passes.rows)?;
    row_blocks::row_blocks_pass(writer, of_blocks, passes, watch)?;
    watch.stage("targets", None);
    let targets = passes.take(|passes| &mut passes.targets)?;
    targets::targets_pass(writer, targets, passes, watch)?;
    let counts = passes.take(|passes| &mut passes.row_counts)?;
    rows::row_counts_pass(writer, counts, passes, watch)?;
    let of_hashes = passes.take(|passes| &mut passes.row_hashes)?;
    rows::row_hashes_pass(writer, of_hashes, passes, watch)?;
    watch.stage("pages", None);
    let pages = passes.take(|passes| &mut passes.pages)?;
    pages::pages_pass(writer, pages, passes, watch)?;
    let digests = passes.take(|passes| &mut passes.digests)?;
    pages::digests_pass(writer, digests, passes, watch)?;
    let sites = passes.take(|passes| &mut passes.sites)?;
    pages::sites_pass(writer, sites, passes, watch)?;
    passes.counts.records = report.read.records;
    passes.counts.rejected = report.read.rejected();
    passes.counts.superseded = settled.overruled + said.overruled;
    passes.counts.dropped_outlinks = report.read.dropped_outlinks.values().sum();
    report.counts = passes.counts.clone();
    report.aliases = passes.aliases.counts;
    report.sites = passes.of_sites;
    Ok(digest)
}
