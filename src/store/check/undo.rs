//! Check of the entries for undoing the last batch, and of the blocklist.

use super::Walk;
use crate::error::StoreError;
use crate::tables::records::undo::Overwritten;
use crate::tables::records::{Counters, UndoRecord};
use crate::tables::undo_capture::is_undoable;
use crate::tables::{self, ALL, MetaKey};

impl Walk<'_> {
    pub(super) fn undo(&mut self, counters: &Counters) -> Result<(), StoreError> {
        // In a cluster bank, each part has a record of its own entries.
        let record = match self.undo.take() {
            Some(_) => self.store.undo_record()?,
            None => None,
        };
        if record.is_some_and(|record| record.batch != counters.batch) {
            let what = "it does not belong to the last batch";
            self.find("meta", "Undo", what);
        }
        let mut found = record.map(|record| UndoRecord {
            entries: 0,
            bytes: 0,
            sum: 0,
            ..record
        });
        let mut unexpected = 0_u64;
        self.walk(&tables::UNDO, |_, key, Overwritten(previous)| {
            let of_table = ALL.get(usize::from(key.table)).is_some_and(is_undoable);
            match &mut found {
                Some(found) if of_table && key.batch == found.batch => {
                    found.add(&key, previous.as_deref());
                }
                _ => unexpected += 1,
            }
            Ok(())
        })?;
        if unexpected > 0 || found != record {
            let what = "they differ from the record for undoing the last batch";
            self.find("undo", "(all)", what);
        }
        Ok(())
    }

    pub(super) fn blocklist(&mut self, counters: &Counters) -> Result<(), StoreError> {
        // A record of another key is reported by the check of `meta`.
        let secret = self.store.has(&tables::META, &MetaKey::Secret)?;
        let first = self.store.scan(&tables::BLOCKLIST)?.next();
        if first.is_some() && !secret {
            let what = "the secret of their hashes is missing";
            self.find("blocklist", "(all)", what);
        }
        self.walk(&tables::BLOCKLIST, |walk, _, entry| {
            if entry.batch > counters.batch {
                let what = format!("it refers to batch {}, which does not exist", entry.batch);
                walk.find("blocklist", "(a hash)", what);
            }
            Ok(())
        })
    }
}
