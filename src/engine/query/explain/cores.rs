//! Why a page is a seed by cores, or why not.

use super::answers::{IneligibleReason, Why};
use super::context::Context;
use super::core_answers::{
    CoreMember, CoreNumbers, CoreSeed, NearCore, NotAdded, Role, RowSums, ScoredUrl, SidePosition,
};
use crate::engine::EngineError;
use crate::engine::plan::{CorePlan, Plan};
use crate::engine::query::views::sigma_bound;
use seedbank_algorithms::cores::{Growth, Rule};
use seedbank_algorithms::page::PageId;
use seedbank_store::blocks::place;
use seedbank_store::evidence::{CoreEvidence, Links, Near, SidePlace, Standing, StandingKey};
use seedbank_store::ledger::{CoreOrigin, OriginKey};
use seedbank_store::records::PageRecord;
use seedbank_store::{StoreError, tables};

pub(super) fn why(
    context: &Context,
    plan: &CorePlan,
    page: PageId,
    record: &PageRecord,
) -> Result<Why, EngineError> {
    let store = &context.views.reader;
    if let Some(member) = store.get(&tables::MEMBERS, &(context.refresh, page))? {
        let rank = member.core;
        let core = evidence(context, rank)?;
        if core.seed == page && core.gives_seed {
            return Ok(Why::CoreSeed(Box::new(seed(context, rank, &core)?)));
        }
        return Ok(Why::CoreMember(Box::new(CoreMember {
            hub: member.hub.map(view),
            authority: member.authority.map(view),
            seed: seed_of(context, &core)?,
            core: numbers(context, rank, &core)?,
        })));
    }
    let Some(standing) = standing(context, page)? else {
        let unlinked = Why::NoInterSiteLinks {
            neighbours_ineligible: false,
        };
        let reason = context.ineligible_reason(page, record)?;
        return Ok(reason.map_or(unlinked, |reason| Why::Ineligible { reason }));
    };
    let reason = match standing.links {
        Links::Spam => IneligibleReason::Spam,
        // What took no part at all: the page's own record knows more.
        Links::Gone => case
            .ineligible_reason(page, record)?
            .unwrap_or(IneligibleReason::Gone),
        Links::NotCrawled => IneligibleReason::NotCrawled,
        Links::Excluded => IneligibleReason::Excluded,
        Links::Alone => {
            return Ok(Why::NoInterSiteLinks {
                neighbours_ineligible: true,
            });
        }
        Links::Counted {
            as_authority,
            as_hub,
            ..
        } => {
            let sums = sums(context, as_authority, as_hub)?;
            if let Some(near) = standing.near
                && let Some(rank) = rank(context, near.core)?
            {
                let near = near_core(context, plan, (near, rank), sums)?;
                return Ok(Why::NearCore(Box::new(near)));
            }
            return Ok(Why::NoCore(sums));
        }
    };
    Ok(Why::Ineligible { reason })
}

/// The rank of a core in the refresh; `None` if it is none of its cores.
fn rank(context: &Context, origin: CoreOrigin) -> Result<Option<u32>, StoreError> {
    let of = context.refresh;
    let key = OriginKey { of, origin };
    context.views.reader.get(&tables::CORE_ORIGINS, &key)
}

fn evidence(context: &Context, rank: u32) -> Result<CoreEvidence, StoreError> {
    let store = &context.views.reader;
    store.need(&tables::CORE_EVIDENCE, &(context.refresh, rank))
}

/// What the refresh kept about a page on inter-site links.
pub(super) fn standing(context: &Context, page: PageId) -> Result<Option<Standing>, StoreError> {
    let Some(of) = context.record.standings else {
        return Ok(None);
    };
    let (block, place) = place(page.index());
    let key = StandingKey {
        series: of.series,
        site: page.site(),
        block,
        refresh: context.refresh,
    };
    let store = &context.views.reader;
    let mut found = store.scan_from(&tables::STANDINGS, &key, &key.of_block())?;
    let found = found.next().transpose()?;
    let block = found.and_then(|(_, standings)| standings.0);
    Ok(block.and_then(|block| block.at(place).copied()))
}

