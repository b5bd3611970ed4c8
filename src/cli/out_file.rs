//! A file that a command prints to: it has its name once it is complete, and not before. Several get
//! theirs together.

use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile, TempPath};

use super::failure::CliError;

/// How files on their way are called.
pub(super) const PREFIX: &str = ".seedbank-";

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
            .prefix(PREFIX)
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

    /// A file that is written already, on the file system of its place.
    pub(super) fn of_written(file: PathBuf, spot: Spot) -> Result<Self, CliError> {
        let opened = File::open(&file).map_err(failed(&spot.path))?;
        let path = TempPath::try_from_path(file).map_err(failed(&spot.path))?;
        let file = NamedTempFile::from_parts(opened, path);
        if let Some(there) = spot.there.filter(Metadata::is_file) {
            let set = file.as_file().set_permissions(there.permissions());
            set.map_err(failed(&spot.path))?;
        }
        Ok(Self {
            to: Place::Beside(file, spot.place),
            path: spot.path,
        })
    }

    /// An error of the system's, with the name that the user gave.
    pub(super) fn failed(&self) -> impl Fn(io::Error) -> CliError + use<> {
        failed(&self.path)
    }

    /// Whether a file is written, in whose place others can be put; else a device or a pipe.
    pub(super) const fn is_file(&self) -> bool {
        matches!(self.to, Place::Beside(..))
    }

    fn sync(&self) -> Result<(), CliError> {
        match &self.to {
            Place::Beside(file, _) => file.as_file().sync_all().map_err(self.failed()),
            Place::Device(_) => Ok(()),
        }
    }

    /// Gives the file its name where the one that has it holds other bytes, or none has it; else
    /// leaves that one as it is. Returns whether it did.
    pub(super) fn complete_if_other(self) -> Result<bool, CliError> {
        if let Place::Beside(file, place) = &self.to {
            let is_there =
                || Ok(place.try_exists()? && is_same(file.reopen()?, File::open(place)?)?);
            if is_there().map_err(self.failed())? {
                return Ok(false);
            }
        }
        complete([self]).map(|()| true)
    }

    /// Gives the file its name. With `may_go_back` what it takes the place of stays at hand.
    fn put(self, may_go_back: bool) -> Result<Option<Put>, CliError> {
        let failed = self.failed();
        let Place::Beside(file, place) = self.to else {
            return Ok(None);
        };
        let former = if may_go_back && place.exists() {
            Former::of(&place)
        } else {
            Former::None
        };
        file.persist(&place).map_err(|e| failed(e.error))?;
        let path = self.path;
        Ok(Some(Put {
            path,
            place,
            former,
        }))
    }
}

/// A file that has got its name.
struct Put {
    path: PathBuf,
    place: PathBuf,
    former: Former,
}

/// What a file took the place of.
enum Former {
    /// Nothing.
    None,
    /// A file, by another name, which goes once it is not needed.
    At(TempPath),
    /// A file of which only one name could be had.
    Lost,
}

impl Former {
    fn of(place: &Path) -> Self {
        let mut named = Builder::new();
        let named = named.prefix(PREFIX);
        let other = named.make_in(folder(place), |other| fs::hard_link(place, other));
        other.map_or(Self::Lost, |other| Self::At(other.into_temp_path()))
    }
}

impl Put {
    /// Puts back what was there before; `false` where that cannot be done.
    fn go_back(self) -> bool {
        match self.former {
            Former::None => fs::remove_file(&self.place).is_ok(),
            Former::At(former) => former.persist(&self.place).is_ok(),
            Former::Lost => false,
        }
    }
}

/// Gives files their names, one right after the other, once the bytes of all are on the disk.
///
/// Where one of them cannot get its name, those before it are taken back; where that cannot be done
/// either, [`CliError::Halfway`] says which file is new.
pub(super) fn complete(files: impl Into<Vec<OutFile>>) -> Result<(), CliError> {
    let files = files.into();
    let count = files.len();
    for file in &files {
        file.sync()?;
    }
    let mut all: Vec<Put> = Vec::new();
    for (number, file) in (1..).zip(files) {
        let path = file.path.clone();
        match file.put(number < count) {
            Ok(put) => all.extend(put),
            Err(e) => return Err(taken_back(all, &path, e)),
        }
    }
    for put in &all {
        // Some file systems sync no folders.
        let _ = File::open(folder(&put.place)).and_then(|folder| folder.sync_all());
    }
    Ok(())
}

/// The error where a file did not get its name, after those that had got theirs were taken back.
fn taken_back(all: Vec<Put>, old: &Path, failed: CliError) -> CliError {
    let mut error = failed;
    for put in all.into_iter().rev() {
        let new = put.path.clone();
        if !put.go_back() {
            error = CliError::Halfway {
                new,
                old: old.to_path_buf(),
                source: Box::new(error),
            };
        }
    }
    error
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

fn failed(path: &Path) -> impl Fn(io::Error) -> CliError + use<> {
    let path = path.to_path_buf();
    move |source| CliError::File {
        path: path.clone(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with new bytes on its way to a place.
    fn begun(folder: &Path, name: &str) -> OutFile {
        let spot = Spot::new("--out", &folder.join(name), Path::new("/no/bank"));
        let mut file = OutFile::new(spot.unwrap()).unwrap();
        file.write_all(b"new").unwrap();
        file
    }

    fn read(folder: &Path, name: &str) -> Option<String> {
        fs::read_to_string(folder.join(name)).ok()
    }

    fn names(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn two_files_get_their_names_together() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        fs::write(folder.join("a"), "old").unwrap();
        complete([begun(folder, "a"), begun(folder, "b")]).unwrap();
        assert_eq!(read(folder, "a").as_deref(), Some("new"));
        assert_eq!(read(folder, "b").as_deref(), Some("new"));
        assert_eq!(names(folder), 2);
    }

    /// The second place becomes a folder, over which no file can be put.
    #[test]
    fn where_the_second_fails_the_first_is_taken_back() {
        for was_there in [true, false] {
            let folder = tempfile::tempdir().unwrap();
            let folder = folder.path();
            if was_there {
                fs::write(folder.join("a"), "old").unwrap();
            }
            let files = [begun(folder, "a"), begun(folder, "b")];
            fs::create_dir(folder.join("b")).unwrap();
            let error = complete(files).unwrap_err();
            assert!(matches!(&error, CliError::File { path, .. } if path.ends_with("b")));
            assert_eq!(read(folder, "a").as_deref(), was_there.then_some("old"));
            assert_eq!(names(folder), 1 + usize::from(was_there));
        }
    }

    #[test]
    fn where_the_first_cannot_be_taken_back_it_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let put = Put {
            path: at("a"),
            place: at("a"),
            former: Former::Lost,
        };
        let failed = failed(&at("b"))(io::Error::other("no"));
        let text = taken_back(vec![put], &at("b"), failed).text();
        assert!(text.ends_with("b: no"), "{text}");
        assert!(text.contains("/a is the new one"), "{text}");
    }
}
