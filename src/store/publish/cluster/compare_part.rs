//! Comparison of the live state of a part with the state that its files say it is.
//!
//! After a kill while RocksDB flushes the log of a part, its files do not show whether its live state is complete. A check of
//! this part without the others cannot decide it: entries refer to entries of other parts, and would be reported as damaged.
//!
//! The live state is the published one, or the next one, if the process was killed before it published a commit. The next
//! one is made again of the published one and of the files of the commit, which are kept until it is published.

use std::path::Path;

use tempfile::TempDir;

use super::part_files::{load_folder, read_prepared};
use crate::disk::folder::{link_or_copy, names_in};
use crate::error::StoreError;
use crate::publish::bulk_load::load_into;
use crate::publish::published::Pointer;
use crate::publish::writer::Writer;
use crate::rocks::database::Database;
use crate::rocks::options::AutoCompaction;
use crate::tables::ALL;
use crate::tables::entries::hexadecimal;
use crate::tables::records::Intent;
use crate::tables::records::lineage::StateId;
use crate::tables::store::Store;
use seedbank_algorithms::watch::Watch;

/// The number of entries between two checks for an interrupt.
const WATCH_INTERVAL: u64 = 4096;

/// A table and a key at which two databases differ.
type Difference = (&'static str, Vec<u8>);

/// A state that is made again.
struct Remade {
    /// Closed before the folder is removed.
    store: Store,
    _folder: TempDir,
}

impl Writer {
    /// Returns `true` if the live state has the same entries as the published one, or, if its identity is that of the next
    /// one, as the published one with the prepared commit. Returns `false` if there is nothing to compare it with: the
    /// published state cannot be read, or the files of the commit are not those of the live state. Otherwise fails with
    /// the `doubt` and an entry that differs.
    ///
    /// Cost: scans every table of both states; for the next state, also copies the log and ingests the commit again.
    pub(in crate::publish) fn compare_with_published(
        &self,
        doubt: &str,
        watch: &dyn Watch,
    ) -> Result<bool, StoreError> {
        let Ok(pointer) = Pointer::read(&self.bank) else {
            return Ok(false);
        };
        let Ok(published) = pointer.open(&self.bank) else {
            return Ok(false);
        };
        let found = if published.state_id()? == self.state_id()? {
            tracing::info!("comparing a part with its published state, because {doubt}");
            first_difference(&published.rocks, &self.store.rocks, watch)?
        } else if let Some(intent) = self.unpublished_commit(published.state_id()?)? {
            tracing::info!("comparing a part with its last commit, because {doubt}");
            let next = self.remake(&pointer.folder(&self.bank), &intent, watch)?;
            first_difference(&next.store.rocks, &self.store.rocks, watch)?
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
    fn unpublished_commit(&self, published: StateId) -> Result<Option<Intent>, StoreError> {
        let lineage = self.lineage()?;
        let (bank, state) = (lineage.bank, lineage.previous);
        if published != (StateId { bank, state }) {
            return Ok(None);
        }
        let intent = read_prepared(&self.bank, self.counters()?.epoch).ok();
        Ok(intent.filter(|intent| intent.lineage == lineage))
    }

    /// Makes the state after a commit of a copy of the published state.
    fn remake(
        &self,
        published: &Path,
        intent: &Intent,
        watch: &dyn Watch,
    ) -> Result<Remade, StoreError> {
        intent.verify(&self.bank, watch)?;
        let spill = self.spill_folder();
        let folder = tempfile::tempdir_in(&spill).map_err(StoreError::io("write to", &spill))?;
        for name in names_in(published) {
            let to = folder.path().join(&name);
            link_or_copy(&published.join(&name), &to).map_err(StoreError::io("write", &to))?;
        }
        let disabled = AutoCompaction::Disabled;
        let store = Store::new(Database::open_writer(folder.path(), ALL, disabled, false)?);
        let place = load_folder(&self.bank, intent.counters.epoch);
        load_into(&store, &place, intent)?;
        Ok(Remade {
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
        let mut ours = one.scan(table.name, &[], None)?;
        let mut theirs = other.scan(table.name, &[], None)?;
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
    use crate::disk::scratch::scratch;
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
