//! The list of vertices, held in memory while the edges are read.

use std::sync::Arc;

use super::error::CcGraphError;
use super::part_lines::{Line, PartLines, length, number};
use crate::ingest::formats::node_graph::front_coded::FrontCodedList;
use crate::ingest::location::MAX_URL;
use crate::ingest::open::Input;
use crate::ingest::progress::Progress;
use crate::ingest::reject::{Position, excerpt};
use crate::ingest::source::{Stop, check_held_bytes};
use seedbank_algorithms::watch::Watch;

/// The names of all vertices by their ids, and their places.
#[derive(Debug, Default)]
pub(super) struct Vertices {
    /// The hosts with reversed labels, as written.
    pub(super) names: FrontCodedList,
    /// The name of each part and its first vertex.
    parts: Vec<(Arc<str>, u64)>,
    /// Bytes of text in the list.
    pub(super) bytes: u64,
    /// Blank lines at the end of the list or of its parts.
    pub(super) blank: u64,
}

impl Vertices {
    /// Returns the part in which a vertex is listed, and its line there.
    pub(super) fn place(&self, id: u64) -> (Arc<str>, Position) {
        let after = self.parts.partition_point(|(_, first)| *first <= id);
        match after.checked_sub(1).and_then(|part| self.parts.get(part)) {
            Some((file, first)) => (Arc::clone(file), Position::Line(id - first + 1)),
            None => (Arc::from(""), Position::Line(id + 1)),
        }
    }
}

/// Reads the vertices, whose names may take `max_held_bytes` bytes of memory. Ids must be consecutive,
/// from 0.
pub(super) fn read(
    inputs: &[Input],
    max_held_bytes: usize,
    watch: &dyn Watch,
) -> Result<Vertices, Stop> {
    watch.stage("read hosts", length(inputs)?);
    let progress = Progress::new(watch);
    let mut lines = PartLines::new(inputs, progress.clone());
    let mut names = FrontCodedList::default();
    // The first vertex of each part. A part without lines begins with the vertex after it, and so
    // precedes the part that has it.
    let mut firsts: Vec<u64> = Vec::new();
    while let Some(line) = lines.next()? {
        let id = names.len();
        while firsts.len() <= line.part {
            firsts.push(id);
        }
        let first = firsts.last().copied().unwrap_or_default();
        let Line { part, number, text } = line;
        let name = name(text, id);
        let line = number;
        let Some(name) = name else {
            let error = CcGraphError::Vertex {
                text: excerpt(text),
                file: lines.name(part),
                line,
                id,
            };
            return Err(error.into());
        };
        if line != id - first + 1 {
            let file = lines.name(part);
            let error = CcGraphError::EmptyLine { file, line, id };
            return Err(error.into());
        }
        // One byte over the limit suffices for a rejection.
        names.push(name.get(..=MAX_URL).unwrap_or(name));
        if let Some(input) = inputs.get(part) {
            check_held_bytes(input, names.memory(), max_held_bytes)?;
        }
        if id.is_multiple_of(1 << 14) {
            progress.report();
        }
    }
    progress.report();
    let files = inputs.iter().map(|input| Arc::from(input.to_string()));
    Ok(Vertices {
        names,
        parts: files.zip(firsts).collect(),
        bytes: lines.bytes,
        blank: lines.blank,
    })
}

/// Returns the name of the vertex with this id; `None` if the line is anything else.
///
/// A third column is the number of hosts of a domain, which is ignored.
fn name(line: &[u8], id: u64) -> Option<&[u8]> {
    let mut columns = line.split(|byte| *byte == b'\t');
    let listed = columns.next().and_then(number)?;
    let name = columns.next()?;
    let hosts = columns.next();
    let fits = listed == id
        && hosts.is_none_or(|hosts| number(hosts).is_some())
        && columns.next().is_none();
    fits.then_some(name)
}
