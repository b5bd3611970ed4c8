//! Determines the verdict of a plan's policies on a page.

use std::collections::BTreeSet;

use super::answers::{PolicyVerdict, SeedByPolicy, Why};
use super::context::Context;
use crate::engine::EngineError;
use crate::engine::policy::{LoadedPolicy, RejectionReason, find_pin, name_of_domain};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_formats::ingest::{self, Location};
use seedbank_store::evidence::CoreEvidence;
use seedbank_store::records::{PageRecord, SeedEvidence};
use seedbank_store::{Key, tables};

/// Returns the verdict of the policies on a page, given why it is a seed or not; `None` without policies, or if none affects the
/// page.
pub(super) fn verdict(
    context: &Context,
    page: PageId,
    site: &str,
    record: &PageRecord,
    why: &Why,
) -> Result<Option<PolicyVerdict>, EngineError> {
    let rejected = |by: RejectionReason| PolicyVerdict::Rejected { by, line: None };
    let Some(rules) = &context.rules else {
        let is_document = record.is_document();
        return Ok(is_document.then(|| rejected(RejectionReason::Document)));
    };
    let location = Location {
        site: site.to_owned(),
        local: record.local.clone(),
    };
    let url = location.url(context.views.naming.sites);
    if let Some(rank) = context.listed(page)? {
        return listed_by(context, rank, &url);
    }
    if context.pinned.contains(&url)
        && let Err(why) = find_pin(&context.views.reader, &location, &rules.pages)?
    {
        return Ok(Some(PolicyVerdict::PinRejected { why }));
    }
    let is_deferred = match why {
        Why::CoreSeed(seed) => seed.deferred,
        Why::CoverSeed(seed) => seed.deferred,
        Why::WebSeed(seed) => seed.deferred,
        _ => false,
    };
    if is_deferred {
        return Ok(Some(rejected(RejectionReason::MaxChanges)));
    }
    let store = &context.views.reader;
    if let Some(by) = rules.pages.reason_of(store, page, site, record)? {
        let line = rules.pages.line(by, site, record);
        return Ok(Some(PolicyVerdict::Rejected { by, line }));
    }
    let is_core = context.record.standings.is_some();
    let mut member = None;
    if is_core {
        member = store.get(&tables::CORE_MEMBERS, &(context.refresh, page))?;
    }
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
    if !rules.policy.has_caps() || (is_core && core.is_none()) {
        return Ok(None);
    }
    Ok(full_cap(context, rules, site, core.map(|core| core.0))?.map(rejected))
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

/// Returns the cap that was full for a site when the core's turn came; without a core, at the end.
fn full_cap(
    context: &Context,
    rules: &LoadedPolicy,
    site: &str,
    core: Option<u32>,
) -> Result<Option<RejectionReason>, EngineError> {
    let store = &context.views.reader;
    let domain = || name_of_domain(ingest::registrable_domain(site));
    let policy = &rules.policy;
    let of_site = policy.max_per_site.map(|_| site.to_owned());
    let of_domain = policy.max_per_domain.map(|_| domain());
    let caps = [
        (of_site, RejectionReason::MaxPerSite),
        (of_domain, RejectionReason::MaxPerDomain),
    ];
    for (name, by) in caps {
        let Some(name) = name else { continue };
        if let Some(rank) = store.get(&tables::FULL_CAPS, &(context.refresh, name))?
            && is_before(context, rank, core)?
        {
            return Ok(Some(by));
        }
    }
    Ok(None)
}

/// Returns whether a seed was selected before a core's turn; pins are first.
fn is_before(context: &Context, rank: u32, core: Option<u32>) -> Result<bool, EngineError> {
    let Some(core) = core else {
        return Ok(true);
    };
    let store = &context.views.reader;
    let seed = store.need(&tables::SEEDS, &(context.refresh, rank))?;
    Ok(match seed.evidence {
        SeedEvidence::Core { core: of, .. } => of < core || rank <= context.pinned_seeds()?,
        _ => true,
    })
}

/// Returns the policy that put a page on the list at this rank; `None` if the method did.
fn listed_by(
    context: &Context,
    rank: u32,
    url: &str,
) -> Result<Option<PolicyVerdict>, EngineError> {
    // A pinned page may have died since the refresh.
    if context.pinned.contains(url) {
        return Ok(Some(PolicyVerdict::Pinned { rank }));
    }
    if context.record.chosen.is_none() {
        return Ok(None);
    }
    let store = &context.views.reader;
    let listed = store.need(&tables::FINAL_LIST, &(context.refresh, rank))?;
    let last_chosen = listed.last_chosen;
    let retained = PolicyVerdict::Retained { rank, last_chosen };
    Ok(listed.chosen.is_none().then_some(retained))
}

/// Returns the seeds of a site that policies put on the list, by rank, except those already in `named`.
pub(super) fn seeds_of_site(
    context: &Context,
    site: SiteId,
    named: &BTreeSet<&str>,
) -> Result<Vec<SeedByPolicy>, EngineError> {
    let mut found = Vec::new();
    if context.pinned.is_empty() && context.record.chosen.is_none() {
        return Ok(found);
    }
    let mut listed = Vec::new();
    let store = &context.views.reader;
    for entry in store.scan_under(&tables::SEED_PAGES, &site.bytes())? {
        let ((page, refresh), rank) = entry?;
        if refresh == context.refresh {
            listed.push((rank, page));
        }
    }
    listed.sort_unstable();
    for (rank, page) in listed {
        let url = context.url(page)?;
        let verdict = listed_by(context, rank, &url)?.filter(|_| !named.contains(&*url));
        found.extend(verdict.map(|verdict| SeedByPolicy { url, verdict }));
    }
    Ok(found)
}
