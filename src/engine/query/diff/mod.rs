//! `diff`: two seed lists, and every difference with its cause and the batch that caused it.
//!
//! Nothing is ranked or selected again. Causes follow from what the two refreshes stored (seeds, cores,
//! covered sets), from what each batch between them changed, and from the states of pages over time
//! (`history::timeline`). [`Cause`] is a closed list, and each cause has a definition that can be checked.

mod answers;
mod causes;
mod side;

use std::collections::BTreeMap;

pub use answers::{
    Cause, Change, DiffRequest, DiffSide, DiffSummary, SeedChange, SeedDiff, UrlList,
};
pub(super) use causes::{CauseDetail, Pair};
pub(super) use side::Side;

use super::answers::SuccessorView;
use super::views::{Views, successor_view};
use crate::engine::error::RequestError;
use crate::engine::history::seed_counts::{SeedCounts, batches, counts_by_seed};
use crate::engine::history::succession::{OldSeed, Successors};
use crate::engine::plan::DEFAULT_PLAN;
use crate::engine::{Bank, EngineError, Which};
use seedbank_algorithms::page::PageId;
use seedbank_store::records::{RefreshId, RefreshRecord, SeedEvidence};
use seedbank_store::tables;

/// Stored refresh.
type Found = (RefreshId, RefreshRecord);

impl Bank {
    /// Compares two seed lists.
    ///
    /// Cost: one scan of the seeds and cores of both refreshes, and the sets of changed pages of the batches
    /// between them, and the fetches that crawlers attributed to seeds in these batches; for each gained or lost seed
    /// a few reads of the page, its targets and its core.
    pub fn diff(&self, request: &DiffRequest) -> Result<SeedDiff, EngineError> {
        let watch = self.watch();
        let views = Views::open(self)?;
        let (from, to) = sides(&views, request)?;
        let pair = Pair::new(&views, &from, &to)?;
        watch.stage("compare", None);
        let mut gained = Vec::new();
        let mut lost = Vec::new();
        let mut moved = Vec::new();
        let mut kept = Vec::new();
        let fetches = fetches_between(&views, &from, &to)?;
        let causes = side::moves(&from.order, &to.order);
        for &page in &to.order {
            watch.proceed()?;
            let rank_after = to.ranks.get(&page).copied();
            let rank_before = from.ranks.get(&page).copied();
            let detail = if rank_before.is_none() {
                Some(pair.gained(page)?)
            } else {
                let cause = causes.get(&page).filter(|_| rank_before != rank_after);
                cause.map(|cause| CauseDetail::new(*cause, None))
            };
            let (change, seeds) = match (rank_before, &detail) {
                (None, _) => (Change::Gained, &mut gained),
                (_, Some(_)) => (Change::Moved, &mut moved),
                _ => (Change::Kept, &mut kept),
            };
            let mut seed = seed_change(&views, change, page, detail.as_ref())?;
            (seed.rank_before, seed.rank_after) = (rank_before, rank_after);
            let run = to.run.as_ref();
            let succeeds = run.and_then(|run| run.seeds.get(&page)?.succeeds);
            seed.succeeds = succeeds
                .map(|succession| successor_view(&views, succession.page, succession))
                .transpose()?;
            seed.fetches = rank_before.and_then(|_| fetches.get(&page).copied());
            seeds.push(seed);
        }
        for &page in &from.order {
            watch.proceed()?;
            if !to.ranks.contains_key(&page) {
                let mut seed = seed_change(&views, Change::Lost, page, Some(&pair.lost(page)?))?;
                seed.rank_before = from.ranks.get(&page).copied();
                seed.successor = successor(&views, &pair, page)?;
                lost.push(seed);
            }
        }
        lost.extend(from.unknown.iter().map(|(rank, url)| SeedChange {
            rank_before: Some(*rank),
            ..without_ranks(
                Change::Lost,
                url.clone(),
                Some(&CauseDetail::new(Cause::NotInBank, None)),
            )
        }));
        lost.sort_by_key(|seed| seed.rank_before);
        let mut summary = DiffSummary {
            from: from.view.clone(),
            to: to.view.clone(),
            gained: count(gained.len()),
            lost: count(lost.len()),
            kept: count(moved.len() + kept.len()),
            moved: count(moved.len()),
            parameters_differ: pair.parameters_differ,
            differing_parameters: pair.differing_parameters(),
            causes: BTreeMap::new(),
            kept_without_new: count(
                moved
                    .iter()
                    .chain(&kept)
                    .filter(|seed| seed.fetches.is_some_and(|counts| counts.new == 0))
                    .count(),
            ),
            successors: count(lost.iter().filter(|seed| seed.successor.is_some()).count()),
        };
        let seeds: Vec<SeedChange> = [gained, lost, moved, kept].concat();
        for cause in seeds.iter().filter_map(|seed| seed.cause) {
            *summary.causes.entry(cause).or_default() += 1;
        }
        Ok(SeedDiff { summary, seeds })
    }
}

