//! Verification that the next writer can open all parts of a cluster bank, without changing anything.
//!
//! The writer of a part compares its files with its own acknowledgement, and after an interrupted commit needs the files
//! that are prepared. So each part is verified for itself, also while parts have different states.

use std::path::Path;

use tempfile::TempDir;

use super::acknowledged::Acknowledged;
use super::bulk_load::load_into;
use super::part_files::{
    Interrupted, PartStatus, ensure_part, ensure_same_state, in_part, interrupted, load_folder,
    part_folder, read_prepared,
};
use super::published::{
    Comparison, LogStatus, Pointer, compare_live, read_live, table_differing_from_published,
};
use super::writer::Writer;
use crate::disk::{ACKNOWLEDGED, link_or_copy, list};
use crate::error::{IfUndamaged, StoreError};
use crate::rocks::database::Database;
use crate::rocks::options::AutoCompaction;
use crate::tables::ALL;
use crate::tables::parts::PartDatabase;
use crate::tables::records::Intent;
use crate::tables::records::lineage::StateId;
use crate::tables::shards::Parts;
use crate::tables::store::{Store, hexadecimal};
use seedbank_algorithms::watch::Watch;

/// The live states of all parts.
pub(crate) struct LiveParts {
    /// The state of all parts; `None` if a commit is decided that the next writer finishes, so that parts may have different
    /// states.
    pub(crate) store: Option<Store>,
    /// Whether a commit was interrupted, which the next writer finishes or undoes.
    pub(crate) is_interrupted: bool,
}

impl LiveParts {
    /// Opens the live states of all parts, to which nobody writes, read-only; fails if the next writer would refuse one of
    /// them.
    ///
    /// Cost: for a decided commit, reads all tables and all prepared files.
    pub(crate) fn verify(bank: &Path, parts: Parts, watch: &dyn Watch) -> Result<Self, StoreError> {
        let status = |part: u32| {
            ensure_part(bank, part, parts)?;
            PartStatus::read(&part_folder(bank, part)).map_err(in_part(part))
        };
        let all = (0..parts.count()).map(status);
        let interrupted = interrupted(&all.collect::<Result<Vec<_>, _>>()?)?;
        let decided = match interrupted {
            Interrupted::Decided(epoch) => Some(epoch),
            Interrupted::None | Interrupted::Undecided => None,
        };
        let open = |part: u32| {
            let folder = part_folder(bank, part);
            verify_part(&folder, decided, watch).map_err(in_part(part))
        };
        let mut first = open(0)?;
        let others = (1..parts.count()).map(open);
        let others = others.collect::<Result<Vec<_>, _>>()?;
        if decided.is_none() {
            let expected = first.state_id()?;
            for (part, other) in (1..).zip(&others) {
                ensure_same_state(part, other.state_id()?, expected)?;
            }
        }
        let others = others.into_iter();
        let databases = others.map(|store| PartDatabase::Local(store.rocks));
        first.add_parts(parts, databases.collect());
        Ok(Self {
            store: decided.is_none().then_some(first),
            is_interrupted: !matches!(interrupted, Interrupted::None),
        })
    }
}

