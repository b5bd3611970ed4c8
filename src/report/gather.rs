//! Queries the bank for a report: seeds, cores and history; and runs the experiments.

use std::collections::{BTreeMap, BTreeSet};

use super::answers::{CoreMembers, CoreSummary, Report, ReportSeed, SiteShare};

use crate::engine::error::PlanError;
use crate::engine::evaluate::{
    BudgetRequest, ComparedWith, CoverageRequest, CrawlRequest, DistancesRequest, SeedList,
};
use crate::engine::query::{Change, CoreView, DiffRequest, ScoredUrl, SeedDiff, Turnover};
use crate::engine::refresh::RefreshView;
use crate::engine::{Bank, EngineError, PlanOptions, Which};
use seedbank_formats::ingest::{self, Naming};

/// The number of best authorities of a core.
const BEST: usize = 10;
/// The number of cores with their pages.
pub(super) const WITH_MEMBERS: u32 = 200;
/// The number of pages of each side of such a core.
const MEMBERS: usize = 50;
/// The number of the plan's refreshes that are compared with the previous one.
const TURNOVERS: usize = 12;

/// A request for a report.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::report::{self, Commands, ReportRequest};
///
/// let report = bank.report(&ReportRequest::default())?;
/// let html = report::page(&report, "report.json", &Commands::default());
/// assert!(html.contains("http://a.example/"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReportRequest {
    /// The refresh.
    pub which: Which,
    /// Whether to run the experiments. Without them the verdict is the one that the refresh stored, if any.
    pub evaluate: bool,
    /// The number of random seed sets to compare with; standard errors require at least 2.
    pub draws: u32,
    /// How often plans select again with a tenth of the crawled pages held out; standard errors require at
    /// least 2.
    pub holdouts: u32,
    /// The most sites on which cover methods are compared.
    pub max_sites: u32,
    /// The seed of the random streams.
    pub rng_seed: u64,
}

impl Default for ReportRequest {
    fn default() -> Self {
        Self {
            which: Which::default(),
            evaluate: false,
            draws: 20,
            holdouts: 5,
            max_sites: 100,
            rng_seed: 0,
        }
    }
}

impl Bank {
    /// Gathers the report on a refresh, from one published state.
    ///
    /// Cost: a scan of the sites, the seeds and cores of the refresh, and the seeds of the plan's twelve
    /// previous refreshes, and the fetches that crawlers attributed to seeds of the list; with experiments, also the
    /// whole graph.
    pub fn report(&self, request: &ReportRequest) -> Result<Report, EngineError> {
        let watch = self.watch();
        watch.stage("gather", None);
        let bank = self.pinned()?;
        let refresh = bank.refresh_view(&request.which)?;
        let kept = bank.history()?.refreshes;
        let of_plan = |other: &&RefreshView| other.plan == refresh.plan;
        let earlier = kept.iter().filter(of_plan);
        let earlier = earlier.filter(|other| other.refresh < refresh.refresh);
        let status = bank.status()?;
        watch.proceed()?;
        let mut report = Report {
            bank: bank.name(),
            method: refresh.method(),
            previous_refreshes: earlier.cloned().collect(),
            refresh,
            sites: status.sites,
            counters: status.counters,
            seeds: Vec::new(),
            cores: Vec::new(),
            crawl: None,
            distances: None,
            coverage: None,
            budget: None,
            skipped: Vec::new(),
            results: None,
            changes: None,
            turnover: Vec::new(),
        };
        let which = by_number(&report.refresh);
        for core in bank.cores(&which)? {
            watch.proceed()?;
            report.cores.push(summary(core?, status.naming()));
        }
        report.results = bank.last_seed_results(&which, u64::MAX)?;
        report.changes = bank.changes(&report)?;
        report.turnover = bank.last_turnovers(&report)?;
        let gained: Option<BTreeSet<&str>> = report.changes.as_ref().map(|changes| {
            let seeds = changes.seeds.iter();
            let gained = seeds.filter(|seed| seed.change == Change::Gained);
            gained.map(|seed| seed.url.as_str()).collect()
        });
        let dead = bank.dead_seeds(&which)?;
        let seeds = bank.seeds(&which)?.collect::<Result<Vec<_>, _>>()?;
        let seeds = seeds.into_iter().map(|seed| ReportSeed {
            in_previous: gained.as_ref().map(|new| !new.contains(&*seed.url)),
            dead: dead.get(&seed.rank).copied(),
            seed,
        });
        report.seeds = seeds.collect();
        if request.evaluate {
            bank.measure(request, &kept, &mut report)?;
        }
        Ok(report)
    }

    /// The changes since the plan's previous refresh; `None` if none is stored.
    fn changes(&self, report: &Report) -> Result<Option<SeedDiff>, EngineError> {
        let Some(earlier) = report.previous_refreshes.last() else {
            return Ok(None);
        };
        let request = DiffRequest {
            refreshes: vec![earlier.refresh, report.refresh.refresh],
            ..DiffRequest::default()
        };
        self.diff(&request).map(Some)
    }

    /// The seeds that the plan's last refreshes kept, gained and lost.
    fn last_turnovers(&self, report: &Report) -> Result<Vec<Turnover>, EngineError> {
        let earlier = report
            .previous_refreshes
            .iter()
            .map(|earlier| earlier.refresh);
        let all: Vec<_> = earlier.chain([report.refresh.refresh]).collect();
        // One more refresh, with which the first is compared.
        let first = all.len().saturating_sub(TURNOVERS + 1);
        self.turnover(&all[first..])
    }
}

/// Selects a refresh by its number, since its plan may be refreshed meanwhile.
fn by_number(refresh: &RefreshView) -> Which {
    Which {
        plan: None,
        refresh: Some(refresh.refresh),
    }
}

fn summary(core: CoreView, naming: Naming) -> CoreSummary {
    let members = (core.rank <= WITH_MEMBERS).then(|| CoreMembers {
        hubs: scored(&core.hubs, &core.hub_scores),
        authorities: scored(&core.authorities, &core.authority_scores),
    });
    CoreSummary {
        rank: core.rank,
        sigma: core.sigma,
        density: core.density,
        hubs: core.hubs.len() as u64,
        authorities: core.authorities.len() as u64,
        hub_sites: sites(&core.hubs, naming),
        authority_sites: sites(&core.authorities, naming),
        best_authorities: core.authorities.into_iter().take(BEST).collect(),
        seed: core.seed,
        members,
    }
}

/// The first pages of one side of a core, with their scores.
fn scored(urls: &[String], scores: &[f64]) -> Vec<ScoredUrl> {
    let pages = urls.iter().zip(scores).take(MEMBERS);
    pages
        .map(|(url, score)| ScoredUrl {
            url: url.clone(),
            score: *score,
        })
        .collect()
}

/// The sites of pages with their numbers of pages, descending, ties by name.
fn sites(urls: &[String], naming: Naming) -> Vec<SiteShare> {
    // URLs of the bank are normalised, so they parse.
    let locations = urls
        .iter()
        .filter_map(|url| ingest::parse(url, naming).ok());
    SiteShare::count(locations.map(|location| location.site))
}

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
                crawl: None,
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
        // Many banks have no site of the published size.
        min_pages: 10,
        // Each number of hops costs a run.
        hops: plan.hops.unwrap_or(usual.hops).clamp(1, 10),
        max_sites: request.max_sites,
        draws: request.draws.min(usual.draws),
        rng_seed: request.rng_seed,
        value: plan.clone(),
        ..usual
    }
}
