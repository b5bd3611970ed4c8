//! Scores of every page, for use in other tools.

use std::collections::HashMap;

use super::plan::DEFAULT_PLAN;
use super::query::views::Views;
use super::web_graph::LoadedGraph;
use super::{Bank, EngineError, Which};
use crate::engine::PlanOptions;
use crate::engine::plan::ResolvedPlan;
use schemars::JsonSchema;
use seedbank_algorithms::evaluate::harmonic;
use seedbank_algorithms::evaluate::harmonic::MAX_SOURCES;
use seedbank_algorithms::graph::{Csr, PageGraph, number};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_algorithms::rank::pagerank;
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{self, URL_PATTERN};
use seedbank_store::evidence::{Member, Reach};
use seedbank_store::page_blocks::BLOCK;
use seedbank_store::records::{
    BatchId, PageRecord, PageState, RefreshId, RefreshRecord, SeedEvidence,
};
use seedbank_store::{Key, StoreError, tables};
use serde::{Deserialize, Serialize};

/// The number of sources of harmonic centralities if more than [`MAX_SOURCES`] pages have links: two searches from
/// 256 pages each.
const SAMPLED_SOURCES: usize = 512;

impl Bank {
    /// Passes every crawled and known page to `each` with its degrees, its centralities, and the evidence of
    /// the last refresh of a plan, sorted by site name and URL.
    ///
    /// Degrees, PageRank and harmonic centrality are those of the published state, over all pages and links.
    /// Without a plan in the request, the plan `default` is used if it exists.
    ///
    /// Cost: loading the whole graph, PageRank, and searches from at most 4,096 pages, or from 512 if more have links; then a scan of pages
    /// and of the evidence of the refresh. Memory: the whole graph, and in addition 8 bytes per link and some
    /// 80 bytes per page; for a plan over the web the URLs of its seeds.
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// use seedbank::engine::EngineError;
    /// use seedbank::engine::scores::ScoresRequest;
    ///
    /// let mut scores = Vec::new();
    /// let report = bank.scores(
    ///     &ScoresRequest::default(),
    ///     |score| Ok::<(), EngineError>(scores.push(score)),
    /// )?;
    /// assert!(report.harmonic_is_exact);
    /// assert_eq!((&*scores[0].url, scores[0].seed_rank), ("http://a.example/", Some(1)));
    /// assert_eq!((scores[0].in_degree, scores[0].out_degree), (0, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn scores<E: From<EngineError>>(
        &self,
        request: &ScoresRequest,
        mut each: impl FnMut(PageScore) -> Result<(), E>,
    ) -> Result<ScoresReport, E> {
        let watch = self.watch();
        let views = Views::open(self).map_err(E::from)?;
        let refresh = last_refresh(&views, request)?;
        let measured = Measured::new(&views, request.rng_seed, watch)?;
        let plan_evidence = PlanEvidence::load(&views, refresh.as_ref())?;
        let counters = views.reader.counters().map_err(EngineError::from)?;
        let total = counters.known + counters.crawled;
        watch.stage("write scores", Some(total));
        for (site, pages) in &measured.sites {
            watch.proceed().map_err(EngineError::from)?;
            let record = views.reader.need(&tables::SITES, site);
            let name = record.map_err(EngineError::from)?.name;
            let live = live(&views, *site)?;
            let evidence = plan_evidence.read_site(&views, *site)?;
            if live.len() != pages.len() {
                return Err(EngineError::Internal("a site has other pages than its graph").into());
            }
            watch.advance(live.len() as u64);
            for ((page, record), place) in live.into_iter().zip(pages.clone()) {
                let (harmonic, harmonic_error) = measured.harmonic.estimate(place as usize);
                let mut score = PageScore {
                    url: ingest::url(&name, &record.local, views.naming.sites),
                    site: name.clone(),
                    state: record.state,
                    in_degree: measured.in_degree[place as usize].into(),
                    out_degree: measured.out_degree[place as usize].into(),
                    pagerank: measured.pagerank[place as usize],
                    harmonic,
                    harmonic_error,
                    seed_rank: plan_evidence.rank(page),
                    core: None,
                    hub_score: None,
                    authority_score: None,
                    covered_by: None,
                    covered_at: None,
                };
                evidence.add_to(&plan_evidence, page, &mut score);
                each(score)?;
            }
        }
        Ok(ScoresReport {
            batch: counters.batch,
            pages: total,
            plan: refresh.as_ref().map(|(_, record)| record.plan.clone()),
            refresh: refresh.as_ref().map(|(number, _)| *number),
            state_batch: refresh.as_ref().map(|(_, record)| record.batch),
            harmonic_sources: measured.harmonic.sources as u64,
            harmonic_is_exact: measured.harmonic.exact,
        })
    }
}

