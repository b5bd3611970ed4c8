//! Why a page is a seed by cores, or why not.

use super::answers::{LeftOut, Why};
use super::case::Case;
use super::core_answers::{
    CoreMember, CoreNumbers, CoreSeed, NearCore, NotTaken, PlaceView, Role, RowSums, ScoredUrl,
};
use crate::engine::EngineError;
use crate::engine::ask::views::bound;
use crate::engine::plan::{CorePlan, Plan};
use seedbank_algorithms::cores::{Growth, Rule};
use seedbank_algorithms::page::PageId;
use seedbank_store::component_cache::{CoreOrigin, CoreOriginKey};
use seedbank_store::evidence::{
    CoreEvidence, CoreProximity, LinkStatus, PageEvidence, PageEvidenceKey, SidePlace,
};
use seedbank_store::page_blocks::place;
use seedbank_store::records::PageRecord;
use seedbank_store::{StoreError, tables};

pub(super) fn why(
    case: &Case,
    plan: &CorePlan,
    page: PageId,
    record: &PageRecord,
) -> Result<Why, EngineError> {
    let store = &case.views.reader;
    if let Some(member) = store.get(&tables::CORE_MEMBERS, &(case.refresh, page))? {
        let rank = member.core;
        let core = evidence(case, rank)?;
        if core.seed == page && core.gives_seed {
            return Ok(Why::CoreSeed(Box::new(seed(case, rank, &core)?)));
        }
        return Ok(Why::CoreMember(Box::new(CoreMember {
            hub: member.hub.map(view),
            authority: member.authority.map(view),
            seed: seed_of(case, &core)?,
            core: numbers(case, rank, &core)?,
        })));
    }
    let Some(standing) = standing(case, page)? else {
        let unlinked = Why::Unlinked {
            others_left_out: false,
        };
        let reason = case.without_evidence(page, record)?;
        return Ok(reason.map_or(unlinked, |reason| Why::LeftOut { reason }));
    };
    let reason = match standing.links {
        LinkStatus::Spam => LeftOut::Spam,
        // What took no part at all: the page's own record knows more.
        LinkStatus::Gone => case
            .without_evidence(page, record)?
            .unwrap_or(LeftOut::Gone),
        LinkStatus::NotCrawled => LeftOut::NotCrawled,
        LinkStatus::Excluded => LeftOut::Excluded,
        LinkStatus::Isolated => {
            return Ok(Why::Unlinked {
                others_left_out: true,
            });
        }
        LinkStatus::Counted {
            as_authority,
            as_hub,
            ..
        } => {
            let sums = sums(case, as_authority, as_hub)?;
            if let Some(near) = standing.near
                && let Some(rank) = rank(case, near.core)?
            {
                let near = near_core(case, plan, (near, rank), sums)?;
                return Ok(Why::NearCore(Box::new(near)));
            }
            return Ok(Why::RowSum(sums));
        }
    };
    Ok(Why::LeftOut { reason })
}

/// The rank of a core in the refresh; `None` if it is none of its cores.
fn rank(case: &Case, origin: CoreOrigin) -> Result<Option<u32>, StoreError> {
    let of = case.refresh;
    let key = CoreOriginKey { of, origin };
    case.views.reader.get(&tables::CORE_ORIGINS, &key)
}

fn evidence(case: &Case, rank: u32) -> Result<CoreEvidence, StoreError> {
    let store = &case.views.reader;
    store.need(&tables::CORE_EVIDENCE, &(case.refresh, rank))
}

/// What the refresh kept about a page on inter-site links.
pub(super) fn standing(case: &Case, page: PageId) -> Result<Option<PageEvidence>, StoreError> {
    let Some(of) = case.record.standings else {
        return Ok(None);
    };
    let (block, place) = place(page.index());
    let key = PageEvidenceKey {
        series: of.series,
        site: page.site(),
        block,
        refresh: case.refresh,
    };
    let store = &case.views.reader;
    let mut found = store.scan_from(&tables::PAGE_EVIDENCE, &key, &key.block_prefix())?;
    let found = found.next().transpose()?;
    let block = found.and_then(|(_, standings)| standings.0);
    Ok(block.and_then(|block| block.at(place).copied()))
}

fn view(place: SidePlace) -> PlaceView {
    PlaceView {
        score: place.score,
        rank: place.rank,
        taken: place.taken,
    }
}

fn numbers(case: &Case, rank: u32, core: &CoreEvidence) -> Result<CoreNumbers, StoreError> {
    let sigma_bound = match &case.plan {
        Plan::Cores(plan) if !plan.params.within.is_exact() => {
            bound(&case.views, case.refresh, rank)?
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
        gives_seed: is_seed(case, core.seed),
    })
}

/// Whether a page is on the list; without policies every core's seed is.
pub(super) fn is_seed(case: &Case, page: PageId) -> bool {
    let place = case.place(page);
    case.places.is_none() || place.is_some_and(|place| place.listed.is_some())
}

fn seed_of(case: &Case, core: &CoreEvidence) -> Result<ScoredUrl, StoreError> {
    case.scored((core.seed, core.seed_place.score))
}

/// Why the seed of a core is a seed.
pub(super) fn seed(case: &Case, rank: u32, core: &CoreEvidence) -> Result<CoreSeed, EngineError> {
    let first = core.first.iter().map(|page| case.url(*page));
    let runner_up = core.runner_up.map(|second| case.scored(second));
    // Without policies a seed's rank is that of its core.
    let (of_list, held_back) = case.rank(core.seed, rank);
    Ok(CoreSeed {
        rank: of_list,
        held_back,
        since: core.since,
        core: numbers(case, rank, core)?,
        hub: view(core.seed_place),
        leads_to: core.leads_to,
        leads_to_sites: core.leads_to_sites,
        first: first.collect::<Result<_, _>>()?,
        runner_up: runner_up.transpose()?,
    })
}

fn sums(case: &Case, as_authority: u64, as_hub: u64) -> Result<RowSums, StoreError> {
    let last_lambda = match case.record.cores {
        0 => None,
        last => Some(evidence(case, last)?.sigma.powi(2)),
    };
    let largest = as_authority.max(as_hub) as f64;
    Ok(RowSums {
        as_authority,
        as_hub,
        last_lambda,
        // Sigma can round to above an exact row sum.
        reaches: last_lambda.is_none_or(|lambda| largest >= lambda * (1.0 - 1e-8)),
    })
}

fn near_core(
    case: &Case,
    plan: &CorePlan,
    (near, rank): (CoreProximity, u32),
    sums: RowSums,
) -> Result<NearCore, StoreError> {
    let core = evidence(case, rank)?;
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
        _ if hubs_full => NotTaken::HubsFull,
        Rule::Size { .. } => NotTaken::CoreFull,
        Rule::Density { .. } if u64::from(near.links) < needs => NotTaken::LacksLinks,
        Rule::Density {
            growth: Growth::Literal,
            ..
        } => NotTaken::Ended,
        Rule::Density { .. } => NotTaken::LacksLinks,
    };
    Ok(NearCore {
        seed: seed_of(case, &core)?,
        role,
        score: near.score,
        weakest: case.scored(weakest)?,
        links: near.links,
        needs,
        reason,
        sums,
        core: numbers(case, rank, &core)?,
    })
}
