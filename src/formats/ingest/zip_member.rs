//! A file in a ZIP archive, as an input.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;

use flate2::Crc;
use flate2::read::DeflateDecoder;

/// A file in a ZIP archive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ZipMember {
    pub(super) archive: PathBuf,
    /// Its name in the archive.
    pub(super) name: String,
    /// The offset of its data in the archive, in bytes.
    pub(super) start: u64,
    /// Its size in the archive, and decompressed, in bytes.
    pub(super) stored: u64,
    pub(super) size: u64,
    /// The CRC-32 of its content.
    pub(super) crc: u32,
    pub(super) is_deflated: bool,
}

impl fmt::Display for ZipMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.archive.display(), self.name)
    }
}

impl ZipMember {
    /// Opens its data as stored in the archive.
    pub(super) fn open(&self) -> io::Result<impl Read + Send + use<>> {
        let mut file = File::open(&self.archive)?;
        file.seek(SeekFrom::Start(self.start))?;
        Ok(file.take(self.stored))
    }

    /// Returns its content, given its data as stored. The end is an error if the content has another size
    /// or checksum than the archive says.
    pub(super) fn content(&self, stored: impl Read + Send + 'static) -> Box<dyn Read + Send> {
        let (size, crc) = (self.size, self.crc);
        if self.is_deflated {
            Box::new(CheckedReader::new(DeflateDecoder::new(stored), size, crc))
        } else {
            Box::new(CheckedReader::new(stored, size, crc))
        }
    }
}

/// A reader that compares size and checksum at the end.
struct CheckedReader<R> {
    content: R,
    size: u64,
    crc: u32,
    read: u64,
    checksum: Crc,
}

impl<R> CheckedReader<R> {
    fn new(content: R, size: u64, crc: u32) -> Self {
        Self {
            content,
            size,
            crc,
            read: 0,
            checksum: Crc::new(),
        }
    }
}

impl<R: Read> Read for CheckedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.content.read(buffer)?;
        self.read += length as u64;
        self.checksum
            .update(buffer.get(..length).unwrap_or_default());
        if length == 0 && !buffer.is_empty() || self.read > self.size {
            let text = if self.read != self.size {
                format!(
                    "expected {} bytes in the ZIP archive, found {}",
                    self.size, self.read
                )
            } else if self.checksum.sum() != self.crc {
                "the checksum of the ZIP archive does not match".to_owned()
            } else {
                return Ok(0);
            };
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        Ok(length)
    }
}
