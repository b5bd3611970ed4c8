//! The ids of new sites.

use super::changes::Changes;
use super::records::{Counters, Meta};
use super::schema::{META, MetaKey};
use super::shards::{SHARDS, shard_of_name};
use super::store::Store;
use crate::error::StoreError;
use seedbank_algorithms::page::SiteId;

/// The ids of new sites. In a cluster bank the low bits of an id are the shard of the site.
pub struct SiteIds {
    /// The number of ids that were assigned in each shard; empty unless it is a cluster bank.
    by_shard: Vec<u32>,
    /// The same numbers as they were loaded.
    loaded: Vec<u32>,
}

impl SiteIds {
    /// Loads the last assigned ids.
    pub fn load(store: &Store) -> Result<Self, StoreError> {
        let mut by_shard = Vec::new();
        if store.parts().is_some() {
            by_shard = match store.get(&META, &MetaKey::Shards)? {
                None if store.counters()?.next_site == 0 => vec![0; SHARDS as usize],
                Some(Meta::Shards(assigned)) if assigned.len() == SHARDS as usize => assigned,
                _ => {
                    let what = "expected a number for each shard";
                    return Err(StoreError::damaged(META.name, "Shards", what));
                }
            };
        }
        Ok(Self {
            loaded: by_shard.clone(),
            by_shard,
        })
    }

    /// Returns what is wrong with the id of a stored site; `None` if it is the id of a site with this name.
    pub(crate) fn fault(&self, site: SiteId, name: &str) -> Option<&'static str> {
        if self.by_shard.is_empty() {
            return None;
        }
        let shard = site.0 % SHARDS;
        let assigned = self.by_shard.get(shard as usize).copied().unwrap_or(0);
        if site.0 / SHARDS >= assigned {
            return Some("its number is not assigned yet in its shard");
        }
        // A forgotten site has no name.
        (!name.is_empty() && shard_of_name(name.as_bytes()) != shard)
            .then_some("its shard is not that of its name")
    }

    /// Returns whether ids of new sites are greater than all others.
    #[must_use]
    pub const fn are_ascending(&self) -> bool {
        self.by_shard.is_empty()
    }

    /// Assigns an id to a new site. `counters.next_site` becomes greater than all ids.
    pub fn assign(&mut self, name: &str, counters: &mut Counters) -> Result<SiteId, StoreError> {
        let full = || StoreError::Full("site");
        let id = if self.by_shard.is_empty() {
            counters.next_site
        } else {
            let shard = shard_of_name(name.as_bytes());
            let assigned = self.by_shard.get_mut(shard as usize).ok_or_else(full)?;
            let id = assigned.checked_mul(SHARDS).ok_or_else(full)? + shard;
            *assigned += 1;
            id
        };
        let next = id.checked_add(1).ok_or_else(full)?;
        counters.next_site = counters.next_site.max(next);
        Ok(SiteId(id))
    }

    /// Returns whether a site was assigned its id after these were loaded, in a cluster bank.
    #[must_use]
    pub fn is_new(&self, site: SiteId) -> bool {
        let before = self.loaded.get((site.0 % SHARDS) as usize);
        before.is_some_and(|before| site.0 / SHARDS >= *before)
    }

    /// Returns the shards with new sites in a cluster bank, each with the number of its assigned ids.
    #[must_use]
    pub fn changed_shards(&self) -> Vec<(u32, u32)> {
        let shards = (0..).zip(&self.by_shard).zip(&self.loaded);
        let changed = shards.filter(|((_, now), before)| now != before);
        changed.map(|((shard, now), _)| (shard, *now)).collect()
    }

    /// Adds the ids that other processes assigned in their shards.
    pub fn merge(&mut self, changed: &[(u32, u32)]) {
        for (shard, assigned) in changed {
            if let Some(own) = self.by_shard.get_mut(*shard as usize) {
                *own = (*own).max(*assigned);
            }
        }
    }

    /// Adds the assigned ids to the changes, if they are not in the counters.
    pub fn put(&self, changes: &mut Changes) -> Result<(), StoreError> {
        if self.by_shard != self.loaded {
            let assigned = Meta::Shards(self.by_shard.clone());
            changes.put(&META, &MetaKey::Shards, &assigned)?;
        }
        Ok(())
    }
}
