//! Whether the states of a bank are what was acknowledged, found without changing anything.
//!
//! A bank has two states: the live database and the published one. Each is looked at from outside
//! first (the MANIFEST that was acknowledged, the epoch), then every table is walked against its
//! mirrors. A live state later than the published one is legal: it is stored and not published yet.
//! A live state older than what was acknowledged is damage, whatever RocksDB says of it.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check::CheckReport;
use crate::disk::folder::{ACKNOWLEDGED, WRITER_LOCK, marker_format, names_in, open_regular};
use crate::error::StoreError;
use crate::publish::acknowledged::Acknowledged;
use crate::publish::live_state::{compare_live, read_live};
use crate::publish::reader::Reader;
use crate::rocks::write_ahead_log as logs;
use crate::tables::records::{BatchId, RefreshId};
use crate::tables::store::Store;
use crate::tables::{META, MetaKey};
use seedbank_algorithms::watch::Watch;

/// The result of looking at one state of a bank.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The state is what was acknowledged, and nothing in it is wrong.
    Good,
    /// Something is wrong with the state.
    Damaged,
    /// A bulk load was interrupted; the next command that writes finishes it.
    Unfinished,
    /// The state was not looked at.
    Unseen,
}

/// One state of a bank.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct StateCheck {
    /// The result of looking at it.
    pub verdict: Verdict,
    /// The last batch in it; `None` where that cannot be told.
    pub batch: Option<BatchId>,
    /// The last refresh in it; `None` where that cannot be told.
    pub refresh: Option<RefreshId>,
    /// What is wrong with the state as a whole, or why it was not checked; `None` where neither
    /// applies.
    pub why: Option<String>,
    /// What the walk over its tables found.
    #[serde(flatten)]
    pub walk: CheckReport,
}

/// What is wrong with a file of the bank's folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FileFinding {
    /// The file, inside the bank's folder.
    pub file: String,
    /// What is wrong with it.
    pub what: String,
}

/// What checking a bank found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct BankCheck {
    /// The live database, which the next batch goes into.
    pub live: StateCheck,
    /// What readers see.
    pub published: StateCheck,
    /// Whether both states consist of the same files, so that those were walked once, as the
    /// published state.
    pub same_files: bool,
    /// What is wrong with the bank's own files.
    pub files: Vec<FileFinding>,
}

impl BankCheck {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.live.verdict != Verdict::Damaged
            && self.published.verdict == Verdict::Good
            && self.files.is_empty()
    }

    /// How many things are wrong: findings in tables, states that are damaged as a whole, files.
    #[must_use]
    pub fn count(&self) -> u64 {
        let walked = if self.same_files {
            self.published.walk.count
        } else {
            self.live.walk.count + self.published.walk.count
        };
        let whole = |state: &StateCheck| {
            u64::from(state.verdict == Verdict::Damaged && state.walk.count == 0)
        };
        walked + whole(&self.live) + whole(&self.published) + self.files.len() as u64
    }
}

/// Whether the caller may look at the live database.
pub(crate) enum Lock {
    /// The caller holds the writer's lock.
    Held,
    /// The caller does not hold it; the text says why.
    Missed(String),
}

/// Takes the writer's lock if it can be had at once; needs no permission to write.
fn try_lock(bank: &Path) -> (Option<File>, Lock) {
    match open_regular(&bank.join(WRITER_LOCK)) {
        Err(e) => (None, Lock::Missed(format!("{WRITER_LOCK}: {e}"))),
        Ok(file) => match file.try_lock() {
            Ok(()) => (Some(file), Lock::Held),
            Err(TryLockError::WouldBlock) => {
                (None, Lock::Missed("another process writes".to_owned()))
            }
            Err(TryLockError::Error(e)) => (
                None,
                Lock::Missed(format!("{WRITER_LOCK} cannot be locked: {e}")),
            ),
        },
    }
}

/// Walks both states of a bank; changes nothing.
///
/// While another process writes, or where the writer's lock cannot be had, the live state is
/// [`Verdict::Unseen`]. An `Err` means that reading could not go on; damage is in the result.
///
/// Cost: one scan of every table, two where the states do not consist of the same files.
pub fn check(bank: &Path, watch: &dyn Watch) -> Result<BankCheck, StoreError> {
    marker_format(bank)?;
    let (_lock, lock) = try_lock(bank);
    examine(bank, &lock, watch)
}

/// Examines a bank whose marker may be lost, whether or not the caller holds the writer's lock.
pub(crate) fn examine(
    bank: &Path,
    lock: &Lock,
    watch: &dyn Watch,
) -> Result<BankCheck, StoreError> {
    let published = Reader::open_published(bank);
    let epoch = published.as_ref().ok().map(Reader::epoch);
    let (said, files) = acknowledgement(bank, epoch)?;
    let published = published.and_then(|reader| match &said {
        Some(said) => reader.ensure_expected(said).map(|()| reader),
        None => Ok(reader),
    });
    let live = match lock {
        Lock::Held => {
            Some(compare_live(bank, said.as_ref()).and_then(|_| read_live(bank, said.as_ref())))
        }
        Lock::Missed(_) => None,
    };
    let same_files = match (&live, &published) {
        (Some(Ok(live)), Ok(published)) => match are_same(bank, live, published) {
            Err(e) if e.is_damage() => false,
            are_same => are_same?,
        },
        _ => false,
    };
    let published = settled(published.and_then(|reader| walk(bank, &reader, watch)))?;
    let live = match (live, lock) {
        (Some(Ok(_)), _) if same_files => published.clone(),
        (Some(live), _) => settled(live.and_then(|store| walk(bank, &store, watch)))?,
        (None, Lock::Missed(why)) => StateCheck {
            verdict: Verdict::Unseen,
            ..StateCheck::of_whole(why.clone())
        },
        (None, Lock::Held) => StateCheck::of_whole("it was not checked".to_owned()),
    };
    Ok(BankCheck {
        live,
        published,
        same_files,
        files,
    })
}

