//! The bank: its folder, and how it delimits sites.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::Result;
use super::processes::Processes;
use seedbank_algorithms::watch::{Unwatched, Watch};
use seedbank_formats::ingest::{Naming, SUFFIX_LIST, SiteMode, UrlRules};
use seedbank_store::records::Settings;
use seedbank_store::{self, BankCheck, OtherProcesses, Reader, StoreError, Writer};

/// A bank: one database directory.
///
/// The handle is cheap and keeps nothing open. Each call opens what it needs. A bank allows one
/// writer at a time, with any number of concurrent readers. Long calls can be watched and stopped
/// through a [watched](Bank::watched) handle.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::Bank;
///
/// // `bank` has two hubs that link to the same two pages, and one refresh.
/// let again = Bank::open(bank.path())?;
/// assert_eq!(again.status()?.counters.crawled, 2);
/// assert_eq!(again.seeds("default")?.count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Bank {
    path: PathBuf,
    /// The state that queries use; `None` for the one published at the time of each query.
    pinned: Option<Arc<Reader>>,
    watch: Arc<dyn Watch + Send>,
    /// Whether results contain only the last part of file paths.
    hides_folders: bool,
    /// Whether the graph image is used and written.
    uses_image: bool,
    /// The processes that have parts of a cluster bank.
    processes: OtherProcesses,
    /// This process, if commands run in other processes too.
    local: Option<Arc<Processes>>,
}

impl fmt::Debug for Bank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bank")
            .field("path", &self.path)
            .field("pinned", &self.pinned.as_ref().map(|state| state.epoch()))
            .field("hides_folders", &self.hides_folders)
            .finish_non_exhaustive()
    }
}

impl Bank {
    /// Creates an empty bank in a folder that does not exist or is empty.
    ///
    /// `naming` determines how URLs are normalised and grouped into sites. It never changes.
    pub fn create(path: impl AsRef<Path>, naming: Naming) -> Result<Self> {
        let path = path.as_ref();
        seedbank_store::create(path, &settings(naming))?;
        Ok(Self::at(path))
    }

