//! Mending a bank from what is still good in it.
//!
//! A bank has its last state twice: live and published. Where one of them is damaged, the other
//! takes its place; what is replaced is moved into `BANK/damaged/N/`, and nothing is deleted. Where
//! both are damaged, nothing is touched.
//!
//! A repair that is killed at any moment leaves a bank that the same command mends: the live
//! database is built beside its place from links to the published files and moved there whole, and
//! the acknowledgement is lowered last.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bank_check::{BankCheck, Lock, Verdict, examine, obstacles};
use crate::disk::folder::{
    ACKNOWLEDGED, DAMAGED, FOLDERS, MARKER, is_folder, marker_format, names_in, sync_folder,
    write_marker,
};
use crate::error::StoreError;
use crate::format::upgrade_path;
use crate::publish::acknowledged::Acknowledged;
use crate::publish::bank_from_state::link_or_copy;
use crate::publish::live_state::last_known_epoch;
use crate::publish::published::{Pointer, has_readers};
use crate::publish::reader::Reader;
use crate::publish::writer::{Writer, acknowledge, writer_lock};
use crate::rocks::manifest::structure_error;
use crate::rocks::options::AutoCompaction;
use crate::tables::records::{BatchId, RefreshId};
use crate::tables::store::Store;
use crate::tables::{FORMAT, META, MetaKey};
use seedbank_algorithms::watch::Watch;

/// Something that a repair made anew.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RepairedPart {
    /// The marker file.
    Marker,
    /// The record of what the bank acknowledged.
    Acknowledgement,
    /// Locks in whose place was something else than a file.
    Locks,
    /// The file of the live database that names its MANIFEST.
    LivePointer,
    /// The live database, rebuilt from the published state.
    Live,
    /// The published state, rebuilt from the live database.
    Published,
}

/// What was acknowledged and is in no good state any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Lost {
    /// The first and the last batch; `None` where none is lost.
    pub batches: Option<(BatchId, BatchId)>,
    /// The first and the last refresh; `None` where none is lost.
    pub refreshes: Option<(RefreshId, RefreshId)>,
}

/// What a repair did.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct RepairReport {
    /// What was wrong, as `check` reports it.
    pub found: BankCheck,
    /// What was made anew; empty where nothing needed it, or nothing could be mended.
    pub mended: Vec<RepairedPart>,
    /// The folder, inside the bank's, that now has what was replaced; `None` where nothing was.
    pub moved_to: Option<String>,
    /// What was acknowledged but is in no good state any longer; `None` where nothing is known to
    /// be lost.
    pub lost: Option<Lost>,
    /// Whether a bulk load that was interrupted was given up. Its batch or refresh was never
    /// acknowledged: the command has to be run again.
    pub abandoned_load: bool,
    /// Whether the record of what was acknowledged could be read; if not, more than `lost` may be
    /// gone.
    pub certain: bool,
    /// Whether the bank can be used; `false` where both states are damaged.
    pub usable: bool,
}

/// The place that replaced things are moved to.
struct Aside<'a> {
    bank: &'a Path,
    /// The folder, inside the bank's; `None` until something is moved there.
    folder: Option<String>,
}

impl Aside<'_> {
    /// Moves an entry of the bank's folder out of the way, if it is there.
    fn take(&mut self, entry: &str) -> Result<(), StoreError> {
        let path = self.bank.join(entry);
        if fs::symlink_metadata(&path).is_err() {
            return Ok(());
        }
        let folder = match &self.folder {
            Some(folder) => self.bank.join(folder),
            None => self.make()?,
        };
        let to = folder.join(entry.replace('/', "-"));
        let moved = fs::rename(&path, &to)
            .and_then(|()| sync_folder(&folder))
            .and_then(|()| sync_folder(path.parent().unwrap_or(self.bank)));
        moved.map_err(StoreError::io("move away", &path))
    }

    fn make(&mut self) -> Result<PathBuf, StoreError> {
        let all = self.bank.join(DAMAGED);
        let last = names_in(&all)
            .iter()
            .filter_map(|name| name.parse().ok())
            .max();
        let number = last.unwrap_or(0_u32).saturating_add(1);
        let folder = all.join(number.to_string());
        let made = fs::create_dir_all(&folder)
            .and_then(|()| sync_folder(&all))
            .and_then(|()| sync_folder(self.bank));
        made.map_err(StoreError::io("make", &folder))?;
        self.folder = Some(format!("{DAMAGED}/{number}"));
        Ok(folder)
    }
}