/// The bank's locks, by their paths in it, in whose place is something else than a regular file, so that
/// no writer can take them.
pub(crate) fn obstacles(bank: &Path) -> Vec<String> {
    let published = names_in(&bank.join("published")).into_iter();
    let locks = published.filter(|name| {
        let epoch = name.strip_suffix(".lock");
        epoch.is_some_and(|epoch| epoch.parse::<u64>().is_ok())
    });
    let mut files: Vec<String> = locks.map(|name| format!("published/{name}")).collect();
    files.push(WRITER_LOCK.to_owned());
    files.retain(|file| fs::symlink_metadata(bank.join(file)).is_ok_and(|found| !found.is_file()));
    files.sort_unstable();
    files
}

/// The acknowledged state (`None` where there is none or it cannot be read), and what is wrong with
/// the file that says so.
fn acknowledgement(
    bank: &Path,
    published: Option<u64>,
) -> Result<(Option<Acknowledged>, Vec<FileFinding>), StoreError> {
    let said = match Acknowledged::read(bank) {
        Err(e) if e.is_damage() => None,
        said => said?,
    };
    let older = || {
        let said = said.as_ref()?;
        let published = published.filter(|published| *published > said.epoch)?;
        let epoch = said.epoch;
        Some(format!(
            "it acknowledges state {epoch}, and state {published} is published"
        ))
    };
    let what = Acknowledged::fault(bank).or_else(older);
    let files = what.map(|what| FileFinding {
        file: ACKNOWLEDGED.to_owned(),
        what,
    });
    let locks = obstacles(bank).into_iter().map(|file| FileFinding {
        file,
        what: "it is not a regular file".to_owned(),
    });
    Ok((said, files.into_iter().chain(locks).collect()))
}

impl StateCheck {
    /// A state that is damaged as a whole.
    fn of_whole(why: String) -> Self {
        Self {
            verdict: Verdict::Damaged,
            batch: None,
            refresh: None,
            why: Some(why),
            walk: CheckReport::default(),
        }
    }
}

/// An error and its causes in one line.
fn told(error: &StoreError) -> String {
    let mut text = match error {
        StoreError::State { what, .. } => what.clone(),
        error => error.to_string(),
    };
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

/// Walks the tables of a state. Where a bulk load is unfinished, some tables have their part of it and
/// some have not, so they are no mirrors of each other: the files of the load are compared with its
/// intent, and those of all tables with their checksums.
fn walk(bank: &Path, store: &Store, watch: &dyn Watch) -> Result<StateCheck, StoreError> {
    let counters = store.counters()?;
    // An intent that is another record is for the walk to find.
    let unfinished = store.unfinished_load().ok().flatten();
    let is_unfinished = unfinished.is_some();
    let walk = if let Some(intent) = unfinished {
        intent.verify(bank, watch)?;
        // What every writer reads, wherever it is stored.
        store.format()?;
        store.settings()?;
        store.rocks.verify_all_checksums(watch)?;
        CheckReport::default()
    } else {
        store.check(watch)?
    };
    let verdict = match (is_unfinished, walk.is_clean()) {
        (true, _) => Verdict::Unfinished,
        (false, true) => Verdict::Good,
        (false, false) => Verdict::Damaged,
    };
    let why = "a bulk load was interrupted; the next command that writes finishes it";
    Ok(StateCheck {
        verdict,
        batch: Some(counters.batch),
        refresh: Some(counters.refresh),
        why: is_unfinished.then(|| why.to_owned()),
        walk,
    })
}

/// Turns the error of a damaged state into its verdict: finding damage is no failure to look.
fn settled(state: Result<StateCheck, StoreError>) -> Result<StateCheck, StoreError> {
    match state {
        Err(e) if e.is_damage() => Ok(StateCheck::of_whole(told(&e))),
        state => state,
    }
}

/// Whether two states of the same epoch consist of the same files on disk.
fn are_same(bank: &Path, live: &Store, published: &Reader) -> Result<bool, StoreError> {
    if live.counters()?.epoch != published.epoch() || live.has(&META, &MetaKey::Intent)? {
        return Ok(false);
    }
    let names = |store: &Store| {
        let files = store.rocks.table_files()?.into_iter();
        Ok::<_, StoreError>(
            files
                .map(|file| (file.table, file.name))
                .collect::<BTreeSet<_>>(),
        )
    };
    let files = names(live)?;
    if files != names(published)? {
        return Ok(false);
    }
    let place = bank.join("published").join(published.epoch().to_string());
    let log = |database: &Path| {
        let log = logs::fingerprint(database);
        log.map_err(StoreError::io("read the log of", database))
    };
    if live.rocks.has_unflushed_entries()? && log(&bank.join("live"))? != log(&place)? {
        return Ok(false);
    }
    let node = |folder: &Path, name: &str| {
        let found = fs::metadata(folder.join(name.trim_start_matches('/')));
        found.ok().map(|found| (found.dev(), found.ino()))
    };
    let live = bank.join("live");
    Ok(files.iter().all(|(_, name)| {
        let node = |folder| node(folder, name);
        node(&live).is_some() && node(&live) == node(&place)
    }))
}
