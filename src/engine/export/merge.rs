//! Writes the text of several processes in the order of the names of sites.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::vec::IntoIter;

use rayon::prelude::*;

use super::chunk::{Chunk, Exporter, Limits, Sites, Text};
use super::piece::{Batch, Piece, malformed, site_line};
use crate::engine::chunk_shape::chunk_shape;
use crate::engine::failing_watch::FailingWatch;
use crate::engine::{EngineError, Result};
use seedbank_algorithms::page::SiteId;
use seedbank_algorithms::watch::{Interrupted, Watch};
use seedbank_store::records::SiteDefaults;
use seedbank_store::{Entries, StoreError, tables};

/// Returns the next batch of the sites of this process.
pub(super) type Source<'a> = Box<dyn FnMut(&dyn Watch) -> Result<Batch> + Send + 'a>;

/// Calls `write` with the pieces of all processes, in the order of the names of sites. No site is in two of them. `own`
/// returns the batches of process 0, which is this one, and `others` those of the others, by number.
///
/// `own` works in a thread, at most one batch ahead of what is written. Once it, `others` or `write` fails, or `watch`
/// stops, all end, and this returns the first error.
pub(super) fn write_merged(
    mut own: Source<'_>,
    (processes, others): (usize, &mut dyn FnMut(usize) -> Result<Batch>),
    watch: &dyn Watch,
    write: &mut dyn FnMut(&Piece) -> Result<()>,
) -> Result<()> {
    let failing = &FailingWatch::new(watch);
    let written = thread::scope(|scope| {
        // Without a buffer: a batch is written while the next one waits.
        let (batches, receiver) = sync_channel(0);
        let send = move || {
            if let Err(error) = send_all(&mut own, &batches, failing) {
                failing.fail(error);
            }
        };
        let thread = thread::Builder::new().name("export".to_owned());
        let thread = thread.spawn_scoped(scope, send);
        thread.map_err(EngineError::Threads)?;
        // Without the receiver, the thread ends. Without the sender, it has failed, and the cause is known.
        let mut next = move |process| match process {
            0 => Ok(receiver.recv().map_err(|_| Interrupted)?),
            other => others(other),
        };
        merge(processes, &mut next, failing, write)
    });
    let written = written.map_err(|error| failing.fail(error));
    failing.all(vec![written.ok()]).map(drop)
}

/// Sends all batches of a source, or those until nobody receives them.
fn send_all(source: &mut Source<'_>, batches: &SyncSender<Batch>, watch: &dyn Watch) -> Result<()> {
    loop {
        watch.proceed()?;
        // Once the work is stopped, other processes may fail because this one does not answer any more.
        let batch = source(watch).or_else(|error| {
            watch.proceed()?;
            Err(error)
        })?;
        let is_last = batch.is_last;
        if batches.send(batch).is_err() || is_last {
            return Ok(());
        }
    }
}

/// The pieces of a process.
struct Stream {
    process: usize,
    pieces: IntoIter<Piece>,
    is_over: bool,
    /// The site of the last piece.
    last: Arc<str>,
}

impl Stream {
    fn new(process: usize) -> Self {
        Self {
            process,
            pieces: Vec::new().into_iter(),
            is_over: false,
            last: "".into(),
        }
    }

    /// Returns the next piece; `None` after the last one. `next` returns the next batch of a process.
    fn next(&mut self, next: &mut dyn FnMut(usize) -> Result<Batch>) -> Result<Option<Piece>> {
        loop {
            if let Some(piece) = self.pieces.next() {
                if piece.site < self.last {
                    return Err(malformed().into());
                }
                self.last = Arc::clone(&piece.site);
                return Ok(Some(piece));
            }
            if self.is_over {
                return Ok(None);
            }
            let batch = next(self.process)?;
            self.is_over = batch.is_last;
            self.pieces = batch.pieces.into_iter();
        }
    }
}

