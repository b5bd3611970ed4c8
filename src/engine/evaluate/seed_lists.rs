//! Lists of seeds in the current state: which of their entries are live pages.

#[cfg(feature = "report")]
use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::answers::{AbsentReason, AbsentSeed, ListView, SeedList, StateView};
use crate::engine::eligibility::Ineligible;
use crate::engine::error::ExperimentError;
use crate::engine::history::succession::{OldSeed, Successors};
use crate::engine::history::timeline::PageTimelines;
use crate::engine::page_numbers::PageNumbers;
use crate::engine::plan::ResolvedPlan;
use crate::engine::query::views::Views;
use crate::engine::web_graph::{
    LoadedGraph, Numbering, load_image, page_facts, uncrawled_outlinks,
};
use crate::engine::{Bank, EngineError, PlanOptions, Which};
use seedbank_algorithms::cover::{PUniq, Weights, page_value};
use seedbank_algorithms::evaluate::{ForwardGraph, PageWorth};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::rank::pagerank;
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest;
use seedbank_store::records::{PageRecord, PageState, SeedEvidence};
use seedbank_store::{GraphImage, ImageLinks, Store, tables};

/// Checks that the refresh of a list exists, before the slow loading of the graph.
pub(super) fn find(views: &Views, list: &SeedList) -> Result<(), EngineError> {
    match list {
        SeedList::Refresh(which) | SeedList::Succeeded(which) => views.find(which).map(|_| ()),
        SeedList::Urls { .. } => Ok(()),
    }
}

/// Returns the live seeds of a list, in its order, and the reasons why others are absent.
pub(super) fn resolve(
    views: &Views,
    list: &SeedList,
    watch: &dyn Watch,
) -> Result<(ListView, Vec<PageId>), EngineError> {
    match list {
        SeedList::Refresh(which) => resolve_refresh(views, which, false, watch),
        SeedList::Succeeded(which) => resolve_refresh(views, which, true, watch),
        SeedList::Urls { name, urls } => resolve_urls(views, name, urls),
    }
}

/// Accumulates the entries of a list.
struct Resolver {
    view: ListView,
    seeds: Vec<PageId>,
    seen: BTreeSet<PageId>,
}

impl Resolver {
    fn new(name: String) -> Self {
        Self {
            view: ListView {
                name,
                plan: None,
                refresh: None,
                batch: None,
                given: 0,
                repeated: 0,
                seeds: 0,
                dead: 0,
                unknown: 0,
                succeeded: None,
                absent: Vec::new(),
            },
            seeds: Vec::new(),
            seen: BTreeSet::new(),
        }
    }

    fn add(&mut self, seed: PageId) {
        self.view.given += 1;
        if self.seen.insert(seed) {
            self.view.seeds += 1;
            self.seeds.push(seed);
        } else {
            self.view.repeated += 1;
        }
    }

    /// Records an absent seed, with its successor if it has one.
    fn add_absent(&mut self, url: String, why: AbsentReason, successor: Option<(String, PageId)>) {
        self.view.given += 1;
        match why {
            AbsentReason::Gone
            | AbsentReason::Spam
            | AbsentReason::Unlinked
            | AbsentReason::Alias
            | AbsentReason::Resource => {
                self.view.dead += 1;
            }
            AbsentReason::NotInBank | AbsentReason::NoUrl => self.view.unknown += 1,
        }
        // A successor of two dead seeds replaces the better one.
        let successor = successor.filter(|(_, seed)| self.seen.insert(*seed));
        if let Some((_, seed)) = &successor {
            self.view.seeds += 1;
            *self.view.succeeded.get_or_insert_default() += 1;
            self.seeds.push(*seed);
        }
        self.view.absent.push(AbsentSeed {
            url,
            why,
            successor: successor.map(|(url, _)| url),
        });
    }
}

