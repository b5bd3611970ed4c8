//! Where the bad records of a batch are listed.
//!
//! ```text
//! BANK/rejects/batch-000003-attempt-1.jsonl   of what was refused or only tried as batch 3
//! BANK/rejects/batch-000003.jsonl             of batch 3, which is in
//! ```
//!
//! Every attempt has a file of its own, so that the list of one refusal is still there when the
//! next one comes; it gets the batch's name when the batch is in. No existing file is replaced, and
//! nothing is written through a link. Only a file that the user named is replaced; where the name is
//! a link to a file, the link is.

use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind};
use std::path::{Path, PathBuf};

use crate::engine::EngineError;
use seedbank_formats::ingest::{Reject, RejectWriter};
use seedbank_store::records::BatchId;

/// How many attempts at one batch may have files.
const MOST_ATTEMPTS: u32 = 1_000;

/// Bad records on their way to their file, which is made when the first one comes.
pub(super) struct RejectList {
    place: ListedIn,
    open: Option<(PathBuf, RejectWriter<BufWriter<File>>)>,
    count: u64,
    first: Option<(u32, Reject)>,
}

enum ListedIn {
    /// A file that the user named and that is made anew.
    Named(PathBuf),
    /// A device or a pipe that the user named.
    Device(PathBuf),
    /// The bank's folder, and the number that the batch would have.
    Folder(PathBuf, BatchId),
}

/// What was listed.
pub(super) struct Listed {
    /// The file; `None` where there was nothing to list.
    pub(super) file: Option<PathBuf>,
    /// How many records are in it.
    pub(super) count: u64,
    /// The first of them, with the number of its source.
    pub(super) first: Option<(u32, Reject)>,
}

impl RejectList {
    /// A list in the file that the user named, or else in the bank's folder.
    ///
    /// A named file that exists is removed at once, so that it never lists an earlier batch. A device
    /// or a pipe stays, and is written to.
    pub(super) fn new(
        named: Option<&Path>,
        bank: &Path,
        batch: BatchId,
    ) -> Result<Self, EngineError> {
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
            first: None,
        })
    }

    /// Lists a bad record of the source with this number.
    pub(super) fn list(&mut self, source: u32, reject: &Reject) -> Result<(), EngineError> {
        if self.first.is_none() {
            self.first = Some((source, reject.clone()));
        }
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
        if let Some((path, writer)) = &mut self.open {
            writer.write(reject).map_err(write_error(path))?;
            self.count += 1;
        }
        Ok(())
    }

    /// Ends the list; in the bank's folder it is on disk before the batch is.
    pub(super) fn finish(self) -> Result<Listed, EngineError> {
        let file = match self.open {
            Some((path, writer)) => {
                let out = writer.finish().map_err(write_error(&path))?;
                if let ListedIn::Folder(folder, _) = &self.place {
                    out.get_ref().sync_all().map_err(write_error(&path))?;
                    sync(folder).map_err(write_error(folder))?;
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

/// Whether a name leads to what is neither a file nor a folder.
fn is_device(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Removes a file or a link, if there is one.
fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        // A folder has an error of its own once the file is made.
        Ok(found) if !found.is_dir() => fs::remove_file(path),
        _ => Ok(()),
    }
}

/// Makes the names in a folder durable.
fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Makes the file of the first attempt that has none yet.
fn attempt(folder: &Path, batch: BatchId) -> Result<(PathBuf, File), EngineError> {
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

/// The list of a batch that is in, unless the user named another file; there is one only where
/// records were bad.
pub(in crate::engine) fn list_of(bank: &Path, batch: BatchId) -> PathBuf {
    bank.join("rejects").join(name_of(batch))
}

fn name_of(batch: BatchId) -> String {
    format!("batch-{batch:06}.jsonl")
}

/// Renames the list after its batch, which is in; returns the new path.
///
/// If that is impossible the list keeps its name, which is no reason to fail: the batch is in.
pub(super) fn name_after(batch: BatchId, attempt: PathBuf) -> PathBuf {
    let path = attempt.with_file_name(name_of(batch));
    // A link that leads nowhere counts as existing too.
    if fs::symlink_metadata(&path).is_ok() || fs::rename(&attempt, &path).is_err() {
        return attempt;
    }
    // Best effort: after a crash the file may still have its old name.
    let _ = path.parent().map(sync);
    path
}

fn write_error(path: &Path) -> impl Fn(io::Error) -> EngineError {
    let path = path.to_path_buf();
    move |source| EngineError::Write {
        path: path.clone(),
        source,
    }
}
