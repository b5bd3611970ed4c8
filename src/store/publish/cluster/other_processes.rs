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

    /// Returns the process of each of these parts: 0 for this one, and for the others the numbers in the order of their first
    /// parts.
    #[must_use]
    pub fn owners(&self, parts: u32) -> Vec<usize> {
        let mut others: Vec<&Arc<dyn RemoteProcess>> = Vec::new();
        let owner = |part: u32| {
            let process = self.of_part(part)?;
            let known = others.iter().position(|of| Arc::ptr_eq(of, process));
            let place = known.unwrap_or_else(|| {
                others.push(process);
                others.len() - 1
            });
            Some(place + 1)
        };
        (0..parts)
            .map(owner)
            .map(Option::unwrap_or_default)
            .collect()
    }

    /// Returns whether other processes have parts.
    #[must_use]
    pub fn any(&self) -> bool {
        !self.by_part.is_empty()
    }
}