fn resolve_refresh(
    views: &Views,
    which: &Which,
    with_successors: bool,
    watch: &dyn Watch,
) -> Result<(ListView, Vec<PageId>), EngineError> {
    let (refresh, record) = views.find(which)?;
    let mut resolver = Resolver::new(format!("refresh {refresh} of plan {}", record.plan));
    let plan = PlanOptions::from_stored(&record.settings)?.resolve()?;
    let reader = &views.reader;
    let mut seeds = Vec::new();
    for (_, seed) in reader.list(refresh)? {
        let core = match seed.evidence {
            SeedEvidence::Core { core, .. } => Some((refresh, core)),
            SeedEvidence::Cover(_) | SeedEvidence::Web(_) | SeedEvidence::ByPolicy => None,
        };
        let page = seed.page;
        seeds.push(OldSeed { page, core });
    }
    // A successor that is a seed already is not used again.
    let listed: BTreeSet<PageId> = seeds.iter().map(|seed| seed.page).collect();
    let past = PageTimelines::open(reader, record.batch)?;
    let successors = Successors::new(reader, views.naming.sites, &plan, &past);
    if with_successors {
        resolver.view.succeeded = Some(0);
        watch.stage("successors", Some(seeds.len() as u64));
    }
    for seed in seeds {
        watch.proceed()?;
        let page = reader.need(&tables::PAGES, &seed.page)?;
        let Some(why) = dead(&page, &plan) else {
            resolver.add(seed.page);
            continue;
        };
        let mut successor = None;
        if with_successors
            && let Some((page, _)) = successors.find(seed)?
            && !listed.contains(&page)
        {
            successor = Some((views.name(page)?.1, page));
        }
        resolver.add_absent(views.name(seed.page)?.1, why, successor);
        watch.advance(1);
    }
    if resolver.view.given == 0 {
        let plan = record.plan;
        return Err(ExperimentError::NothingSelected { refresh, plan }.into());
    }
    resolver.view.plan = Some(record.plan);
    resolver.view.refresh = Some(refresh);
    resolver.view.batch = Some(record.batch);
    Ok((resolver.view, resolver.seeds))
}

/// Returns why a seed of a plan is not live; `None` if it is.
fn dead(seed: &PageRecord, plan: &ResolvedPlan) -> Option<AbsentReason> {
    // The graph of such a plan has no spam, so the page became spam later; other plans may want spam.
    let reason = plan.page_scope().graph.reason(seed.state, seed.spam)?;
    match reason {
        Ineligible::Gone => Some(AbsentReason::Gone),
        Ineligible::Unlinked => Some(AbsentReason::Unlinked),
        Ineligible::Alias => Some(AbsentReason::Alias),
        Ineligible::Resource => Some(AbsentReason::Resource),
        Ineligible::Spam => Some(AbsentReason::Spam),
        // A page that is linked to may be crawled again.
        Ineligible::NotCrawled | Ineligible::Policy(_) => None,
    }
}

impl Bank {
    /// Returns the seeds of a refresh that are not live, by rank.
    #[cfg(feature = "report")]
    pub(crate) fn dead_seeds(
        &self,
        which: &Which,
    ) -> Result<BTreeMap<u32, AbsentReason>, EngineError> {
        let views = Views::open(self)?;
        let (refresh, record) = views.find(which)?;
        let plan = PlanOptions::from_stored(&record.settings)?.resolve()?;
        let mut found = BTreeMap::new();
        for (rank, seed) in views.reader.list(refresh)? {
            let why = dead(&views.reader.need(&tables::PAGES, &seed.page)?, &plan);
            found.extend(why.map(|why| (rank, why)));
        }
        Ok(found)
    }
}

fn resolve_urls(
    views: &Views,
    name: &str,
    urls: &[String],
) -> Result<(ListView, Vec<PageId>), EngineError> {
    let mut resolver = Resolver::new(name.to_owned());
    for url in urls {
        match resolve_url(views, url)? {
            ResolvedUrl::Page(page) => resolver.add(page),
            ResolvedUrl::Absent(why) => resolver.add_absent(url.clone(), why, None),
        }
    }
    if resolver.view.given == 0 {
        let list = name.to_owned();
        return Err(ExperimentError::EmptyList { list }.into());
    }
    Ok((resolver.view, resolver.seeds))
}

/// A URL of a list, resolved in the current state.
enum ResolvedUrl {
    Page(PageId),
    Absent(AbsentReason),
}

