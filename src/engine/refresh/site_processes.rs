//! The processes that have the sites of a cluster bank, for work in all of them.

use std::sync::Arc;

use crate::engine::Result;
use crate::engine::plan::PlanOptions;
use crate::engine::processes::Processes;
use seedbank_algorithms::page::SiteId;
use seedbank_store::{PublishedState, RemoteProcess, SiteParts, Store};

/// The processes that have the sites of a bank, and the state on which they work.
pub(crate) struct SiteProcesses<'a> {
    /// This process.
    pub(in crate::engine) local: &'a Processes,
    parts: SiteParts,
    /// The process of each part.
    pub(crate) owners: &'a [usize],
    /// The other processes by number; `None` for this one.
    pub(crate) by_number: &'a [Option<Arc<dyn RemoteProcess>>],
    pub(crate) state: PublishedState,
    /// The plan, and its options as they are stored.
    pub(crate) plan: PlanOptions,
    pub(crate) options: String,
}

impl<'a> SiteProcesses<'a> {
    /// Returns the processes that work on the state of `store`; `None` if it is no cluster bank, or if one process has all
    /// of it.
    pub(in crate::engine) fn new(
        processes: &'a Processes,
        store: &Store,
        plan: PlanOptions,
    ) -> Result<Option<Self>> {
        let Some(parts) = store.site_parts() else {
            return Ok(None);
        };
        if processes.by_number()?.iter().all(Option::is_none) {
            return Ok(None);
        }
        Ok(Some(Self {
            local: processes,
            parts,
            owners: processes.owners()?,
            by_number: processes.by_number()?,
            state: PublishedState::of_store(store)?,
            options: plan.to_stored()?,
            plan,
        }))
    }

    /// Returns the number of the process that has a site, and the process; `None` if that is this process.
    pub(crate) fn of_site(&self, site: SiteId) -> Option<(usize, &Arc<dyn RemoteProcess>)> {
        let owner = *self.owners.get(self.parts.of_site(site))?;
        Some((owner, self.by_number.get(owner)?.as_ref()?))
    }
}
