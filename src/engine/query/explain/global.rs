//! Explains pages for plans over the web.

use super::answers::{
    IneligibleReason, SiteSeed, Unreached, ValueBreakdown, WebSeed, WebTerms, WebValueBreakdown,
    Why,
};
use super::context::Context;

use crate::engine::EngineError;
use seedbank_algorithms::cover::global::{ValueBy, WebChoice};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_store::evidence::{Reach, ReachKey};
use seedbank_store::page_blocks::{BLOCK, place};
use seedbank_store::records::{
    HopEvidence, PageRecord, PageState, RefreshId, SeedEvidence, SeedRecord, WebEvidence, WebHop,
};
use seedbank_store::{Key, StoreError, tables};

pub(super) fn why(
    context: &Context,
    choice: &WebChoice,
    page: PageId,
    record: &PageRecord,
) -> Result<Why, EngineError> {
    let first = match seed(context, 1) {
        Ok(first) => Some(first),
        Err(_) if context.chosen() == 0 => None,
        Err(e) => return Err(e),
    };
    let reach = match &first {
        Some((_, evidence)) => reach(context, evidence.since, page)?,
        None => None,
    };
    let (Some(first), Some(reach)) = (first, reach) else {
        return Ok(Why::Ineligible {
            reason: unstored_reason(context, page, record)?,
        });
    };
    // The first seed was read already; a second read of it would count.
    let seed_at = |rank| match rank {
        1 => Ok(first.clone()),
        _ => seed(context, rank),
    };
    let by = |rank| {
        let (page, evidence) = seed_at(rank)?;
        Ok::<_, EngineError>(site_seed(context, rank, page, &evidence)?)
    };
    if let Some(rank) = reach.pick {
        let (page, evidence) = seed_at(rank)?;
        let (rank_on_list, deferred) = context.rank(page, rank)?;
        let reached_by = reach.covered.filter(|covered| covered.pick != rank);
        let reached_by = reached_by
            .map(|covered| Ok::<_, EngineError>((by(covered.pick)?, covered.hop)))
            .transpose()?;
        let runner_up = evidence
            .runner_up
            .map(|(page, score)| context.scored(page, score));
        return Ok(Why::WebSeed(Box::new(WebSeed {
            rank: rank_on_list,
            deferred,
            since: evidence.since,
            is_first: rank == 1,
            gain: evidence.gain,
            reaches: total(&evidence.hops),
            hops: evidence.hops.iter().map(|hop| total(&[*hop])).collect(),
            runner_up: runner_up.transpose()?,
            reached_by,
            terms: terms(context, choice, &first.1),
        })));
    }
    if let Some(page) = reach.represented_by {
        return Ok(Why::Represented {
            by: context.url(page)?,
        });
    }
    if let Some(covered) = reach.covered {
        return Ok(Why::Reached {
            by: by(covered.pick)?,
            hop: covered.hop,
        });
    }
    let is_complete = context.chosen() == choice.seeds;
    Ok(Why::Unreached(Box::new(Unreached {
        score: reach.score,
        last_pick: is_complete.then(|| by(context.chosen())).transpose()?,
        picks: context.chosen(),
        seeds_requested: choice.seeds,
        terms: terms(context, choice, &first.1),
    })))
}

/// Returns why nothing is stored about a page: no seed reaches it, and it was not eligible.
fn unstored_reason(
    context: &Context,
    page: PageId,
    record: &PageRecord,
) -> Result<IneligibleReason, StoreError> {
    Ok(match context.ineligible_reason(page, record)? {
        Some(reason) => reason,
        // The state at the refresh is unknown: use the current one.
        None if record.state == PageState::Crawled => IneligibleReason::NoLinks,
        None => IneligibleReason::NotCrawled,
    })
}

fn reach(context: &Context, since: RefreshId, page: PageId) -> Result<Option<Reach>, StoreError> {
    let (block, place) = place(page.index());
    let key = ReachKey {
        refresh: since,
        site: page.site(),
        block,
    };
    let block = context.views.reader.get(&tables::REACH, &key)?;
    Ok(block.and_then(|block| block.at(place).copied()))
}

