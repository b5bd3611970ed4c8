//! Files that list the bad and the stale records of a batch.
//!
//! ```text
//! BANK/rejects/batch-000003-attempt-1.jsonl   of a rejected or dry-run attempt at batch 3
//! BANK/rejects/batch-000003.jsonl             of batch 3, which is committed
//! ```
//!
//! Every attempt has its own file, so that the list of one attempt is not lost with the next; it is
//! renamed after the batch once that is committed. No existing file is replaced, and links are not
//! followed. Only a file that the user named is replaced; if the name is a link to a file, the link
//! is replaced.

use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::events::{Bytes, Fields};
use super::exchange::Shuffle;
use crate::engine::error::BadRecords;
use crate::engine::{EngineError, Result};
use seedbank_formats::ingest::{
    DetectedFormat, DetectedInput, Format, MAX_LISTED_REJECTS, ReadError, ReadSummary, Reject,
    RejectWriter, Source,
};
use seedbank_store::records::BatchId;
use seedbank_store::sync_folder;

/// Maximum number of attempts at one batch that have files.
const MOST_ATTEMPTS: u32 = 1_000;

/// Writer of bad and stale records. The file is created with the first one.
pub(super) struct RejectList {
    place: ListedIn,
    open: Option<(PathBuf, RejectWriter<BufWriter<File>>)>,
    count: u64,
    /// Number of stale records listed.
    stale: u64,
    first: Option<(u32, Reject)>,
}

enum ListedIn {
    /// A file that the user named, which is created anew.
    Named(PathBuf),
    /// A device or a pipe that the user named.
    Device(PathBuf),
    /// The bank's folder, and the number that the batch would get.
    Folder(PathBuf, BatchId),
}

/// A finished list.
pub(super) struct Listed {
    /// The file; `None` if nothing was listed.
    pub(super) file: Option<PathBuf>,
    /// Number of bad records and fields listed.
    pub(super) count: u64,
    /// The first of them, with the number of its source.
    pub(super) first: Option<(u32, Reject)>,
}

/// A line about a stale record in the list of bad records.
#[derive(Serialize, Deserialize)]
pub(super) struct StaleRecord {
    pub(super) url: String,
    pub(super) reason: String,
    /// The time of the record.
    pub(super) fetched: String,
    /// The time of the last fetch of the page.
    pub(super) page_fetched: String,
}

impl RejectList {
    /// Creates a list in the file that the user named, or else in the bank's folder.
    ///
    /// A named file that exists is removed at once, so that it never lists an earlier batch. A
    /// device or a pipe is written to.
    pub(super) fn new(named: Option<&Path>, bank: &Path, batch: BatchId) -> Result<Self> {
        let place = match named {
            Some(file) => {
                let path = file.to_path_buf();
                if is_device(file) {
                    ListedIn::Device(path)
                } else {
                    remove(file).map_err(write_error(file))?;
                    ListedIn::Named(path)
                }
            }
            None => ListedIn::Folder(bank.join("rejects"), batch),
        };
        Ok(Self {
            place,
            open: None,
            count: 0,
            stale: 0,
            first: None,
        })
    }

    /// Lists a bad record of the source with this number, or a bad field of one.
    pub(super) fn list(&mut self, source: u32, reject: &Reject) -> Result<()> {
        if self.first.is_none() && reject.field.is_none() {
            self.first = Some((source, reject.clone()));
        }
        self.count += 1;
        self.write(reject)
    }

    /// Lists a stale record. After [`MAX_LISTED_REJECTS`] of them it does nothing.
    pub(super) fn list_stale(&mut self, stale: impl FnOnce() -> Result<StaleRecord>) -> Result<()> {
        if self.stale == MAX_LISTED_REJECTS {
            return Ok(());
        }
        self.stale += 1;
        self.write(&stale()?)
    }

    fn write(&mut self, record: &impl Serialize) -> Result<()> {
        if self.open.is_none() {
            let (path, file) = match &self.place {
                ListedIn::Named(path) => {
                    let file = File::create_new(path).map_err(write_error(path))?;
                    (path.clone(), file)
                }
                ListedIn::Device(path) => {
                    let device = File::options().write(true).open(path);
                    (path.clone(), device.map_err(write_error(path))?)
                }
                ListedIn::Folder(folder, batch) => attempt(folder, *batch)?,
            };
            self.open = Some((path, RejectWriter::new(BufWriter::new(file))));
        }
        match &mut self.open {
            Some((path, writer)) => writer.write(record).map_err(write_error(path)),
            None => Ok(()),
        }
    }

    /// Finishes the list. In the bank's folder, it is durable before the batch is committed.
    pub(super) fn finish(self) -> Result<Listed> {
        let file = match self.open {
            Some((path, writer)) => {
                let out = writer.finish().map_err(write_error(&path))?;
                if let ListedIn::Folder(folder, _) = &self.place {
                    out.get_ref().sync_all().map_err(write_error(&path))?;
                    sync_folder(folder).map_err(write_error(folder))?;
                }
                Some(path)
            }
            None => None,
        };
        Ok(Listed {
            file,
            count: self.count,
            first: self.first,
        })
    }
}

/// Whether a path is neither a file nor a folder.
fn is_device(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Removes a file or a link, if there is one.
fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        // A folder causes an error later, when the file is created.
        Ok(found) if !found.is_dir() => fs::remove_file(path),
        _ => Ok(()),
    }
}

