//! The experiments of a report: those of [`evaluate`](Bank::evaluate_crawl) with smaller samples, which take
//! minutes instead of hours. The report states the sizes.

use std::collections::BTreeMap;

use super::answers::Report;
use super::gather::{ReportRequest, by_number};
use crate::engine::error::PlanError;
use crate::engine::evaluate::{
    BudgetRequest, ComparedWith, CoverageRequest, CrawlRequest, DistancesRequest, SeedList,
};
use crate::engine::refresh::RefreshView;
use crate::engine::{Bank, EngineError, PlanOptions};

/// The most cores between which distances are measured; the map shows no more.
const CORES: u32 = 40;
/// The sample of pages for the average distance of the web.
const SAMPLES: u32 = 200;
/// The budget is the number of pages of the web divided by this.
const BUDGET_DIVISOR: u64 = 20;
/// The most other plans to compare with.
const MAX_OTHER_PLANS: usize = 5;

impl Bank {
    /// Runs the experiments that apply to the refresh. `stored` are all refreshes of the bank.
    pub(super) fn measure(
        &self,
        request: &ReportRequest,
        stored: &[RefreshView],
        report: &mut Report,
    ) -> Result<(), EngineError> {
        let which = by_number(&report.refresh);
        let rng_seed = request.rng_seed;
        if !report.seeds.is_empty() {
            let crawl = CrawlRequest {
                list: SeedList::Refresh(which.clone()),
                draws: request.draws,
                rng_seed,
                top: 0,
                compared_with: ComparedWith::Baselines,
                holdouts: request.holdouts,
                ..CrawlRequest::default()
            };
            report.crawl = or_left_out(report, self.evaluate_crawl(&crawl))?;
        }
        if report.cores.len() > 1 {
            let distances = DistancesRequest {
                which,
                cores: CORES,
                samples: SAMPLES,
                rng_seed,
            };
            report.distances = or_left_out(report, self.evaluate_distances(&distances))?;
        }
        if !report.seeds.is_empty() {
            let web = report.counters.crawled + report.counters.known;
            let budget = BudgetRequest {
                lists: lists(&report.refresh, stored),
                pages: (web / BUDGET_DIVISOR).max(100),
            };
            report.budget = or_left_out(report, self.evaluate_budget(&budget))?;
        }
        let coverage = coverage_request(request, &report.refresh.parameters);
        report.coverage = or_left_out(report, self.evaluate_coverage(&coverage))?;
        Ok(())
    }
}

/// The refresh, and the last refreshes of other plans.
fn lists(refresh: &RefreshView, stored: &[RefreshView]) -> Vec<SeedList> {
    let others = stored
        .iter()
        .filter(|other| other.plan != refresh.plan && other.seeds > 0);
    let last: BTreeMap<&str, &RefreshView> = others.map(|other| (&*other.plan, other)).collect();
    let lists = [refresh]
        .into_iter()
        .chain(last.into_values().take(MAX_OTHER_PLANS));
    lists
        .map(|other| SeedList::Refresh(by_number(other)))
        .collect()
}

/// Turns an experiment that does not apply to the bank into `None`, and records the reason in the report.
/// Other errors are returned.
fn or_left_out<T>(
    report: &mut Report,
    found: Result<T, EngineError>,
) -> Result<Option<T>, EngineError> {
    let why = match found {
        Ok(found) => return Ok(Some(found)),
        Err(EngineError::Experiment(why)) => why.to_string(),
        Err(EngineError::Plan(PlanError::Values { site, source })) => {
            format!("site {site}: {source}")
        }
        Err(e) => return Err(e),
    };
    report.skipped.push(why);
    Ok(None)
}

/// A request with the plan's own values, so that methods are compared by the goal of the plan.
fn coverage_request(request: &ReportRequest, plan: &PlanOptions) -> CoverageRequest {
    let usual = CoverageRequest::default();
    CoverageRequest {
        // Each number of hops costs a run.
        hops: plan.hops.unwrap_or(usual.hops).clamp(1, 10),
        max_sites: request.max_sites,
        draws: request.draws.min(usual.draws),
        rng_seed: request.rng_seed,
        value: plan.clone(),
        ..usual
    }
}