    /// Creates an empty cluster bank in a folder that does not exist or is empty: one that is spread over this many
    /// databases, from 1 to 1,024. It is used as any other bank, and gives the same results. Sites belong to
    /// databases by name.
    ///
    /// Backup, restore, repair and compaction need all databases on this machine.
    ///
    /// ```
    /// use seedbank::engine::Bank;
    /// use seedbank::ingest::Naming;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let bank = Bank::create_cluster(folder.path().join("bank"), Naming::default(), 4)?;
    /// assert!(bank.is_empty()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_cluster(path: impl AsRef<Path>, naming: Naming, parts: u32) -> Result<Self> {
        let path = path.as_ref();
        seedbank_store::create_cluster(path, &settings(naming), parts)?;
        Ok(Self::at(path))
    }

    /// Opens the bank in this folder.
    ///
    /// # Errors
    ///
    /// If there is no bank, or if it cannot be read, is damaged or has another format. A handle to such
    /// a bank, for [`repair`](Self::repair), comes from [`Bank::at`].
    ///
    /// ```
    /// use seedbank::engine::Bank;
    ///
    /// assert!(Bank::open("no/such/folder").is_err());
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Reader::open(path.as_ref())?;
        Ok(Self::at(path))
    }

    /// Opens the bank in this folder as [`open`](Self::open) does, or creates an empty one if there is
    /// none. `naming` is used only for a new bank.
    ///
    /// ```
    /// use seedbank::engine::Bank;
    /// use seedbank::ingest::{Naming, SiteMode, UrlRules};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("bank");
    /// let new = Bank::open_or_create(&path, Naming::default())?;
    /// let same = Bank::open_or_create(&path, SiteMode::Domain.with(UrlRules::Whatwg))?;
    /// assert_eq!(same.status()?.site_mode, SiteMode::BareHost);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open_or_create(path: impl AsRef<Path>, naming: Naming) -> Result<Self> {
        let path = path.as_ref();
        match Reader::open(path) {
            Ok(_) => Ok(Self::at(path)),
            Err(StoreError::NoBank(_)) => Self::create(path, naming),
            Err(e) => Err(e.into()),
        }
    }

    /// Returns a handle to the bank in this folder without accessing it.
    #[must_use]
    pub fn at(path: impl AsRef<Path>) -> Self {
        Self {
            path: path.as_ref().to_path_buf(),
            pinned: None,
            watch: Arc::new(Unwatched),
            hides_folders: false,
            uses_image: true,
            processes: OtherProcesses::default(),
            local: None,
        }
    }

    /// Returns a handle to a cluster bank that reads and writes parts of it through other processes.
    #[must_use]
    pub fn with_processes(self, processes: OtherProcesses) -> Self {
        Self { processes, ..self }
    }

    /// Returns the processes that have parts of a cluster bank.
    pub(super) const fn other_processes(&self) -> &OtherProcesses {
        &self.processes
    }

    /// Returns a handle whose commands run in all processes that `local`, this process, has connected.
    pub(super) fn with_local_process(self, local: Arc<Processes>) -> Self {
        Self {
            local: Some(local),
            ..self
        }
    }

    /// Returns this process, if commands run in others too.
    pub(super) fn local_process(&self) -> Option<&Processes> {
        self.local.as_deref()
    }

    /// Returns a handle whose calls report their progress to `watch`, which can stop them. Pass a clone
    /// of an [`Arc`] to keep access to the watch.
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicBool, Ordering};
    ///
    /// /// A watch that stops calls once its flag is set.
    /// #[derive(Default)]
    /// struct Stop(AtomicBool);
    ///
    /// impl Watch for Stop {
    ///     fn stopped(&self) -> bool {
    ///         self.0.load(Ordering::Relaxed)
    ///     }
    /// }
    ///
    /// let stop = Arc::new(Stop::default());
    /// let watched = bank.watched(Arc::clone(&stop));
    /// watched.refresh(&RefreshRequest::default())?;
    /// stop.0.store(true, Ordering::Relaxed);
    /// let stopped = watched.refresh(&RefreshRequest::default());
    /// assert!(matches!(stopped, Err(EngineError::Interrupted(_))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn watched(&self, watch: impl Watch + Send + 'static) -> Self {
        Self {
            watch: Arc::new(watch),
            ..self.clone()
        }
    }

    /// Returns the watch of calls through this handle, for work that outlives a borrow of it.
    pub(crate) fn shared_watch(&self) -> Arc<dyn Watch + Send> {
        Arc::clone(&self.watch)
    }

    /// Returns the watch of calls through this handle.
    pub(crate) fn watch(&self) -> &dyn Watch {
        &*self.watch
    }

    /// Returns a handle to another folder with the same watch.
    pub(super) fn elsewhere(&self, path: &Path) -> Self {
        Self {
            watch: Arc::clone(&self.watch),
            ..Self::at(path)
        }
    }

    /// Returns another handle to the bank, unwatched and not pinned, whose results contain only the last
    /// part of file paths, and for files of the bank the path within it. Use it for readers who should
    /// not learn about paths on this machine.
    #[cfg(feature = "serve")]
    pub(crate) fn hiding_folders(&self) -> Self {
        Self {
            hides_folders: true,
            uses_image: self.uses_image,
            processes: self.processes.clone(),
            ..Self::at(&self.path)
        }
    }

    /// Whether results contain only the last part of file paths.
    pub(super) const fn hides_folders(&self) -> bool {
        self.hides_folders
    }

    /// Returns a handle that loads the graph from the tables, and neither uses nor writes the graph image,
    /// a file from which later calls load the graph faster. Results are the same.
    #[must_use]
    pub fn without_image(self) -> Self {
        Self {
            uses_image: false,
            ..self
        }
    }

    /// Opens the published state.
    pub(super) fn open_state(&self) -> Result<Reader, StoreError> {
        let reader = Reader::open_with(&self.path, &self.processes)?;
        Ok(if self.uses_image {
            reader
        } else {
            reader.without_image()
        })
    }

    /// Opens the bank for writing. If `wait` is set, waits for another writer to finish.
    pub(super) fn open_writer(&self, wait: bool, watch: &dyn Watch) -> Result<Writer, StoreError> {
        Writer::open_with(&self.path, &self.processes, wait, watch)
    }

    /// Checks the published and the live state.
    pub(super) fn check_files(&self) -> Result<BankCheck, StoreError> {
        seedbank_store::check_bank(&self.path, &self.processes, self.watch())
    }

    /// Returns a handle that keeps the currently published state and runs all queries on it, so
    /// that their results are consistent with each other.
    ///
    /// The state occupies disk space, and memory for what is read of it, until the last clone of
    /// the handle is dropped. Writes through the handle go to the bank as usual and are not visible
    /// to its own queries.
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// let then = bank.pinned()?;
    /// assert!(then.is_current()?);
    /// bank.refresh(&RefreshRequest::default())?;
    /// assert_eq!(then.status()?.counters.refreshes, 1);
    /// assert!(!then.is_current()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn pinned(&self) -> Result<Self> {
        Ok(Self {
            pinned: Some(Arc::new(self.open_state()?)),
            ..self.clone()
        })
    }

    /// Whether queries run on the state that is published now, which is always true unless the
    /// handle is [pinned](Bank::pinned). Fails if the bank is gone or cannot be read.
    ///
    /// Cost: reads two small files.
    pub fn is_current(&self) -> Result<bool> {
        match &self.pinned {
            Some(state) => Ok(state.is_current(&self.path)?),
            None => Ok(true),
        }
    }

    /// Whether the bank has no page: nothing was ingested, or all of it was undone or forgotten.
    ///
    /// Cost: reads one record.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.reader()?.counters()?.has_no_page())
    }

    /// Returns the state that queries use.
    pub(crate) fn reader(&self) -> Result<Arc<Reader>, StoreError> {
        match &self.pinned {
            Some(state) => Ok(Arc::clone(state)),
            None => self.open_state().map(Arc::new),
        }
    }

    /// Returns the last part of the bank's folder.
    #[must_use]
    pub fn name(&self) -> String {
        let path = self.path();
        let full = path.canonicalize().ok();
        let name = path.file_name().or_else(|| full.as_deref()?.file_name());
        name.map_or_else(
            || "bank".to_owned(),
            |name| name.to_string_lossy().into_owned(),
        )
    }

    /// Returns the bank's folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Returns the settings of a bank that delimits pages and sites in this way.
fn settings(naming: Naming) -> Settings {
    Settings {
        site_mode: name_of(&SiteMode::NAMES, naming.sites),
        url_rules: name_of(&UrlRules::NAMES, naming.urls),
        suffix_list: SUFFIX_LIST.to_owned(),
    }
}

/// Returns how a bank delimits pages and sites.
pub(crate) fn naming(settings: &Settings) -> Result<Naming, StoreError> {
    let sites = named(&SiteMode::NAMES, &settings.site_mode)?;
    Ok(sites.with(named(&UrlRules::NAMES, &settings.url_rules)?))
}

fn name_of<T: Copy + PartialEq>(names: &[(T, &'static str)], what: T) -> String {
    let found = names.iter().find(|(other, _)| *other == what);
    found.map_or("", |(_, name)| name).to_owned()
}

fn named<T: Copy>(names: &[(T, &'static str)], name: &str) -> Result<T, StoreError> {
    let found = names.iter().find(|(_, other)| *other == name);
    found
        .map(|(what, _)| *what)
        .ok_or_else(|| StoreError::Damaged {
            table: seedbank_store::tables::META.name,
            key: "Settings".to_owned(),
            what: format!("this build does not support {name:?}"),
        })
}
