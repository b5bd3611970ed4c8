//! Output without a panic when the reader goes away: standard output, and files that are replaced atomically. A file gets
//! its name only when it is complete, and several can be put in place together.

use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, BufReader, BufWriter, IsTerminal, Read, Stdout, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use clap::Args;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use tempfile::{Builder, NamedTempFile, TempPath};

use super::failure::CliError;

use seedbank::answers::SeedFormat;
use seedbank::engine::remote::{Upload, upload};
use seedbank::engine::{Bank, EngineError};
use seedbank::ingest::address;

/// Buffered output to standard output or to a file. [`Output::finish`] writes the rest of the buffer and
/// puts the file in place.
pub(super) struct Output {
    out: BufWriter<Sink>,
}

/// The destination of the bytes.
enum Sink {
    Stdout(Stdout),
    File(AtomicFile),
    Remote(Box<Upload>),
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(out) => out.write(bytes),
            Self::File(file) => file.write(bytes),
            Self::Remote(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush(),
            Self::File(file) => file.flush(),
            Self::Remote(file) => file.flush(),
        }
    }
}

impl Sink {
    fn failed(&self) -> impl Fn(io::Error) -> CliError + use<> {
        let path = match self {
            Self::Stdout(_) => None,
            Self::File(file) => Some(file.path().to_path_buf()),
            Self::Remote(file) => Some(PathBuf::from(file.name())),
        };
        move |source| match &path {
            None => CliError::Output(source),
            Some(path) => CliError::File {
                path: path.clone(),
                source,
            },
        }
    }
}

impl Output {
    pub(super) fn new() -> Self {
        Self::with(Sink::Stdout(io::stdout()))
    }

    /// Opens a file, a remote file if the path is an address, or standard output if no file is given or it is
    /// `-`. Reports paths that cannot be written before any output is made.
    pub(super) fn to(file: Option<&Path>, bank: &Path) -> Result<Self, CliError> {
        if let Some(address) = file.and_then(address) {
            return Ok(Self::with(Sink::Remote(Box::new(uploaded(address)?))));
        }
        match file.filter(|file| file.as_os_str() != "-") {
            Some(file) => Ok(Self::with(Sink::File(AtomicFile::new(Destination::new(
                "--out", file, bank,
            )?)?))),
            None => Ok(Self::new()),
        }
    }

    /// Converts a write error to an error of the command.
    pub(super) fn failed(&self) -> impl Fn(io::Error) -> CliError + use<> {
        self.out.get_ref().failed()
    }

    fn with(target: Sink) -> Self {
        Self {
            out: BufWriter::with_capacity(1 << 16, target),
        }
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        self.out.write_all(bytes).map_err(self.failed())
    }

    /// Writes a text unchanged.
    pub(super) fn text(&mut self, text: &str) -> Result<(), CliError> {
        self.bytes(text.as_bytes())
    }

    /// Writes a text and a line end.
    pub(super) fn line(&mut self, text: &str) -> Result<(), CliError> {
        self.text(text)?;
        self.text("\n")
    }

    /// Writes one object as one line of JSON.
    pub(super) fn json(&mut self, object: &impl Serialize) -> Result<(), CliError> {
        let text = serde_json::to_string(object).map_err(CliError::Json)?;
        self.line(&text)
    }

    /// Returns whether the output goes to a file that can be put in place; otherwise it is standard output,
    /// a device or a pipe.
    pub(super) fn is_to_file(&self) -> bool {
        match self.out.get_ref() {
            Sink::File(file) => file.is_file(),
            Sink::Remote(_) => true,
            Sink::Stdout(_) => false,
        }
    }

    pub(super) fn finish(self) -> Result<(), CliError> {
        self.end(|file| persist_all([file]), Upload::finish)
    }

