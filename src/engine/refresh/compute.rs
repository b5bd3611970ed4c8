//! Computes a refresh: resolves the plan's parameters, runs the method, and limits changes of the
//! list.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::churn_limit::{self, LimitedList};
use super::cores::page_evidence::Written;
use super::cores::unchanged::{self, UnchangedRun};
use super::cores::{self, CoresRun};
use super::cover::{self, CoverRun, PreviousRefresh};
use super::delete::PickedBy;
use super::global::{self, WebRun};
use super::judged::Judged;
use super::report::{
    Candidates, DefaultBudget, KeptSeeds, PolicyView, Proof, RefreshReport, Shortage,
    ShortageReason, Stars, StepsView, TuningView,
};
use super::request::RefreshRequest;
use super::run_context::RunContext;
use super::site_processes::SiteProcesses;
use crate::engine::error::PlanError;
use crate::engine::plan::{DEFAULT_PLAN, PlanOptions, ResolvedPlan};
use crate::engine::policy::{LoadedPolicy, PagePolicy, Policy, RejectionReason};
use crate::engine::processes::Processes;
use crate::engine::repeated_content::likely_traps;
use crate::engine::revisits::Revisits;
use crate::engine::{EngineError, Result};
use seedbank_algorithms::cover::Choice;
use seedbank_algorithms::cover::global::{HOLDOUTS, Kept, ValueBy, WebChoice};
use seedbank_algorithms::graph::number;
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Watch;
use seedbank_store::records::{BatchKind, RefreshId};
use seedbank_store::{Changes, Reader, Store, tables};

/// New lists of cluster banks with more pages are compared with baselines only on request: a comparison loads all pages and
/// links into one process.
const MAX_COMPARED: u64 = 50_000_000;

/// Result of a refresh, before anything is stored.
pub(super) struct Computed {
    pub(super) outcome: Outcome,
    /// The list after the limit on changes; `None` without a limit or a previous list.
    pub(super) limited_list: Option<LimitedList>,
    pub(super) report: RefreshReport,
    /// The list, if it has to be compared with baselines.
    pub(super) judged: Option<Judged>,
}

