//! Determines the verdict of a plan's policies on a page.

use std::collections::BTreeSet;

use super::answers::{PolicyVerdict, SeedByPolicy};
use super::context::Context;
use crate::engine::EngineError;
use crate::engine::policy::{Caps, RejectedPin, RejectionReason};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_formats::ingest;
use seedbank_store::evidence::CoreEvidence;
use seedbank_store::records::{PageRecord, SeedEvidence};
use seedbank_store::tables;

/// Returns the verdict of the policies on a page; `None` without policies, or if none affects the page.
///
/// Cost: one scan of the seeds if there are caps.
pub(super) fn verdict(
    context: &Context,
    page: PageId,
    record: &PageRecord,
) -> Result<Option<PolicyVerdict>, EngineError> {
    let rejected = |by: RejectionReason| PolicyVerdict::Rejected { by, line: None };
    let Some(rules) = &context.rules else {
        let is_document = record.is_document();
        return Ok(is_document.then(|| rejected(RejectionReason::Document)));
    };
    let site = context
        .views
        .reader
        .need(&tables::SITES, &page.site())?
        .name;
    let url = ingest::url(&site, &record.local, context.views.naming.sites);
    let position = context.position(page);
    if position.is_some_and(|position| position.listed.is_some()) {
        return Ok(listed_by(context, page, &url));
    }
    if let Some(pin) = rejected_pin(context, &url) {
        return Ok(Some(PolicyVerdict::PinRejected { why: pin.why }));
    }
    if position.is_some() {
        return Ok(Some(rejected(RejectionReason::MaxChanges)));
    }
    let store = &context.views.reader;
    if let Some(by) = rules.pages.reason_of(store, page, &site, record)? {
        let line = rules.pages.line(by, &site, record);
        return Ok(Some(PolicyVerdict::Rejected { by, line }));
    }
    let member = context
        .views
        .reader
        .get(&tables::CORE_MEMBERS, &(context.refresh, page))?;
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
    if let Some((rank, core)) = &core
        && let Some(by) = too_small(context, *rank, core)?
    {
        return Ok(Some(rejected(by)));
    }
    let is_core = context.record.standings.is_some();
    if !rules.policy.has_caps() || (is_core && core.is_none()) {
        return Ok(None);
    }
    Ok(full_cap(context, page, core.map(|core| core.0))?.map(rejected))
}

/// Returns the policy that rejects a core for its size or the number of sites of its hubs.
fn too_small(
    context: &Context,
    rank: u32,
    core: &CoreEvidence,
) -> Result<Option<RejectionReason>, EngineError> {
    let Some(rules) = context.rules.as_ref().filter(|_| !core.gives_seed) else {
        return Ok(None);
    };
    let store = &context.views.reader;
    let record = store.need(&tables::CORES, &(context.refresh, rank))?;
    let (hubs, authorities) = (record.hubs.len(), record.authorities.len());
    let policy = &rules.policy;
    Ok(policy.rejects_core(hubs, authorities, record.hub_sites()))
}

/// Returns the cap that was full for the site of a page when its core's turn came; without a core, at the
/// end.
fn full_cap(
    context: &Context,
    page: PageId,
    core: Option<u32>,
) -> Result<Option<RejectionReason>, EngineError> {
    let Some(rules) = &context.rules else {
        return Ok(None);
    };
    let store = &context.views.reader;
    let mut caps = Caps::new(&rules.policy);
    for entry in store.scan_under(&tables::SEEDS, &context.refresh.to_be_bytes())? {
        let (_, seed) = entry?;
        // Only seeds of earlier cores, and pins, counted towards the caps by then.
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

/// Returns the pin of this URL that was rejected when the lists were read.
fn rejected_pin<'a>(context: &'a Context, url: &str) -> Option<&'a RejectedPin> {
    let naming = context.views.naming;
    let mut pins = context.rules.as_ref()?.pins.rejected.iter();
    pins.find(|pin| ingest::parse(&pin.url, naming).is_ok_and(|at| at.url(naming.sites) == url))
}

/// Returns the policy that puts a page on the list; `None` if the page is not on it, or only by the method.
fn listed_by(context: &Context, page: PageId, url: &str) -> Option<PolicyVerdict> {
    let position = context.position(page)?;
    let rank = position.listed?;
    // A pinned page may have died since the refresh.
    let is_pinned = context.rules.as_ref()?.pins.position(page).is_some();
    if is_pinned || rejected_pin(context, url).is_some() {
        return Some(PolicyVerdict::Pinned { rank });
    }
    let last_chosen = position.last_chosen;
    let retained = PolicyVerdict::Retained { rank, last_chosen };
    position.chosen.is_none().then_some(retained)
}

/// Returns the seeds of a site that policies put on the list, by rank, except those already in `named`.
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
