//! Scores of every page, for use in other tools.

mod answers;
mod plan_evidence;

pub use answers::{PageScore, ScoresReport, ScoresRequest};

use super::plan::DEFAULT_PLAN;
use super::query::views::Views;
use super::web_graph::LoadedGraph;
use super::{Bank, EngineError, Which};
use plan_evidence::PlanEvidence;
use seedbank_algorithms::evaluate::harmonic;
use seedbank_algorithms::evaluate::harmonic::MAX_SOURCES;
use seedbank_algorithms::graph::{Csr, PageGraph, number};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::rank::pagerank;
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest;
use seedbank_store::records::{PageRecord, RefreshId, RefreshRecord};
use seedbank_store::tables;

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