fn merge(
    processes: usize,
    batches: &mut dyn FnMut(usize) -> Result<Batch>,
    watch: &dyn Watch,
    write: &mut dyn FnMut(&Piece) -> Result<()>,
) -> Result<()> {
    let mut streams: Vec<Stream> = (0..processes).map(Stream::new).collect();
    let mut pieces: Vec<Option<Piece>> = Vec::with_capacity(processes);
    let mut first = BinaryHeap::new();
    for (number, stream) in streams.iter_mut().enumerate() {
        let piece = stream.next(batches)?;
        first.extend(
            piece
                .as_ref()
                .map(|piece| Reverse((Arc::clone(&piece.site), number))),
        );
        pieces.push(piece);
    }
    while let Some(Reverse((_, number))) = first.pop() {
        let (Some(stream), Some(next)) = (streams.get_mut(number), pieces.get_mut(number)) else {
            return Err(EngineError::Internal("a piece has no stream"));
        };
        if let Some(piece) = next.take() {
            watch.proceed()?;
            write(&piece)?;
        }
        *next = stream.next(batches)?;
        first.extend(
            next.as_ref()
                .map(|piece| Reverse((Arc::clone(&piece.site), number))),
        );
    }
    Ok(())
}

// The text of the sites of a process, in the order of their names, batch by batch.
//
// Chunks are processed in waves: all chunks of a wave in parallel. A wave ends where a batch does, and the next one
// continues after its last page.

/// The part of a wave that is processed by one thread if URLs are requested from other processes: a request for each small
/// site would take longer than its text.
const GROUPS_OF_WAVE: usize = 16;

/// Text of sites that is not yet returned.
#[derive(Default)]
pub(super) struct SiteTexts {
    position: Position,
    /// Text of the last wave.
    pending: VecDeque<Text>,
    /// The bytes of the first of these that were returned.
    returned: usize,
}

/// Where the next wave begins.
#[derive(Default)]
enum Position {
    #[default]
    Start,
    /// After a page of a site, given by their name and URL; after the site if there is no page.
    After(String, Option<String>),
    End,
}

impl SiteTexts {
    /// Returns the next text: as many bytes as a batch may have, or less at the end of a wave.
    pub(super) fn next_batch(
        &mut self,
        exporter: &Exporter<'_>,
        watch: &dyn Watch,
    ) -> Result<Batch, EngineError> {
        while self.pending.is_empty() && !matches!(self.position, Position::End) {
            self.fill(exporter, watch)?;
        }
        let mut batch = Batch::default();
        let mut left = exporter.limits.bytes;
        while left > 0
            && let Some(mut text) = self.pending.pop_front()
        {
            let piece = &mut text.piece;
            let is_part = self.returned > 0 || piece.records.len() > left;
            if is_part {
                let bytes = &piece.records[self.returned..];
                let bytes = &bytes[..bytes.len().min(left)];
                batch.pieces.push(Piece {
                    site: Arc::clone(&piece.site),
                    line: piece.line.take(),
                    records: bytes.to_vec(),
                    counts: std::mem::take(&mut piece.counts),
                });
                left -= bytes.len();
                self.returned += bytes.len();
                if self.returned < piece.records.len() {
                    self.pending.push_front(text);
                    break;
                }
                self.returned = 0;
            }
            // The rest of a chunk with too many links comes before the next chunk.
            if let Some(rest) = text.rest.take() {
                watch.proceed()?;
                for text in exporter.texts(vec![rest])?.into_iter().rev() {
                    self.pending.push_front(text);
                }
            }
            if !is_part {
                left -= text.piece.records.len();
                batch.pieces.push(text.piece);
            }
        }
        batch.is_last = self.pending.is_empty() && matches!(self.position, Position::End);
        Ok(batch)
    }

    /// Processes the next wave. It may have no text.
    fn fill(&mut self, exporter: &Exporter<'_>, watch: &dyn Watch) -> Result<(), EngineError> {
        watch.proceed()?;
        let mut wave = Wave::new(exporter.limits, exporter.others.is_some());
        let last = std::mem::replace(&mut self.position, Position::End);
        let (first, mut page) = match last {
            Position::Start => (None, None),
            Position::After(site, page) => (Some(site), page),
            Position::End => return Ok(()),
        };
        for entry in sites_from(exporter, first.as_ref())? {
            watch.proceed()?;
            let (name, id) = entry?;
            let after = page.take();
            if after.is_none() && first.as_ref() == Some(&name) {
                continue;
            }
            let after_page = add_site(exporter, &mut wave, (id, &name), after)?;
            if wave.is_full() {
                self.position = Position::After(name, after_page);
                break;
            }
        }
        let texts = wave.groups.into_par_iter();
        let texts = texts.map(|group| exporter.texts(group));
        let texts = texts.collect::<Result<Vec<_>, _>>()?;
        self.pending = texts.into_iter().flatten().collect();
        Ok(())
    }
}

