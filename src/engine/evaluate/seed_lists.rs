//! Lists of seeds in the current state: which of their entries are live pages.

#[cfg(feature = "report")]
use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::answers::{AbsentReason, AbsentSeed, ListView};
use super::current_state::CurrentState;
use super::requests::SeedList;
use crate::engine::error::ExperimentError;
use crate::engine::history::succession::{OldSeed, Successors};
use crate::engine::history::timeline::PageTimelines;
use crate::engine::plan::ResolvedPlan;
use crate::engine::query::views::Views;
use crate::engine::{Bank, EngineError, PlanOptions, Which};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest;
use seedbank_store::records::{PageRecord, PageState, SeedEvidence};
use seedbank_store::tables;

/// Checks that the refresh of a list exists, before the slow loading of the graph.
pub(super) fn find(views: &Views, list: &SeedList) -> Result<(), EngineError> {
    match list {
        SeedList::Refresh(which) | SeedList::Succeeded(which) => views.find(which).map(|_| ()),
        SeedList::Urls { .. } => Ok(()),
    }
}

/// Returns the live seeds of a list, by number and in its order, and the reasons why others are
/// absent.
pub(super) fn resolve(
    current: &CurrentState,
    list: &SeedList,
    watch: &dyn Watch,
) -> Result<(ListView, Vec<u32>), EngineError> {
    match list {
        SeedList::Refresh(which) => resolve_refresh(current, which, false, watch),
        SeedList::Succeeded(which) => resolve_refresh(current, which, true, watch),
        SeedList::Urls { name, urls } => resolve_urls(current, name, urls),
    }
}

/// Accumulates the entries of a list.
struct Resolver {
    view: ListView,
    seeds: Vec<u32>,
    seen: BTreeSet<u32>,
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

    fn add(&mut self, seed: u32) {
        self.view.given += 1;
        if self.seen.insert(seed) {
            self.view.seeds += 1;
            self.seeds.push(seed);
        } else {
            self.view.repeated += 1;
        }
    }

    /// Records an absent seed, with its successor if it has one.
    fn add_absent(&mut self, url: String, why: AbsentReason, successor: Option<(String, u32)>) {
        self.view.given += 1;
        match why {
            AbsentReason::Gone
            | AbsentReason::Spam
            | AbsentReason::Unlinked
            | AbsentReason::Alias => {
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
    current: &CurrentState,
    which: &Which,
    with_successors: bool,
    watch: &dyn Watch,
) -> Result<(ListView, Vec<u32>), EngineError> {
    let (refresh, record) = current.views.find(which)?;
    let mut resolver = Resolver::new(format!("refresh {refresh} of plan {}", record.plan));
    let plan = PlanOptions::from_stored(&record.settings)?.resolve()?;
    let reader = &current.views.reader;
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
    let successors = Successors::new(reader, current.views.naming.sites, &plan, &past);
    if with_successors {
        resolver.view.succeeded = Some(0);
        watch.stage("successors", Some(seeds.len() as u64));
    }
    for seed in seeds {
        watch.proceed()?;
        let page = reader.need(&tables::PAGES, &seed.page)?;
        let Some(why) = dead(&page, &plan) else {
            resolver.add(number(current, seed.page)?);
            continue;
        };
        let mut successor = None;
        if with_successors
            && let Some((page, _)) = successors.find(seed)?
            && !listed.contains(&page)
        {
            successor = Some((current.url(page)?, number(current, page)?));
        }
        resolver.add_absent(current.url(seed.page)?, why, successor);
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
    // Such a plan excludes spam, so the page became spam later; other plans may want spam.
    let no_spam = matches!(plan, ResolvedPlan::Cores(cores) if !cores.keep_spam);
    match seed.state {
        PageState::Gone => Some(AbsentReason::Gone),
        PageState::Unlinked => Some(AbsentReason::Unlinked),
        PageState::Alias => Some(AbsentReason::Alias),
        PageState::Known | PageState::Crawled => {
            (no_spam && seed.spam).then_some(AbsentReason::Spam)
        }
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
    current: &CurrentState,
    name: &str,
    urls: &[String],
) -> Result<(ListView, Vec<u32>), EngineError> {
    let mut resolver = Resolver::new(name.to_owned());
    for url in urls {
        match resolve_url(current, url)? {
            ResolvedUrl::Page(page) => resolver.add(number(current, page)?),
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

fn resolve_url(current: &CurrentState, url: &str) -> Result<ResolvedUrl, EngineError> {
    let Ok(location) = ingest::parse(url, current.views.naming) else {
        return Ok(ResolvedUrl::Absent(AbsentReason::NoUrl));
    };
    let reader = &current.views.reader;
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
    })
}

fn number(current: &CurrentState, page: PageId) -> Result<u32, EngineError> {
    let number = current.numbers.number_of(page);
    number.ok_or(EngineError::Internal(
        "a live page is missing from the whole graph",
    ))
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
