//! Export: the whole state of a bank as records from which another bank can be made.
//!
//! The output depends only on the state, not on the history of the bank: pages are sorted by site name and
//! URL, links by URL, and there are no ids or batch numbers. Every page has at most one record of its last fetch:
//!
//! | page | record |
//! | --- | --- |
//! | crawled | its outlinks as its records gave them, and its attributes |
//! | an alias | `redirect`, and its attributes |
//! | a resource | `kind`, and its attributes |
//! | known from a record of its own | its attributes |
//! | known only as the target of links or aliases | none: the link recreates it |
//! | gone | `gone` |
//!
//! Effective links result from the given links and the targets of aliases ([`seedbank_store::aliases`]).
//! Each of these records has the time of the last fetch of its page that did not fail, and the failed ones
//! after it. Fields with another time are left to a record of that time, which follows; so does a record with `gone` of
//! the last time that the page was gone.
//!
//! The given links are written, so that a later change of an alias has the same effect in the new bank.
//! Attributes that pages inherit are written only for their site.

//!
//! In a cluster bank, each process makes the text of its own sites, in the order of their names, and process 0 merges
//! them. Each requests the URLs of pages that it does not have from the process that has them.
//!
//! | module | contents |
//! | --- | --- |
//! | `chunk` | the records of some pages; URLs of pages of other processes |
//! | `merge` | the text of the sites of a process; the text of several processes in the order of sites |
//! | `piece` | text as processes send it, and its counts |
//! | `processes` | an export in several processes: process 0, and the others |

pub(super) mod chunk;
mod merge;
mod piece;
pub(super) mod processes;

use std::io::{self, Write};

use super::error::ExportPart;
use super::{Bank, EngineError};
use chunk::{Exporter, Limits, Sites};
use merge::{SiteTexts, Source, write_merged};
pub use piece::ExportReport;
use piece::{Counts, Piece, malformed};
use processes::SharedExport;
use seedbank_algorithms::watch::Watch;

/// Limits of a chunk. Chunks with twice the links or four times the pages in total are processed in
/// parallel.
const DEFAULT_LIMITS: Limits = Limits {
    pages: 4096,
    links: 1 << 20,
    bytes: 4 << 20,
};

impl Bank {
    /// Writes the published state as records (JSON Lines). [`ingest`](Self::ingest) of them as one snapshot
    /// makes a bank of the same [`Naming`](seedbank_formats::ingest::Naming) with the same pages, links,
    /// attributes and counts. The attributes of sites go to `sites`, as the list of sites of that batch. A
    /// cold refresh selects the same seeds in both banks.
    ///
    /// The same state gives the same bytes, whatever the history of the bank. Not exported are batches with
    /// their names and times, history, plans, refreshes, digests other than as stored hashes, and the digests and times
    /// of pages that are known again after being gone ([`ExportReport::dropped_attributes`]).
    ///
    /// Everything is read from one published state, while others may write. After an error, part of the
    /// output may have been written.
    ///
    /// Cost: a scan of the sites and their pages in URL order; per page its record and links; per chunk of
    /// some thousand pages each row and each distinct target once. Memory: the text of some thousand pages,
    /// or of one million links, a few times over.
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// let mut records = Vec::new();
    /// let exported = bank.export(&mut records, None)?;
    /// assert_eq!((exported.records, exported.crawled, exported.links), (2, 2, 4));
    ///
    /// let file = folder.path().join("export.jsonl");
    /// std::fs::write(&file, &records)?;
    /// let new = Bank::create(&folder.path().join("new"), exported.naming())?;
    /// let request = IngestRequest {
    ///     inputs: vec![Input::named(file)],
    ///     snapshot: true,
    ///     ..IngestRequest::default()
    /// };
    /// new.ingest(&request)?;
    /// let mut again = Vec::new();
    /// new.export(&mut again, None)?;
    /// assert_eq!(records, again);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn export(
        &self,
        records: &mut dyn Write,
        sites: Option<&mut dyn Write>,
    ) -> Result<ExportReport, EngineError> {
        export(self, records, sites, DEFAULT_LIMITS, self.watch())
    }
}

fn export(
    bank: &Bank,
    records: &mut dyn Write,
    mut sites: Option<&mut dyn Write>,
    limits: Limits,
    watch: &dyn Watch,
) -> Result<ExportReport, EngineError> {
    let reader = bank.reader()?;
    let settings = reader.settings()?;
    let naming = super::naming(&settings)?;
    let totals = reader.counters()?;
    let pages = totals.known + totals.crawled + totals.gone;
    watch.stage("export", Some(pages));
    let mut counts = Counts::default();
    let mut write = |piece: &Piece| {
        if let (Some(sites), Some(line)) = (&mut sites, &piece.line) {
            sites.write_all(line).map_err(failed(ExportPart::Sites))?;
        }
        let written = records.write_all(&piece.records);
        written.map_err(failed(ExportPart::Records))?;
        counts.add(piece.counts);
        watch.advance(piece.counts.pages());
        Ok(())
    };
    let local = bank.local_process().filter(|of| of.are_connected());
    if let Some(processes) = local {
        SharedExport::new(&reader, naming.sites, limits)?.write(processes, watch, &mut write)?;
    } else {
        let exporter = Exporter::new(&reader, naming.sites, limits, Sites::All)?;
        let mut texts = SiteTexts::default();
        let own: Source<'_> = Box::new(|watch| texts.next_batch(&exporter, watch));
        let mut none = |_: usize| Err(malformed().into());
        write_merged(own, (1, &mut none), watch, &mut write)?;
    }
    if let Some(sites) = &mut sites {
        sites.flush().map_err(failed(ExportPart::Sites))?;
    }
    records.flush().map_err(failed(ExportPart::Records))?;
    Ok(ExportReport::new(
        &totals,
        naming,
        settings.suffix_list,
        &counts,
    ))
}

fn failed(what: ExportPart) -> impl Fn(io::Error) -> EngineError {
    move |source| EngineError::Export { what, source }
}

#[cfg(test)]
mod process_tests;
#[cfg(test)]
mod tests;
