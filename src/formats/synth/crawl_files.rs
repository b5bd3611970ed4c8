//! A crawl in a directory: a snapshot and daily deltas, one compressed file each.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::options::{SynthError, SynthOptions};
use super::record_writer::DayCounts;
use super::stream::Groups;
use super::web::Web;
use seedbank_algorithms::watch::Watch;

/// The compression level: generating must not be slower than reading.
const LEVEL: i32 = 1;

/// One written file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayFile {
    /// The path: `day-000.jsonl.zst` is the snapshot, the others are deltas.
    pub path: PathBuf,
    /// The day, from 0.
    pub day: u32,
    /// The size of the file in bytes, compressed.
    pub file_bytes: u64,
    /// What the file holds.
    pub counts: DayCounts,
}

/// What [`generate`] wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SynthSummary {
    /// The number of crawled sites.
    pub sites: u32,
    /// The files in the order of days.
    pub files: Vec<DayFile>,
}

/// Removes the files written so far, unless the whole crawl was written.
pub(super) struct Written {
    dir: PathBuf,
    made_dir: bool,
    paths: Vec<PathBuf>,
    done: bool,
}

impl Written {
    /// Nothing so far, in a directory that was made for it or was there and empty.
    pub(super) fn begin(dir: &Path, made_dir: bool) -> Self {
        Self {
            dir: dir.to_path_buf(),
            made_dir,
            paths: Vec::new(),
            done: false,
        }
    }

    /// The path of a file, and the one that it has until it is complete.
    pub(super) fn names(&mut self, name: &str) -> (PathBuf, PathBuf) {
        let path = self.dir.join(name);
        let temporary = self.dir.join(format!(".{name}.part"));
        self.paths.extend([temporary.clone(), path.clone()]);
        (path, temporary)
    }

    /// Keeps the files.
    pub(super) fn finish(mut self) -> Result<(), SynthError> {
        File::open(&self.dir)
            .and_then(|dir| dir.sync_all())
            .map_err(|e| write_error(&self.dir, e))?;
        self.done = true;
        Ok(())
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        if self.done {
            return;
        }
        // The error that led here is the one to report.
        for path in &self.paths {
            let _ = fs::remove_file(path);
        }
        if self.made_dir {
            let _ = fs::remove_dir(&self.dir);
        }
    }
}

/// Writes a crawl to a new or empty directory: `day-000.jsonl.zst`, a snapshot, and
/// [`SynthOptions::days`] daily deltas.
///
/// Every file appears complete (temporary name, sync, rename); after an error or an interrupt
/// nothing is left. The bytes depend on the options alone, and those of a day do not depend on how
/// many days were asked for. The watch sees one stage per day and advances by pages.
pub fn generate(
    dir: &Path,
    options: &SynthOptions,
    watch: &dyn Watch,
) -> Result<SynthSummary, SynthError> {
    let web = Web::new(options)?;
    let mut written = Written::begin(dir, empty_directory(dir)?);
    let mut files = Vec::new();
    for day in 0..=options.days {
        let (path, temporary) = written.names(&format!("day-{day:03}.jsonl.zst"));
        let (counts, file_bytes) = write_day(&web, day, &temporary, watch)?;
        fs::rename(&temporary, &path).map_err(|e| write_error(&path, e))?;
        files.push(DayFile {
            path,
            day,
            file_bytes,
            counts,
        });
    }
    written.finish()?;
    Ok(SynthSummary {
        sites: web.site_count(),
        files,
    })
}

pub(super) fn write_error(path: &Path, source: io::Error) -> SynthError {
    SynthError::Write {
        path: path.to_path_buf(),
        source,
    }
}

/// Makes the directory if needed, and returns whether it had to be made; an existing one must be
/// empty.
pub(super) fn empty_directory(dir: &Path) -> Result<bool, SynthError> {
    match fs::read_dir(dir) {
        Ok(mut entries) => match entries.next() {
            None => Ok(false),
            Some(_) => Err(SynthError::NotEmpty(dir.to_path_buf())),
        },
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(dir).map_err(|e| write_error(dir, e))?;
            Ok(true)
        }
        Err(e) if e.kind() == io::ErrorKind::NotADirectory => {
            Err(SynthError::NotADirectory(dir.to_path_buf()))
        }
        Err(e) => Err(write_error(dir, e)),
    }
}

/// Each unit is a frame of its own: they are compressed in parallel, and any reader sees one file.
fn write_day(
    web: &Web,
    day: u32,
    path: &Path,
    watch: &dyn Watch,
) -> Result<(DayCounts, u64), SynthError> {
    watch.stage(
        &format!("day {day}"),
        (day == 0).then_some(web.options().pages),
    );
    let failed = |e| write_error(path, e);
    let mut out = BufWriter::new(File::create_new(path).map_err(failed)?);
    let mut counts = DayCounts::default();
    let mut bytes = 0;
    let compress = |text: Vec<u8>| zstd::bulk::compress(&text, LEVEL);
    for group in Groups::new(web, day, compress) {
        watch.proceed()?;
        for (block, block_counts) in group.map_err(failed)? {
            out.write_all(&block).map_err(failed)?;
            bytes += block.len() as u64;
            watch.advance(block_counts.records);
            counts.add(&block_counts);
        }
    }
    let file = out.into_inner().map_err(|e| failed(e.into_error()))?;
    file.sync_all().map_err(failed)?;
    Ok((counts, bytes))
}