    /// As [`Output::finish`], but leaves an existing file with the same contents unchanged. Returns whether
    /// anything was written.
    pub(super) fn finish_if_changed(self) -> Result<bool, CliError> {
        let mut is_other = true;
        let mut is_other_remote = true;
        self.end(
            |file| {
                is_other = file.persist_if_changed()?;
                Ok(())
            },
            |file| {
                is_other_remote = file.finish_if_changed()?;
                Ok(())
            },
        )?;
        Ok(is_other && is_other_remote)
    }

    fn end(
        mut self,
        complete: impl FnOnce(AtomicFile) -> Result<(), CliError>,
        complete_remote: impl FnOnce(Upload) -> io::Result<()>,
    ) -> Result<(), CliError> {
        let failed = self.failed();
        self.out.flush().map_err(&failed)?;
        match self.out.into_inner() {
            Ok(Sink::File(file)) => complete(file),
            Ok(Sink::Remote(file)) => complete_remote(*file).map_err(failed),
            Ok(Sink::Stdout(_)) => Ok(()),
            Err(e) => Err(failed(e.into_error())),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Begins to write a remote file.
fn uploaded(address: &str) -> Result<Upload, CliError> {
    upload(address).map_err(|error| match error {
        EngineError::Write { path, source } => CliError::File { path, source },
        other => other.into(),
    })
}

/// Writes remote files one after another. Those of a service cannot be put in place together, so the one that
/// refers to the others should be the last.
pub(super) fn write_remote<R: io::Read>(
    files: impl IntoIterator<Item = (String, R)>,
) -> Result<(), CliError> {
    for (address, mut contents) in files {
        let mut upload = uploaded(&address)?;
        let failed = failed_at(PathBuf::from(upload.name()));
        io::copy(&mut contents, &mut upload).map_err(&failed)?;
        upload.finish().map_err(failed)?;
    }
    Ok(())
}

fn failed_at(path: PathBuf) -> impl Fn(io::Error) -> CliError {
    move |source| CliError::File {
        path: path.clone(),
        source,
    }
}

/// Rejects Parquet where it cannot be used: in a build without it, on a terminal, or in a file whose name
/// says that it is compressed again.
pub(super) fn parquet_to(file: Option<&Path>) -> Result<(), CliError> {
    let ending = file.and_then(Path::extension).unwrap_or_default();
    let to_terminal = file.is_none_or(|file| file.as_os_str() == "-") && io::stdout().is_terminal();
    let problem = if !SeedFormat::Parquet.is_there() {
        "this build does not support Parquet; build it with the feature `parquet`"
    } else if to_terminal {
        "cannot write Parquet to a terminal; use --out FILE"
    } else if ending.eq_ignore_ascii_case("gz") || ending.eq_ignore_ascii_case("zst") {
        "Parquet files are already compressed; use --out with a name that does not end in .gz or .zst"
    } else {
        return Ok(());
    };
    Err(CliError::Usage(problem.to_owned()))
}

/// Writes a text to standard output.
pub(super) fn print(text: &str) -> Result<(), CliError> {
    let mut out = Output::new();
    out.text(text)?;
    out.finish()
}

/// Writes an object as one line of JSON to standard output.
pub(super) fn print_json(object: &impl Serialize) -> Result<(), CliError> {
    let mut out = Output::new();
    out.json(object)?;
    out.finish()
}

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
    /// Restores the previous file, or removes the new one; returns `false` if that fails.
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

/// The zstd level: its default, as for gzip.
const LEVEL: i32 = zstd::DEFAULT_COMPRESSION_LEVEL;

/// Output to a file that is compressed if its name ends in `.gz` or `.zst`, or plain output.
pub(super) struct Compressed {
    encoder: Encoder,
    failed: Box<dyn Fn(io::Error) -> CliError + Send>,
}

enum Encoder {
    Plain(Output),
    Gzip(GzEncoder<Output>),
    Zstd(zstd::Encoder<'static, Output>),
}

impl Compressed {
    /// As [`Output::to`], compressed according to the ending of the file name.
    pub(super) fn to(file: Option<&Path>, bank: &Path) -> Result<Self, CliError> {
        let out = Output::to(file, bank)?;
        let failed = Box::new(out.failed());
        let ending = file.and_then(Path::extension).unwrap_or_default();
        let encoder = if ending.eq_ignore_ascii_case("gz") {
            Encoder::Gzip(GzEncoder::new(out, Compression::default()))
        } else if ending.eq_ignore_ascii_case("zst") {
            let zstd = zstd::Encoder::new(out, LEVEL).and_then(|mut zstd| {
                zstd.include_checksum(true)?;
                Ok(zstd)
            });
            Encoder::Zstd(zstd.map_err(&failed)?)
        } else {
            Encoder::Plain(out)
        };
        Ok(Self { encoder, failed })
    }

    /// Converts a write error to an error of the command.
    pub(super) fn failed(&self, error: io::Error) -> CliError {
        (self.failed)(error)
    }

    /// Writes the remaining bytes; only then does the file get its name.
    pub(super) fn finish(self) -> Result<(), CliError> {
        let out = match self.encoder {
            Encoder::Plain(out) => Ok(out),
            Encoder::Gzip(encoder) => encoder.finish(),
            Encoder::Zstd(encoder) => encoder.finish(),
        };
        out.map_err(self.failed)?.finish()
    }
}

impl Write for Compressed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.encoder {
            Encoder::Plain(out) => out.write(bytes),
            Encoder::Gzip(encoder) => encoder.write(bytes),
            Encoder::Zstd(encoder) => encoder.write(bytes),
        }
    }

    /// Leaves the compressor's buffer alone until the end, so that the bytes written do not depend on
    /// when this is called.
    fn flush(&mut self) -> io::Result<()> {
        match &mut self.encoder {
            Encoder::Plain(out) => out.flush(),
            Encoder::Gzip(_) | Encoder::Zstd(_) => Ok(()),
        }
    }
}

/// The flag of commands that change a bank or read its status.
#[derive(Clone, Debug, Args)]
pub(super) struct MetricsArgs {
    /// Write the bank's status to this file in Prometheus text format, after the command succeeds
    ///
    /// The file is written under another name and renamed, so that the textfile collector of node_exporter
    /// always finds a complete one. The collector reads files with names that end in .prom.
    #[arg(
        long,
        value_name = "FILE",
        env = "SEEDBANK_METRICS",
        hide_short_help = true
    )]
    metrics: Option<PathBuf>,
}

