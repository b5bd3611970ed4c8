//! Lists of seeds as they stand today: which of them are still there.

use std::collections::{BTreeMap, BTreeSet};

use super::answers::{AbsentReason, AbsentSeed, ListView};
use super::current_state::CurrentState;
use super::requests::SeedList;
use crate::engine::ask::views::Views;
use crate::engine::history::past::Past;
use crate::engine::history::succession::{OldSeed, Successors};
use crate::engine::{Bank, EngineError, ExperimentError, Plan, PlanOptions, Which};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest;
use seedbank_store::records::{PageRecord, PageState, SeedEvidence};
use seedbank_store::tables;

/// Fails where there is no such refresh; called before the graph is loaded, which takes a while.
pub(super) fn find(views: &Views, list: &SeedList) -> Result<(), EngineError> {
    match list {
        SeedList::Refresh(which) | SeedList::Succeeded(which) => views.find(which).map(|_| ()),
        SeedList::Urls { .. } => Ok(()),
    }
}

/// The seeds of a list that take part, by number and in the order of the list, and what became of
/// the others.
pub(super) fn resolve(
    current: &CurrentState,
    list: &SeedList,
    watch: &dyn Watch,
) -> Result<(ListView, Vec<u32>), EngineError> {
    match list {
        SeedList::Refresh(which) => of_refresh(current, which, false, watch),
        SeedList::Succeeded(which) => of_refresh(current, which, true, watch),
        SeedList::Urls { name, urls } => of_urls(current, name, urls),
    }
}

/// A list that is being gone through.
struct Resolver {
    view: ListView,
    seeds: Vec<u32>,
    met: BTreeSet<u32>,
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
            met: BTreeSet::new(),
        }
    }

    fn take(&mut self, seed: u32) {
        self.view.given += 1;
        if self.met.insert(seed) {
            self.view.seeds += 1;
            self.seeds.push(seed);
        } else {
            self.view.repeated += 1;
        }
    }

    /// Leaves a seed out, with the successor that takes part in its place, if any.
    fn leave_out(&mut self, url: String, why: AbsentReason, successor: Option<(String, u32)>) {
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
        // Where two dead seeds have the same successor, it succeeds the better one.
        let successor = successor.filter(|(_, seed)| self.met.insert(*seed));
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

fn of_refresh(
    current: &CurrentState,
    which: &Which,
    succeed: bool,
    watch: &dyn Watch,
) -> Result<(ListView, Vec<u32>), EngineError> {
    let (refresh, record) = current.views.find(which)?;
    let mut resolver = Resolver::new(format!("refresh {refresh} of plan {}", record.plan));
    let plan = PlanOptions::from_kept(&record.settings)?.decide()?;
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
    let listed: BTreeSet<PageId> = seeds.iter().map(|seed| seed.page).collect();
    let past = Past::open(reader, record.batch)?;
    let successors = Successors::new(reader, current.views.naming.sites, &plan, &past);
    if succeed {
        resolver.view.succeeded = Some(0);
        watch.stage("successors", Some(seeds.len() as u64));
    }
    for seed in seeds {
        watch.proceed()?;
        let page = reader.need(&tables::PAGES, &seed.page)?;
        let Some(why) = dead(&page, &plan) else {
            resolver.take(number(current, seed.page)?);
            continue;
        };
        let mut successor = None;
        if succeed
            && let Some((page, _)) = successors.of(seed)?
            && !listed.contains(&page)
        {
            successor = Some((current.url(page)?, number(current, page)?));
        }
        resolver.leave_out(current.url(seed.page)?, why, successor);
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

/// Why a seed of a plan takes no part any more; `None` while it does.
fn dead(seed: &PageRecord, plan: &Plan) -> Option<AbsentReason> {
    // A spam page that such a plan has as a seed became one later; other plans may want it.
    let no_spam = matches!(plan, Plan::Cores(cores) if !cores.keep_spam);
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
    /// The seeds of a refresh that take no part any more, by rank.
    pub(crate) fn dead_seeds(
        &self,
        which: &Which,
    ) -> Result<BTreeMap<u32, AbsentReason>, EngineError> {
        let views = Views::open(self)?;
        let (refresh, record) = views.find(which)?;
        let plan = PlanOptions::from_kept(&record.settings)?.decide()?;
        let mut found = BTreeMap::new();
        for (rank, seed) in views.reader.list(refresh)? {
            let why = dead(&views.reader.need(&tables::PAGES, &seed.page)?, &plan);
            found.extend(why.map(|why| (rank, why)));
        }
        Ok(found)
    }
}

fn of_urls(
    current: &CurrentState,
    name: &str,
    urls: &[String],
) -> Result<(ListView, Vec<u32>), EngineError> {
    let mut resolver = Resolver::new(name.to_owned());
    for url in urls {
        match page_of(current, url)? {
            Listed::Page(page) => resolver.take(number(current, page)?),
            Listed::Absent(why) => resolver.leave_out(url.clone(), why, None),
        }
    }
    if resolver.view.given == 0 {
        let list = name.to_owned();
        return Err(ExperimentError::EmptyList { list }.into());
    }
    Ok((resolver.view, resolver.seeds))
}

/// What a URL of a list stands for today.
enum Listed {
    /// A page that takes part.
    Page(PageId),
    /// Nothing that takes part.
    Absent(AbsentReason),
}

fn page_of(current: &CurrentState, url: &str) -> Result<Listed, EngineError> {
    let Ok(location) = ingest::parse(url, current.views.naming) else {
        return Ok(Listed::Absent(AbsentReason::NoUrl));
    };
    let reader = &current.views.reader;
    let Some(site) = reader.get(&tables::SITE_IDS, &location.site)? else {
        return Ok(Listed::Absent(AbsentReason::NotInBank));
    };
    let Some(index) = reader.get(&tables::PAGE_IDS, &(site, location.local))? else {
        return Ok(Listed::Absent(AbsentReason::NotInBank));
    };
    let page = PageId::new(site, index);
    Ok(match reader.need(&tables::PAGES, &page)?.state {
        PageState::Known | PageState::Crawled => Listed::Page(page),
        PageState::Gone => Listed::Absent(AbsentReason::Gone),
        PageState::Unlinked => Listed::Absent(AbsentReason::NotInBank),
        PageState::Alias => Listed::Absent(AbsentReason::Alias),
    })
}

fn number(current: &CurrentState, page: PageId) -> Result<u32, EngineError> {
    let number = current.numbers.of(page);
    number.ok_or(EngineError::Internal(
        "a live page is missing from the whole graph",
    ))
}

/// Refuses a list of which nothing is left.
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