/// Returns the last refresh of the requested plan; `None` if no plan is named and there is no plan
/// `default`.
fn last_refresh(
    views: &Views,
    request: &ScoresRequest,
) -> Result<Option<(RefreshId, RefreshRecord)>, EngineError> {
    let which = Which {
        plan: request.plan.clone(),
        refresh: None,
    };
    match views.find(&which) {
        Err(EngineError::UnknownPlan(name)) if request.plan.is_none() && name == DEFAULT_PLAN => {
            Ok(None)
        }
        found => found.map(Some),
    }
}

/// Returns the crawled and known pages of a site by URL, the order of their graph numbers.
fn live(
    views: &Views,
    site: seedbank_algorithms::page::SiteId,
) -> Result<Vec<(PageId, PageRecord)>, EngineError> {
    let mut live = Vec::new();
    for entry in views
        .reader
        .scan_under(&tables::PAGES, &site.0.to_be_bytes())?
    {
        let (page, record) = entry?;
        if record.state.is_live() {
            live.push((page, record));
        }
    }
    live.sort_unstable_by(|a, b| a.1.local.cmp(&b.1.local));
    Ok(live)
}

/// Measures of all pages, by number.
struct Measured {
    /// Sites by name, with the numbers of their pages.
    sites: Vec<(seedbank_algorithms::page::SiteId, std::ops::Range<u32>)>,
    in_degree: Vec<u32>,
    out_degree: Vec<u32>,
    pagerank: Vec<f64>,
    harmonic: seedbank_algorithms::evaluate::Harmonic,
}

impl Measured {
    fn new(views: &Views, rng_seed: u64, watch: &dyn Watch) -> Result<Self, EngineError> {
        let LoadedGraph { graph, sites } = LoadedGraph::load(&views.reader, watch)?;
        watch.stage("rank the whole graph", None);
        let (pagerank, _) = pagerank(&graph, watch)?;
        watch.stage("measure distances", None);
        let predecessors = predecessors(&graph);
        let out_degree = graph.out_degree;
        let successors = predecessors.transpose(out_degree.len());
        let pages = 0..number(out_degree.len());
        let in_degree = pages.map(|page| number(predecessors.list(page).len()));
        let in_degree = in_degree.collect();
        let linking = out_degree.iter().filter(|degree| **degree > 0).count();
        let sources = if linking > MAX_SOURCES {
            SAMPLED_SOURCES
        } else {
            MAX_SOURCES
        };
        let harmonic = harmonic(&successors, &predecessors, sources, rng_seed, watch)?;
        Ok(Self {
            sites,
            in_degree,
            out_degree,
            pagerank,
            harmonic,
        })
    }
}

/// Returns the pages that link to each page, ascending.
fn predecessors(graph: &PageGraph) -> Csr {
    let links: usize = graph.out_degree.iter().map(|degree| *degree as usize).sum();
    let mut predecessors = Csr::with_capacity(graph.out_degree.len(), links);
    for page in 0..graph.pages() {
        let rows = graph.citers.list(page).iter();
        let by_rows = rows.flat_map(|row| graph.members.list(*row));
        let mut sources: Vec<u32> = graph
            .intra_in
            .list(page)
            .iter()
            .chain(by_rows)
            .copied()
            .collect();
        sources.sort_unstable();
        predecessors.push(sources);
    }
    predecessors
}

