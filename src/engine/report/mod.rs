//! Gathers what a report tells: what a refresh kept, what changed since the one before it, and the
//! experiments on the state as it is now.
//!
//! The experiments are those of [`evaluate`](super::Bank::evaluate_crawl) with a smaller sample, so
//! that a report costs minutes where they can cost hours; it says how large the sample was.

mod changes;
mod measured;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::plan::{DEFAULT_PLAN, Method, PlanOptions};
use super::{Bank, EngineError};
use crate::engine::ask::answers::{CoreView, Evidence, Which};
use crate::engine::ask::nearest;
use crate::engine::ask::views::Views;
use crate::engine::refresh::RefreshView;
use crate::ingest::{self, SiteMode};
use crate::report::{CoreLine, Cost, Parameter, Reason, Report, SeedLine, SiteShare, Web};
use crate::storage::records::PageState;
use crate::watch::Watch;

/// How many of a core's best authorities are told.
const BEST: usize = 10;

/// What to report on, and how much the experiments may cost.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::ReportRequest;
/// use seedbank::report;
///
/// let request = ReportRequest { evaluate: false, ..ReportRequest::default() };
/// let told = bank.report(&request, &Unwatched)?;
/// let html = report::page(&told, "report.json");
/// assert!(html.contains("http://a.example/"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReportRequest {
    /// The refresh.
    pub which: Which,
    /// Whether the experiments run.
    pub evaluate: bool,
    /// Random seed sets that the seeds are compared with; at least 2, or there is no error to tell.
    pub draws: u32,
    /// Cover methods are compared on at most so many sites.
    pub max_sites: u32,
    /// The seed of the random streams.
    pub rng_seed: u64,
}

impl Default for ReportRequest {
    fn default() -> Self {
        Self {
            which: Which::default(),
            evaluate: true,
            draws: 20,
            max_sites: 100,
            rng_seed: 0,
        }
    }
}

impl Bank {
    /// Everything that a report tells of a refresh.
    ///
    /// Cost: one scan of the sites, the refresh's seeds and cores, and unless that is left out the
    /// experiments, which load the whole graph.
    pub fn report(
        &self,
        request: &ReportRequest,
        watch: &dyn Watch,
    ) -> Result<Report, EngineError> {
        watch.stage("gather", None);
        Views::open(self)?.find(&request.which)?;
        let history = self.history()?;
        let (refresh, earlier) = find(&history.refreshes, &request.which)?;
        // By number from here on: the plan may be refreshed meanwhile.
        let which = Which {
            plan: None,
            refresh: Some(refresh.refresh),
        };
        let status = self.status()?;
        watch.proceed()?;
        let seeds = self.seeds(&which)?;
        let before = match earlier.last() {
            Some(earlier) => Some((*earlier, self.seeds(&by_number(earlier.refresh))?)),
            None => None,
        };
        let mut cores = Vec::new();
        self.cores(&which, |core| {
            watch.proceed()?;
            cores.push(core_line(&core, status.site_mode));
            Ok::<(), EngineError>(())
        })?;
        let changes = match &before {
            Some((earlier, _)) => Some(self.changes(earlier, refresh, watch)?),
            None => None,
        };
        let old: Option<BTreeSet<&str>> = before
            .as_ref()
            .map(|(_, old)| old.iter().map(|seed| seed.url.as_str()).collect());
        let views = Views::open(self)?;
        let spam_dies =
            refresh.method() == Method::Cores && !refresh.parameters.keep_spam.unwrap_or_default();
        let mut lines = Vec::with_capacity(seeds.len());
        for seed in &seeds {
            let (_, _, page) = nearest::named(&views, &seed.url)?;
            let dead = match page.state {
                PageState::Gone => Some("gone"),
                PageState::Unlinked => Some("no page"),
                PageState::Known | PageState::Crawled => (page.spam && spam_dies).then_some("spam"),
            };
            lines.push(SeedLine {
                rank: seed.rank,
                url: seed.url.clone(),
                site: seed.site.clone(),
                reason: reason(&seed.evidence),
                kept: old.as_ref().map(|old| old.contains(seed.url.as_str())),
                dead: dead.map(str::to_owned),
            });
        }
        let counters = status.counters;
        let mut report = Report {
            bank: self.name(),
            plan: refresh.plan.clone(),
            method: refresh.method().name().to_owned(),
            parameters: parameters(&refresh.parameters)?,
            refresh: refresh.refresh,
            at: refresh.at,
            batch: refresh.batch,
            bank_batch: counters.batches,
            certified: refresh.certified,
            doubt: refresh.doubt.clone(),
            web: Web {
                sites: status.sites,
                crawled: counters.crawled,
                known: counters.known,
                gone: counters.gone,
                intra_links: counters.intra_links,
                inter_links: counters.inter_links,
            },
            seeds: lines,
            cores,
            crawl: None,
            distances: None,
            coverage: None,
            budget: None,
            left_out: Vec::new(),
            claims: Vec::new(),
            changes,
            costs: earlier.iter().copied().chain([refresh]).map(cost).collect(),
        };
        if request.evaluate {
            self.measure(request, &which, &refresh.parameters, &mut report, watch)?;
        }
        Ok(report)
    }

