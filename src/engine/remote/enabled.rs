//! Remote files in a build that supports them.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use seedbank_algorithms::watch::{Interrupted, Unwatched, Watch, is_interrupted};
use seedbank_formats::ingest::{InputError, RemoteFile};
use seedbank_remote::Client;
pub use seedbank_remote::Upload;

use super::bucket::Bucket;
use crate::engine::error::{EngineError, Result};
use seedbank_store::{BackupStorage, StoreError};

/// Finds the files of addresses.
pub(super) struct Finder(Client);

impl Finder {
    #[expect(clippy::unnecessary_wraps, reason = "fails in other builds")]
    pub(super) fn new(watch: Arc<dyn Watch + Send>) -> Result<Self> {
        Ok(Self(Client::new(watch)))
    }

    /// Finds the files of each address.
    pub(super) fn find(&mut self, addresses: &[&str]) -> Result<Vec<Vec<Arc<dyn RemoteFile>>>> {
        self.0.find(addresses).map_err(|(file, source)| {
            if is_interrupted(&source) {
                return Interrupted.into();
            }
            InputError::Open { file, source }.into()
        })
    }
}

/// Returns the storage of backups below an address.
pub(super) fn storage(
    address: &str,
    watch: Arc<dyn Watch + Send>,
) -> Result<Box<dyn BackupStorage>> {
    match Client::new(watch).folder(address) {
        Ok(folder) => Ok(Box::new(Bucket(folder))),
        Err((name, source)) => Err(StoreError::io("use", name)(source).into()),
    }
}

/// Begins to write a remote file, which replaces an existing one once it is
/// [finished](Upload::finish).
pub fn upload(address: &str) -> Result<Upload> {
    let upload = Client::new(Arc::new(Unwatched)).upload(address);
    upload.map_err(|(name, source): (String, io::Error)| EngineError::Write {
        path: PathBuf::from(name),
        source,
    })
}
