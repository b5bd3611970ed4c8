//! The yields pass: writes what fetches brought, and what they overwrite ([`fetch_log`](super::fetch_log)).

use roaring::RoaringTreemap;

use super::events::{Fields, group};
use super::fetch_log::{
    BULK, Event, KEPT_BATCHES, OpenBlock, is_same_fetch, unpacked, was_fetched,
};
use super::passes::Passes;
use super::pieces::PageUpdate;
use crate::engine::applied_batches::applied_batches;
use crate::engine::{EngineError, Result};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Watch;
use seedbank_store::links::LinkKey;
use seedbank_store::page_blocks::PageBlock;
use seedbank_store::records::{BatchId, Observed, PageRecord, PreviousFetches};
use seedbank_store::seed_fetches::{SeedFetches, SeedFetchesKey};
use seedbank_store::{self, Changes, Hash128, Sorted, Store, StoreError, tables};

/// Completes the update of a page. `new` is the number of links that are new to the bank.
pub(super) fn end_page(
    page: PageId,
    old: Option<&PageRecord>,
    update: Option<&PageUpdate>,
    new: u64,
    passes: &mut Passes<'_>,
) -> Result<()> {
    let Passes {
        fetches,
        forgotten,
        changes,
        store,
        batch,
        ..
    } = passes;
    let current = fetches.current.take();
    if forgotten.pages.contains(page.0) {
        return fetches.push(page, Event::Forgotten);
    }
    if let Some(mut previous) = current
        && (previous.is_fetch || !previous.gained.is_empty() || !previous.lost.is_empty())
    {
        let (key, place) = LinkKey::of_page(page);
        if fetches.block.as_ref().is_none_or(|block| block.0 != key) {
            let sums = store.get(&tables::YIELDS, &key)?.unwrap_or_default();
            let next = (key, sums, PreviousFetches::default());
            put_block(fetches.block.replace(next), *batch, changes)?;
        }
        if let Some((_, sums, block)) = &mut fetches.block {
            previous.sums = sums.at(place);
            previous.gained.sort_unstable();
            previous.lost.sort_unstable();
            block.0.push((place, previous));
        }
    }
    let Some(update) = update else {
        return Ok(());
    };
    let fetched = update.fetched.filter(|_| update.is_fetch());
    let last = &mut fetches.last_fetches[1];
    *last = fetched.max(Some(*last)).unwrap_or(0);
    let has_time = fetched.is_some() || old.is_some_and(|old| old.fetched.is_some());
    // Sums are those at the time of the last fetch.
    if let Some(sums) = update.sums.filter(|_| has_time) {
        return fetches.push(page, Event::Given(sums));
    }
    match (old, fetched, old.and_then(|old| old.fetched)) {
        (Some(old), Some(now), Some(before)) if now > before && !is_same_fetch(old, update) => {
            let seconds = now - before;
            fetches.observed.fetched_again += 1;
            fetches.observed.seconds = fetches.observed.seconds.saturating_add(seconds);
            fetches.observed.new_links += new;
            fetches.push(page, Event::Fetch { seconds, new })
        }
        (Some(old), Some(_), None) if !was_fetched(old) => {
            // A failed fetch before this one was the first try.
            if update.failures_change {
                fetches.observed.answered += 1;
                fetches.observed.new_links_of_first += new;
            } else {
                fetches.add_first(Some(new));
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn put_block(
    block: Option<OpenBlock>,
    batch: BatchId,
    changes: &mut Changes,
) -> Result<(), StoreError> {
    match block {
        Some((key, _, fetches)) => changes.put(&tables::FETCH_HISTORY, &(batch, key), &fetches),
        None => Ok(()),
    }
}

/// Writes what the batch overwrote, and deletes what an old batch did.
pub(super) fn write_history(passes: &mut Passes<'_>) -> Result<()> {
    let block = passes.fetches.block.take();
    put_block(block, passes.batch, &mut passes.changes)?;
    // Process 0 deletes that of all parts.
    if let Some(oldest) = passes
        .batch
        .checked_sub(KEPT_BATCHES)
        .filter(|_| passes.exchange.is_coordinator())
    {
        let prefix = oldest.to_be_bytes();
        passes
            .changes
            .delete_under(passes.store, &tables::FETCH_HISTORY, &prefix)?;
    }
    Ok(())
}

/// Decides whether the batch is a bulk import, which teaches nothing: far more new links than
/// expected from earlier batches.
pub(super) fn decide_bulk(passes: &mut Passes<'_>, learn_from_bulk: bool) -> Result<()> {
    let observed = &mut passes.fetches.observed;
    if learn_from_bulk || observed.new_links == 0 {
        return Ok(());
    }
    let before = observed_before(passes.store)?;
    if before.seconds == 0 {
        return Ok(());
    }
    let day = 86_400;
    // At least one link per day is expected, so that a bank without new links so far can learn from
    // its first ones.
    let days = u128::from((observed.seconds / day).max(observed.fetched_again));
    let days_before = u128::from((before.seconds / day).max(1));
    let expected = days * u128::from(before.new_links).max(days_before);
    observed.is_bulk = u128::from(observed.new_links) * days_before > u128::from(BULK) * expected;
    Ok(())
}

/// Returns what was observed in all batches that were not undone, bulk imports aside.
fn observed_before(store: &Store) -> Result<Observed, StoreError> {
    let batches = applied_batches(store)?;
    let learned = batches.iter().map(|(_, record)| record.observed);
    let mut sum = Observed::default();
    for batch in learned.filter(|batch| !batch.is_bulk) {
        sum.seconds = sum.seconds.saturating_add(batch.seconds);
        sum.new_links += batch.new_links;
    }
    Ok(sum)
}

/// Writes the sums of pages.
pub(super) fn yields_pass(mut events: Sorted, passes: &mut Passes<'_>) -> Result<()> {
    let is_bulk = passes.fetches.observed.is_bulk;
    while let Some(next) = events.peek()? {
        passes.watch.proceed()?;
        let (key, _) = LinkKey::of_page(Fields(next).page()?);
        let old = passes.store.get(&tables::YIELDS, &key)?;
        let mut block = old.clone().unwrap_or_default();
        while let Some(next) = events.peek()? {
            let of_page: [u8; 8] = group(next)?;
            let (of_block, place) = LinkKey::of_page(PageId(u64::from_be_bytes(of_page)));
            if of_block != key {
                break;
            }
            let Some((_, value)) = events.next_entry()? else {
                break;
            };
            let sums = match seedbank_store::unpack(value)? {
                // Sums stay those at the time of the last fetch.
                Event::Fetch { seconds, .. } if is_bulk => {
                    block.at(place).map(|sums| sums.decayed(seconds))
                }
                Event::Fetch { seconds, new } => {
                    let before = block.at(place).unwrap_or_default();
                    Some(before.after_fetch(seconds, new))
                }
                Event::Given(sums) => Some(sums),
                Event::Forgotten => None,
            };
            block.set(place, sums);
        }
        match old {
            Some(old) if old == block => {}
            _ if !block.0.is_empty() => passes.changes.put(&tables::YIELDS, &key, &block)?,
            Some(_) => passes.changes.delete(&tables::YIELDS, &key)?,
            None => {}
        }
    }
    Ok(())
}

// The seed fetches pass: writes the fetches that crawlers attribute to seeds, and finds duplicates among them
// (`fetch_log`).

/// Writes the fetches with a seed.
pub(super) fn seed_fetches_pass(passes: &mut Passes<'_>) -> Result<()> {
    if passes.by_seed.attributed == 0 {
        return Ok(());
    }
    let digests = passes.take(|passes| &mut passes.by_seed.digests)?;
    let duplicates = duplicates(digests, passes.store, passes.watch)?;
    let mut by_page = passes.take(|passes| &mut passes.by_seed.by_page)?;
    let mut block: Option<(SeedFetchesKey, Vec<(u32, SeedFetches)>)> = None;
    while let Some((key, value)) = by_page.next_entry()? {
        passes.watch.proceed()?;
        let page = Fields(key).page()?;
        let mut fetches = unpacked(value)?;
        fetches.is_duplicate = fetches.answered.is_some() && duplicates.contains(page.0);
        let (key, place) = SeedFetchesKey::of_page(passes.batch, page);
        match &mut block {
            Some((of_block, pages)) if *of_block == key => pages.push((place, fetches)),
            _ => {
                let full = block.replace((key, vec![(place, fetches)]));
                write(full, passes)?;
            }
        }
    }
    write(block, passes)
}

fn write(
    block: Option<(SeedFetchesKey, Vec<(u32, SeedFetches)>)>,
    passes: &mut Passes<'_>,
) -> Result<()> {
    if let Some((key, pages)) = block {
        let table = &tables::SEED_FETCHES;
        passes.changes.put(table, &key, &PageBlock(pages))?;
    }
    Ok(())
}

/// Returns the pages whose digest was that of another page of their site, or is that of an earlier one.
fn duplicates(mut digests: Sorted, store: &Store, watch: &dyn Watch) -> Result<RoaringTreemap> {
    let lost = || EngineError::Internal("a digest in temporary data is truncated");
    let mut found = RoaringTreemap::new();
    while let Some(key) = digests.peek()? {
        watch.proceed()?;
        let of_digest: [u8; 20] = group(key)?;
        let mut fields = Fields(&of_digest);
        let key: (_, Hash128) = (fields.site()?, fields.hash()?);
        let stored = store.get(&tables::DIGESTS, &key)?.unwrap_or(0);
        let mut is_first = true;
        while let Some((key, value)) = digests.next_under(&of_digest)? {
            let page = Fields(key.get(of_digest.len()..).ok_or_else(lost)?).page()?;
            let had = u32::from(Fields(value).byte()?);
            if !is_first || stored > had {
                found.insert(page.0);
            }
            is_first = false;
        }
    }
    Ok(found)
}
