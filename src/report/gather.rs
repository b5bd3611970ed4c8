//! Gathers what a report tells: what a refresh kept, what changed since the one before it, and the
//! experiments on the state as it is now.

use std::collections::{BTreeMap, BTreeSet};

use super::answers::{CoreMembers, CoreSummary, Report, ReportSeed, SiteShare};
use crate::engine::{
    Bank, Change, CoreView, DiffRequest, EngineError, RefreshView, ScoredUrl, SeedDiff, Turnover,
    Which,
};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{self, Naming};

/// How many of a core's best authorities are told.
const BEST: usize = 10;
/// Of how many cores the pages are told.
pub(super) const WITH_MEMBERS: u32 = 200;
/// How many pages of each side of such a core.
const MEMBERS: usize = 50;
/// How many of the plan's refreshes are compared with the one before them.
const TURNOVERS: usize = 12;

/// What to report on, and how much the experiments may cost.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::report::{self, Commands, ReportRequest};
///
/// let request = ReportRequest { evaluate: false, ..ReportRequest::default() };
/// let told = bank.report(&request, &Unwatched)?;
/// let html = report::page(&told, "report.json", &Commands::default());
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
    /// How often a tenth of the crawled pages is held out while plans choose anew; at least 2, or there
    /// is no error to tell.
    pub holdouts: u32,
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
            holdouts: 5,
            max_sites: 100,
            rng_seed: 0,
        }
    }
}

impl Bank {
    /// Everything that a report tells of a refresh, all of one published state.
    ///
    /// Cost: one scan of the sites, the refresh's seeds and cores and the seeds of the plan's twelve
    /// refreshes before it, and unless that is left out the
    /// experiments, which load the whole graph.
    pub fn report(
        &self,
        request: &ReportRequest,
        watch: &dyn Watch,
    ) -> Result<Report, EngineError> {
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
            changes: None,
            turnover: Vec::new(),
        };
        let which = by_number(&report.refresh);
        bank.cores(&which, |core| {
            watch.proceed()?;
            report.cores.push(summary(core, status.naming()));
            Ok::<(), EngineError>(())
        })?;
        report.changes = bank.changes(&report, watch)?;
        report.turnover = bank.last_turnovers(&report, watch)?;
        let gained: Option<BTreeSet<&str>> = report.changes.as_ref().map(|changes| {
            let gained = changes.of(Change::Gained).into_iter();
            gained.map(|seed| seed.url.as_str()).collect()
        });
        let dead = bank.dead_seeds(&which)?;
        let seeds = bank.seeds(&which)?.into_iter().map(|seed| ReportSeed {
            in_previous: gained.as_ref().map(|new| !new.contains(&*seed.url)),
            dead: dead.get(&seed.rank).copied(),
            seed,
        });
        report.seeds = seeds.collect();
        if request.evaluate {
            bank.measure(request, &kept, &mut report, watch)?;
        }
        Ok(report)
    }

    /// What changed since the plan's last earlier refresh; `None` where none is kept.
    fn changes(&self, report: &Report, watch: &dyn Watch) -> Result<Option<SeedDiff>, EngineError> {
        let Some(earlier) = report.previous_refreshes.last() else {
            return Ok(None);
        };
        let request = DiffRequest {
            refreshes: vec![earlier.refresh, report.refresh.refresh],
            ..DiffRequest::default()
        };
        self.diff(&request, watch).map(Some)
    }

    /// What the plan's last refreshes kept, gained and lost.
    fn last_turnovers(
        &self,
        report: &Report,
        watch: &dyn Watch,
    ) -> Result<Vec<Turnover>, EngineError> {
        let earlier = report
            .previous_refreshes
            .iter()
            .map(|earlier| earlier.refresh);
        let all: Vec<_> = earlier.chain([report.refresh.refresh]).collect();
        // One more, with which the first is compared.
        let first = all.len().saturating_sub(TURNOVERS + 1);
        self.turnover(&all[first..], watch)
    }
}

/// A refresh by its number, since its plan may be refreshed meanwhile.
pub(super) fn by_number(refresh: &RefreshView) -> Which {
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

/// The first pages of one side of a core.
fn scored(urls: &[String], scores: &[f64]) -> Vec<ScoredUrl> {
    let pages = urls.iter().zip(scores).take(MEMBERS);
    pages
        .map(|(url, score)| ScoredUrl {
            url: url.clone(),
            score: *score,
        })
        .collect()
}

/// The sites of pages, the one with the most pages first, ties by name.
fn sites(urls: &[String], naming: Naming) -> Vec<SiteShare> {
    let mut pages: BTreeMap<String, u64> = BTreeMap::new();
    for url in urls {
        // A URL of the bank was normalised once and is so again.
        if let Ok(location) = ingest::parse(url, naming) {
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
