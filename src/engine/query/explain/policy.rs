//! Finds what the policies of a plan say of a page.

use std::collections::BTreeSet;

use super::context::Context;
use super::policy_verdict::{PolicyVerdict, SeedByPolicy};
use crate::engine::EngineError;
use crate::engine::policy::{Caps, HeldBy, LeftOutPin};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_formats::ingest;
use seedbank_store::evidence::CoreEvidence;
use seedbank_store::records::{PageRecord, SeedEvidence};
use seedbank_store::tables;

/// What the policies say of a page; `None` without policies, or where they have nothing to say.
///
/// Cost: with caps one scan of the seeds.
pub(super) fn verdict(
    context: &Context,
    page: PageId,
    record: &PageRecord,
) -> Result<Option<PolicyVerdict>, EngineError> {
    let Some(rules) = &context.rules else {
        return Ok(None);
    };
    let site = context
        .views
        .reader
        .need(&tables::SITES, &page.site())?
        .name;
    let url = ingest::url(&site, &record.local, context.views.naming.sites);
    let place = context.position(page);
    if place.is_some_and(|place| place.listed.is_some()) {
        return Ok(listed_by(context, page, &url));
    }
    if let Some(pin) = rejected_pin(context, &url) {
        return Ok(Some(PolicyVerdict::PinRejected { why: pin.why }));
    }
    let held = |by: HeldBy| PolicyVerdict::Rejected { by, line: None };
    if place.is_some() {
        return Ok(Some(held(HeldBy::MaxChanges)));
    }
    if let Some(refusal) = rules.candidates.refusal(&site, record) {
        return Ok(Some(PolicyVerdict::Rejected {
            by: refusal.by,
            line: refusal.line,
        }));
    }
    let member = case
        .views
        .reader
        .get(&tables::MEMBERS, &(context.refresh, page))?;
    let core = match member.filter(|member| member.hub.is_some()) {
        Some(member) => {
            let key = (context.refresh, member.core);
            Some((
                member.core,
                context.views.reader.need(&tables::CORE_EVIDENCE, &key)?,
            ))
        }
        None => None,
    };
    if let Some(by) = core.as_ref().and_then(|(_, core)| too_small(context, core)) {
        return Ok(Some(held(by)));
    }
    let is_core = context.record.standings.is_some();
    if !rules.policy.has_caps() || (is_core && core.is_none()) {
        return Ok(None);
    }
    Ok(full_cap(context, page, core.map(|core| core.0))?.map(held))
}

/// Which policy keeps a core from giving a seed, for its size.
fn too_small(context: &Context, core: &CoreEvidence) -> Option<HeldBy> {
    let policy = &context.rules.as_ref()?.policy;
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
fn full_cap(
    context: &Context,
    page: PageId,
    core: Option<u32>,
) -> Result<Option<HeldBy>, EngineError> {
    let Some(rules) = &context.rules else {
        return Ok(None);
    };
    let store = &context.views.reader;
    let mut caps = Caps::new(&rules.policy);
    for entry in store.scan_under(&tables::SEEDS, &context.refresh.to_be_bytes())? {
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

/// The pin of this URL that was no seed when the lists were read.
fn rejected_pin<'a>(context: &'a Context, url: &str) -> Option<&'a LeftOutPin> {
    let naming = context.views.naming;
    let mut pins = context.rules.as_ref()?.pins.left_out.iter();
    pins.find(|pin| ingest::parse(&pin.url, naming).is_ok_and(|at| at.url(naming.sites) == url))
}

/// Which policy has a page on the list; `None` where it is not on it, or by the method alone.
fn listed_by(context: &Context, page: PageId, url: &str) -> Option<PolicyVerdict> {
    let place = context.position(page)?;
    let rank = place.listed?;
    // A pin may have died since.
    let is_pinned = context.rules.as_ref()?.pins.place(page).is_some();
    if is_pinned || rejected_pin(context, url).is_some() {
        return Some(PolicyVerdict::Pinned { rank });
    }
    let last_chosen = place.last_chosen;
    let stays = PolicyVerdict::Retained { rank, last_chosen };
    place.chosen.is_none().then_some(stays)
}

/// The seeds of a site that policies have on the list, by rank, but for those that are `named` already.
pub(super) fn seeds_of_site(
    context: &Context,
    site: SiteId,
    named: &BTreeSet<&str>,
) -> Result<Vec<SeedByPolicy>, EngineError> {
    let mut listed: Vec<(u32, PageId)> =
        context
            .positions
            .as_ref()
            .map_or_else(Vec::new, |positions| {
                let all = positions.listed();
                all.filter(|(_, page)| page.site() == site).collect()
            });
    listed.sort_unstable();
    let mut found = Vec::new();
    for (_, page) in listed {
        let url = context.url(page)?;
        if let Some(verdict) = listed_by(context, page, &url).filter(|_| !named.contains(&*url)) {
            found.push(SeedByPolicy { url, verdict });
        }
    }
    Ok(found)
}
