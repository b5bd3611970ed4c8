//! The experiments of a report, in the words that the page uses: shares in per cent, PageRank in
//! times the average page.

use std::collections::BTreeMap;

use super::ReportRequest;
use crate::engine::evaluate::{
    BudgetEvaluation, BudgetRequest, BudgetRow, Claim as Found, CoverageCurve, CoverageEvaluation,
    CrawlEvaluation, CrawlRequest, DistancesEvaluation, DistancesRequest, SeedList,
};
use crate::engine::plan::PlanOptions;
use crate::engine::{Bank, CoverageRequest, EngineError, PlanError, Which};
use crate::evaluate::Estimate;
use crate::report::{
    Budget, BudgetLine, Claim, Coverage, CoveragePoint, Crawl, CrawlDepth, Distances, Mean,
    MethodCurve, Report,
};
use crate::watch::Watch;

/// More cores than the map of distances shows are not measured.
const CORES: u32 = 40;
/// Pages from which the average distance of the web is sampled.
const SAMPLES: u32 = 200;
/// A crawl of one page in so many of the web is the budget.
const BUDGET: u64 = 20;
/// How many other plans are set beside this one.
const PLANS: usize = 5;

impl Bank {
    /// Runs the experiments that make sense for the refresh.
    pub(super) fn measure(
        &self,
        request: &ReportRequest,
        which: &Which,
        plan: &PlanOptions,
        report: &mut Report,
        watch: &dyn Watch,
    ) -> Result<(), EngineError> {
        let by_cores = !report.cores.is_empty();
        if !report.seeds.is_empty() {
            let asked = CrawlRequest {
                list: SeedList::Refresh(which.clone()),
                draws: request.draws,
                rng_seed: request.rng_seed,
                top: 0,
                ..CrawlRequest::default()
            };
            let found = self.evaluate_crawl(&asked, watch);
            if let Some(crawl) = made(report, found)? {
                if by_cores {
                    claim(report, &crawl.claims);
                }
                report.crawl = Some(crawled(&crawl));
            }
        }
        if report.cores.len() > 1 {
            let asked = DistancesRequest {
                which: which.clone(),
                cores: CORES,
                samples: SAMPLES,
                rng_seed: request.rng_seed,
            };
            let found = self.evaluate_distances(&asked, watch);
            if let Some(distances) = made(report, found)? {
                claim(report, &distances.claims);
                report.distances = Some(measured(&distances));
            }
        }
        if !report.seeds.is_empty() {
            let asked = BudgetRequest {
                lists: self.lists(which, report)?,
                pages: ((report.web.crawled + report.web.known) / BUDGET).max(100),
            };
            let found = self.evaluate_budget(&asked, watch);
            if let Some(budget) = made(report, found)? {
                report.budget = Some(spent(&budget));
            }
        }
        let asked = coverage_request(request, plan);
        let found = self.evaluate_coverage(&asked, watch);
        if let Some(coverage) = made(report, found)? {
            claim(report, &coverage.claims);
            report.coverage = Some(covered(&coverage, &asked));
        }
        Ok(())
    }
}

impl Bank {
    /// The refresh, and the last ones of other plans.
    fn lists(&self, which: &Which, report: &Report) -> Result<Vec<SeedList>, EngineError> {
        let mut others = BTreeMap::new();
        for refresh in self.history()?.refreshes {
            if refresh.plan != report.plan && refresh.seeds > 0 {
                others.insert(refresh.plan, refresh.refresh);
            }
        }
        let mut lists = vec![SeedList::Refresh(which.clone())];
        lists.extend(others.into_values().take(PLANS).map(|refresh| {
            SeedList::Refresh(Which {
                plan: None,
                refresh: Some(refresh),
            })
        }));
        Ok(lists)
    }
}

fn spent(found: &BudgetEvaluation) -> Budget {
    let line = |row: &BudgetRow| BudgetLine {
        name: row.list.name.clone(),
        pages: row.pages,
        value: row.value,
        clicks: row.clicks,
        spam: row.spam,
        pagerank: 100.0 * row.pagerank,
    };
    Budget {
        pages: found.budget,
        lists: found.lists.iter().map(line).collect(),
    }
}

