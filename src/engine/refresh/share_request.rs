//! The request to select over the share of a process.

use serde::{Deserialize, Serialize};

use super::site_processes::SiteProcesses;
use crate::engine::Result;
use crate::engine::plan::PlanOptions;
use crate::engine::policy::List;
use seedbank_algorithms::page::PageId;
use seedbank_store::PublishedState;
use seedbank_store::records::RefreshId;

/// What earlier refreshes of a plan over the web have left for this one.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Earlier {
    /// The refresh whose gains are reused.
    pub(super) gains: Option<RefreshId>,
    /// The list that is kept as far as it is worth it, best first; empty if none is.
    pub(super) list: Vec<PageId>,
}

/// A request to select over the share of a process.
#[derive(Serialize, Deserialize)]
pub(super) struct ShareRequest {
    pub(super) state: PublishedState,
    /// The options of the plan, as they are stored.
    options: String,
    /// The lines of the lists of the plan that may not be stored yet, in the order of [`lists_of`].
    lists: [Option<String>; 4],
    pub(super) earlier: Earlier,
}

/// The lists of a plan.
fn lists_of(plan: &mut PlanOptions) -> [&mut Option<List>; 4] {
    [
        &mut plan.exclude,
        &mut plan.only,
        &mut plan.exclude_from_graph,
        &mut plan.pin,
    ]
}

impl ShareRequest {
    /// Returns the request that process 0 sends.
    pub(super) fn new(processes: &SiteProcesses<'_>, earlier: Earlier) -> Self {
        let mut plan = processes.plan.clone();
        let lists = lists_of(&mut plan);
        Self {
            state: processes.state,
            options: processes.options.clone(),
            lists: lists.map(|list| Some(list.as_ref()?.text()?.to_owned())),
            earlier,
        }
    }

    /// Returns the plan with its lists.
    pub(super) fn plan(&self) -> Result<PlanOptions> {
        let mut plan = PlanOptions::from_stored(&self.options)?;
        for (list, lines) in lists_of(&mut plan).into_iter().zip(&self.lists) {
            if let (Some(list), Some(lines)) = (list, lines) {
                *list = List::parse(list.name(), lines);
            }
        }
        Ok(plan)
    }
}
