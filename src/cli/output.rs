//! Writes to standard output or to a file, without a panic when the reader goes away.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::path::{Path, PathBuf};

use seedbank::engine::EngineError;
use seedbank::engine::remote::{Upload, upload};
use seedbank::ingest::address;
use seedbank::render::SeedFormat;
use serde::Serialize;

use super::atomic_file::{AtomicFile, Destination, persist_all};
use super::failure::CliError;

/// Buffered output to standard output or to a file. [`Output::finish`] writes the rest of the buffer and
/// puts the file in place.
pub(super) struct Output {
    out: BufWriter<Target>,
}

/// The destination of the bytes.
enum Target {
    Stdout(Stdout),
    File(AtomicFile),
    Remote(Box<Upload>),
}

impl Write for Target {
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

impl Target {
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
        Self::with(Target::Stdout(io::stdout()))
    }

    /// Opens a file, a remote file if the path is an address, or standard output if no file is given or it is
    /// `-`. Reports paths that cannot be written before any output is made.
    pub(super) fn to(file: Option<&Path>, bank: &Path) -> Result<Self, CliError> {
        if let Some(address) = file.and_then(address) {
            return Ok(Self::with(Target::Remote(Box::new(uploaded(address)?))));
        }
        match file.filter(|file| file.as_os_str() != "-") {
            Some(file) => Ok(Self::with(Target::File(AtomicFile::new(
                Destination::new("--out", file, bank)?,
            )?))),
            None => Ok(Self::new()),
        }
    }

    /// Converts a write error to an error of the command.
    pub(super) fn failed(&self) -> impl Fn(io::Error) -> CliError + use<> {
        self.out.get_ref().failed()
    }

    fn with(target: Target) -> Self {
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
            Target::File(file) => file.is_file(),
            Target::Remote(_) => true,
            Target::Stdout(_) => false,
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
            Ok(Target::File(file)) => complete(file),
            Ok(Target::Remote(file)) => complete_remote(*file).map_err(failed),
            Ok(Target::Stdout(_)) => Ok(()),
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
