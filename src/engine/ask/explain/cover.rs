//! Why a page is a seed of a cover method, or why not.

use super::answers::{LeftOut, Why};
use super::case::Case;
use super::cover_answers::{CoverSeed, Parts, SiteSeed, Uncovered};
use crate::engine::EngineError;
use seedbank_algorithms::page::PageId;
use seedbank_store::evidence::{Reach, ReachKey};
use seedbank_store::page_blocks::place;
use seedbank_store::records::{CoverEvidence, CoverRecord, HopEvidence, PageRecord, SeedEvidence};
use seedbank_store::{StoreError, tables};

pub(super) fn why(case: &Case, page: PageId, record: &PageRecord) -> Result<Why, EngineError> {
    let store = &case.views.reader;
    let site = store.get(&tables::COVERS, &(case.refresh, page.site()))?;
    let reach = match &site {
        Some(site) => reach(case, site, page)?,
        None => None,
    };
    let (Some(site), Some(reach)) = (&site, reach) else {
        let reason = case.without_evidence(page, record)?;
        return Ok(match (site, reason) {
            (Some(site), None) if site.seats == 0 => Why::NoSeats {
                crawled: site.crawled,
            },
            (_, reason) => Why::LeftOut {
                reason: reason.unwrap_or(LeftOut::NotCrawled),
            },
        });
    };
    let by = |pick| site_seed(case, site, pick).map(|(seed, _)| seed);
    if let Some(pick) = reach.pick {
        let covered_by = reach.covered.filter(|covered| covered.pick != pick);
        let covered_by =
            covered_by.map(|covered| Ok::<_, EngineError>((by(covered.pick)?, covered.hop)));
        let (seed, evidence) = site_seed(case, site, pick)?;
        return Ok(Why::CoverSeed(Box::new(CoverSeed {
            rank: seed.rank,
            held_back: seed.held_back,
            since: evidence.since,
            pick,
            seats: site.seats,
            gain: evidence.gain,
            covers: total(&evidence.hops),
            hops: evidence.hops.iter().map(parts).collect(),
            runner_up: evidence
                .runner_up
                .map(|second| case.scored(second))
                .transpose()?,
            covered_by: covered_by.transpose()?,
        })));
    }
    if let Some(covered) = reach.covered {
        return Ok(Why::Covered {
            by: by(covered.pick)?,
            hop: covered.hop,
        });
    }
    let picks = u32::try_from(site.ranks.len()).unwrap_or(u32::MAX);
    let last_pick = (picks > 0).then(|| by(picks)).transpose()?;
    Ok(Why::Uncovered(Box::new(Uncovered {
        score: reach.score,
        exact: reach.exact,
        last_pick,
        picks,
        seats: site.seats,
        stop: site.stop,
    })))
}

fn reach(case: &Case, site: &CoverRecord, page: PageId) -> Result<Option<Reach>, StoreError> {
    let (block, place) = place(page.index());
    let key = ReachKey {
        refresh: site.since,
        site: page.site(),
        block,
    };
    let block = case.views.reader.get(&tables::REACH, &key)?;
    Ok(block.and_then(|block| block.at(place).copied()))
}

/// A pick of a site, with its evidence.
pub(super) fn site_seed(
    case: &Case,
    site: &CoverRecord,
    pick: u32,
) -> Result<(SiteSeed, CoverEvidence), EngineError> {
    let place = (pick as usize).checked_sub(1);
    let rank = place.and_then(|place| site.ranks.get(place)).copied();
    let rank = rank.ok_or(EngineError::Internal("a pick has no rank"))?;
    let store = &case.views.reader;
    let seed = store.need(&tables::SEEDS, &(case.refresh, rank))?;
    let SeedEvidence::Cover(evidence) = seed.evidence else {
        return Err(EngineError::Internal("a pick of a site is a core's seed"));
    };
    let (rank, held_back) = case.rank(seed.page, rank);
    let seed = SiteSeed {
        rank,
        held_back,
        url: case.url(seed.page)?,
        pick,
        gain: evidence.gain,
    };
    Ok((seed, evidence))
}

fn parts(hop: &HopEvidence) -> Parts {
    Parts {
        pages: hop.pages.into(),
        clicked: hop.clicked.into(),
        spam: hop.spam.into(),
        uncrawled_outlinks: hop.uncrawled_outlinks,
        value: hop.value as f64 / 1e6,
        uncrawled_value: hop.uncrawled_value as f64 / 1e6,
    }
}

/// The sum over all hops; values are added up before they are converted to units.
pub(super) fn total(hops: &[HopEvidence]) -> Parts {
    let sum = |of: fn(&HopEvidence) -> u64| hops.iter().map(of).sum();
    let value = |of: fn(&HopEvidence) -> i64| hops.iter().map(of).sum::<i64>() as f64 / 1e6;
    Parts {
        pages: sum(|hop| hop.pages.into()),
        clicked: sum(|hop| hop.clicked.into()),
        spam: sum(|hop| hop.spam.into()),
        uncrawled_outlinks: sum(|hop| hop.uncrawled_outlinks),
        value: value(|hop| hop.value),
        uncrawled_value: value(|hop| hop.uncrawled_value),
    }
}
