//! Migration steps, each from one format to the next.

use crate::error::StoreError;
use crate::tables::changes::Changes;
use crate::tables::store::Store;
use crate::tables::{BATCHES, PAGES, REFRESHES, STEP_CACHE};

/// Reads a bank of one format and collects the changes to the next format.
type Step = fn(&Store, &mut Changes) -> Result<(), StoreError>;

/// The steps by the format that each one migrates from. The data of a format without a step is valid in the
/// next one, which may have more tables.
#[cfg(not(test))]
const STEPS: &[(u32, Step)] = &[(12, steps_by_series), (13, last_fetch)];

/// Runs the step from this format. The caller commits the changes together with the number of the next format.
pub(crate) fn run_step(from: u32, store: &Store, changes: &mut Changes) -> Result<(), StoreError> {
    match STEPS.iter().find(|(format, _)| *format == from) {
        Some((_, step)) => step(store, changes),
        None => Ok(()),
    }
}

/// From format 12 to 13: the cached steps of a refresh within a bound move from its number to that of its
/// series.
fn steps_by_series(store: &Store, changes: &mut Changes) -> Result<(), StoreError> {
    for key in store.keys_under(&STEP_CACHE, &[])? {
        let (refresh, rank) = key;
        let record = store.get(&REFRESHES, &refresh)?;
        let standings = record.and_then(|record| record.standings);
        let series = standings.map(|standings| standings.series);
        if series == Some(refresh) {
            continue;
        }
        // The steps of a refresh without a series are of no use.
        if let Some(series) = series {
            let record = store.need(&STEP_CACHE, &key)?;
            changes.put(&STEP_CACHE, &(series, rank), &record)?;
        }
        changes.delete(&STEP_CACHE, &key)?;
    }
    Ok(())
}

/// From format 13 to 14: the last batch has the time of the last fetch in the bank.
fn last_fetch(store: &Store, changes: &mut Changes) -> Result<(), StoreError> {
    let batch = store.counters()?.batch;
    if batch == 0 {
        return Ok(());
    }
    let mut record = store.need(&BATCHES, &batch)?;
    for entry in store.scan(&PAGES)? {
        let fetched = entry?.1.fetched.unwrap_or(0);
        record.last_fetch = record.last_fetch.max(fetched.min(record.at));
    }
    changes.put(&BATCHES, &batch, &record)
}

/// With the step from a format 0 that exists only in unit tests.
#[cfg(test)]
const STEPS: &[(u32, Step)] = &[
    (0, crate::maintenance::migrate::tests::step_from_0),
    (12, steps_by_series),
    (13, last_fetch),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::publish::commit::tests::TestBank;
    use crate::records::{EvidenceSeries, RefreshRecord};
    use crate::step_cache::StepCacheRecord;

    fn refresh(plan: &str, series: u32) -> RefreshRecord {
        RefreshRecord {
            plan: plan.to_owned(),
            settings: "{}".to_owned(),
            batch: 1,
            at: 0,
            seconds: 0.0,
            cold: false,
            certified: true,
            doubt: None,
            seeds: 1,
            cores: 1,
            steps_reused: 0,
            steps_recomputed: 0,
            link_visits: 0,
            page_visits: 0,
            standings: (series > 0).then_some(EvidenceSeries {
                series,
                pages: 0,
                counted: 0,
            }),
            components: 0,
            lists: Vec::new(),
            policy: None,
            chosen: None,
        }
    }

    #[test]
    fn cached_steps_move_to_their_series() {
        let place = TestBank::new();
        let writer = place.writer();
        let step = |code| StepCacheRecord {
            scores: vec![(0, code)],
            ..StepCacheRecord::default()
        };
        let mut changes = Changes::new(&writer.spill_folder(), 1 << 20);
        for (number, record) in [
            (1, refresh("a", 1)),
            (4, refresh("a", 1)),
            (5, refresh("b", 5)),
            (6, refresh("c", 0)),
        ] {
            changes.put(&REFRESHES, &number, &record).unwrap();
        }
        for (key, code) in [((4, 0), 7), ((4, 1), 8), ((5, 0), 9), ((6, 0), 10)] {
            changes.put(&STEP_CACHE, &key, &step(code)).unwrap();
        }
        let counters = writer.counters().unwrap();
        writer.commit(changes, counters).unwrap();
        let mut changes = Changes::new(&writer.spill_folder(), 1 << 20);
        run_step(12, &writer, &mut changes).unwrap();
        writer.commit(changes, writer.counters().unwrap()).unwrap();
        let stored = writer.scan(&STEP_CACHE).unwrap();
        let stored: Vec<_> = stored.map(|entry| entry.unwrap()).collect();
        assert_eq!(
            stored,
            [((1, 0), step(7)), ((1, 1), step(8)), ((5, 0), step(9))]
        );
    }
}
