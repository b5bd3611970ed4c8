//! Refresh: runs a plan.
//!
//! A refresh computes on the published state and takes the writer's lock only to store the result,
//! so batches can be ingested meanwhile. The rest depends on the kind of plan: `cores`, `cover`
//! or `global`.

mod churn_limit;
mod compute;
pub(crate) mod cores;
pub(crate) mod cover;
mod delete;
mod dry_run;
pub(crate) mod global;
mod judged;
mod memory;
mod page_sets;
#[cfg(test)]
mod process_stores_tests;
mod report;
mod request;
pub(crate) mod run_context;
mod share_request;
pub(crate) mod share_service;
mod shared_job;
mod site_processes;

// Types of requests and answers that other crates declare.
pub use seedbank_store::records::RefreshId;

pub use churn_limit::ListChanges;
pub use cores::recomputed::{RecomputeReason, RecomputedCores, SiteChange};
pub use delete::DeletedPlan;
pub(crate) use dry_run::UnstoredRefresh;
pub(crate) use judged::{Judge, Judged};
pub use report::{
    Candidates, DefaultBudget, EarlierRefreshes, KeptSeeds, LeadingList, PolicyView, Proof,
    RefreshReport, RefreshView, Shortage, ShortageReason, Stars, StepsView, TrialView, TuningView,
};
pub use request::RefreshRequest;

use std::time::Instant;

use super::clock::now;
use super::{Bank, EngineError, Result};
use crate::engine::history::timeline;
use crate::engine::plan::HeldOutVerdict;
use crate::engine::policy::Caps;
use churn_limit::LimitedList;
use compute::Outcome;
use compute::{Computed, run};
use cores::page_evidence;
use seedbank_algorithms::watch::Watch;
use seedbank_store::records::PlanRecord;
use seedbank_store::tables;
use seedbank_store::{Changes, Writer};

/// See [`Bank::refresh_then`].
pub(crate) fn refresh(
    bank: &Bank,
    request: &RefreshRequest,
    judge: Judge,
    mut stored: impl FnMut(&RefreshReport),
    watch: &dyn Watch,
) -> Result<RefreshReport> {
    let begun = Instant::now();
    let plan = request.named()?;
    if !request.wait {
        Writer::probe(bank.path())?;
    }
    loop {
        let reader = bank.open_state()?;
        let last_refresh = |stored: Option<PlanRecord>| stored.map(|stored| stored.last_refresh);
        let before = last_refresh(reader.get(&tables::PLANS, &plan.to_owned())?);
        let Computed {
            outcome,
            limited_list,
            mut report,
            judged,
        } = run(&reader, plan, request, watch, bank.local_process())?;
        // A state that is open is not removed once a later one is stored.
        let reader = judged.is_some().then_some(reader);
        watch.stage("commit", None);
        // The computed result is worth waiting for the lock.
        let writer = bank.open_writer(true, watch)?;
        // The plan's parameters and its previous list are part of the input. Another process may have refreshed it, or the
        // last command was killed before readers saw its refresh.
        let is_valid = last_refresh(writer.get(&tables::PLANS, &report.view.plan)?) == before;
        // Otherwise later refreshes could not determine what changed since this state.
        let has_history = report.view.batch >= timeline::known_since(&writer)?;
        if is_valid && has_history {
            let limited = limited_list.as_ref();
            store(
                &writer,
                request,
                &outcome,
                limited,
                &mut report,
                begun,
                watch,
            )?;
            drop(writer);
            if let Some((judged, reader)) = judged.zip(reader) {
                stored(&report);
                drop((outcome, limited_list));
                let verdict = judge(&reader, &judged, watch);
                match verdict.and_then(|of| store_verdict(bank, of, &mut report, watch)) {
                    // The list is stored.
                    Err(EngineError::Interrupted(_)) => report.is_unjudged = true,
                    result => result?,
                }
            }
            return Ok(report);
        }
    }
}

