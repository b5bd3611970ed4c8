//! Computes what process 0 requests for sites of this process.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::select_sites::select_each;
use super::site_requests::{SentSelection, SiteJob, SiteTask, malformed, values};
use super::sites::CoverSite;
use crate::engine::Result;
use crate::engine::plan::{PlanOptions, ResolvedPlan};
use crate::engine::policy::LoadedPolicy;
use crate::engine::processes::Processes;
use crate::engine::refresh::run_context::RunContext;
use crate::engine::request_topic::RequestTopic;
use seedbank_algorithms::cover::Choice;
use seedbank_algorithms::page::SiteId;
use seedbank_store::{PublishedParts, PublishedState, tables};

/// Computes what other processes request for their sites.
#[derive(Default)]
pub(crate) struct SiteService {
    /// The state and the plan of the last request.
    open: Mutex<Option<Arc<OpenPlan>>>,
}

/// A plan on a state.
struct OpenPlan {
    state: PublishedState,
    options: String,
    store: PublishedParts,
    choice: Choice,
    policy: LoadedPolicy,
    /// The part of the bytes read from `store` that answers have reported.
    reported_bytes: AtomicU64,
}

impl OpenPlan {
    /// Returns the bytes that were read and not reported yet.
    fn new_bytes_read(&self) -> u64 {
        let bytes = self.store.bytes_read();
        let reported = self.reported_bytes.fetch_max(bytes, Ordering::Relaxed);
        bytes.saturating_sub(reported)
    }
}

impl SiteService {
    /// Returns the body of a request about sites; `None` if it is another request.
    pub(crate) fn parse(request: &[u8]) -> Option<&[u8]> {
        RequestTopic::Sites.strip(request)
    }

    /// Answers a request.
    pub(in crate::engine) fn answer(&self, processes: &Processes, body: &[u8]) -> Result<Vec<u8>> {
        let job: SiteJob = seedbank_store::unpack(body)?;
        let plan = self.open(processes, &job)?;
        let watch = &*processes.watch;
        let store = &*plan.store;
        let context = RunContext::new(store, &plan.choice, &plan.policy, watch);
        let site = |(id, _): &(u32, u32)| {
            let id = SiteId(*id);
            let record = store.need(&tables::SITES, &id)?;
            Ok(CoverSite::new(id, record, &plan.choice))
        };
        let sites = job.sites.iter().map(site).collect::<Result<Vec<_>>>()?;
        let sites: Vec<&CoverSite> = sites.iter().collect();
        Ok(match job.task {
            SiteTask::Value => {
                let values = values(context, &sites)?;
                seedbank_store::pack(&(values, plan.new_bytes_read()))
            }
            SiteTask::Select => {
                let seats: Vec<u32> = job.sites.iter().map(|(_, seats)| *seats).collect();
                let selected = select_each(context, &sites, &seats)?;
                let sent = selected.into_iter().map(SentSelection::new);
                let sent = sent.collect::<Result<Vec<_>>>()?;
                seedbank_store::pack(&(sent, plan.new_bytes_read()))
            }
        }?)
    }

    fn open(&self, processes: &Processes, job: &SiteJob) -> Result<Arc<OpenPlan>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let last = open.as_ref();
        if let Some(plan) = last.filter(|of| of.state == job.state && of.options == job.options) {
            return Ok(Arc::clone(plan));
        }
        let others = processes.by_part()?;
        let store = processes.parts.open_published(job.state, &others)?;
        let options = PlanOptions::from_stored(&job.options)?;
        let ResolvedPlan::Cover(choice) = options.resolve()? else {
            return Err(malformed());
        };
        let (lists, watch) = (options.lists(), &*processes.watch);
        let policy = LoadedPolicy::load(&store, options.policy()?, lists, watch)?;
        let plan = Arc::new(OpenPlan {
            state: job.state,
            options: job.options.clone(),
            choice,
            policy: policy.with_failing(&store)?,
            store,
            reported_bytes: AtomicU64::new(0),
        });
        *open = Some(Arc::clone(&plan));
        Ok(plan)
    }
}
