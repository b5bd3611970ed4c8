//! The list of vertices, held in memory while the edges are read.

use std::sync::Arc;

use super::error::CcGraphError;
use super::parts::{Line, Parts, length, number};
use crate::ingest::formats::nodes::texts::Texts;
use crate::ingest::location::MAX_URL;
use crate::ingest::open::{Input, InputError};
use crate::ingest::progress::Progress;
use crate::ingest::reject::{Position, excerpt};
use crate::ingest::source::{Stop, check_held_bytes};
use seedbank_algorithms::watch::Watch;

/// The names of all vertices, by their ids, and where they stand.
#[derive(Debug, Default)]
pub(super) struct Vertices {
    /// The hosts, with their labels reversed, as they are written.
    pub(super) names: Texts,
    /// The name of each part, and its first vertex.
    parts: Vec<(Arc<str>, u64)>,
    /// How many bytes of text the list has.
    pub(super) bytes: u64,
    /// How many blank lines it ends with, or its parts do.
    pub(super) blank: u64,
}

impl Vertices {
    /// The part in which a vertex is listed, and its line there.
    pub(super) fn place(&self, id: u64) -> (Arc<str>, Position) {
        let after = self.parts.partition_point(|(_, first)| *first <= id);
        match after.checked_sub(1).and_then(|part| self.parts.get(part)) {
            Some((file, first)) => (Arc::clone(file), Position::Line(id - first + 1)),
            None => (Arc::from(""), Position::Line(id + 1)),
        }
    }
}

/// Reads the vertices, whose names may take `max_held_bytes` bytes of memory; every line must be the vertex
/// that has its turn.
pub(super) fn read(
    inputs: &[Input],
    max_held_bytes: usize,
    watch: &dyn Watch,
) -> Result<Vertices, Stop> {
    watch.stage("read hosts", length(inputs)?);
    let progress = Progress::new(watch);
    let mut lines = Parts::new(inputs, progress.clone());
    let mut names = Texts::default();
    // The first vertex of each part. Parts without lines begin with the vertex after them, and so
    // come before the part that has it.
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
            return Err(InputError::from(error).into());
        };
        if line != id - first + 1 {
            let file = lines.name(part);
            let error = CcGraphError::EmptyLine { file, line, id };
            return Err(InputError::from(error).into());
        }
        // One byte over the limit is enough to be refused for the length.
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

/// The name of the vertex with this id; `None` where the line is anything else.
///
/// A third column is the number of hosts of a domain, of which a page says nothing.
fn name(line: &[u8], id: u64) -> Option<&[u8]> {
    let mut columns = line.split(|byte| *byte == b'\t');
    let given = columns.next().and_then(number)?;
    let name = columns.next()?;
    let hosts = columns.next();
    let fits = given == id
        && hosts.is_none_or(|hosts| number(hosts).is_some())
        && columns.next().is_none();
    fits.then_some(name)
}