/// An experiment that makes no sense on this bank is left out, and the report says why; any other
/// error is one of the report.
fn made<T>(report: &mut Report, found: Result<T, EngineError>) -> Result<Option<T>, EngineError> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(EngineError::Experiment(why)) => {
            report.left_out.push(why.to_string());
            Ok(None)
        }
        Err(EngineError::Plan(PlanError::Values { site, source })) => {
            report.left_out.push(format!("site {site}: {source}"));
            Ok(None)
        }
        Err(e) => Err(e),
    }
}

fn claim(report: &mut Report, found: &[Found]) {
    report.claims.extend(found.iter().map(|claim| Claim {
        holds: claim.holds,
        text: claim.text.clone(),
    }));
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
        value_base: plan.value_base.unwrap_or(usual.value_base),
        value_spam: plan.value_spam.unwrap_or(usual.value_spam),
        value_clicked: plan.value_clicked.unwrap_or(usual.value_clicked),
        p_uniq: plan.p_uniq.or(usual.p_uniq),
        ..usual
    }
}

fn mean(estimate: Estimate) -> Mean {
    Mean {
        mean: estimate.mean,
        // One observation tells nothing of its error.
        error: estimate.standard_error.unwrap_or(f64::NAN),
    }
}

fn crawled(found: &CrawlEvaluation) -> Crawl {
    // PageRank adds up to 1, so this makes the average page 1.
    let web = found.state.pages as f64;
    let (mut pagerank, mut pagerank_random) = (0.0, Mean::default());
    let depths = found.depths.iter().map(|depth| CrawlDepth {
        depth: depth.depth,
        reached: depth.pages,
        reached_random: mean(depth.random.pages),
        pagerank: {
            pagerank += 100.0 * depth.pagerank;
            pagerank
        },
        pagerank_random: {
            let here = mean(depth.random.pagerank.times(100.0));
            pagerank_random.mean += here.mean;
            pagerank_random.error += here.error;
            pagerank_random
        },
        rank: depth.mean_pagerank.map(|rank| rank * web),
        rank_random: depth.random.mean_pagerank.map(|rank| mean(rank.times(web))),
        spam: depth.spam_share.map(|share| share * 100.0),
        spam_random: depth
            .random
            .spam_share
            .map(|share| mean(share.times(100.0))),
        value: depth.value,
        value_random: mean(depth.random.value),
    });
    Crawl {
        seeds: found.list.seeds,
        dead: found.list.dead,
        draws: found.draws,
        web: found.state.pages,
        depths: depths.collect(),
    }
}

fn measured(found: &DistancesEvaluation) -> Distances {
    Distances {
        matrix: found.distances.clone(),
        mean: found.all.mean,
        neighbours: found.neighbours.mean,
        unreachable: found.all.unreachable,
        average: found.graph.mean.map(mean),
    }
}

fn covered(found: &CoverageEvaluation, asked: &CoverageRequest) -> Coverage {
    Coverage {
        sites: found.sites,
        sites_all: found.eligible_sites,
        min_pages: found.min_pages,
        hops: asked.hops,
        per_site: asked.fixed_seeds,
        draws: found.draws,
        by_seeds: found.by_seeds.iter().map(curve).collect(),
        by_hops: found.by_hops.iter().map(curve).collect(),
    }
}

fn curve(found: &CoverageCurve) -> MethodCurve {
    let points = found.points.iter().map(|point| CoveragePoint {
        per_site: point.seeds,
        hops: point.hops,
        pages: mean(point.pages.percent),
        value: mean(point.value.percent),
        more_pages: point.pages.improvement.map(mean),
        more_value: point.value.improvement.map(mean),
    });
    MethodCurve {
        method: found.method.name().to_owned(),
        depth: found.depth,
        points: points.collect(),
    }
}