impl MetricsArgs {
    /// Reports paths that cannot be written before the work begins.
    pub(super) fn check(&self, bank: &Path) -> Result<(), CliError> {
        self.destination(bank).map(drop)
    }

    fn destination(&self, bank: &Path) -> Result<Option<Destination>, CliError> {
        let metrics = self.metrics.as_deref();
        metrics
            .map(|file| Destination::new("--metrics", file, bank))
            .transpose()
    }

    /// Writes the file for the current state of the bank, if one is requested.
    pub(super) fn write(&self, bank: &Bank) -> Result<(), CliError> {
        let Some(destination) = self.destination(bank.path())? else {
            return Ok(());
        };
        Self::put(destination, &bank.status()?.metrics())
    }

    /// Writes a text to the file, if one is requested.
    pub(super) fn write_text(&self, bank: &Path, text: &str) -> Result<(), CliError> {
        match self.destination(bank)? {
            Some(destination) => Self::put(destination, text),
            None => Ok(()),
        }
    }

    fn put(destination: Destination, text: &str) -> Result<(), CliError> {
        let mut file = AtomicFile::new(destination)?;
        file.write_all(text.as_bytes()).map_err(file.failed())?;
        persist_all([file])
    }
}

#[cfg(test)]
#[path = "atomic_file_tests.rs"]
mod tests;
