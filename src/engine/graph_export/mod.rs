//! Exports the links of a bank as a graph of its pages or of its sites.
//!
//! | file | purpose |
//! | --- | --- |
//! | `pages` | the pages with their numbers and links, some thousand at a time |
//! | `sites` | the sites with the number of links between them |
//! | `writers` | the output formats |
//!
//! The output depends only on the state, not on the history of the bank: nodes are numbered by site name
//! and URL, as in an export, and there are no ids or times. Nodes are the crawled and known pages. A link
//! to an alias counts as one to the page it resolves to. Links to gone pages are counted and omitted.

mod error;
mod files;
mod pages;
mod request;
mod sites;
mod writers;

use std::path::Path;

use super::error::RequestError;
use super::{Bank, EngineError};
use error::GraphError;
use pages::{DEFAULT_LIMITS, Limits, NodeNumbers, Pages};
pub use request::{GraphFormat, GraphOf, GraphReport, GraphRequest};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::parquet_writer;
use seedbank_store::Store;
use sites::Sites;

impl Bank {
    /// Writes the links of the published state as a graph, to [files](GraphRequest::files) in a folder. The
    /// files must not exist yet.
    ///
    /// The same state gives the same bytes, whatever the history of the bank. Everything is read from one
    /// published state, while others may write. After an error, part of the output may have been written.
    ///
    /// Cost: for pages two scans of them, and per page its record and links as in an export; for TSV also the
    /// URL of each distinct target per chunk, for Parquet another scan of links. For sites a scan of pages and
    /// one of the rows between sites.
    ///
    /// Memory: 4 bytes per page that the bank ever knew and 8 per site, for Parquet 4 more per page; for sites
    /// their names and some 60 bytes each; and some thousand pages with their links, or one million links, a
    /// few times over.
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// use seedbank::engine::graph_export::{GraphFormat, GraphOf, GraphRequest};
    ///
    /// let request = GraphRequest {
    ///     of: GraphOf::Sites,
    ///     format: GraphFormat::Tsv,
    /// };
    /// let graph = folder.path().join("graph");
    /// std::fs::create_dir(&graph)?;
    /// let written = bank.graph(request, &graph)?;
    /// assert_eq!((written.nodes, written.links), (4, 4));
    /// let links = std::fs::read_to_string(graph.join("site-links.tsv"))?;
    /// assert!(links.starts_with("a.example\tx.example\t1\n"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn graph(
        &self,
        request: GraphRequest,
        folder: impl AsRef<Path>,
    ) -> Result<GraphReport, EngineError> {
        graph(self, request, DEFAULT_LIMITS, folder.as_ref(), self.watch())
    }
}

fn graph(
    bank: &Bank,
    request: GraphRequest,
    limits: Limits,
    folder: &Path,
    watch: &dyn Watch,
) -> Result<GraphReport, EngineError> {
    match (request.of, request.format) {
        (GraphOf::Pages, GraphFormat::CcGraph) => return Err(RequestError::GraphOfHosts.into()),
        (_, GraphFormat::Parquet) if !parquet_writer::ENABLED => {
            return Err(RequestError::NoParquet.into());
        }
        _ => {}
    }
    let reader = bank.reader()?;
    let written = match request.of {
        GraphOf::Pages => export_pages(&reader, request.format, limits, folder, watch),
        GraphOf::Sites => export_sites(&reader, request.format, folder, watch),
    };
    written.map_err(|failed| match failed {
        GraphError::Read(e) => e,
        GraphError::Write(source) => EngineError::Write {
            path: folder.to_path_buf(),
            source,
        },
    })
}

fn export_pages(
    store: &Store,
    format: GraphFormat,
    limits: Limits,
    folder: &Path,
    watch: &dyn Watch,
) -> Result<GraphReport, GraphError> {
    let numbers = NodeNumbers::load(store, watch)?;
    let mut sink: Box<dyn pages::Sink> = match format {
        GraphFormat::Tsv => Box::new(writers::TsvPages::new(folder).map_err(GraphError::Write)?),
        GraphFormat::BvGraph => {
            Box::new(writers::BvGraphPages::new(folder).map_err(GraphError::Write)?)
        }
        GraphFormat::Parquet => {
            let in_links = numbers.in_links(store, watch)?;
            Box::new(writers::ParquetPages::new(folder, in_links).map_err(GraphError::Write)?)
        }
        GraphFormat::CcGraph => return Err(EngineError::from(RequestError::GraphOfHosts).into()),
    };
    let pages = Pages {
        store,
        numbers: &numbers,
        mode: super::naming(&store.settings()?)?.sites,
        limits,
    };
    let mut report = GraphReport::new(store.counters()?.batch);
    pages.walk(&mut *sink, &mut report, watch)?;
    report.page_links = report.links;
    sink.finish().map_err(GraphError::Write)?;
    Ok(report)
}

fn export_sites(
    store: &Store,
    format: GraphFormat,
    folder: &Path,
    watch: &dyn Watch,
) -> Result<GraphReport, GraphError> {
    let numbers = NodeNumbers::load(store, watch)?;
    let sites = Sites::load(store, format == GraphFormat::CcGraph)?;
    let mut sink: Box<dyn sites::Sink + '_> = match format {
        GraphFormat::Tsv => {
            Box::new(writers::TsvSites::new(folder, &sites.nodes).map_err(GraphError::Write)?)
        }
        GraphFormat::BvGraph => {
            Box::new(writers::BvGraphSites::new(folder).map_err(GraphError::Write)?)
        }
        GraphFormat::CcGraph => {
            Box::new(writers::HostWriter::new(folder).map_err(GraphError::Write)?)
        }
        GraphFormat::Parquet => {
            Box::new(writers::ParquetSites::new(folder, &sites.nodes).map_err(GraphError::Write)?)
        }
    };
    let mut report = GraphReport::new(store.counters()?.batch);
    sites.walk(store, &numbers, &mut *sink, &mut report, watch)?;
    sink.finish().map_err(GraphError::Write)?;
    Ok(report)
}

#[cfg(test)]
mod tests;
