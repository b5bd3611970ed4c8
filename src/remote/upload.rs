//! Writing of a remote file, which is visible only once it is complete.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt, PutPayload};
use seedbank_algorithms::watch::{Quiet, Watch};
use tokio::task::JoinHandle;

use crate::address::{Address, Service, shown};
use crate::client::{Client, Named};
use crate::error::RemoteError;
use crate::failure::Failure;
use crate::file::File;
use crate::runtime::{handle, wait};
use crate::version::{Version, look_up};

/// The size of a part. At most 10,000 parts make a file of S3, so that this allows 160 GiB. All parts have the
/// same size, as some services demand.
const PART: usize = 16 << 20;

/// The number of parts that are sent while the next one is filled.
const IN_FLIGHT: usize = 2;

/// How long the end of an upload that failed may take.
const ABORT: Duration = Duration::from_secs(5);

/// A remote file that is being written. Dropped without [`finish`](Self::finish), it leaves nothing.
///
/// Memory: 48 MiB.
pub struct Upload {
    name: String,
    store: Arc<dyn ObjectStore>,
    path: Path,
    watch: Arc<dyn Watch + Send>,
    /// The part that is being filled.
    part: Vec<u8>,
    /// Set once the first part is full.
    parts: Option<Box<dyn MultipartUpload>>,
    in_flight: VecDeque<JoinHandle<object_store::Result<()>>>,
    hasher: blake3::Hasher,
}

impl Client {
    /// Begins to write a file. The error comes with the address without secrets.
    pub fn upload(&mut self, address: &str) -> Named<Upload> {
        let mut begin = || {
            let address = Address::parse(address)?;
            if address.service == Service::Http {
                return Err(RemoteError::ReadOnly);
            }
            address.check_file()?;
            let (stores, path) = self.place(&address)?;
            Ok(Upload::new(
                address.name,
                stores.requests,
                path,
                Arc::clone(self.watch()),
            ))
        };
        begin().map_err(|error| (shown(address), error.into()))
    }
}

impl Upload {
    pub(crate) fn new(
        name: String,
        store: Arc<dyn ObjectStore>,
        path: Path,
        watch: Arc<dyn Watch + Send>,
    ) -> Self {
        Self {
            name,
            store,
            path,
            watch,
            part: Vec::new(),
            parts: None,
            in_flight: VecDeque::new(),
            hasher: blake3::Hasher::new(),
        }
    }

    /// Returns the address, without secrets.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Makes the file visible, in place of an existing one.
    pub fn finish(mut self) -> io::Result<()> {
        let part = PutPayload::from(mem::take(&mut self.part));
        let watch = Arc::clone(&self.watch);
        let Some(parts) = &mut self.parts else {
            let (store, path) = (Arc::clone(&self.store), self.path.clone());
            let put = async move { store.put(&path, part).await };
            wait(put, &watch)?.map_err(failed)?;
            return Ok(());
        };
        if part.content_length() > 0 {
            self.in_flight
                .push_back(handle()?.spawn(parts.put_part(part)));
        }
        while !self.in_flight.is_empty() {
            self.wait_for_part()?;
        }
        let Some(mut parts) = self.parts.take() else {
            return Ok(());
        };
        let (parts, completed) = wait(
            async move {
                let completed = parts.complete().await;
                (parts, completed)
            },
            &watch,
        )?;
        if let Err(error) = completed {
            self.parts = Some(parts);
            return Err(failed(error));
        }
        Ok(())
    }

    /// As [`finish`](Self::finish), unless the existing file has the same contents. Returns whether it was
    /// replaced.
    pub fn finish_if_changed(self) -> io::Result<bool> {
        let (store, path) = (Arc::clone(&self.store), self.path.clone());
        let found = async move { look_up(&*store, &path).await };
        match wait(found, &Quiet(&self.watch))? {
            Ok(found) => {
                let store = Arc::clone(&self.store);
                let file = File {
                    name: self.name.clone(),
                    version: Version { store, found },
                    watch: Arc::clone(&self.watch),
                };
                if hash(&mut file.stream()?)? == self.hasher.finalize() {
                    return Ok(false);
                }
            }
            Err(RemoteError::NotFound) => {}
            Err(error) => return Err(error.into()),
        }
        self.finish().map(|()| true)
    }

    /// Sends the part that is full.
    fn send_part(&mut self) -> io::Result<()> {
        if self.parts.is_none() {
            let (store, path) = (Arc::clone(&self.store), self.path.clone());
            let begin = async move { store.put_multipart(&path).await };
            self.parts = Some(wait(begin, &self.watch)?.map_err(failed)?);
        }
        if self.in_flight.len() >= IN_FLIGHT {
            self.wait_for_part()?;
        }
        if let Some(parts) = &mut self.parts {
            let part = PutPayload::from(mem::take(&mut self.part));
            self.in_flight
                .push_back(handle()?.spawn(parts.put_part(part)));
        }
        Ok(())
    }

    fn wait_for_part(&mut self) -> io::Result<()> {
        match self.in_flight.pop_front() {
            Some(part) => wait(part, &self.watch)?
                .map_err(io::Error::other)?
                .map_err(failed),
            None => Ok(()),
        }
    }
}

fn failed(error: object_store::Error) -> io::Error {
    Failure::from(error).error.into()
}

fn hash(from: &mut dyn Read) -> io::Result<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    io::copy(from, &mut hasher)?;
    Ok(hasher.finalize())
}

impl Write for Upload {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let free = PART - self.part.len().min(PART);
        let (now, _) = bytes.split_at(bytes.len().min(free));
        self.part.extend_from_slice(now);
        self.hasher.update(now);
        if self.part.len() >= PART {
            self.send_part()?;
        }
        Ok(now.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        for part in &self.in_flight {
            part.abort();
        }
        if let Some(mut parts) = self.parts.take() {
            // Best effort: a rule of the bucket removes parts that stay.
            let abort = async move { tokio::time::timeout(ABORT, parts.abort()).await };
            let _ = wait(abort, &seedbank_algorithms::watch::Unwatched);
        }
    }
}