// Request and answer of `scores`.

/// Request for scores.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ScoresRequest {
    /// Plan whose last refresh provides seeds, cores and coverage; `None` for `default`, if it exists.
    pub plan: Option<String>,
    /// Seed of the random sample of source pages for harmonic centrality, if there are too many pages.
    pub rng_seed: u64,
}

/// Scores of a page.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PageScore {
    /// Normalised URL of the page.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Site of the page.
    pub site: String,
    /// Crawled or known.
    pub state: PageState,
    /// Number of pages that link to it.
    pub in_degree: u64,
    /// Number of pages that it links to.
    pub out_degree: u64,
    /// PageRank on the whole graph, with a sum of 1 over all pages.
    pub pagerank: f64,
    /// Harmonic centrality: the sum of 1 / distance in links from all other pages; an estimate if only a sample of
    /// them was searched.
    pub harmonic: f64,
    /// Standard error of `harmonic`; 0 if it is exact, and for a page that no sampled page leads to.
    pub harmonic_error: f64,
    /// Rank on the plan's seed list, from 1; `null` if it is not a seed.
    pub seed_rank: Option<u32>,
    /// Rank of its core, for a plan by cores; `null` if it is in none.
    pub core: Option<u32>,
    /// Hub score in that core; `null` if it is not a hub.
    pub hub_score: Option<f64>,
    /// Authority score in that core; `null` if it is not an authority.
    pub authority_score: Option<f64>,
    /// First pick that covers it, for a plan by coverage: the page itself if it is a pick that no earlier one
    /// covers; `null` if none does. The pick may be deferred by `max-changes`.
    #[schemars(inner(regex(pattern = URL_PATTERN)))]
    pub covered_by: Option<String>,
    /// Distance from that pick, in links; `null` if none covers it.
    pub covered_at: Option<u32>,
}

/// How scores were computed, and on which state.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ScoresReport {
    /// Last batch of the state; 0 for an empty bank.
    pub batch: BatchId,
    /// Number of pages.
    pub pages: u64,
    /// Plan whose evidence is included; `None` without one.
    pub plan: Option<String>,
    /// Last refresh of the plan.
    pub refresh: Option<RefreshId>,
    /// Last batch of the state that it ran on.
    pub state_batch: Option<BatchId>,
    /// Number of source pages for harmonic centrality.
    pub harmonic_sources: u64,
    /// Whether the sources are all pages with links. If not, harmonic centralities are estimates from a sample, each
    /// with its standard error.
    pub harmonic_is_exact: bool,
}

// Evidence of a plan's refresh about pages, read site by site.

/// Evidence of a refresh.
struct PlanEvidence {
    /// Rank of each seed.
    ranks: HashMap<PageId, u32>,
    stored: Stored,
}

/// Kind of stored evidence about pages.
enum Stored {
    /// No refresh, or one without evidence.
    Nothing,
    /// Members of cores.
    Cores(RefreshId),
    /// Coverage of pages by the picks of their site.
    Cover(RefreshId),
    /// Coverage of pages by picks over the web: the refresh that picked, and the URL of each pick by rank.
    Web(RefreshId, HashMap<u32, String>),
}

/// Evidence about the pages of a site.
#[derive(Default)]
struct SiteEvidence {
    members: HashMap<PageId, Member>,
    reached: HashMap<PageId, Reach>,
    /// URL of each pick of the site.
    picks: HashMap<u32, String>,
}

