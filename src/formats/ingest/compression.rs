//! The compressions of inputs: gzip, zstd with or without a dictionary, and brotli.

use std::fmt;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;

use brotli_decompressor::{BrotliDecoderParameter, Decompressor};
use flate2::read::MultiGzDecoder;

/// The compression of an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compression {
    /// gzip, of one or more members.
    Gzip,
    /// zstd, of one or more frames.
    Zstd,
    /// brotli.
    Brotli,
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Brotli => "brotli",
        })
    }
}

/// The number of bytes that show the compression.
pub(super) const MAGIC_BYTES: usize = 4;

/// The magic number of a zstd frame (RFC 8878, 3.1.1).
const FRAME: [u8; MAGIC_BYTES] = [0x28, 0xb5, 0x2f, 0xfd];

/// The magic number of the skippable frame whose content is a dictionary, by *Zstandard Compression for
/// WARC Files 1.0*.
const DICTIONARY_FRAME: [u8; MAGIC_BYTES] = [0x5d, 0x2a, 0x4d, 0x18];

/// The magic number of a zstd dictionary (RFC 8878, 5).
const DICTIONARY: [u8; MAGIC_BYTES] = [0x37, 0xa4, 0x30, 0xec];

/// The largest dictionary in bytes, stored and decompressed. Those that `zstd --train` makes have 110 KiB.
const MAX_DICTIONARY: u32 = 16 << 20;

/// The size in bytes of the buffer of the brotli decoder.
const BROTLI_BUFFER: usize = 64 << 10;

impl Compression {
    /// Detects the compression from the first bytes, by magic numbers (RFC 1952, 2.3.1; RFC 8878, 3.1.1 and
    /// 3.1.2, where a skippable frame may come first). brotli has none; it is detected by the name `.br`.
    pub(super) fn detect(head: &[u8], file: &str) -> Option<Self> {
        match head {
            [] => None,
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Some(Self::Zstd),
            _ => {
                let extension = Path::new(file).extension()?;
                extension.eq_ignore_ascii_case("br").then_some(Self::Brotli)
            }
        }
    }

    /// Returns a reader of the decompressed data. Data after its end is an error.
    pub(super) fn reader(
        self,
        mut stored: impl Read + Send + 'static,
    ) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Self::Gzip => Box::new(MultiGzDecoder::new(stored)),
            Self::Zstd => {
                let (dictionary, head) = zstd_dictionary(&mut stored)?;
                let frames = BufReader::with_capacity(1 << 17, Cursor::new(head).chain(stored));
                let decoder = zstd::stream::read::Decoder::with_dictionary(frames, &dictionary);
                // The decoder reports a dictionary that it cannot use as missing memory.
                Box::new(decoder.map_err(|_| no_dictionary("is damaged"))?)
            }
            Self::Brotli => Box::new(BrotliReader {
                decoder: brotli(stored),
                has_ended: false,
            }),
        })
    }
}

/// Reads the dictionary at the beginning of a zstd file. Returns the dictionary, which is empty if the file
/// has none, and the bytes that were read beyond it.
fn zstd_dictionary(stored: &mut impl Read) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let mut head = Vec::new();
    // The magic number and length of the frame, and the magic number of its content.
    stored.by_ref().take(12).read_to_end(&mut head)?;
    let (magic, rest) = head.split_at_checked(MAGIC_BYTES).unwrap_or_default();
    let Some((length, content)) = rest.split_first_chunk() else {
        return Ok((Vec::new(), head));
    };
    let length = u32::from_le_bytes(*length);
    let is_dictionary = content == FRAME || content == DICTIONARY;
    if magic != DICTIONARY_FRAME || !is_dictionary || (length as usize) < content.len() {
        return Ok((Vec::new(), head));
    }
    if length > MAX_DICTIONARY {
        return Err(no_dictionary("is longer than 16 MiB"));
    }
    let mut dictionary = content.to_vec();
    let left = u64::from(length).saturating_sub(content.len() as u64);
    stored.by_ref().take(left).read_to_end(&mut dictionary)?;
    if dictionary.len() < length as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    if dictionary.starts_with(&FRAME) {
        let frame = zstd::stream::read::Decoder::with_buffer(&*dictionary)?;
        let mut content = Vec::new();
        frame
            .take(u64::from(MAX_DICTIONARY) + 1)
            .read_to_end(&mut content)?;
        if content.len() > MAX_DICTIONARY as usize {
            return Err(no_dictionary("is longer than 16 MiB"));
        }
        dictionary = content;
    }
    if !dictionary.starts_with(&DICTIONARY) {
        return Err(no_dictionary("is damaged"));
    }
    Ok((dictionary, Vec::new()))
}

fn no_dictionary(why: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("the dictionary at the beginning {why}"),
    )
}

/// Returns a decoder of brotli without its extension to windows of more than 16 MiB.
pub(super) fn brotli<R: Read>(stored: R) -> Decompressor<R> {
    let mut decoder = Decompressor::new(stored, BROTLI_BUFFER);
    decoder.set_parameter(BrotliDecoderParameter::BROTLI_DECODER_PARAM_LARGE_WINDOW, 0);
    decoder
}

/// A reader of a brotli file, which is one stream.
struct BrotliReader<R: Read> {
    decoder: Decompressor<R>,
    has_ended: bool,
}

impl<R: Read> Read for BrotliReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.has_ended || buffer.is_empty() {
            return Ok(0);
        }
        let length = self.decoder.read(buffer)?;
        if length > 0 {
            return Ok(length);
        }
        self.has_ended = true;
        // A second read after the end fails if the decoder holds more data.
        self.decoder.read(buffer)?;
        if self.decoder.get_mut().read(&mut [0])? > 0 {
            let text = "the brotli stream is followed by other data";
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        Ok(0)
    }
}

#[cfg(test)]
#[path = "compression_tests.rs"]
mod tests;
