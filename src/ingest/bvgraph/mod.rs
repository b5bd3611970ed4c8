//! Graphs in the BV format (Boldi, Vigna, *The WebGraph framework I*, WWW 2004), as LAW publishes
//! its crawls: `BASENAME.graph` beside `BASENAME.properties`, and a list of URLs.
//!
//! ```text
//! BASENAME.graph --stream, checked, webgraph--> a line of numbers for each node --BvGraph, in parallel--> a record
//!                                                               URLS (front-coded, in memory) --^
//! ```
//!
//! * The graph is read once, from its start to its end: neither offsets nor memory for more than
//!   the lists of the format's window are needed.
//! * Line n + 1 of the text that `stream` makes is node n, and so is line n + 1 of the list of URLs:
//!   a bad URL is rejected by the number of its line, and links to it are dropped and counted.
//! * Every node is a crawled page with all of its outlinks.

mod checked;
mod error;
mod header;
mod lines;
mod stream;
mod urls;

use std::path::Path;

pub use error::BvGraphError;
pub use header::file as bv_graph_file;
pub(super) use stream::text;

use super::interner::UrlNumber;
use super::open::Input;
use super::read::ReadError;
use super::reading::Reading;
use super::record::{Event, PageRecord, RecordReader};
use super::reject::{Fault, RejectReason, beginning};
use super::summary::DropReason;
use crate::watch::Watch;
use header::Header;
use lines::Numbers;
use urls::{Cursor, Urls};

/// The bytes of the graph itself.
pub(super) fn length(basename: &Path) -> Result<u64, BvGraphError> {
    header::length(&header::file(basename, "graph"))
}

/// The reader of a graph in the BV format: the URLs of its nodes.
///
/// It reads the lines that [`Input::BvGraph`] of the same graph gives.
#[derive(Debug)]
pub struct BvGraph {
    urls: Urls,
    file: String,
}

impl BvGraph {
    /// Reads the list of URLs, one a line in the order of the nodes; without a list node n is
    /// `http://n<n>.invalid/`. Refuses a list of another length than the graph has nodes.
    ///
    /// Cost: as much memory as the list has after front coding.
    pub fn open<E: std::error::Error + 'static>(
        basename: &Path,
        urls: Option<Input>,
        watch: &dyn Watch,
    ) -> Result<Self, ReadError<E>> {
        let nodes = Header::read(basename)
            .map_err(|error| ReadError::Input(error.into()))?
            .nodes;
        let Some(list) = urls else {
            return Ok(Self {
                urls: Urls::Numbered,
                file: String::new(),
            });
        };
        let file = list.to_string();
        let urls = urls::read(&list, watch)?;
        if urls.len() != nodes {
            let error = BvGraphError::Urls {
                file,
                lines: urls.len(),
                graph: basename.display().to_string(),
                nodes,
            };
            return Err(ReadError::Input(error.into()));
        }
        Ok(Self {
            urls: Urls::Listed(urls),
            file,
        })
    }
}

impl RecordReader for BvGraph {
    /// A link is a byte or two of text and becomes four, and each URL of a block is there once.
    fn expansion(&self) -> usize {
        8
    }

    fn read(&self, line: &str, reading: &mut Reading) -> Result<Event<UrlNumber>, Fault> {
        let mut numbers = Numbers::of(line);
        let node = numbers.next().unwrap_or_default();
        let mut cursor = Cursor::of(&self.urls);
        let url = std::str::from_utf8(cursor.url(node))
            .map_err(|error| Fault::new(RejectReason::InvalidUtf8, error.to_string()))?;
        let url = reading.page(url)?;
        let mut targets = Vec::new();
        let mut to = 0;
        for gap in numbers {
            to += gap;
            match std::str::from_utf8(cursor.url(to)) {
                Ok(text) => targets.extend(reading.target(url, text)),
                Err(_) => reading.summary.dropped(DropReason::Invalid),
            }
        }
        let mut record = PageRecord::new(url);
        record.outlinks = Some(reading.outlinks(targets));
        Ok(Event::Record(record))
    }

    fn shown(&self, line: &str) -> Option<(String, String)> {
        let node = Numbers::of(line).next()?;
        let mut cursor = Cursor::of(&self.urls);
        Some((self.file.clone(), beginning(cursor.url(node))))
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
