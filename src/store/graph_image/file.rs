//! The file of an image: a header, its hash, and the chunks in the order of the header.
//!
//! ```text
//! 16 bytes   "SEEDBANK GRAPH", version
//! 4 bytes    the length of the header
//! header     record: bank, batch, counts, chunks
//! 32 bytes   BLAKE3 of everything before
//! chunks     each compressed by Zstandard
//! ```
//!
//! The header has the length and the hash of every chunk, so that a file that was cut, extended or changed is
//! never used. It is not synced: a file that a power cut left incomplete has other hashes.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::section_codec::{self, Bytes, CHUNK};
use super::{GraphImage, ImageLinks, ImageSite, Lists, NO_ROW};
use crate::disk::folder::{
    IMAGE, create_fresh, is_folder, lock_file, make_folders, open_regular, temporary_name,
};
use crate::disk::lock::Lock;
use crate::error::StoreError;
use crate::tables::BATCHES;
use crate::tables::codec::{self, Malformed};
use crate::tables::records::{BatchId, Hash128};
use crate::tables::store::Store;
use crate::tables::table::Key;

/// The name of the file.
const GRAPH: &str = "graph";

/// The name of the lock of its writer.
const LOCK: &str = "lock";

/// The first bytes of the file; the last one is the version.
const MAGIC: &[u8; 16] = b"SEEDBANK GRAPH\0\x01";

/// The maximum length of the header, in bytes.
const MAX_HEADER: usize = 1 << 28;

/// The level of compression: the fastest one.
const LEVEL: i32 = 1;

/// A part of an image. The parts that cores need come first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
enum Section {
    Sites,
    Runs,
    Order,
    Pages,
    Rows,
    Attributes,
    Intra,
}

/// A chunk in the file.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Chunk {
    section: Section,
    /// The number of its items.
    items: u32,
    /// Its length in the file, and without compression.
    length: u32,
    raw_length: u32,
    hash: Hash128,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Header {
    bank: u128,
    batch: BatchId,
    /// The hash of the record of the batch, which distinguishes copies of a bank that have diverged.
    batch_hash: [u8; 32],
    pages: u32,
    rows: u32,
    /// Whether the file has intra-site links and attributes.
    has_all: bool,
    chunks: Vec<Chunk>,
}

/// An open file whose header is right, and whose state is one of this bank.
pub(super) struct ImageFile {
    file: File,
    header: Header,
}

/// Returns the hash of the record of a batch; `None` if there is no such batch.
fn batch_hash(store: &Store, batch: BatchId) -> Result<Option<[u8; 32]>, StoreError> {
    store.rocks.get(BATCHES.name, &batch.bytes(), |value| {
        *blake3::hash(value).as_bytes()
    })
}

/// Opens the file in a folder. `None` if the file does not exist, lacks the links, or has a state that is not an
/// earlier or the current one of this bank.
pub(super) fn open(
    store: &Store,
    folder: &Path,
    links: ImageLinks,
) -> Result<Option<ImageFile>, StoreError> {
    let path = folder.join(GRAPH);
    let Ok(mut file) = open_regular(&path) else {
        return Ok(None);
    };
    let header = read_header(&mut file).map_err(StoreError::io("read", &path))?;
    let is_usable = header.bank == store.lineage()?.bank
        && (header.has_all || links == ImageLinks::InterSite)
        && batch_hash(store, header.batch)? == Some(header.batch_hash);
    Ok(is_usable.then_some(ImageFile { file, header }))
}

/// What a folder's file of this bank has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Existing {
    pub(super) batch: BatchId,
    pub(super) links: ImageLinks,
}

/// Returns what the file in a folder has, also if its state is one of a diverged copy. `None` if there is no readable
/// file of this bank.
pub(super) fn existing(store: &Store, folder: &Path) -> Option<Existing> {
    let mut file = open_regular(&folder.join(GRAPH)).ok()?;
    let header = read_header(&mut file).ok()?;
    (header.bank == store.lineage().ok()?.bank).then_some(Existing {
        batch: header.batch,
        links: if header.has_all {
            ImageLinks::All
        } else {
            ImageLinks::InterSite
        },
    })
}

