//! Check of a bank, which changes nothing.
//!
//! A bank has two states: the live database and the published one. Each is compared with the acknowledgement
//! first (MANIFEST, log, epoch), then all its tables are checked. A live state may be later than the published
//! one: it is stored and not published yet. A live state older than the acknowledged one is damage, even if
//! RocksDB opens it without an error.

use std::collections::BTreeSet;
use std::fs::{self, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check::{CheckReport, ImageCheck};
use crate::disk::{ACKNOWLEDGED, Lock, PARTS, WRITER_LOCK, list, open_regular};
use crate::error::{IfUndamaged, StoreError, is_file_damage};
use crate::publish::acknowledged::Acknowledged;
use crate::publish::marker::ensure_bank;
use crate::publish::part_files::{part_folder, parts_of};
use crate::publish::part_states::OtherProcesses;
use crate::publish::published::{Pointer, compare_live, read_live};
use crate::publish::reader::Reader;
use crate::publish::verify_parts::LiveParts;
use crate::rocks::write_ahead_log as logs;
use crate::tables::records::{BatchId, RefreshId};
use crate::tables::shards::Parts;
use crate::tables::store::Store;
use crate::tables::{META, MetaKey};
use seedbank_algorithms::watch::Watch;

/// The verdict on a state of a bank.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The state is the acknowledged one and undamaged.
    Good,
    /// The state is damaged.
    Damaged,
    /// A bulk load was interrupted; the next command that writes finishes it.
    Unfinished,
    /// The state was not checked.
    Unseen,
}

/// The check of a state of a bank.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct StateCheck {
    /// The verdict.
    pub verdict: Verdict,
    /// The last batch in the state; `None` if unknown.
    pub batch: Option<BatchId>,
    /// The last refresh in the state; `None` if unknown.
    pub refresh: Option<RefreshId>,
    /// What is wrong with the state as a whole, or why it was not checked; else `None`.
    pub why: Option<String>,
    /// The result of the check of its tables.
    #[serde(flatten)]
    pub walk: CheckReport,
}

/// A damaged file of the folder of a bank.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FileFinding {
    /// The path within the bank.
    pub file: String,
    /// What is wrong.
    pub what: String,
}

/// The report of `check`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct BankCheck {
    /// The live state, which the next batch changes.
    pub live: StateCheck,
    /// The published state, which readers see.
    pub published: StateCheck,
    /// Whether both states consist of the same files, which were then checked once, as the published state.
    pub same_files: bool,
    /// Damaged files outside the states.
    pub files: Vec<FileFinding>,
    /// The comparison of the graph image with the tables of the published state.
    pub image: ImageCheck,
}

impl BankCheck {
    /// Returns whether nothing is wrong.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.live.verdict != Verdict::Damaged
            && self.published.verdict == Verdict::Good
            && self.files.is_empty()
            && self.image.what.is_none()
    }

    /// Returns the number of problems: findings in tables, states damaged as a whole, files, and a graph
    /// image that differs.
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
        let image = u64::from(self.image.what.is_some());
        walked + whole(&self.live) + whole(&self.published) + self.files.len() as u64 + image
    }
}

/// Whether the caller holds the lock of the writer.
pub(crate) enum WriterLock {
    /// The caller holds it.
    Held,
    /// The caller could not take it; the text is the reason.
    Unavailable(String),
}

/// Tries to take the lock of the writer; needs no write permission.
fn try_lock(bank: &Path) -> Result<(Option<Lock>, WriterLock), StoreError> {
    let path = bank.join(WRITER_LOCK);
    let unavailable = |why| Ok((None, WriterLock::Unavailable(why)));
    match open_regular(&path) {
        Err(e) if is_file_damage(&e) => unavailable(format!("{WRITER_LOCK}: {e}")),
        Err(e) => Err(StoreError::io("open", &path)(e)),
        Ok(file) => match Lock::try_exclusive(file) {
            Ok(lock) => Ok((Some(lock), WriterLock::Held)),
            Err(TryLockError::WouldBlock) => unavailable("another process writes".to_owned()),
            Err(TryLockError::Error(e)) => Err(StoreError::locking(&path)(e)),
        },
    }
}

