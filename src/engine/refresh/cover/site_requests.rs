//! Work on single sites in the processes that have them: their values, and the selection of seeds.
//!
//! Process 0 sends the ids of sites, some at a time, and gets the results in the same order. The other processes
//! ([`SiteService`]) compute them on the same state with the same code.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::evidence::Picked;
use super::reach::Uncovered;
use super::select_sites::{Selected, select_each};
use super::sites::{CoverSite, load_in_groups};
use crate::engine::failing_watch::FailingWatch;
use crate::engine::plan::{PlanOptions, ResolvedPlan};
use crate::engine::policy::LoadedPolicy;
use crate::engine::processes::Processes;
use crate::engine::refresh::run_context::RunContext;
use crate::engine::request_topic::RequestTopic;
use crate::engine::{EngineError, Result};
use roaring::RoaringBitmap;
use seedbank_algorithms::cover::Choice;
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_store::records::{CoverEvidence, CoverRecord};
use seedbank_store::{PublishedParts, PublishedState, RemoteProcess, StoreError, tables};
use serde::{Deserialize, Serialize};

/// The number of crawled pages of the sites of a request.
const REQUEST_PAGES: u64 = 1 << 16;

/// What is computed for each site.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum SiteTask {
    /// Its value, in millionths.
    Value,
    /// Its seeds.
    Select,
}

/// A request to compute something for sites.
#[derive(Serialize, Deserialize)]
pub(super) struct SiteJob {
    pub(super) state: PublishedState,
    /// The options of the plan, as they are stored.
    pub(super) options: String,
    pub(super) task: SiteTask,
    /// Sites, with their seats.
    pub(super) sites: Vec<(u32, u32)>,
}

/// The seeds of a site, without the number of the refresh and ranks.
#[derive(Serialize, Deserialize)]
pub(super) struct SentSelection {
    record: CoverRecord,
    /// Pages, evidence, and the pages that a pick covers first by hop.
    picks: Vec<(u64, CoverEvidence, Vec<Vec<u8>>)>,
    uncovered: Uncovered,
}

impl SentSelection {
    pub(super) fn new(selected: Selected) -> Result<Self> {
        let bytes = |pages: &RoaringBitmap| {
            let mut bytes = Vec::with_capacity(pages.serialized_size());
            let written = pages.serialize_into(&mut bytes);
            written.map_err(|_| EngineError::Internal("a bitmap cannot be written"))?;
            Ok(bytes)
        };
        let pick = |pick: Picked| {
            let covered = pick.covered.iter().map(bytes).collect::<Result<_>>()?;
            Ok((pick.page.0, pick.evidence, covered))
        };
        Ok(Self {
            record: selected.record,
            picks: selected
                .picks
                .into_iter()
                .map(pick)
                .collect::<Result<_>>()?,
            uncovered: selected.uncovered,
        })
    }

    fn into_selected(self) -> Result<Selected> {
        let bitmap = |bytes: Vec<u8>| {
            let read = RoaringBitmap::deserialize_from(bytes.as_slice());
            read.map_err(|_| malformed())
        };
        let pick = |(page, evidence, covered): (u64, CoverEvidence, Vec<Vec<u8>>)| {
            Ok(Picked {
                page: PageId(page),
                evidence,
                covered: covered.into_iter().map(bitmap).collect::<Result<_>>()?,
            })
        };
        Ok(Selected {
            record: self.record,
            picks: self.picks.into_iter().map(pick).collect::<Result<_>>()?,
            uncovered: self.uncovered,
        })
    }
}

pub(super) fn malformed() -> EngineError {
    StoreError::Protocol("a request about sites cannot be decoded").into()
}

/// Returns the values of sites of this process, in millionths.
pub(super) fn values(context: RunContext<'_, Choice>, sites: &[&CoverSite]) -> Result<Vec<i64>> {
    let mut values = vec![0; sites.len()];
    load_in_groups(context, sites, |group, loaded| {
        for (at, site) in group.iter().zip(loaded) {
            values[*at] = site.graph.value();
            context.watch.advance(1);
        }
        Ok(())
    })?;
    Ok(values)
}

/// Computes the values of sites, each in the process that has it. Returns them in the order of the sites.
///
/// Fails if another process fails or is lost.
pub(super) fn values_of_all(
    context: RunContext<'_, Choice>,
    sites: &[&CoverSite],
) -> Result<Vec<i64>> {
    let work = SiteWork {
        task: SiteTask::Value,
        sites,
        seats: &vec![0; sites.len()],
    };
    for_all(
        context,
        work,
        |context, sites, _| values(context, sites),
        Ok,
    )
}

/// Selects on sites, each in the process that has it. Returns the results in the order of the sites.
///
/// Fails if another process fails or is lost.
pub(super) fn select_on_all(
    context: RunContext<'_, Choice>,
    sites: &[&CoverSite],
    seats: &[u32],
) -> Result<Vec<Selected>> {
    let work = SiteWork {
        task: SiteTask::Select,
        sites,
        seats,
    };
    for_all(context, work, select_each, SentSelection::into_selected)
}

