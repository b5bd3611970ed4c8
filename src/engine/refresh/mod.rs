//! Refresh: one run of a plan.
//!
//! It computes on the published state and takes the writer's lock only to store what came out,
//! so an ingest can go on meanwhile. What a refresh does beside that is the business of its
//! family: [`cores`], [`cover`] or [`web`].

mod answers;
pub(crate) mod cores;
pub(crate) mod cover;
mod delete;
mod memory;
mod prune;
mod trial;
pub(crate) mod web;

pub use answers::{RefreshReport, RefreshView, TrialView, TuningView};
pub use cores::cost::{Cost, Reason, SiteChange};
pub use delete::DeletedPlan;
pub(crate) use trial::Trial;

use std::time::Instant;

use super::clock::now;
use super::plan::{DEFAULT_PLAN, Plan, PlanOptions, check_name};
use super::{Bank, EngineError, PlanError, RequestError};
use crate::cover::Choice;
use crate::cover::web::WebChoice;
use crate::engine::history::past;
use crate::storage::records::{PlanRecord, RefreshId};
use crate::storage::tables;
use crate::storage::{Changes, Reader, Store, Writer};
use crate::watch::Watch;
use cores::standings::Written;
use cores::{CoresRun, standings};
use cover::{CoverRun, Earlier};
use prune::PickedBy;
use web::WebRun;

/// What to refresh, and how.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::{CoverMethod, Method, PlanOptions, RefreshRequest};
///
/// let request = RefreshRequest {
///     plan: Some("sites".to_owned()),
///     options: PlanOptions {
///         method: Some(Method::Cover(CoverMethod::MaxWeight)),
///         per_site: Some(3),
///         ..PlanOptions::default()
///     },
///     ..RefreshRequest::default()
/// };
/// // One crawled page on each of two sites. The plan keeps its parameters.
/// assert_eq!(bank.refresh(&request, &Unwatched)?.view.seeds, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own, and any of them go together"
)]
pub struct RefreshRequest {
    /// The plan; the default plan where `None`. Another one that the bank does not have is made only
    /// where `options` say something: a name alone may be a slip.
    pub plan: Option<String>,
    /// Parameters; where they are silent the plan's own are taken, then the defaults.
    pub options: PlanOptions,
    /// Take nothing over from earlier refreshes.
    pub cold: bool,
    /// Keep only so many refreshes of the plan, this one included.
    pub keep: Option<u32>,
    /// Wait while another process writes to the bank.
    pub wait: bool,
    /// Tell why cores had to be computed.
    pub explain_cost: bool,
    /// Over the web with a budget: try hops and prices again, but for those that `options` give.
    pub tune: bool,
}

/// What a family's run hands to the frame.
enum Outcome {
    Cores(Box<CoresRun>),
    Cover(CoverRun),
    Web(WebRun),
}

impl Outcome {
    /// The earlier refresh whose records or seeds this one takes over.
    fn leans_on(&self) -> Option<RefreshId> {
        match self {
            Self::Cores(run) => run.leans_on,
            Self::Cover(run) => run.leans_on(),
            Self::Web(run) => run.leans_on(),
        }
    }

    /// Hands what is to be stored to `changes`; gives what was written of standings.
    fn put(
        &self,
        store: &Store,
        changes: &mut Changes,
        (plan, refresh): (&str, RefreshId),
    ) -> Result<Option<Written>, EngineError> {
        match self {
            Self::Cores(run) => run.put(store, changes, (plan, refresh)).map(Some),
            Self::Cover(run) => {
                run.put(store, changes, refresh)?;
                Ok(None)
            }
            Self::Web(run) => {
                run.put(changes, refresh)?;
                Ok(None)
            }
        }
    }

    /// Which refresh picked the seeds.
    fn picked_by(&self, refresh: RefreshId) -> PickedBy {
        match self {
            Self::Cores(_) => PickedBy::default(),
            Self::Cover(run) => PickedBy {
                of_sites: run.picked_by(refresh),
                over_web: None,
            },
            Self::Web(run) => PickedBy {
                over_web: Some(run.picked_by(refresh)),
                ..PickedBy::default()
            },
        }
    }
}

