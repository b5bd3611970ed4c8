//! Remote files in a build without them.

use std::convert::Infallible;
use std::io::{self, Write};
use std::sync::Arc;

use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::RemoteFile;

use crate::engine::error::{RequestError, Result};
use seedbank_store::BackupStorage;

/// Finds nothing.
pub(super) struct Finder(Infallible);

impl Finder {
    pub(super) fn new(_: Arc<dyn Watch + Send>) -> Result<Self> {
        Err(RequestError::NoRemote.into())
    }

    pub(super) fn find(&mut self, _: &[&str]) -> Result<Vec<Vec<Arc<dyn RemoteFile>>>> {
        match self.0 {}
    }
}

/// A remote file that is being written; never created in this build.
#[derive(Debug)]
pub struct Upload(Infallible);

impl Upload {
    /// Makes the file visible.
    pub fn finish(self) -> io::Result<()> {
        match self.0 {}
    }

    /// As [`finish`](Self::finish), unless the existing file has the same contents.
    pub fn finish_if_changed(self) -> io::Result<bool> {
        match self.0 {}
    }

    /// Returns the address.
    #[must_use]
    pub fn name(&self) -> &str {
        match self.0 {}
    }
}

impl Write for Upload {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        match self.0 {}
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0 {}
    }
}

/// Fails, since this build knows no storage but folders.
pub(super) fn storage(_: &str, _: Arc<dyn Watch + Send>) -> Result<Box<dyn BackupStorage>> {
    Err(RequestError::NoRemote.into())
}

/// Fails, since this build cannot write remote files.
pub fn upload(_: &str) -> Result<Upload> {
    Err(RequestError::NoRemote.into())
}
