//! The bank itself: its folder, and how it cuts sites.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::EngineError;
use seedbank_formats::ingest::{Naming, SUFFIX_LIST, SiteMode, UrlRules};
use seedbank_store::records::Settings;
use seedbank_store::{self, Reader, StoreError};

/// A bank: one database directory.
///
/// The handle is cheap and holds nothing open. Each call opens what it needs: one writer at a
/// time, any number of readers beside it.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::{Bank, Which};
///
/// // `bank` has two hubs that link to the same two pages, and one refresh.
/// let again = Bank::at(bank.path());
/// assert_eq!(again.status()?.counters.crawled, 2);
/// assert_eq!(again.seeds(&Which::default())?.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Bank {
    path: PathBuf,
    /// The state that every question is answered of; `None` for the one that is published when it is
    /// asked.
    pinned: Option<Arc<Reader>>,
    /// Whether answers name files by the last part of their paths.
    hides_folders: bool,
}

impl fmt::Debug for Bank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bank")
            .field("path", &self.path)
            .field("pinned", &self.pinned.as_ref().map(|state| state.epoch()))
            .field("hides_folders", &self.hides_folders)
            .finish()
    }
}

impl Bank {
    /// Makes an empty bank in a folder that does not exist or is empty.
    ///
    /// `naming` says how it tells pages and sites apart, which never changes.
    pub fn create(path: &Path, naming: Naming) -> Result<Self, EngineError> {
        let settings = Settings {
            site_mode: name_of(&SiteMode::NAMES, naming.sites),
            url_rules: name_of(&UrlRules::NAMES, naming.urls),
            suffix_list: SUFFIX_LIST.to_owned(),
        };
        seedbank_store::create(path, &settings)?;
        Ok(Self::at(path))
    }

    /// The bank in this folder, or a new, empty one where there is none.
    ///
    /// `naming` is for a new bank; an existing one keeps its own. A bank that cannot be read, is
    /// damaged or is of another version is an error, and stays as it is.
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
    pub fn open_or_create(path: &Path, naming: Naming) -> Result<Self, EngineError> {
        match Reader::open(path) {
            Ok(_) => Ok(Self::at(path)),
            Err(StoreError::NoBank(_)) => Self::create(path, naming),
            Err(e) => Err(e.into()),
        }
    }

    /// The bank in this folder, which is not looked at until something is asked of it.
    #[must_use]
    pub fn at(path: &Path) -> Self {
        Self {
            path: path.to_path_buf(),
            pinned: None,
            hides_folders: false,
        }
    }

    /// The same bank, whose answers name files by the last part of their paths and those in the bank by
    /// their path in it: for readers who should not learn where anything is on this machine.
    pub(crate) fn hiding_folders(self) -> Self {
        Self {
            hides_folders: true,
            ..self
        }
    }

    /// Whether answers name files by the last part of their paths.
    pub(super) const fn hides_folders(&self) -> bool {
        self.hides_folders
    }

    /// A handle that holds the state published now, of which it answers every question, so that answers
    /// agree with each other whatever is published meanwhile.
    ///
    /// The state takes its room on disk, and memory for what is read of it, until the last clone of the
    /// handle is dropped. What writes through it writes to the bank as it is, and its answers stay those
    /// of the state that it holds.
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// let then = bank.pinned()?;
    /// assert!(then.is_current()?);
    /// bank.refresh(&RefreshRequest::default(), &Unwatched)?;
    /// assert_eq!(then.status()?.counters.refreshes, 1);
    /// assert!(!then.is_current()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn pinned(&self) -> Result<Self, EngineError> {
        Ok(Self {
            pinned: Some(Arc::new(Reader::open(&self.path)?)),
            ..self.clone()
        })
    }

    /// Whether its answers are of the state that is published now, as they are unless the handle is
    /// [pinned](Bank::pinned); an error where there is no bank any more, or none that can be read.
    ///
    /// Cost: two small files are read.
    pub fn is_current(&self) -> Result<bool, EngineError> {
        match &self.pinned {
            Some(state) => Ok(state.is_current(&self.path)?),
            None => Ok(true),
        }
    }

    /// The state to answer of.
    pub(crate) fn reader(&self) -> Result<Arc<Reader>, StoreError> {
        match &self.pinned {
            Some(state) => Ok(Arc::clone(state)),
            None => Reader::open(&self.path).map(Arc::new),
        }
    }

    /// The last part of the bank's folder.
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

    /// The bank's folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// How a bank tells pages and sites apart.
pub(crate) fn naming(settings: &Settings) -> Result<Naming, StoreError> {
    Ok(Naming {
        sites: named(&SiteMode::NAMES, &settings.site_mode)?,
        urls: named(&UrlRules::NAMES, &settings.url_rules)?,
    })
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
            what: format!("this build knows nothing of {name:?}"),
        })
}