impl Bank {
    /// Runs a plan on the published state and keeps what came out.
    ///
    /// A refresh without seeds is kept too. Where the plan was refreshed by somebody else
    /// meanwhile, and what this run takes over may be deleted, it runs again; so it does where what
    /// happened since its state was forgotten by somebody else's `--keep`.
    ///
    /// Cost: by cores the pages and rows of components that changed, by key, or one scan of pages and
    /// two of rows, then what [`cores::select`] costs in what changed; by cover one scan of sites,
    /// the pages and links of those that changed, then what [`cover::select_chosen`] costs on them.
    ///
    /// [`cores::select`]: crate::cores::select
    /// [`cover::select_chosen`]: crate::cover::select_chosen
    pub fn refresh(
        &self,
        request: &RefreshRequest,
        watch: &dyn Watch,
    ) -> Result<RefreshReport, EngineError> {
        let begun = Instant::now();
        let plan = request.named()?;
        if !request.wait {
            Writer::probe(self.path())?;
        }
        loop {
            let reader = Reader::open(self.path())?;
            let (outcome, mut report) = run(&reader, plan, request, watch)?;
            drop(reader);
            watch.stage("commit", None);
            // What was computed is worth waiting for.
            let writer = Writer::open(self.path(), true, watch)?;
            let kept = writer.get(&tables::PLANS, &report.view.plan)?;
            let last = kept.map(|kept| kept.last_refresh);
            let leans_well = outcome
                .leans_on()
                .is_none_or(|earlier| last == Some(earlier));
            // Else what changed since could not be told any more.
            let is_known = report.view.batch >= past::known_since(&writer)?;
            if leans_well && is_known {
                keep(&writer, request, &outcome, &mut report, begun, watch)?;
                return Ok(report);
            }
        }
    }
}

impl RefreshRequest {
    /// The name of the plan, once it is clear that the request makes sense apart from the bank.
    fn named(&self) -> Result<&str, EngineError> {
        let plan = self.plan.as_deref().unwrap_or(DEFAULT_PLAN);
        check_name(plan)?;
        if self.keep == Some(0) {
            return Err(RequestError::KeepsNothing.into());
        }
        Ok(plan)
    }
}

/// Computes; stores nothing.
fn run(
    reader: &Reader,
    plan: &str,
    request: &RefreshRequest,
    watch: &dyn Watch,
) -> Result<(Outcome, RefreshReport), EngineError> {
    let plan = plan.to_owned();
    let kept = reader.get(&tables::PLANS, &plan)?;
    if kept.is_none() && plan != DEFAULT_PLAN && request.options == PlanOptions::default() {
        return Err(no_parameters(reader, plan)?);
    }
    let base = match &kept {
        Some(kept) => PlanOptions::from_kept(&kept.settings)?,
        None => PlanOptions::default(),
    };
    let mut options = request.options.clone().over(&base);
    if request.tune {
        options.forget_tuning();
        (options.hops, options.fetch_cost) = (request.options.hops, request.options.fetch_cost);
    }
    let decided = options.decide()?;
    let is_open = matches!(decided, Plan::Web(choice) if choice.setting().is_none());
    if request.tune && !is_open {
        return Err(PlanError::NothingToTune.into());
    }
    let plan_changed = kept.is_some() && base.decide().ok() != Some(decided);
    let previous = kept.map(|kept| kept.last_refresh);
    let mut report = RefreshReport {
        method: options.method.unwrap_or_default(),
        view: RefreshView {
            refresh: 0,
            plan,
            parameters: options,
            batch: reader.counters()?.batch,
            at: 0,
            seconds: 0.0,
            seeds: 0,
            cores: 0,
            cold: true,
            steps_reused: 0,
            steps_recomputed: 0,
            certified: true,
            doubt: None,
            link_visits: 0,
            page_visits: 0,
        },
        plan_changed,
        components: 0,
        components_verified: 0,
        pages_loaded: 0,
        bytes_read: 0,
        bytes_read_storing: 0,
        peak_memory: None,
        costs: None,
        tuning: None,
        pruned: Vec::new(),
    };
    let earlier = Before {
        plan: &base,
        refresh: previous.filter(|_| !request.cold && !plan_changed),
        is_new: previous.is_none(),
    };
    let outcome = match decided {
        Plan::Cores(plan) => {
            // Findings by cores outlive some changes of parameters.
            let run = cores::run(reader, &plan, previous, request.cold, watch)?;
            report.tell_cores(&run);
            report.bytes_read = reader.bytes_read();
            if request.explain_cost {
                report.costs = Some(run.costs(reader)?);
            }
            Outcome::Cores(Box::new(run))
        }
        Plan::Cover(choice) => {
            let run = of_sites(reader, &choice, earlier, &mut report, watch)?;
            report.bytes_read = reader.bytes_read();
            Outcome::Cover(run)
        }
        Plan::Web(choice) => {
            let run = over_web(reader, &choice, earlier, &mut report, watch)?;
            report.bytes_read = reader.bytes_read();
            Outcome::Web(run)
        }
    };
    Ok((outcome, report))
}

/// The error for a plan that is not there, where nothing says what it should be.
fn no_parameters(store: &Store, plan: String) -> Result<EngineError, EngineError> {
    let mut there = Vec::new();
    for entry in store.scan(&tables::PLANS)? {
        there.push(entry?.0);
    }
    Ok(EngineError::NewPlan { plan, there })
}

