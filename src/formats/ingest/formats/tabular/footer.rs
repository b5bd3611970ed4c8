//! Limits for the footer of a Parquet file, checked before it is decoded.
//!
//! The decoded footer is held while the file is read, and takes many times its size: a row group of
//! one column takes some hundred bytes, and so does a column of the schema.

use super::random_access::ReadAt;
use super::thrift::list_length;
use crate::ingest::open::InputError;
use crate::ingest::source::Stop;

/// Bytes of memory for each byte of the footer.
const EXPANSION: usize = 12;

/// Bytes at the end of a file: the length of the footer, and the magic number.
const TAIL: usize = 8;

/// Bytes at the beginning of a footer that contain the number of columns.
const HEAD: usize = 64;

/// The most columns of a schema, whether they are read or not.
const MOST_COLUMNS: u64 = 10_000;

/// Refuses a footer that is larger than `max_held_bytes` allows or has too many columns. Anything that is
/// not a footer is left to the decoder.
pub(super) fn check(
    file: &str,
    on_disk: &dyn ReadAt,
    length: u64,
    max_held_bytes: usize,
) -> Result<(), Stop> {
    let mut tail = [0; TAIL];
    let Ok(bytes) = read_before(on_disk, length, TAIL as u64, &mut tail) else {
        return Ok(());
    };
    let footer = match tail.get(..bytes) {
        Some([a, b, c, d, b'P', b'A', b'R', b'1']) => u32::from_le_bytes([*a, *b, *c, *d]),
        _ => return Ok(()),
    };
    let refuse = |what: String, most: usize| {
        let file = file.to_owned();
        Err(Stop::from(InputError::TooMuchMemory {
            file,
            what,
            max: most,
        }))
    };
    let most = max_held_bytes / EXPANSION;
    if u64::from(footer) > most as u64 {
        return refuse(format!("a footer of {footer} bytes"), most);
    }
    let mut head = [0; HEAD];
    let before = u64::from(footer) + TAIL as u64;
    let Ok(bytes) = read_before(on_disk, length, before, &mut head) else {
        return Ok(());
    };
    let columns = list_length(head.get(..bytes).unwrap_or_default(), 2);
    match columns {
        Some(columns) if columns > MOST_COLUMNS => {
            refuse(format!("{columns} columns, more than {MOST_COLUMNS}"), most)
        }
        _ => Ok(()),
    }
}

/// Reads from `before` bytes before the end on; returns the number of bytes read.
fn read_before(
    file: &dyn ReadAt,
    length: u64,
    before: u64,
    into: &mut [u8],
) -> std::io::Result<usize> {
    let from = length.saturating_sub(before);
    let mut read = 0;
    while let Some(free) = into.get_mut(read..).filter(|free| !free.is_empty()) {
        match file.read_at(from + read as u64, length, free)? {
            0 => break,
            more => read += more,
        }
    }
    Ok(read)
}
