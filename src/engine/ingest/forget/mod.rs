//! Forget: removes pages and sites from the bank, with every trace that could name them.
//!
//! This is a batch of its own. First it marks each page as gone and removes links to it from other
//! pages, so that everything derived from links is updated as in any batch. Then the names are
//! removed: a page's record keeps only its id, without a URL, so that evidence of older refreshes
//! stays valid. A page of the same URL that is ingested later is a new page.
//!
//! | location of a name | effect |
//! | --- | --- |
//! | `pages`, `page_ids`, `sites`, `site_ids` | the record is emptied, the entry from name to id deleted |
//! | an alias that led to a page | it becomes gone |
//! | lines of lists that plans reference | removed; plans and refreshes reference the new list |
//! | stored results of pins, as text | replaced |
//! | lists of bad records, in the bank's folder | the lines are removed |
//! | undo data of the last batch | deleted: nothing can be undone |
//! | the graph image, with names of hosts | removed |
//! | files of tables, MANIFEST, published states | remain until they are merged |

mod matches;
mod redact;

use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::blocklist::{Blocklist, Secret};
use super::naming::writable_naming;
use super::passes::{Passes, SiteDelta};
use super::reading::{Inputs, Reading};
use super::reject_list::RejectList;
use super::run::{BatchInput, run_passes};
use super::team::Team;
use super::worker::{BatchOptions, Worker};
use super::{IngestReport, IngestRequest, finish_batch};
use crate::engine::{Bank, EngineError, Result};
use matches::{Matches, NameSet};
use redact::{Redactor, is_in_reject_lists, redact_lists, redact_reject_lists};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{Format, Record, RecordChunks, RecordSource};
use seedbank_store::records::{BatchId, BatchKind, BlocklistEntry};
use seedbank_store::{Writer, tables};

/// What to forget, and how.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::EngineError;
/// use seedbank::engine::ingest::ForgetRequest;
///
/// let request = ForgetRequest {
///     what: vec!["http://a.example/".to_owned()],
///     ..ForgetRequest::default()
/// };
/// assert_eq!(bank.forget(&request)?.pages, 1);
/// // From now on the page is unknown.
/// let again = bank.forget(&request);
/// assert!(matches!(again, Err(EngineError::UnknownPage { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForgetRequest {
    /// URLs of pages, and names of sites with all their pages.
    pub what: Vec<String>,
    /// Whether later batches skip it. Then it need not be known.
    pub block: bool,
    /// Maximum number of pages; `None` for no limit. If there are more, nothing changes, and the
    /// error says what would be forgotten.
    pub max_pages: Option<u64>,
    /// Whether to wait while another process writes to the bank.
    pub wait: bool,
    /// Memory for sorting, in bytes, besides the store's own.
    pub memory: usize,
}

impl Default for ForgetRequest {
    fn default() -> Self {
        Self {
            what: Vec::new(),
            block: false,
            max_pages: None,
            wait: false,
            memory: 512 << 20,
        }
    }
}

/// Report of a forget. Contains no names.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ForgetReport {
    /// Its number in the history, as a batch.
    #[schemars(range(min = 1))]
    pub batch: BatchId,
    /// Number of forgotten pages, including those of whole sites.
    pub pages: u64,
    /// Number of forgotten sites.
    pub sites: u64,
    /// Number of removed links.
    pub links: u64,
    /// Number of aliases that led to a forgotten page and are gone.
    pub aliases: u64,
    /// Number of lines removed from lists that plans reference.
    pub list_lines: u64,
    /// Number of lines removed from lists of bad records.
    pub reject_lines: u64,
    /// Number of pages and sites added to the blocklist.
    pub blocked: u64,
    /// Whether the bank's folder contains files that a repair replaced, which are not searched.
    pub has_damaged: bool,
    /// Elapsed time, in seconds.
    #[schemars(range(min = 0))]
    pub seconds: f64,
}

impl Bank {
    /// Forgets pages and sites: their records, links to and from them, attributes, and their names
    /// in evidence, lists and lists of bad records. If it fails, nothing has changed.
    ///
    /// Overwritten data stays in the bank's files until they are merged
    /// ([`compact`](Self::compact)). Copies of the bank are not affected. Neither this nor the
    /// batch before it can be undone. Refreshes stay, and their stored lists of seeds omit the
    /// pages.
    ///
    /// # Errors
    ///
    /// [`EngineError::UnknownPage`] and [`EngineError::UnknownSite`] if a name is not known, unless
    /// it is to be blocked. [`EngineError::ForgetsMore`] if there are more pages than the request
    /// allows.
    ///
    /// Cost: that of a batch with a record for each page and each page that links to one, and
    /// reading each line of bad records and of lists.
    pub fn forget(&self, request: &ForgetRequest) -> Result<ForgetReport> {
        let watch = self.watch();
        let writer = self.open_writer(request.wait, watch)?;
        let naming = writable_naming(&writer)?;
        let names = NameSet::parse(&request.what, naming)?;
        self.forget_names(&writer, &names, request, watch)
    }

