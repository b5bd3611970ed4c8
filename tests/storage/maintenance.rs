//! A backup beside a writer has one of its states, and a compaction that is interrupted changes no answer.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

use seedbank::engine::Bank;
use seedbank::engine::error::ErrorKind;
use seedbank::synth::{SynthOptions, generate};
use seedbank::watch::{Unwatched, Watch};

use crate::published::{Seen, check, published, seen};
use crate::support::command::Place;

/// A place with a generated crawl of so many days, and an empty bank.
fn with_crawl(days: u32) -> Place {
    let place = Place::with_bank();
    let options = SynthOptions {
        days,
        rng_seed: 8,
        ..SynthOptions::new(400)
    };
    generate(&place.path("crawl"), &options, &Unwatched).unwrap();
    place
}

fn ingest(place: &Place, bank: &str, day: u32) {
    let file = format!("crawl/day-{day:03}.jsonl.zst");
    place.run(&["ingest", bank, &file]).done();
}

/// A backup is of one state, whatever a writer does meanwhile.
#[test]
fn a_backup_beside_a_writer_is_one_of_its_states() {
    let days = 8;
    let place = with_crawl(days);
    place.run(&["init", "same"]).done();
    let mut states: Vec<Seen> = vec![seen(&place.path("same"))];
    for day in 0..=days {
        ingest(&place, "same", day);
        states.push(seen(&place.path("same")));
    }
    let mut made = 0;
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| (0..=days).for_each(|day| ingest(&place, "bank", day)));
        while !writer.is_finished() {
            place.run(&["backup", "bank", "b", "--keep", "3"]).done();
            made += 1;
            place.run(&["restore", "b", "again"]).done();
            let found = seen(&place.path("again"));
            let batch = found.counters.batches as usize;
            assert!(found == states[batch], "half a batch {batch}");
            fs::remove_dir_all(place.path("again")).unwrap();
        }
    });
    assert!(made > 2, "{made} backups");
    place.run(&["backup", "bank", "b"]).done();
    place.run(&["restore", "b", "again"]).done();
    assert!(seen(&place.path("again")) == states[days as usize + 1]);
    check(&place.path("again"));
}

/// Stops a work when so much of it is done.
struct After(AtomicU64);

impl Watch for After {
    fn stopped(&self) -> bool {
        self.0.load(Ordering::SeqCst) == 0
    }

    fn advance(&self, _units: u64) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[test]
fn a_compact_that_is_stopped_leaves_the_state() {
    let place = with_crawl(2);
    let bank = place.path("bank");
    for day in 0..=2 {
        ingest(&place, "bank", day);
    }
    let expected = seen(&bank);
    let epoch = published(&bank).unwrap();
    for tables in [0, 1, 3, 5] {
        let stopped = Bank::at(&bank).watched(After(tables.into())).compact(false);
        assert_eq!(stopped.unwrap_err().kind(), ErrorKind::Interrupted);
        assert_eq!(published(&bank), Some(epoch));
        check(&bank);
        assert!(seen(&bank) == expected);
    }
    let report = Bank::at(&bank).compact(false).unwrap();
    assert_eq!(report.held_bytes, 0);
    assert!(seen(&bank) == expected);
    // Once for the files, and once for the MANIFEST without the bounds of the former ones.
    assert_eq!(published(&bank), Some(epoch + 2));
    check(&bank);
}
