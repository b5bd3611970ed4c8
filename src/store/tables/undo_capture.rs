//! Keeps what a batch overwrites while its changes are written.

use super::records::Counters;
use super::records::undo::{Overwritten, UndoKey, UndoRecord};
use super::schema::{ALL, PAGE_IDS, REMOVED_ROWS, SITE_IDS, UNDO};
use super::store::Store;
use super::table::Key;
use crate::error::StoreError;
use crate::rocks::database::Database;
use crate::table_info::{TableGroup, TableInfo};

/// Whether entries of a table are put back when a batch is taken back: those of sites, pages and
/// links. Names keep their ids for ever, and what batches keep of the past stays.
pub(crate) fn is_kept(table: &TableInfo) -> bool {
    let of_the_web = matches!(table.group, TableGroup::Pages | TableGroup::Links);
    let is_name = [SITE_IDS.name, PAGE_IDS.name].contains(&table.name);
    of_the_web && !is_name || table.name == REMOVED_ROWS.name
}

/// The key and the value of an entry of `undo`.
type KeptEntry<'a> = (&'a [u8], &'a [u8]);

/// Reads what the changes of a batch overwrite, entry by entry.
pub(crate) struct Keeper<'a> {
    rocks: &'a Database,
    record: UndoRecord,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl<'a> Keeper<'a> {
    /// Begins to keep what a batch overwrites of the live database, whose counters are `before`.
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

    /// The entry of `undo` for a key that the batch writes; `None` where it needs none.
    ///
    /// Cost: one get.
    pub(crate) fn former(
        &mut self,
        table: &'static str,
        key: &[u8],
    ) -> Result<Option<KeptEntry<'_>>, StoreError> {
        let found = ALL.iter().position(|info| info.name == table);
        let Some(number) = found.filter(|number| is_kept(&ALL[*number])) else {
            return Ok(None);
        };
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

    /// What was kept in all.
    pub(crate) fn finish(self) -> UndoRecord {
        self.record
    }
}

impl Store {
    /// Hands every entry of sites, pages and links that the last batch wrote to `each`, table by
    /// table in their order: the table, the key and the value before the batch, `None` where there
    /// was none.
    pub fn overwritten<E: From<StoreError>>(
        &self,
        undo: &UndoRecord,
        mut each: impl FnMut(&'static str, &[u8], Option<&[u8]>) -> Result<(), E>,
    ) -> Result<(), E> {
        if undo.is_first() {
            for table in ALL.iter().filter(|table| is_kept(table)) {
                let mut entries = self.rocks.scan(table.name, &[], None)?;
                while let Some(taken) = entries.next_with(|key, _| each(table.name, key, None))? {
                    taken?;
                }
            }
            return Ok(());
        }
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
            let table = table.filter(|table| is_kept(table));
            let table = table.ok_or_else(|| unlike(&key))?;
            each(table.name, &key.key, former)?;
        }
        if found == *undo {
            Ok(())
        } else {
            Err(E::from(StoreError::Damaged {
                table: UNDO.name,
                key: "(all)".to_owned(),
                what: "they differ from what was recorded of the last batch".to_owned(),
            }))
        }
    }
}

fn unlike(key: &UndoKey) -> StoreError {
    StoreError::Damaged {
        table: UNDO.name,
        key: format!("{key:?}"),
        what: "it belongs to no table with undo entries".to_owned(),
    }
}
