//! Standard output, without a panic when its reader goes away; or a file in its place.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::path::Path;

use seedbank::told::SeedFormat;
use serde::Serialize;

use super::failure::CliError;
use super::out_file::{OutFile, Spot, complete};

/// Buffered output, to standard output or to a file; [`Output::finish`] writes what is left in the
/// buffer, and only then does a file have its name.
pub(super) struct Output {
    out: BufWriter<Target>,
}

/// Where the bytes go.
enum Target {
    Stdout(Stdout),
    File(OutFile),
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(out) => out.write(bytes),
            Self::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush(),
            Self::File(file) => file.flush(),
        }
    }
}

impl Target {
    fn failed(&self) -> impl Fn(io::Error) -> CliError + use<> {
        let of_file = match self {
            Self::Stdout(_) => None,
            Self::File(file) => Some(file.failed()),
        };
        move |source| match &of_file {
            None => CliError::Output(source),
            Some(failed) => failed(source),
        }
    }
}

impl Output {
    pub(super) fn new() -> Self {
        Self::with(Target::Stdout(io::stdout()))
    }

    /// To a file, or to standard output where none is given or it is `-`. What cannot work is told
    /// before anything is written.
    pub(super) fn to(file: Option<&Path>, bank: &Path) -> Result<Self, CliError> {
        match file.filter(|file| file.as_os_str() != "-") {
            Some(file) => Ok(Self::with(Target::File(OutFile::new(Spot::new(
                "--out", file, bank,
            )?)?))),
            None => Ok(Self::new()),
        }
    }

    /// The error of the command for one of writing.
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

    /// Writes a text as it is.
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

    /// Whether it goes to a file, in whose place others can be put; else to standard output, a
    /// device or a pipe.
    pub(super) fn is_to_file(&self) -> bool {
        matches!(self.out.get_ref(), Target::File(file) if file.is_file())
    }

    pub(super) fn finish(self) -> Result<(), CliError> {
        self.end(|file| complete([file]))
    }

    /// As [`Output::finish`], but a file that is there and holds the same bytes stays as it is.
    /// Returns whether anything was put out.
    pub(super) fn finish_if_other(self) -> Result<bool, CliError> {
        let mut is_other = true;
        self.end(|file| {
            is_other = file.complete_if_other()?;
            Ok(())
        })?;
        Ok(is_other)
    }

    fn end(
        mut self,
        complete: impl FnOnce(OutFile) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        let failed = self.failed();
        self.out.flush().map_err(&failed)?;
        match self.out.into_inner() {
            Ok(Target::File(file)) => complete(file),
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

/// Refuses Parquet where nothing could read it: in a build without it, to a terminal, or to a file whose
/// name says that it is compressed once more.
pub(super) fn parquet_to(file: Option<&Path>) -> Result<(), CliError> {
    let ending = file.and_then(Path::extension).unwrap_or_default();
    let to_terminal = file.is_none_or(|file| file.as_os_str() == "-") && io::stdout().is_terminal();
    let problem = if !SeedFormat::Parquet.is_there() {
        "this build has no Parquet; build it with the feature `parquet`"
    } else if to_terminal {
        "Parquet is no text for a terminal; give --out FILE"
    } else if ending.eq_ignore_ascii_case("gz") || ending.eq_ignore_ascii_case("zst") {
        "Parquet is compressed by itself; give --out a name that does not end in .gz or .zst"
    } else {
        return Ok(());
    };
    Err(CliError::Usage(problem.to_owned()))
}

/// Writes lines of text.
pub(super) fn print(text: &str) -> Result<(), CliError> {
    let mut out = Output::new();
    out.text(text)?;
    out.finish()
}

/// Writes one object as one line of JSON.
pub(super) fn print_json(object: &impl Serialize) -> Result<(), CliError> {
    let mut out = Output::new();
    out.json(object)?;
    out.finish()
}
