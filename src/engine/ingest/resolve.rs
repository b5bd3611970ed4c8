//! From URLs to page ids: pieces of records go in, and the same pieces come out with ids, by
//! record.
//!
//! Every URL that the input names comes once, in key order, with the portions that name it. So each
//! is looked up once, together with its neighbours, and new pages get their ids site by site. Then
//! each portion's pieces get the ids of its URLs, which are held for one portion at a time.

use roaring::RoaringTreemap;

use super::canonical::{PAGE, PIECE, by_record, split_key};
use super::fields::{Fields, group};
use super::passes::{PageEvent, Passes, page_event, target_event};
use super::portions::{Gaps, HAS_RECORD, put_gap, put_said, take_said};
use super::sites::SiteClaims;
use crate::engine::EngineError;
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::SiteAttributes;
use seedbank_store::records::{PageState, SiteGiven, SiteRecord};
use seedbank_store::{self, Sorted, Store, tables};

/// The site whose URLs are being resolved.
struct Current {
    id: SiteId,
    name: String,
    record: SiteRecord,
    is_new: bool,
    /// Whether the batch gives other attributes of the site than it had.
    is_given: bool,
}

/// The page ids of all portions' URLs.
pub(super) struct Resolved {
    /// Page ids by portion and rank.
    numbers: Sorted,
    /// How many URLs have a record.
    pub(super) records: u64,
}

/// Gives every URL its page id, and every URL that has a record its place among the records.
///
/// URLs that are `unnamed` in every portion are skipped. What the batch says of sites (`claims`) is
/// worked in between, since both come in the order of the sites' names, and so do the ids of new ones.
pub(super) fn resolve(
    store: &Store,
    mut urls: Sorted,
    unnamed: &RoaringTreemap,
    claims: &mut SiteClaims,
    passes: &mut Passes<'_>,
    watch: &dyn Watch,
) -> Result<Resolved, EngineError> {
    let mut current: Option<Current> = None;
    let mut numbers = passes.large_sorter();
    let mut records = 0;
    let mut key = Vec::new();
    let mut places: Vec<[u8; 8]> = Vec::new();
    while let Some(next) = urls.peek()? {
        watch.proceed()?;
        key.clear();
        key.extend_from_slice(next);
        places.clear();
        let mut flags = 0;
        let mut named = false;
        // The key of a URL may be a prefix of another's, so only equal keys are taken.
        while urls.peek()? == Some(key.as_slice()) {
            let Some((_, value)) = urls.next_entry()? else {
                break;
            };
            let place: [u8; 8] = group(value)?;
            let of_url = Fields(&value[place.len()..]).byte()?;
            named |= of_url != 0 || !unnamed.contains(u64::from_be_bytes(place));
            flags |= of_url;
            places.push(place);
        }
        let (name, local) = split_key(&key)?;
        let mut page = PageId(0);
        if named {
            if current.as_ref().is_none_or(|site| site.name != name) {
                if let Some(site) = current.take() {
                    leave(site, passes)?;
                }
                others(store, claims, Some(name), passes, watch)?;
                let mut site = enter(store, name, passes)?;
                if let Some(claim) = claims.of(name)? {
                    work_in(store, &mut site, &claim, passes, watch)?;
                }
                current = Some(site);
            }
            let Some(site) = current.as_mut() else {
                continue;
            };
            let born;
            (page, born) = page_of(store, site, local, passes)?;
            if !born {
                passes.aliases.name(store, page, flags & HAS_RECORD != 0)?;
            }
            if flags & HAS_RECORD != 0 {
                records += 1;
                let key = by_record(page).byte(PAGE);
                passes.records.push(&key, &[u8::from(born)])?;
            } else if born {
                target_event(&mut passes.targets, page, None, PageState::Known, false)?;
            }
        }
        // Written even where there is no page, since ranks have no gaps.
        for place in &places {
            numbers.push(place, &page.0.to_be_bytes())?;
        }
    }
    if let Some(site) = current.take() {
        leave(site, passes)?;
    }
    others(store, claims, None, passes, watch)?;
    Ok(Resolved {
        numbers: numbers.finish()?,
        records,
    })
}

