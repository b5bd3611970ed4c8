//! From URLs to page ids: canonical records in, the same records with ids out.
//!
//! Every URL that a record names, as its own or as a target, is sorted; so each is looked up
//! once, neighbours together, and new pages get their ids site by site.

use super::canonical::{Canonical, Winners, split_key};
use super::fields::{Bytes, Fields};
use super::passes::{Passes, by_record, page_event, target_event};
use crate::engine::EngineError;
use crate::page::{PageId, SiteId};
use crate::storage::records::{PageState, SiteRecord};
use crate::storage::{self, Sorted, Store, tables};
use crate::watch::Watch;

/// The roles in which a URL is mentioned.
const AS_RECORD: u8 = 0;
const AS_TARGET: u8 = 1;

/// Every mention of a URL, sorted by URL.
pub(super) struct Mentioned {
    pub(super) urls: Sorted,
    /// Canonical records.
    pub(super) records: u64,
    /// Whether every one says when it was fetched.
    pub(super) dated: bool,
    /// Records that another one of the same URL overruled.
    pub(super) overruled: u64,
}

/// Numbers the canonical records and collects every mention of a URL.
///
/// `hasher` becomes the batch's digest: of its canonical records, whatever their order was.
pub(super) fn mentions(
    mut winners: Winners,
    passes: &mut Passes<'_>,
    hasher: &mut blake3::Hasher,
    watch: &dyn Watch,
) -> Result<Mentioned, EngineError> {
    let mut mentions = passes.sorter();
    let mut count = 0_u64;
    let mut dated = true;
    while let Some(record) = winners.next_record(watch)? {
        let Canonical {
            key,
            claim,
            order,
            outlinks,
        } = record;
        let packed = storage::pack(&claim)?;
        for part in [&key, &packed] {
            hash_part(hasher, part);
        }
        // The same words at another time are no repetition: a page may change and change back.
        hasher.update(&order.to_le_bytes());
        dated &= order > 0;
        hasher.update(&(outlinks.len() as u64).to_le_bytes());
        passes.records.push(&by_record(count, 0), &packed)?;
        mentions.push(&key, &Bytes::default().byte(AS_RECORD).u64(count).done())?;
        for target in &outlinks {
            hash_part(hasher, target);
            mentions.push(target, &Bytes::default().byte(AS_TARGET).u64(count).done())?;
        }
        count += 1;
    }
    Ok(Mentioned {
        urls: mentions.finish()?,
        records: count,
        dated,
        overruled: winners.overruled,
    })
}

fn hash_part(hasher: &mut blake3::Hasher, part: &[u8]) {
    hasher.update(&(part.len() as u64).to_le_bytes());
    hasher.update(part);
}

/// The site whose URLs are being resolved.
struct Current {
    id: SiteId,
    name: String,
    record: SiteRecord,
    is_new: bool,
}

/// Gives every mentioned URL its page id.
pub(super) fn resolve(
    store: &Store,
    mut mentions: Sorted,
    passes: &mut Passes<'_>,
    watch: &dyn Watch,
) -> Result<(), EngineError> {
    let mut current: Option<Current> = None;
    let mut key = Vec::new();
    while let Some(next) = mentions.peek()? {
        watch.proceed()?;
        key.clear();
        key.extend_from_slice(next);
        let (name, local) = split_key(&key)?;
        if current.as_ref().is_none_or(|site| site.name != name) {
            if let Some(site) = current.take() {
                leave(site, passes)?;
            }
            current = Some(enter(store, name, passes)?);
        }
        let Some(site) = current.as_mut() else {
            continue;
        };
        let (page, born) = page_of(store, site, local, passes)?;
        let mut has_record = false;
        // The key of a URL may be the beginning of another's, so equal keys are asked for.
        while mentions.peek()? == Some(key.as_slice()) {
            let Some((_, value)) = mentions.next_entry()? else {
                break;
            };
            let mut fields = Fields(value);
            let role = fields.byte()?;
            let record = fields.u64()?;
            if role == AS_RECORD {
                has_record = true;
                passes.records.push(
                    &by_record(record, 1),
                    &Bytes::default().u64(page.0).byte(u8::from(born)).done(),
                )?;
            } else {
                let target = Bytes::default()
                    .bytes(&by_record(record, 2))
                    .u64(page.0)
                    .done();
                passes.records.push(&target, &[])?;
            }
        }
        if born && !has_record {
            target_event(&mut passes.targets, page, None, PageState::Known, false)?;
        }
    }
    if let Some(site) = current.take() {
        leave(site, passes)?;
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
                .ok_or(storage::StoreError::Full("site"))?;
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
    })
}

fn leave(site: Current, passes: &mut Passes<'_>) -> Result<(), EngineError> {
    let delta = super::passes::SiteDelta {
        name: site.is_new.then_some(site.name),
        next_page: site.record.next_page,
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
        .ok_or(storage::StoreError::Full("page of a site"))?;
    let page = PageId::new(site.id, index);
    passes.changes.put(&tables::PAGE_IDS, &key, &index)?;
    page_event(
        &mut passes.pages,
        page,
        &super::passes::PageEvent::Born(local.to_owned()),
    )?;
    Ok((page, true))
}
