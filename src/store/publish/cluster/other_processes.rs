//! The other processes of a cluster bank.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::tables::parts::remote_database::RemoteProcess;

/// The processes that have parts of a cluster bank which this process does not have.
#[derive(Clone, Default)]
pub struct OtherProcesses {
    by_part: BTreeMap<u32, Arc<dyn RemoteProcess>>,
}

impl OtherProcesses {
    /// Adds the process of a part.
    pub fn add(&mut self, part: u32, process: Arc<dyn RemoteProcess>) {
        self.by_part.insert(part, process);
    }

    /// Returns the process of a part; `None` if it is this one.
    #[must_use]
    pub fn of_part(&self, part: u32) -> Option<&Arc<dyn RemoteProcess>> {
        self.by_part.get(&part)
    }

    /// Returns whether other processes have parts.
    #[must_use]
    pub fn any(&self) -> bool {
        !self.by_part.is_empty()
    }
}