fn invalid(what: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn read_header(file: &mut File) -> io::Result<Header> {
    let mut start = [0; 20];
    file.read_exact(&mut start)?;
    let (magic, length) = start.split_at(MAGIC.len());
    let length = length.try_into().map(u32::from_be_bytes);
    let length = length.map_or(usize::MAX, |length| length as usize);
    if magic != MAGIC || length > MAX_HEADER {
        return Err(invalid("it is no graph image of this version"));
    }
    let mut bytes = Vec::new();
    file.take(length as u64 + 32).read_to_end(&mut bytes)?;
    let (header, hash) = bytes
        .split_at_checked(length)
        .ok_or_else(|| invalid("it is too short"))?;
    let mut hasher = blake3::Hasher::new();
    hasher.update(&start).update(header);
    if hasher.finalize().as_bytes() != hash {
        return Err(invalid("its header is damaged"));
    }
    let header: Header = codec::take_record(header).map_err(invalid)?;
    let chunks: u64 = header
        .chunks
        .iter()
        .map(|chunk| u64::from(chunk.length))
        .sum();
    if file.metadata()?.len() != (start.len() + bytes.len()) as u64 + chunks {
        return Err(invalid("it has another length"));
    }
    Ok(header)
}

/// A decoded chunk.
enum Part {
    Sites(Vec<ImageSite>),
    Runs(Vec<super::Run>),
    Order(Vec<u32>),
    Pages(Vec<super::Flags>, Vec<u32>),
    Rows(Vec<u32>, (Vec<u32>, Vec<u32>)),
    Attributes(Vec<super::PageAttributes>),
    Intra((Vec<u32>, Vec<u32>)),
}

impl Chunk {
    fn decode(&self, bytes: &[u8], slots: u32) -> Result<Part, Malformed> {
        if hash_of(bytes) != self.hash {
            return Err(Malformed(
                "a chunk of the graph image is damaged".to_owned(),
            ));
        }
        let raw = zstd::bulk::decompress(bytes, self.raw_length as usize);
        let raw = raw.map_err(|e| Malformed(e.to_string()))?;
        let mut from = Bytes::new(&raw);
        let count = self.items as usize;
        let part = match self.section {
            Section::Sites => Part::Sites(section_codec::take_sites(&mut from, count)?),
            Section::Runs => Part::Runs(section_codec::take_runs(&mut from, count)?),
            Section::Order => Part::Order(section_codec::take_order(&mut from, count)?),
            Section::Pages => {
                let (flags, row_of) = section_codec::take_pages(&mut from, count)?;
                Part::Pages(flags, row_of)
            }
            Section::Rows => {
                let indexes = section_codec::take_order(&mut from, count)?;
                Part::Rows(indexes, section_codec::take_lists(&mut from, count, slots)?)
            }
            Section::Attributes => {
                Part::Attributes(section_codec::take_attributes(&mut from, count)?)
            }
            Section::Intra => Part::Intra(section_codec::take_lists(&mut from, count, slots)?),
        };
        from.finish()?;
        Ok(part)
    }
}

fn hash_of(bytes: &[u8]) -> Hash128 {
    let mut hash = Hash128::default();
    hash.copy_from_slice(&blake3::hash(bytes).as_bytes()[..16]);
    hash
}

impl ImageFile {
    pub(super) const fn batch(&self) -> BatchId {
        self.header.batch
    }

    pub(super) fn pages(&self) -> u64 {
        u64::from(self.header.pages)
    }

    /// Reads the image. Cost: the parts that are needed, in sequence; they are decoded in parallel. Memory: the
    /// compressed parts besides the image.
    pub(super) fn read(mut self, links: ImageLinks) -> Result<GraphImage, StoreError> {
        let chunks: Vec<Chunk> = match links {
            ImageLinks::All => self.header.chunks,
            ImageLinks::InterSite => {
                let chunks = self.header.chunks.into_iter();
                chunks
                    .take_while(|chunk| chunk.section <= Section::Rows)
                    .collect()
            }
        };
        let total: usize = chunks.iter().map(|chunk| chunk.length as usize).sum();
        let mut bytes = vec![0; total];
        self.file
            .read_exact(&mut bytes)
            .map_err(StoreError::io("read", GRAPH))?;
        let mut rest = bytes.as_slice();
        let mut jobs = Vec::with_capacity(chunks.len());
        for chunk in chunks {
            let (own, others) = rest.split_at(chunk.length as usize);
            jobs.push((chunk, own));
            rest = others;
        }
        let slots = self.header.pages;
        let parts: Result<Vec<Part>, Malformed> = jobs
            .into_par_iter()
            .map(|(chunk, bytes)| chunk.decode(bytes, slots))
            .collect();
        let image = parts.and_then(|parts| join(parts, self.header.batch, links));
        let image = image.map_err(|e| StoreError::io("read", GRAPH)(invalid(e)))?;
        if image.flags.len() == slots as usize && image.row_count() == self.header.rows as usize {
            Ok(image)
        } else {
            Err(StoreError::io("read", GRAPH)(invalid("its parts differ")))
        }
    }
}

/// Joins the parts of an image.
fn join(parts: Vec<Part>, batch: BatchId, links: ImageLinks) -> Result<GraphImage, Malformed> {
    let mut image = GraphImage::empty(batch);
    let (mut rows, mut intra) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            Part::Sites(mut sites) => image.sites.append(&mut sites),
            Part::Runs(mut runs) => image.runs.append(&mut runs),
            Part::Order(mut order) => image.order.append(&mut order),
            Part::Pages(mut flags, mut row_of) => {
                image.flags.append(&mut flags);
                image.row_of.append(&mut row_of);
            }
            Part::Rows(mut indexes, lists) => {
                image.row_indexes.append(&mut indexes);
                rows.push(lists);
            }
            Part::Attributes(mut attributes) => image.attributes.append(&mut attributes),
            Part::Intra(lists) => intra.push(lists),
        }
    }
    image.rows = Lists::join(rows.into_iter());
    if links == ImageLinks::All {
        image.intra = Some(Lists::join(intra.into_iter()));
    }
    let differ = || Malformed("parts of the graph image differ".to_owned());
    let (mut pages, mut next_row): (u32, u32) = (0, 0);
    for site in &mut image.sites {
        (site.first, site.first_row) = (pages, next_row);
        pages = pages.checked_add(site.pages).ok_or_else(differ)?;
        next_row = next_row.checked_add(site.rows).ok_or_else(differ)?;
    }
    let mut start: u32 = 0;
    for run in &mut image.runs {
        run.start = start;
        start = start.checked_add(run.length).ok_or_else(differ)?;
    }
    let slots = image.flags.len();
    let rows = image.row_indexes.len();
    let is_right = pages as usize == slots
        && next_row as usize == rows
        && start as usize == image.order.len()
        && image.rows.len() == rows
        && image
            .intra
            .as_ref()
            .is_none_or(|intra| intra.len() == slots)
        && (image.attributes.is_empty() || image.attributes.len() == slots)
        && image.order.iter().all(|slot| (*slot as usize) < slots)
        && image
            .runs
            .iter()
            .all(|run| (run.site.0 as usize) < image.sites.len())
        && image
            .row_of
            .iter()
            .all(|row| *row == NO_ROW || (*row as usize) < rows);
    if is_right { Ok(image) } else { Err(differ()) }
}

