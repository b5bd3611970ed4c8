//! The footer of a Parquet file, as far as it must be known before it is decoded.
//!
//! What is decoded of it stays while the file is read, and takes many times its own bytes: a row group
//! of one column some hundred, and a column of the schema some hundred more.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use super::thrift::list_length;
use crate::ingest::open::InputError;
use crate::ingest::source::Stop;

/// How many bytes of memory a byte of the footer comes to.
const EXPANSION: usize = 12;

/// How many bytes at the end of a file say where its footer begins, and what it ends with.
const TAIL: usize = 8;

/// How many bytes of a footer tell how many columns there are.
const HEAD: usize = 64;

/// How many columns a schema may have, whatever is read of them.
const MOST_COLUMNS: u64 = 10_000;

/// Refuses a footer of more bytes than `max_held_bytes` leaves for it, or with too many columns. What is no
/// footer is left to the decoder.
pub(super) fn check(
    file: &str,
    on_disk: &mut File,
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

/// Reads what begins so many bytes before the end; returns how many bytes there were.
fn read_before(
    file: &mut File,
    length: u64,
    before: u64,
    into: &mut [u8],
) -> std::io::Result<usize> {
    file.seek(SeekFrom::Start(length.saturating_sub(before)))?;
    let mut read = 0;
    while let Some(free) = into.get_mut(read..).filter(|free| !free.is_empty()) {
        match file.read(free)? {
            0 => break,
            more => read += more,
        }
    }
    Ok(read)
}
