//! The files below an address, and a lock on them.
//!
//! A lock is a small object that its owner rewrites every [`RENEWAL`]. A process that was killed leaves its lock
//! behind. Another one takes it over, with a conditional write, once it has seen that it did not change for
//! [`UNCHANGED`], or if it is older than [`EXPIRY`] by the clocks: services refuse requests whose clock differs
//! by more than a quarter of an hour.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{
    ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, UpdateVersion,
};
use seedbank_algorithms::watch::{Unwatched, Watch};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use crate::address::{Address, Service, shown};
use crate::client::{Client, Named};
use crate::error::RemoteError;
use crate::failure::Failure;
use crate::file::File;
use crate::runtime::{handle, wait};
use crate::upload::Upload;
use crate::version::{Version, look_up};

/// How often an owner rewrites its lock.
const RENEWAL: Duration = Duration::from_secs(10);
/// How long a lock must not change until another process takes it over.
const UNCHANGED: Duration = Duration::from_secs(60);
/// The age at which a lock is taken over at once.
const EXPIRY: Duration = Duration::from_secs(20 * 60);
/// How often a process that waits for a lock looks at it.
const LOOK: Duration = Duration::from_secs(2);
/// How long the removal of a lock may take.
const UNLOCK: Duration = Duration::from_secs(10);

/// A file in a folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stored {
    /// The name below the folder that was listed.
    pub name: String,
    /// The length in bytes.
    pub length: u64,
}

/// The files below an address.
#[derive(Clone)]
pub struct Folder {
    name: String,
    store: Arc<dyn ObjectStore>,
    path: Path,
    watch: Arc<dyn Watch + Send>,
}

impl Client {
    /// Returns the files below an address. The error comes with the address without secrets.
    pub fn folder(&mut self, address: &str) -> Named<Folder> {
        let mut place = || {
            let address = Address::parse(address)?;
            if address.service == Service::Http {
                return Err(RemoteError::ReadOnly);
            }
            let (stores, path) = self.place(&address)?;
            Ok(Folder {
                name: address.name.trim_end_matches('/').to_owned(),
                store: stores.requests,
                path,
                watch: Arc::clone(self.watch()),
            })
        };
        place().map_err(|error| (shown(address), error.into()))
    }
}

