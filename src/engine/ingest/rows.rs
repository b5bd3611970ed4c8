//! The rows pass creates the rows that the bank does not have yet; the members pass assigns pages
//! to rows and deletes rows that no page carries any more.

use roaring::RoaringBitmap;

use super::events::{Bytes, Fields, citers_event, group};
use super::exchange::Shuffle;
use super::links::{LinkDelta, PendingBlocks, write_blocks};
use super::passes::{PageEvent, Passes, SiteDelta, member_event, page_event};
use crate::engine::{EngineError, Result};
use seedbank_algorithms::page::{PageId, RowId, SiteId};
use seedbank_store::links::{BLOCK_LEN, Link, LinkBlock, LinkKey};
use seedbank_store::records::{RemovedRow, RowMembers};
use seedbank_store::{Sorted, StoreError, Value, row_hash, tables};

/// Parts of a row in `row_counts`.
const MEMBERS: u8 = 0;
const UNCRAWLED: u8 = 1;

/// Creates rows for the sets of targets that no row of the bank has.
pub(super) fn rows_pass(mut wanted: Sorted, passes: &mut Passes<'_>) -> Result<()> {
    let mut site: Option<(SiteId, u32)> = None;
    let mut fresh: SiteDelta = SiteDelta::default();
    while let Some(key) = wanted.peek()? {
        passes.watch.proceed()?;
        let of_hash: [u8; 20] = group(key)?;
        let id = Fields(&of_hash).site()?;
        // Rows come by site; their numbers continue those of the site.
        if site.is_none_or(|(current, _)| current != id) {
            if let Some((current, next)) = site {
                leave_site(current, next, std::mem::take(&mut fresh), passes)?;
            }
            site = Some((
                id,
                passes
                    .store
                    .get(&tables::SITES, &id)?
                    .map_or(0, |s| s.next_row),
            ));
        }
        let Some((_, next_row)) = site.as_mut() else {
            continue;
        };
        // Only hash collisions lead to more than one row here.
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
) -> Result<()> {
    delta.next_row = next_row;
    passes.site(site, &delta)
}

fn make_row(
    row: RowId,
    of_hash: &[u8; 20],
    content: &[u8],
    passes: &mut Passes<'_>,
) -> Result<i64> {
    hash_event(row, of_hash, true, passes)?;
    passes.rows.push(&row.0.to_be_bytes(), content)?;
    Ok(i64::try_from(content.len() / 8).unwrap_or(i64::MAX))
}

fn hash_event(row: RowId, of_hash: &[u8; 20], gained: bool, passes: &mut Passes<'_>) -> Result<()> {
    let key = Bytes::default().array(*of_hash).u32(row.index());
    Ok(passes.row_hashes.push(&key, &[u8::from(gained)])?)
}

/// Assigns pages to rows, and deletes rows without pages.
pub(super) fn members_pass(mut members: Sorted, passes: &mut Passes<'_>) -> Result<()> {
    while let Some(key) = members.peek()? {
        passes.watch.proceed()?;
        let of_row: [u8; 8] = group(key)?;
        let row = RowId(u64::from_be_bytes(of_row));
        let old = passes.store.get(&tables::ROW_MEMBERS, &row)?;
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
            delete_row(row, passes)?;
        }
    }
    Ok(())
}