/// Sites, and what is to be computed for each, given its seats.
#[derive(Clone, Copy)]
struct SiteWork<'a> {
    task: SiteTask,
    sites: &'a [&'a CoverSite],
    seats: &'a [u32],
}

/// Sites of one other process: their positions, and the process.
type OfProcess<'a> = (Vec<usize>, &'a Arc<dyn RemoteProcess>);

/// Computes something for each site: by `own` for the sites of this process, and elsewhere by requests. `read` converts
/// what other processes send.
fn for_all<S: for<'de> Deserialize<'de> + Send, T: Send>(
    context: RunContext<'_, Choice>,
    work: SiteWork<'_>,
    own: impl FnOnce(RunContext<'_, Choice>, &[&CoverSite], &[u32]) -> Result<Vec<T>>,
    read: impl Fn(S) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let SiteWork { sites, seats, .. } = work;
    let Some(processes) = context.processes else {
        return own(context, sites, seats);
    };
    let mut here = Vec::new();
    let mut elsewhere: BTreeMap<usize, OfProcess<'_>> = BTreeMap::new();
    for (at, site) in sites.iter().enumerate() {
        match processes.sites.of_site(site.id) {
            None => here.push(at),
            Some((number, process)) => {
                let of_process = elsewhere.entry(number);
                of_process
                    .or_insert_with(|| (Vec::new(), process))
                    .0
                    .push(at);
            }
        }
    }
    // All end once one of them has failed.
    let watch = FailingWatch::new(context.watch);
    let context = RunContext {
        watch: &watch,
        ..context
    };
    let all = thread::scope(|scope| {
        let mut calls = Vec::new();
        for (positions, process) in elsewhere.values() {
            let call = || {
                let results = remote(context, process, work, positions, &read);
                results.map_err(|error| watch.fail(error)).ok()
            };
            let thread = thread::Builder::new().name("sites".to_owned());
            let thread = thread
                .spawn_scoped(scope, call)
                .map_err(EngineError::Threads);
            calls.push(thread.map_err(|error| watch.fail(error)).ok());
        }
        let own_sites: Vec<&CoverSite> = here.iter().map(|at| sites[*at]).collect();
        let own_seats: Vec<u32> = here.iter().map(|at| seats[*at]).collect();
        let own = own(context, &own_sites, &own_seats);
        let mut all = vec![own.map_err(|error| watch.fail(error)).ok()];
        // The result of a panic is missing.
        all.extend(calls.into_iter().map(|call| call?.join().ok()?));
        all
    });
    let positions = std::iter::once(&here).chain(elsewhere.values().map(|of| &of.0));
    let mut results: Vec<Option<T>> = sites.iter().map(|_| None).collect();
    for (positions, of_process) in positions.zip(watch.all(all)?) {
        for (at, result) in positions.iter().zip(of_process) {
            results[*at] = Some(result);
        }
    }
    let lacking = EngineError::Internal("a site has no result");
    results.into_iter().collect::<Option<_>>().ok_or(lacking)
}

/// Lets another process compute the sites at these positions, some at a time.
fn remote<S: for<'de> Deserialize<'de>, T>(
    context: RunContext<'_, Choice>,
    process: &Arc<dyn RemoteProcess>,
    work: SiteWork<'_>,
    positions: &[usize],
    read: &impl Fn(S) -> Result<T>,
) -> Result<Vec<T>> {
    let SiteWork { task, sites, seats } = work;
    let processes = context.processes.ok_or_else(malformed)?;
    let mut results = Vec::with_capacity(positions.len());
    let mut left = positions;
    while !left.is_empty() {
        context.watch.proceed()?;
        let mut pages = 0;
        let mut count = 0;
        for at in left {
            count += 1;
            pages += u64::from(sites[*at].crawled);
            if pages >= REQUEST_PAGES {
                break;
            }
        }
        let (some, rest) = left.split_at(count);
        left = rest;
        let job = SiteJob {
            state: processes.state,
            options: processes.options.clone(),
            task,
            sites: some
                .iter()
                .map(|at| (sites[*at].id.0, seats[*at]))
                .collect(),
        };
        let request = [
            &[RequestTopic::Sites as u8][..],
            &seedbank_store::pack(&job)?,
        ]
        .concat();
        let answer = process.call(&request)?;
        let (sent, bytes_read): (Vec<S>, u64) = seedbank_store::unpack(&answer)?;
        processes.add_bytes_read(bytes_read);
        if sent.len() != some.len() {
            return Err(malformed());
        }
        for result in sent {
            results.push(read(result)?);
        }
        context.watch.advance(some.len() as u64);
    }
    Ok(results)
}

// Computes what process 0 requests for sites of this process.

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
