//! Explains pages for plans by cover methods.

use super::answers::{CoverSeed, IneligibleReason, SiteSeed, Uncovered, ValueBreakdown, Why};
use super::context::Context;

use crate::engine::EngineError;
use seedbank_algorithms::page::PageId;
use seedbank_store::evidence::{Reach, ReachKey};
use seedbank_store::page_blocks::place;
use seedbank_store::records::{CoverEvidence, CoverRecord, HopEvidence, PageRecord, SeedEvidence};
use seedbank_store::{StoreError, tables};

pub(super) fn why(
    context: &Context,
    page: PageId,
    record: &PageRecord,
) -> Result<Why, EngineError> {
    let store = &context.views.reader;
    let site = store.get(&tables::COVERS, &(context.refresh, page.site()))?;
    let reach = match &site {
        Some(site) => reach(context, site, page)?,
        None => None,
    };
    let (Some(site), Some(reach)) = (&site, reach) else {
        let reason = context.ineligible_reason(page, record)?;
        return Ok(match (site, reason) {
            (Some(site), None) if site.seats == 0 => Why::NoSeats {
                crawled: site.crawled,
            },
            (_, reason) => Why::Ineligible {
                reason: reason.unwrap_or(IneligibleReason::NotCrawled),
            },
        });
    };
    let by = |pick| site_seed(context, site, pick).map(|(seed, _)| seed);
    if let Some(pick) = reach.pick {
        let covered_by = reach.covered.filter(|covered| covered.pick != pick);
        let covered_by =
            covered_by.map(|covered| Ok::<_, EngineError>((by(covered.pick)?, covered.hop)));
        let (seed, evidence) = site_seed(context, site, pick)?;
        return Ok(Why::CoverSeed(Box::new(CoverSeed {
            rank: seed.rank,
            deferred: seed.deferred,
            since: evidence.since,
            pick,
            seats: site.seats,
            gain: evidence.gain,
            covers: total(&evidence.hops),
            hops: evidence.hops.iter().map(value_of_hop).collect(),
            runner_up: evidence
                .runner_up
                .map(|(page, score)| context.scored(page, score))
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

fn reach(context: &Context, site: &CoverRecord, page: PageId) -> Result<Option<Reach>, StoreError> {
    let (block, place) = place(page.index());
    let key = ReachKey {
        refresh: site.since,
        site: page.site(),
        block,
    };
    let block = context.views.reader.get(&tables::REACH, &key)?;
    Ok(block.and_then(|block| block.at(place).copied()))
}

/// Returns a pick of a site with its evidence.
pub(super) fn site_seed(
    context: &Context,
    site: &CoverRecord,
    pick: u32,
) -> Result<(SiteSeed, CoverEvidence), EngineError> {
    let place = (pick as usize).checked_sub(1);
    let rank = place.and_then(|place| site.ranks.get(place)).copied();
    let rank = rank.ok_or(EngineError::Internal("a pick has no rank"))?;
    let store = &context.views.reader;
    let seed = store.need(&tables::SEEDS, &(context.refresh, rank))?;
    let SeedEvidence::Cover(evidence) = seed.evidence else {
        return Err(EngineError::Internal("a pick of a site is a core's seed"));
    };
    let (rank, deferred) = context.rank(seed.page, rank)?;
    let seed = SiteSeed {
        rank,
        deferred,
        url: context.url(seed.page)?,
        pick,
        gain: evidence.gain,
    };
    Ok((seed, evidence))
}

fn value_of_hop(hop: &HopEvidence) -> ValueBreakdown {
    ValueBreakdown {
        pages: hop.pages.into(),
        clicked: hop.clicked.into(),
        spam: hop.spam.into(),
        uncrawled_outlinks: hop.uncrawled_outlinks,
        value: hop.value as f64 / 1e6,
        uncrawled_value: hop.uncrawled_value as f64 / 1e6,
    }
}

/// Returns the sum over all hops. Values are added as integers before the conversion to units.
pub(super) fn total(hops: &[HopEvidence]) -> ValueBreakdown {
    let sum = |of: fn(&HopEvidence) -> u64| hops.iter().map(of).sum();
    let value = |of: fn(&HopEvidence) -> i64| hops.iter().map(of).sum::<i64>() as f64 / 1e6;
    ValueBreakdown {
        pages: sum(|hop| hop.pages.into()),
        clicked: sum(|hop| hop.clicked.into()),
        spam: sum(|hop| hop.spam.into()),
        uncrawled_outlinks: sum(|hop| hop.uncrawled_outlinks),
        value: value(|hop| hop.value),
        uncrawled_value: value(|hop| hop.uncrawled_value),
    }
}
