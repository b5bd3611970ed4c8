//! Forget: pages and sites that have to leave the bank, with every trace that could name them.
//!
//! It is a batch of its own. First it says of each page that it is gone, and of each page that linked
//! to one what it links to without it; so all that follows from links is worked out as by any batch.
//! Then the names go: of the page's record only the id is left, without a URL, so that evidence of
//! refreshes that saw it still means something. A page of the same URL that comes later is another one.
//!
//! | where a name was | what happens |
//! | --- | --- |
//! | `pages`, `page_ids`, `sites`, `site_ids` | the record is emptied, the way back deleted |
//! | an alias that led to a page | it is gone |
//! | lines of lists that plans name | left out; plans and refreshes name the new list |
//! | what refreshes kept of pins, as text | replaced |
//! | lists of bad records, in the bank's folder | their lines are left out |
//! | what takes the last batch back | deleted: nothing can be taken back |
//! | files of tables, MANIFEST, published states | stays until they are merged |

mod found;
mod traces;

use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::aliases::Aliases;
use super::barred::{Bars, Secret};
use super::passes::{Passes, SiteDelta};
use super::rejects::RejectList;
use super::{IngestReport, IngestRequest, Inputs, finished, read, work_in, writable_naming};
use crate::engine::{Bank, EngineError};
use found::{Found, Names};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{Format, Portions, Pushed};
use seedbank_store::records::{Barred, BatchId, BatchKind};
use seedbank_store::{StoreError, Writer, tables};
use traces::{Traces, are_in_rejects, of_lists, of_rejects};

/// What is to be forgotten, and how.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::{EngineError, ForgetRequest};
///
/// let request = ForgetRequest {
///     what: vec!["http://a.example/".to_owned()],
///     ..ForgetRequest::default()
/// };
/// assert_eq!(bank.forget(&request, &Unwatched)?.pages, 1);
/// // From now on nobody knows of it.
/// let again = bank.forget(&request, &Unwatched);
/// assert!(matches!(again, Err(EngineError::NotKnown { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForgetRequest {
    /// URLs of pages, and names of sites with all their pages.
    pub what: Vec<String>,
    /// Whether it is not to come back: later batches leave it out. Then it need not be known.
    pub bar: bool,
    /// Whether to wait while another process writes to the bank.
    pub wait: bool,
    /// How many bytes of memory sorting may take, besides the store's own.
    pub memory: usize,
}

impl Default for ForgetRequest {
    fn default() -> Self {
        Self {
            what: Vec::new(),
            bar: false,
            wait: false,
            memory: 512 << 20,
        }
    }
}

/// What was forgotten; no name is in it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ForgetReport {
    /// The number under which it stands in the history, as a batch.
    #[schemars(range(min = 1))]
    pub batch: BatchId,
    /// Pages that were forgotten, those of whole sites included.
    pub pages: u64,
    /// Sites that were forgotten.
    pub sites: u64,
    /// Links that were removed.
    pub links: u64,
    /// Aliases that led to a forgotten page, and are gone.
    pub aliases: u64,
    /// Lines of lists that plans name, and were left out.
    pub list_lines: u64,
    /// Lines of lists of bad records that were left out.
    pub reject_lines: u64,
    /// Pages and sites that are not to come back, from now on.
    pub blocked: u64,
    /// Whether folders of what a repair replaced are in the bank's folder, which are not looked into.
    pub has_damaged: bool,
    /// How long it took, in seconds.
    #[schemars(range(min = 0))]
    pub seconds: f64,
}

impl Bank {
    /// Forgets pages and sites: their records, links to and from them, attributes, names in evidence,
    /// lists and lists of bad records. All of it, or nothing if an error comes back.
    ///
    /// What was overwritten stays in the bank's files until they are merged
    /// ([`compact`](Self::compact)); copies of the bank are out of reach. It cannot be undone, nor can
    /// the batch before it any more. Refreshes stay; lists of seeds that they kept leave the pages out.
    ///
    /// # Errors
    ///
    /// [`EngineError::NotKnown`], [`EngineError::NoSite`] where something is not known, unless it is to
    /// be barred.
    ///
    /// Cost: that of a batch with a record for each page and each page that links to one, and a look
    /// at each line of bad records and of lists.
    pub fn forget(
        &self,
        request: &ForgetRequest,
        watch: &dyn Watch,
    ) -> Result<ForgetReport, EngineError> {
        let writer = Writer::open(self.path(), request.wait, watch)?;
        let naming = writable_naming(&writer)?;
        let names = Names::parse(&request.what, naming)?;
        self.forget_names(&writer, &names, request, watch)
    }