/// Computes a refresh without storing anything.
#[expect(
    clippy::too_many_lines,
    reason = "one step after another, each with results that later steps use"
)]
pub(super) fn run(
    reader: &Reader,
    plan: &str,
    request: &RefreshRequest,
    watch: &dyn Watch,
    local: Option<&Processes>,
) -> Result<Computed> {
    let plan = plan.to_owned();
    let stored = reader.get(&tables::PLANS, &plan)?;
    if stored.is_none() && plan != DEFAULT_PLAN && request.options == PlanOptions::default() {
        return Err(no_parameters(reader, plan)?);
    }
    let base = match &stored {
        Some(stored) => PlanOptions::from_stored(&stored.settings)?,
        None => PlanOptions::default(),
    };
    let given = request.options.clone();
    let mut default_budget = None;
    let mut crawled_since_tuned = None;
    let options = if stored.is_none() || request.replace {
        let policies = base.policies_of_any_method();
        let new = given.merged_over(&policies).without_none();
        new.complete_new(|| {
            let found = budget_of_last_batch(reader)?;
            default_budget = Some(found);
            Ok::<_, EngineError>(found.budget)
        })?
    } else {
        check_same_kind(&given, &base)?;
        base.check_changes(&given)?;
        let mut stored = base.clone();
        // Tuned values are dropped, unless the request gives them itself.
        if request.tune {
            stored.clear_tuning();
            stored.no_tune = None;
        }
        let mut options = given.merged_over(&stored).without_none();
        // What was tuned for a web of another size finds less and less as it grows.
        if let Some(times) = times_tuned(&options, reader.counters()?.crawled)
            && options.no_tune != Some(true)
        {
            options.clear_tuning();
            crawled_since_tuned = Some(times);
        }
        options
    };
    let resolved = options.resolve()?;
    let is_tunable = matches!(
        resolved,
        ResolvedPlan::Web(choice) if choice.setting().is_none() && choice.value_by != ValueBy::Learned
    );
    if request.tune && !is_tunable {
        return Err(PlanError::NothingToTune.into());
    }
    let policy = options.policy()?;
    let rules = LoadedPolicy::load(reader, policy, options.lists(), watch)?;
    let mut rules = rules.with_failing(reader)?;
    let max_seeds = resolved.seeds();
    if let Some(seeds) = max_seeds.filter(|seeds| rules.pins.count() > *seeds) {
        let pins = rules.pins.pages.len() as u64;
        return Err(PlanError::TooManyPins { pins, seeds }.into());
    }
    // Errors in the parameters come first.
    if request.rejects_empty_bank && reader.counters()?.has_no_page() {
        return Err(EngineError::EmptyBank);
    }
    let is_same = base.resolve().ok() == Some(resolved) && base.policy().ok() == Some(policy);
    let plan_changed = stored.is_some() && !is_same;
    let is_new = stored.is_none();
    let previous = stored.map(|stored| stored.last_refresh);
    let changes = if plan_changed {
        base.changes(&options)?
    } else {
        Vec::new()
    };
    let mut report = RefreshReport::begun(plan, options, reader.counters()?.batch);
    report.plan_changed = plan_changed;
    report.changes = changes;
    report.default_budget = default_budget;
    report.crawled_since_tuned = crawled_since_tuned;
    let has_policy = policy != Policy::default() || rules.pages.documents() > 0;
    let unreachable = unreachable_sites(reader, &rules)?;
    report.view.policy = has_policy.then(|| PolicyView {
        pinned: rules.pins.count(),
        rejected_pins: rules.pins.rejected.clone(),
        rejected: page_rejections(&resolved, &rules),
        unreachable,
        ..PolicyView::default()
    });
    let previous_plan = PreviousPlan {
        plan: &base,
        refresh: previous.filter(|_| !request.cold && !plan_changed),
        is_new: previous.is_none(),
        list: previous.filter(|_| !request.replace),
    };
    let outcome = match resolved {
        ResolvedPlan::Cores(ref plan) => {
            // On an unchanged graph, the cores are the same, and so are the seeds that conditions
            // on cores allow. The conditions on failed fetches and on documents change nothing either if they
            // reject no page now and rejected none then.
            let other_policies = Policy {
                min_hubs: 0,
                min_authorities: 0,
                min_hub_sites: 0,
                pages: PagePolicy {
                    max_failures: 0,
                    ..policy.pages
                },
                ..policy
            };
            let rejects_none = other_policies == Policy::default()
                && rules.pages.failing_pages() == 0
                && rules.pages.documents() == 0;
            let mut same = match previous_plan.refresh.filter(|_| rejects_none) {
                Some(refresh) => unchanged::find(reader, plan, refresh, watch)?,
                None => None,
            };
            if let Some(found) = &same {
                let rejected = rejections(found)?;
                let changing = [RejectionReason::MaxFailures, RejectionReason::Document];
                if changing.iter().any(|by| rejected.contains_key(by)) {
                    same = None;
                }
            }
            if let Some(same) = same {
                report.set_unchanged(&same, request.explain_cost)?;
                report.bytes_read = reader.bytes_read();
                Outcome::SameCores(Box::new(same))
            } else {
                // Results by cores stay valid under some changes of parameters, so the previous
                // refresh is always passed.
                let processes = site_processes(local, reader, &report.view.parameters)?;
                let context = RunContext::new(reader, plan, &rules, watch);
                let context = context.with_processes(processes.as_ref());
                let run = cores::run(context, previous, request.cold)?;
                report.set_cores(&run);
                report.bytes_read = reader.bytes_read();
                if request.explain_cost {
                    report.costs = Some(run.costs(reader)?);
                }
                Outcome::Cores(Box::new(run))
            }
        }
        ResolvedPlan::Cover(ref choice) => {
            let plan = &report.view.parameters;
            // Other processes read lists that are stored, and these may be new.
            let local = local.filter(|_| plan.lists().are_none());
            let processes = site_processes(local, reader, plan)?;
            let context = RunContext::new(reader, choice, &rules, watch);
            let run = run_cover(
                context.with_processes(processes.as_ref()),
                previous_plan,
                &mut report,
            )?;
            report.bytes_read = bytes_read(reader, processes.as_ref());
            Outcome::Cover(run)
        }
        ResolvedPlan::Web(ref choice) => {
            let processes = site_processes(local, reader, &report.view.parameters)?;
            let context = RunContext::new(reader, choice, &rules, watch);
            let run = run_global(
                context.with_processes(processes.as_ref()),
                previous_plan,
                &mut report,
            )?;
            report.bytes_read = bytes_read(reader, processes.as_ref());
            report.mirrored = run.mirrored().to_vec();
            // A limit of the seeds of a site may have been tuned.
            rules.policy = report.view.parameters.policy()?;
            if rules.policy != Policy::default() {
                report.view.policy.get_or_insert_default();
            }
            Outcome::Web(Box::new(run))
        }
    };
    if report.view.steps_recomputed > 0 {
        report.traps = likely_traps(reader)?;
    }
    let mut limited_list = None;
    // The limit applies to the selection of the method, whatever its kind.
    if let (Some(max_changes), Some(last)) = (policy.max_changes, previous) {
        let target = outcome.pages(reader)?;
        let most = max_seeds.map_or(usize::MAX, |max_seeds| max_seeds as usize);
        let found = churn_limit::limit_changes(reader, &rules, &target, last, most, max_changes)?;
        report.set_list_changes(&found);
        limited_list = Some(found);
    }
    if let Some(asked) = max_seeds.filter(|asked| report.view.seeds < *asked) {
        let is_limited = limited_list.as_ref().is_some_and(|of| of.view.deferred > 0);
        let counters = reader.counters()?;
        let reason = if is_limited {
            ShortageReason::MaxChanges
        } else if counters.intra_links + counters.inter_links == 0 {
            ShortageReason::NoLinks
        } else {
            outcome.short()
        };
        report.shortage = Some(Shortage {
            requested: asked,
            reason,
        });
    }
    if report.view.parameters.no_tune == Some(true) {
        let crawled = reader.counters()?.crawled;
        report.crawled_since_tuned = times_tuned(&report.view.parameters, crawled);
    }
    let is_new_list = is_new || report.plan_changed || report.tuning.is_some();
    if is_new_list {
        report.view.parameters.judged = None;
    } else if let Some(judged) = &mut report.view.parameters.judged {
        judged.age_batches = report.view.batch.abs_diff(judged.batch);
    }
    let budget = match resolved {
        ResolvedPlan::Web(choice) => choice.budget,
        ResolvedPlan::Cores(_) | ResolvedPlan::Cover(_) => None,
    };
    // Learned values are judged by what later batches bring.
    let is_learned = report.view.parameters.learned == Some(true);
    if request.judge && is_learned {
        return Err(PlanError::LearnedByNext.into());
    }
    // A comparison that was stopped is made by the next refresh.
    let lacks_verdict = is_new_list || report.view.parameters.judged.is_none();
    let is_compared = lacks_verdict && budget.is_some() && !is_learned && !request.quick;
    let counters = reader.counters()?;
    let pages = counters.known.saturating_add(counters.crawled);
    let is_large = reader.site_parts().is_some() && pages > MAX_COMPARED;
    let mut judged = None;
    if !request.judge && is_compared && is_large {
        report.not_compared = Some(pages);
    } else if request.judge || is_compared {
        let (mut settings, mut lists) = (Vec::new(), Vec::new());
        if let Outcome::Web(run) = &outcome
            && let Some((_, tuning)) = &run.tuning
        {
            let best = tuning.best_without_each().into_iter();
            settings = best.map(|(setting, _)| setting).collect();
            lists.clone_from(&run.draws);
        }
        judged = Some(Judged {
            plan: report.view.parameters.clone(),
            policy: rules,
            settings,
            lists,
            list: match &limited_list {
                Some(found) => found.seeds.clone(),
                None => outcome.pages(reader)?,
            },
            seeds: match max_seeds {
                Some(seeds) => seeds,
                None => outcome.count()?,
            },
            budget: match budget {
                Some(budget) => budget,
                None => budget_of_last_batch(reader)?.budget,
            },
            draws: match report.view.parameters.holdouts {
                // A plan that is tuned by known pages is judged by pages held out all the same.
                None | Some(0) => HOLDOUTS,
                Some(holdouts) => holdouts,
            },
        });
    }
    Ok(Computed {
        outcome,
        limited_list,
        report,
        judged,
    })
}