/// Opens the live state of a part, to which nobody writes, read-only; fails if the next writer, which finishes the commit
/// of the `decided` state, would refuse it.
fn verify_part(part: &Path, decided: Option<u64>, watch: &dyn Watch) -> Result<Store, StoreError> {
    let acknowledged = Acknowledged::read(part)?
        .ok_or_else(|| StoreError::state(ACKNOWLEDGED, "it is missing"))?;
    let (_, log) = compare_live(part, Some(&acknowledged))?;
    let pointer = Pointer::read(part)?;
    pointer.ensure_expected(&acknowledged)?;
    pointer.verify_files(part)?;
    let live = read_live(part, Some(&acknowledged))?;
    let epoch = live.counters()?.epoch;
    let prepared = decided.filter(|epoch| pointer.epoch < *epoch);
    let prepared = prepared
        .map(|epoch| read_prepared(part, epoch))
        .transpose()?;
    let load = match live.unfinished_load()? {
        Some(intent) => Some(intent),
        None => prepared.filter(|intent| intent.counters.epoch > epoch),
    };
    if let Some(intent) = &load {
        intent.verify(part, watch)?;
    }
    // The tables of different states cannot be compared with each other. The published state of a part that has finished
    // the commit is not the one that readers open.
    if decided.is_some() {
        live.format()?;
        live.settings()?;
        live.rocks.verify_all_checksums(watch)?;
        pointer.open(part)?.rocks.verify_all_checksums(watch)?;
    }
    if let Some(doubt) = doubt(part, &live, &pointer, log)? {
        let place = part.join("live");
        let loaded = load.map(|intent| Remade::new(part, &place, &intent, watch));
        let loaded = loaded.transpose()?;
        let state = loaded.as_ref().map_or(&live, |loaded| &loaded.store);
        if !compare_with_published(part, state, &doubt, watch)? {
            return Err(StoreError::state("live", doubt));
        }
    }
    Ok(live)
}

/// Returns why the next writer compares the live state of a part with the published one; `None` if it does not.
fn doubt(
    part: &Path,
    live: &Store,
    pointer: &Pointer,
    log: LogStatus,
) -> Result<Option<String>, StoreError> {
    if log == LogStatus::Unknown {
        let doubt = "its log differs from the acknowledged one";
        return Ok(Some(doubt.to_owned()));
    }
    let comparison = if pointer.id() == live.state_id()? {
        Comparison::Stat
    } else {
        Comparison::Bytes
    };
    let table = table_differing_from_published(part, comparison)?;
    let doubt =
        |table| format!("{table} differs from the file of this name in the published state");
    Ok(table.map(doubt))
}

// Comparison of the live state of a part with the state that its files say it is.
//
// After a kill while RocksDB flushes the log of a part, its files do not show whether its live state is complete. A check of
// this part without the others cannot decide it: entries refer to entries of other parts, and would be reported as damaged.
//
// The live state is the published one, or the next one, if the process was killed before it published a commit. The next
// one is made again of the published one and of the files of the commit, which are kept until it is published.

/// The number of entries between two checks for an interrupt.
const WATCH_INTERVAL: u64 = 4096;