/// Mends a bank, provided that one of its two states is good.
///
/// With `wait` it waits for another writer to finish; otherwise that is [`StoreError::Busy`].
///
/// Cost: that of [`check`](super::check), then links to the files of a state.
pub fn repair(bank: &Path, wait: bool, watch: &dyn Watch) -> Result<RepairReport, StoreError> {
    let marker = match marker_format(bank) {
        Err(e @ (StoreError::NoMarker(_) | StoreError::OtherFormat { .. })) => Err(e),
        format => Ok(format?),
    };
    let mut aside = Aside { bank, folder: None };
    // Nobody can hold a lock that is not a file.
    let blocked = obstacles(bank);
    for entry in &blocked {
        aside.take(entry)?;
    }
    let lock = writer_lock(bank, wait, watch)?;
    let examined = || examine(bank, &Lock::Held, watch);
    let found = examined()?;
    watch.proceed()?;
    let said = Acknowledged::read(bank).ok().flatten();
    let mut mended = Vec::new();
    if !blocked.is_empty() {
        mended.push(RepairedPart::Locks);
    }
    let mut now = found.clone();
    let database = bank.join("live");
    if now.live.verdict == Verdict::Damaged
        && let Some(said) = said
            .as_ref()
            .filter(|said| said.manifest.is_unreferenced(&database))
    {
        aside.take("live/CURRENT")?;
        said.manifest.restore_current(&database)?;
        mended.push(RepairedPart::LivePointer);
        now = examined()?;
    }
    let mut live = now.live.verdict != Verdict::Damaged;
    let published = now.published.verdict == Verdict::Good;
    if now.live.verdict == Verdict::Unfinished && published && !opens(bank, &lock, &marker, watch)?
    {
        // RocksDB refuses a database that reads well.
        live = false;
    }
    let is_marked = marker.is_ok();
    // Without a marker, the database tells the format.
    let format = match (marker, format_of(bank, live, published)?) {
        (Ok(format), _) => format,
        (Err(_), Some(format)) if upgrade_path(format).is_some() => format,
        (Err(e), _) => return Err(e),
    };
    let mut report = RepairReport {
        found,
        mended,
        moved_to: aside.folder.clone(),
        lost: None,
        abandoned_load: false,
        certain: live || said.is_some(),
        usable: live || published,
    };
    if !report.usable {
        return Ok(report);
    }
    if report.found.is_clean() && is_marked && format == FORMAT && is_settled(bank)? {
        return Ok(report);
    }
    if !live {
        report.abandoned_load = has_load(bank, last_known_epoch(bank, said.as_ref()));
        report.lost = said.and_then(|said| lost(&said, &now));
        restore_live(bank, &mut aside)?;
        report.mended.push(RepairedPart::Live);
    } else if !published {
        set_published_aside(bank, &mut aside)?;
        aside.take("published/CURRENT")?;
        report.mended.push(RepairedPart::Published);
    }
    if !report.found.files.is_empty() {
        aside.take(ACKNOWLEDGED)?;
        report.mended.push(RepairedPart::Acknowledgement);
    }
    if !live || !report.found.files.is_empty() {
        acknowledge_live(bank)?;
    }
    if !is_marked {
        aside.take(MARKER)?;
        report.mended.push(RepairedPart::Marker);
    }
    // As any writer does: finishes loads, publishes what is not published. Files of tables are not
    // merged: those that were there stay, in case the state is to be looked at by other means.
    drop(Writer::open_locked(
        bank,
        lock,
        format,
        AutoCompaction::Disabled,
        watch,
    )?);
    if !is_marked {
        write_marker(bank, FORMAT)?;
    }
    report.moved_to = aside.folder;
    Ok(report)
}

/// The format that the database of a good state records; `None` where neither state is good.
fn format_of(bank: &Path, live: bool, published: bool) -> Result<Option<u32>, StoreError> {
    if live {
        return Ok(Some(open_live(bank)?.format()?));
    }
    if published {
        return Ok(Some(Reader::open_published(bank)?.format()?));
    }
    Ok(None)
}

/// Whether a good bank leaves nothing for a writer to finish or to publish.
fn is_settled(bank: &Path) -> Result<bool, StoreError> {
    let live = open_live(bank)?;
    let is_published = Pointer::read(bank)?.epoch == live.counters()?.epoch;
    Ok(is_published && !live.has(&META, &MetaKey::Intent)?)
}