impl Folder {
    /// Returns the address, without secrets.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    fn at(&self, name: &str) -> Path {
        let parts = name.split('/').filter(|part| !part.is_empty());
        parts.fold(self.path.clone(), Path::join)
    }

    fn wait<T: Send + 'static>(
        &self,
        task: impl Future<Output = object_store::Result<T>> + Send + 'static,
    ) -> io::Result<Result<T, RemoteError>> {
        let done = wait(task, &self.watch)?;
        Ok(done.map_err(|error| Failure::from(error).error))
    }

    /// Lists the files below a folder in it, in any order.
    pub fn list(&self, below: &str) -> io::Result<Vec<Stored>> {
        let (store, path) = (Arc::clone(&self.store), self.at(below));
        let prefix = if path.is_root() {
            String::new()
        } else {
            format!("{path}/")
        };
        let list = async move {
            let folder = (!path.is_root()).then_some(&path);
            store.list(folder).try_collect::<Vec<ObjectMeta>>().await
        };
        let listed = self.wait(list)??;
        let stored = listed.into_iter().filter_map(|file| {
            let name = file.location.as_ref().strip_prefix(&prefix)?.to_owned();
            Some(Stored {
                name,
                length: file.size,
            })
        });
        Ok(stored.collect())
    }

    /// Opens a file; `None` if it does not exist.
    pub fn open(&self, name: &str) -> io::Result<Option<Box<dyn Read + Send>>> {
        let (store, path) = (Arc::clone(&self.store), self.at(name));
        let found = wait(async move { look_up(&*store, &path).await }, &self.watch)?;
        match found {
            Ok(found) => {
                let file = File {
                    name: format!("{}/{name}", self.name),
                    version: Version {
                        store: Arc::clone(&self.store),
                        found,
                    },
                    watch: Arc::clone(&self.watch),
                };
                Ok(Some(Box::new(file.stream()?)))
            }
            Err(RemoteError::NotFound) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Begins to write a file.
    #[must_use]
    pub fn upload(&self, name: &str) -> Upload {
        let shown = format!("{}/{name}", self.name);
        Upload::new(
            shown,
            Arc::clone(&self.store),
            self.at(name),
            Arc::clone(&self.watch),
        )
    }

    /// Writes a small file that must not exist. Returns `false` if it does.
    pub fn create(&self, name: &str, text: Vec<u8>) -> io::Result<bool> {
        match self.put(name, text, PutMode::Create)? {
            Ok(_) => Ok(true),
            Err(RemoteError::Exists) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn put(
        &self,
        name: &str,
        text: Vec<u8>,
        mode: PutMode,
    ) -> io::Result<Result<UpdateVersion, RemoteError>> {
        let (store, path) = (Arc::clone(&self.store), self.at(name));
        self.wait(async move {
            let put = store.put_opts(&path, PutPayload::from(text), PutOptions::from(mode));
            put.await.map(UpdateVersion::from)
        })
    }

    /// Removes a file, which may be missing.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        let (store, path) = (Arc::clone(&self.store), self.at(name));
        match self.wait(async move { store.delete(&path).await })? {
            Ok(()) | Err(RemoteError::NotFound) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Locks the folder with a file of this name; `None` if another process has it. With `wait`, waits for
    /// that process.
    pub fn lock(&self, name: &str, wait: bool) -> io::Result<Option<Lock>> {
        let mut seen: Option<(ObjectMeta, Instant)> = None;
        loop {
            match self.put(name, token(), PutMode::Create)? {
                Ok(version) => return Lock::hold(self.clone(), name, version).map(Some),
                Err(RemoteError::Exists) => {}
                Err(error) => return Err(error.into()),
            }
            let (store, path) = (Arc::clone(&self.store), self.at(name));
            let look = async move { look_up(&*store, &path).await };
            let found = match crate::runtime::wait(look, &self.watch)? {
                Ok(found) => found,
                // It was released meanwhile.
                Err(RemoteError::NotFound) => continue,
                Err(error) => return Err(error.into()),
            };
            let age = SystemTime::now().duration_since(found.last_modified.into());
            let is_same = |(before, _): &&(ObjectMeta, Instant)| before.e_tag == found.e_tag;
            let since = seen.as_ref().filter(is_same).map(|(_, since)| *since);
            if age.is_ok_and(|age| age > EXPIRY)
                || since.is_some_and(|since| since.elapsed() > UNCHANGED)
            {
                let version = UpdateVersion {
                    e_tag: found.e_tag.clone(),
                    version: found.version.clone(),
                };
                match self.put(name, token(), PutMode::Update(version))? {
                    Ok(version) => return Lock::hold(self.clone(), name, version).map(Some),
                    // A third process was faster.
                    Err(RemoteError::Changed | RemoteError::Exists | RemoteError::NotFound) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            if !wait {
                return Ok(None);
            }
            seen = Some((found, since.unwrap_or_else(Instant::now)));
            let begun = Instant::now();
            while begun.elapsed() < LOOK {
                self.watch.proceed().map_err(io::Error::other)?;
                thread::sleep(Duration::from_millis(100));
            }
        }
    }
}

/// Returns a text that no other lock has, so that each renewal changes the tag of the lock.
fn token() -> Vec<u8> {
    use std::hash::{BuildHasher, RandomState};
    let random = RandomState::new().hash_one(0);
    format!("{} {random:016x}\n", std::process::id()).into_bytes()
}

/// What the owner of a lock and its renewal share.
struct Held {
    folder: Folder,
    path: Path,
    version: Mutex<UpdateVersion>,
    is_lost: AtomicBool,
}

impl Held {
    /// Rewrites the lock; if another process has it, it is lost.
    async fn renew(&self) -> Result<(), RemoteError> {
        // Two renewals at a time would take each other for another process.
        let mut version = self.version.lock().await;
        let mode = PutOptions::from(PutMode::Update(version.clone()));
        let put = self
            .folder
            .store
            .put_opts(&self.path, PutPayload::from(token()), mode);
        match put.await {
            Ok(put) => {
                *version = UpdateVersion::from(put);
                Ok(())
            }
            Err(error) => {
                let failure = Failure::from(error);
                if !failure.is_transient {
                    self.is_lost.store(true, Ordering::Relaxed);
                    return Err(RemoteError::LockLost);
                }
                Err(failure.error)
            }
        }
    }
}

/// A lock on a folder. Dropped, it is released.
pub struct Lock {
    held: Arc<Held>,
    renewal: JoinHandle<()>,
}

impl Lock {
    fn hold(folder: Folder, name: &str, version: UpdateVersion) -> io::Result<Self> {
        let held = Arc::new(Held {
            path: folder.at(name),
            folder,
            version: Mutex::new(version),
            is_lost: AtomicBool::new(false),
        });
        let of_task = Arc::clone(&held);
        let renewal = handle()?.spawn(async move {
            while !of_task.is_lost.load(Ordering::Relaxed) {
                tokio::time::sleep(RENEWAL).await;
                // What fails for another reason is tried again in time.
                let _ = of_task.renew().await;
            }
        });
        Ok(Self { held, renewal })
    }

    /// Fails if another process may have taken over the lock, as after a long pause of this one.
    pub fn check(&self) -> io::Result<()> {
        let held = Arc::clone(&self.held);
        Ok(wait(async move { held.renew().await }, &Unwatched)??)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        self.renewal.abort();
        if self.held.is_lost.load(Ordering::Relaxed) {
            return;
        }
        let held = Arc::clone(&self.held);
        let release = async move {
            let delete = held.folder.store.delete(&held.path);
            tokio::time::timeout(UNLOCK, delete).await
        };
        // Best effort: what stays is taken over.
        let _ = wait(release, &Unwatched);
    }
}