fn seed(context: &Context, rank: u32) -> Result<(PageId, WebEvidence), EngineError> {
    let store = &context.views.reader;
    let seed = store.need(&tables::SEEDS, &(context.refresh, rank))?;
    web_evidence(seed)
}

fn web_evidence(seed: SeedRecord) -> Result<(PageId, WebEvidence), EngineError> {
    match seed.evidence {
        SeedEvidence::Web(evidence) => Ok((seed.page, evidence)),
        SeedEvidence::Core { .. } | SeedEvidence::Cover(_) | SeedEvidence::ByPolicy => Err(
            EngineError::Internal("a seed of a plan over the web is of another kind"),
        ),
    }
}

fn site_seed(
    context: &Context,
    selected_rank: u32,
    page: PageId,
    evidence: &WebEvidence,
) -> Result<SiteSeed, StoreError> {
    let (rank, deferred) = context.rank(page, selected_rank)?;
    Ok(SiteSeed {
        rank,
        deferred,
        url: context.url(page)?,
        pick: selected_rank,
        gain: evidence.gain,
    })
}

/// `first` is the evidence of the first seed.
fn terms(context: &Context, choice: &WebChoice, first: &WebEvidence) -> WebTerms {
    // A cost that follows from learned values is that of a page that the seed reaches.
    let of_page = first.hops.iter().find(|hop| hop.all.pages > 0);
    let cost = match choice.fetch_cost {
        Some(cost) => cost.0,
        None => of_page.map_or(0, |hop| hop.cost / i64::from(hop.all.pages)),
    };
    WebTerms {
        hops: choice.hops.unwrap_or(0),
        fetch_cost: cost as f64 / 1e6,
        budget: choice.budget,
        tuned: context.tuned.clone(),
        learned: choice.value_by == ValueBy::Learned,
        keep_seeds: Some(choice.keep_seeds).filter(|slack| !slack.is_exact()),
    }
}

/// Returns the sum over hops. Values are added as integers before the conversion to units.
fn total(hops: &[WebHop]) -> WebValueBreakdown {
    let sum = |of: fn(&HopEvidence) -> u64| hops.iter().map(|hop| of(&hop.all)).sum();
    let millionths = |of: fn(&WebHop) -> i64| hops.iter().map(of).sum::<i64>() as f64 / 1e6;
    WebValueBreakdown {
        all: ValueBreakdown {
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

/// Picks on a site, the number of its pages that any seed reaches, and the candidates that none does.
pub(super) struct SiteReach {
    pub(super) since: Option<RefreshId>,
    pub(super) seeds: Vec<SiteSeed>,
    pub(super) reached: u64,
    pub(super) unreached: Vec<(PageId, Option<f64>)>,
}

impl SiteReach {
    pub(super) fn new(context: &Context, site: SiteId) -> Result<Self, EngineError> {
        let mut found = Self {
            since: None,
            seeds: Vec::new(),
            reached: 0,
            unreached: Vec::new(),
        };
        if context.chosen() == 0 {
            return Ok(found);
        }
        let store = &context.views.reader;
        let since = seed(context, 1)?.1.since;
        found.since = Some(since);
        let prefix = (since, site).bytes();
        for entry in store.scan_under(&tables::REACH, &prefix)? {
            let (key, block) = entry?;
            for (place, reach) in block.0 {
                if let Some(rank) = reach.pick {
                    let (page, evidence) = seed(context, rank)?;
                    let seed = site_seed(context, rank, page, &evidence)?;
                    found.seeds.push(seed);
                }
                if reach.covered.is_some() {
                    found.reached += 1;
                } else if reach.pick.is_none() && reach.represented_by.is_none() {
                    let first = key.block.saturating_mul(BLOCK);
                    let page = PageId::new(site, first.saturating_add(place));
                    found.unreached.push((page, reach.score));
                }
            }
        }
        found.seeds.sort_by_key(|seed| (seed.deferred, seed.rank));
        Ok(found)
    }
}
