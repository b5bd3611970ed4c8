//! The processes that have the sites of a cluster bank.

use std::sync::Arc;

use super::error::Result;
use super::processes::Processes;
use seedbank_algorithms::page::SiteId;
use seedbank_store::{RemoteProcess, SiteParts, Store, StoreError};

/// The process of each site.
#[derive(Clone, Copy)]
pub(super) struct SiteOwners<'a> {
    parts: SiteParts,
    /// The process of each part.
    owners: &'a [usize],
}

impl<'a> SiteOwners<'a> {
    /// Returns the processes of the sites of a cluster bank, given the process of each part.
    ///
    /// # Errors
    ///
    /// If the bank is not a cluster bank, or if a part has no owner below `processes`.
    pub(super) fn new(
        store: &Store,
        owners: &'a [usize],
        processes: usize,
    ) -> Result<Self, StoreError> {
        let (Some(parts), Some(count)) = (store.site_parts(), store.part_count()) else {
            return Err(StoreError::Protocol("the bank is not a cluster bank"));
        };
        let is_valid = owners.len() == count as usize && owners.iter().all(|of| *of < processes);
        let unknown = StoreError::Protocol("a part belongs to no process");
        is_valid.then_some(Self { parts, owners }).ok_or(unknown)
    }

    /// Returns the process that has a site.
    pub(super) fn of_site(self, site: SiteId) -> usize {
        self.of_part(self.parts.of_site(site))
    }

    /// Returns the process that has, or would have, the site with this name.
    pub(super) fn of_name(self, name: &str) -> usize {
        self.of_part(self.parts.of_name(name.as_bytes()))
    }

    fn of_part(self, part: usize) -> usize {
        // There is an owner for each part.
        self.owners.get(part).copied().unwrap_or(0)
    }
}

/// The other processes, by the sites that they have.
#[derive(Clone, Copy)]
pub(super) struct OtherOwners<'a> {
    owners: SiteOwners<'a>,
    /// The other processes by number; `None` for this one.
    by_number: &'a [Option<Arc<dyn RemoteProcess>>],
}

impl<'a> OtherOwners<'a> {
    /// Returns the processes that are connected to this one.
    pub(super) fn new(processes: &'a Processes, store: &Store) -> Result<Self> {
        let by_number = processes.by_number()?;
        Ok(Self {
            owners: SiteOwners::new(store, processes.owners()?, by_number.len())?,
            by_number,
        })
    }

    /// Returns the number of the process that has a site, and the process; `None` if that is this process.
    pub(super) fn of_site(self, site: SiteId) -> Option<(usize, &'a Arc<dyn RemoteProcess>)> {
        let owner = self.owners.of_site(site);
        Some((owner, self.by_number.get(owner)?.as_ref()?))
    }
}