/// Writes the file of an image without additions, unless another process does.
pub(super) fn write(
    image: &GraphImage,
    store: &Store,
    folder: &Path,
    links: ImageLinks,
) -> Result<(), StoreError> {
    let Some(batch_hash) = batch_hash(store, image.batch)? else {
        return Ok(());
    };
    make_folders(folder).map_err(StoreError::io("make", folder))?;
    // Nothing is written through a link.
    if !is_folder(folder) {
        return Ok(());
    }
    let Ok(_lock) = Lock::try_exclusive(lock_file(&folder.join(LOCK))?) else {
        return Ok(());
    };
    let (chunks, bodies) = encode(image, links);
    let header = Header {
        bank: store.lineage()?.bank,
        batch: image.batch,
        batch_hash,
        pages: u32::try_from(image.flags.len()).unwrap_or(u32::MAX),
        rows: u32::try_from(image.row_count()).unwrap_or(u32::MAX),
        has_all: links == ImageLinks::All,
        chunks,
    };
    let path = folder.join(GRAPH);
    let new = temporary_name(&path);
    let written = write_file(&new, &header, &bodies).and_then(|()| fs::rename(&new, &path));
    if written.is_err() {
        // As on a full disk.
        let _ = fs::remove_file(&new);
    }
    written.map_err(StoreError::io("write", &path))
}