    /// The last part of the bank's folder.
    fn name(&self) -> String {
        let path = self.path();
        let full = path.canonicalize().ok();
        let name = path.file_name().or_else(|| full.as_deref()?.file_name());
        name.map_or_else(
            || "bank".to_owned(),
            |name| name.to_string_lossy().into_owned(),
        )
    }
}

fn by_number(refresh: u32) -> Which {
    Which {
        plan: None,
        refresh: Some(refresh),
    }
}

/// The refresh that is meant, and those of its plan before it that are kept.
fn find<'a>(
    refreshes: &'a [RefreshView],
    which: &Which,
) -> Result<(&'a RefreshView, Vec<&'a RefreshView>), EngineError> {
    let plan = which.plan.as_deref();
    let of_plan = |r: &&RefreshView| r.plan == plan.unwrap_or(DEFAULT_PLAN);
    let found = match which.refresh {
        None => refreshes
            .iter()
            .rfind(of_plan)
            .ok_or_else(|| EngineError::NoPlan(plan.unwrap_or(DEFAULT_PLAN).to_owned()))?,
        Some(number) => refreshes
            .iter()
            .find(|refresh| refresh.refresh == number)
            .ok_or(EngineError::NoRefresh(number))?,
    };
    if let Some(asked) = plan.filter(|plan| *plan != found.plan) {
        return Err(EngineError::OtherPlan {
            refresh: found.refresh,
            found: found.plan.clone(),
            asked: asked.to_owned(),
        });
    }
    let earlier = refreshes
        .iter()
        .filter(|r| r.plan == found.plan && r.refresh < found.refresh)
        .collect();
    Ok((found, earlier))
}

/// Why a page is a seed.
fn reason(evidence: &Evidence) -> Reason {
    match *evidence {
        Evidence::Core {
            core, hub_score, ..
        } => Reason::Core { core, hub_score },
        Evidence::Cover {
            gain,
            covered_pages,
            covered_value,
            pick,
            since,
            ..
        } => Reason::Cover {
            gain,
            covered_pages,
            covered_value,
            pick,
            since,
        },
    }
}

fn cost(refresh: &RefreshView) -> Cost {
    Cost {
        refresh: refresh.refresh,
        at: refresh.at,
        batch: refresh.batch,
        seeds: refresh.seeds,
        seconds: refresh.seconds,
        link_visits: refresh.link_visits,
        page_visits: refresh.page_visits,
        cold: refresh.cold,
        certified: refresh.certified,
    }
}

fn core_line(core: &CoreView, mode: SiteMode) -> CoreLine {
    CoreLine {
        rank: core.rank,
        sigma: core.sigma,
        density: core.density,
        hubs: core.hubs.len() as u64,
        authorities: core.authorities.len() as u64,
        hub_sites: sites(&core.hubs, mode),
        authority_sites: sites(&core.authorities, mode),
        best_authorities: core.authorities.iter().take(BEST).cloned().collect(),
        seed: core.seed.clone(),
    }
}

/// The sites of pages, the one with the most pages first, ties by name.
fn sites(urls: &[String], mode: SiteMode) -> Vec<SiteShare> {
    let mut pages: BTreeMap<String, u64> = BTreeMap::new();
    for url in urls {
        // A URL of the bank was normalised once and is so again.
        if let Ok(location) = ingest::parse(url, mode) {
            *pages.entry(location.site).or_default() += 1;
        }
    }
    let mut shares: Vec<SiteShare> = pages
        .into_iter()
        .map(|(site, pages)| SiteShare { site, pages })
        .collect();
    // By name already, and the sort is stable.
    shares.sort_by_key(|share| std::cmp::Reverse(share.pages));
    shares
}

/// What a plan says of its parameters, by name.
fn parameters(options: &PlanOptions) -> Result<Vec<Parameter>, EngineError> {
    let kept = serde_json::to_value(options);
    let Ok(Json::Object(fields)) = kept else {
        return Err(EngineError::Internal("a plan cannot be written as JSON"));
    };
    let mut named: Vec<Parameter> = fields
        .into_iter()
        .filter(|(name, _)| name != "method")
        .map(|(name, value)| Parameter {
            name,
            value: match value {
                Json::String(text) => text,
                other => other.to_string(),
            },
        })
        .collect();
    named.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(named)
}
