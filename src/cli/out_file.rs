//! A file that a command prints to: it has its name once it is complete, and not before.

use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use super::failure::CliError;

/// A file on its way.
pub(super) struct OutFile {
    /// The name that the user gave.
    path: PathBuf,
    /// What is written.
    to: Place,
}

enum Place {
    /// A file beside the place that it gets; it is removed unless it gets there.
    Beside(NamedTempFile, PathBuf),
    /// A device or a pipe, in whose place no file may be put.
    Device(File),
}

/// Where a file may come to be.
pub(super) struct Spot {
    /// The name that the user gave.
    path: PathBuf,
    /// The file's own name, behind links.
    place: PathBuf,
    /// What is there; `None` where nothing is.
    there: Option<Metadata>,
}

impl Spot {
    /// The place that the user gave with a flag: outside the bank's folder, and no folder. What
    /// cannot work is told, and nothing is written.
    pub(super) fn new(flag: &str, path: &Path, bank: &Path) -> Result<Self, CliError> {
        let usage = |text: String| Err(CliError::Usage(text));
        let shown = path.display();
        if path.is_dir() || path.file_name().is_none() {
            return usage(format!(
                "{shown} is a folder; give {flag} the name of a file"
            ));
        }
        let there = fs::metadata(path).ok();
        // Through links, so that the file and not the link is replaced.
        let place = match &there {
            Some(_) => path.canonicalize().map_err(failed(path))?,
            None => path.to_path_buf(),
        };
        let spot = Self {
            path: path.to_path_buf(),
            place,
            there,
        };
        if spot.is_device() {
            return Ok(spot);
        }
        let folder = folder(&spot.place);
        if !folder.is_dir() {
            return usage(format!(
                "there is no folder {}; make it first",
                folder.display()
            ));
        }
        if let (Ok(folder), Ok(bank)) = (folder.canonicalize(), bank.canonicalize())
            && folder.starts_with(bank)
        {
            return usage(format!(
                "{shown} lies in the bank's own folder; give {flag} a place outside it"
            ));
        }
        Ok(spot)
    }

    /// Whether no file may be put there: a device or a pipe.
    fn is_device(&self) -> bool {
        self.there.as_ref().is_some_and(|there| !there.is_file())
    }
}

impl OutFile {
    /// Begins a file. One that is there is replaced, with its permissions; behind a symbolic link
    /// the file that it leads to.
    pub(super) fn new(spot: Spot) -> Result<Self, CliError> {
        let path = &spot.path;
        if spot.is_device() {
            let device = File::options().write(true).open(path);
            return Ok(Self {
                to: Place::Device(device.map_err(failed(path))?),
                path: spot.path,
            });
        }
        let file = Builder::new()
            .prefix(".seedbank-")
            // The same permissions as any file that the user makes; otherwise only the owner could
            // read it.
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(folder(&spot.place))
            .map_err(failed(path))?;
        if let Some(there) = &spot.there {
            let set = file.as_file().set_permissions(there.permissions());
            set.map_err(failed(path))?;
        }
        Ok(Self {
            to: Place::Beside(file, spot.place),
            path: spot.path,
        })
    }

    /// The name that the user gave.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a file is written, in whose place others can be put; else a device or a pipe.
    pub(super) const fn is_file(&self) -> bool {
        matches!(self.to, Place::Beside(..))
    }

    /// Gives the file its name, once its bytes are on the disk.
    pub(super) fn complete(self) -> io::Result<()> {
        match self.to {
            Place::Beside(file, place) => {
                file.as_file().sync_all()?;
                file.persist(place).map(drop).map_err(|e| e.error)
            }
            Place::Device(_) => Ok(()),
        }
    }

    /// Gives the file its name where the one that has it holds other bytes, or none has it; else
    /// leaves that one as it is. Returns whether it did.
    pub(super) fn complete_if_other(self) -> io::Result<bool> {
        if let Place::Beside(file, place) = &self.to
            && place.try_exists()?
            && is_same(file.reopen()?, File::open(place)?)?
        {
            return Ok(false);
        }
        self.complete().map(|()| true)
    }
}

impl Write for OutFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.to {
            Place::Beside(file, _) => file.write(bytes),
            Place::Device(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            Place::Beside(file, _) => file.flush(),
            Place::Device(file) => file.flush(),
        }
    }
}

/// Whether two files hold the same bytes.
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

fn failed(path: &Path) -> impl Fn(io::Error) -> CliError {
    let path = path.to_path_buf();
    move |source| CliError::File {
        path: path.clone(),
        source,
    }
}