fn open_live(bank: &Path) -> Result<Store, StoreError> {
    Store::read(&bank.join("live"))
}

/// What was acknowledged but is not in the published state.
fn lost(said: &Acknowledged, found: &BankCheck) -> Option<Lost> {
    let after = |kept: Option<u32>, last: u32| {
        let first = kept?.checked_add(1)?;
        (first <= last).then_some((first, last))
    };
    let lost = Lost {
        batches: after(found.published.batch, said.batch),
        refreshes: after(found.published.refresh, said.refresh),
    };
    (lost.batches.is_some() || lost.refreshes.is_some()).then_some(lost)
}

/// Moves aside every published state that publishing the live one would replace or remove: not only
/// the one that readers are pointed to, since the pointer may be what is damaged. A state that
/// somebody still reads stays, unless it is in the way.
fn set_published_aside(bank: &Path, aside: &mut Aside<'_>) -> Result<(), StoreError> {
    let pointed = Pointer::read(bank).map(|pointer| pointer.epoch).ok();
    let live = open_live(bank)?.counters()?.epoch;
    for name in names_in(&bank.join("published")) {
        let Ok(epoch) = name.trim_end_matches(".lock").parse::<u64>() else {
            continue;
        };
        let entry = format!("published/{name}");
        let is_in_the_way = Some(epoch) == pointed || epoch == live;
        if (is_in_the_way || !has_readers(bank, epoch)) && !bank.join(&entry).is_file() {
            aside.take(&entry)?;
        }
    }
    Ok(())
}

/// Makes the live database anew from the published state.
fn restore_live(bank: &Path, aside: &mut Aside<'_>) -> Result<(), StoreError> {
    let reader = Reader::open_published(bank)?;
    let place = bank.join("published").join(reader.epoch().to_string());
    let fresh = bank.join("live.new");
    if is_folder(&fresh) {
        // Left by a repair that was killed: nothing but links and copies.
        fs::remove_dir_all(&fresh).map_err(StoreError::io("write", &fresh))?;
    }
    fs::create_dir(&fresh).map_err(StoreError::io("write", &fresh))?;
    for name in names_in(&place) {
        let (from, to) = (place.join(&name), fresh.join(&name));
        link_or_copy(&from, &to).map_err(StoreError::io("write", &to))?;
    }
    sync_folder(&fresh).map_err(StoreError::io("write", &fresh))?;
    aside.take("live")?;
    // Loads that were begun belong to the database that is replaced.
    if !names_in(&bank.join("loads")).is_empty() {
        aside.take("loads")?;
    }
    for folder in FOLDERS {
        let path = bank.join(folder);
        fs::create_dir_all(&path).map_err(StoreError::io("write", &path))?;
    }
    let live = bank.join("live");
    fs::rename(&fresh, &live)
        .and_then(|()| sync_folder(bank))
        .map_err(StoreError::io("write", &live))
}

/// Acknowledges the live state as it stands.
fn acknowledge_live(bank: &Path) -> Result<(), StoreError> {
    acknowledge(bank, &open_live(bank)?, false)
}

/// Whether the live database was in a bulk load: its intent says so, or there is the folder of a load of
/// a state later than the last `known` one.
fn has_load(bank: &Path, known: u64) -> bool {
    let loads = names_in(&bank.join("loads"));
    let has_intent = || open_live(bank)?.has(&META, &MetaKey::Intent);
    let is_later = |name: &String| name.parse().is_ok_and(|number: u64| number > known);
    loads.iter().any(is_later)
        // RocksDB would wait for ever on a pipe in the place of a file.
        || structure_error(&bank.join("live")).is_ok() && has_intent().unwrap_or(false)
}

/// Whether a database with an unfinished bulk load can be opened for writing and the load be finished;
/// `false` where damage keeps it from that.
fn opens(
    bank: &Path,
    lock: &File,
    marker: &Result<u32, StoreError>,
    watch: &dyn Watch,
) -> Result<bool, StoreError> {
    let Ok(format) = marker else {
        return Ok(true);
    };
    let held = lock.try_clone().map_err(StoreError::io("lock", bank))?;
    match Writer::open_locked(bank, held, *format, AutoCompaction::Disabled, watch) {
        Err(e) if e.is_damage() => Ok(false),
        opened => opened.map(|_| true),
    }
}