/// Returns the number of crawled pages, divided by the number for which a plan was tuned, if they have grown or shrunk
/// by half. So a plan is tuned a number of times that is logarithmic in the growth of its bank.
fn times_tuned(plan: &PlanOptions, crawled: u64) -> Option<f64> {
    let tuned = plan.tuned.as_ref().filter(|tuned| tuned.crawled > 0)?;
    let times = crawled as f64 / tuned.crawled as f64;
    (times >= 1.5 || times <= 0.5).then_some(times)
}

/// Returns the rejections by policies of a stored refresh.
fn rejections(stored: &UnchangedRun) -> Result<BTreeMap<RejectionReason, u64>> {
    let Some(policy) = &stored.record.policy else {
        return Ok(BTreeMap::new());
    };
    let policy: PolicyView = serde_json::from_str(policy).map_err(PlanError::Stored)?;
    Ok(policy.rejected)
}

/// Returns the rejections for failed fetches and of documents, which cover methods do not count themselves.
fn page_rejections(plan: &ResolvedPlan, rules: &LoadedPolicy) -> BTreeMap<RejectionReason, u64> {
    let counts = [
        (RejectionReason::MaxFailures, rules.pages.failing_pages()),
        (RejectionReason::Document, rules.pages.documents()),
    ];
    let is_cover = !matches!(plan, ResolvedPlan::Cores(_));
    let counted = counts.into_iter().filter(|(_, pages)| *pages > 0);
    counted.filter(|_| is_cover).collect()
}

