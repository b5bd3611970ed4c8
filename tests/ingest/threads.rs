//! A batch that several threads ingest gives the same bytes in every table as one thread.
//!
//! Catches entries that two threads own, or none; ids and digests that depend on the threads; a batch that fails or is stopped
//! in one thread while others wait for it.

use crate::support;
use crate::support::histories::for_each_history;
use crate::support::model::{assert_clean, of_batch};
use crate::support::records::Batch;
use seedbank::engine::{Bank, EngineError, IngestRequest};
use seedbank::ingest::Source;
use seedbank::watch::Watch;
use seedbank_formats::ingest::site_list_source;
use seedbank_store::{Reader, raw_tables, tables};

/// Ingests a batch in a number of threads: the length of the caller's own sources is not known.
fn ingest(
    bank: &Bank,
    batch: &Batch,
    threads: usize,
    memory: usize,
) -> Result<String, EngineError> {
    let request = IngestRequest {
        again: true,
        name: Some("batch".to_owned()),
        memory,
        ..of_batch(bank, batch)
    };
    let mut sources: Vec<Box<dyn Source>> = request.format.sources(&request.inputs);
    sources.extend(request.sites.iter().map(site_list_source));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    let pool = pool.build().unwrap();
    let mut report = pool.install(|| bank.ingest_sources(&request, &mut sources))?;
    (report.seconds, report.clock, report.rejects_file) = (0.0, None, None);
    Ok(serde_json::to_string(&report).unwrap())
}

/// All entries but single records and those of batches, and the digest of the last batch.
fn tables_of(bank: &Bank) -> impl PartialEq + use<> {
    let mut all = raw_tables(bank.path()).unwrap();
    all.remove(tables::META.name);
    all.remove(tables::BATCHES.name);
    let reader = Reader::open(bank.path()).unwrap();
    let counters = reader.counters().unwrap();
    let last = reader.get(&tables::BATCHES, &counters.batch).unwrap();
    (all, counters, last.map(|batch| batch.digest))
}

#[test]
fn random_histories_are_the_same_in_any_number_of_threads() {
    for_each_history(8, 3, |bank, more| {
        let place = support::scratch();
        let copies = [2, 3, 5].map(|threads| {
            let copy = Bank::at(place.path().join(format!("{threads}")));
            support::folders::copy(bank.path(), copy.path());
            (threads, copy)
        });
        for (number, batch) in more.iter().enumerate() {
            // Some batches exceed the memory of each sort.
            let memory = if number == 1 { 1 << 20 } else { 512 << 20 };
            let report = ingest(bank, batch, 1, memory).unwrap();
            let expected = tables_of(bank);
            for (threads, copy) in &copies {
                assert_eq!(ingest(copy, batch, *threads, memory).unwrap(), report);
                assert!(tables_of(copy) == expected, "{threads} threads");
            }
        }
        for (_, copy) in &copies {
            assert_clean(copy);
        }
    });
}

/// Stops after a number of questions.
struct StopsAfter(std::sync::atomic::AtomicU32);

impl Watch for StopsAfter {
    fn stopped(&self) -> bool {
        let left = &self.0;
        let take = |left: u32| left.checked_sub(1);
        let order = std::sync::atomic::Ordering::SeqCst;
        left.fetch_update(order, order, take).is_err()
    }
}

#[test]
fn a_stop_at_any_moment_ends_all_threads_and_changes_nothing() {
    for_each_history(2, 1, |bank, more| {
        let before = tables_of(bank);
        let mut after = 0;
        loop {
            let watch = StopsAfter(after.into());
            match ingest(&bank.watched(watch), &more[0], 3, 512 << 20) {
                Err(EngineError::Interrupted(_)) => assert!(tables_of(bank) == before),
                ended => break drop(ended.unwrap()),
            }
            after += 3;
        }
        assert!(after > 0);
        assert_clean(bank);
    });
}
