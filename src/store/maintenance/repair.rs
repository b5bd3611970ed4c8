//! Repair of a bank from its undamaged parts.
//!
//! A bank has its last state twice: live and published. If one is damaged, the other replaces it. Replaced files
//! move to `BANK/damaged/N/`, and nothing is deleted. If both are damaged, nothing changes.
//!
//! After a kill at any moment, the same command completes the repair: the new live database is built as
//! `live.new` from links to the published files and renamed, and the acknowledgement is lowered last.

use std::fs;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bank_check::{BankCheck, Verdict, WriterLock, examine, invalid_locks};
use crate::disk::folder::{
    ACKNOWLEDGED, BankKind, DAMAGED, FOLDERS, MARKER, is_folder, link_or_copy, marker_format,
    names_in, sync_folder, write_marker,
};
use crate::disk::lock::Lock;
use crate::error::StoreError;
use crate::format::upgrade_path;
use crate::graph_image::remove_image;
use crate::publish::acknowledged::Acknowledged;
use crate::publish::cluster::OtherProcesses;
use crate::publish::cluster::part_files::ensure_single;
use crate::publish::live_state::last_known_epoch;
use crate::publish::published::{Pointer, has_readers};
use crate::publish::reader::Reader;
use crate::publish::writer::{Opening, Writer, acknowledge, writer_lock};
use crate::rocks::manifest::structure_error;
use crate::rocks::options::AutoCompaction;
use crate::tables::records::{BatchId, RefreshId};
use crate::tables::store::Store;
use crate::tables::{FORMAT, META, MetaKey};
use seedbank_algorithms::watch::Watch;

/// A part of a bank that a repair replaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RepairedPart {
    /// The marker file.
    Marker,
    /// The record of the acknowledged state.
    Acknowledgement,
    /// Lock files that were not regular files.
    Locks,
    /// The file of the live database that names its MANIFEST.
    LivePointer,
    /// The live database, rebuilt from the published state.
    Live,
    /// The published state, rebuilt from the live database.
    Published,
    /// The graph image, which differed from the tables and was removed.
    Image,
}

/// Acknowledged changes that are in no undamaged state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Lost {
    /// The first and the last lost batch; `None` if none is lost.
    pub batches: Option<(BatchId, BatchId)>,
    /// The first and the last lost refresh; `None` if none is lost.
    pub refreshes: Option<(RefreshId, RefreshId)>,
}

/// The report of `repair`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct RepairReport {
    /// The damage, as `check` reports it.
    pub found: BankCheck,
    /// The replaced parts; empty if nothing was damaged or nothing could be repaired.
    pub repaired: Vec<RepairedPart>,
    /// The folder in the bank with the replaced files; `None` if there are none.
    pub moved_to: Option<String>,
    /// Acknowledged changes that are lost; `None` if none are known to be.
    pub lost: Option<Lost>,
    /// Whether an interrupted bulk load was abandoned. Its batch or refresh was never acknowledged: the command
    /// has to be run again.
    pub abandoned_load: bool,
    /// Whether the record of the acknowledged state was readable; if `false`, more than `lost` may be lost.
    pub certain: bool,
    /// Whether the bank is usable; `false` if both states are damaged.
    pub usable: bool,
}

/// The folder that replaced files are moved to.
struct Quarantine<'a> {
    bank: &'a Path,
    /// The path within the bank; `None` until a file is moved.
    folder: Option<String>,
}