/// What a plan was before a refresh.
#[derive(Clone, Copy)]
struct Before<'a> {
    plan: &'a PlanOptions,
    /// Its last refresh, if that had the same parameters and may be built upon.
    refresh: Option<RefreshId>,
    /// Whether there was no plan of this name.
    is_new: bool,
}

fn of_sites(
    store: &Store,
    choice: &Choice,
    before: Before<'_>,
    report: &mut RefreshReport,
    watch: &dyn Watch,
) -> Result<CoverRun, EngineError> {
    let earlier = match before.refresh {
        Some(refresh) => Some(Earlier {
            refresh,
            batch: store.need(&tables::REFRESHES, &refresh)?.batch,
        }),
        None => None,
    };
    let run = cover::run(store, choice, earlier, watch)?;
    let view = &mut report.view;
    view.cold = earlier.is_none();
    view.seeds = run.seeds()?;
    (view.steps_reused, view.steps_recomputed) = run.steps();
    view.page_visits = run.page_visits;
    Ok(run)
}

fn over_web(
    store: &Store,
    choice: &WebChoice,
    before: Before<'_>,
    report: &mut RefreshReport,
    watch: &dyn Watch,
) -> Result<WebRun, EngineError> {
    let view = &mut report.view;
    let earlier = match before.refresh {
        Some(refresh) => Some(web::Earlier {
            refresh,
            batch: store.need(&tables::REFRESHES, &refresh)?.batch,
            today: view.batch,
        }),
        None => None,
    };
    let run = web::run(store, choice, earlier, watch)?;
    view.seeds = run.seeds()?;
    view.cold = run.cold;
    (view.steps_reused, view.steps_recomputed) = run.steps();
    view.page_visits = run.page_visits;
    if let Some((setting, tuning)) = &run.tuning {
        let found = TuningView::new(choice, *setting, tuning);
        let parameters = &mut view.parameters;
        parameters.keep_tuning(*setting, found.tuned(view.batch));
        let same = before.plan.decide().ok() == parameters.decide().ok();
        report.plan_changed = !before.is_new && !same;
        report.tuning = Some(found);
    }
    Ok(run)
}

impl RefreshReport {
    fn tell_cores(&mut self, run: &CoresRun) {
        let selection = &run.selection;
        let view = &mut self.view;
        view.cores = count(selection.cores.len());
        view.seeds = view.cores;
        view.cold = run.earlier.is_none();
        let reused = selection.reused.iter().filter(|reused| **reused);
        view.steps_reused = reused.count() as u64;
        view.steps_recomputed = u64::from(view.cores) - view.steps_reused;
        view.certified = selection.certified;
        let doubt = selection.uncertified_reason.as_ref();
        view.doubt = doubt.map(|(rank, doubt)| format!("core {rank}: {doubt}"));
        view.link_visits = selection.link_visits;
        self.components = run.components.all;
        self.components_verified = run.components.verified;
        self.pages_loaded = run.pages_loaded;
    }
}

/// Stores a refresh, and deletes what `--keep` says.
fn keep(
    writer: &Writer,
    request: &RefreshRequest,
    outcome: &Outcome,
    report: &mut RefreshReport,
    begun: Instant,
    watch: &dyn Watch,
) -> Result<(), EngineError> {
    let mut counters = writer.counters()?;
    counters.refresh += 1;
    report.view.refresh = counters.refresh;
    // Small beside the ledger's own records, and a bulk load where there is more.
    let mut changes = Changes::new(&writer.spill_folder(), 64 << 20);
    let of_plan = (report.view.plan.as_str(), report.view.refresh);
    let standings = outcome.put(writer, &mut changes, of_plan)?;
    let settings = report.view.parameters.to_kept()?;
    let plan = PlanRecord {
        settings,
        last_refresh: report.view.refresh,
        lists: Vec::new(),
    };
    changes.put(&tables::PLANS, &report.view.plan, &plan)?;
    if let Some(keep) = request.keep {
        let picked_by = outcome.picked_by(report.view.refresh);
        report.pruned = prune::prune(writer, &mut changes, &report.view.plan, keep, picked_by)?;
        past::delete_unseen(writer, &mut changes, &report.pruned, report.view.batch)?;
        let new = (report.view.refresh, standings.as_ref());
        standings::delete_unseen(writer, &mut changes, &report.pruned, new)?;
    }
    report.bytes_read_storing = writer.bytes_read();
    report.bytes_read += report.bytes_read_storing;
    report.view.seconds = begun.elapsed().as_secs_f64();
    report.peak_memory = memory::peak();
    report.view.at = now();
    let record = report.record(standings.map(|written| written.record))?;
    changes.put(&tables::REFRESHES, &report.view.refresh, &record)?;
    watch.proceed()?;
    Ok(writer.commit(changes, counters)?)
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
