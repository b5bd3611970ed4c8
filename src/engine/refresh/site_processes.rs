//! The processes that have the sites of a cluster bank, for work in all of them.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::engine::Result;
use crate::engine::plan::PlanOptions;
use crate::engine::processes::Processes;
use crate::engine::site_owners::OtherOwners;
use seedbank_store::{PublishedState, Store};

/// The processes that have the sites of a bank, and the state on which they work.
pub(crate) struct SiteProcesses<'a> {
    /// This process.
    pub(in crate::engine) local: &'a Processes,
    /// The other processes.
    pub(in crate::engine) sites: OtherOwners<'a>,
    pub(crate) state: PublishedState,
    /// The plan, and its options as they are stored.
    pub(crate) plan: PlanOptions,
    pub(crate) options: String,
    /// The bytes of keys and values that the other processes have read.
    bytes_read: AtomicU64,
}

impl<'a> SiteProcesses<'a> {
    /// Returns the processes that work on the state of `store`; `None` if it is no cluster bank, or if one process has all
    /// of it.
    pub(in crate::engine) fn new(
        processes: &'a Processes,
        store: &Store,
        plan: PlanOptions,
    ) -> Result<Option<Self>> {
        if store.site_parts().is_none() || processes.by_number()?.iter().all(Option::is_none) {
            return Ok(None);
        }
        Ok(Some(Self {
            local: processes,
            sites: OtherOwners::new(processes, store)?,
            state: PublishedState::of_store(store)?,
            options: plan.to_stored()?,
            plan,
            bytes_read: AtomicU64::new(0),
        }))
    }

    /// Adds bytes that another process has read.
    pub(crate) fn add_bytes_read(&self, bytes: u64) {
        self.bytes_read.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Returns the bytes of keys and values that the other processes have read for the plan.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }
}
