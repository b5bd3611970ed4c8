//! The list of a refresh: its seeds, or what the plan's limit on changes made of them.
//!
//! ```text
//! seeds    (refresh, rank)   what the method came to, with its evidence
//! listed   (refresh, rank)   the list, where it is another: pages with their rank in `seeds`
//! ```

use super::error::StoreError;
use super::records::{RefreshId, SeedEvidence, SeedRecord};
use super::store::Store;
use super::tables;

impl Store {
    /// The list of a refresh, with ranks from 1, best first. A page that stays on the list although
    /// the method did not come to it has [`SeedEvidence::ByPolicy`].
    ///
    /// Cost: one scan, and a look by key for each seed of a list that is not what the method came to.
    pub fn list(&self, refresh: RefreshId) -> Result<Vec<(u32, SeedRecord)>, StoreError> {
        let prefix = refresh.to_be_bytes();
        let mut list = Vec::new();
        let record = self.get(&tables::REFRESHES, &refresh)?;
        let is_listed = record.is_some_and(|record| record.chosen.is_some());
        for entry in self.scan_under(&tables::LISTED, &prefix)? {
            let ((_, rank), listed) = entry?;
            let seed = match listed.chosen {
                Some(chosen) => self.need(&tables::SEEDS, &(refresh, chosen))?,
                None => SeedRecord {
                    page: listed.page,
                    evidence: SeedEvidence::ByPolicy,
                    succeeds: None,
                },
            };
            list.push((rank, seed));
        }
        if !is_listed {
            for entry in self.scan_under(&tables::SEEDS, &prefix)? {
                let ((_, rank), seed) = entry?;
                list.push((rank, seed));
            }
        }
        Ok(list)
    }
}