/// Checks both states of a bank; changes nothing.
///
/// If the lock of the writer is not available, or if other processes have parts of the bank, the live state is
/// [`Verdict::Unseen`]. Damage is in the report; an
/// `Err` means that reading failed.
///
/// Cost: scans every table once, or twice if the states do not consist of the same files.
pub fn check(
    bank: &Path,
    processes: &OtherProcesses,
    watch: &dyn Watch,
) -> Result<BankCheck, StoreError> {
    ensure_bank(bank)?;
    let (_lock, lock) = if processes.any() {
        let why = "only the process of a part can read its live state".to_owned();
        (None, WriterLock::Unavailable(why))
    } else {
        try_lock(bank)?
    };
    let parts = parts_of(bank).unwrap_or(Parts::SINGLE);
    examine(bank, parts, &lock, processes, watch)
}

/// Checks a bank, which has these parts, without checking its marker.
pub(crate) fn examine(
    bank: &Path,
    parts: Parts,
    lock: &WriterLock,
    processes: &OtherProcesses,
    watch: &dyn Watch,
) -> Result<BankCheck, StoreError> {
    let published = Reader::open_published_with(bank, processes);
    let epoch = published.as_ref().ok().map(Reader::epoch);
    let (acknowledged, mut files) = read_acknowledgement(bank, epoch)?;
    let published = published.and_then(|reader| {
        if let Some(acknowledged) = &acknowledged {
            reader.ensure_expected(acknowledged)?;
        }
        if matches!(lock, WriterLock::Held) {
            reader.ensure_latest(bank)?;
        }
        Ok(reader)
    });
    for part in 1..parts.count() {
        files.extend(files_of_part(bank, part)?);
    }
    let live = match lock {
        WriterLock::Held => Ok(open_live(bank, parts, acknowledged.as_ref(), watch)),
        WriterLock::Unavailable(why) => Err(why),
    };
    let same_files = match (&live, &published) {
        // Each part of a cluster bank has files of its own, so both states are scanned.
        (
            Ok(Ok(LiveParts {
                store: Some(live), ..
            })),
            Ok(published),
        ) if !parts.is_cluster() => match have_same_files(bank, live, published) {
            Err(e) if e.is_damage() => false,
            have_same_files => have_same_files?,
        },
        _ => false,
    };
    let image = match &published {
        Ok(reader) => reader.check_image(bank, watch)?,
        Err(_) => ImageCheck::default(),
    };
    let published = as_verdict(published.and_then(|reader| check_tables(bank, &reader, watch)))?;
    let live = match live {
        Ok(Ok(_)) if same_files => published.clone(),
        Ok(live) => as_verdict(live.and_then(|live| check_live(bank, &live, watch)))?,
        Err(why) => StateCheck::of_whole(Verdict::Unseen, why.clone()),
    };
    Ok(BankCheck {
        live,
        published,
        same_files,
        files,
        image,
    })
}

/// Returns the paths of lock files of a bank that are not regular files, so that no process can take them.
pub(crate) fn invalid_locks(bank: &Path) -> Result<Vec<String>, StoreError> {
    let published = list(&bank.join("published"))?.into_iter();
    let locks = published.filter(|name| {
        let epoch = name.strip_suffix(".lock");
        epoch.is_some_and(|epoch| epoch.parse::<u64>().is_ok())
    });
    let mut files: Vec<String> = locks.map(|name| format!("published/{name}")).collect();
    files.push(WRITER_LOCK.to_owned());
    files.retain(|file| fs::symlink_metadata(bank.join(file)).is_ok_and(|found| !found.is_file()));
    files.sort_unstable();
    Ok(files)
}

