//! Repair of a bank from its undamaged parts.
//!
//! A bank has its last state twice: live and published. If one is damaged, the other replaces it. Replaced files
//! move to `BANK/damaged/N/`, and nothing is deleted. If both are damaged, nothing changes. A file that the operating system
//! does not let us read may be intact: then the repair fails before it moves anything.
//!
//! After a kill at any moment, the same command completes the repair: the new live database is built as
//! `live.new` from links to the published files and renamed, and the acknowledgement is lowered last.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bank_check::{BankCheck, Verdict, WriterLock, examine, invalid_locks};
use crate::disk::{
    ACKNOWLEDGED, DAMAGED, FOLDERS, Lock, MARKER, PARTS, exists, is_folder, link_or_copy, list,
    lock_file, sync_folder,
};
use crate::error::{IfUndamaged, StoreError};
use crate::format::Format;
use crate::graph_image::ImageLock;
use crate::publish::acknowledged::Acknowledged;
use crate::publish::bulk_load::{load_into, write_intent};
use crate::publish::marker::{BankKind, ensure_bank, marker, write_marker};
use crate::publish::part_files::{
    ensure_folders, ensure_part, load_folder, part_folder, read_prepared,
};
use crate::publish::part_states::OtherProcesses;
use crate::publish::published::{
    Comparison, LogStatus, Pointer, compare_live, damaged, has_readers, last_known_epoch, publish,
    published_folder, state_folder, state_lock, table_differing_from_published, write_pointer,
};
use crate::publish::reader::Reader;
use crate::publish::writer::{Opening, Writer, acknowledge, open_writer, writer_lock};
use crate::rocks::database::Database;
use crate::rocks::manifest::check_structure;
use crate::rocks::options::AutoCompaction;
use crate::rocks::write_ahead_log as logs;
use crate::tables::parts::PartDatabase;
use crate::tables::records::lineage::StateId;
use crate::tables::records::{BatchId, Counters, Intent, RefreshId};
use crate::tables::shards::Parts;
use crate::tables::store::Store;
use crate::tables::{ALL, META, MetaKey};
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

/// What a repair replaced in a part of a cluster bank.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct PartRepair {
    /// The number of the part.
    pub part: u32,
    /// What was replaced in it.
    pub repaired: Vec<RepairedPart>,
    /// The folder in the bank with the replaced files; `None` if there are none.
    pub moved_to: Option<String>,
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
    /// The replaced parts; empty if nothing was damaged or nothing could be repaired. Of a cluster bank, those of its first
    /// part.
    pub repaired: Vec<RepairedPart>,
    /// The folder in the bank with the replaced files; `None` if there are none.
    pub moved_to: Option<String>,
    /// The other parts of a cluster bank in which something was replaced.
    pub parts: Vec<PartRepair>,
    /// Acknowledged changes that are lost; `None` if none are known to be.
    pub lost: Option<Lost>,
    /// Whether an interrupted bulk load was abandoned. Its batch or refresh was never acknowledged: the command
    /// has to be run again.
    pub abandoned_load: bool,
    /// Whether the record of the acknowledged state was readable; if `false`, more than `lost` may be lost.
    pub certain: bool,
    /// Whether the bank is usable; `false` if both states are damaged, or if no state of a cluster bank is undamaged in all
    /// parts.
    pub usable: bool,
}

/// The folder that replaced files are moved to.
pub(super) struct Quarantine<'a> {
    bank: &'a Path,
    /// The path within the bank; `None` until a file is moved.
    pub(super) folder: Option<String>,
}

impl<'a> Quarantine<'a> {
    /// Creates the quarantine of a bank or of a part of a cluster bank, without a folder.
    pub(super) const fn new(bank: &'a Path) -> Self {
        Self { bank, folder: None }
    }

