//! The single records: each one is there, and is of the kind that its key says.

use super::Walk;
use crate::storage::error::StoreError;
use crate::storage::format::WITH_LINEAGE;
use crate::storage::records::{Counters, Meta};
use crate::storage::tables::{FORMAT, META, MetaKey};

impl Walk<'_> {
    /// Returns the counters; all zeros where they are lost.
    pub(super) fn meta(&mut self) -> Result<Counters, StoreError> {
        let mut counters = None;
        let mut settings = false;
        let mut format = None;
        let mut lineage = false;
        self.walk(&META, |walk, key, record| {
            match (key, record) {
                (MetaKey::Format, Meta::Format(found)) => {
                    format = Some(found);
                    if found > FORMAT {
                        walk.report.find(
                            "meta",
                            "Format",
                            format!("expected at most {FORMAT}, found {found}"),
                        );
                    }
                }
                (MetaKey::Settings, Meta::Settings(_) | Meta::FormerSettings(_)) => settings = true,
                (MetaKey::Counters, Meta::Counters(found)) => counters = Some(found),
                (MetaKey::Intent, Meta::Intent(_) | Meta::OldIntent(_)) => {
                    walk.report
                        .find("meta", "Intent", "a bulk load is unfinished");
                }
                (MetaKey::Lineage, Meta::Lineage(_)) => lineage = true,
                (MetaKey::Undo, Meta::Undo(found)) => walk.undo = Some(found),
                (MetaKey::Secret, Meta::Secret(_)) => {}
                _ => walk
                    .report
                    .find("meta", format!("{key:?}"), "it is another record"),
            }
            Ok(())
        })?;
        let there = [
            ("Format", format.is_some()),
            ("Settings", settings),
            ("Counters", counters.is_some()),
            // Earlier formats have none.
            (
                "Lineage",
                lineage || format.is_some_and(|format| format < WITH_LINEAGE),
            ),
        ];
        for (name, there) in there {
            if !there {
                self.report.find("meta", name, "the record is missing");
            }
        }
        Ok(counters.unwrap_or_default())
    }
}
