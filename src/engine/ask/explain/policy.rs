//! Finds what the policies of a plan say of a page.

use std::collections::BTreeSet;

use super::case::Case;
use super::says::{PolicySays, SeedByPolicy};
use crate::engine::EngineError;
use crate::engine::policy::{Caps, RejectedPin, RejectionReason};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_formats::ingest;
use seedbank_store::evidence::CoreEvidence;
use seedbank_store::records::{PageRecord, SeedEvidence};
use seedbank_store::tables;

/// What the policies say of a page; `None` without policies, or where they have nothing to say.
///
/// Cost: with caps one scan of the seeds.
pub(super) fn says(
    case: &Case,
    page: PageId,
    record: &PageRecord,
) -> Result<Option<PolicySays>, EngineError> {
    let Some(rules) = &case.rules else {
        return Ok(None);
    };
    let site = case.views.reader.need(&tables::SITES, &page.site())?.name;
    let url = ingest::url(&site, &record.local, case.views.naming.sites);
    let place = case.place(page);
    if place.is_some_and(|place| place.listed.is_some()) {
        return Ok(of_seed(case, page, &url));
    }
    if let Some(pin) = left_out_pin(case, &url) {
        return Ok(Some(PolicySays::PinLeftOut { why: pin.why }));
    }
    let held = |by: RejectionReason| PolicySays::HeldBack { by, line: None };
    if place.is_some() {
        return Ok(Some(held(RejectionReason::MaxChanges)));
    }
    if let Some(refusal) = rules.candidates.rejection(&site, record) {
        return Ok(Some(PolicySays::HeldBack {
            by: refusal.by,
            line: refusal.line,
        }));
    }
    let member = case
        .views
        .reader
        .get(&tables::CORE_MEMBERS, &(case.refresh, page))?;
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
fn too_small(case: &Case, core: &CoreEvidence) -> Option<RejectionReason> {
    let policy = &case.rules.as_ref()?.policy;
    if core.gives_seed {
        None
    } else if core.hubs < policy.min_hubs {
        Some(RejectionReason::MinHubs)
    } else if core.authorities < policy.min_authorities {
        Some(RejectionReason::MinAuthorities)
    } else {
        None
    }
}

/// The cap that was full on the site of a page when its core was asked for a seed, or without a core
/// in the end.
fn full_at(
    case: &Case,
    page: PageId,
    core: Option<u32>,
) -> Result<Option<RejectionReason>, EngineError> {
    let Some(rules) = &case.rules else {
        return Ok(None);
    };
    let store = &case.views.reader;
    let mut caps = Caps::new(&rules.policy);
    for entry in store.scan_under(&tables::SEEDS, &case.refresh.to_be_bytes())? {
        let (_, seed) = entry?;
        let is_before = match (&seed.evidence, core) {
            (SeedEvidence::Core { core: of, .. }, Some(core)) => {
                *of < core || rules.pins.position(seed.page).is_some()
            }
            _ => true,
        };
        if is_before {
            caps.count(store, seed.page.site())?;
        }
    }
    caps.reached(store, page.site())
}

/// The pin of this URL that was no seed when the lists were read.
fn left_out_pin<'a>(case: &'a Case, url: &str) -> Option<&'a RejectedPin> {
    let naming = case.views.naming;
    let mut pins = case.rules.as_ref()?.pins.rejected.iter();
    pins.find(|pin| ingest::parse(&pin.url, naming).is_ok_and(|at| at.url(naming.sites) == url))
}

/// Which policy has a page on the list; `None` where it is not on it, or by the method alone.
fn of_seed(case: &Case, page: PageId, url: &str) -> Option<PolicySays> {
    let place = case.place(page)?;
    let rank = place.listed?;
    // A pin may have died since.
    let is_pinned = case.rules.as_ref()?.pins.position(page).is_some();
    if is_pinned || left_out_pin(case, url).is_some() {
        return Some(PolicySays::Pinned { rank });
    }
    let last_chosen = place.last_chosen;
    let stays = PolicySays::Stays { rank, last_chosen };
    place.chosen.is_none().then_some(stays)
}

/// The seeds of a site that policies have on the list, by rank, but for those that are `named` already.
pub(super) fn of_site(
    case: &Case,
    site: SiteId,
    named: &BTreeSet<&str>,
) -> Result<Vec<SeedByPolicy>, EngineError> {
    let mut listed: Vec<(u32, PageId)> = case.places.as_ref().map_or_else(Vec::new, |places| {
        let all = places.listed();
        all.filter(|(_, page)| page.site() == site).collect()
    });
    listed.sort_unstable();
    let mut found = Vec::new();
    for (_, page) in listed {
        let url = case.url(page)?;
        if let Some(says) = of_seed(case, page, &url).filter(|_| !named.contains(&*url)) {
            found.push(SeedByPolicy { url, says });
        }
    }
    Ok(found)
}
