//! Removes duplicate records of one URL in several portions: the latest counts, then the largest.
//! URLs that are targets only of removed records do not count as named.

use roaring::{RoaringBitmap, RoaringTreemap};

use super::fields::{Fields, group};
use super::gather::CollectedInput;
use super::passes::Passes;
use super::pieces::{Gaps, PageInput, take_input};
use super::record_order::RecordOrder;
use super::site_records::SortedSiteRecords;
use crate::engine::Result;
use seedbank_algorithms::watch::Watch;
use seedbank_store::{self, Sorted, Sorter};

pub(super) struct Deduplicated {
    pub(super) urls: Sorted,
    pub(super) pieces: Sorted,
    /// Attributes of sites, by name.
    pub(super) sites: SortedSiteRecords,
    /// URLs, by [`of_portion`], that are targets only of removed records.
    pub(super) unnamed: RoaringTreemap,
    pub(super) superseded: u64,
}

/// Encodes a portion and a rank in it as one number.
pub(super) fn of_portion(portion: u32, rank: u32) -> u64 {
    u64::from(portion) << 32 | u64::from(rank)
}

pub(super) fn deduplicate(gathered: CollectedInput, passes: &Passes<'_>) -> Result<Deduplicated> {
    let mut input = Deduplicated {
        urls: gathered.urls,
        pieces: gathered.pieces,
        sites: gathered.sites,
        unnamed: RoaringTreemap::new(),
        superseded: gathered.superseded,
    };
    if !gathered.unrecorded.is_empty() {
        let mut nodes = gathered.unrecorded;
        input.pieces = remove_linked(
            &mut nodes,
            input.pieces,
            passes.large_sorter(),
            passes.watch,
        )?;
        input.unnamed = nodes.into_iter().map(|node| of_portion(0, node)).collect();
        return Ok(input);
    }
    if gathered.portions < 2 {
        return Ok(input);
    }
    // Records of one URL in different portions were not compared yet.
    let losers = losers(gathered.sources, passes.watch)?;
    if losers.is_empty() {
        return Ok(input);
    }
    input.superseded += losers.len();
    let mut left = passes.large_sorter();
    while let Some(next) = input.pieces.peek()? {
        let portion: [u8; 4] = group(next)?;
        let number = u32::from_be_bytes(portion);
        let mut named = RoaringBitmap::new();
        let mut maybe_unnamed = RoaringBitmap::new();
        while let Some((key, value)) = input.pieces.next_under(&portion)? {
            passes.watch.proceed()?;
            let url = Fields(&key[portion.len()..]).u32()?;
            let mut targets = value;
            let packed = take_input(&mut targets)?;
            // Input from lists stays, since it can complete the record that counts, and so do failures.
            let dropped = losers.contains(of_portion(number, url))
                && matches!(seedbank_store::unpack(packed)?, PageInput::Record(_));
            if !dropped {
                left.push(key, value)?;
            }
            let of_piece = if dropped {
                &mut maybe_unnamed
            } else {
                &mut named
            };
            of_piece.extend(Gaps::new(targets).filter_map(|rank| u32::try_from(rank).ok()));
        }
        // A URL is unnamed only if no remaining piece of the portion names it.
        let unnamed = (maybe_unnamed - named).into_iter();
        input
            .unnamed
            .extend(unnamed.map(|rank| of_portion(number, rank)));
    }
    input.pieces = left.finish()?;
    Ok(input)
}

/// Removes the ranks to which a piece of the only portion links. Returns the same pieces.
fn remove_linked(
    ranks: &mut RoaringBitmap,
    mut pieces: Sorted,
    mut same: Sorter,
    watch: &dyn Watch,
) -> Result<Sorted> {
    while let Some((key, value)) = pieces.next_entry()? {
        watch.proceed()?;
        same.push(key, value)?;
        let mut targets = value;
        take_input(&mut targets)?;
        for rank in Gaps::new(targets).filter_map(|rank| u32::try_from(rank).ok()) {
            ranks.remove(rank);
        }
    }
    Ok(same.finish()?)
}

/// Returns the records that a record in another portion supersedes.
fn losers(mut sources: Sorted, watch: &dyn Watch) -> Result<RoaringTreemap> {
    let mut losers = RoaringTreemap::new();
    let mut url = Vec::new();
    let mut best: Option<((u64, RecordOrder), u64)> = None;
    while let Some(key) = sources.peek()? {
        watch.proceed()?;
        if url != key {
            url.clear();
            url.extend_from_slice(key);
            best = None;
        }
        if let Some((_, value)) = sources.next_entry()? {
            let mut fields = Fields(value);
            let time = fields.u64()?;
            let record = of_portion(fields.u32()?, fields.u32()?);
            let record_order = RecordOrder {
                bytes: fields.u64()?,
                hash: fields.array()?,
            };
            // Records of equal order have the same content, so it does not matter which of them
            // counts.
            match best {
                Some((greatest, _)) if (time, record_order) < greatest => {
                    losers.insert(record);
                }
                superseded => {
                    if let Some((_, record)) = superseded {
                        losers.insert(record);
                    }
                    best = Some(((time, record_order), record));
                }
            }
        }
    }
    Ok(losers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::ingest::pieces::push_piece;
    use seedbank_algorithms::watch::Unwatched;

    #[test]
    fn nodes_that_no_piece_links_to_remain() {
        let folder = tempfile::tempdir().unwrap();
        let sorter = || Sorter::new(folder.path(), 1 << 20);
        let pieces = || {
            let (mut pieces, mut bytes) = (sorter(), Vec::new());
            for (node, targets) in [(0, [1, 5]), (2, [2, 9])] {
                let input = PageInput::Links;
                push_piece(&mut pieces, 0, node, 0, &input, &targets, &mut bytes).unwrap();
            }
            pieces.finish().unwrap()
        };
        let mut nodes = RoaringBitmap::from_iter([1, 3, 5, 7]);
        let mut same = remove_linked(&mut nodes, pieces(), sorter(), &Unwatched).unwrap();
        assert!(nodes.iter().eq([3, 7]));
        let mut expected = pieces();
        while let Some(entry) = expected.next_entry().unwrap() {
            assert_eq!(same.next_entry().unwrap(), Some(entry));
        }
        assert_eq!(same.next_entry().unwrap(), None);
    }
}