/// Stores the verdict on a list with its plan and its refresh, unless the plan has another refresh by now.
fn store_verdict(
    bank: &Bank,
    verdict: Option<HeldOutVerdict>,
    report: &mut RefreshReport,
    watch: &dyn Watch,
) -> Result<()> {
    let Some(verdict) = verdict else {
        return Ok(());
    };
    let writer = bank.open_writer(true, watch)?;
    report.view.parameters.judged = Some(verdict.clone());
    report.verdict = Some(verdict);
    let (plan, refresh) = (&report.view.plan, report.view.refresh);
    let record = writer.get(&tables::PLANS, plan)?;
    if let Some(mut record) = record.filter(|record| record.last_refresh == refresh) {
        let mut changes = Changes::new(&writer.spill_folder(), 1 << 20);
        record.settings = report.view.parameters.to_stored()?;
        let mut of_refresh = writer.need(&tables::REFRESHES, &refresh)?;
        of_refresh.settings.clone_from(&record.settings);
        changes.put(&tables::PLANS, plan, &record)?;
        changes.put(&tables::REFRESHES, &refresh, &of_refresh)?;
        writer.commit(changes, writer.counters()?)?;
    }
    Ok(())
}

/// Stores a refresh, and deletes older ones beyond the limit of the request.
fn store(
    writer: &Writer,
    request: &RefreshRequest,
    outcome: &Outcome,
    limited_list: Option<&LimitedList>,
    report: &mut RefreshReport,
    begun: Instant,
    watch: &dyn Watch,
) -> Result<()> {
    let mut counters = writer.counters()?;
    counters.refresh += 1;
    report.view.refresh = counters.refresh;
    // Cached results are small; larger amounts are loaded in bulk.
    let mut changes = Changes::new(&writer.spill_folder(), 64 << 20);
    let refresh = counters.refresh;
    let mut standings = outcome.put(writer, &mut changes, &report.view.plan, refresh)?;
    outcome.put_elsewhere(writer, &mut changes, refresh, standings.as_mut())?;
    let mut list = outcome.pages(writer)?;
    let parameters = &report.view.parameters;
    let policy = parameters.policy()?;
    if policy.has_caps() {
        let sites = list.iter().map(|page| page.site());
        for (name, rank) in Caps::full(&policy, writer, sites)? {
            changes.put_full_cap(refresh, name, rank)?;
        }
    }
    let mut chosen = None;
    if let Some(limited_list) = limited_list.filter(|limited_list| limited_list.differs()) {
        limited_list.put(&mut changes, refresh)?;
        chosen = Some(outcome.count()?);
        list.clone_from(&limited_list.seeds);
    }
    parameters.lists().put(writer, &mut changes)?;
    let plan = PlanRecord {
        settings: parameters.to_stored()?,
        last_refresh: refresh,
        lists: policy.lists(),
    };
    changes.put(&tables::PLANS, &report.view.plan, &plan)?;
    // Only the last gains of a plan are reused.
    let previous = writer.get(&tables::PLANS, &report.view.plan)?;
    if let Some(previous) = &previous {
        let since = global::picked_by(writer, previous.last_refresh)?;
        if let Some(since) = since.filter(|_| since != outcome.picked_by(refresh).over_web) {
            global::delete_gains(writer, &mut changes, since)?;
        }
    }
    // Delete what only the pruned refreshes needed.
    if let Some(keep) = request.keep {
        let picked_by = outcome.picked_by(refresh);
        report.pruned = delete::prune(writer, &mut changes, &report.view.plan, keep, picked_by)?;
        timeline::prune(writer, &mut changes, &report.pruned, report.view.batch)?;
        let written = standings.as_ref();
        page_evidence::delete_unseen(writer, &mut changes, &report.pruned, refresh, written)?;
        let (name, lists) = (&report.view.plan, &plan.lists);
        delete::delete_unreferenced(writer, &mut changes, &report.pruned, name, lists)?;
    }
    if let Some(previous) = &previous {
        let (name, before) = (&report.view.plan, previous.last_refresh);
        report.earlier = EarlierRefreshes::find(writer, name, before, &report.pruned, &list)?;
    }
    report.bytes_read_storing = writer.bytes_read();
    report.bytes_read += report.bytes_read_storing;
    report.view.seconds = begun.elapsed().as_secs_f64();
    report.peak_memory = memory::peak();
    report.view.at = now();
    let record = report.record(standings.map(|written| written.record), chosen)?;
    changes.put(&tables::REFRESHES, &refresh, &record)?;
    watch.proceed()?;
    Ok(writer.commit(changes, counters)?)
}