impl PlanEvidence {
    fn load(
        views: &Views,
        refresh: Option<&(RefreshId, RefreshRecord)>,
    ) -> Result<Self, EngineError> {
        let Some((refresh, record)) = refresh else {
            return Ok(Self {
                ranks: HashMap::new(),
                stored: Stored::Nothing,
            });
        };
        let list = views.reader.list(*refresh)?;
        let ranks = list.into_iter().map(|(rank, seed)| (seed.page, rank));
        let stored = match PlanOptions::from_stored(&record.settings)?.resolve()? {
            ResolvedPlan::Cores(_) => Stored::Cores(*refresh),
            ResolvedPlan::Cover(_) => Stored::Cover(*refresh),
            ResolvedPlan::Web(_) => over_web(views, *refresh)?,
        };
        Ok(Self {
            ranks: ranks.collect(),
            stored,
        })
    }

    /// Returns the rank of a page on the list.
    fn rank(&self, page: PageId) -> Option<u32> {
        self.ranks.get(&page).copied()
    }

    /// Reads the evidence about the pages of a site.
    fn read_site(&self, views: &Views, site: SiteId) -> Result<SiteEvidence, EngineError> {
        let mut found = SiteEvidence::default();
        match &self.stored {
            Stored::Nothing => {}
            Stored::Cores(refresh) => {
                let prefix = (*refresh, site).bytes();
                for entry in views.reader.scan_under(&tables::CORE_MEMBERS, &prefix)? {
                    let ((_, page), member) = entry?;
                    found.members.insert(page, member);
                }
            }
            Stored::Cover(refresh) => {
                let Some(cover) = views.reader.get(&tables::COVERS, &(*refresh, site))? else {
                    return Ok(found);
                };
                for (pick, rank) in (1..).zip(&cover.ranks) {
                    let seed = views.reader.need(&tables::SEEDS, &(*refresh, *rank))?;
                    found.picks.insert(pick, views.name(seed.page)?.1);
                }
                found.reached = reached(views, cover.since, site)?;
            }
            Stored::Web(since, _) => found.reached = reached(views, *since, site)?,
        }
        Ok(found)
    }

    /// Returns the URL of a pick, of the site or over the web.
    fn pick(&self, site: &SiteEvidence, pick: u32) -> Option<String> {
        match &self.stored {
            Stored::Web(_, picks) => picks.get(&pick).cloned(),
            _ => site.picks.get(&pick).cloned(),
        }
    }
}

impl SiteEvidence {
    /// Adds the evidence about a page to its scores.
    fn add_to(&self, plan: &PlanEvidence, page: PageId, score: &mut PageScore) {
        if let Some(member) = self.members.get(&page) {
            score.core = Some(member.core);
            score.hub_score = member.hub.map(|place| place.score);
            score.authority_score = member.authority.map(|place| place.score);
        }
        if let Some(reach) = self.reached.get(&page) {
            let covered = reach.covered.map(|covered| (covered.pick, covered.hop));
            let itself = reach.pick.map(|pick| (pick, 0));
            if let Some((pick, hop)) = covered.or(itself) {
                score.covered_by = plan.pick(self, pick);
                score.covered_at = score.covered_by.as_ref().map(|_| hop);
            }
        }
    }
}

fn reached(
    views: &Views,
    since: RefreshId,
    site: SiteId,
) -> Result<HashMap<PageId, Reach>, StoreError> {
    let mut found = HashMap::new();
    for entry in views
        .reader
        .scan_under(&tables::REACH, &(since, site).bytes())?
    {
        let (key, block) = entry?;
        for (place, reach) in block.0 {
            let index = key.block.saturating_mul(BLOCK).saturating_add(place);
            found.insert(PageId::new(site, index), reach);
        }
    }
    Ok(found)
}

fn over_web(views: &Views, refresh: RefreshId) -> Result<Stored, EngineError> {
    let mut since = None;
    let mut picks = HashMap::new();
    for entry in views
        .reader
        .scan_under(&tables::SEEDS, &refresh.to_be_bytes())?
    {
        let ((_, rank), seed) = entry?;
        if let SeedEvidence::Web(evidence) = &seed.evidence {
            since = Some(evidence.since);
        }
        picks.insert(rank, views.name(seed.page)?.1);
    }
    Ok(since.map_or(Stored::Nothing, |since| Stored::Web(since, picks)))
}
