//! Output files that are replaced atomically: a file gets its name only when it is complete. Several
//! files can be put in place together.

use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use seedbank::ingest::address;
use tempfile::{Builder, NamedTempFile, TempPath};

use super::failure::CliError;

/// The prefix of the names of incomplete files.
pub(super) const PREFIX: &str = ".seedbank-";

/// An output file that is not in place yet.
pub(super) struct AtomicFile {
    /// The path that the user gave.
    path: PathBuf,
    /// Where the bytes are written.
    target: Target,
}

/// Where the bytes of an output file go.
enum Target {
    /// A temporary file in the folder of its final place; removed on drop unless it is put in place.
    Temporary(NamedTempFile, PathBuf),
    /// A device or a pipe, which must not be replaced by a file.
    Device(File),
}

/// A place where an output file can be created.
pub(super) struct Destination {
    /// The path that the user gave.
    path: PathBuf,
    /// The canonical path, with symbolic links resolved.
    place: PathBuf,
    /// What exists there; `None` if nothing does.
    existing: Option<Metadata>,
}

impl Destination {
    /// Checks a path given with a flag: it must be outside the bank's folder and not be a folder.
    /// Nothing is written.
    pub(super) fn new(flag: &str, path: &Path, bank: &Path) -> Result<Self, CliError> {
        let usage = |text: String| Err(CliError::Usage(text));
        let shown = path.display();
        if address(path).is_some() {
            return usage(format!(
                "{flag} cannot be an address here; write to a file, and copy it"
            ));
        }
        if path.is_dir() || path.file_name().is_none() {
            return usage(format!(
                "{shown} is a folder; give {flag} the name of a file"
            ));
        }
        let existing = fs::metadata(path).ok();
        // Resolve links, so that the file is replaced and not the link.
        let place = match &existing {
            Some(_) => path.canonicalize().map_err(failed(path))?,
            None => path.to_path_buf(),
        };
        let destination = Self {
            path: path.to_path_buf(),
            place,
            existing,
        };
        if destination.is_device() {
            return Ok(destination);
        }
        let folder = folder(&destination.place);
        if !folder.is_dir() {
            return usage(format!(
                "the folder {} does not exist; create it first",
                folder.display()
            ));
        }
        if let (Ok(folder), Ok(bank)) = (folder.canonicalize(), bank.canonicalize())
            && folder.starts_with(bank)
        {
            return usage(format!(
                "{shown} is in the bank's own folder; give {flag} a path outside the bank"
            ));
        }
        Ok(destination)
    }

    /// Returns whether the place is a device or a pipe, which must not be replaced by a file.
    fn is_device(&self) -> bool {
        self.existing
            .as_ref()
            .is_some_and(|existing| !existing.is_file())
    }
}

impl AtomicFile {
    /// Creates a temporary file. It will replace an existing file and keep its permissions; for a
    /// symbolic link, it replaces the target.
    pub(super) fn new(destination: Destination) -> Result<Self, CliError> {
        let path = &destination.path;
        if destination.is_device() {
            let device = File::options().write(true).open(path);
            return Ok(Self {
                target: Target::Device(device.map_err(failed(path))?),
                path: destination.path,
            });
        }
        let file = Builder::new()
            .prefix(PREFIX)
            // Temporary files are readable by their owner only; use the permissions of ordinary new
            // files instead.
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(folder(&destination.place))
            .map_err(failed(path))?;
        if let Some(existing) = &destination.existing {
            let set = file.as_file().set_permissions(existing.permissions());
            set.map_err(failed(path))?;
        }
        Ok(Self {
            target: Target::Temporary(file, destination.place),
            path: destination.path,
        })
    }

    /// Takes a file that is already written, on the file system of its final place.
    pub(super) fn of_written(file: PathBuf, destination: Destination) -> Result<Self, CliError> {
        let opened = File::open(&file).map_err(failed(&destination.path))?;
        let path = TempPath::try_from_path(file).map_err(failed(&destination.path))?;
        let file = NamedTempFile::from_parts(opened, path);
        if let Some(existing) = destination.existing.filter(Metadata::is_file) {
            let set = file.as_file().set_permissions(existing.permissions());
            set.map_err(failed(&destination.path))?;
        }
        Ok(Self {
            target: Target::Temporary(file, destination.place),
            path: destination.path,
        })
    }

    /// Returns a function that adds the user's path to a system error.
    pub(super) fn failed(&self) -> impl Fn(io::Error) -> CliError + use<> {
        failed(&self.path)
    }

    /// Returns the user's path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether this is a file that can be put in place, and not a device or a pipe.
    pub(super) const fn is_file(&self) -> bool {
        matches!(self.target, Target::Temporary(..))
    }

