//! Output files that are compressed if their names say so.

use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::failure::CliError;
use super::output::Output;

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
