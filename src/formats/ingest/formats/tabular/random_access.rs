//! Files that are read at any position: local ones, and remote ones in windows.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::ingest::remote_file::RemoteFile;

/// Bytes at the end of a remote file that are read first. Most footers fit.
const TAIL: u64 = 64 << 10;

/// Bytes of a column chunk that are requested at a time.
const WINDOW: u64 = 4 << 20;

/// A file that is read at any position.
pub(super) trait ReadAt: Send + Sync {
    /// Reads at a position, of what ends at `end`: bytes behind it will not be read next. Returns the number of
    /// bytes read; 0 at the end of the file.
    fn read_at(&self, position: u64, end: u64, into: &mut [u8]) -> io::Result<usize>;

    /// Begins a row group: what was read of others will not be read again.
    fn next_group(&self) {}

    /// Takes the error of a read over the network, and its position: the decoder passes on nothing but its text.
    fn take_failure(&self) -> Option<(u64, io::Error)> {
        None
    }
}

impl ReadAt for File {
    fn read_at(&self, position: u64, _: u64, into: &mut [u8]) -> io::Result<usize> {
        FileExt::read_at(self, into, position)
    }
}

/// A remote file with parts of it in memory: its end, and one window of each column chunk that is being
/// read.
///
/// Memory: 4 MiB for each column that is read, or one page if it is larger.
pub(super) struct Windows {
    file: Arc<dyn RemoteFile>,
    tail: Vec<u8>,
    /// By the ends of their column chunks: where the window begins, and its bytes.
    open: Mutex<BTreeMap<u64, (u64, Vec<u8>)>>,
    failure: Mutex<Option<(u64, io::Error)>>,
}

impl Windows {
    /// Reads the end of the file.
    pub(super) fn new(file: Arc<dyn RemoteFile>) -> io::Result<Self> {
        let length = file.length();
        let tail = file.read_range(length.saturating_sub(TAIL)..length)?;
        Ok(Self {
            file,
            tail,
            open: Mutex::default(),
            failure: Mutex::default(),
        })
    }
}

impl ReadAt for Windows {
    fn read_at(&self, position: u64, end: u64, into: &mut [u8]) -> io::Result<usize> {
        let length = self.file.length();
        let end = end.min(length);
        if position >= end || into.is_empty() {
            return Ok(0);
        }
        let tail = length - self.tail.len() as u64;
        if position >= tail {
            return Ok(copy(&self.tail, position - tail, into));
        }
        let mut windows = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let has =
            |(from, bytes): &(u64, Vec<u8>)| (*from..from + bytes.len() as u64).contains(&position);
        if !windows.get(&end).is_some_and(has) {
            let wanted = WINDOW.max(into.len() as u64).min(end - position);
            match self.file.read_range(position..position + wanted) {
                Ok(bytes) => drop(windows.insert(end, (position, bytes))),
                Err(error) => {
                    let failed = io::Error::from(error.kind());
                    let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
                    *failure = Some((position, error));
                    return Err(failed);
                }
            }
        }
        let Some((from, bytes)) = windows.get(&end) else {
            return Ok(0);
        };
        let read = copy(bytes, position - from, into);
        if position + read as u64 == end {
            windows.remove(&end);
        }
        Ok(read)
    }

    fn next_group(&self) {
        let mut windows = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        windows.clear();
    }

    fn take_failure(&self) -> Option<(u64, io::Error)> {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.take()
    }
}

/// Copies bytes from an offset on; returns how many.
fn copy(bytes: &[u8], offset: u64, into: &mut [u8]) -> usize {
    let from = usize::try_from(offset)
        .ok()
        .and_then(|offset| bytes.get(offset..));
    let from = from.unwrap_or_default();
    let length = from.len().min(into.len());
    if let (Some(into), Some(from)) = (into.get_mut(..length), from.get(..length)) {
        into.copy_from_slice(from);
    }
    length
}

/// A reader of a part of such a file.
pub(super) struct PartReader {
    pub(super) file: Arc<dyn ReadAt>,
    pub(super) position: u64,
    pub(super) end: u64,
}

impl Read for PartReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(self.position, self.end, into)?;
        self.position += read as u64;
        Ok(read)
    }
}