/// Creates the file of the next attempt.
fn attempt(folder: &Path, batch: BatchId) -> Result<(PathBuf, File)> {
    let kind = fs::symlink_metadata(folder).map_err(write_error(folder))?;
    if kind.is_symlink() {
        let folder = folder.to_path_buf();
        return Err(EngineError::RejectsLink { folder });
    }
    for number in 1..=MOST_ATTEMPTS {
        let path = folder.join(format!("batch-{batch:06}-attempt-{number}.jsonl"));
        match File::create_new(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(write_error(&path)(error)),
        }
    }
    Err(EngineError::RejectsFull {
        folder: folder.to_path_buf(),
        attempts: MOST_ATTEMPTS,
        batch,
    })
}

/// Returns the path of the list of a committed batch, unless the user named another file. It exists
/// only if records were bad.
pub(in crate::engine) fn list_of(bank: &Path, batch: BatchId) -> PathBuf {
    bank.join("rejects").join(name_of(batch))
}

fn name_of(batch: BatchId) -> String {
    format!("batch-{batch:06}.jsonl")
}

/// Renames the list after its committed batch. Returns the new path.
///
/// If that is impossible, the list keeps its name, since the batch cannot fail any more.
pub(super) fn name_after(batch: BatchId, attempt: PathBuf) -> PathBuf {
    let path = attempt.with_file_name(name_of(batch));
    // A dangling link counts as existing.
    if fs::symlink_metadata(&path).is_ok() || fs::rename(&attempt, &path).is_err() {
        return attempt;
    }
    // Best effort: after a crash the file may still have its old name.
    let _ = path.parent().map(sync_folder);
    path
}

/// Returns a converter of errors of a file.
pub(super) fn write_error(path: &Path) -> impl Fn(io::Error) -> EngineError {
    let path = path.to_path_buf();
    move |source| EngineError::Write {
        path: path.clone(),
        source,
    }
}

// Errors about bad records of a rejected batch.

/// Describes the bad records of a batch that was read to its end, or until most were bad.
pub(super) fn bad_records(
    read: &ReadSummary,
    listed: Listed,
    sources: &[Box<dyn Source + '_>],
    format: &Format,
) -> Box<BadRecords> {
    let (source, first) = listed.first.unzip();
    let source = source.and_then(|number| sources.get(number as usize));
    let seen = source.and_then(|source| source.detected());
    Box::new(BadRecords {
        count: read.rejected(),
        records: read.records,
        reasons: read.rejects.clone(),
        first,
        file: listed.file,
        seen: seen.filter(|seen| is_other(seen, format)),
        unknown_fields: read.unknown_fields.clone(),
    })
}

/// Whether an input has another format than the one in which it was read.
const fn is_other(seen: &DetectedInput, format: &Format) -> bool {
    !matches!(
        (format, seen.format),
        (
            Format::JsonLines | Format::Auto { .. },
            DetectedFormat::JsonLines
        ) | (
            Format::Links { .. },
            DetectedFormat::Links | DetectedFormat::Pages
        ) | (Format::Urls | Format::Auto { .. }, DetectedFormat::Urls)
            | (
                Format::Cdx | Format::Cdxj | Format::Auto { .. },
                DetectedFormat::Cdx | DetectedFormat::Cdxj
            )
            | (
                Format::Nutch | Format::Auto { .. },
                DetectedFormat::Nutch(_)
            )
            | (
                Format::Heritrix | Format::HeritrixLinks | Format::Auto { .. },
                DetectedFormat::CrawlLog
            )
            | (
                Format::Browsertrix | Format::Auto { .. },
                DetectedFormat::Browsertrix
            )
    )
}

/// Converts errors of reading other than bad records.
pub(super) fn unread(error: ReadError<EngineError>) -> EngineError {
    match error {
        ReadError::Input(error) => error.into(),
        ReadError::Interrupted(error) => error.into(),
        ReadError::Sink(error) => error,
        ReadError::MostAreBad(_) => EngineError::Internal(
            "reading ended because of bad records, which must be handled before",
        ),
    }
}

// Bad and stale records on their way to process 0, which lists those of all processes.

/// Records that process 0 lists, as far as it lists any.
pub(super) struct SentRecords {
    sent: Shuffle,
    count: u64,
}

impl SentRecords {
    pub(super) const fn new(sent: Shuffle) -> Self {
        Self { sent, count: 0 }
    }

    /// Adds a record. Records are listed in the order of `place`, and those of one place in the order in which they are
    /// added. After as many as process 0 lists, it does nothing.
    pub(super) fn push<T: Serialize>(
        &mut self,
        place: u64,
        record: impl FnOnce() -> Result<T>,
    ) -> Result<()> {
        if self.count == MAX_LISTED_REJECTS {
            return Ok(());
        }
        self.count += 1;
        let key = Bytes::default().u64(place).u64(self.count);
        let record = serde_json::to_vec(&record()?).map_err(|_| unreadable())?;
        Ok(self.sent.push(&key, &record)?)
    }

    /// Calls `list` in process 0 with the records of all processes and their places. All processes call it.
    pub(super) fn list<T: DeserializeOwned>(
        &mut self,
        mut list: impl FnMut(u64, T) -> Result<()>,
    ) -> Result<()> {
        let mut entries = self.sent.take()?;
        let mut listed = 0;
        while listed < MAX_LISTED_REJECTS
            && let Some((key, value)) = entries.next_entry()?
        {
            let record = serde_json::from_slice(value).map_err(|_| unreadable())?;
            list(Fields(key).u64()?, record)?;
            listed += 1;
        }
        Ok(())
    }
}

const fn unreadable() -> EngineError {
    EngineError::Internal("a listed record in temporary data is invalid")
}
