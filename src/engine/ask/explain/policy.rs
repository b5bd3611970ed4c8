//! Finds what the policies of a plan say of a page.

use super::case::Case;
use super::says::PolicySays;
use crate::engine::EngineError;
use crate::engine::policy::{Caps, HeldBy};
use crate::ingest;
use crate::page::PageId;
use crate::storage::evidence::CoreEvidence;
use crate::storage::records::{PageRecord, RefreshId, SeedEvidence};
use crate::storage::tables;

/// A refresh's list as far as it matters to one page.
struct OnList {
    /// The page's rank; `None` where it is not on the list.
    rank: Option<u32>,
    /// Whether the method came to the page.
    is_chosen: bool,
    last_chosen: RefreshId,
}

/// What the policies say of a page; `None` without policies, or where they have nothing to say.
///
/// Cost: with a limit on changes one scan of the list; with caps one of the seeds.
pub(super) fn says(
    case: &Case,
    page: PageId,
    record: &PageRecord,
) -> Result<Option<PolicySays>, EngineError> {
    let Some(rules) = &case.rules else {
        return Ok(None);
    };
    let site = case.views.reader.need(&tables::SITES, &page.site())?.name;
    let on_list = on_list(case, page)?;
    if rules.pins.place(page).is_some() {
        return Ok(on_list.rank.map(|rank| PolicySays::Pinned { rank }));
    }
    let url = ingest::url(&site, &record.local, case.views.naming.sites);
    let left_out = rules.pins.left_out.iter().find(|pin| {
        let at = ingest::parse(&pin.url, case.views.naming);
        at.is_ok_and(|at| at.url(case.views.naming.sites) == url)
    });
    if let Some(pin) = left_out {
        return Ok(Some(PolicySays::PinLeftOut { why: pin.why }));
    }
    if let Some(rank) = on_list.rank {
        let last_chosen = on_list.last_chosen;
        let stays = PolicySays::Stays { rank, last_chosen };
        return Ok((!on_list.is_chosen).then_some(stays));
    }
    let held = |by: HeldBy| PolicySays::HeldBack { by, line: None };
    if on_list.is_chosen {
        return Ok(Some(held(HeldBy::MaxChanges)));
    }
    if let Some(refusal) = rules.candidates.refusal(&site, record) {
        return Ok(Some(PolicySays::HeldBack {
            by: refusal.by,
            line: refusal.line,
        }));
    }
    let member = case
        .views
        .reader
        .get(&tables::MEMBERS, &(case.refresh, page))?;
    let core = match member.filter(|member| member.hub.is_some()) {
        Some(member) => {
            let key = (case.refresh, member.core);
            Some((
                member.core,
                case.views.reader.need(&tables::CORE_EVIDENCE, &key)?,
            ))
        }
        None => None,
    };
    if let Some(by) = core.as_ref().and_then(|(_, core)| too_small(case, core)) {
        return Ok(Some(held(by)));
    }
    let is_core = case.record.standings.is_some();
    if !rules.policy.has_caps() || (is_core && core.is_none()) {
        return Ok(None);
    }
    Ok(full_at(case, page, core.map(|core| core.0))?.map(held))
}

/// Which policy keeps a core from giving a seed, for its size.
fn too_small(case: &Case, core: &CoreEvidence) -> Option<HeldBy> {
    let policy = &case.rules.as_ref()?.policy;
    if core.gives_seed {
        None
    } else if core.hubs < policy.min_hubs {
        Some(HeldBy::MinHubs)
    } else if core.authorities < policy.min_authorities {
        Some(HeldBy::MinAuthorities)
    } else {
        None
    }
}

/// The cap that was full on the site of a page when its core was asked for a seed, or without a core
/// in the end.
fn full_at(case: &Case, page: PageId, core: Option<u32>) -> Result<Option<HeldBy>, EngineError> {
    let Some(rules) = &case.rules else {
        return Ok(None);
    };
    let store = &case.views.reader;
    let mut caps = Caps::new(&rules.policy);
    for entry in store.scan_under(&tables::SEEDS, &case.refresh.to_be_bytes())? {
        let (_, seed) = entry?;
        let is_before = match (&seed.evidence, core) {
            (SeedEvidence::Core { core: of, .. }, Some(core)) => {
                *of < core || rules.pins.place(seed.page).is_some()
            }
            _ => true,
        };
        if is_before {
            caps.take(store, seed.page.site())?;
        }
    }
    caps.full(store, page.site())
}

fn on_list(case: &Case, page: PageId) -> Result<OnList, EngineError> {
    let store = &case.views.reader;
    let prefix = case.refresh.to_be_bytes();
    let mut found = OnList {
        rank: None,
        is_chosen: false,
        last_chosen: case.refresh,
    };
    for entry in store.scan_under(&tables::SEEDS, &prefix)? {
        let ((_, rank), seed) = entry?;
        if seed.page == page {
            found.is_chosen = true;
            found.rank = Some(rank);
        }
    }
    if case.record.chosen.is_some() {
        found.rank = None;
        for entry in store.scan_under(&tables::LISTED, &prefix)? {
            let ((_, rank), listed) = entry?;
            if listed.page == page {
                found.rank = Some(rank);
                found.last_chosen = listed.last_chosen;
            }
        }
    }
    Ok(found)
}

/// The rank of a seed on the list of a refresh with policies; `None` where it is not on it.
pub(super) fn rank(case: &Case, page: PageId) -> Result<Option<u32>, EngineError> {
    Ok(on_list(case, page)?.rank)
}