/// Returns the names of the unreachable sites with the most crawled pages, and the numbers of these pages.
fn unreachable_sites(store: &Store, rules: &LoadedPolicy) -> Result<BTreeMap<String, u64>> {
    const MAX_SITES: usize = 20;
    let mut sites = rules.pages.unreachable_sites().to_vec();
    sites.sort_unstable_by_key(|(site, pages)| (Reverse(*pages), *site));
    let named = sites.into_iter().take(MAX_SITES);
    let named = named.map(|(site, pages)| Ok((store.need(&tables::SITES, &site)?.name, pages)));
    named.collect()
}

/// Returns the error for a plan that does not exist and has no parameters.
fn no_parameters(store: &Store, plan: String) -> Result<EngineError> {
    let plans = store.scan(&tables::PLANS)?;
    let existing = plans.map(|entry| Ok(entry?.0)).collect::<Result<_>>()?;
    Ok(EngineError::NoPlanParameters { plan, existing })
}

/// Returns the processes that work on a plan; `None` if this one does all.
fn site_processes<'a>(
    local: Option<&'a Processes>,
    store: &Store,
    plan: &PlanOptions,
) -> Result<Option<SiteProcesses<'a>>> {
    match local.filter(|local| local.are_connected()) {
        Some(local) => SiteProcesses::new(local, store, plan.clone()),
        None => Ok(None),
    }
}

/// Returns the bytes of keys and values that this process and the others have read.
fn bytes_read(reader: &Store, processes: Option<&SiteProcesses<'_>>) -> u64 {
    reader.bytes_read() + processes.map_or(0, SiteProcesses::bytes_read)
}

/// The plan before this refresh.
#[derive(Clone, Copy)]
struct PreviousPlan<'a> {
    plan: &'a PlanOptions,
    /// The last refresh, if it ran with the same parameters and may be reused.
    refresh: Option<RefreshId>,
    /// The last refresh, if its list may be kept.
    list: Option<RefreshId>,
    /// Whether the plan is new.
    is_new: bool,
}

fn run_cover(
    context: RunContext<'_, Choice>,
    previous_plan: PreviousPlan<'_>,
    report: &mut RefreshReport,
) -> Result<CoverRun> {
    let previous = match previous_plan.refresh {
        Some(refresh) => Some(PreviousRefresh {
            refresh,
            batch: context.store.need(&tables::REFRESHES, &refresh)?.batch,
        }),
        None => None,
    };
    let run = cover::run(context, previous)?;
    let view = &mut report.view;
    view.cold = previous.is_none();
    view.seeds = run.seeds()?;
    (view.steps_reused, view.steps_recomputed) = run.steps();
    view.page_visits = run.page_visits;
    Ok(run)
}

