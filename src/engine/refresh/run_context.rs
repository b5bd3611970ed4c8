//! Input that every kind of refresh has.

use super::site_processes::SiteProcesses;
use crate::engine::policy::LoadedPolicy;
use seedbank_algorithms::watch::Watch;
use seedbank_store::Store;

/// A resolved plan of kind `P`, and the state of the bank on which it runs.
#[derive(Clone, Copy)]
pub(crate) struct RunContext<'a, P> {
    pub(crate) store: &'a Store,
    pub(crate) plan: &'a P,
    pub(crate) policy: &'a LoadedPolicy,
    pub(crate) watch: &'a dyn Watch,
    /// Other processes that have sites of the bank; `None` if they are not to work on them.
    pub(crate) processes: Option<&'a SiteProcesses<'a>>,
}

impl<'a, P> RunContext<'a, P> {
    pub(crate) fn new(
        store: &'a Store,
        plan: &'a P,
        policy: &'a LoadedPolicy,
        watch: &'a dyn Watch,
    ) -> Self {
        Self {
            store,
            plan,
            policy,
            watch,
            processes: None,
        }
    }

    /// Lets other processes work on their sites.
    pub(crate) const fn with_processes(self, processes: Option<&'a SiteProcesses<'a>>) -> Self {
        Self { processes, ..self }
    }
}