    fn sync(&self) -> Result<(), CliError> {
        match &self.target {
            Target::Temporary(file, _) => file.as_file().sync_all().map_err(self.failed()),
            Target::Device(_) => Ok(()),
        }
    }

    /// Puts the file in place if the existing file has different contents or does not exist; otherwise
    /// leaves the existing file unchanged. Returns whether the file was put in place.
    pub(super) fn persist_if_changed(self) -> Result<bool, CliError> {
        if let Target::Temporary(file, place) = &self.target {
            let is_there =
                || Ok(place.try_exists()? && is_same(file.reopen()?, File::open(place)?)?);
            if is_there().map_err(self.failed())? {
                return Ok(false);
            }
        }
        persist_all([self]).map(|()| true)
    }

    /// Puts the file in place. With `can_roll_back`, the file that it replaces is kept for a rollback.
    fn persist(self, can_roll_back: bool) -> Result<Option<Persisted>, CliError> {
        let failed = self.failed();
        let Target::Temporary(file, place) = self.target else {
            return Ok(None);
        };
        let replaced = if can_roll_back && place.exists() {
            Replaced::save(&place)
        } else {
            Replaced::Nothing
        };
        file.persist(&place).map_err(|e| failed(e.error))?;
        let path = self.path;
        Ok(Some(Persisted {
            path,
            place,
            replaced,
        }))
    }
}

/// A file that has been put in place.
struct Persisted {
    path: PathBuf,
    place: PathBuf,
    replaced: Replaced,
}

/// What a file replaced.
enum Replaced {
    /// Nothing.
    Nothing,
    /// A file, which is kept under another name until it is no longer needed.
    Saved(TempPath),
    /// A file that could not get a second name.
    Unsaved,
}

impl Replaced {
    /// Gives the file at `place` a second name, so that it can be restored.
    fn save(place: &Path) -> Self {
        let mut named = Builder::new();
        let named = named.prefix(PREFIX);
        let other = named.make_in(folder(place), |other| fs::hard_link(place, other));
        other.map_or(Self::Unsaved, |other| Self::Saved(other.into_temp_path()))
    }
}

impl Persisted {
    /// Restores what was there before; returns `false` if that fails.
    fn restore(self) -> bool {
        match self.replaced {
            Replaced::Nothing => fs::remove_file(&self.place).is_ok(),
            Replaced::Saved(replaced) => replaced.persist(&self.place).is_ok(),
            Replaced::Unsaved => false,
        }
    }
}

/// Puts files in place one right after the other, once the bytes of all of them are on disk.
///
/// If one of them cannot be put in place, those before it are rolled back; if that fails too,
/// [`CliError::Halfway`] names a file that is new.
pub(super) fn persist_all(files: impl Into<Vec<AtomicFile>>) -> Result<(), CliError> {
    let files = files.into();
    let count = files.len();
    for file in &files {
        file.sync()?;
    }
    let mut all: Vec<Persisted> = Vec::new();
    for (number, file) in (1..).zip(files) {
        let path = file.path.clone();
        match file.persist(number < count) {
            Ok(put) => all.extend(put),
            Err(e) => return Err(roll_back(all, &path, e)),
        }
    }
    for put in &all {
        // Some file systems cannot sync folders; the files are in place all the same.
        let _ = File::open(folder(&put.place)).and_then(|folder| folder.sync_all());
    }
    Ok(())
}

/// Rolls back the files that are in place, and returns the error of the one that is not.
fn roll_back(all: Vec<Persisted>, old: &Path, failed: CliError) -> CliError {
    let mut error = failed;
    for put in all.into_iter().rev() {
        let new = put.path.clone();
        if !put.restore() {
            error = CliError::Halfway {
                new,
                old: old.to_path_buf(),
                source: Box::new(error),
            };
        }
    }
    error
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.target {
            Target::Temporary(file, _) => file.write(bytes),
            Target::Device(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.target {
            Target::Temporary(file, _) => file.flush(),
            Target::Device(file) => file.flush(),
        }
    }
}

/// Returns whether two files have the same contents.
fn is_same(a: File, b: File) -> io::Result<bool> {
    if a.metadata()?.len() != b.metadata()?.len() {
        return Ok(false);
    }
    let (mut a, mut b) = (BufReader::new(a).bytes(), BufReader::new(b).bytes());
    loop {
        match (a.next().transpose()?, b.next().transpose()?) {
            (None, None) => return Ok(true),
            (one, other) if one == other => {}
            _ => return Ok(false),
        }
    }
}

fn folder(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

fn failed(path: &Path) -> impl Fn(io::Error) -> CliError + use<> {
    let path = path.to_path_buf();
    move |source| CliError::File {
        path: path.clone(),
        source,
    }
}

#[cfg(test)]
#[path = "atomic_file_tests.rs"]
mod tests;