/// Returns the acknowledged state, `None` if it is missing or unreadable, and damaged files.
fn read_acknowledgement(
    bank: &Path,
    published: Option<u64>,
) -> Result<(Option<Acknowledged>, Vec<FileFinding>), StoreError> {
    let acknowledged = Acknowledged::read(bank).if_undamaged()?.flatten();
    let older = || {
        let acknowledged = acknowledged.as_ref()?;
        let published = published.filter(|published| *published > acknowledged.epoch)?;
        let epoch = acknowledged.epoch;
        Some(format!(
            "it has state {epoch}, but state {published} is published"
        ))
    };
    let what = Acknowledged::fault(bank)?.or_else(older);
    let files = what.map(|what| FileFinding {
        file: ACKNOWLEDGED.to_owned(),
        what,
    });
    let locks = invalid_locks(bank)?.into_iter().map(|file| FileFinding {
        file,
        what: "it is not a regular file".to_owned(),
    });
    Ok((acknowledged, files.into_iter().chain(locks).collect()))
}

/// Returns the damaged files of a part of this process outside its states.
fn files_of_part(bank: &Path, part: u32) -> Result<Vec<FileFinding>, StoreError> {
    let folder = part_folder(bank, part);
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let published = Pointer::read(&folder).ok().map(|pointer| pointer.epoch);
    let (_, mut files) = read_acknowledgement(&folder, published)?;
    for found in &mut files {
        found.file = format!("{PARTS}/{part:03}/{}", found.file);
    }
    Ok(files)
}

/// Opens the live state; fails if the next writer would refuse it.
fn open_live(
    bank: &Path,
    parts: Parts,
    acknowledged: Option<&Acknowledged>,
    watch: &dyn Watch,
) -> Result<LiveParts, StoreError> {
    if parts.is_cluster() {
        return LiveParts::verify(bank, parts, watch);
    }
    compare_live(bank, acknowledged)?;
    Ok(LiveParts {
        store: Some(read_live(bank, acknowledged)?),
        is_interrupted: false,
    })
}

/// Checks the tables of a live state. While a commit is interrupted, the state is unfinished at best.
fn check_live(bank: &Path, live: &LiveParts, watch: &dyn Watch) -> Result<StateCheck, StoreError> {
    let why = "a commit was interrupted; the next command that writes finishes or undoes it";
    let check = match &live.store {
        Some(store) => check_tables(bank, store, watch)?,
        None => StateCheck::of_whole(Verdict::Unfinished, why.to_owned()),
    };
    if live.is_interrupted && check.verdict == Verdict::Good {
        return Ok(StateCheck {
            verdict: Verdict::Unfinished,
            why: Some(why.to_owned()),
            ..check
        });
    }
    Ok(check)
}

impl StateCheck {
    /// Creates the check of a state of which no table was checked.
    fn of_whole(verdict: Verdict, why: String) -> Self {
        Self {
            verdict,
            batch: None,
            refresh: None,
            why: Some(why),
            walk: CheckReport::default(),
        }
    }
}

/// Formats an error and its causes in one line.
fn message_with_causes(error: &StoreError) -> String {
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

/// Checks the tables of a state. During an unfinished bulk load, tables are inconsistent with each other, so only
/// the files of the load and the checksums of all table files are verified.
fn check_tables(bank: &Path, store: &Store, watch: &dyn Watch) -> Result<StateCheck, StoreError> {
    let counters = store.counters()?;
    // A record of another key in place of the intent is a finding of the check.
    let unfinished = store.unfinished_load().if_undamaged()?.flatten();
    let is_unfinished = unfinished.is_some();
    let walk = if let Some(intent) = unfinished {
        intent.verify(bank, watch)?;
        // Every writer reads these records.
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

/// Turns an error of damage into a verdict.
fn as_verdict(state: Result<StateCheck, StoreError>) -> Result<StateCheck, StoreError> {
    match state {
        Err(e) if e.is_damage() => {
            let why = message_with_causes(&e);
            Ok(StateCheck::of_whole(Verdict::Damaged, why))
        }
        state => state,
    }
}

/// Returns whether two states consist of the same files on disk.
fn have_same_files(bank: &Path, live: &Store, published: &Reader) -> Result<bool, StoreError> {
    if live.counters()?.epoch != published.epoch() || live.has(&META, &MetaKey::Intent)? {
        return Ok(false);
    }
    let names = |store: &Store| {
        let files = store.rocks.table_files()?.into_iter();
        Ok::<_, StoreError>(
            files
                .map(|file| (file.family, file.name))
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
