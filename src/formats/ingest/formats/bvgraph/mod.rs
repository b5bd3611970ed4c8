//! Graphs in the BV format (Boldi, Vigna, *The WebGraph framework I*, WWW 2004), as LAW publishes
//! its crawls: `BASENAME.graph` beside `BASENAME.properties`, and a list of URLs.
//!
//! ```text
//! BASENAME.graph --lists, checked, webgraph--> pieces of coded lists --BvGraph, in parallel--> a record for each node
//!                                                        URLS (front-coded, in memory) --^
//! ```
//!
//! * The graph is read once, from its start to its end: no offsets are needed, and no memory for
//!   more than the lists in the format's window.
//! * Line n + 1 of the list of URLs is node n: a bad URL is rejected under the number of its line,
//!   and links to it are dropped and counted.
//! * Every node is a crawled page with all of its outlinks.

mod checked;
mod error;
mod guard;
mod header;
mod lists;
mod urls;

use std::path::PathBuf;
use std::sync::Arc;

pub use header::file as bv_graph_file;

use super::nodes::code::{self, Numbers};
use super::nodes::room::{self, Room};
use crate::ingest::blocks::{MAX_LINE, line_too_long};
use crate::ingest::interner::UrlNumber;
use crate::ingest::open::{Input, InputError};
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::progress::Progress;
use crate::ingest::record::{Event, PageRecord};
use crate::ingest::reject::{Fault, Position, RejectReason};
use crate::ingest::source::{
    DEFAULT_HELD_BYTES, Piece, Pieces, Source, Sources, Stop, max_held_bytes,
};
use crate::ingest::summary::DropReason;
use error::BvGraphError;
use header::Header;
use seedbank_algorithms::watch::Watch;
use urls::{Cursor, Urls};

/// How many bytes of memory a byte of coded lists comes to: a link takes one or two bytes while its
/// list waits and four when it is parsed, and each URL of a piece is held once.
const EXPANSION: usize = 8;

/// The sources for graphs named by their basenames; each graph has the same list of URLs.
pub(super) fn sources(inputs: &[Input], urls: Option<Input>) -> Sources {
    let lists = std::iter::repeat_n(urls, inputs.len());
    let mut sources = Sources::new();
    for (input, list) in inputs.iter().zip(lists) {
        let basename = match input {
            Input::File(basename) => basename.clone(),
            // No graph comes from standard input: its two files are not found under this name.
            Input::Stdin => PathBuf::from("-"),
        };
        sources.push(Box::new(BvGraph {
            basename,
            list,
            urls: Arc::new(Urls::Numbered),
            max_held_bytes: DEFAULT_HELD_BYTES,
        }));
    }
    sources
}

/// A graph in the BV format, with the URLs of its nodes, one per line in their order; without a
/// list node n is `http://n<n>.invalid/`.
///
/// Cost: as much memory as the list takes after front coding.
#[derive(Debug)]
struct BvGraph {
    basename: PathBuf,
    list: Option<Input>,
    urls: Arc<Urls>,
    /// How many bytes the URLs of all nodes may take, and those of one list.
    max_held_bytes: usize,
}

impl Source for BvGraph {
    /// The name of the list of URLs, since rejects are numbered by its lines.
    fn name(&self) -> String {
        self.list
            .as_ref()
            .map_or_else(String::new, Input::to_string)
    }

    fn limit_memory(&mut self, bytes: usize) {
        self.max_held_bytes = max_held_bytes(bytes);
    }

    /// Reads the list of URLs; refuses one whose length is not the number of the graph's nodes.
    fn prepare(&mut self, watch: &dyn Watch) -> Result<Option<u64>, Stop> {
        let nodes = Header::read(&self.basename)
            .map_err(InputError::from)?
            .nodes;
        if let Some(list) = &self.list {
            let urls = urls::read(list, self.max_held_bytes, watch)?;
            if urls.len() != nodes {
                let error = BvGraphError::Urls {
                    file: list.to_string(),
                    lines: urls.len(),
                    graph: self.basename.display().to_string(),
                    nodes,
                };
                return Err(InputError::from(error).into());
            }
            self.urls = Arc::new(Urls::Listed(urls));
        }
        let graph = header::file(&self.basename, "graph");
        let length = header::length(&graph).map_err(InputError::from)?;
        Ok(Some(length))
    }

    fn open<'a>(&'a mut self, progress: &Progress<'a>) -> Result<Pieces<'a>, Stop> {
        let (urls, max_held_bytes) = (Arc::clone(&self.urls), self.max_held_bytes);
        let pieces = lists::Pieces::open(&self.basename, progress).map_err(InputError::from)?;
        Ok(Box::new(pieces.map(move |coded| {
            let coded = coded?;
            let urls = Arc::clone(&urls);
            Ok(Piece {
                bytes: coded.bytes.len() as u64,
                records: coded.lists,
                memory: room::memory(&coded.bytes, EXPANSION),
                read: Box::new(move |parser| read(coded.bytes, 0, urls, max_held_bytes, parser)),
            })
        })))
    }
}

/// Reads the lists from a place on.
fn read(
    coded: Vec<u8>,
    from: usize,
    urls: Arc<Urls>,
    max_held_bytes: usize,
    parser: &mut PieceParser,
) {
    let mut cursor = Cursor::of(&urls);
    let mut at = from;
    while let Some(list) = code::first(&coded, at) {
        if parser.is_full() {
            drop(cursor);
            parser.continue_with(move |parser| read(coded, at, urls, max_held_bytes, parser));
            return;
        }
        at += list.len() + 1;
        let node = Numbers::of(list).next().unwrap_or_default();
        let said = read_list(list, &mut cursor, max_held_bytes, parser);
        let url = match &said {
            Ok(_) => &[],
            Err(_) => cursor.url(node),
        };
        parser.add(Position::Line(node + 1), said, url);
    }
}

fn read_list(
    list: &[u8],
    urls: &mut Cursor<'_>,
    max_held_bytes: usize,
    parser: &mut PieceParser,
) -> Result<Event<UrlNumber>, Fault> {
    // A line of text may not be longer either: it bounds what a record takes.
    if list.len() > MAX_LINE {
        return Err(line_too_long(list.len() as u64));
    }
    let mut numbers = Numbers::of(list);
    let node = numbers.next().unwrap_or_default();
    let url = std::str::from_utf8(urls.url(node))
        .map_err(|error| Fault::new(RejectReason::InvalidUtf8, error.to_string()))?;
    let page = parser.page(url)?;
    let mut targets = Vec::new();
    let mut room = Room::of(list.len(), max_held_bytes);
    let mut to = 0;
    for gap in numbers {
        to += gap;
        let url = urls.url(to);
        room.take(url)?;
        match std::str::from_utf8(url) {
            Ok(url) => targets.extend(parser.target(page, url)),
            Err(_) => parser.summary.dropped(DropReason::Invalid),
        }
    }
    let mut record = PageRecord::new(page);
    record.outlinks = Some(parser.outlinks(targets));
    Ok(Event::Record(record))
}

#[cfg(test)]
mod tests;
