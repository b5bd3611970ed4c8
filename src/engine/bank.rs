//! The bank itself: its folder, and how it cuts sites.

use std::path::{Path, PathBuf};

use super::error::EngineError;
use crate::ingest::{SUFFIX_LIST, SiteMode};
use crate::storage::records::Settings;
use crate::storage::{self, Reader, StoreError};

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
#[derive(Clone, Debug)]
pub struct Bank {
    path: PathBuf,
}

impl Bank {
    /// Makes an empty bank in a folder that does not exist or is empty.
    pub fn create(path: &Path, mode: SiteMode) -> Result<Self, EngineError> {
        let settings = Settings {
            site_mode: match mode {
                SiteMode::Host => "host".to_owned(),
                SiteMode::Domain => "domain".to_owned(),
            },
            suffix_list: SUFFIX_LIST.to_owned(),
        };
        storage::create(path, &settings)?;
        Ok(Self::at(path))
    }

    /// The bank in this folder, or a new, empty one where there is none.
    ///
    /// `mode` is for a new bank; an existing one keeps its own. A bank that cannot be read, is
    /// damaged or is of another version is an error, and stays as it is.
    ///
    /// ```
    /// use seedbank::engine::Bank;
    /// use seedbank::ingest::SiteMode;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("bank");
    /// let new = Bank::open_or_create(&path, SiteMode::Host)?;
    /// let same = Bank::open_or_create(&path, SiteMode::Domain)?;
    /// assert_eq!(same.status()?.site_mode, SiteMode::Host);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open_or_create(path: &Path, mode: SiteMode) -> Result<Self, EngineError> {
        match Reader::open(path) {
            Ok(_) => Ok(Self::at(path)),
            Err(StoreError::NoBank(_)) => Self::create(path, mode),
            Err(e) => Err(e.into()),
        }
    }

    /// The bank in this folder, which is not looked at until something is asked of it.
    #[must_use]
    pub fn at(path: &Path) -> Self {
        Self {
            path: path.to_path_buf(),
        }
    }

    /// The bank's folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// How a bank tells sites apart.
pub(crate) fn site_mode(settings: &Settings) -> Result<SiteMode, StoreError> {
    match settings.site_mode.as_str() {
        "host" => Ok(SiteMode::Host),
        "domain" => Ok(SiteMode::Domain),
        other => Err(StoreError::Damaged {
            table: storage::tables::META.name,
            key: "Settings".to_owned(),
            what: format!("there is no site mode {other:?}"),
        }),
    }
}
