//! Lists of seeds as they stand today: which of them are still there.

use std::collections::{BTreeMap, BTreeSet};

use super::answers::{AbsentSeed, AbsentWhy, ListView};
use super::requests::SeedList;
use super::today::Today;
use crate::engine::error::ExperimentError;
use crate::engine::history::succession::{OldSeed, Successors};
use crate::engine::history::timeline::PageTimelines;
use crate::engine::plan::Plan;
use crate::engine::query::views::Views;
use crate::engine::{Bank, EngineError, PlanOptions, Which};
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
    today: &Today,
    list: &SeedList,
    watch: &dyn Watch,
) -> Result<(ListView, Vec<u32>), EngineError> {
    match list {
        SeedList::Refresh(which) => of_refresh(today, which, false, watch),
        SeedList::Succeeded(which) => of_refresh(today, which, true, watch),
        SeedList::Urls { name, urls } => of_urls(today, name, urls),
    }
}

/// A list that is being gone through.
struct Going {
    view: ListView,
    seeds: Vec<u32>,
    met: BTreeSet<u32>,
}

impl Going {
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
    fn leave_out(&mut self, url: String, why: AbsentWhy, successor: Option<(String, u32)>) {
        self.view.given += 1;
        match why {
            AbsentWhy::Gone | AbsentWhy::Spam | AbsentWhy::Unlinked | AbsentWhy::Alias => {
                self.view.dead += 1;
            }
            AbsentWhy::NotInBank | AbsentWhy::NoUrl => self.view.unknown += 1,
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
    today: &Today,
    which: &Which,
    succeed: bool,
    watch: &dyn Watch,
) -> Result<(ListView, Vec<u32>), EngineError> {
    let (refresh, record) = today.views.find(which)?;
    let mut going = Going::new(format!("refresh {refresh} of plan {}", record.plan));
    let plan = PlanOptions::from_stored(&record.settings)?.resolve()?;
    let reader = &today.views.reader;
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
    let past = PageTimelines::open(reader, record.batch)?;
    let successors = Successors::new(reader, today.views.naming.sites, &plan, &past);
    if succeed {
        going.view.succeeded = Some(0);
        watch.stage("successors", Some(seeds.len() as u64));
    }
    for seed in seeds {
        watch.proceed()?;
        let page = reader.need(&tables::PAGES, &seed.page)?;
        let Some(why) = dead(&page, &plan) else {
            going.take(number(today, seed.page)?);
            continue;
        };
        let mut successor = None;
        if succeed
            && let Some((page, _)) = successors.find(seed)?
            && !listed.contains(&page)
        {
            successor = Some((today.url(page)?, number(today, page)?));
        }
        going.leave_out(today.url(seed.page)?, why, successor);
        watch.advance(1);
    }
    if going.view.given == 0 {
        let plan = record.plan;
        return Err(ExperimentError::NothingSelected { refresh, plan }.into());
    }
    going.view.plan = Some(record.plan);
    going.view.refresh = Some(refresh);
    going.view.batch = Some(record.batch);
    Ok((going.view, going.seeds))
}

/// Why a seed of a plan takes no part any more; `None` while it does.
fn dead(seed: &PageRecord, plan: &Plan) -> Option<AbsentWhy> {
    // A spam page that such a plan has as a seed became one later; other plans may want it.
    let no_spam = matches!(plan, Plan::Cores(cores) if !cores.keep_spam);
    match seed.state {
        PageState::Gone => Some(AbsentWhy::Gone),
        PageState::Unlinked => Some(AbsentWhy::Unlinked),
        PageState::Alias => Some(AbsentWhy::Alias),
        PageState::Known | PageState::Crawled => (no_spam && seed.spam).then_some(AbsentWhy::Spam),
    }
}

impl Bank {
    /// The seeds of a refresh that take no part any more, by rank.
    pub(crate) fn dead_seeds(
        &self,
        which: &Which,
    ) -> Result<BTreeMap<u32, AbsentWhy>, EngineError> {
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

fn of_urls(
    today: &Today,
    name: &str,
    urls: &[String],
) -> Result<(ListView, Vec<u32>), EngineError> {
    let mut going = Going::new(name.to_owned());
    for url in urls {
        match page_of(today, url)? {
            Listed::Page(page) => going.take(number(today, page)?),
            Listed::Absent(why) => going.leave_out(url.clone(), why, None),
        }
    }
    if going.view.given == 0 {
        let list = name.to_owned();
        return Err(ExperimentError::EmptyList { list }.into());
    }
    Ok((going.view, going.seeds))
}

/// What a URL of a list stands for today.
enum Listed {
    /// A page that takes part.
    Page(PageId),
    /// Nothing that takes part.
    Absent(AbsentWhy),
}

fn page_of(today: &Today, url: &str) -> Result<Listed, EngineError> {
    let Ok(location) = ingest::parse(url, today.views.naming) else {
        return Ok(Listed::Absent(AbsentWhy::NoUrl));
    };
    let reader = &today.views.reader;
    let Some(site) = reader.get(&tables::SITE_IDS, &location.site)? else {
        return Ok(Listed::Absent(AbsentWhy::NotInBank));
    };
    let Some(index) = reader.get(&tables::PAGE_IDS, &(site, location.local))? else {
        return Ok(Listed::Absent(AbsentWhy::NotInBank));
    };
    let page = PageId::new(site, index);
    Ok(match reader.need(&tables::PAGES, &page)?.state {
        PageState::Known | PageState::Crawled => Listed::Page(page),
        PageState::Gone => Listed::Absent(AbsentWhy::Gone),
        PageState::Unlinked => Listed::Absent(AbsentWhy::NotInBank),
        PageState::Alias => Listed::Absent(AbsentWhy::Alias),
    })
}

fn number(today: &Today, page: PageId) -> Result<u32, EngineError> {
    let number = today.numbers.number_of(page);
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
