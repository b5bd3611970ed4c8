//! What a refresh comes to: the plan's parameters, the run of its family, the list.

use super::answers::{
    PolicyView, RefreshReport, Shortage, ShortageReason, Stars, StepsView, TuningView,
};
use super::cores::unchanged::{self, Unchanged};
use super::cores::{self, CoresRun};
use super::cover::{self, CoverRun, Earlier};
use super::listing::{self, Listing};
use super::outcome::{Outcome, count};
use super::request::RefreshRequest;
use super::web::{self, WebRun};
use crate::engine::plan::{DEFAULT_PLAN, Plan, PlanOptions};
use crate::engine::policy::{HeldBy, Policy, Rules};
use crate::engine::{EngineError, PlanError};
use seedbank_algorithms::cover::Choice;
use seedbank_algorithms::cover::global::WebChoice;
use seedbank_algorithms::watch::Watch;
use seedbank_store::records::RefreshId;
use seedbank_store::{Reader, Store, tables};

/// What a refresh came to, before anything is stored.
pub(super) struct Computed {
    pub(super) outcome: Outcome,
    /// The list where no more than so many seeds of it may change, and there was one before.
    pub(super) listing: Option<Listing>,
    pub(super) report: RefreshReport,
}

/// Computes; stores nothing.
pub(super) fn run(
    reader: &Reader,
    plan: &str,
    request: &RefreshRequest,
    watch: &dyn Watch,
) -> Result<Computed, EngineError> {
    let plan = plan.to_owned();
    let kept = reader.get(&tables::PLANS, &plan)?;
    if kept.is_none() && plan != DEFAULT_PLAN && request.options == PlanOptions::default() {
        return Err(no_parameters(reader, plan)?);
    }
    let base = match &kept {
        Some(kept) => PlanOptions::from_kept(&kept.settings)?,
        None => PlanOptions::default(),
    };
    let mut options = request.options.clone().over(&base).settled();
    if request.tune {
        options.forget_tuning();
        (options.hops, options.fetch_cost) = (request.options.hops, request.options.fetch_cost);
    }
    let decided = options.decide()?;
    let is_open = matches!(decided, Plan::Web(choice) if choice.setting().is_none());
    if request.tune && !is_open {
        return Err(PlanError::NothingToTune.into());
    }
    let policy = options.policy()?;
    let rules = Rules::load(reader, policy, options.lists(), watch)?;
    let seats = decided.seats();
    if let Some(seeds) = seats.filter(|seeds| rules.pins.count() > *seeds) {
        let pins = rules.pins.pages.len() as u64;
        return Err(PlanError::TooManyPins { pins, seeds }.into());
    }
    let same_policy = base.policy().ok() == Some(policy);
    let plan_changed = kept.is_some() && (base.decide().ok() != Some(decided) || !same_policy);
    let previous = kept.map(|kept| kept.last_refresh);
    let mut report = RefreshReport::begun(plan, options, reader.counters()?.batch);
    report.plan_changed = plan_changed;
    report.view.policy = (policy != Policy::default()).then(|| PolicyView {
        pinned: rules.pins.count(),
        rejected_pins: rules.pins.left_out.clone(),
        ..PolicyView::default()
    });
    let earlier = Before {
        plan: &base,
        refresh: previous.filter(|_| !request.cold && !plan_changed),
        is_new: previous.is_none(),
        same_policy,
    };
    let outcome = match decided {
        Plan::Cores(plan) => {
            let same = earlier.refresh.filter(|_| policy == Policy::default());
            let same = match same {
                Some(refresh) => unchanged::find(reader, &plan, refresh, watch)?,
                None => None,
            };
            if let Some(same) = same {
                report.tell_unchanged(&same, request.explain_cost);
                report.bytes_read = reader.bytes_read();
                Outcome::SameCores(Box::new(same))
            } else {
                // Findings by cores outlive some changes of parameters.
                let run = cores::run(reader, (&plan, &rules), previous, request.cold, watch)?;
                report.tell_cores(&run);
                report.bytes_read = reader.bytes_read();
                if request.explain_cost {
                    report.costs = Some(run.costs(reader)?);
                }
                Outcome::Cores(Box::new(run))
            }
        }
        Plan::Cover(choice) => {
            let run = of_sites(reader, (&choice, &rules), earlier, &mut report, watch)?;
            report.bytes_read = reader.bytes_read();
            Outcome::Cover(run)
        }
        Plan::Web(choice) => {
            let run = over_web(reader, (&choice, &rules), earlier, &mut report, watch)?;
            report.bytes_read = reader.bytes_read();
            Outcome::Web(run)
        }
    };
    let mut listing = None;
    if let (Some(max_changes), Some(last)) = (policy.max_changes, previous) {
        let target = outcome.pages(reader)?;
        let most = seats.map_or(usize::MAX, |seats| seats as usize);
        let found = listing::listing(reader, &rules, &target, (last, most, max_changes))?;
        report.tell_listing(&found);
        listing = Some(found);
    }
    if let Some(asked) = seats.filter(|asked| report.view.seeds < *asked) {
        let is_held = listing.as_ref().is_some_and(|of| of.view.deferred > 0);
        let reason = if is_held {
            ShortageReason::MaxChanges
        } else {
            outcome.short()
        };
        report.shortage = Some(Shortage {
            requested: asked,
            reason,
        });
    }
    Ok(Computed {
        outcome,
        listing,
        report,
    })
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
    /// Whether its policies are the same.
    same_policy: bool,
}

