//! What takes the last batch back is what the bank says that it kept.

use super::Walk;
use crate::error::StoreError;
use crate::tables::records::undo::Overwritten;
use crate::tables::records::{Counters, UndoRecord};
use crate::tables::undo_capture::is_undoable;
use crate::tables::{self, ALL, MetaKey};

impl Walk<'_> {
    pub(super) fn undo(&mut self, counters: &Counters) -> Result<(), StoreError> {
        let kept = self.undo.take();
        if kept.is_some_and(|kept| kept.batch != counters.batch) {
            let what = "it is not about the last batch";
            self.report.find("meta", "Undo", what);
        }
        let mut found = kept.map(|kept| UndoRecord {
            entries: 0,
            bytes: 0,
            sum: 0,
            ..kept
        });
        let mut unfit = 0_u64;
        self.walk(&tables::UNDO, |_, key, Overwritten(former)| {
            let of_table = ALL.get(usize::from(key.table)).is_some_and(is_undoable);
            match &mut found {
                Some(found) if of_table && key.batch == found.batch => {
                    found.add(&key, former.as_deref());
                }
                _ => unfit += 1,
            }
            Ok(())
        })?;
        if unfit > 0 || found != kept {
            let what = "they differ from what the bank recorded for undoing the last batch";
            self.report.find("undo", "(all)", what);
        }
        Ok(())
    }

    pub(super) fn barred(&mut self, counters: &Counters) -> Result<(), StoreError> {
        // Another record in its place is reported where records are walked.
        let secret = self.store.has(&tables::META, &MetaKey::Secret)?;
        let first = self.store.scan(&tables::BLOCKLIST)?.next();
        if first.is_some() && !secret {
            let what = "the secret of their hashes is missing";
            self.report.find("blocklist", "(all)", what);
        }
        self.walk(&tables::BLOCKLIST, |walk, _, barred| {
            if barred.batch > counters.batch {
                let what = format!("batch {} forgot it, which does not exist", barred.batch);
                walk.report.find("blocklist", "(a hash)", what);
            }
            Ok(())
        })
    }
}
