//! Why a page is a seed of a plan over the web, or why not.

use super::answers::{LeftOut, Why};
use super::case::Case;
use super::cover_answers::{Parts, SiteSeed, Unreached, WebParts, WebSeed, WebTerms};
use crate::engine::EngineError;
use seedbank_algorithms::cover::global::WebChoice;
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_store::evidence::{Reach, ReachKey};
use seedbank_store::page_blocks::{BLOCK, place};
use seedbank_store::records::{
    HopEvidence, PageRecord, PageState, RefreshId, SeedEvidence, SeedRecord, WebEvidence, WebHop,
};
use seedbank_store::{Key, StoreError, tables};

pub(super) fn why(
    case: &Case,
    choice: &WebChoice,
    page: PageId,
    record: &PageRecord,
) -> Result<Why, EngineError> {
    let first = match seed(case, 1) {
        Ok((_, evidence)) => Some(evidence),
        Err(_) if case.chosen() == 0 => None,
        Err(e) => return Err(e),
    };
    let reach = match &first {
        Some(evidence) => reach(case, evidence.since, page)?,
        None => None,
    };
    let (Some(first), Some(reach)) = (first, reach) else {
        return Ok(Why::LeftOut {
            reason: left_out(case, page, record)?,
        });
    };
    let by = |rank| Ok::<_, EngineError>(view(case, rank, &seed(case, rank)?)?);
    if let Some(rank) = reach.pick {
        let (page, evidence) = seed(case, rank)?;
        let (of_list, held_back) = case.rank(page, rank);
        let reached_by = reach.covered.filter(|covered| covered.pick != rank);
        let reached_by = reached_by
            .map(|covered| Ok::<_, EngineError>((by(covered.pick)?, covered.hop)))
            .transpose()?;
        let runner_up = evidence.runner_up.map(|second| case.scored(second));
        return Ok(Why::WebSeed(Box::new(WebSeed {
            rank: of_list,
            held_back,
            since: evidence.since,
            pick: evidence.pick,
            gain: evidence.gain,
            reaches: total(&evidence.hops),
            hops: evidence.hops.iter().map(|hop| total(&[*hop])).collect(),
            runner_up: runner_up.transpose()?,
            reached_by,
            terms: terms(case, choice),
        })));
    }
    if let Some(covered) = reach.covered {
        return Ok(Why::Reached {
            by: by(covered.pick)?,
            hop: covered.hop,
        });
    }
    let is_complete = case.chosen() == choice.seeds;
    Ok(Why::Unreached(Box::new(Unreached {
        score: reach.score,
        last_pick: is_complete.then(|| by(first.last_rank)).transpose()?,
        picks: case.chosen(),
        seeds_asked: choice.seeds,
        terms: terms(case, choice),
    })))
}

/// Why nothing is kept of a page: it is reached by no seed, and could be none.
fn left_out(case: &Case, page: PageId, record: &PageRecord) -> Result<LeftOut, StoreError> {
    Ok(match case.without_evidence(page, record)? {
        Some(reason) => reason,
        // Where it is not known what the page was, what it is must do.
        None if record.state == PageState::Crawled => LeftOut::NoLinks,
        None => LeftOut::NotCrawled,
    })
}

fn reach(case: &Case, since: RefreshId, page: PageId) -> Result<Option<Reach>, StoreError> {
    let (block, place) = place(page.index());
    let key = ReachKey {
        refresh: since,
        site: page.site(),
        block,
    };
    let block = case.views.reader.get(&tables::REACH, &key)?;
    Ok(block.and_then(|block| block.at(place).copied()))
}

fn seed(case: &Case, rank: u32) -> Result<(PageId, WebEvidence), EngineError> {
    let store = &case.views.reader;
    let seed = store.need(&tables::SEEDS, &(case.refresh, rank))?;
    of_web(seed)
}

fn of_web(seed: SeedRecord) -> Result<(PageId, WebEvidence), EngineError> {
    match seed.evidence {
        SeedEvidence::Web(evidence) => Ok((seed.page, evidence)),
        SeedEvidence::Core { .. } | SeedEvidence::Cover(_) | SeedEvidence::ByPolicy => Err(
            EngineError::Internal("a seed of a plan over the web is of another kind"),
        ),
    }
}

fn view(
    case: &Case,
    rank: u32,
    (page, evidence): &(PageId, WebEvidence),
) -> Result<SiteSeed, StoreError> {
    let (rank, held_back) = case.rank(*page, rank);
    Ok(SiteSeed {
        rank,
        held_back,
        url: case.url(*page)?,
        pick: evidence.pick,
        gain: evidence.gain,
    })
}

fn terms(case: &Case, choice: &WebChoice) -> WebTerms {
    WebTerms {
        hops: choice.hops.unwrap_or(0),
        fetch_cost: choice.fetch_cost.map_or(0.0, |price| price.0 as f64 / 1e6),
        budget: choice.budget,
        tuned: case.tuned.clone(),
    }
}

/// The sum over hops; values are added up before they are converted to units.
fn total(hops: &[WebHop]) -> WebParts {
    let sum = |of: fn(&HopEvidence) -> u64| hops.iter().map(|hop| of(&hop.all)).sum();
    let millionths = |of: fn(&WebHop) -> i64| hops.iter().map(of).sum::<i64>() as f64 / 1e6;
    WebParts {
        all: Parts {
            pages: sum(|all| all.pages.into()),
            clicked: sum(|all| all.clicked.into()),
            spam: sum(|all| all.spam.into()),
            uncrawled_outlinks: sum(|all| all.uncrawled_outlinks),
            value: millionths(|hop| hop.all.value),
            uncrawled_value: millionths(|hop| hop.all.uncrawled_value),
        },
        known: hops.iter().map(|hop| u64::from(hop.known)).sum(),
        cost: millionths(|hop| hop.cost),
        net: millionths(|hop| hop.all.value - hop.cost),
    }
}

/// What a plan over the web made of a site: its seeds there, how many of its pages any seed reaches,
/// and the candidates that none does.
pub(super) struct OfSite {
    pub(super) since: Option<RefreshId>,
    pub(super) seeds: Vec<SiteSeed>,
    pub(super) reached: u64,
    pub(super) unreached: Vec<(PageId, Option<f64>)>,
}

impl OfSite {
    pub(super) fn new(case: &Case, site: SiteId) -> Result<Self, EngineError> {
        let mut found = Self {
            since: None,
            seeds: Vec::new(),
            reached: 0,
            unreached: Vec::new(),
        };
        let store = &case.views.reader;
        for entry in store.scan_under(&tables::SEEDS, &case.refresh.to_be_bytes())? {
            let ((_, rank), seed) = entry?;
            let seed = of_web(seed)?;
            found.since = Some(seed.1.since);
            if seed.0.site() == site {
                found.seeds.push(view(case, rank, &seed)?);
            }
        }
        found.seeds.sort_by_key(|seed| (seed.held_back, seed.rank));
        let Some(since) = found.since else {
            return Ok(found);
        };
        let prefix = (since, site).bytes();
        for entry in store.scan_under(&tables::REACH, &prefix)? {
            let (key, block) = entry?;
            for (place, reach) in block.0 {
                if reach.covered.is_some() {
                    found.reached += 1;
                } else if reach.pick.is_none() {
                    let first = key.block.saturating_mul(BLOCK);
                    let page = PageId::new(site, first.saturating_add(place));
                    found.unreached.push((page, reach.score));
                }
            }
        }
        Ok(found)
    }
}
