//! Removes duplicate records of one URL in several portions: the latest counts, then the largest.
//! URLs that are targets only of removed records do not count as named.

use std::collections::BTreeMap;

use roaring::{RoaringBitmap, RoaringTreemap};

use super::exchange::shuffle::Shuffle;
use super::exchange::stream::Stream;
use super::fields::{Fields, group};
use super::gather::CollectedInput;
use super::passes::Passes;
use super::pieces::{Gaps, PageInput, take_input};
use super::record_order::RecordOrder;
use super::site_records::SiteRecords;
use crate::engine::Result;
use seedbank_algorithms::watch::Watch;
use seedbank_store::{self, Sorted, Sorter};

pub(super) struct Deduplicated {
    pub(super) urls: Shuffle,
    pub(super) pieces: Sorted,
    /// Number of URLs of each portion that this process has read.
    pub(super) lengths: BTreeMap<u32, u32>,
    /// Attributes of sites.
    pub(super) sites: SiteRecords,
    /// URLs, by [`of_portion`], that are targets only of removed records.
    pub(super) unnamed: RoaringTreemap,
    pub(super) superseded: u64,
}

/// Encodes a portion and a rank in it as one number.
pub(super) fn of_portion(portion: u32, rank: u32) -> u64 {
    u64::from(portion) << 32 | u64::from(rank)
}

/// Finds the records that others of the same URL supersede. Over several processes, they are sent to the processes that
/// read them, and the result is empty.
///
/// Records of one portion were compared when it was collected.
pub(super) fn find_losers(
    gathered: &mut CollectedInput,
    passes: &Passes<'_>,
) -> Result<RoaringTreemap> {
    let Some(exchange) = &passes.exchange else {
        let is_compared = gathered.lengths.len() < 2 || !gathered.unrecorded.is_empty();
        return if is_compared {
            Ok(RoaringTreemap::new())
        } else {
            losers(gathered.sources.take()?, passes.watch)
        };
    };
    let losers = losers(gathered.sources.take()?, passes.watch)?;
    let mut sent = Shuffle::of_stream(exchange, Stream::Losers);
    for loser in losers {
        sent.push(&loser.to_be_bytes(), &[])?;
    }
    sent.flush()?;
    Ok(RoaringTreemap::new())
}

/// Removes the records that this process read and others supersede. Of several processes, each learns the URLs that
/// are not named any more.
pub(super) fn deduplicate(
    gathered: CollectedInput,
    mut losers: RoaringTreemap,
    passes: &Passes<'_>,
) -> Result<Deduplicated> {
    if let Some(exchange) = &passes.exchange {
        losers = numbers_of(exchange.received(Stream::Losers)?)?;
    }
    let mut input = Deduplicated {
        urls: gathered.urls,
        pieces: gathered.pieces,
        lengths: gathered.lengths,
        sites: gathered.sites,
        unnamed: RoaringTreemap::new(),
        superseded: gathered.superseded + losers.len(),
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
    } else if !losers.is_empty() {
        remove(&losers, &mut input, passes)?;
    }
    if let Some(exchange) = &passes.exchange {
        let mut sent = Shuffle::of_stream(exchange, Stream::Unnamed);
        for url in &input.unnamed {
            sent.push(&url.to_be_bytes(), &[])?;
        }
        sent.flush()?;
    }
    Ok(input)
}

/// Returns the set of numbers that are the keys of entries.
pub(super) fn numbers_of(mut entries: Sorted) -> Result<RoaringTreemap> {
    let mut numbers = RoaringTreemap::new();
    while let Some((key, _)) = entries.next_entry()? {
        numbers.insert(Fields(key).u64()?);
    }
    Ok(numbers)
}

/// Removes superseded records, and finds the URLs that only they name.
fn remove(losers: &RoaringTreemap, input: &mut Deduplicated, passes: &Passes<'_>) -> Result<()> {
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
    Ok(())
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
