//! The seed fetches pass: writes the fetches that crawlers attribute to seeds, and finds duplicates among them
//! ([`batch_fetches`](super::batch_fetches)).

use roaring::RoaringTreemap;

use super::batch_fetches::unpacked;
use super::fields::{Fields, group};
use super::passes::Passes;
use crate::engine::{EngineError, Result};
use seedbank_algorithms::watch::Watch;
use seedbank_store::page_blocks::PageBlock;
use seedbank_store::seed_fetches::{SeedFetches, SeedFetchesKey};
use seedbank_store::{Hash128, Sorted, Store, tables};

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
