//! Output files of a graph.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

/// Buffered file.
pub(super) type Plain = BufWriter<File>;

/// File compressed with gzip.
pub(super) struct Zipped(GzEncoder<Plain>);

pub(super) fn plain(folder: &Path, name: &str) -> io::Result<Plain> {
    let file = File::create_new(folder.join(name))?;
    Ok(BufWriter::with_capacity(1 << 18, file))
}

pub(super) fn zipped(folder: &Path, name: &str) -> io::Result<Zipped> {
    let to = plain(folder, name)?;
    Ok(Zipped(GzEncoder::new(to, Compression::default())))
}

impl Zipped {
    pub(super) fn finish(self) -> io::Result<()> {
        self.0.finish()?.flush()
    }
}

impl Write for Zipped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