    /// Forgets here what another bank bars, and bars it here too; `None` where it bars nothing.
    ///
    /// Cost: a look at the URL of each page.
    pub fn forget_as(
        &self,
        other: &Self,
        request: &ForgetRequest,
        watch: &dyn Watch,
    ) -> Result<Option<ForgetReport>, EngineError> {
        let theirs = seedbank_store::Reader::open(other.path())?;
        let (Some(secret), Some(bars)) = (Secret::of(&theirs)?, Bars::of(&theirs)?) else {
            return Ok(None);
        };
        let writer = Writer::open(self.path(), request.wait, watch)?;
        writable_naming(&writer)?;
        let names = Names::barred(&writer, (&theirs, secret, &bars), watch)?;
        let request = ForgetRequest {
            bar: true,
            ..request.clone()
        };
        self.forget_names(&writer, &names, &request, watch)
            .map(Some)
    }

    fn forget_names(
        &self,
        writer: &Writer,
        names: &Names,
        request: &ForgetRequest,
        watch: &dyn Watch,
    ) -> Result<ForgetReport, EngineError> {
        let begun = Instant::now();
        let naming = writable_naming(writer)?;
        let traces = Traces::new(names, naming);
        let found = match Found::find(writer, names, naming.sites, request.bar) {
            // What is in a list of bad records is known there.
            Err(EngineError::NotKnown { .. } | EngineError::NoSite { .. })
                if are_in_rejects(self.path(), &traces, watch)? =>
            {
                Found::find(writer, names, naming.sites, true)?
            }
            found => found?,
        };
        watch.stage("forget", None);
        let without = found.records(writer, naming.sites, watch)?;
        let counters = writer.counters()?;
        let batch = counters.batch.checked_add(1);
        let batch = batch.ok_or(StoreError::Full("batch"))?;
        let spill = writer.spill_folder();
        let of_aliases = Aliases::of(writer)?;
        let mut passes = Passes::new(&spill, request.memory, counters, batch, of_aliases);
        passes.forgotten.pages.clone_from(&found.pages);
        passes.forgotten.sites = found.sites.keys().copied().collect();
        let ours = IngestRequest {
            format: Format::JsonLines,
            max_loss: 100.0,
            max_rejects: 0.0,
            again: true,
            memory: request.memory,
            ..IngestRequest::default()
        };
        let source = Pushed::of_bank("records".to_owned(), Portions(without.records.into_iter()));
        let mut inputs = Inputs {
            sources: &mut [Box::new(source)],
            of_links: 1,
            of_pages: 1,
            names: Vec::new(),
            name: "forgotten".to_owned(),
        };
        let rejects = RejectList::new(None, self.path(), batch)?;
        let gather = passes.gather(None);
        let (gather, read, _) = read(&ours, &mut inputs, naming, gather, rejects, watch)?;
        let mut report = IngestReport::begun(inputs.name, BatchKind::Forget, read);
        for site in found.sites.keys() {
            let touched = SiteDelta {
                changed: true,
                ..SiteDelta::default()
            };
            passes.site(*site, &touched)?;
        }
        work_in(writer, gather, &ours, &mut passes, &mut report, watch)?;
        found.delete_names(&mut passes.changes)?;
        let list_lines = of_lists(writer, &mut passes.changes, &traces, watch)?;
        let barred = if request.bar {
            names.bar(writer, &mut passes.changes)?
        } else {
            Vec::new()
        };
        for (hash, site) in &barred {
            let site = *site;
            let record = Barred { site, batch };
            passes.changes.put(&tables::BARRED, hash, &record)?;
        }
        // Before the names go: if this ends here, the same command finds them again.
        let reject_lines = of_rejects(self.path(), &traces, watch)?;
        report.counts.records = 0;
        report.seconds = begun.elapsed().as_secs_f64();
        let links = report.counts.links_removed;
        let (changes, counters) = finished(passes, &report, ([0; 32], Vec::new()))?;
        watch.stage("commit", None);
        watch.proceed()?;
        writer.commit_for_good(changes, counters)?;
        Ok(ForgetReport {
            batch,
            pages: found.pages.len(),
            sites: found.sites.len() as u64,
            links,
            aliases: without.aliases,
            list_lines,
            reject_lines,
            blocked: barred.len() as u64,
            has_damaged: self.path().join("damaged").is_dir(),
            seconds: begun.elapsed().as_secs_f64(),
        })
    }
}
