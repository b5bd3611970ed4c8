//! Comparison of the live state of a part with its published state.
//!
//! After a kill while RocksDB flushes the log of a part, its files do not show whether its live state is complete. A check of
//! this part without the others cannot decide it: entries refer to entries of other parts, and would be reported as damaged.

use crate::error::StoreError;
use crate::publish::published::Pointer;
use crate::publish::writer::Writer;
use crate::rocks::database::Database;
use crate::tables::ALL;
use crate::tables::entries::hexadecimal;
use seedbank_algorithms::watch::Watch;

/// The number of entries between two checks for an interrupt.
const WATCH_INTERVAL: u64 = 4096;

/// A table and a key at which two databases differ.
type Difference = (&'static str, Vec<u8>);

impl Writer {
    /// Returns `true` if the live state has the same entries as the published one, and `false` if that has another identity
    /// or cannot be read. Otherwise fails with the `doubt` and an entry that differs.
    ///
    /// Cost: scans every table of both states.
    pub(in crate::publish) fn compare_with_published(
        &self,
        doubt: &str,
        watch: &dyn Watch,
    ) -> Result<bool, StoreError> {
        let published = Pointer::read(&self.bank).and_then(|pointer| pointer.open(&self.bank));
        let Ok(published) = published else {
            return Ok(false);
        };
        if published.state_id()? != self.state_id()? {
            return Ok(false);
        }
        tracing::info!("comparing a part with its published state, because {doubt}");
        let Some((table, key)) = first_difference(&published.rocks, &self.store.rocks, watch)?
        else {
            return Ok(true);
        };
        let key = hexadecimal(&key);
        let what =
            format!("{doubt}, and table {table}, key {key} is not that of the published state");
        Err(StoreError::state("live", what))
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
        // Of another state.
        writer.advance_epoch().unwrap();
        assert!(!compare().unwrap());
    }
}
