//! The citers pass: updates the uncrawled counts of rows whose targets changed, in the order of rows.

use super::exchange::shuffle::Shuffle;
use super::fields::{Bytes, Fields, group};
use super::passes::Passes;
use super::rows::row_uncrawled_event;
use crate::engine::Result;
use seedbank_algorithms::page::{PageId, RowId};
use seedbank_store::links::{BLOCK_LEN, Link, LinkBlock, LinkKey};
use seedbank_store::{Sorted, tables};

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