fn of_sites(
    store: &Store,
    (choice, rules): (&Choice, &Rules),
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
    let run = cover::run(store, (choice, rules), earlier, watch)?;
    let view = &mut report.view;
    view.cold = earlier.is_none();
    view.seeds = run.seeds()?;
    (view.steps_reused, view.steps_recomputed) = run.steps();
    view.page_visits = run.page_visits;
    Ok(run)
}

fn over_web(
    store: &Store,
    (choice, rules): (&WebChoice, &Rules),
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
    let run = web::run(store, (choice, rules), earlier, watch)?;
    view.seeds = run.seeds()?;
    view.cold = run.cold;
    (view.steps_reused, view.steps_recomputed) = run.steps();
    view.page_visits = run.page_visits;
    if let Some((setting, tuning)) = &run.tuning {
        let found = TuningView::new(choice, *setting, tuning);
        let parameters = &mut view.parameters;
        parameters.keep_tuning(*setting, found.tuned(view.batch));
        let same = before.plan.decide().ok() == parameters.decide().ok();
        report.plan_changed = !(before.is_new || same && before.same_policy);
        report.tuning = Some(found);
    }
    Ok(run)
}

impl RefreshReport {
    fn tell_listing(&mut self, listing: &Listing) {
        self.view.seeds = count(listing.seeds.len());
        if let Some(told) = &mut self.view.policy {
            told.changes = Some(listing.view);
            if listing.view.deferred > 0 {
                let held_back = u64::from(listing.view.deferred);
                told.rejected.insert(HeldBy::MaxChanges, held_back);
            }
        }
    }

    fn tell_unchanged(&mut self, same: &Unchanged, explain_cost: bool) {
        let view = &mut self.view;
        view.cores = count(same.sizes.len());
        view.seeds = count(same.seeds.len());
        (view.cold, view.certified) = (false, true);
        (view.steps_reused, view.steps_recomputed) = (view.cores.into(), 0);
        self.stars = Stars::of(same.sizes.iter().copied());
        let is_within = view.parameters.within.is_some_and(|of| !of.is_exact());
        self.steps = is_within.then(|| StepsView::unchanged(view.cores));
        self.components = same.record.components;
        self.components_verified = self.components;
        self.costs = explain_cost.then(Vec::new);
    }

    fn tell_cores(&mut self, run: &CoresRun) {
        let selection = &run.selection;
        let view = &mut self.view;
        view.cores = count(selection.cores.len());
        view.seeds = count(run.seeds().len());
        if let Some(policy) = &mut view.policy {
            policy.rejected.clone_from(&run.held);
        }
        let sizes = selection.cores.iter();
        self.stars =
            Stars::of(sizes.map(|core| (count(core.hubs.len()), count(core.authorities.len()))));
        view.cold = run.earlier.is_none() && !run.began_with_steps;
        self.steps = StepsView::of(&selection.steps);
        let reused = selection.reused.iter().filter(|reused| **reused);
        view.steps_reused = reused.count() as u64;
        view.steps_recomputed = u64::from(view.cores) - view.steps_reused;
        view.certified = selection.certified;
        let doubt = selection.uncertified_reason.as_ref();
        view.uncertified_reason = doubt.map(|(rank, doubt)| format!("core {rank}: {doubt}"));
        view.link_visits = selection.reads.visits;
        self.products = selection.reads.products;
        self.components = run.components.all;
        self.components_verified = run.components.verified;
        self.pages_loaded = run.pages_loaded;
    }
}