impl Quarantine<'_> {
    /// Moves an entry of the bank to the folder, if the entry exists.
    fn move_in(&mut self, entry: &str) -> Result<(), StoreError> {
        let path = self.bank.join(entry);
        if fs::symlink_metadata(&path).is_err() {
            return Ok(());
        }
        let folder = match &self.folder {
            Some(folder) => self.bank.join(folder),
            None => self.create()?,
        };
        let to = folder.join(entry.replace('/', "-"));
        let moved = fs::rename(&path, &to)
            .and_then(|()| sync_folder(&folder))
            .and_then(|()| sync_folder(path.parent().unwrap_or(self.bank)));
        moved.map_err(StoreError::io("move away", &path))
    }

    fn create(&mut self) -> Result<PathBuf, StoreError> {
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

/// Repairs a bank if one of its two states is undamaged.
///
/// If another writer is at work, this fails with [`StoreError::Busy`], or with `wait` it waits.
///
/// Cost: that of [`check`](super::check), plus a link for each file of a state.
pub fn repair(bank: &Path, wait: bool, watch: &dyn Watch) -> Result<RepairReport, StoreError> {
    ensure_single(bank, "repair")?;
    let marker = match marker_format(bank) {
        Err(e @ (StoreError::NoMarker(_) | StoreError::OtherFormat { .. })) => Err(e),
        format => Ok(format?),
    };
    let mut quarantine = Quarantine { bank, folder: None };
    // Nobody can hold a lock that is not a regular file, so it is replaced before the lock is taken.
    let blocked = invalid_locks(bank);
    for entry in &blocked {
        quarantine.move_in(entry)?;
    }
    let lock = writer_lock(bank, wait, watch)?;
    let processes = OtherProcesses::default();
    let examined = || examine(bank, &WriterLock::Held, &processes, watch);
    let found = examined()?;
    watch.proceed()?;
    let acknowledged = Acknowledged::read(bank).ok().flatten();
    let mut repaired = Vec::new();
    if !blocked.is_empty() {
        repaired.push(RepairedPart::Locks);
    }
    let mut now = found.clone();
    // If only CURRENT is damaged, the acknowledged MANIFEST proves which one it has to name.
    let database = bank.join("live");
    if now.live.verdict == Verdict::Damaged
        && let Some(acknowledged) = acknowledged
            .as_ref()
            .filter(|acknowledged| acknowledged.manifest.is_unreferenced(&database))
    {
        quarantine.move_in("live/CURRENT")?;
        acknowledged.manifest.restore_current(&database)?;
        repaired.push(RepairedPart::LivePointer);
        now = examined()?;
    }
    let mut live = now.live.verdict != Verdict::Damaged;
    let published = now.published.verdict == Verdict::Good;
    if now.live.verdict == Verdict::Unfinished && published && !opens(bank, &lock, &marker, watch)?
    {
        // RocksDB refuses to open a database for writing whose tables are readable.
        live = false;
    }
    let is_marked = marker.is_ok();
    // Without a marker, the database records the format.
    let format = match (marker, format_of(bank, live, published)?) {
        (Ok(format), _) => format,
        (Err(_), Some(format)) if upgrade_path(format).is_some() => format,
        (Err(e), _) => return Err(e),
    };
    let mut report = RepairReport {
        found,
        repaired,
        moved_to: quarantine.folder.clone(),
        lost: None,
        abandoned_load: false,
        certain: live || acknowledged.is_some(),
        usable: live || published,
    };
    // With two damaged states there is nothing to repair from; all files stay for other tools.
    if !report.usable {
        return Ok(report);
    }
    if report.found.is_clean() && is_marked && format == FORMAT && is_settled(bank)? {
        return Ok(report);
    }
    // The undamaged state replaces the other one. A kill in between leaves a missing state, which the next
    // repair takes for a damaged one.
    if !live {
        report.abandoned_load = has_load(bank, last_known_epoch(bank, acknowledged.as_ref()));
        report.lost = acknowledged.and_then(|acknowledged| lost(&acknowledged, &now));
        restore_live(bank, &mut quarantine)?;
        report.repaired.push(RepairedPart::Live);
    } else if !published {
        quarantine_published(bank, &mut quarantine)?;
        quarantine.move_in("published/CURRENT")?;
        report.repaired.push(RepairedPart::Published);
    }
    if report.found.image.what.is_some() {
        remove_image(bank)?;
        report.repaired.push(RepairedPart::Image);
    }
    if !report.found.files.is_empty() {
        quarantine.move_in(ACKNOWLEDGED)?;
        report.repaired.push(RepairedPart::Acknowledgement);
    }
    // Only now, so that after a kill the lost changes are still known.
    if !live || !report.found.files.is_empty() {
        acknowledge_live(bank)?;
    }
    if !is_marked {
        quarantine.move_in(MARKER)?;
        report.repaired.push(RepairedPart::Marker);
    }
    // Completes loads and publishes the state, like any writer, but without compactions, which would delete
    // table files that other tools may need.
    drop(Writer::open_locked(
        bank,
        lock,
        Opening::single(format, AutoCompaction::Disabled),
        watch,
    )?);
    if !is_marked {
        write_marker(bank, BankKind::Single, FORMAT)?;
    }
    report.moved_to = quarantine.folder;
    Ok(report)
}

/// Returns the format that an undamaged state records; `None` if both are damaged.
fn format_of(bank: &Path, live: bool, published: bool) -> Result<Option<u32>, StoreError> {
    if live {
        return Ok(Some(open_live(bank)?.format()?));
    }
    if published {
        return Ok(Some(Reader::open_published(bank)?.format()?));
    }
    Ok(None)
}

/// Returns whether an undamaged bank has no unfinished load and no unpublished state.
fn is_settled(bank: &Path) -> Result<bool, StoreError> {
    let live = open_live(bank)?;
    let is_published = Pointer::read(bank)?.epoch == live.counters()?.epoch;
    Ok(is_published && !live.has(&META, &MetaKey::Intent)?)
}

fn open_live(bank: &Path) -> Result<Store, StoreError> {
    Store::read(&bank.join("live"))
}

/// Returns the acknowledged changes that the published state lacks.
fn lost(acknowledged: &Acknowledged, found: &BankCheck) -> Option<Lost> {
    let after = |published: Option<u32>, last: u32| {
        let first = published?.checked_add(1)?;
        (first <= last).then_some((first, last))
    };
    let lost = Lost {
        batches: after(found.published.batch, acknowledged.batch),
        refreshes: after(found.published.refresh, acknowledged.refresh),
    };
    (lost.batches.is_some() || lost.refreshes.is_some()).then_some(lost)
}

/// Moves every published state away that publishing the live state would replace or remove: not only the current
/// one, since the pointer may be damaged. A state with readers stays, unless it is the current one or has the
/// epoch of the live state.
fn quarantine_published(bank: &Path, quarantine: &mut Quarantine<'_>) -> Result<(), StoreError> {
    let current = Pointer::read(bank).map(|pointer| pointer.epoch).ok();
    let live = open_live(bank)?.counters()?.epoch;
    for name in names_in(&bank.join("published")) {
        let Ok(epoch) = name.trim_end_matches(".lock").parse::<u64>() else {
            continue;
        };
        let entry = format!("published/{name}");
        let is_replaced = Some(epoch) == current || epoch == live;
        if (is_replaced || !has_readers(bank, epoch)) && !bank.join(&entry).is_file() {
            quarantine.move_in(&entry)?;
        }
    }
    Ok(())
}

/// Rebuilds the live database from the published state.
fn restore_live(bank: &Path, quarantine: &mut Quarantine<'_>) -> Result<(), StoreError> {
    let reader = Reader::open_published(bank)?;
    let place = bank.join("published").join(reader.epoch().to_string());
    let fresh = bank.join("live.new");
    if is_folder(&fresh) {
        // The leftover of a killed repair has only links and copies.
        fs::remove_dir_all(&fresh).map_err(StoreError::io("write", &fresh))?;
    }
    fs::create_dir(&fresh).map_err(StoreError::io("write", &fresh))?;
    for name in names_in(&place) {
        let (from, to) = (place.join(&name), fresh.join(&name));
        link_or_copy(&from, &to).map_err(StoreError::io("write", &to))?;
    }
    sync_folder(&fresh).map_err(StoreError::io("write", &fresh))?;
    quarantine.move_in("live")?;
    // Unfinished loads belong to the replaced database.
    if !names_in(&bank.join("loads")).is_empty() {
        quarantine.move_in("loads")?;
    }
    for folder in FOLDERS {
        let path = bank.join(folder);
        fs::create_dir_all(&path).map_err(StoreError::io("write", &path))?;
    }
    // A kill before the rename leaves no live database; the next repair rebuilds it.
    let live = bank.join("live");
    fs::rename(&fresh, &live)
        .and_then(|()| sync_folder(bank))
        .map_err(StoreError::io("write", &live))
}

/// Acknowledges the current live state.
fn acknowledge_live(bank: &Path) -> Result<(), StoreError> {
    acknowledge(bank, &open_live(bank)?, false)
}

/// Returns whether the live database was in a bulk load: it has an intent, or a folder of a load is later than
/// the last `known` state.
fn has_load(bank: &Path, known: u64) -> bool {
    let loads = names_in(&bank.join("loads"));
    let has_intent = || open_live(bank)?.has(&META, &MetaKey::Intent);
    let is_later = |name: &String| name.parse().is_ok_and(|number: u64| number > known);
    loads.iter().any(is_later)
        // RocksDB would block for ever on a pipe in place of a file.
        || structure_error(&bank.join("live")).is_ok() && has_intent().unwrap_or(false)
}

/// Returns whether a database with an unfinished bulk load can be opened for writing and the load be finished;
/// `false` on damage.
fn opens(
    bank: &Path,
    lock: &Lock,
    marker: &Result<u32, StoreError>,
    watch: &dyn Watch,
) -> Result<bool, StoreError> {
    let Ok(format) = marker else {
        return Ok(true);
    };
    let opening = Opening::single(*format, AutoCompaction::Disabled);
    match Writer::open_locked(bank, lock.clone(), opening, watch) {
        Err(e) if e.is_damage() => Ok(false),
        opened => opened.map(|_| true),
    }
}
