//! Export: the whole state of a bank as records from which another bank can be made.
//!
//! The output depends only on the state, not on the history of the bank: pages are sorted by site name and
//! URL, links by URL, and there are no ids or batch numbers. Every page has at most one record:
//!
//! | page | record |
//! | --- | --- |
//! | crawled | its outlinks as its records gave them, and its attributes |
//! | an alias | `redirect` or `canonical`, and its attributes |
//! | known from a record of its own | its attributes |
//! | known only as the target of links or aliases | none: the link recreates it |
//! | gone | `gone` |
//!
//! Effective links result from the given links and the targets of aliases ([`seedbank_store::aliases`]).
//! Each of these records has the time of the last fetch of its page that did not fail, and the failed ones
//! after it.
//!
//! The given links are written, so that a later change of an alias has the same effect in the new bank.
//! Attributes that pages inherit are written only for their site.

mod chunk;
mod record;
mod report;

use std::io::{self, Write};
use std::sync::Arc;

use rayon::prelude::*;

use super::error::ExportPart;
use super::{Bank, EngineError};
use chunk::{Chunk, Exporter, Limits};
use report::Counts;
pub use report::ExportReport;
use seedbank_algorithms::page::SiteId;
use seedbank_algorithms::watch::Watch;
use seedbank_store::records::{SiteDefaults, SiteRecord};
use seedbank_store::tables;

/// Limits of a chunk. Chunks with twice the links or four times the pages in total are processed in
/// parallel.
const DEFAULT_LIMITS: Limits = Limits {
    pages: 4096,
    links: 1 << 20,
};

impl Bank {
    /// Writes the published state as records (JSON Lines). [`ingest`](Self::ingest) of them as one snapshot
    /// makes a bank of the same [`Naming`](seedbank_formats::ingest::Naming) with the same pages, links,
    /// attributes and counts. The attributes of sites go to `sites`, as the list of sites of that batch. A
    /// cold refresh selects the same seeds in both banks.
    ///
    /// The same state gives the same bytes, whatever the history of the bank. Not exported are batches with
    /// their names and times, history, plans, refreshes, digests other than as stored hashes,
    /// and attributes of gone pages, which their records cannot have
    /// ([`ExportReport::dropped_attributes`]).
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
    let mut wave = Wave {
        exporter: Exporter::new(&reader, naming.sites, limits)?,
        chunks: Vec::new(),
        pages: 0,
        links: 0,
        to: records,
        counts: Counts::default(),
        watch,
    };
    for entry in reader.scan(&tables::SITE_IDS)? {
        watch.proceed()?;
        let (name, id) = entry?;
        let site = reader.need(&tables::SITES, &id)?;
        if site.defaults != SiteDefaults::default() {
            wave.counts.sites += 1;
            if let Some(sites) = &mut sites {
                let written = sites.write_all(&report::site_line(&name, site.defaults)?);
                written.map_err(failed(ExportPart::Sites))?;
            }
        }
        wave.site(id, &name, &site)?;
    }
    wave.write()?;
    let counts = wave.counts;
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

/// Chunks that are processed in parallel and written in order.
struct Wave<'a> {
    exporter: Exporter<'a>,
    chunks: Vec<Chunk>,
    pages: usize,
    /// Estimated number of their links.
    links: u64,
    to: &'a mut dyn Write,
    counts: Counts,
    watch: &'a dyn Watch,
}

impl Wave<'_> {
    /// Adds a site's pages.
    fn site(&mut self, id: SiteId, name: &str, site: &SiteRecord) -> Result<(), EngineError> {
        let name: Arc<str> = name.into();
        let new = || Chunk::new(id, Arc::clone(&name));
        let mut chunk = new();
        let (most, links) = chunk_shape(site, self.exporter.limits);
        for entry in self
            .exporter
            .store
            .scan_under(&tables::PAGE_IDS, &id.0.to_be_bytes())?
        {
            let ((_, local), index) = entry?;
            chunk.pages.push((index, local));
            if chunk.pages.len() >= most {
                self.add(std::mem::replace(&mut chunk, new()), links)?;
            }
        }
        self.add(chunk, links)
    }

    /// Adds a chunk whose pages have about `links` links each.
    fn add(&mut self, chunk: Chunk, links: u64) -> Result<(), EngineError> {
        let limits = self.exporter.limits;
        self.pages += chunk.pages.len();
        self.links += chunk.pages.len() as u64 * links;
        self.chunks.push(chunk);
        if self.pages >= 4 * limits.pages || self.links >= 2 * limits.links as u64 {
            self.write()?;
        }
        Ok(())
    }

    fn write(&mut self) -> Result<(), EngineError> {
        self.watch.proceed()?;
        let chunks = std::mem::take(&mut self.chunks);
        (self.pages, self.links) = (0, 0);
        let exporter = &self.exporter;
        let written = chunks.into_par_iter().map(|chunk| exporter.text(chunk));
        for mut text in written.collect::<Result<Vec<_>, _>>()? {
            // The rest of a chunk with too many links is written before the next chunk.
            loop {
                let put = self.to.write_all(&text.bytes);
                put.map_err(failed(ExportPart::Records))?;
                self.watch.advance(text.counts.pages());
                self.counts.add(&text.counts);
                let Some(rest) = text.rest.take() else {
                    break;
                };
                self.watch.proceed()?;
                text = self.exporter.text(rest)?;
            }
        }
        Ok(())
    }
}

/// Returns the maximum number of pages of a chunk of a site, and the average number of links per page,
/// rounded up.
fn chunk_shape(site: &SiteRecord, limits: Limits) -> (usize, u64) {
    let pages = u64::from(site.known) + u64::from(site.crawled) + u64::from(site.gone);
    let links = (site.intra_links + site.inter_links).div_ceil(pages.max(1));
    let most = limits.links as u64 / links.max(1);
    let most = usize::try_from(most).unwrap_or(limits.pages);
    (most.clamp(1, limits.pages), links)
}

#[cfg(test)]
mod tests;
