//! Writes a crawl to a directory: a snapshot and daily deltas, one compressed file each.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::options::{SynthError, SynthOptions};
use super::record_writer::DayCounts;
use super::stream::Groups;
use super::web_model::Web;
use seedbank_algorithms::watch::Watch;

/// The zstd level: generating must not be slower than reading.
const LEVEL: i32 = 1;

/// A written file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayFile {
    /// The path; `day-000.jsonl.zst` is the snapshot.
    pub path: PathBuf,
    /// The day, from 0.
    pub day: u32,
    /// The size of the file in bytes, compressed.
    pub file_bytes: u64,
    /// Counts of the file's records.
    pub counts: DayCounts,
}

/// The result of [`generate`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SynthSummary {
    /// The number of crawled sites.
    pub sites: u32,
    /// The files in the order of days.
    pub files: Vec<DayFile>,
}

/// Removes the files written so far when dropped, unless [`finish`](Self::finish) was called.
pub(super) struct OutputFiles {
    dir: PathBuf,
    created_dir: bool,
    paths: Vec<PathBuf>,
    done: bool,
}

impl OutputFiles {
    /// Starts with no files. `created_dir` tells whether the directory was created for them.
    pub(super) fn new(dir: &Path, created_dir: bool) -> Self {
        Self {
            dir: dir.to_path_buf(),
            created_dir,
            paths: Vec::new(),
            done: false,
        }
    }

    /// Adds a file; returns its path, and its temporary path until it is complete.
    pub(super) fn add(&mut self, name: &str) -> (PathBuf, PathBuf) {
        let path = self.dir.join(name);
        let temporary = self.dir.join(format!(".{name}.part"));
        self.paths.extend([temporary.clone(), path.clone()]);
        (path, temporary)
    }

    /// Syncs the directory and keeps the files.
    pub(super) fn finish(mut self) -> Result<(), SynthError> {
        File::open(&self.dir)
            .and_then(|dir| dir.sync_all())
            .map_err(|e| write_error(&self.dir, e))?;
        self.done = true;
        Ok(())
    }
}

impl Drop for OutputFiles {
    fn drop(&mut self) {
        if self.done {
            return;
        }
        // Errors are ignored: the original error is reported.
        for path in &self.paths {
            let _ = fs::remove_file(path);
        }
        if self.created_dir {
            let _ = fs::remove_dir(&self.dir);
        }
    }
}

/// Writes a crawl to a new or empty directory: `day-000.jsonl.zst`, a snapshot, and
/// [`SynthOptions::days`] daily deltas.
///
/// Files appear only when complete (temporary name, sync, rename); after an error or interrupt none are
/// left. The bytes depend only on the options, and those of a day not on the number of days. The watch
/// gets one stage per day and advances by pages.
pub fn generate(
    dir: &Path,
    options: &SynthOptions,
    watch: &dyn Watch,
) -> Result<SynthSummary, SynthError> {
    let web = Web::new(options)?;
    let mut written = OutputFiles::new(dir, create_empty_directory(dir)?);
    let mut files = Vec::new();
    for day in 0..=options.days {
        let (path, temporary) = written.add(&format!("day-{day:03}.jsonl.zst"));
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

/// Creates a directory, or checks that an existing one is empty. Returns whether it was created.
pub(super) fn create_empty_directory(dir: &Path) -> Result<bool, SynthError> {
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

/// Writes a day. Each unit is compressed in parallel as a separate zstd frame.
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
