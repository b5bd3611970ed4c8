//! Check of the fetches that crawlers attribute to seeds.

use std::collections::BTreeMap;

use super::Walk;
use crate::error::StoreError;
use crate::tables;
use crate::tables::records::BatchKind;

impl Walk<'_> {
    /// Compares the fetches with their pages, and their numbers with those of the batches. An undone batch has
    /// none.
    pub(super) fn seed_fetches(&mut self) -> Result<(), StoreError> {
        let mut counted: BTreeMap<u32, u64> = BTreeMap::new();
        self.walk(&tables::SEED_FETCHES, |walk, key, block| {
            let of_batch = counted.entry(key.batch).or_default();
            for (place, fetches) in block.0 {
                *of_batch += fetches.count();
                let name = format!("batch {}, {}, block {}", key.batch, key.site, key.block);
                let Some(page) = key.page(place) else {
                    walk.find("seed_fetches", name, "it has a page that cannot exist");
                    continue;
                };
                let fetches = [fetches.answered, fetches.failed].into_iter().flatten();
                let others = fetches.flat_map(|fetch| [Some(fetch.seed), fetch.via]);
                for page in others.flatten().chain([page]) {
                    walk.require_page("seed_fetches", &name, page);
                }
            }
            Ok(())
        })?;
        let mut expected: BTreeMap<u32, u64> = BTreeMap::new();
        for entry in self.store.scan(&tables::BATCHES)? {
            let (batch, record) = match entry {
                Ok(entry) => entry,
                // The check of `batches` reports it.
                Err(e) if e.is_damage() => continue,
                Err(e) => return Err(e),
            };
            if record.kind == BatchKind::Undo {
                expected.remove(&batch.wrapping_sub(1));
            } else if record.attributed > 0 {
                expected.insert(batch, record.attributed);
            }
        }
        let numbers = counted.keys().chain(expected.keys());
        let mut unequal: Vec<u32> = numbers
            .copied()
            .filter(|batch| counted.get(batch) != expected.get(batch))
            .collect();
        unequal.sort_unstable();
        unequal.dedup();
        for batch in unequal {
            let of = |counts: &BTreeMap<u32, u64>| counts.get(&batch).copied().unwrap_or(0);
            let what = format!(
                "{} fetches found, but the batch has {}",
                of(&counted),
                of(&expected)
            );
            self.find("seed_fetches", format!("batch {batch}"), what);
        }
        Ok(())
    }
}