fn run_global(
    context: RunContext<'_, WebChoice>,
    previous_plan: PreviousPlan<'_>,
    report: &mut RefreshReport,
) -> Result<WebRun> {
    let view = &mut report.view;
    let previous = previous_plan.refresh;
    let is_same_state = match previous {
        Some(refresh) => context.store.need(&tables::REFRESHES, &refresh)?.batch == view.batch,
        None => false,
    };
    let list = match previous_plan.list {
        Some(refresh) if !context.plan.keep_seeds.is_exact() => {
            let seeds = context.store.list(refresh)?.into_iter();
            seeds.map(|(_, seed)| seed.page).collect()
        }
        _ => Vec::new(),
    };
    report.revisit = Revisits::new(context.store, context.plan)?.times();
    let run = global::run(context, previous, is_same_state, list)?;
    report.kept = run
        .kept
        .map(|Kept { seeds, worth }| KeptSeeds { seeds, worth });
    report.candidates = run
        .searched
        .map(|(searched, all)| Candidates { searched, all });
    view.seeds = run.seeds()?;
    view.cold = run.cold;
    (view.steps_reused, view.steps_recomputed) = run.steps();
    view.page_visits = run.page_visits;
    if let Some((setting, tuning)) = &run.tuning {
        let found = TuningView::new(context.plan, *setting, tuning);
        let parameters = &mut view.parameters;
        let crawled = context.store.counters()?.crawled;
        parameters.set_tuning(*setting, found.tuned(context.plan, view.batch, crawled));
        // Another result of tuning is no other parameter.
        let (before, now) = (
            previous_plan.plan.without_tuning(),
            parameters.without_tuning(),
        );
        let same = before.resolve().ok() == now.resolve().ok();
        let same = same && before.policy().ok() == now.policy().ok();
        report.plan_changed = !(previous_plan.is_new || same);
        report.tuning = Some(found);
    }
    Ok(run)
}

impl RefreshReport {
    fn set_list_changes(&mut self, limited_list: &LimitedList) {
        self.view.seeds = number(limited_list.seeds.len());
        if let Some(policy) = &mut self.view.policy {
            policy.changes = Some(limited_list.view);
            if limited_list.view.deferred > 0 {
                let held_back = u64::from(limited_list.view.deferred);
                policy
                    .rejected
                    .insert(RejectionReason::MaxChanges, held_back);
            }
        }
    }

    fn set_unchanged(&mut self, same: &UnchangedRun, explain_cost: bool) -> Result<()> {
        let view = &mut self.view;
        if let Some(policy) = &mut view.policy {
            policy.rejected = rejections(same)?;
        }
        view.cores = number(same.sizes.len());
        view.seeds = number(same.seeds.len());
        view.cold = false;
        view.proof = Proof::of(&view.parameters, false);
        (view.steps_reused, view.steps_recomputed) = (view.cores.into(), 0);
        self.stars = Stars::count(same.sizes.iter().copied());
        let is_within = view.parameters.within.is_some_and(|of| !of.is_exact());
        self.steps = is_within.then(|| StepsView::unchanged(view.cores));
        self.components = same.record.components;
        self.components_verified = self.components;
        self.costs = explain_cost.then(Vec::new);
        Ok(())
    }

    fn set_cores(&mut self, run: &CoresRun) {
        let selection = &run.selection;
        let view = &mut self.view;
        view.cores = number(selection.cores.len());
        view.seeds = number(run.seeds().len());
        if let Some(policy) = &mut view.policy {
            policy.rejected.clone_from(&run.rejections);
        }
        let sizes = selection.cores.iter();
        self.stars = Stars::count(
            sizes.map(|core| (number(core.hubs.len()), number(core.authorities.len()))),
        );
        view.cold = run.cached.is_none() && !run.warm_start;
        self.steps = StepsView::count(&selection.steps);
        let reused = selection.reused.iter().filter(|reused| **reused);
        view.steps_reused = reused.count() as u64;
        view.steps_recomputed = u64::from(view.cores) - view.steps_reused;
        view.proof = Proof::of(&view.parameters, !selection.certified);
        let doubt = selection.uncertified_reason.as_ref();
        view.uncertified_reason = doubt.map(|(rank, doubt)| format!("core {rank}: {doubt}"));
        view.link_visits = selection.reads.visits;
        self.products = selection.reads.products;
        self.components = run.components.all;
        self.components_verified = run.components.verified;
        self.pages_loaded = run.pages_loaded;
    }
}

// Rules of new plans: the default budget, and what of a stored plan can change without replacing it.