fn resolve_url(views: &Views, url: &str) -> Result<ResolvedUrl, EngineError> {
    let Ok(location) = ingest::parse(url, views.naming) else {
        return Ok(ResolvedUrl::Absent(AbsentReason::NoUrl));
    };
    let reader = &views.reader;
    let Some(site) = reader.get(&tables::SITE_IDS, &location.site)? else {
        return Ok(ResolvedUrl::Absent(AbsentReason::NotInBank));
    };
    let Some(index) = reader.get(&tables::PAGE_IDS, &(site, location.local))? else {
        return Ok(ResolvedUrl::Absent(AbsentReason::NotInBank));
    };
    let page = PageId::new(site, index);
    Ok(match reader.need(&tables::PAGES, &page)?.state {
        PageState::Known | PageState::Crawled => ResolvedUrl::Page(page),
        PageState::Gone => ResolvedUrl::Absent(AbsentReason::Gone),
        PageState::Unlinked => ResolvedUrl::Absent(AbsentReason::NotInBank),
        PageState::Alias => ResolvedUrl::Absent(AbsentReason::Alias),
        PageState::Resource => ResolvedUrl::Absent(AbsentReason::Resource),
    })
}

/// Fails if a list has no live seed.
pub(super) fn need_seeds(view: &ListView) -> Result<(), EngineError> {
    if view.seeds > 0 {
        return Ok(());
    }
    Err(ExperimentError::NoLiveSeeds {
        list: view.name.clone(),
        given: view.given,
        dead: view.dead,
        unknown: view.unknown,
    }
    .into())
}

/// The state that seeds are evaluated on.
pub(super) struct CurrentState {
    pub(super) views: Views,
    pub(super) state: StateView,
    pub(super) web: ForwardGraph,
    pub(super) numbers: PageNumbers,
    /// By page number; empty if only the links were loaded.
    pub(super) worth: Vec<PageWorth>,
}

/// The part of the state to load.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Needed {
    Links,
    /// The links and the worth of the pages.
    Worth,
}

impl CurrentState {
    /// Loads the state. Cost: that of [`LoadedGraph::load`] and PageRank. Memory: the graph image
    /// and the graph twice, 16 bytes per page, and 40 bytes per page for its worth.
    pub(super) fn load(
        views: Views,
        needed: Needed,
        watch: &dyn Watch,
    ) -> Result<Self, EngineError> {
        let store: &Store = &views.reader;
        let image = load_image(store, ImageLinks::All, watch)?;
        let (whole, numbering) = LoadedGraph::of_image(&image)?;
        let graph = whole.graph;
        let mut worth = Vec::new();
        if needed == Needed::Worth {
            worth = worth_of(&image, &numbering);
            watch.stage("rank the whole graph", None);
            let (scores, _) = pagerank(&graph, watch)?;
            for (of_page, score) in worth.iter_mut().zip(scores) {
                of_page.pagerank = score;
            }
        }
        let pages = numbering.pages(&image);
        drop((image, numbering));
        let numbers = PageNumbers::new(&pages, store.counters()?.next_site)?;
        watch.proceed()?;
        Ok(Self {
            state: state(store)?,
            web: ForwardGraph::new(graph),
            views,
            numbers,
            worth,
        })
    }

    /// Returns the numbers of live pages.
    pub(super) fn numbers_of(&self, pages: &[PageId]) -> Result<Vec<u32>, EngineError> {
        let numbers = pages.iter().map(|page| self.numbers.number_of(*page));
        numbers.collect::<Option<_>>().ok_or(EngineError::Internal(
            "a live page is missing from the whole graph",
        ))
    }

    pub(super) fn url(&self, page: PageId) -> Result<String, EngineError> {
        Ok(self.views.name(page)?.1)
    }
}

/// Returns the totals of a bank.
pub(super) fn state(store: &Store) -> Result<StateView, EngineError> {
    let counters = store.counters()?;
    Ok(StateView {
        batch: counters.batch,
        pages: counters.known + counters.crawled,
        crawled: counters.crawled,
        links: counters.intra_links + counters.inter_links,
    })
}

/// Returns the worth of the pages, by the default weights.
fn worth_of(image: &GraphImage, pages: &Numbering) -> Vec<PageWorth> {
    let weights = Weights::default();
    let uncrawled = uncrawled_outlinks(image);
    let of_page = |&slot: &u32| {
        let (distinct, with_digest) = image.digests(image.page(slot).site());
        let p_uniq = PUniq::from_digests(distinct.into(), with_digest.into());
        let facts = page_facts(image, slot, &uncrawled);
        let crawled = image.is_crawled(slot);
        PageWorth {
            pagerank: 0.0,
            value: if crawled {
                page_value(facts, p_uniq, &weights)
            } else {
                0
            },
            clicks: facts.clicks,
            spam: facts.spam,
            crawled,
        }
    };
    pages.slots.iter().map(of_page).collect()
}
