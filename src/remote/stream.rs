//! A remote file read from its beginning to its end, which resumes after a cut.
//!
//! A task receives ahead of the reader, up to [`READ_AHEAD`] bytes. After a cut it requests the rest of the same
//! version of the file, so that no byte is passed on twice. If the server has no ranges, or nothing that identifies a
//! version, it requests the whole file again, and compares the hash of the bytes that were passed on before.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};

use bytes::{Buf, Bytes};
use futures_util::StreamExt;
use seedbank_algorithms::watch::Watch;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use crate::error::RemoteError;
use crate::failure::Tries;
use crate::runtime::{POLL_INTERVAL, handle};
use crate::version::{Version, cut, early_end};

/// The most bytes that are received ahead of the reader.
const READ_AHEAD: u32 = 8 << 20;

/// The same at the beginning, since some files are only looked at.
const FIRST_AHEAD: u32 = 256 << 10;

/// A reader of a remote file.
pub(crate) struct Stream {
    chunks: Receiver<Result<Bytes, RemoteError>>,
    chunk: Bytes,
    /// Bytes of the file that were received, and its length.
    received: u64,
    length: u64,
    /// One permit for each byte that may still be received ahead.
    room: Arc<Semaphore>,
    /// What ended the stream early, returned by every later read.
    failed: Option<RemoteError>,
    task: JoinHandle<()>,
    watch: Arc<dyn Watch + Send>,
}

impl Stream {
    pub(crate) fn open(version: Version, watch: Arc<dyn Watch + Send>) -> io::Result<Self> {
        let (to, chunks) = mpsc::channel();
        let room = Arc::new(Semaphore::new(FIRST_AHEAD as usize));
        let length = version.length();
        let task = handle()?.spawn(receive(version, to, Arc::clone(&room)));
        Ok(Self {
            chunks,
            chunk: Bytes::new(),
            received: 0,
            length,
            room,
            failed: None,
            task,
            watch,
        })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        while self.chunk.is_empty() {
            if let Some(failed) = &self.failed {
                return Err(failed.clone().into());
            }
            match self.chunks.recv_timeout(POLL_INTERVAL) {
                Ok(Ok(chunk)) => {
                    let first = u64::from(FIRST_AHEAD);
                    let is_first = self.received < first;
                    self.received += chunk.len() as u64;
                    if is_first && self.received >= first {
                        self.room.add_permits((READ_AHEAD - FIRST_AHEAD) as usize);
                    }
                    self.room.add_permits(chunk.len());
                    self.chunk = chunk;
                }
                Ok(Err(error)) => self.failed = Some(error),
                Err(RecvTimeoutError::Timeout) => self.watch.proceed().map_err(io::Error::other)?,
                Err(RecvTimeoutError::Disconnected) if self.received == self.length => {
                    return Ok(0);
                }
                // The task was ended from outside.
                Err(RecvTimeoutError::Disconnected) => {
                    self.failed = Some(RemoteError::Failed("the read was ended".to_owned()));
                }
            }
        }
        let length = buffer.len().min(self.chunk.len());
        self.chunk
            .copy_to_slice(buffer.get_mut(..length).unwrap_or_default());
        Ok(length)
    }
}

/// Receives a file and sends its bytes in order; ends early if nobody reads them.
async fn receive(version: Version, to: Sender<Result<Bytes, RemoteError>>, room: Arc<Semaphore>) {
    let length = version.length();
    let mut has_ranges = version.has_ranges();
    // The bytes that were passed on, and their hash.
    let mut passed = 0;
    let mut hasher = blake3::Hasher::new();
    let mut tries = Tries::default();
    while passed < length {
        let mut offset = if has_ranges { passed } else { 0 };
        let mut repeated_hasher = blake3::Hasher::new();
        let failure = match version.request(offset..length).await {
            Err(failure) if has_ranges && failure.error == RemoteError::NoRanges => {
                has_ranges = false;
                continue;
            }
            Err(failure) => failure,
            Ok(mut body) => loop {
                match body.next().await {
                    Some(Ok(bytes)) if bytes.len() as u64 > length - offset => {
                        let _ = to.send(Err(RemoteError::Length(length)));
                        return;
                    }
                    Some(Ok(mut bytes)) => {
                        let repeated = usize::try_from(passed - offset).unwrap_or(usize::MAX);
                        let repeated = bytes.split_to(repeated.min(bytes.len()));
                        offset += (repeated.len() + bytes.len()) as u64;
                        repeated_hasher.update(&repeated);
                        // The rest belongs to what was passed on only if the beginning is the same.
                        if !repeated.is_empty()
                            && offset >= passed
                            && repeated_hasher.finalize() != hasher.finalize()
                        {
                            let _ = to.send(Err(RemoteError::Changed));
                            return;
                        }
                        // Bytes that are read again are no progress: a server may cut each time at the same place.
                        tries.received(bytes.len());
                        passed += bytes.len() as u64;
                        hasher.update(&bytes);
                        while !bytes.is_empty() {
                            let part = bytes.split_to(bytes.len().min(1 << 16));
                            // Parts have at most as many bytes as there are permits.
                            let permits = u32::try_from(part.len()).unwrap_or(READ_AHEAD);
                            let Ok(permit) = room.acquire_many(permits).await else {
                                return;
                            };
                            permit.forget();
                            if to.send(Ok(part)).is_err() {
                                return;
                            }
                        }
                    }
                    Some(Err(error)) => break cut(error),
                    None if offset == length => return,
                    None => break early_end(),
                }
            },
        };
        if let Err(error) = tries.failed(failure).await {
            let _ = to.send(Err(error));
            return;
        }
    }
}