/// Returns the number of pages that the last delta fetched, or without a delta half of the crawled pages.
/// Both are at least 1.
fn budget_of_last_batch(store: &Store) -> Result<DefaultBudget> {
    let counters = store.counters()?;
    let mut batch = counters.batch;
    while let Some(record) = store.get(&tables::BATCHES, &batch)? {
        let counts = &record.counts;
        let fetched = counts
            .records
            .saturating_sub(counts.rejected + counts.superseded + record.stale);
        match record.kind {
            BatchKind::Delta if fetched > 0 => {
                return Ok(DefaultBudget {
                    budget: fetched,
                    delta: Some(batch),
                });
            }
            BatchKind::Delta | BatchKind::Forget => batch -= 1,
            // The batch before it is undone.
            BatchKind::Undo => batch = batch.saturating_sub(2),
            BatchKind::Snapshot => break,
        }
    }
    Ok(DefaultBudget {
        budget: (counters.crawled / 2).max(1),
        delta: None,
    })
}

/// Checks that given options do not change the goal, the method or the scope of a stored plan.
pub(super) fn check_same_kind(
    given: &PlanOptions,
    stored: &PlanOptions,
) -> Result<(), EngineError> {
    let is_other_goal = given.goal.is_some() && given.goal != stored.goal;
    let is_other_method = given
        .method
        .is_some_and(|method| method != stored.method.unwrap_or_default());
    let is_other_scope = given
        .scope
        .is_some_and(|scope| scope != stored.scope.unwrap_or_default());
    let changed = [
        ("goal", is_other_goal),
        ("method", is_other_method),
        ("scope", is_other_scope),
    ];
    match changed.into_iter().find(|(_, is_changed)| *is_changed) {
        Some((parameter, _)) => Err(PlanError::NotReplaced(parameter).into()),
        None => Ok(()),
    }
}

// Result of a run, for every kind of plan.

pub(super) enum Outcome {
    Cores(Box<CoresRun>),
    SameCores(Box<UnchangedRun>),
    Cover(CoverRun),
    Web(Box<WebRun>),
}

impl Outcome {
    /// Adds what the refresh stores to `changes`, but for what other processes have. Returns what was written of page
    /// evidence, by cores.
    pub(super) fn put(
        &self,
        store: &Store,
        changes: &mut Changes,
        plan: &str,
        refresh: RefreshId,
    ) -> Result<Option<Written>> {
        match self {
            Self::Cores(run) => run.put(store, changes, plan, refresh).map(Some),
            Self::SameCores(same) => same.put(store, changes, refresh).map(Some),
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

    /// Adds what other processes have of the result to `changes`, or lets them keep it for the commit of the writer that
    /// has their parts, and `store`, open. Adds what they write of page evidence to `written`.
    pub(super) fn put_elsewhere(
        &self,
        store: &Store,
        changes: &mut Changes,
        refresh: RefreshId,
        written: Option<&mut Written>,
    ) -> Result<()> {
        match (self, written) {
            (Self::Web(run), _) => run.put_elsewhere(refresh),
            (Self::Cores(run), Some(written)) => {
                run.put_elsewhere(store, changes, refresh, written)
            }
            _ => Ok(()),
        }
    }

    pub(super) fn pages(&self, store: &Store) -> Result<Vec<PageId>> {
        match self {
            Self::Cores(run) => Ok(run.seeds().into_iter().map(|seed| seed.page).collect()),
            Self::SameCores(same) => Ok(same.seeds.clone()),
            Self::Cover(run) => run.pages(store),
            Self::Web(run) => Ok(run.pages()),
        }
    }

    pub(super) fn count(&self) -> Result<u32> {
        match self {
            Self::Cores(run) => Ok(number(run.seeds().len())),
            Self::SameCores(same) => Ok(number(same.seeds.len())),
            Self::Cover(run) => run.seeds(),
            Self::Web(run) => run.seeds(),
        }
    }

    pub(super) fn short(&self) -> ShortageReason {
        match self {
            Self::Cores(_) | Self::SameCores(_) => ShortageReason::NoLinkLeft,
            Self::Cover(_) => ShortageReason::NoPageLeft,
            Self::Web(run) => run.short(),
        }
    }

    /// Returns which refreshes picked the seeds, if this one is stored as `refresh`.
    pub(super) fn picked_by(&self, refresh: RefreshId) -> PickedBy {
        match self {
            Self::Cores(_) | Self::SameCores(_) => PickedBy::default(),
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
