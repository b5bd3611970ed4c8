//! Check of `meta`: each record exists and matches its key.

use super::Walk;
use crate::error::StoreError;
use crate::format::{FORMAT, upgrade_path};
use crate::tables::records::{Counters, Meta};
use crate::tables::{META, MetaKey};

impl Walk<'_> {
    /// Returns the counters; zeros if they are lost.
    pub(super) fn meta(&mut self) -> Result<Counters, StoreError> {
        let mut counters = None;
        let mut settings = false;
        let mut format = false;
        let mut lineage = false;
        self.walk(&META, |walk, key, record| {
            match (key, record) {
                (MetaKey::Format, Meta::Format(found)) => {
                    format = true;
                    if upgrade_path(found).is_none() {
                        let what = format!("expected {FORMAT}, found {found}");
                        walk.find("meta", "Format", what);
                    }
                }
                (MetaKey::Settings, Meta::Settings(_)) => settings = true,
                (MetaKey::Counters, Meta::Counters(found)) => counters = Some(found),
                (MetaKey::Intent, Meta::Intent(_)) => {
                    walk.find("meta", "Intent", "a bulk load is unfinished");
                }
                (MetaKey::Lineage, Meta::Lineage(_)) => lineage = true,
                (MetaKey::Undo, Meta::Undo(found)) => walk.undo = Some(found),
                (MetaKey::Secret, Meta::Secret(_)) | (MetaKey::Shards, Meta::Shards(_)) => {}
                _ => walk.report.find(
                    "meta",
                    format!("{key:?}"),
                    "the record belongs to another key",
                ),
            }
            Ok(())
        })?;
        let found = [
            ("Format", format),
            ("Settings", settings),
            ("Counters", counters.is_some()),
            ("Lineage", lineage),
        ];
        for (name, is_found) in found {
            if !is_found {
                self.find("meta", name, "the record is missing");
            }
        }
        Ok(counters.unwrap_or_default())
    }
}
