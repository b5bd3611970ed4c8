//! The experiments of a report: those of [`evaluate`](Bank::evaluate_crawl) with a smaller sample, so
//! that a report costs minutes where they can cost hours; it says how large the sample was.

use std::collections::BTreeMap;

use super::answers::Report;
use super::gather::{ReportRequest, by_number};
use crate::engine::{
    Bank, Beside, BudgetRequest, CoverageRequest, CrawlRequest, DistancesRequest, EngineError,
    PlanError, PlanOptions, RefreshView, SeedList,
};
use seedbank_algorithms::watch::Watch;

/// More cores than the map of distances shows are not measured.
const CORES: u32 = 40;
/// Pages from which the average distance of the web is sampled.
const SAMPLES: u32 = 200;
/// A crawl of one page in so many of the web is the budget.
const BUDGET: u64 = 20;
/// How many other plans are set beside this one.
const PLANS: usize = 5;

impl Bank {
    /// Runs the experiments that make sense for the refresh; `kept` are all refreshes of the bank.
    pub(super) fn measure(
        &self,
        request: &ReportRequest,
        kept: &[RefreshView],
        report: &mut Report,
        watch: &dyn Watch,
    ) -> Result<(), EngineError> {
        let which = by_number(&report.refresh);
        let rng_seed = request.rng_seed;
        if !report.seeds.is_empty() {
            let asked = CrawlRequest {
                list: SeedList::Refresh(which.clone()),
                draws: request.draws,
                rng_seed,
                top: 0,
                beside: Beside::Methods,
                holdouts: request.holdouts,
                ..CrawlRequest::default()
            };
            report.crawl = made(report, self.evaluate_crawl(&asked, watch))?;
        }
        if report.cores.len() > 1 {
            let asked = DistancesRequest {
                which,
                cores: CORES,
                samples: SAMPLES,
                rng_seed,
            };
            report.distances = made(report, self.evaluate_distances(&asked, watch))?;
        }
        if !report.seeds.is_empty() {
            let web = report.counters.crawled + report.counters.known;
            let asked = BudgetRequest {
                lists: lists(&report.refresh, kept),
                pages: (web / BUDGET).max(100),
            };
            report.budget = made(report, self.evaluate_budget(&asked, watch))?;
        }
        let asked = coverage_request(request, &report.refresh.parameters);
        report.coverage = made(report, self.evaluate_coverage(&asked, watch))?;
        Ok(())
    }
}

/// The refresh, and the last ones of other plans.
fn lists(refresh: &RefreshView, kept: &[RefreshView]) -> Vec<SeedList> {
    let others = kept
        .iter()
        .filter(|other| other.plan != refresh.plan && other.seeds > 0);
    let last: BTreeMap<&str, &RefreshView> = others.map(|other| (&*other.plan, other)).collect();
    let lists = [refresh].into_iter().chain(last.into_values().take(PLANS));
    lists
        .map(|other| SeedList::Refresh(by_number(other)))
        .collect()
}

/// An experiment that makes no sense on this bank is left out, and the report says why; any other
/// error is one of the report.
fn made<T>(report: &mut Report, found: Result<T, EngineError>) -> Result<Option<T>, EngineError> {
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

/// The plan's own values, so that the methods are compared by what it is for.
fn coverage_request(request: &ReportRequest, plan: &PlanOptions) -> CoverageRequest {
    let usual = CoverageRequest::default();
    CoverageRequest {
        // More would say little and cost a run each.
        hops: plan.hops.unwrap_or(usual.hops).clamp(1, 10),
        max_sites: request.max_sites,
        draws: request.draws.min(usual.draws),
        rng_seed: request.rng_seed,
        value: plan.clone(),
        ..usual
    }
}
