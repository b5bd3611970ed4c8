//! A web archive as a source, whatever is kept of its records.

use super::frames::{Cutter, Frames};
use super::layout::Layout;
use crate::ingest::open::{Input, Opened};
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::progress::Progress;
use crate::ingest::source::{Piece, Pieces, Source, Stop};
use seedbank_algorithms::watch::Watch;

/// How many bytes of memory a byte of what is kept comes to, with the URLs that are read from it.
const EXPANSION: usize = 2;

/// Reads what is kept of some records.
pub(crate) type ReadFrames<L> = fn(L, Frames<<L as Layout>::Item>, &mut PieceParser);

/// A file of a web archive, plain or compressed.
#[derive(Clone, Debug)]
pub(crate) struct Archive<L: Layout> {
    pub(crate) input: Input,
    pub(crate) layout: L,
    pub(crate) read: ReadFrames<L>,
}

impl<L: Layout + Copy + Sync + 'static> Source for Archive<L> {
    fn name(&self) -> String {
        self.input.to_string()
    }

    fn prepare(&mut self, _: &dyn Watch) -> Result<Option<u64>, Stop> {
        Ok(self.input.length()?)
    }

    fn open<'a>(&'a mut self, progress: &Progress<'a>) -> Result<Pieces<'a>, Stop> {
        let opened = self.input.open(progress)?;
        Ok(pieces(self, opened, progress))
    }
}

/// The pieces of an archive whose input is open.
pub(crate) fn pieces<'a, L: Layout + Copy + Sync + 'static>(
    archive: &Archive<L>,
    opened: Opened,
    progress: &Progress<'a>,
) -> Pieces<'a> {
    let cutter = Cutter::new(archive.layout, &archive.input, opened, progress.clone());
    let Archive { layout, read, .. } = *archive;
    Box::new(cutter.map(move |frames| {
        let frames = frames?;
        Ok(Piece {
            bytes: frames.bytes,
            records: frames.records.len(),
            memory: frames.memory * EXPANSION,
            read: Box::new(move |parser| read(layout, frames, parser)),
        })
    }))
}