/// Scans the sites, from the one with this name on.
fn sites_from<'a>(
    exporter: &Exporter<'a>,
    first: Option<&String>,
) -> Result<Entries<'a, String, SiteId>, StoreError> {
    let (store, table) = (exporter.store, &tables::SITE_IDS);
    match (exporter.sites, first) {
        (Sites::All, None) => store.scan(table),
        (Sites::All, Some(first)) => store.scan_from(table, first, &[]),
        (Sites::Own, None) => store.scan_local(table),
        (Sites::Own, Some(first)) => store.scan_local_from(table, first),
    }
}

/// Adds the pages of a site, those after `after` if it was begun. If the wave is full before all are added, returns the
/// URL below the site of the last one.
fn add_site(
    exporter: &Exporter<'_>,
    wave: &mut Wave,
    (id, name): (SiteId, &str),
    after: Option<String>,
) -> Result<Option<String>, EngineError> {
    let store = exporter.store;
    let site = store.need(&tables::SITES, &id)?;
    let shared_name: Arc<str> = name.into();
    let new = || Chunk::new(id, Arc::clone(&shared_name));
    let mut chunk = new();
    if after.is_none() && site.defaults != SiteDefaults::default() {
        chunk.line = Some(site_line(name, site.defaults)?);
    }
    let (most, links) = chunk_shape(&site, exporter.limits.pages, exporter.limits.links);
    let prefix = id.0.to_be_bytes();
    let entries = match &after {
        None => store.scan_under(&tables::PAGE_IDS, &prefix)?,
        Some(after) => store.scan_from(&tables::PAGE_IDS, &(id, after.clone()), &prefix)?,
    };
    let mut after = after;
    for entry in entries {
        let ((_, local), index) = entry?;
        if after.take().is_some_and(|after| after == local) {
            continue;
        }
        chunk.pages.push((index, local));
        if chunk.pages.len() >= most {
            let last = chunk.pages.last().map(|(_, local)| local.clone());
            wave.add(std::mem::replace(&mut chunk, new()), links);
            if wave.is_full() {
                return Ok(last);
            }
        }
    }
    if !chunk.pages.is_empty() || chunk.line.is_some() {
        wave.add(chunk, links);
    }
    Ok(None)
}

/// Chunks that are processed in parallel.
struct Wave {
    limits: Limits,
    /// Chunks that are processed together.
    groups: Vec<Vec<Chunk>>,
    /// Whether a group has several chunks.
    joins: bool,
    /// The size of all chunks, and of those of the last group.
    all: Size,
    last: Size,
}

/// A number of pages, at least one for each chunk, and the estimated number of their links.
#[derive(Clone, Copy, Default)]
struct Size {
    pages: usize,
    links: u64,
}

impl Size {
    fn add(&mut self, other: Self) {
        self.pages += other.pages;
        self.links += other.links;
    }
}

impl Wave {
    fn new(limits: Limits, joins: bool) -> Self {
        Self {
            limits,
            groups: Vec::new(),
            joins,
            all: Size::default(),
            last: Size::default(),
        }
    }

    /// Whether it has four times the pages, or twice the links, of a chunk.
    fn is_full(&self) -> bool {
        let Limits { pages, links, .. } = self.limits;
        self.all.pages >= 4 * pages || self.all.links >= 2 * links as u64
    }

    /// Adds a chunk whose pages have about `links` links each.
    fn add(&mut self, chunk: Chunk, links: u64) {
        let pages = chunk.pages.len();
        let size = Size {
            pages: pages.max(1),
            links: links * pages as u64,
        };
        self.all.add(size);
        let Limits { pages, links, .. } = self.limits;
        let is_small = self.last.pages < 4 * pages / GROUPS_OF_WAVE
            && self.last.links < (2 * links / GROUPS_OF_WAVE) as u64;
        match self.groups.last_mut() {
            Some(group) if self.joins && is_small => {
                group.push(chunk);
                self.last.add(size);
            }
            _ => {
                self.groups.push(vec![chunk]);
                self.last = size;
            }
        }
    }
}