/// A table and a key at which two databases differ.
type Difference = (&'static str, Vec<u8>);

/// A state that is made again.
pub(super) struct Remade {
    /// Closed before the folder is removed.
    pub(super) store: Store,
    _folder: TempDir,
}

impl Writer {
    /// Compares the live state with the published one, as [`compare_with_published`] does.
    pub(super) fn compare_with_published(
        &self,
        doubt: &str,
        watch: &dyn Watch,
    ) -> Result<bool, StoreError> {
        compare_with_published(&self.bank, &self.store, doubt, watch)
    }
}

/// Returns `true` if the live state of a part has the same entries as the published one, or, if its identity is that of the
/// next one, as the published one with the prepared commit. Returns `false` if there is nothing to compare it with: the
/// published state cannot be read, or the files of the commit are not those of the live state. Otherwise fails with
/// the `doubt` and an entry that differs.
///
/// Cost: scans every table of both states; for the next state, also copies the log and ingests the commit again.
pub(super) fn compare_with_published(
    part: &Path,
    live: &Store,
    doubt: &str,
    watch: &dyn Watch,
) -> Result<bool, StoreError> {
    let Some(pointer) = Pointer::read(part).if_undamaged()? else {
        return Ok(false);
    };
    let Some(published) = pointer.open(part).if_undamaged()? else {
        return Ok(false);
    };
    let found = if published.state_id()? == live.state_id()? {
        tracing::info!("comparing a part with its published state, because {doubt}");
        first_difference(&published.rocks, &live.rocks, watch)?
    } else if let Some(intent) = unpublished_commit(part, live, published.state_id()?)? {
        tracing::info!("comparing a part with its last commit, because {doubt}");
        let next = Remade::new(part, &pointer.folder(part), &intent, watch)?;
        first_difference(&next.store.rocks, &live.rocks, watch)?
    } else {
        return Ok(false);
    };
    let Some((table, key)) = found else {
        return Ok(true);
    };
    let key = hexadecimal(&key);
    let what = format!("{doubt}, and table {table}, key {key} is not that of its last commit");
    Err(StoreError::state("live", what))
}

/// Returns the commit that made the live state of this published state; `None` if its file is missing or that of
/// another state.
fn unpublished_commit(
    part: &Path,
    live: &Store,
    published: StateId,
) -> Result<Option<Intent>, StoreError> {
    let lineage = live.lineage()?;
    let (bank, state) = (lineage.bank, lineage.previous);
    if published != (StateId { bank, state }) {
        return Ok(None);
    }
    let intent = read_prepared(part, live.counters()?.epoch).if_undamaged()?;
    Ok(intent.filter(|intent| intent.lineage == lineage))
}

impl Remade {
    /// Makes the state after a commit of a copy of the state in `from`, which is the published state of a part, or its
    /// live state in which the commit may have begun. The copy is in the folder of the part for temporary files.
    pub(super) fn new(
        part: &Path,
        from: &Path,
        intent: &Intent,
        watch: &dyn Watch,
    ) -> Result<Self, StoreError> {
        intent.verify(part, watch)?;
        let spill = part.join("spill");
        let folder = tempfile::tempdir_in(&spill).map_err(StoreError::io("write to", &spill))?;
        for name in list(from)? {
            let to = folder.path().join(&name);
            link_or_copy(&from.join(&name), &to).map_err(StoreError::io("write", &to))?;
        }
        let disabled = AutoCompaction::Disabled;
        let store = Store::new(Database::open_writer(folder.path(), ALL, disabled)?);
        load_into(&store, &load_folder(part, intent.counters.epoch), intent)?;
        Ok(Self {
            store,
            _folder: folder,
        })
    }
}

/// Returns the first difference between the entries of two databases.
fn first_difference(
    one: &Database,
    other: &Database,
    watch: &dyn Watch,
) -> Result<Option<Difference>, StoreError> {
    let mut entries: u64 = 0;
    for table in ALL {
        let mut ours = one.scan(table.name)?;
        let mut theirs = other.scan(table.name)?;
        loop {
            let mine = ours.next_with(|key, value| (key.to_vec(), value.to_vec()))?;
            let found = theirs.next_with(|key, value| (key.to_vec(), value.to_vec()))?;
            if mine != found {
                let key = mine.into_iter().chain(found).map(|(key, _)| key).min();
                return Ok(key.map(|key| (table.name, key)));
            }
            if mine.is_none() {
                break;
            }
            entries += 1;
            if entries.is_multiple_of(WATCH_INTERVAL) {
                watch.proceed()?;
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::scratch;
    use crate::publish::commit::tests::settings;
    use crate::publish::create::create_cluster;
    use seedbank_algorithms::watch::Unwatched;

    #[test]
    fn a_part_differs_from_its_published_state_in_any_entry() {
        let folder = scratch();
        let bank = folder.path().join("bank");
        create_cluster(&bank, &settings(), 2).unwrap();
        let writer = Writer::open(&bank, false, &Unwatched).unwrap();
        let compare = || writer.compare_with_published("its log is short", &Unwatched);
        assert!(compare().unwrap());
        let key = [7; 16];
        for table in ALL {
            let write = |value: Option<&[u8]>| {
                let entries = [(table.name, (key.as_slice(), value))];
                writer.store.rocks.write(entries.into_iter(), None).unwrap();
            };
            write(Some(b"value"));
            let error = compare().unwrap_err();
            assert!(error.is_damage());
            let says = format!("its log is short, and table {}, key 0707", table.name);
            assert!(error.to_string().contains(&says), "{error}");
            write(None);
            assert!(compare().unwrap(), "{}", table.name);
        }
        // A later state whose commit has left no file.
        writer.advance_epoch().unwrap();
        assert!(!compare().unwrap());
    }
}
