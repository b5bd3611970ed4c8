//! Capture of the values that a batch overwrites, for `undo`.

use super::records::Counters;
use super::records::undo::{Overwritten, UndoKey, UndoRecord};
use super::schema::{ALL, PAGE_IDS, REMOVED_ROWS, SITE_IDS, UNDO};
use super::store::Store;
use super::table::Key;
use crate::error::StoreError;
use crate::rocks::database::Database;
use crate::table_info::{TableGroup, TableInfo};

/// Returns whether undoing a batch restores a table: those of sites, pages and links. Names keep their
/// ids for ever, and the history of pages stays.
pub(crate) fn is_undoable(table: &TableInfo) -> bool {
    let of_the_web = matches!(table.group, TableGroup::Pages | TableGroup::Links);
    let is_name = [SITE_IDS.name, PAGE_IDS.name].contains(&table.name);
    of_the_web && !is_name || table.name == REMOVED_ROWS.name
}

/// The key and the value of an entry of `undo`.
type UndoEntry<'a> = (&'a [u8], &'a [u8]);

/// Reads the previous values of the entries that a batch changes.
pub(crate) struct UndoCapture<'a> {
    rocks: &'a Database,
    record: UndoRecord,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl<'a> UndoCapture<'a> {
    /// Creates a capture for a batch on the live database, whose counters are `before`.
    pub(crate) fn new(rocks: &'a Database, before: Counters, batch: u32) -> Self {
        let record = UndoRecord {
            batch,
            before,
            entries: 0,
            bytes: 0,
            sum: 0,
        };
        Self {
            rocks,
            record,
            key: Vec::new(),
            value: Vec::new(),
        }
    }

    /// Returns the entry of `undo` for a key that the batch changes; `None` if it needs none.
    ///
    /// Cost: one get.
    pub(crate) fn capture(
        &mut self,
        table: &'static str,
        key: &[u8],
    ) -> Result<Option<UndoEntry<'_>>, StoreError> {
        let found = ALL.iter().position(|info| info.name == table);
        let Some(number) = found.filter(|number| is_undoable(&ALL[*number])) else {
            return Ok(None);
        };
        // The first batch overwrites nothing.
        if self.record.is_first() {
            return Ok(None);
        }
        let table_number = u8::try_from(number).map_err(|_| StoreError::Full("table"))?;
        self.key.clear();
        let of_undo = UndoKey {
            batch: self.record.batch,
            table: table_number,
            key: Vec::new(),
        };
        of_undo.put(&mut self.key);
        self.key.extend_from_slice(key);
        self.value.clear();
        let value = &mut self.value;
        let found = self
            .rocks
            .get(table, key, |former| Overwritten::put(Some(former), value))?;
        if found.is_none() {
            Overwritten::put(None, &mut self.value);
        }
        self.record.count(&self.key, &self.value);
        Ok(Some((&self.key, &self.value)))
    }

    /// Returns the summary of the captured entries.
    pub(crate) fn finish(self) -> UndoRecord {
        self.record
    }
}

impl Store {
    /// Calls `each` for every entry of sites, pages and links that the last batch wrote, table by table,
    /// with the table, the key and the previous value, `None` if there was none.
    pub fn overwritten_entries<E: From<StoreError>>(
        &self,
        undo: &UndoRecord,
        mut each: impl FnMut(&'static str, &[u8], Option<&[u8]>) -> Result<(), E>,
    ) -> Result<(), E> {
        if undo.is_first() {
            for table in ALL.iter().filter(|table| is_undoable(table)) {
                let mut entries = self.scan_raw(table.name)?;
                while let Some(taken) = entries.next_with(|key, _| each(table.name, key, None))? {
                    taken?;
                }
            }
            return Ok(());
        }
        // Counts and sums are recomputed and compared, so that damage is noticed.
        let mut found = UndoRecord {
            entries: 0,
            bytes: 0,
            sum: 0,
            ..*undo
        };
        for entry in self.scan_under(&UNDO, &undo.batch.bytes())? {
            let (key, Overwritten(former)) = entry?;
            let former = former.as_deref();
            found.add(&key, former);
            let table = ALL.get(usize::from(key.table));
            let table = table.filter(|table| is_undoable(table));
            let table = table.ok_or_else(|| {
                let what = "undo does not restore this table";
                StoreError::damaged(UNDO.name, format!("{key:?}"), what)
            })?;
            each(table.name, &key.key, former)?;
        }
        if found == *undo {
            Ok(())
        } else {
            let what = "the entries differ from the record of the last batch";
            Err(StoreError::damaged(UNDO.name, "(all)", what).into())
        }
    }
}
