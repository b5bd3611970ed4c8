//! The processes that have the sites of a cluster bank, for work on single sites.

use std::sync::Arc;

use crate::engine::Result;
use crate::engine::processes::Processes;
use seedbank_algorithms::page::SiteId;
use seedbank_store::{PublishedState, RemoteProcess, SiteParts, Store};

/// The processes that have the sites of a bank, and the state on which they work.
pub(crate) struct SiteProcesses<'a> {
    parts: SiteParts,
    /// The process of each part.
    owners: &'a [usize],
    /// The other processes by number; `None` for this one.
    by_number: &'a [Option<Arc<dyn RemoteProcess>>],
    pub(crate) state: PublishedState,
    /// The options of the plan, as they are stored.
    pub(crate) options: String,
}

impl<'a> SiteProcesses<'a> {
    /// Returns the processes that work on the state of `store`; `None` if it is no cluster bank.
    pub(in crate::engine) fn new(
        processes: &'a Processes,
        store: &Store,
        options: String,
    ) -> Result<Option<Self>> {
        let Some(parts) = store.site_parts() else {
            return Ok(None);
        };
        Ok(Some(Self {
            parts,
            owners: processes.owners()?,
            by_number: processes.by_number()?,
            state: PublishedState::of_store(store)?,
            options,
        }))
    }

    /// Returns the number of the process that has a site, and the process; `None` if that is this process.
    pub(crate) fn of_site(&self, site: SiteId) -> Option<(usize, &Arc<dyn RemoteProcess>)> {
        let owner = *self.owners.get(self.parts.of_site(site))?;
        Some((owner, self.by_number.get(owner)?.as_ref()?))
    }
}
