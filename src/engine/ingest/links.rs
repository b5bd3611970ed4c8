//! The links pass: what each record does to its page's links, and the pages that a snapshot leaves
//! out. Both come in the order of pages.

use super::canonical::{Canonical, Winners, digest};
use super::claim::Claim;
use super::fields::Bytes;
use super::intra::IntraBlocks;
use super::loss::GivenLinks;
use super::passes::{PageEvent, Passes, member_event, page_event, target_event};
use super::replaced::{change, only};
use crate::engine::EngineError;
use crate::page::{PageId, RowId};
use crate::storage::records::{PageRecord, PageState};
use crate::storage::{Hash128, Store, row_hash, tables};
use crate::watch::Watch;

/// The state of a page after a record.
fn state_after(old: Option<PageState>, claim: &Claim) -> PageState {
    if claim.gone {
        return PageState::Gone;
    }
    if claim.crawled {
        return PageState::Crawled;
    }
    match old {
        Some(PageState::Crawled) => PageState::Crawled,
        _ => PageState::Known,
    }
}

/// The row of a site with exactly these targets; `None` if the bank does not have it.
fn find_row(
    store: &Store,
    page: PageId,
    hash: Hash128,
    targets: &[PageId],
) -> Result<Option<RowId>, EngineError> {
    let site = page.site();
    for index in store
        .get(&tables::ROW_HASHES, &(site, hash))?
        .unwrap_or_default()
    {
        let row = RowId::new(site, index);
        if store.need_row(row)? == targets {
            return Ok(Some(row));
        }
    }
    Ok(None)
}

/// Works through the canonical records. In a snapshot, crawled pages without a record become gone.
///
/// `hasher` becomes the batch's digest.
pub(super) fn links_pass(
    store: &Store,
    records: &mut Winners,
    passes: &mut Passes<'_>,
    hasher: &mut blake3::Hasher,
    watch: &dyn Watch,
) -> Result<(), EngineError> {
    let mut intra = IntraBlocks::default();
    let known = records.snapshot.then(|| store.scan(&tables::PAGES));
    let mut known = known.transpose()?.map(Iterator::peekable);
    while let Some(record) = records.next_record(watch)? {
        watch.advance(1);
        digest(&record, hasher)?;
        let Canonical {
            page,
            born,
            claim,
            targets,
            ..
        } = record;
        let mut old = None;
        while let Some(entry) = known.as_mut().and_then(|known| {
            known.next_if(|entry| entry.as_ref().map_or(true, |(before, _)| *before <= page))
        }) {
            watch.proceed()?;
            let (before, record) = entry?;
            if before == page {
                old = Some(record);
            } else {
                left_out(store, before, &record, &mut intra, passes)?;
            }
        }
        if !born && old.is_none() {
            old = Some(store.need(&tables::PAGES, &page)?);
        }
        claim_page(
            store,
            page,
            old.as_ref(),
            claim,
            &targets,
            &mut intra,
            passes,
        )?;
    }
    for entry in known.into_iter().flatten() {
        watch.proceed()?;
        let (page, record) = entry?;
        left_out(store, page, &record, &mut intra, passes)?;
    }
    intra.write(passes)
}

/// Marks as gone a crawled page that a snapshot does not name.
fn left_out(
    store: &Store,
    page: PageId,
    record: &PageRecord,
    intra: &mut IntraBlocks,
    passes: &mut Passes<'_>,
) -> Result<(), EngineError> {
    if record.state == PageState::Crawled {
        claim_page(store, page, Some(record), Claim::GONE, &[], intra, passes)?;
    }
    Ok(())
}

fn claim_page(
    store: &Store,
    page: PageId,
    old: Option<&PageRecord>,
    claim: Claim,
    targets: &[PageId],
    intra: &mut IntraBlocks,
    passes: &mut Passes<'_>,
) -> Result<(), EngineError> {
    let old_state = old.map(|record| record.state);
    let new_state = state_after(old_state, &claim);
    target_event(&mut passes.targets, page, old_state, new_state, true)?;
    let mut links = None;
    if claim.links {
        let on_site = targets
            .iter()
            .filter(|target| target.site() == page.site())
            .map(|target| target.index());
        let more = intra.replace(store, page, on_site.collect(), passes)?;
        let elsewhere = targets
            .iter()
            .filter(|target| target.site() != page.site())
            .copied();
        let more_elsewhere = inter_links(
            store,
            page,
            old.and_then(|record| record.row),
            &elsewhere.collect::<Vec<_>>(),
            passes,
        )?;
        links = Some(GivenLinks {
            now: targets.len(),
            more: more + more_elsewhere,
        });
    }
    passes.loss.count(page, old_state, new_state, links);
    page_event(&mut passes.pages, page, &PageEvent::Claim(claim))
}

/// Replaces a page's links to other sites; returns how many more links it has than before.
fn inter_links(
    store: &Store,
    page: PageId,
    old_row: Option<u32>,
    new: &[PageId],
    passes: &mut Passes<'_>,
) -> Result<i64, EngineError> {
    let old_row = old_row.map(|index| RowId::new(page.site(), index));
    let old = match old_row {
        Some(row) => store.need_row(row)?,
        None => Vec::new(),
    };
    if old == new {
        return Ok(0);
    }
    passes.counts.links_added += only(new, &old).count() as u64;
    passes.counts.links_removed += only(&old, new).count() as u64;
    if let Some(row) = old_row {
        member_event(&mut passes.members, row, page.index(), false)?;
    }
    let more = change(old.len(), new.len());
    page_event(&mut passes.pages, page, &PageEvent::Inter(more))?;
    if new.is_empty() {
        page_event(&mut passes.pages, page, &PageEvent::Row(None))?;
        return Ok(more);
    }
    let hash = row_hash(new);
    if let Some(row) = find_row(store, page, hash, new)? {
        member_event(&mut passes.members, row, page.index(), true)?;
        page_event(&mut passes.pages, page, &PageEvent::Row(Some(row.index())))?;
        return Ok(more);
    }
    let key = Bytes::default()
        .u32(page.site().0)
        .array(hash)
        .u32(page.index());
    let mut content = Vec::with_capacity(new.len() * 8);
    for target in new {
        content.extend_from_slice(&target.0.to_be_bytes());
    }
    passes.new_rows.push(&key, &content)?;
    Ok(more)
}
