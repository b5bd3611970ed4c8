//! The list of ranks: the position of each host.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use super::error::CcGraphError;
use super::host::quality;
use super::part_lines::{PartLines, length};
use crate::ingest::entries::utf_8;
use crate::ingest::formats::node_graph::front_coded::{Cursor, FrontCodedList};
use crate::ingest::number::integer;
use crate::ingest::open::Input;
use crate::ingest::progress::Progress;
use crate::ingest::reject::{EXCERPT_CHARS, Fault, MAX_LISTED_REJECTS, RejectReason, excerpt};
use crate::ingest::source::Stop;
use seedbank_algorithms::watch::Watch;

/// The columns of positions by harmonic centrality and of hosts.
const POSITION: &str = "#harmonicc_pos";
const HOST: &str = "#host_rev";

/// A rejected row.
#[derive(Debug)]
pub(super) struct RejectedRow {
    pub(super) file: Arc<str>,
    /// Its line, from 1.
    pub(super) line: u64,
    pub(super) fault: Fault,
    /// The beginning of the line.
    pub(super) text: Box<[u8]>,
}

/// The positions of the hosts of a graph.
#[derive(Debug, Default)]
pub(super) struct Ranks {
    /// By vertex, from 1; 0 if it has none. Empty without ranks.
    positions: Vec<u32>,
    /// Number of rows, including rejected ones.
    rows: u64,
    /// The first rejected rows, at most [`MAX_LISTED_REJECTS`].
    pub(super) rejected: Vec<RejectedRow>,
    /// The number of further rejected rows.
    pub(super) unlisted: BTreeMap<RejectReason, u64>,
    /// Bytes of text in the list.
    pub(super) bytes: u64,
    /// Blank lines in the list.
    pub(super) blank: u64,
}

impl Ranks {
    /// Returns the quality of a vertex, in ten-thousandths; `None` if it has no rank.
    pub(super) fn quality(&self, id: u64) -> Option<u16> {
        let position = *self.positions.get(usize::try_from(id).ok()?)?;
        (position > 0).then(|| quality(position.into(), self.rows))
    }

    fn reject(&mut self, file: &Arc<str>, line: u64, text: &[u8], fault: Fault) {
        if self.rejected.len() as u64 >= MAX_LISTED_REJECTS {
            *self.unlisted.entry(fault.reason).or_default() += 1;
            return;
        }
        self.rejected.push(RejectedRow {
            file: Arc::clone(file),
            line,
            fault,
            text: text.get(..EXCERPT_CHARS * 4).unwrap_or(text).into(),
        });
    }
}

/// Reads the ranks of the hosts with these names.
///
/// Cost: four bytes for each host, and 16 more while it runs if the hosts are not sorted.
pub(super) fn read(
    inputs: &[Input],
    names: &FrontCodedList,
    watch: &dyn Watch,
) -> Result<Ranks, Stop> {
    let mut ranks = Ranks::default();
    if inputs.is_empty() {
        return Ok(ranks);
    }
    watch.stage("read ranks", length(inputs)?);
    let progress = Progress::new(watch);
    ranks.positions = vec![0; usize::try_from(names.len()).unwrap_or(usize::MAX)];
    let finder = Finder::new(names);
    let files: Vec<Arc<str>> = inputs
        .iter()
        .map(|input| input.to_string().into())
        .collect();
    let mut lines = PartLines::new(inputs, progress.clone());
    let mut columns: Option<(usize, Columns)> = None;
    // The largest position, and where it is.
    let mut largest = (0, 0, 0);
    while let Some(line) = lines.next()? {
        let (part, at, text) = (line.part, line.number, line.text);
        // Each part may begin with a header; without one, the columns of the previous part apply.
        let known = columns.as_ref().map(|(of, _)| *of);
        if known != Some(part) {
            let found = Columns::parse(text).or(columns.take().map(|(_, columns)| columns));
            let is_header = Columns::parse(text).is_some();
            let Some(found) = found else {
                let error = CcGraphError::Header {
                    text: excerpt(text),
                    file: lines.name(part),
                    position: POSITION,
                    host: HOST,
                };
                return Err(error.into());
            };
            columns = Some((part, found));
            if is_header {
                continue;
            }
        }
        let Some((_, columns)) = &columns else {
            continue;
        };
        ranks.rows += 1;
        let row = columns.row(text).and_then(|(position, host)| {
            largest = largest.max((position, part, at));
            let id = finder.find(host);
            let place = id.and_then(|id| ranks.positions.get_mut(usize::try_from(id).ok()?));
            match place {
                None => Err(Fault::new(
                    RejectReason::UnknownHost,
                    "the host is not a vertex of the graph",
                )),
                Some(place) if *place > 0 => Err(Fault::new(
                    RejectReason::RankedTwice,
                    "the host has a rank in an earlier row",
                )),
                Some(place) => {
                    *place = position;
                    Ok(())
                }
            }
        });
        if let (Err(fault), Some(file)) = (row, files.get(part)) {
            ranks.reject(file, at, text, fault);
        }
        if ranks.rows.is_multiple_of(1 << 14) {
            watch.proceed()?;
            progress.report();
        }
    }
    progress.report();
    let (position, part, line) = largest;
    if u64::from(position) > ranks.rows {
        let error = CcGraphError::IncompleteRanks {
            file: lines.name(part),
            line,
            position: position.into(),
            rows: ranks.rows,
        };
        return Err(error.into());
    }
    ranks.bytes = lines.bytes;
    ranks.blank = lines.blank;
    Ok(ranks)
}

