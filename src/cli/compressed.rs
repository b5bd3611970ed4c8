//! Output that is compressed where the name of its file says so.

use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::failure::CliError;
use super::output::Output;

/// The level of zstd: its default, as that of gzip is.
const LEVEL: i32 = zstd::DEFAULT_COMPRESSION_LEVEL;

/// Output to a file whose name ends in `.gz` or `.zst`, or plain output.
pub(super) struct Compressed {
    to: Way,
    failed: Box<dyn Fn(io::Error) -> CliError + Send>,
}

enum Way {
    Plain(Output),
    Gzip(GzEncoder<Output>),
    Zstd(zstd::Encoder<'static, Output>),
}

impl Compressed {
    /// As [`Output::to`], compressed by the ending of the file's name.
    pub(super) fn to(file: Option<&Path>, bank: &Path) -> Result<Self, CliError> {
        let out = Output::to(file, bank)?;
        let failed = Box::new(out.failed());
        let ending = file.and_then(Path::extension).unwrap_or_default();
        let to = if ending.eq_ignore_ascii_case("gz") {
            Way::Gzip(GzEncoder::new(out, Compression::default()))
        } else if ending.eq_ignore_ascii_case("zst") {
            let encoder = zstd::Encoder::new(out, LEVEL).and_then(|mut encoder| {
                encoder.include_checksum(true)?;
                Ok(encoder)
            });
            Way::Zstd(encoder.map_err(&failed)?)
        } else {
            Way::Plain(out)
        };
        Ok(Self { to, failed })
    }

    /// The error of the command for one of writing.
    pub(super) fn failed(&self, error: io::Error) -> CliError {
        (self.failed)(error)
    }

    /// Writes what is left; only then does a file have its name.
    pub(super) fn finish(self) -> Result<(), CliError> {
        let out = match self.to {
            Way::Plain(out) => Ok(out),
            Way::Gzip(encoder) => encoder.finish(),
            Way::Zstd(encoder) => encoder.finish(),
        };
        out.map_err(self.failed)?.finish()
    }
}

impl Write for Compressed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.to {
            Way::Plain(out) => out.write(bytes),
            Way::Gzip(encoder) => encoder.write(bytes),
            Way::Zstd(encoder) => encoder.write(bytes),
        }
    }

    /// What a compressor holds is written at the end alone, so that the bytes do not depend on when
    /// this is called.
    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            Way::Plain(out) => out.flush(),
            Way::Gzip(_) | Way::Zstd(_) => Ok(()),
        }
    }
}
