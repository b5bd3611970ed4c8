//! Explains pages for plans by cores.

use super::answers::{
    CoreMember, CoreNumbers, CoreSeed, IneligibleReason, NearCore, NotAdded, Role, RowSums,
    ScoredUrl, SidePosition, Why,
};
use super::context::Context;

use crate::engine::EngineError;
use crate::engine::plan::{CorePlan, ResolvedPlan};
use crate::engine::query::views::sigma_bound;
use seedbank_algorithms::cores::{Growth, Rule};
use seedbank_algorithms::graph::number;
use seedbank_algorithms::page::PageId;
use seedbank_store::component_cache::{CoreOrigin, CoreOriginKey};
use seedbank_store::evidence::{
    CoreEvidence, CoreProximity, LinkStatus, PageEvidence, PageEvidenceKey, SidePlace,
};
use seedbank_store::page_blocks::place;
use seedbank_store::records::{PageRecord, SeedEvidence};
use seedbank_store::{StoreError, tables};

pub(super) fn why(
    context: &Context,
    plan: &CorePlan,
    page: PageId,
    record: &PageRecord,
) -> Result<Why, EngineError> {
    let store = &context.views.reader;
    if let Some(member) = store.get(&tables::CORE_MEMBERS, &(context.refresh, page))? {
        let rank = member.core;
        let core = evidence(context, rank)?;
        if core.seed == page && core.gives_seed {
            return Ok(Why::CoreSeed(Box::new(core_seed(context, rank, &core)?)));
        }
        return Ok(Why::CoreMember(Box::new(CoreMember {
            hub: member.hub.map(side_position),
            authority: member.authority.map(side_position),
            seed: scored_seed(context, &core)?,
            core: core_numbers(context, rank, &core)?,
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
        LinkStatus::Spam => IneligibleReason::Spam,
        // The page's own record may give a more precise reason.
        LinkStatus::Gone => context
            .ineligible_reason(page, record)?
            .unwrap_or(IneligibleReason::Gone),
        LinkStatus::NotCrawled => IneligibleReason::NotCrawled,
        LinkStatus::Excluded => IneligibleReason::Excluded,
        LinkStatus::Isolated => {
            return Ok(Why::NoInterSiteLinks {
                neighbours_ineligible: true,
            });
        }
        LinkStatus::Counted {
            as_authority,
            as_hub,
            ..
        } => {
            let sums = row_sums(context, as_authority, as_hub)?;
            if let Some(near) = standing.near
                && let Some(rank) = rank_of(context, near.core)?
            {
                let near = near_core(context, plan, near, rank, sums)?;
                return Ok(Why::NearCore(Box::new(near)));
            }
            return Ok(Why::NoCore(sums));
        }
    };
    Ok(Why::Ineligible { reason })
}

/// Returns the rank of a core in the refresh; `None` if the refresh does not have it.
fn rank_of(context: &Context, origin: CoreOrigin) -> Result<Option<u32>, StoreError> {
    let key = CoreOriginKey {
        of: context.refresh,
        origin,
    };
    context.views.reader.get(&tables::CORE_ORIGINS, &key)
}

fn evidence(context: &Context, rank: u32) -> Result<CoreEvidence, StoreError> {
    let store = &context.views.reader;
    store.need(&tables::CORE_EVIDENCE, &(context.refresh, rank))
}

/// Returns what the refresh stored about a page with inter-site links.
pub(super) fn standing(
    context: &Context,
    page: PageId,
) -> Result<Option<PageEvidence>, StoreError> {
    let Some(of) = context.record.standings else {
        return Ok(None);
    };
    let (block, place) = place(page.index());
    let key = PageEvidenceKey {
        series: of.series,
        site: page.site(),
        block,
        refresh: context.refresh,
    };
    let store = &context.views.reader;
    let mut found = store.scan_from(&tables::PAGE_EVIDENCE, &key, &key.block_prefix())?;
    let found = found.next().transpose()?;
    let block = found.and_then(|(_, standings)| standings.0);
    Ok(block.and_then(|block| block.at(place).copied()))
}

fn side_position(place: SidePlace) -> SidePosition {
    SidePosition {
        score: place.score,
        rank: place.rank,
        position: place.taken,
    }
}

fn core_numbers(
    context: &Context,
    rank: u32,
    core: &CoreEvidence,
) -> Result<CoreNumbers, StoreError> {
    let sigma_bound = match &context.plan {
        ResolvedPlan::Cores(plan) if !plan.params.within.is_exact() => {
            sigma_bound(&context.views, context.refresh, rank)?
        }
        _ => None,
    };
    let record = context
        .views
        .reader
        .need(&tables::CORES, &(context.refresh, rank))?;
    Ok(CoreNumbers {
        rank,
        sigma: core.sigma,
        sigma_bound,
        hubs: core.hubs,
        hub_sites: number(record.hub_sites()),
        authorities: core.authorities,
        authority_sites: core.authority_sites,
        edges: core.edges,
        gives_seed: context.is_listed(core.seed)?,
    })
}

fn scored_seed(context: &Context, core: &CoreEvidence) -> Result<ScoredUrl, StoreError> {
    context.scored(core.seed, core.seed_place.score)
}

/// Explains the seed of a core.
pub(super) fn core_seed(
    context: &Context,
    rank: u32,
    core: &CoreEvidence,
) -> Result<CoreSeed, EngineError> {
    let first = core.first.iter().map(|page| context.url(*page));
    let runner_up = core
        .runner_up
        .map(|(page, score)| context.scored(page, score));
    // Without policies a seed's rank is that of its core.
    let (mut rank_on_list, deferred) = context.rank(core.seed, rank)?;
    if deferred {
        rank_on_list = rank_of_seed(context, rank)?;
    }
    Ok(CoreSeed {
        rank: rank_on_list,
        deferred,
        since: core.since,
        core: core_numbers(context, rank, core)?,
        hub: side_position(core.seed_place),
        linked_authorities: core.leads_to,
        linked_sites: core.leads_to_sites,
        first_authorities: first.collect::<Result<_, _>>()?,
        runner_up: runner_up.transpose()?,
    })
}

/// Returns the rank of a core's seed among the seeds that the method selected. After the pinned ones, these are in the order of
/// their cores.
fn rank_of_seed(context: &Context, core: u32) -> Result<u32, EngineError> {
    let store = &context.views.reader;
    let (mut from, mut to) = (context.pinned_seeds()? + 1, context.chosen());
    while from < to {
        let middle = from.midpoint(to);
        let seed = store.need(&tables::SEEDS, &(context.refresh, middle))?;
        match seed.evidence {
            SeedEvidence::Core { core: of, .. } if of >= core => to = middle,
            _ => from = middle + 1,
        }
    }
    Ok(from)
}

fn row_sums(context: &Context, as_authority: u64, as_hub: u64) -> Result<RowSums, StoreError> {
    let last_lambda = match context.record.cores {
        0 => None,
        last => Some(evidence(context, last)?.sigma.powi(2)),
    };
    let largest = as_authority.max(as_hub) as f64;
    Ok(RowSums {
        as_authority,
        as_hub,
        last_lambda,
        // The tolerance allows for sigma being rounded up.
        reaches_last_core: last_lambda.is_none_or(|lambda| largest >= lambda * (1.0 - 1e-8)),
    })
}

fn near_core(
    context: &Context,
    plan: &CorePlan,
    near: CoreProximity,
    rank: u32,
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
        seed: scored_seed(context, &core)?,
        role,
        score: near.score,
        weakest: context.scored(weakest.0, weakest.1)?,
        links: near.links,
        links_needed: needs,
        reason,
        row_sums: sums,
        core: core_numbers(context, rank, &core)?,
    })
}