    /// Moves an entry of the bank to the folder, if the entry exists.
    pub(super) fn move_in(&mut self, entry: &str) -> Result<(), StoreError> {
        let path = self.bank.join(entry);
        if !exists(&path).map_err(StoreError::io("look at", &path))? {
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
        let last = list(&all)?
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

/// Repairs a bank in one database if one of its two states is undamaged.
pub(super) fn repair_single(
    bank: &Path,
    wait: bool,
    watch: &dyn Watch,
) -> Result<RepairReport, StoreError> {
    let marker = match ensure_bank(bank) {
        Err(e @ (StoreError::NoMarker(_) | StoreError::OtherFormat { .. })) => Err(e),
        marked => Ok(marked?),
    };
    let mut quarantine = Quarantine::new(bank);
    let mut repaired = Vec::new();
    replace_locks(&mut quarantine, &mut repaired)?;
    let lock = writer_lock(bank, wait, watch)?;
    let processes = OtherProcesses::default();
    let examined = || examine(bank, Parts::SINGLE, &WriterLock::Held, &processes, watch);
    let found = examined()?;
    watch.proceed()?;
    let acknowledged = Acknowledged::read(bank).if_undamaged()?.flatten();
    let mut now = found.clone();
    if now.live.verdict == Verdict::Damaged
        && restore_live_pointer(acknowledged.as_ref(), &mut quarantine)?
    {
        repaired.push(RepairedPart::LivePointer);
        now = examined()?;
    }
    let mut live = now.live.verdict != Verdict::Damaged;
    let published = now.published.verdict == Verdict::Good;
    let is_marked = marker.is_ok();
    let is_unfinished = now.live.verdict == Verdict::Unfinished;
    if is_unfinished && published && is_marked && !opens(bank, &lock, watch)? {
        // RocksDB refuses to open a database for writing whose tables are readable.
        live = false;
    }
    // Without a marker, the database records the format.
    if let Err(e) = marker
        && format_of(bank, live, published)? != Some(Format::current())
    {
        return Err(e);
    }
    let mut report = RepairReport {
        found,
        repaired,
        moved_to: quarantine.folder.clone(),
        parts: Vec::new(),
        lost: None,
        abandoned_load: false,
        certain: live || acknowledged.is_some(),
        usable: live || published,
    };
    // With two damaged states there is nothing to repair from; all files stay for other tools.
    if !report.usable {
        return Ok(report);
    }
    if report.found.is_clean() && is_marked && is_settled(bank)? {
        return Ok(report);
    }
    // The undamaged state replaces the other one. A kill in between leaves a missing state, which the next
    // repair takes for a damaged one.
    if !live {
        report.abandoned_load = has_load(bank, last_known_epoch(bank, acknowledged.as_ref())?)?;
        let (batch, refresh) = (now.published.batch, now.published.refresh);
        report.lost = acknowledged.and_then(|acknowledged| lost(&acknowledged, batch, refresh));
        let reader = Reader::open_published(bank)?;
        restore_live(&state_folder(bank, reader.epoch()), &mut quarantine)?;
        report.repaired.push(RepairedPart::Live);
    } else if !published {
        quarantine_published(&mut quarantine)?;
        report.repaired.push(RepairedPart::Published);
    }
    if report.found.image.what.is_some() {
        remove_image(bank, watch)?;
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
    let opening = Opening::single(AutoCompaction::Disabled);
    let writer = Writer::open_locked(bank, lock, opening, watch)?;
    // The image may be of a state that is lost.
    writer.remove_unused_image(watch)?;
    drop(writer);
    if !is_marked {
        write_marker(bank, BankKind::Single)?;
    }
    report.moved_to = quarantine.folder;
    Ok(report)
}

/// Removes the graph image.
pub(super) fn remove_image(bank: &Path, watch: &dyn Watch) -> Result<(), StoreError> {
    let lock = ImageLock::take(bank, watch)?;
    lock.iter().try_for_each(ImageLock::remove)
}

/// Returns the format that an undamaged state records; `None` if both are damaged.
fn format_of(bank: &Path, live: bool, published: bool) -> Result<Option<Format>, StoreError> {
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

/// Moves lock files away that are not regular files. Nobody can hold them, so this comes before the lock is taken.
pub(super) fn replace_locks(
    quarantine: &mut Quarantine<'_>,
    repaired: &mut Vec<RepairedPart>,
) -> Result<(), StoreError> {
    let blocked = invalid_locks(quarantine.bank)?;
    for entry in &blocked {
        quarantine.move_in(entry)?;
    }
    if !blocked.is_empty() {
        repaired.push(RepairedPart::Locks);
    }
    Ok(())
}

/// Rewrites CURRENT of the live database if nothing else is damaged: the acknowledged MANIFEST proves which one it has to
/// name. Returns whether it did.
pub(super) fn restore_live_pointer(
    acknowledged: Option<&Acknowledged>,
    quarantine: &mut Quarantine<'_>,
) -> Result<bool, StoreError> {
    let database = quarantine.bank.join("live");
    let Some(acknowledged) = acknowledged else {
        return Ok(false);
    };
    if !acknowledged.manifest.is_unreferenced(&database)? {
        return Ok(false);
    }
    quarantine.move_in("live/CURRENT")?;
    acknowledged.manifest.restore_current(&database)?;
    Ok(true)
}

fn open_live(bank: &Path) -> Result<Store, StoreError> {
    Store::read(&bank.join("live"))
}

/// Returns the acknowledged changes that a state with this last batch and refresh lacks.
pub(super) fn lost(
    acknowledged: &Acknowledged,
    batch: Option<BatchId>,
    refresh: Option<RefreshId>,
) -> Option<Lost> {
    let after = |known: Option<u32>, last: u32| {
        let first = known?.checked_add(1)?;
        (first <= last).then_some((first, last))
    };
    let lost = Lost {
        batches: after(batch, acknowledged.batch),
        refreshes: after(refresh, acknowledged.refresh),
    };
    (lost.batches.is_some() || lost.refreshes.is_some()).then_some(lost)
}

/// Moves every published state away that publishing the live state would replace or remove: not only the current
/// one, since the pointer may be damaged. A state with readers stays, unless it is the current one or has the
/// epoch of the live state.
pub(super) fn quarantine_published(quarantine: &mut Quarantine<'_>) -> Result<(), StoreError> {
    let bank = quarantine.bank;
    let current = Pointer::read(bank).if_undamaged()?;
    let current = current.map(|pointer| pointer.epoch);
    let live = open_live(bank)?.counters()?.epoch;
    for name in list(&bank.join("published"))? {
        let Ok(epoch) = name.trim_end_matches(".lock").parse::<u64>() else {
            continue;
        };
        let entry = format!("published/{name}");
        let is_replaced = Some(epoch) == current || epoch == live;
        if (is_replaced || !has_readers(bank, epoch)?) && !bank.join(&entry).is_file() {
            quarantine.move_in(&entry)?;
        }
    }
    quarantine.move_in("published/CURRENT")
}

/// Rebuilds the live database from the published state in a folder.
pub(super) fn restore_live(
    place: &Path,
    quarantine: &mut Quarantine<'_>,
) -> Result<(), StoreError> {
    let bank = quarantine.bank;
    let fresh = bank.join("live.new");
    if is_folder(&fresh) {
        // The leftover of a killed repair has only links and copies.
        fs::remove_dir_all(&fresh).map_err(StoreError::io("write", &fresh))?;
    }
    fs::create_dir(&fresh).map_err(StoreError::io("write", &fresh))?;
    for name in list(place)? {
        let (from, to) = (place.join(&name), fresh.join(&name));
        link_or_copy(&from, &to).map_err(StoreError::io("write", &to))?;
    }
    sync_folder(&fresh).map_err(StoreError::io("write", &fresh))?;
    quarantine.move_in("live")?;
    // Unfinished loads belong to the replaced database.
    quarantine_loads(quarantine)?;
    // A kill before the rename leaves no live database; the next repair rebuilds it.
    let live = bank.join("live");
    fs::rename(&fresh, &live)
        .and_then(|()| sync_folder(bank))
        .map_err(StoreError::io("write", &live))
}

/// Moves the files of unfinished loads away.
pub(super) fn quarantine_loads(quarantine: &mut Quarantine<'_>) -> Result<(), StoreError> {
    if !list(&quarantine.bank.join("loads"))?.is_empty() {
        quarantine.move_in("loads")?;
    }
    for folder in FOLDERS {
        let path = quarantine.bank.join(folder);
        fs::create_dir_all(&path).map_err(StoreError::io("write", &path))?;
    }
    Ok(())
}

/// Acknowledges the current live state.
pub(super) fn acknowledge_live(bank: &Path) -> Result<(), StoreError> {
    acknowledge(bank, &open_live(bank)?, false)
}

/// Returns whether the live database was in a bulk load: it has an intent, or a folder of a load is later than
/// the last `known` state.
pub(super) fn has_load(bank: &Path, known: u64) -> Result<bool, StoreError> {
    let is_later = |name: &String| name.parse().is_ok_and(|number: u64| number > known);
    if list(&bank.join("loads"))?.iter().any(is_later) {
        return Ok(true);
    }
    // RocksDB would block for ever on a pipe in place of a file.
    let has_intent = check_structure("live", &bank.join("live"))
        .and_then(|()| open_live(bank)?.has(&META, &MetaKey::Intent));
    match has_intent {
        Err(e) if e.system_error().is_some() => Err(e),
        has_intent => Ok(has_intent.unwrap_or(false)),
    }
}

/// Returns whether a database with an unfinished bulk load can be opened for writing and the load be finished;
/// `false` on damage.
fn opens(bank: &Path, lock: &Lock, watch: &dyn Watch) -> Result<bool, StoreError> {
    let opening = Opening::single(AutoCompaction::Disabled);
    let opened = Writer::open_locked(bank, lock.clone(), opening, watch).map(drop);
    Ok(opened.if_undamaged()?.is_some())
}

/// A state of a bank.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) id: StateId,
    pub(super) counters: Counters,
}

/// A part that is repaired. The caller holds the lock of its writer.
pub(super) struct PartToRepair<'a> {
    pub(super) folder: &'a Path,
    pub(super) quarantine: Quarantine<'a>,
    pub(super) repaired: Vec<RepairedPart>,
    pub(super) acknowledged: Option<Acknowledged>,
    /// `None` if it is damaged.
    live: Option<LiveCopy>,
}

/// An undamaged live database.
pub(super) struct LiveCopy {
    database: Arc<Database>,
    state: Target,
    /// The intent of an unfinished load, with which the database has the state in part.
    intent: Option<Intent>,
    /// Whether it is known to have the whole acknowledged log.
    is_complete: bool,
}

/// How a part gets a state, live and published.
pub(super) enum Way {
    /// It has the state.
    Nothing {
        live: Arc<Database>,
        published: Arc<Database>,
    },
    /// The live state is published again.
    Publish { live: Arc<Database> },
    /// The live database is rebuilt from a published state.
    Restore { published: Arc<Database> },
    /// The prepared commit is finished.
    Finish(Intent),
}

impl Way {
    /// Returns the database that the part has then, or its published copy if it has both.
    pub(super) fn published(&self) -> Option<Arc<Database>> {
        match self {
            Self::Nothing {
                published: found, ..
            }
            | Self::Restore { published: found }
            | Self::Publish { live: found } => Some(Arc::clone(found)),
            Self::Finish(_) => None,
        }
    }

    /// Returns the database that the part has then, or its live copy if it has both.
    pub(super) fn live(&self) -> Option<Arc<Database>> {
        match self {
            Self::Nothing { live, .. } => Some(Arc::clone(live)),
            other => other.published(),
        }
    }
}

/// Opens a database to which nobody writes, and verifies all checksums.
fn open_verified(place: &Path, watch: &dyn Watch) -> Result<(Store, Target), StoreError> {
    check_structure("live", place)?;
    let store = Store::read(place)?;
    store.rocks.verify_all_checksums(watch)?;
    let (found, expected) = (store.format()?, Format::current());
    if found != expected {
        return Err(damaged(format!(
            "expected format {expected}, found {found}"
        )));
    }
    let target = Target {
        id: store.state_id()?,
        counters: store.counters()?,
    };
    Ok((store, target))
}

impl<'a> PartToRepair<'a> {
    pub(super) fn new(folder: &'a Path) -> Self {
        Self {
            folder,
            quarantine: Quarantine::new(folder),
            repaired: Vec::new(),
            acknowledged: None,
            live: None,
        }
    }

    /// Rewrites the marker if it has another format and the databases have that of this build. Otherwise another build has
    /// written the part.
    pub(super) fn replace_other_marker(
        &mut self,
        bank: &Path,
        part: u32,
        parts: Parts,
    ) -> Result<(), StoreError> {
        let Err(error @ StoreError::OtherFormat { .. }) = ensure_part(bank, part, parts) else {
            return Ok(());
        };
        let epochs = list(&published_folder(self.folder))?.into_iter();
        let states = epochs.filter_map(|name| name.parse().ok());
        let states = states.map(|epoch| state_folder(self.folder, epoch));
        for place in states.chain([self.folder.join("live")]) {
            let format =
                check_structure("live", &place).and_then(|()| Store::read(&place)?.format());
            if format.if_undamaged()? == Some(Format::current()) {
                return self.rewrite_marker(part, parts);
            }
        }
        Err(error)
    }

    pub(super) fn rewrite_marker(&mut self, part: u32, parts: Parts) -> Result<(), StoreError> {
        self.quarantine.move_in(MARKER)?;
        write_marker(self.folder, BankKind::of_part(part, parts))?;
        self.repaired.push(RepairedPart::Marker);
        Ok(())
    }

    /// Reads what the part has outside its published states.
    ///
    /// Cost: reads the live database.
    pub(super) fn read(&mut self, watch: &dyn Watch) -> Result<(), StoreError> {
        self.acknowledged = Acknowledged::read(self.folder).if_undamaged()?.flatten();
        if restore_live_pointer(self.acknowledged.as_ref(), &mut self.quarantine)? {
            self.repaired.push(RepairedPart::LivePointer);
        }
        let read = || {
            let (_, log) = compare_live(self.folder, self.acknowledged.as_ref())?;
            let (store, state) = open_verified(&self.folder.join("live"), watch)?;
            Ok(LiveCopy {
                intent: store.unfinished_load()?,
                database: store.rocks,
                state,
                is_complete: log == LogStatus::Complete,
            })
        };
        self.live = read().if_undamaged()?;
        Ok(())
    }

    /// Returns the prepared commits that are readable.
    fn prepared(&self) -> Result<Vec<Intent>, StoreError> {
        let mut prepared = Vec::new();
        for name in list(&self.folder.join("loads"))? {
            if let Ok(epoch) = name.parse() {
                prepared.extend(read_prepared(self.folder, epoch).if_undamaged()?);
            }
        }
        prepared.extend(self.live.iter().filter_map(|live| live.intent.clone()));
        Ok(prepared)
    }

    /// Returns the states that the part may have or reach, whether or not they are damaged.
    pub(super) fn states(&self) -> Result<Vec<Target>, StoreError> {
        let read = |place: &Path| {
            check_structure("published", place)?;
            let store = Store::read(place)?;
            let (id, counters) = (store.state_id()?, store.counters()?);
            Ok(Target { id, counters })
        };
        let mut published = Vec::new();
        for name in list(&published_folder(self.folder))? {
            if let Ok(epoch) = name.parse() {
                let state = read(&state_folder(self.folder, epoch));
                published.extend(state.if_undamaged()?);
            }
        }
        let live = self.live.iter().map(|live| live.state);
        let prepared = self.prepared()?.into_iter().map(|intent| Target {
            id: intent.lineage.id(),
            counters: intent.counters,
        });
        let mut all: Vec<Target> = Vec::new();
        for target in published.into_iter().chain(live).chain(prepared) {
            if !all.contains(&target) {
                all.push(target);
            }
        }
        Ok(all)
    }

    /// Returns how the part gets a state; `None` if it cannot.
    ///
    /// Cost: reads the published state.
    pub(super) fn way(&self, target: Target, watch: &dyn Watch) -> Result<Option<Way>, StoreError> {
        let mut published = self.published(target, watch).if_undamaged()?.flatten();
        let live = self.live.as_ref();
        let mut has_it = live.filter(|live| live.state == target && live.intent.is_none());
        if published.is_some()
            && self.is_published(target)?
            && table_differing_from_published(self.folder, Comparison::Bytes)?.is_some()
        {
            // The checksums of one of them may be wrong in a block that was not read.
            let is_sound = |place: &Path| {
                let read = Store::read(place).and_then(|store| store.rocks.verify_reads(watch));
                read.if_undamaged().map(|read| read.is_some())
            };
            if !is_sound(&state_folder(self.folder, target.counters.epoch))? {
                published = None;
            } else if !is_sound(&self.folder.join("live"))? {
                has_it = None;
            }
        }
        let whole = has_it.filter(|live| live.is_complete);
        let is_published = self.is_published(target)?;
        let publish = |live: &LiveCopy| Way::Publish {
            live: Arc::clone(&live.database),
        };
        Ok(match (whole, published) {
            (Some(live), Some(published)) if is_published => Some(Way::Nothing {
                live: Arc::clone(&live.database),
                published,
            }),
            (Some(live), _) => Some(publish(live)),
            (None, Some(published)) => Some(Way::Restore { published }),
            (None, None) => match has_it {
                Some(live) => Some(publish(live)),
                None => self.unfinished(target, watch)?.map(Way::Finish),
            },
        })
    }

    /// Opens the published copy of a state; `None` if there is none.
    fn published(
        &self,
        target: Target,
        watch: &dyn Watch,
    ) -> Result<Option<Arc<Database>>, StoreError> {
        let epoch = target.counters.epoch;
        if let Some(pointer) = Pointer::read(self.folder).if_undamaged()?
            && pointer.epoch == epoch
        {
            pointer.verify_files(self.folder)?;
        }
        let (store, found) = open_verified(&state_folder(self.folder, epoch), watch)?;
        Ok((found == target).then_some(store.rocks))
    }

    /// Returns whether readers are pointed to a state.
    fn is_published(&self, target: Target) -> Result<bool, StoreError> {
        let pointer = Pointer::read(self.folder).if_undamaged()?;
        let is_it = pointer.is_some_and(|pointer| {
            pointer.epoch == target.counters.epoch && pointer.id() == target.id
        });
        Ok(is_it && state_lock(self.folder, target.counters.epoch).is_file())
    }

    /// Returns the commit that makes the live state this state; `None` if there is none, or if a file of it is damaged.
    fn unfinished(&self, target: Target, watch: &dyn Watch) -> Result<Option<Intent>, StoreError> {
        let Some(live) = self.live.as_ref().filter(|live| live.is_complete) else {
            return Ok(None);
        };
        let is_next = |intent: &Intent| {
            intent.lineage.id() == target.id && intent.lineage.previous == live.state.id.state
        };
        let Some(intent) = self.prepared()?.into_iter().find(is_next) else {
            return Ok(None);
        };
        let verified = intent.verify(self.folder, watch).if_undamaged()?;
        Ok(verified.map(|()| intent))
    }

    /// Gives the part a state. Returns whether a commit was abandoned for it.
    pub(super) fn apply(&mut self, target: Target, way: Way) -> Result<bool, StoreError> {
        let epoch = target.counters.epoch;
        let folder = self.folder;
        let has_load = has_load(folder, epoch)?;
        let is_abandoned = has_load && !matches!(way, Way::Finish(_));
        if is_abandoned {
            quarantine_loads(&mut self.quarantine)?;
        }
        // Closed before its files are replaced.
        self.live = None;
        // Nothing can be written in the place of what is no regular file.
        if !matches!(way, Way::Nothing { .. }) && self.move_irregular(ACKNOWLEDGED)? {
            self.repaired.push(RepairedPart::Acknowledgement);
        }
        match way {
            Way::Nothing { .. } => {}
            Way::Publish { live } => {
                drop(live);
                // A state that was not published yet replaces nothing.
                let pointer = Pointer::read(folder).if_undamaged()?;
                if pointer.is_none_or(|pointer| pointer.epoch >= epoch) {
                    quarantine_published(&mut self.quarantine)?;
                    self.repaired.push(RepairedPart::Published);
                }
                settle(folder, None)?;
            }
            Way::Finish(intent) => {
                if self.move_irregular("published/CURRENT")? {
                    self.repaired.push(RepairedPart::Published);
                }
                settle(folder, Some(&intent))?;
            }
            Way::Restore { published } => {
                drop(published);
                restore_live(&state_folder(folder, epoch), &mut self.quarantine)?;
                self.repaired.push(RepairedPart::Live);
                if !self.is_published(target)? {
                    self.point_to(target)?;
                    self.repaired.push(RepairedPart::Published);
                }
                acknowledge_live(folder)?;
            }
        }
        self.acknowledge(target)?;
        Ok(is_abandoned)
    }

    /// Moves an entry away if it is not a regular file. Returns whether it did.
    fn move_irregular(&mut self, entry: &str) -> Result<bool, StoreError> {
        let found = fs::symlink_metadata(self.folder.join(entry));
        let is_irregular = found.is_ok_and(|found| !found.is_file());
        if is_irregular {
            self.quarantine.move_in(entry)?;
        }
        Ok(is_irregular)
    }

    /// Points readers to a published state, and moves later ones away.
    fn point_to(&mut self, target: Target) -> Result<(), StoreError> {
        let epoch = target.counters.epoch;
        self.quarantine.move_in("published/CURRENT")?;
        for name in list(&published_folder(self.folder))? {
            if name.parse().is_ok_and(|later: u64| later > epoch) {
                self.quarantine.move_in(&format!("published/{name}"))?;
            }
        }
        lock_file(&state_lock(self.folder, epoch))?;
        write_pointer(self.folder, epoch, target.id).map(drop)
    }

    /// Acknowledges the state, unless the record is right.
    fn acknowledge(&mut self, target: Target) -> Result<(), StoreError> {
        let is_right = |state: Acknowledged| {
            let pointer = Pointer::read(self.folder);
            state.id == target.id && pointer.is_ok_and(|at| at.ensure_expected(&state).is_ok())
        };
        let state = Acknowledged::read(self.folder).if_undamaged()?.flatten();
        if Acknowledged::fault(self.folder)?.is_none() && state.is_some_and(is_right) {
            return Ok(());
        }
        self.quarantine.move_in(ACKNOWLEDGED)?;
        acknowledge_live(self.folder)?;
        self.repaired.push(RepairedPart::Acknowledgement);
        Ok(())
    }
}

/// Publishes the live state of a part, after the commit of this intent if there is one.
fn settle(folder: &Path, intent: Option<&Intent>) -> Result<(), StoreError> {
    let live = folder.join("live");
    // A killed process may have written log records without syncing them.
    logs::sync(&live).map_err(StoreError::io("sync", &live))?;
    let disabled = AutoCompaction::Disabled;
    let store = Store::new(Database::open_writer(&live, ALL, disabled)?);
    if let Some(intent) = intent {
        let place = load_folder(folder, intent.counters.epoch);
        write_intent(&store, &place, intent)?;
        load_into(&store, &place, intent)?;
    }
    acknowledge(folder, &store, false)?;
    let is_flushed = publish(folder, &store, store.counters()?.epoch)?;
    acknowledge(folder, &store, is_flushed)
}

// Repair of a cluster bank: all parts get the latest state that each of them has or can reach.
//
// A part has its last state twice, live and published, and its previous one once, published until the next commit. After an
// interrupted commit it may also have the files of the next state. So after damage to a file, there is nearly always a
// state that is undamaged in all parts, also if the parts were in different states. Replaced files move to `damaged/N/` in
// the folder of their part, and nothing is deleted. If there is no such state, nothing changes.
//
// A copy of a state counts if its fingerprints and checksums are right, and if a check of the tables of all parts finds
// nothing.
//
// After a kill at any moment, the same command completes the repair: a part loses no other copy of the state before the new
// one is complete, and until then writers find that the parts differ.

/// Repairs a bank if one of its two states is undamaged, or a cluster bank if one of its states is undamaged in all parts.
///
/// If another writer is at work, this fails with [`StoreError::Busy`], or with `wait` it waits.
///
/// Cost: that of [`check`](super::check), plus a link for each file of a state; for a damaged cluster bank, that of two or
/// three checks.
pub fn repair(bank: &Path, wait: bool, watch: &dyn Watch) -> Result<RepairReport, StoreError> {
    match parts_to_repair(bank)? {
        None => repair_single(bank, wait, watch),
        Some(parts) => repair_parts(bank, parts, wait, watch),
    }
}

/// Returns the parts of a cluster bank, `None` for a bank in one database. Each marker may be damaged, so the number counts
/// that most of them have.
fn parts_to_repair(bank: &Path) -> Result<Option<Parts>, StoreError> {
    let folder = bank.join(PARTS);
    let count = |place: &Path| match marker(place) {
        Ok(BankKind::Cluster(count) | BankKind::Part(_, count)) => Some(count),
        _ => None,
    };
    match marker(bank) {
        Ok(BankKind::Part(..)) => return Err(StoreError::IsPart(bank.to_path_buf())),
        Ok(BankKind::Cluster(_)) => {}
        Err(StoreError::NoMarker(_) | StoreError::OtherFormat { .. }) if folder.is_dir() => {}
        _ => return Ok(None),
    }
    let names = list(&folder)?;
    let places = names.iter().map(|name| folder.join(name));
    let own = count(bank);
    let folders = u32::try_from(names.len() + 1).ok();
    let mut votes: BTreeMap<u32, usize> = BTreeMap::new();
    let found = places.map(|place| count(&place)).chain([own, folders]);
    for found in found.flatten() {
        *votes.entry(found).or_default() += 1;
    }
    let most = votes
        .into_iter()
        .max_by_key(|(count, votes)| (*votes, Some(*count) == own));
    Ok(most.and_then(|(count, _)| Parts::new(count)))
}

/// Repairs a cluster bank with these parts.
fn repair_parts(
    bank: &Path,
    parts: Parts,
    wait: bool,
    watch: &dyn Watch,
) -> Result<RepairReport, StoreError> {
    ensure_folders(bank, parts, "repair")?;
    let folders: Vec<PathBuf> = (0..parts.count())
        .map(|part| part_folder(bank, part))
        .collect();
    let mut all: Vec<PartToRepair<'_>> = folders.iter().map(|at| PartToRepair::new(at)).collect();
    for part in &mut all {
        replace_locks(&mut part.quarantine, &mut part.repaired)?;
    }
    let lock = writer_lock(bank, wait, watch)?;
    let mut locks = Vec::new();
    for folder in folders.iter().skip(1) {
        locks.push(writer_lock(folder, wait, watch)?);
    }
    for part in 0..parts.count() {
        all[part as usize].replace_other_marker(bank, part, parts)?;
    }
    let processes = OtherProcesses::default();
    let found = examine(bank, parts, &WriterLock::Held, &processes, watch)?;
    watch.proceed()?;
    let unmarked = |part: &u32| ensure_part(bank, *part, parts).is_err();
    let unmarked: Vec<u32> = (0..parts.count()).filter(unmarked).collect();
    let is_finished = found.live.verdict != Verdict::Unfinished;
    let is_clean = found.is_clean() && unmarked.is_empty();
    let mut report = RepairReport::new(found);
    if !is_clean {
        for part in &mut all {
            part.read(watch)?;
        }
        let last = last_acknowledged(&all)?;
        report.certain = last.is_some();
        let Some((target, ways)) = latest_state(&all, parts, watch)? else {
            report.usable = false;
            report.take_parts(all);
            return Ok(report);
        };
        let counters = target.counters;
        report.lost =
            last.and_then(|last| lost(&last, Some(counters.batch), Some(counters.refresh)));
        // A commit is finished in the first part last, and undone in it first: it decides.
        let published = Pointer::read(bank).if_undamaged()?;
        let published = published.map(|pointer| pointer.epoch);
        let mut work: Vec<_> = all.iter_mut().zip(ways).collect();
        if published.is_some_and(|epoch| epoch < counters.epoch) {
            work.rotate_left(1);
        }
        for (part, way) in work {
            report.abandoned_load |= part.apply(target, way)?;
        }
        if report.found.image.what.is_some() {
            remove_image(bank, watch)?;
            all[0].repaired.push(RepairedPart::Image);
        }
        for part in unmarked {
            all[part as usize].rewrite_marker(part, parts)?;
        }
    }
    drop(locks);
    if !(is_clean && is_finished) {
        // Finishes or undoes an interrupted commit, and verifies that the parts agree.
        let writer = open_writer(bank, lock, parts, &processes, wait, watch)?;
        // The image may be of a state that is lost.
        writer.remove_unused_image(watch)?;
    }
    report.take_parts(all);
    Ok(report)
}

/// Returns the last state that a command may have reported as stored; `None` if no record of it is readable.
fn last_acknowledged(all: &[PartToRepair<'_>]) -> Result<Option<Acknowledged>, StoreError> {
    let mut states = all.iter().map(|part| part.acknowledged.as_ref());
    let first = states.next().flatten();
    // While the first part has a commit to finish, the others may acknowledge a state that no command has reported.
    if let (Some(part), Some(state)) = (all.first(), first) {
        let loads = list(&part.folder.join("loads"))?;
        let is_later = |name: &String| name.parse().is_ok_and(|load: u64| load > state.epoch);
        if loads.iter().any(is_later) {
            return Ok(Some(state.clone()));
        }
    }
    let states = first.into_iter().chain(states.flatten());
    Ok(states.max_by_key(|state| state.epoch).cloned())
}

/// Returns the latest state that is undamaged in all parts or can be, and how each part gets it; `None` if there is none.
fn latest_state(
    all: &[PartToRepair<'_>],
    parts: Parts,
    watch: &dyn Watch,
) -> Result<Option<(Target, Vec<Way>)>, StoreError> {
    let mut targets = match all.first() {
        Some(first) => first.states()?,
        None => Vec::new(),
    };
    targets.sort_by_key(|target| std::cmp::Reverse(target.counters.epoch));
    'targets: for target in targets {
        let mut ways = Vec::new();
        for part in all {
            match part.way(target, watch)? {
                Some(way) => ways.push(way),
                None => continue 'targets,
            }
        }
        if choose_copies(&mut ways, parts, watch)? {
            return Ok(Some((target, ways)));
        }
    }
    Ok(None)
}

/// Checks the tables of all parts, and decides which copy replaces the other in a part that has both. Returns whether the
/// tables are undamaged. A state that has to be finished first cannot be checked.
fn choose_copies(ways: &mut [Way], parts: Parts, watch: &dyn Watch) -> Result<bool, StoreError> {
    let is_clean = |of: &dyn Fn(&Way) -> Option<Arc<Database>>| {
        let databases: Option<Vec<PartDatabase>> = ways
            .iter()
            .map(|way| of(way).map(PartDatabase::Local))
            .collect();
        let store = databases.and_then(|databases| Store::of_parts(parts, databases));
        let Some(store) = store else {
            return Ok(true);
        };
        let checked = store.check(watch).if_undamaged()?;
        Ok::<_, StoreError>(checked.is_some_and(|report| report.is_clean()))
    };
    let published = is_clean(&Way::published)?;
    let has_both = |way: &Way| matches!(way, Way::Nothing { .. });
    if !ways.iter().any(has_both) {
        return Ok(published);
    }
    let live = is_clean(&Way::live)?;
    if live != published {
        for way in ways.iter_mut() {
            if let Way::Nothing {
                live: of_live,
                published: of_published,
            } = way
            {
                *way = if live {
                    Way::Publish {
                        live: Arc::clone(of_live),
                    }
                } else {
                    Way::Restore {
                        published: Arc::clone(of_published),
                    }
                };
            }
        }
    }
    Ok(live || published)
}

impl RepairReport {
    /// Creates the report of a bank in which nothing was replaced and nothing is lost.
    fn new(found: BankCheck) -> Self {
        Self {
            found,
            repaired: Vec::new(),
            moved_to: None,
            parts: Vec::new(),
            lost: None,
            abandoned_load: false,
            certain: true,
            usable: true,
        }
    }

    /// Adds what was replaced in each part.
    fn take_parts(&mut self, all: Vec<PartToRepair<'_>>) {
        for (part, found) in (0..).zip(all) {
            let (repaired, folder) = (found.repaired, found.quarantine.folder);
            if part == 0 {
                (self.repaired, self.moved_to) = (repaired, folder);
            } else if !repaired.is_empty() || folder.is_some() {
                let moved_to = folder.map(|folder| format!("{PARTS}/{part:03}/{folder}"));
                self.parts.push(PartRepair {
                    part,
                    repaired,
                    moved_to,
                });
            }
        }
    }
}
