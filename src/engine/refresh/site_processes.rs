//! The processes that have the sites of a cluster bank, for work on single sites.

use std::sync::Arc;

use crate::engine::Result;
use seedbank_algorithms::page::SiteId;
use seedbank_store::{OtherProcesses, PublishedState, RemoteProcess, SiteParts, Store};

/// The processes that have the sites of a bank, and the state on which they work.
pub(crate) struct SiteProcesses {
    processes: OtherProcesses,
    parts: SiteParts,
    pub(crate) state: PublishedState,
    /// The options of the plan, as they are stored.
    pub(crate) options: String,
}

impl SiteProcesses {
    /// Returns the processes that work on the state of `store`; `None` if it is no cluster bank, or all of it is in
    /// this process.
    pub(crate) fn new(
        processes: &OtherProcesses,
        store: &Store,
        options: String,
    ) -> Result<Option<Self>> {
        let Some(parts) = store.site_parts().filter(|_| processes.any()) else {
            return Ok(None);
        };
        Ok(Some(Self {
            processes: processes.clone(),
            parts,
            state: PublishedState::of_store(store)?,
            options,
        }))
    }

    /// Returns the part that has a site, and its process; `None` if that is this process.
    pub(crate) fn of_site(&self, site: SiteId) -> Option<(usize, &Arc<dyn RemoteProcess>)> {
        let part = self.parts.of_site(site);
        let process = self.processes.of_part(u32::try_from(part).ok()?)?;
        Some((part, process))
    }
}
