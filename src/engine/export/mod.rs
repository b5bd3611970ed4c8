//! Export: the whole state of a bank as records that make another one.
//!
//! What comes out depends on the state alone, not on how the bank came to it: pages are in the order
//! of site names and of the URLs of each site, links in URL order, and no id, number of a batch or
//! time shows. Every page has at most one record, by what it is:
//!
//! | page | record |
//! | --- | --- |
//! | crawled | its outlinks, as its records gave them, and its attributes |
//! | an alias | `redirect` or `canonical`, and its attributes |
//! | known by a record of its own | its attributes alone |
//! | only linked to, or led to by an alias | none: it comes back with the link |
//! | gone | `gone` |
//!
//! Links that count are made of those that were given and of where aliases lead
//! ([`seedbank_store::aliases`]), and the given ones are what is written, so that these too are what
//! they were when an alias changes later. What pages have of their site is said of the site alone.

mod chunk;
mod line;
mod report;

use std::io::{self, Write};
use std::sync::Arc;

use rayon::prelude::*;

use super::error::ExportPart;
use super::{Bank, EngineError};
use chunk::{Chunk, Limits, Of};
use report::Counts;
pub use report::ExportReport;
use seedbank_algorithms::page::SiteId;
use seedbank_algorithms::watch::Watch;
use seedbank_store::records::{SiteDefaults, SiteRecord};
use seedbank_store::tables;

/// How many pages and links are worked on together; twice the links and four times the pages are
/// worked on side by side.
const AT_A_TIME: Limits = Limits {
    pages: 4096,
    links: 1 << 20,
};

impl Bank {
    /// Writes the published state as records, JSON Lines, from which
    /// [`ingest`](Self::ingest) makes another bank of the same [`Naming`](seedbank_formats::ingest::Naming)
    /// with the same pages, links, attributes and counts, as one snapshot; and to `sites`, where it is
    /// given, what records of sites gave, as the list of sites of the same batch. A refresh from
    /// scratch gives the same seeds in both.
    ///
    /// The same state gives the same bytes, however the bank came to it. What is not in them: batches
    /// with their names and times, history, plans and refreshes, fetch times, digests other than as
    /// the hashes that the bank keeps of them, and attributes of gone pages, which no record of a gone
    /// page can have ([`ExportReport::beside_gone`]).
    ///
    /// Writers are not in the way, and all is of one state. After an error, part of it may have been
    /// written.
    ///
    /// Cost: a scan of the sites and their pages in URL order; of each page its record and links,
    /// each row once for some thousand pages of its site, and a lookup for each distinct target among
    /// those. Memory: the text of some thousand pages, or of one million links, a few times over.
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// let mut records = Vec::new();
    /// let exported = bank.export(&mut records, None, &Unwatched)?;
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
    /// new.ingest(&request, &Unwatched)?;
    /// let mut again = Vec::new();
    /// new.export(&mut again, None, &Unwatched)?;
    /// assert_eq!(records, again);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn export(
        &self,
        records: &mut dyn Write,
        sites: Option<&mut dyn Write>,
        watch: &dyn Watch,
    ) -> Result<ExportReport, EngineError> {
        export(self, records, sites, AT_A_TIME, watch)
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
        of: Of::bank(&reader, naming.sites, limits)?,
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

/// Chunks that are worked on side by side, and written in their order.
struct Wave<'a> {
    of: Of<'a>,
    chunks: Vec<Chunk>,
    pages: usize,
    /// About how many links they have.
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
        let (most, links) = shape(site, self.of.limits);
        for entry in self
            .of
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

    /// Adds a chunk whose pages have about so many links each.
    fn add(&mut self, chunk: Chunk, links: u64) -> Result<(), EngineError> {
        let limits = self.of.limits;
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
        let of = &self.of;
        let written = chunks.into_par_iter().map(|chunk| of.text(chunk));
        for mut text in written.collect::<Result<Vec<_>, _>>()? {
            // What was left of a chunk with too many links comes before the next one.
            loop {
                let put = self.to.write_all(&text.bytes);
                put.map_err(failed(ExportPart::Records))?;
                self.watch.advance(text.counts.pages());
                self.counts.add(&text.counts);
                let Some(rest) = text.rest.take() else {
                    break;
                };
                self.watch.proceed()?;
                text = self.of.text(rest)?;
            }
        }
        Ok(())
    }
}

/// How many pages of a site a chunk has at most, and how many links each has on average, rounded up.
fn shape(site: &SiteRecord, limits: Limits) -> (usize, u64) {
    let pages = u64::from(site.known) + u64::from(site.crawled) + u64::from(site.gone);
    let links = (site.intra_links + site.inter_links).div_ceil(pages.max(1));
    let most = limits.links as u64 / links.max(1);
    let most = usize::try_from(most).unwrap_or(limits.pages);
    (most.clamp(1, limits.pages), links)
}

#[cfg(test)]
mod tests;
