//! The part of a process in a selection that all processes of a cluster bank do together.

use std::sync::Arc;

use roaring::RoaringTreemap;
use serde::{Deserialize, Serialize};

use super::evidence::{Evidence, evidence};
use super::load::LoadedWeb;
use crate::engine::plan::PlanOptions;
use crate::engine::policy::List;
use crate::engine::refresh::run_context::RunContext;
use crate::engine::refresh::site_processes::SiteProcesses;
use crate::engine::rounds::communicator::JobCommunicator;
use crate::engine::rounds::job::Job;
use crate::engine::{EngineError, Result};
use seedbank_algorithms::cover::Method;
use seedbank_algorithms::cover::global::{ValueBy, WebChoice, WebSelection, select};
use seedbank_algorithms::page::PageSet;
use seedbank_store::PublishedState;

/// A request to select over the share of a process.
#[derive(Serialize, Deserialize)]
pub(super) struct ShareRequest {
    pub(super) state: PublishedState,
    /// The options of the plan, as they are stored.
    options: String,
    /// The lines of the lists of the plan that may not be stored yet, in the order of [`lists_of`].
    lists: [Option<String>; 4],
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
    pub(super) fn new(processes: &SiteProcesses<'_>) -> Self {
        let mut plan = processes.plan.clone();
        let lists = lists_of(&mut plan);
        Self {
            state: processes.state,
            options: processes.options.clone(),
            lists: lists.map(|list| Some(list.as_ref()?.text()?.to_owned())),
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

/// Whether a selection runs in all processes, each on its share of the web.
pub(super) const fn can_be_shared(choice: &WebChoice) -> bool {
    matches!(choice.method, Method::Greedy | Method::MaxWeight)
        && !matches!(choice.value_by, ValueBy::Pagerank)
}

/// Selects over the web together with all other processes, each on its share. Returns the selection and its evidence on the
/// pages of this process. All processes call it at the same time.
pub(super) fn select_on_share(
    context: RunContext<'_, WebChoice>,
    processes: &SiteProcesses<'_>,
    job: &Arc<Job>,
) -> Result<(WebSelection, Evidence)> {
    let communicator = JobCommunicator::begin(job, processes.local.by_number()?);
    let mut web = LoadedWeb::load_share(context, &communicator, processes.local.owners()?)?;
    let selected = select(&mut web.graph, context.plan, &[], context.watch)?;
    let evidence = evidence(&web, &selected, context.plan);
    Ok((selected, evidence))
}

/// Encodes sets of pages.
pub(super) fn encode_sets(sets: &[PageSet]) -> Result<Vec<Vec<u8>>> {
    let bytes = |pages: &PageSet| {
        let mut bytes = Vec::with_capacity(pages.serialized_size());
        let written = pages.serialize_into(&mut bytes);
        written.map_err(|_| EngineError::Internal("a bitmap cannot be written"))?;
        Ok(bytes)
    };
    sets.iter().map(bytes).collect()
}

/// Decodes what [`encode_sets`] has encoded; `None` if it cannot be decoded.
pub(super) fn decode_sets(sets: &[Vec<u8>]) -> Option<Vec<PageSet>> {
    let set = |bytes: &Vec<u8>| RoaringTreemap::deserialize_from(bytes.as_slice()).ok();
    sets.iter().map(set).collect()
}