    /// Forgets what another bank blocks, and blocks it here too. Returns `None` if that bank blocks
    /// nothing.
    ///
    /// Cost: hashing the URL of each page.
    pub fn forget_blocked(
        &self,
        other: &Self,
        request: &ForgetRequest,
    ) -> Result<Option<ForgetReport>> {
        let watch = self.watch();
        let other_bank = seedbank_store::Reader::open(other.path())?;
        let (Some(secret), Some(blocklist)) =
            (Secret::load(&other_bank)?, Blocklist::load(&other_bank)?)
        else {
            return Ok(None);
        };
        let writer = self.open_writer(request.wait, watch)?;
        writable_naming(&writer)?;
        let names = NameSet::blocked_by(&writer, &other_bank, secret, &blocklist, watch)?;
        let request = ForgetRequest {
            block: true,
            ..request.clone()
        };
        self.forget_names(&writer, &names, &request, watch)
            .map(Some)
    }

    fn forget_names(
        &self,
        writer: &Writer,
        names: &NameSet,
        request: &ForgetRequest,
        watch: &dyn Watch,
    ) -> Result<ForgetReport> {
        let begun = Instant::now();
        let naming = writable_naming(writer)?;
        let redactor = Redactor::new(names, naming);
        let found = match Matches::find(writer, names, naming.sites, request.block) {
            // A name can also be known only from a list of bad records.
            Err(EngineError::UnknownPage { .. } | EngineError::UnknownSite { .. })
                if is_in_reject_lists(self.path(), &redactor, watch)? =>
            {
                Matches::find(writer, names, naming.sites, true)?
            }
            found => found?,
        };
        watch.stage("forget", None);
        let removal = found.records(writer, naming.sites, watch)?;
        let folder = writer.spill_folder();
        let mut passes = Passes::new(writer, folder, request.memory, watch, None)?;
        let batch = passes.batch;
        passes.forgotten.pages.clone_from(&found.pages);
        passes.forgotten.sites = found.sites.keys().copied().collect();
        let mut report =
            self.apply_removal(writer, &found, removal.records, request.memory, &mut passes)?;
        if let Some(limit) = request.max_pages.filter(|limit| found.pages.len() > *limit) {
            let extent = found.extent(limit, report.counts.links_removed);
            return Err(EngineError::ForgetsMore(Box::new(extent)));
        }
        found.delete_names(&mut passes.changes)?;
        let list_lines = redact_lists(writer, &mut passes.changes, &redactor, watch)?;
        let blocked = if request.block {
            names.block(writer, &mut passes.changes)?
        } else {
            Vec::new()
        };
        for (hash, site) in &blocked {
            let site = *site;
            let record = BlocklistEntry { site, batch };
            passes.changes.put(&tables::BLOCKLIST, hash, &record)?;
        }
        // Before the names are deleted: if this fails, the same command can be repeated.
        let reject_lines = redact_reject_lists(self.path(), &redactor, watch)?;
        report.counts.records = 0;
        report.seconds = begun.elapsed().as_secs_f64();
        let links = report.counts.links_removed;
        let (changes, counters) = finish_batch(passes, &report, [0; 32], Vec::new())?;
        // Its hosts may be those of forgotten pages. The next command writes another one.
        writer.remove_image()?;
        watch.stage("commit", None);
        watch.proceed()?;
        writer.commit_irreversible(changes, counters)?;
        // A command that began before the commit may have written it again.
        writer.remove_image()?;
        Ok(ForgetReport {
            batch,
            pages: found.pages.len(),
            sites: found.sites.len() as u64,
            links,
            aliases: removal.aliases,
            list_lines,
            reject_lines,
            blocked: blocked.len() as u64,
            has_damaged: self.path().join("damaged").is_dir(),
            seconds: begun.elapsed().as_secs_f64(),
        })
    }

    /// Runs the passes with the records that remove what was found.
    fn apply_removal(
        &self,
        writer: &Writer,
        found: &Matches,
        records: Vec<Record>,
        memory: usize,
        passes: &mut Passes<'_>,
    ) -> Result<IngestReport> {
        let naming = writable_naming(writer)?;
        // The removal must be applied whatever it loses.
        let batch_request = IngestRequest {
            format: Format::JsonLines,
            max_loss: 100.0,
            max_rejects: 0.0,
            again: true,
            memory,
            ..IngestRequest::default()
        };
        let source =
            RecordSource::from_bank("records".to_owned(), RecordChunks(records.into_iter()));
        let mut inputs = Inputs {
            sources: &mut [Box::new(source)],
            are_of_request: false,
            of_links: 1,
            of_pages: 1,
            names: Vec::new(),
            name: "forgotten".to_owned(),
        };
        let rejects = RejectList::new(None, self.path(), passes.batch)?;
        let collector = passes.collector(None);
        let options = BatchOptions {
            snapshot: false,
            as_of: None,
        };
        // Process 0 alone finds what to forget, and removes it.
        let team = Team::default();
        let mut worker = Worker::new(passes, options);
        let reading = Reading {
            request: &batch_request,
            inputs: &mut inputs,
            naming,
            rejects,
        };
        let (input, _) = reading.run(collector, &mut worker, &team)?;
        let mut report = IngestReport::begun(inputs.name, BatchKind::Forget, input.read);
        // Sites without pages have to be rewritten too, without their names.
        for site in found.sites.keys() {
            let touched = SiteDelta {
                changed: true,
                ..SiteDelta::default()
            };
            worker.passes.site(*site, &touched)?;
        }
        let batch_input = BatchInput {
            time: 0,
            any_seed: input.any_seed,
        };
        let (worker, report_of) = (&mut worker, &mut report);
        run_passes(
            writer,
            batch_input,
            &batch_request,
            worker,
            &team,
            report_of,
        )?;
        Ok(report)
    }
}