fn delete_row(row: RowId, passes: &mut Passes<'_>) -> Result<()> {
    let targets = passes.store.need_row(row)?;
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

/// Changes a row's number of uncrawled targets.
pub(super) fn row_uncrawled_event(row: RowId, by: i64, passes: &mut Passes<'_>) -> Result<()> {
    let key = Bytes::default().u64(row.0).byte(UNCRAWLED);
    Ok(passes.row_counts.push(&key, &Bytes::default().i64(by))?)
}

/// Writes the pages and uncrawled counts of rows.
pub(super) fn row_counts_pass(mut counts: Sorted, passes: &mut Passes<'_>) -> Result<()> {
    while let Some(key) = counts.peek()? {
        passes.watch.proceed()?;
        let of_row: [u8; 8] = group(key)?;
        let row = RowId(u64::from_be_bytes(of_row));
        let old = passes.store.get(&tables::ROW_MEMBERS, &row)?;
        let mut uncrawled = old.as_ref().map_or(0, |old| i64::from(old.uncrawled));
        let before = uncrawled;
        let mut pages = None;
        while let Some((key, value)) = counts.next_under(&of_row)? {
            if Fields(&key[of_row.len()..]).byte()? == MEMBERS {
                let members = RoaringBitmap::decode(value)
                    .map_err(|_| EngineError::Internal("a bitmap in temporary data is invalid"))?;
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
            // The values of all its pages changed too, and only crawled pages have rows.
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
        what: "the count of uncrawled targets does not match the links".to_owned(),
    }
}

/// Writes the rows of each hash.
pub(super) fn row_hashes_pass(mut hashes: Sorted, passes: &mut Passes<'_>) -> Result<()> {
    while let Some(key) = hashes.peek()? {
        passes.watch.proceed()?;
        let of_hash: [u8; 20] = group(key)?;
        let mut fields = Fields(&of_hash);
        let address = (fields.site()?, fields.hash()?);
        let mut rows: std::collections::BTreeSet<u32> = passes
            .store
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

// The row blocks pass: writes new and deleted rows, in blocks of neighbouring rows, in key order.

/// Writes the rows, and emits changes of their targets. No row is both created and deleted.
pub(super) fn row_blocks_pass(mut rows: Sorted, passes: &mut Passes<'_>) -> Result<()> {
    let mut pending = PendingBlocks::default();
    while let Some(key) = rows.peek()? {
        passes.watch.proceed()?;
        let (of_block, _) = LinkKey::of_row(Fields(key).row()?);
        let mut block = LinkDelta::new(of_block, passes.store.links(&tables::ROWS, of_block)?);
        while let Some(key) = rows.peek()? {
            let (key, place) = LinkKey::of_row(Fields(key).row()?);
            if key != of_block {
                break;
            }
            let Some((_, content)) = rows.next_entry()? else {
                break;
            };
            let mut targets = Vec::with_capacity(content.len() / 8);
            let mut fields = Fields(content);
            while !fields.0.is_empty() {
                targets.push(fields.page()?);
            }
            block.replace(place, targets);
        }
        pending.push(block);
        if pending.is_full() {
            write(std::mem::take(&mut pending), passes)?;
        }
    }
    write(pending, passes)
}

fn write(pending: PendingBlocks<PageId>, passes: &mut Passes<'_>) -> Result<()> {
    write_blocks(&tables::ROWS, pending, passes, citers_event)
}

// The citers pass: updates the uncrawled counts of rows whose targets changed, in the order of rows.

/// A change of a target of rows of a block.
pub(super) enum CiterEvent {
    /// The rows at these places gain a link to an uncrawled page.
    Gained(u64),
    /// The rows of the block that linked to the page before the batch, `except` those at these places, change their
    /// count by `by`.
    Kept { except: u64, by: i64 },
}

/// Reports a change of the target `page` of a block of rows.
pub(super) fn citer_event(
    citers: &mut Shuffle,
    block: LinkKey,
    page: PageId,
    event: &CiterEvent,
) -> Result<()> {
    let key = Bytes::default().u32(block.site.0).u32(block.block);
    let key = key.u64(page.0);
    match event {
        CiterEvent::Gained(0) => Ok(()),
        CiterEvent::Gained(places) => Ok(citers.push(&key, &Bytes::default().u64(*places))?),
        CiterEvent::Kept { except, by } => {
            Ok(citers.push(&key, &Bytes::default().u64(*except).i64(*by))?)
        }
    }
}

fn read_event(value: &[u8]) -> Result<CiterEvent> {
    let mut fields = Fields(value);
    let places = fields.u64()?;
    Ok(if fields.0.is_empty() {
        CiterEvent::Gained(places)
    } else {
        CiterEvent::Kept {
            except: places,
            by: fields.i64()?,
        }
    })
}

/// Counts the changes of each row.
pub(super) fn citers_pass(mut events: Sorted, passes: &mut Passes<'_>) -> Result<()> {
    while let Some(next) = events.peek()? {
        passes.watch.proceed()?;
        let of_block: [u8; 8] = group(next)?;
        let mut fields = Fields(&of_block);
        let block = LinkKey {
            site: fields.site()?,
            block: fields.u32()?,
        };
        let mut counts = [0_i64; BLOCK_LEN as usize];
        let mut rows = None;
        while let Some((key, value)) = events.next_under(&of_block)? {
            let page = Fields(&key[of_block.len()..]).page()?;
            let (places, by) = match read_event(value)? {
                CiterEvent::Gained(places) => (places, 1),
                CiterEvent::Kept { except, by } => {
                    let rows = match &rows {
                        Some(rows) => rows,
                        None => rows.insert(passes.store.links(&tables::ROWS, block)?),
                    };
                    (places_of(rows, page) & !except, by)
                }
            };
            for (place, count) in counts.iter_mut().enumerate() {
                *count += by * i64::from(places & (1 << place) != 0);
            }
        }
        for (place, count) in (0..).zip(counts) {
            if count != 0 {
                row_uncrawled_event(RowId::new(block.site, block.index(place)), count, passes)?;
            }
        }
    }
    Ok(())
}

/// Returns the places of a block whose lists contain an entry.
pub(super) fn places_of<T: Link>(links: &LinkBlock<T>, entry: T) -> u64 {
    links
        .places_of(entry)
        .fold(0, |all, place| all | 1 << place)
}