/// The positions of columns in a row.
#[derive(Debug)]
struct Columns {
    position: usize,
    host: usize,
    /// Number of columns.
    all: usize,
}

impl Columns {
    /// Parses a header; `None` if the line is not one.
    fn parse(line: &[u8]) -> Option<Self> {
        let names = || line.split(|byte| *byte == b'\t').map(<[u8]>::trim_ascii);
        let place = |name: &str| names().position(|own| own == name.as_bytes());
        Some(Self {
            position: place(POSITION)?,
            host: place(HOST)?,
            all: names().count(),
        })
    }

    /// Returns the position and the host of a row.
    fn row<'t>(&self, line: &'t [u8]) -> Result<(u32, &'t [u8]), Fault> {
        let mut columns = line.split(|byte| *byte == b'\t');
        let (mut position, mut host) = (&b""[..], &b""[..]);
        let mut found = 0;
        for column in columns.by_ref() {
            if found == self.position {
                position = column;
            }
            if found == self.host {
                host = column;
            }
            found += 1;
        }
        if found != self.all {
            let all = self.all;
            return Err(Fault::new(
                RejectReason::Columns,
                format!("expected {all} columns, found {found}"),
            ));
        }
        let name = POSITION.trim_start_matches('#');
        let position = integer(utf_8(position)?, name, u32::MAX.into())?;
        match u32::try_from(position) {
            Ok(position) if position > 0 => Ok((position, host)),
            _ => Err(Fault::new(
                RejectReason::WrongType,
                format!("{name}: positions count from 1"),
            )),
        }
    }
}

/// Finds vertices by name: by binary search if the names are sorted, as published ones are, else by
/// hash.
enum Finder<'a> {
    Sorted(&'a FrontCodedList),
    Hashed {
        names: &'a FrontCodedList,
        hasher: RandomState,
        /// The hash of each name and its vertex, ascending.
        all: Vec<(u64, u64)>,
    },
}

impl<'a> Finder<'a> {
    fn new(names: &'a FrontCodedList) -> Self {
        if names.is_sorted() {
            return Self::Sorted(names);
        }
        let hasher = RandomState::new();
        let mut cursor = Cursor::new(names);
        let pairs = (0..names.len()).map(|id| (hasher.hash_one(cursor.text(id)), id));
        let mut all: Vec<(u64, u64)> = pairs.collect();
        all.sort_unstable();
        Self::Hashed { names, hasher, all }
    }

    /// Returns the last vertex with a name.
    fn find(&self, name: &[u8]) -> Option<u64> {
        match self {
            Self::Sorted(names) => names.find(name),
            Self::Hashed { names, hasher, all } => {
                let hash = hasher.hash_one(name);
                let end = all.partition_point(|(other, _)| *other <= hash);
                let same = all.get(..end).unwrap_or_default().iter().rev();
                let mut cursor = Cursor::new(names);
                same.take_while(|(other, _)| *other == hash)
                    .map(|(_, id)| *id)
                    .find(|id| cursor.text(*id) == name)
            }
        }
    }
}
