//! The ids of new sites.

use super::changes::Changes;
use super::records::{Counters, Meta};
use super::schema::{META, MetaKey};
use super::shards::{SHARDS, shard_of_name, shard_of_site};
use super::store::Store;
use crate::error::StoreError;
use seedbank_algorithms::page::SiteId;

/// The ids of new sites.
pub struct SiteIds {
    /// The number of ids that were assigned in each shard.
    by_shard: Vec<u32>,
    /// The same numbers as they were loaded.
    loaded: Vec<u32>,
}

impl SiteIds {
    /// Loads the last assigned ids.
    pub fn load(store: &Store) -> Result<Self, StoreError> {
        let shards = SHARDS as usize;
        let by_shard = match store.get(&META, &MetaKey::Shards)? {
            None if store.counters()?.next_site == 0 => vec![0; shards],
            Some(Meta::Shards(assigned)) if assigned.len() == shards => assigned,
            _ => {
                let what = "expected a number for each shard";
                return Err(StoreError::damaged(META.name, "Shards", what));
            }
        };
        Ok(Self {
            loaded: by_shard.clone(),
            by_shard,
        })
    }

    /// Returns what is wrong with the id of a stored site; `None` if it is the id of a site with this name.
    pub(crate) fn fault(&self, site: SiteId, name: &str) -> Option<&'static str> {
        if is_after(&self.by_shard, site) {
            return Some("its number is not assigned yet in its shard");
        }
        let shard = shard_of_site(site);
        // A forgotten site has no name.
        (!name.is_empty() && shard_of_name(name.as_bytes()) != shard)
            .then_some("its shard is not that of its name")
    }

    /// Returns the least number above all assigned ids, which the counters have as `next_site`.
    pub(crate) fn end(&self) -> u64 {
        let last = |(shard, assigned): (u64, &u32)| {
            let before = u64::from(*assigned).checked_sub(1)?;
            Some(before * u64::from(SHARDS) + shard + 1)
        };
        (0..)
            .zip(&self.by_shard)
            .filter_map(last)
            .max()
            .unwrap_or(0)
    }

    /// Assigns an id to a new site. `counters.next_site` becomes greater than all ids.
    pub fn assign(&mut self, name: &str, counters: &mut Counters) -> Result<SiteId, StoreError> {
        let full = || StoreError::Full("site");
        let shard = shard_of_name(name.as_bytes());
        let assigned = self.by_shard.get_mut(shard as usize).ok_or_else(full)?;
        let id = assigned
            .checked_mul(SHARDS)
            .and_then(|id| id.checked_add(shard))
            .ok_or_else(full)?;
        let next = id.checked_add(1).ok_or_else(full)?;
        *assigned += 1;
        counters.next_site = counters.next_site.max(next);
        Ok(SiteId(id))
    }

    /// Returns whether a site was assigned its id after these were loaded.
    #[must_use]
    pub fn is_new(&self, site: SiteId) -> bool {
        is_after(&self.loaded, site)
    }

    /// Returns the shards with new sites, each with the number of its assigned ids.
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

    /// Adds the assigned ids to the changes, if there are new ones.
    pub fn put(&self, changes: &mut Changes) -> Result<(), StoreError> {
        if self.by_shard != self.loaded {
            let assigned = Meta::Shards(self.by_shard.clone());
            changes.put(&META, &MetaKey::Shards, &assigned)?;
        }
        Ok(())
    }
}

/// Returns whether an id comes after those of its shard, given how many each shard has.
fn is_after(assigned: &[u32], site: SiteId) -> bool {
    let shard = shard_of_site(site) as usize;
    site.0 / SHARDS >= assigned.get(shard).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::disk::scratch;
    use crate::publish::commit::tests::settings;
    use crate::{Writer, create, create_cluster};
    use seedbank_algorithms::watch::Unwatched;

    #[test]
    fn ids_are_consecutive_in_each_shard() {
        let folder = scratch();
        let at = |name: &str| folder.path().join(name);
        create(&at("single"), &settings()).unwrap();
        create_cluster(&at("cluster"), &settings(), 2).unwrap();
        for bank in ["single", "cluster"] {
            let writer = Writer::open(&at(bank), false, &Unwatched).unwrap();
            let mut counters = writer.counters().unwrap();
            let mut ids = SiteIds::load(&writer).unwrap();
            let mut sites = BTreeSet::new();
            for number in 0..3000 {
                let name = format!("{number}.example");
                let site = ids.assign(&name, &mut counters).unwrap();
                assert!(sites.insert(site) && ids.is_new(site));
                assert_eq!(ids.fault(site, &name), None);
                assert_eq!(ids.end(), u64::from(counters.next_site));
            }
            let mut changes = Changes::new(&writer.spill_folder(), 1 << 20);
            ids.put(&mut changes).unwrap();
            writer.commit(changes, counters).unwrap();
            let loaded = SiteIds::load(&writer).unwrap();
            assert_eq!(loaded.end(), ids.end());
            let missing = (0..counters.next_site).map(SiteId);
            for site in missing.filter(|site| !sites.contains(site)) {
                assert!(loaded.is_new(site) && loaded.fault(site, "").is_some());
            }
            assert!(sites.iter().all(|site| !loaded.is_new(*site)));
        }
    }
}