/// Brings the pieces of records together, with page ids instead of ranks.
pub(super) fn place(
    mut pieces: Sorted,
    resolved: Resolved,
    passes: &mut Passes<'_>,
    watch: &dyn Watch,
) -> Result<(), EngineError> {
    let unknown = || EngineError::Internal("a piece of a record lost its URL between two passes");
    let Resolved { mut numbers, .. } = resolved;
    let mut found: Vec<PageId> = Vec::new();
    let mut targets: Vec<u64> = Vec::new();
    let mut bytes = Vec::new();
    while let Some(next) = numbers.peek()? {
        let portion: [u8; 4] = group(next)?;
        found.clear();
        // They come in the order of ranks, without gaps.
        while let Some((_, value)) = numbers.next_under(&portion)? {
            found.push(Fields(value).page()?);
        }
        while let Some((key, mut value)) = pieces.next_under(&portion)? {
            watch.proceed()?;
            let mut fields = Fields(&key[portion.len()..]);
            let (about, order) = (fields.u32()?, fields.u64()?);
            let page = found.get(about as usize).ok_or_else(unknown)?;
            bytes.clear();
            let said = take_said(&mut value)?;
            put_said(said, &mut bytes)?;
            targets.clear();
            for rank in Gaps::new(value) {
                let at = usize::try_from(rank).ok().and_then(|rank| found.get(rank));
                targets.push(at.ok_or_else(unknown)?.0);
            }
            targets.sort_unstable();
            let first = targets.first().copied().map(PageId);
            passes
                .aliases
                .claim(*page, &seedbank_store::unpack(said)?, first);
            let mut last = 0;
            for target in &targets {
                put_gap(target - last, &mut bytes);
                last = *target;
            }
            let key = by_record(*page).byte(PIECE).u64(order);
            passes.records.push(&key, &bytes)?;
        }
    }
    Ok(())
}

/// Works in what is said of sites of which the batch names no page: those before `name`, or all.
fn others(
    store: &Store,
    claims: &mut SiteClaims,
    name: Option<&str>,
    passes: &mut Passes<'_>,
    watch: &dyn Watch,
) -> Result<(), EngineError> {
    while let Some(claim) = claims.before(name)? {
        watch.proceed()?;
        let mut site = enter(store, &claim.site, passes)?;
        work_in(store, &mut site, &claim, passes, watch)?;
        leave(site, passes)?;
    }
    Ok(())
}

/// Works in what is said of a site. Where that is other than before, all its pages inherit anew.
fn work_in(
    store: &Store,
    site: &mut Current,
    claim: &SiteAttributes,
    passes: &mut Passes<'_>,
    watch: &dyn Watch,
) -> Result<(), EngineError> {
    let before = site.record.given;
    let given = SiteGiven {
        quality: claim.quality.apply_to(before.quality),
        spam: claim.spam.apply_to(before.spam),
        quota: claim.quota.apply_to(before.quota),
    };
    passes.of_sites.named += 1;
    if given == before {
        return Ok(());
    }
    passes.of_sites.changed += 1;
    site.record.given = given;
    site.is_given = true;
    if (given.quality, given.spam) == (before.quality, before.spam) {
        return Ok(());
    }
    for entry in store.scan_under(&tables::PAGES, &site.id.0.to_be_bytes())? {
        watch.proceed()?;
        let (page, _) = entry?;
        page_event(&mut passes.pages, page, &PageEvent::Inherit(given))?;
    }
    Ok(())
}

fn enter(store: &Store, name: &str, passes: &mut Passes<'_>) -> Result<Current, EngineError> {
    let known = store.get(&tables::SITE_IDS, &name.to_owned())?;
    let (id, record) = if let Some(id) = known {
        (id, store.need(&tables::SITES, &id)?)
    } else {
        let id = SiteId(passes.counters.next_site);
        passes.counters.next_site =
            id.0.checked_add(1)
                .ok_or(seedbank_store::StoreError::Full("site"))?;
        passes
            .changes
            .put(&tables::SITE_IDS, &name.to_owned(), &id)?;
        (id, SiteRecord::default())
    };
    Ok(Current {
        id,
        name: name.to_owned(),
        record,
        is_new: known.is_none(),
        is_given: false,
    })
}

fn leave(site: Current, passes: &mut Passes<'_>) -> Result<(), EngineError> {
    let delta = super::passes::SiteDelta {
        name: site.is_new.then_some(site.name),
        next_page: site.record.next_page,
        given: site.is_given.then_some(site.record.given),
        ..Default::default()
    };
    passes.site(site.id, &delta)
}

fn page_of(
    store: &Store,
    site: &mut Current,
    local: &str,
    passes: &mut Passes<'_>,
) -> Result<(PageId, bool), EngineError> {
    let key = (site.id, local.to_owned());
    if !site.is_new
        && let Some(index) = store.get(&tables::PAGE_IDS, &key)?
    {
        return Ok((PageId::new(site.id, index), false));
    }
    let index = site.record.next_page;
    site.record.next_page = index
        .checked_add(1)
        .ok_or(seedbank_store::StoreError::Full("page of a site"))?;
    let page = PageId::new(site.id, index);
    passes.changes.put(&tables::PAGE_IDS, &key, &index)?;
    page_event(&mut passes.pages, page, &PageEvent::Born(local))?;
    if site.record.given != SiteGiven::default() {
        page_event(
            &mut passes.pages,
            page,
            &PageEvent::Inherit(site.record.given),
        )?;
    }
    Ok((page, true))
}
