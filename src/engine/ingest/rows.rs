//! The rows pass makes the rows that the bank does not have yet; the members pass gives rows their
//! pages and deletes those that no page carries any longer.

use roaring::RoaringBitmap;

use super::fields::{Bytes, Fields, group};
use super::passes::{PageEvent, Passes, SiteDelta, member_event, page_event};
use crate::engine::EngineError;
use seedbank_algorithms::page::{PageId, RowId, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_store::records::{RemovedRow, RowMembers};
use seedbank_store::{Sorted, Store, StoreError, Value, row_hash, tables};

/// Parts of a row in `row_counts`.
const MEMBERS: u8 = 0;
const UNCRAWLED: u8 = 1;

/// Makes rows for the target sets that no row of the bank has.
pub(super) fn rows_pass(
    store: &Store,
    mut wanted: Sorted,
    passes: &mut Passes<'_>,
    watch: &dyn Watch,
) -> Result<(), EngineError> {
    let mut site: Option<(SiteId, u32)> = None;
    let mut fresh: SiteDelta = SiteDelta::default();
    while let Some(key) = wanted.peek()? {
        watch.proceed()?;
        let of_hash: [u8; 20] = group(key)?;
        let id = Fields(&of_hash).site()?;
        if site.is_none_or(|(current, _)| current != id) {
            if let Some((current, next)) = site {
                leave_site(current, next, std::mem::take(&mut fresh), passes)?;
            }
            site = Some((
                id,
                store.get(&tables::SITES, &id)?.map_or(0, |s| s.next_row),
            ));
        }
        let Some((_, next_row)) = site.as_mut() else {
            continue;
        };
        // There is more than one row here only where hashes collide.
        let mut made: Vec<(Vec<u8>, RowId)> = Vec::new();
        while let Some((key, content)) = wanted.next_under(&of_hash)? {
            let page = Fields(&key[of_hash.len()..]).u32()?;
            let known = made.iter().find(|(other, _)| other == content);
            let row = if let Some((_, row)) = known {
                *row
            } else {
                let row = RowId::new(id, *next_row);
                *next_row = next_row
                    .checked_add(1)
                    .ok_or(StoreError::Full("row of a site"))?;
                let targets = make_row(row, &of_hash, content, passes)?;
                fresh.rows += 1;
                fresh.row_links += targets;
                made.push((content.to_vec(), row));
                row
            };
            member_event(&mut passes.members, row, page, true)?;
            page_event(
                &mut passes.pages,
                PageId::new(id, page),
                &PageEvent::Row(Some(row.index())),
            )?;
        }
    }
    if let Some((current, next)) = site {
        leave_site(current, next, fresh, passes)?;
    }
    Ok(())
}

fn leave_site(
    site: SiteId,
    next_row: u32,
    mut delta: SiteDelta,
    passes: &mut Passes<'_>,
) -> Result<(), EngineError> {
    delta.next_row = next_row;
    passes.site(site, &delta)
}

fn make_row(
    row: RowId,
    of_hash: &[u8; 20],
    content: &[u8],
    passes: &mut Passes<'_>,
) -> Result<i64, EngineError> {
    hash_event(row, of_hash, true, passes)?;
    passes.rows.push(&row.0.to_be_bytes(), content)?;
    Ok(i64::try_from(content.len() / 8).unwrap_or(i64::MAX))
}

fn hash_event(
    row: RowId,
    of_hash: &[u8; 20],
    gained: bool,
    passes: &mut Passes<'_>,
) -> Result<(), EngineError> {
    let key = Bytes::default().array(*of_hash).u32(row.index());
    Ok(passes.row_hashes.push(&key, &[u8::from(gained)])?)
}

/// Gives rows their pages, and deletes rows without pages.
pub(super) fn members_pass(
    store: &Store,
    mut members: Sorted,
    passes: &mut Passes<'_>,
    watch: &dyn Watch,
) -> Result<(), EngineError> {
    while let Some(key) = members.peek()? {
        watch.proceed()?;
        let of_row: [u8; 8] = group(key)?;
        let row = RowId(u64::from_be_bytes(of_row));
        let old = store.get(&tables::ROW_MEMBERS, &row)?;
        let was_there = old.is_some();
        let mut pages = old.map_or_else(RoaringBitmap::new, |old| old.pages);
        while let Some((key, value)) = members.next_under(&of_row)? {
            let page = Fields(&key[of_row.len()..]).u32()?;
            if value == [1] {
                pages.insert(page);
            } else {
                pages.remove(page);
            }
        }
        if !pages.is_empty() {
            let mut encoded = Vec::new();
            pages
                .encode(&mut encoded)
                .map_err(|_| EngineError::Internal("a bitmap cannot be written"))?;
            let key = Bytes::default().u64(row.0).byte(MEMBERS);
            passes.row_counts.push(&key, &encoded)?;
        } else if was_there {
            delete_row(store, row, passes)?;
        }
    }
    Ok(())
}

fn delete_row(store: &Store, row: RowId, passes: &mut Passes<'_>) -> Result<(), EngineError> {
    let targets = store.need_row(row)?;
    passes.rows.push(&row.0.to_be_bytes(), &[])?;
    let of_hash = Bytes::default().u32(row.site().0).array(row_hash(&targets));
    hash_event(row, &group(&of_hash)?, false, passes)?;
    let former = RemovedRow {
        until: passes.batch,
        targets,
    };
    passes.changes.put(&tables::REMOVED_ROWS, &row, &former)?;
    passes.changes.delete(&tables::ROW_MEMBERS, &row)?;
    let delta = SiteDelta {
        rows: -1,
        row_links: -i64::try_from(former.targets.len()).unwrap_or(i64::MAX),
        ..SiteDelta::default()
    };
    passes.site(row.site(), &delta)
}

/// Changes a row's count of known targets.
pub(super) fn row_uncrawled_event(
    row: RowId,
    by: i64,
    passes: &mut Passes<'_>,
) -> Result<(), EngineError> {
    let key = Bytes::default().u64(row.0).byte(UNCRAWLED);
    Ok(passes.row_counts.push(&key, &Bytes::default().i64(by))?)
}

/// Writes the pages and uncrawled counts of rows.
pub(super) fn row_counts_pass(
    store: &Store,
    mut counts: Sorted,
    passes: &mut Passes<'_>,
    watch: &dyn Watch,
) -> Result<(), EngineError> {
    while let Some(key) = counts.peek()? {
        watch.proceed()?;
        let of_row: [u8; 8] = group(key)?;
        let row = RowId(u64::from_be_bytes(of_row));
        let old = store.get(&tables::ROW_MEMBERS, &row)?;
        let mut uncrawled = old.as_ref().map_or(0, |old| i64::from(old.uncrawled));
        let before = uncrawled;
        let mut pages = None;
        while let Some((key, value)) = counts.next_under(&of_row)? {
            if Fields(&key[of_row.len()..]).byte()? == MEMBERS {
                let members = RoaringBitmap::decode(value)
                    .map_err(|_| EngineError::Internal("a bitmap between two passes is broken"))?;
                pages = Some(members);
            } else {
                uncrawled += Fields(value).i64()?;
            }
        }
        let pages = match (pages, old) {
            (Some(pages), _) => pages,
            (None, Some(old)) => old.pages,
            (None, None) => {
                return Err(EngineError::Internal("a row has a count and no pages"));
            }
        };
        let members = RowMembers {
            uncrawled: u32::try_from(uncrawled).map_err(|_| damaged_count(row))?,
            pages,
        };
        passes.changes.put(&tables::ROW_MEMBERS, &row, &members)?;
        if before != uncrawled {
            // The values of all its pages have changed too, and only crawled pages have rows.
            let delta = SiteDelta {
                changed: true,
                cover_changed: true,
                ..SiteDelta::default()
            };
            passes.site(row.site(), &delta)?;
        }
    }
    Ok(())
}

fn damaged_count(row: RowId) -> StoreError {
    StoreError::Damaged {
        table: tables::ROW_MEMBERS.name,
        key: row.to_string(),
        what: "its count of uncrawled targets does not fit its links".to_owned(),
    }
}

/// Writes the rows of each hash.
pub(super) fn row_hashes_pass(
    store: &Store,
    mut hashes: Sorted,
    passes: &mut Passes<'_>,
    watch: &dyn Watch,
) -> Result<(), EngineError> {
    while let Some(key) = hashes.peek()? {
        watch.proceed()?;
        let of_hash: [u8; 20] = group(key)?;
        let mut fields = Fields(&of_hash);
        let address = (fields.site()?, fields.hash()?);
        let mut rows: std::collections::BTreeSet<u32> = store
            .get(&tables::ROW_HASHES, &address)?
            .unwrap_or_default()
            .into_iter()
            .collect();
        while let Some((key, value)) = hashes.next_under(&of_hash)? {
            let row = Fields(&key[of_hash.len()..]).u32()?;
            if value == [1] {
                rows.insert(row);
            } else {
                rows.remove(&row);
            }
        }
        if rows.is_empty() {
            passes.changes.delete(&tables::ROW_HASHES, &address)?;
        } else {
            let rows: Vec<u32> = rows.into_iter().collect();
            passes.changes.put(&tables::ROW_HASHES, &address, &rows)?;
        }
    }
    Ok(())
}