fn write_file(path: &Path, header: &Header, bodies: &[Vec<u8>]) -> io::Result<()> {
    let mut record = Vec::new();
    codec::put_record(header, &mut record).map_err(invalid)?;
    let length = u32::try_from(record.len()).map_err(invalid)?;
    let mut start = MAGIC.to_vec();
    start.extend(length.to_be_bytes());
    start.extend(record);
    let hash = blake3::hash(&start);
    let mut file = create_fresh(path)?;
    file.write_all(&start)?;
    file.write_all(hash.as_bytes())?;
    for body in bodies {
        file.write_all(body)?;
    }
    Ok(())
}

/// Encodes and compresses all parts.
fn encode(image: &GraphImage, links: ImageLinks) -> (Vec<Chunk>, Vec<Vec<u8>>) {
    let mut jobs: Vec<(Section, std::ops::Range<usize>)> = Vec::new();
    let mut add = |section, items: usize| {
        let starts = (0..items).step_by(CHUNK);
        jobs.extend(starts.map(|from| (section, from..items.min(from + CHUNK))));
    };
    let pages = image.flags.len();
    add(Section::Sites, image.sites.len());
    add(Section::Runs, image.runs.len());
    add(Section::Order, image.order.len());
    add(Section::Pages, pages);
    add(Section::Rows, image.row_count());
    if links == ImageLinks::All {
        add(Section::Attributes, image.attributes.len());
        add(Section::Intra, pages);
    }
    let encoded: Vec<Option<(Chunk, Vec<u8>)>> = jobs
        .into_par_iter()
        .map(|(section, items)| encode_chunk(image, section, items))
        .collect();
    encoded.into_iter().flatten().unzip()
}

/// Encodes one chunk. `None` if it exceeds 4 GiB, so that the file is not used.
fn encode_chunk(
    image: &GraphImage,
    section: Section,
    items: std::ops::Range<usize>,
) -> Option<(Chunk, Vec<u8>)> {
    let mut raw = Vec::new();
    let numbers = u32::try_from(items.start).ok()?..u32::try_from(items.end).ok()?;
    let count = numbers.end - numbers.start;
    match section {
        Section::Sites => section_codec::put_sites(&image.sites[items], &mut raw),
        Section::Runs => section_codec::put_runs(&image.runs[items], &mut raw),
        Section::Order => section_codec::put_order(&image.order[items], &mut raw),
        Section::Pages => {
            section_codec::put_pages(&image.flags[items.clone()], &image.row_of[items], &mut raw);
        }
        Section::Rows => {
            section_codec::put_order(&image.row_indexes[items], &mut raw);
            section_codec::put_lists(numbers.map(|row| image.row(row)), &mut raw);
        }
        Section::Attributes => section_codec::put_attributes(&image.attributes[items], &mut raw),
        Section::Intra => section_codec::put_lists(numbers.map(|slot| image.intra(slot)), &mut raw),
    }
    let body = zstd::bulk::compress(&raw, LEVEL).ok()?;
    let chunk = Chunk {
        section,
        items: count,
        length: u32::try_from(body.len()).ok()?,
        raw_length: u32::try_from(raw.len()).ok()?,
        hash: hash_of(&body),
    };
    Some((chunk, body))
}

/// Removes the image of a bank. Fails if it cannot be removed.
pub(crate) fn remove_image(bank: &Path) -> Result<(), StoreError> {
    let path = bank.join(IMAGE).join(GRAPH);
    for path in [temporary_name(&path), path] {
        match fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                return Err(StoreError::io("remove", &path)(e));
            }
            _ => {}
        }
    }
    Ok(())
}