fn view(place: SidePlace) -> SidePosition {
    SidePosition {
        score: place.score,
        rank: place.rank,
        position: place.taken,
    }
}

fn numbers(context: &Context, rank: u32, core: &CoreEvidence) -> Result<CoreNumbers, StoreError> {
    let sigma_bound = match &context.plan {
        Plan::Cores(plan) if !plan.params.within.is_exact() => {
            sigma_bound(&context.views, context.refresh, rank)?
        }
        _ => None,
    };
    Ok(CoreNumbers {
        rank,
        sigma: core.sigma,
        sigma_bound,
        hubs: core.hubs,
        authorities: core.authorities,
        authority_sites: core.authority_sites,
        edges: core.edges,
        gives_seed: is_seed(context, core.seed),
    })
}

/// Whether a page is on the list; without policies every core's seed is.
pub(super) fn is_seed(context: &Context, page: PageId) -> bool {
    let place = context.position(page);
    context.positions.is_none() || place.is_some_and(|place| place.listed.is_some())
}

fn seed_of(context: &Context, core: &CoreEvidence) -> Result<ScoredUrl, StoreError> {
    context.scored((core.seed, core.seed_place.score))
}

/// Why the seed of a core is a seed.
pub(super) fn seed(
    context: &Context,
    rank: u32,
    core: &CoreEvidence,
) -> Result<CoreSeed, EngineError> {
    let first = core.first.iter().map(|page| context.url(*page));
    let runner_up = core.runner_up.map(|second| context.scored(second));
    // Without policies a seed's rank is that of its core.
    let (of_list, deferred) = context.rank(core.seed, rank);
    Ok(CoreSeed {
        rank: of_list,
        deferred,
        since: core.since,
        core: numbers(context, rank, core)?,
        hub: view(core.seed_place),
        linked_authorities: core.leads_to,
        linked_sites: core.leads_to_sites,
        first_authorities: first.collect::<Result<_, _>>()?,
        runner_up: runner_up.transpose()?,
    })
}

fn sums(context: &Context, as_authority: u64, as_hub: u64) -> Result<RowSums, StoreError> {
    let last_lambda = match context.record.cores {
        0 => None,
        last => Some(evidence(context, last)?.sigma.powi(2)),
    };
    let largest = as_authority.max(as_hub) as f64;
    Ok(RowSums {
        as_authority,
        as_hub,
        last_lambda,
        // Sigma can round to above an exact row sum.
        reaches_last_core: last_lambda.is_none_or(|lambda| largest >= lambda * (1.0 - 1e-8)),
    })
}

fn near_core(
    context: &Context,
    plan: &CorePlan,
    (near, rank): (Near, u32),
    sums: RowSums,
) -> Result<NearCore, StoreError> {
    let core = evidence(context, rank)?;
    let (role, weakest, needs) = if near.hub {
        (Role::Hub, core.weakest_hub, core.hub_needs)
    } else {
        (
            Role::Authority,
            core.weakest_authority,
            core.authority_needs,
        )
    };
    let hubs_full = near.hub && plan.params.max_hubs.is_some_and(|most| core.hubs >= most);
    let reason = match plan.params.rule {
        _ if hubs_full => NotAdded::MaxHubs,
        Rule::Size { .. } => NotAdded::CoreSize,
        Rule::Density { .. } if u64::from(near.links) < needs => NotAdded::TooFewLinks,
        Rule::Density {
            growth: Growth::Literal,
            ..
        } => NotAdded::GrowthEnded,
        Rule::Density { .. } => NotAdded::TooFewLinks,
    };
    Ok(NearCore {
        seed: seed_of(context, &core)?,
        role,
        score: near.score,
        weakest: context.scored(weakest)?,
        links: near.links,
        links_needed: needs,
        reason,
        row_sums: sums,
        core: numbers(context, rank, &core)?,
    })
}
