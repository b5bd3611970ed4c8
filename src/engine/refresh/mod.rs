//! Refresh: one run of a plan.
//!
//! It computes on the published state and takes the writer's lock only to store what came out,
//! so an ingest can go on meanwhile. What a refresh does beside that is the business of its
//! family: [`cores`], [`cover`] or [`web`].

mod answers;
mod compute;
pub(crate) mod cores;
pub(crate) mod cover;
mod delete;
mod listing;
mod lists;
mod memory;
mod outcome;
mod prune;
mod request;
mod trial;
pub(crate) mod web;

pub use answers::{
    PolicyView, RefreshReport, RefreshView, Shortage, ShortageReason, Stars, StepsView, TrialView,
    TuningView,
};
pub use cores::cost::{Cost, Reason, SiteChange};
pub use delete::DeletedPlan;
pub use listing::ChangesView;
pub use request::RefreshRequest;
pub(crate) use trial::Trial;

use std::time::Instant;

use super::clock::now;
use super::{Bank, EngineError};
use crate::engine::history::timeline;
use compute::{Computed, run};
use cores::standings;
use listing::Listing;
use outcome::Outcome;
use seedbank_algorithms::watch::Watch;
use seedbank_store::records::PlanRecord;
use seedbank_store::tables;
use seedbank_store::{Changes, Reader, Writer};

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
    /// [`cores::select`]: seedbank_algorithms::cores::select
    /// [`cover::select_chosen`]: seedbank_algorithms::cover::select_chosen
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
            let Computed {
                outcome,
                listing,
                mut report,
            } = run(&reader, plan, request, watch)?;
            drop(reader);
            watch.stage("commit", None);
            // What was computed is worth waiting for.
            let writer = Writer::open(self.path(), true, watch)?;
            let kept = writer.get(&tables::PLANS, &report.view.plan)?;
            let last = kept.map(|kept| kept.last_refresh);
            let of_list = listing.as_ref().map(|listing| listing.last);
            let leans_well = [outcome.leans_on(), of_list]
                .into_iter()
                .flatten()
                .all(|earlier| last == Some(earlier));
            // Else what changed since could not be told any more.
            let is_known = report.view.batch >= timeline::known_since(&writer)?;
            if leans_well && is_known {
                let outcome = (&outcome, listing.as_ref());
                keep(&writer, request, outcome, &mut report, begun, watch)?;
                return Ok(report);
            }
        }
    }
}

/// Stores a refresh, and deletes what `--keep` says.
fn keep(
    writer: &Writer,
    request: &RefreshRequest,
    (outcome, listing): (&Outcome, Option<&Listing>),
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
    let mut chosen = None;
    if let Some(listing) = listing.filter(|listing| listing.differs()) {
        listing.put(&mut changes, report.view.refresh)?;
        chosen = Some(outcome.count()?);
    }
    let parameters = &report.view.parameters;
    parameters.lists().put(writer, &mut changes)?;
    let plan = PlanRecord {
        settings: parameters.to_kept()?,
        last_refresh: report.view.refresh,
        lists: parameters.policy()?.lists(),
    };
    changes.put(&tables::PLANS, &report.view.plan, &plan)?;
    if let Some(keep) = request.keep {
        let picked_by = outcome.picked_by(report.view.refresh);
        report.pruned = prune::prune(writer, &mut changes, &report.view.plan, keep, picked_by)?;
        timeline::prune(writer, &mut changes, &report.pruned, report.view.batch)?;
        let new = (report.view.refresh, standings.as_ref());
        standings::delete_unseen(writer, &mut changes, &report.pruned, new)?;
        let of_plan = (report.view.plan.as_str(), &plan.lists[..]);
        lists::delete_unnamed(writer, &mut changes, &report.pruned, of_plan)?;
    }
    report.bytes_read_storing = writer.bytes_read();
    report.bytes_read += report.bytes_read_storing;
    report.view.seconds = begun.elapsed().as_secs_f64();
    report.peak_memory = memory::peak();
    report.view.at = now();
    let record = report.record(standings.map(|written| written.record), chosen)?;
    changes.put(&tables::REFRESHES, &report.view.refresh, &record)?;
    watch.proceed()?;
    Ok(writer.commit(changes, counters)?)
}
