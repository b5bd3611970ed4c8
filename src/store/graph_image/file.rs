//! The file of an image: a header, its hash, and the chunks in the order of the header; its lock, and its state.
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
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::image::{Flags, GraphImage, ImageLinks, ImageSite, Lists, NO_ROW, PageAttributes, Run};
use crate::disk::{
    IMAGE, Lock, create_fresh, is_folder, lock_file, make_folders, open_regular, sync_folder,
    temporary_name,
};
use crate::error::{StoreError, is_file_damage};
use crate::tables::BATCHES;
use crate::tables::codec::{self, Malformed, put_varint};
use crate::tables::records::{BatchId, BatchKind, Hash128};
use crate::tables::store::{ImageAccess, Store};
use crate::tables::table::Key;
use seedbank_algorithms::page::SiteId;
use seedbank_algorithms::watch::Watch;

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
pub(super) struct Header {
    pub(super) bank: u128,
    pub(super) batch: BatchId,
    /// The hash of the record of the batch, which distinguishes copies of a bank that have diverged.
    pub(super) batch_hash: [u8; 32],
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
pub(super) fn batch_hash(store: &Store, batch: BatchId) -> Result<Option<[u8; 32]>, StoreError> {
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
    let mut file = match open_regular(&path) {
        Err(e) if is_file_damage(&e) => return Ok(None),
        file => file.map_err(StoreError::io("read", &path))?,
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

pub(super) fn read_header(file: &mut File) -> io::Result<Header> {
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
    Runs(Vec<Run>),
    Order(Vec<u32>),
    Pages(Vec<Flags>, Vec<u32>),
    Rows(Vec<u32>, (Vec<u32>, Vec<u32>)),
    Attributes(Vec<PageAttributes>),
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
            Section::Sites => Part::Sites(take_sites(&mut from, count)?),
            Section::Runs => Part::Runs(take_runs(&mut from, count)?),
            Section::Order => Part::Order(take_order(&mut from, count)?),
            Section::Pages => {
                let (flags, row_of) = take_pages(&mut from, count)?;
                Part::Pages(flags, row_of)
            }
            Section::Rows => {
                let indexes = take_order(&mut from, count)?;
                Part::Rows(indexes, take_lists(&mut from, count, slots)?)
            }
            Section::Attributes => Part::Attributes(take_attributes(&mut from, count)?),
            Section::Intra => Part::Intra(take_lists(&mut from, count, slots)?),
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

/// Writes the file of an image without additions, unless another process does, or another state is published.
pub(super) fn write(
    image: &GraphImage,
    store: &Store,
    access: &ImageAccess,
    links: ImageLinks,
) -> Result<(), StoreError> {
    let Some(batch_hash) = batch_hash(store, image.batch)? else {
        return Ok(());
    };
    let Some(_lock) = ImageLock::try_take(&access.folder)? else {
        return Ok(());
    };
    // A commit that forgets pages takes the lock first, so until it is released here, none is published.
    if !(access.is_published)() {
        return Ok(());
    }
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
    let path = access.folder.join(GRAPH);
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
        Section::Sites => put_sites(&image.sites[items], &mut raw),
        Section::Runs => put_runs(&image.runs[items], &mut raw),
        Section::Order => put_order(&image.order[items], &mut raw),
        Section::Pages => {
            put_pages(&image.flags[items.clone()], &image.row_of[items], &mut raw);
        }
        Section::Rows => {
            put_order(&image.row_indexes[items], &mut raw);
            put_lists(numbers.map(|row| image.row(row)), &mut raw);
        }
        Section::Attributes => put_attributes(&image.attributes[items], &mut raw),
        Section::Intra => put_lists(numbers.map(|slot| image.intra(slot)), &mut raw),
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

// The parts of an image as bytes. Each part is cut into chunks of [`CHUNK`] items, which are encoded
// independently. Numbers are LEB128 varints; what is signed is zigzag-coded. All chunks are then compressed.
//
// | part | an item | values |
// | --- | --- | --- |
// | sites | a site | number of pages, number of rows, pages with digest, distinct digests |
// | runs | a run | difference of the site, number of pages, prefix: length shared with the previous one, rest |
// | order | a page | difference of the slot |
// | pages | a page | flags, one byte; then, of pages with a row, the difference of its number |
// | rows | a row | difference of the index; number of targets; targets |
// | attributes | a page | clicks, 0 or one more than the uncrawled outlinks, quality |
// | intra | a page | number of targets; targets |
//
// Differences are from the previous item of the chunk. Targets are the difference of the first target from
// that of the previous list, then the gaps less one: lists of the same template have the same bytes.

/// The number of items of a chunk.
pub(super) const CHUNK: usize = 1 << 16;

/// Marks a page with a row.
const HAS_ROW: u8 = 1 << 4;

fn malformed() -> Malformed {
    Malformed("a chunk of the graph image is malformed".to_owned())
}

fn put_signed(value: i64, out: &mut Vec<u8>) {
    put_varint(((value << 1) ^ (value >> 63)).cast_unsigned(), out);
}

/// Encodes differences between numbers.
#[derive(Default)]
struct Differences {
    last: i64,
}

impl Differences {
    fn put(&mut self, value: u32, out: &mut Vec<u8>) {
        put_signed(i64::from(value) - self.last, out);
        self.last = i64::from(value);
    }

    fn take(&mut self, from: &mut Bytes<'_>) -> Result<u32, Malformed> {
        let coded = from.varint()?;
        let difference = (coded >> 1).cast_signed() ^ -(coded & 1).cast_signed();
        let value = self.last.wrapping_add(difference);
        self.last = value;
        u32::try_from(value).map_err(|_| malformed())
    }
}

/// The rest of a chunk.
pub(super) struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    fn varint(&mut self) -> Result<u64, Malformed> {
        codec::take_varint(&mut self.0)
    }

    fn number(&mut self) -> Result<u32, Malformed> {
        codec::take_u32(&mut self.0)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or_else(malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    /// Fails unless everything was taken.
    pub(super) fn finish(self) -> Result<(), Malformed> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(malformed())
        }
    }
}

pub(super) fn put_sites(sites: &[ImageSite], out: &mut Vec<u8>) {
    for site in sites {
        for value in [
            site.pages,
            site.rows,
            site.with_digest,
            site.distinct_digests,
        ] {
            put_varint(u64::from(value), out);
        }
    }
}

pub(super) fn take_sites(from: &mut Bytes<'_>, count: usize) -> Result<Vec<ImageSite>, Malformed> {
    let site = |_| {
        Ok(ImageSite {
            pages: from.number()?,
            rows: from.number()?,
            with_digest: from.number()?,
            distinct_digests: from.number()?,
            ..ImageSite::default()
        })
    };
    (0..count).map(site).collect()
}

pub(super) fn put_runs(runs: &[Run], out: &mut Vec<u8>) {
    let mut sites = Differences::default();
    let mut last = "";
    for run in runs {
        sites.put(run.site.0, out);
        put_varint(u64::from(run.length), out);
        let pairs = last.bytes().zip(run.begins.bytes());
        let mut shared = pairs.take_while(|(a, b)| a == b).count();
        while !run.begins.is_char_boundary(shared) {
            shared -= 1;
        }
        let rest = &run.begins.as_bytes()[shared..];
        put_varint(shared as u64, out);
        put_varint(rest.len() as u64, out);
        out.extend_from_slice(rest);
        last = &run.begins;
    }
}

pub(super) fn take_runs(from: &mut Bytes<'_>, count: usize) -> Result<Vec<Run>, Malformed> {
    let mut sites = Differences::default();
    let mut runs: Vec<Run> = Vec::with_capacity(count);
    for _ in 0..count {
        let site = SiteId(sites.take(from)?);
        let length = from.number()?;
        let shared = from.number()? as usize;
        let rest = from.number()? as usize;
        let rest = std::str::from_utf8(from.take(rest)?).map_err(|_| malformed())?;
        let last = runs.last().map_or("", |run| run.begins.as_str());
        let begins = [last.get(..shared).ok_or_else(malformed)?, rest].concat();
        runs.push(Run {
            begins,
            site,
            start: 0,
            length,
        });
    }
    Ok(runs)
}

pub(super) fn put_order(order: &[u32], out: &mut Vec<u8>) {
    let mut slots = Differences::default();
    for &slot in order {
        slots.put(slot, out);
    }
}

pub(super) fn take_order(from: &mut Bytes<'_>, count: usize) -> Result<Vec<u32>, Malformed> {
    let mut slots = Differences::default();
    (0..count).map(|_| slots.take(from)).collect()
}

pub(super) fn put_pages(flags: &[Flags], row_of: &[u32], out: &mut Vec<u8>) {
    for (flags, &row) in flags.iter().zip(row_of) {
        out.push(flags.0 | if row == NO_ROW { 0 } else { HAS_ROW });
    }
    let mut rows = Differences::default();
    for &row in row_of.iter().filter(|row| **row != NO_ROW) {
        rows.put(row, out);
    }
}

pub(super) fn take_pages(
    from: &mut Bytes<'_>,
    count: usize,
) -> Result<(Vec<Flags>, Vec<u32>), Malformed> {
    let bytes = from.take(count)?;
    let mut rows = Differences::default();
    let mut row_of = Vec::with_capacity(count);
    for byte in bytes {
        row_of.push(if byte & HAS_ROW == 0 {
            NO_ROW
        } else {
            rows.take(from)?
        });
    }
    let flags = bytes.iter().map(|byte| Flags(byte & !HAS_ROW));
    Ok((flags.collect(), row_of))
}

pub(super) fn put_attributes(attributes: &[PageAttributes], out: &mut Vec<u8>) {
    for of_page in attributes {
        let given = of_page
            .uncrawled_given
            .map_or(0, |given| u64::from(given) + 1);
        for value in [of_page.clicks, given, u64::from(of_page.quality)] {
            put_varint(value, out);
        }
    }
}

pub(super) fn take_attributes(
    from: &mut Bytes<'_>,
    count: usize,
) -> Result<Vec<PageAttributes>, Malformed> {
    let attributes = |_| {
        let clicks = from.varint()?;
        let given = from.varint()?.checked_sub(1);
        let given = given.map(u32::try_from).transpose();
        let quality = u16::try_from(from.varint()?);
        Ok(PageAttributes {
            clicks,
            uncrawled_given: given.map_err(|_| malformed())?,
            quality: quality.map_err(|_| malformed())?,
        })
    };
    (0..count).map(attributes).collect()
}

/// Encodes lists that ascend strictly.
pub(super) fn put_lists<'a>(lists: impl Iterator<Item = &'a [u32]> + Clone, out: &mut Vec<u8>) {
    for list in lists.clone() {
        put_varint(list.len() as u64, out);
    }
    let mut firsts = Differences::default();
    for list in lists {
        if let Some((&first, rest)) = list.split_first() {
            firsts.put(first, out);
            let mut next = first.saturating_add(1);
            for &entry in rest {
                put_varint(u64::from(entry.saturating_sub(next)), out);
                next = entry.saturating_add(1);
            }
        }
    }
}

/// Decodes lists of numbers below `end`. Returns their lengths and all entries.
pub(super) fn take_lists(
    from: &mut Bytes<'_>,
    count: usize,
    end: u32,
) -> Result<(Vec<u32>, Vec<u32>), Malformed> {
    let lengths: Vec<u32> = (0..count)
        .map(|_| from.number())
        .collect::<Result<_, _>>()?;
    let total: usize = lengths.iter().map(|length| *length as usize).sum();
    // Every entry takes at least one byte, which bounds the allocation.
    if total > from.0.len() {
        return Err(malformed());
    }
    let mut entries = Vec::with_capacity(total);
    let mut firsts = Differences::default();
    for &length in lengths.iter().filter(|length| **length > 0) {
        let mut entry = firsts.take(from)?;
        entries.push(entry);
        for _ in 1..length {
            let gap = from.number()?;
            entry = entry
                .checked_add(gap)
                .and_then(|e| e.checked_add(1))
                .ok_or_else(malformed)?;
            entries.push(entry);
        }
        if entry >= end {
            return Err(malformed());
        }
    }
    Ok((lengths, entries))
}

// The lock of the graph image, and the removal of the image.

/// The name of the file of the image.
pub(super) const GRAPH: &str = "graph";

/// The name of the lock.
const LOCK: &str = "lock";

/// The lock of the graph image of a bank. While it is held, no process writes the image.
pub struct ImageLock {
    folder: PathBuf,
    _lock: Lock,
}

impl ImageLock {
    /// Takes the lock; waits for a process that writes the image. `None` if there can be no image, since something else is in
    /// place of its folder.
    pub(crate) fn take(bank: &Path, watch: &dyn Watch) -> Result<Option<Self>, StoreError> {
        let folder = bank.join(IMAGE);
        let Some(path) = lock_path(&folder)? else {
            return Ok(None);
        };
        let lock = Lock::exclusive(lock_file(&path)?, &path, true, watch)?;
        Ok(lock.map(|lock| Self {
            folder,
            _lock: lock,
        }))
    }

    /// Takes the lock of the image in a folder; `None` if another process has it, or if there can be no image.
    pub(super) fn try_take(folder: &Path) -> Result<Option<Self>, StoreError> {
        let Some(path) = lock_path(folder)? else {
            return Ok(None);
        };
        let lock = Lock::try_exclusive(lock_file(&path)?).ok();
        Ok(lock.map(|lock| Self {
            folder: folder.to_path_buf(),
            _lock: lock,
        }))
    }

    /// Removes the image, and what a killed process has written of one, durably.
    pub(crate) fn remove(&self) -> Result<(), StoreError> {
        let path = self.folder.join(GRAPH);
        remove_entry(&temporary_name(&path))?;
        remove_entry(&path)?;
        sync_folder(&self.folder).map_err(StoreError::io("write to", &self.folder))
    }
}

/// Creates the folder of the image, and returns the path of the lock; `None` if something else is in place of the folder.
fn lock_path(folder: &Path) -> Result<Option<PathBuf>, StoreError> {
    match make_folders(folder) {
        Err(e) if is_occupied(&e) => return Ok(None),
        made => made.map_err(StoreError::io("make", folder))?,
    }
    // Nothing is written through a link.
    if !is_folder(folder) {
        return Ok(None);
    }
    let path = folder.join(LOCK);
    // Nobody can hold a lock that is not a regular file.
    if fs::symlink_metadata(&path).is_ok_and(|found| !found.is_file()) {
        remove_entry(&path)?;
    }
    Ok(Some(path))
}

fn is_occupied(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory
    )
}

/// Removes a file or an empty folder, if it exists.
fn remove_entry(path: &Path) -> Result<(), StoreError> {
    let removed = match fs::remove_file(path) {
        Err(e) if e.kind() == io::ErrorKind::IsADirectory => fs::remove_dir(path),
        removed => removed,
    };
    match removed {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(StoreError::io("remove", path)),
    }
}

// The state of the file of an image, compared with that of the bank.
//
// An image of an earlier batch is usual: what later batches changed is read from the tables. It is no image of this bank
// any more if a batch since has forgotten pages, since their hosts may be in it.

/// Why no command uses an image.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ImageFault {
    /// It is damaged, was not written completely, or is from another version.
    Unreadable,
    /// It has a state that this bank does not have, or none that it may have; the text says which one.
    OtherState(String),
}

impl ImageFault {
    /// Compares the file of an image with the state of a store; `None` if commands may use it, or if there is none.
    ///
    /// Cost: reads the header of the file, and the record of each batch since.
    pub(crate) fn find(store: &Store, bank: &Path) -> Result<Option<Self>, StoreError> {
        let path = bank.join(IMAGE).join(GRAPH);
        let header = match open_regular(&path).and_then(|mut file| read_header(&mut file)) {
            Ok(header) => header,
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(e) if is_file_damage(&e) => return Ok(Some(Self::Unreadable)),
            Err(e) => return Err(StoreError::io("read", &path)(e)),
        };
        let batch = header.batch;
        let other = |what: String| Ok(Some(Self::OtherState(what)));
        if header.bank != store.lineage()?.bank {
            return other("it is of another bank".to_owned());
        }
        let current = store.counters()?.batch;
        if batch > current {
            return other(format!(
                "it is of batch {batch}, and the last batch is {current}"
            ));
        }
        if batch_hash(store, batch)? != Some(header.batch_hash) {
            return other(format!(
                "it is of batch {batch} of another copy of the bank"
            ));
        }
        for later in batch + 1..=current {
            if store.need(&BATCHES, &later)?.kind == BatchKind::Forget {
                return other(format!(
                    "it is of batch {batch}, and batch {later} has forgotten pages since"
                ));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lists_are_read_back(
            lists in prop::collection::vec(prop::collection::btree_set(0_u32..1 << 20, 0..40), 0..80),
        ) {
            let lists: Vec<Vec<u32>> = lists.into_iter().map(|list| list.into_iter().collect()).collect();
            let mut bytes = Vec::new();
            put_lists(lists.iter().map(Vec::as_slice), &mut bytes);
            let mut from = Bytes::new(&bytes);
            let (lengths, entries) = take_lists(&mut from, lists.len(), 1 << 20).unwrap();
            from.finish().unwrap();
            prop_assert_eq!(entries, lists.concat());
            let expected: Vec<u32> = lists.iter().map(|list| u32::try_from(list.len()).unwrap()).collect();
            prop_assert_eq!(lengths, expected);
        }
    }
}