/// Returns what crawlers fetched from each seed between two refreshes of one plan.
fn fetches_between(
    views: &Views,
    from: &Side,
    to: &Side,
) -> Result<BTreeMap<PageId, SeedCounts>, EngineError> {
    let (Some(from), Some(to)) = (&from.run, &to.run) else {
        return Ok(BTreeMap::new());
    };
    if from.record.plan != to.record.plan {
        return Ok(BTreeMap::new());
    }
    let batches = batches(&views.reader, from.record.batch, to.record.batch)?;
    Ok(counts_by_seed(&views.reader, &batches)?)
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// Returns the two lists that the request selects.
fn sides(views: &Views, request: &DiffRequest) -> Result<(Side, Side), EngineError> {
    let of = |found: Found| Side::from_refresh(views, found.0, found.1);
    let last_of = |plan: Option<&String>| -> Result<Found, EngineError> {
        let which = Which {
            plan: plan.cloned(),
            refresh: None,
        };
        views.find(&which)
    };
    let numbered = |refresh| find_numbered(views, refresh, request.plan.as_ref());
    if let Some(list) = &request.list {
        if request.against.is_some() || request.refreshes.len() > 1 {
            return Err(RequestError::ListAndMore.into());
        }
        let found = match request.refreshes.first() {
            Some(refresh) => numbered(*refresh)?,
            None => last_of(request.plan.as_ref())?,
        };
        return Ok((Side::from_list(views, list)?, of(found)?));
    }
    if let Some(against) = &request.against {
        if !request.refreshes.is_empty() {
            return Err(RequestError::NumbersAndPlan.into());
        }
        let (from, to) = (last_of(request.plan.as_ref())?, last_of(Some(against))?);
        return Ok((of(from)?, of(to)?));
    }
    let (from, to) = match request.refreshes.as_slice() {
        [] => last_two(views, request.plan.as_deref().unwrap_or(DEFAULT_PLAN))?,
        [from] => {
            let from = numbered(*from)?;
            let to = last_of(Some(&from.1.plan))?;
            (from, to)
        }
        // The plan is ignored if two numbers are given.
        [from, to] => (
            find_numbered(views, *from, None)?,
            find_numbered(views, *to, None)?,
        ),
        _ => return Err(RequestError::TooManyRefreshes.into()),
    };
    Ok((of(from)?, of(to)?))
}

/// Returns a refresh by number.
fn find_numbered(
    views: &Views,
    refresh: RefreshId,
    plan: Option<&String>,
) -> Result<Found, EngineError> {
    let which = Which {
        plan: plan.cloned(),
        refresh: Some(refresh),
    };
    views.find(&which)
}

/// Returns the last two stored refreshes of a plan.
fn last_two(views: &Views, plan: &str) -> Result<(Found, Found), EngineError> {
    let of_plan = refreshes_of(views, plan)?;
    let mut last = of_plan.into_iter().rev();
    match (last.next(), last.next()) {
        (Some(to), Some(from)) => Ok((from, to)),
        (Some((only, _)), None) => Err(EngineError::OneRefresh {
            plan: plan.to_owned(),
            only,
        }),
        _ => Err(EngineError::UnknownPlan(plan.to_owned())),
    }
}

/// Returns the stored refreshes of a plan, by number.
pub(super) fn refreshes_of(views: &Views, plan: &str) -> Result<Vec<Found>, EngineError> {
    let mut found = Vec::new();
    for entry in views.reader.scan(&tables::REFRESHES)? {
        let (number, record) = entry?;
        if record.plan == plan {
            found.push((number, record));
        }
    }
    Ok(found)
}

fn without_ranks(change: Change, url: String, detail: Option<&CauseDetail>) -> SeedChange {
    let links = detail.and_then(|detail| detail.links);
    SeedChange {
        change,
        url,
        rank_before: None,
        rank_after: None,
        cause: detail.map(|detail| detail.cause),
        batch: detail.and_then(|detail| detail.batch),
        core: detail.and_then(|detail| detail.core),
        by: None,
        hop: detail.and_then(|detail| detail.hop),
        changed_links: links.map(|links| links.0),
        core_links: links.map(|links| links.1),
        succeeds: None,
        fetches: None,
        successor: None,
    }
}

fn seed_change(
    views: &Views,
    change: Change,
    page: PageId,
    detail: Option<&CauseDetail>,
) -> Result<SeedChange, EngineError> {
    let by = detail.and_then(|detail| detail.by);
    let by = by.map(|page| views.name(page)).transpose()?;
    Ok(SeedChange {
        by: by.map(|(_, url)| url),
        ..without_ranks(change, views.name(page)?.1, detail)
    })
}

/// Returns the current successor of a lost seed.
fn successor(
    views: &Views,
    pair: &Pair<'_>,
    page: PageId,
) -> Result<Option<SuccessorView>, EngineError> {
    let Some(to) = &pair.to.run else {
        return Ok(None);
    };
    let core = pair.from.run.as_ref().and_then(|from| {
        let SeedEvidence::Core { core, .. } = from.seeds.get(&page)?.evidence else {
            return None;
        };
        Some((from.refresh, core))
    });
    let successors = Successors::new(&views.reader, views.naming.sites, &to.plan, &pair.timelines);
    let found = successors.find(OldSeed { page, core })?;
    found
        .map(|(page, succession)| successor_view(views, page, succession))
        .transpose()
}
