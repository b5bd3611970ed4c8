//! `backup`, `restore`, `compact`, `migrate`, `undo` and `forget` are killed (SIGKILL) at any moment: the bank is what it
//! was, with readers beside, and the same command finishes the job.
//!
//! Bug classes: a list of a backup whose files are not all there, files that no list names and nobody
//! removes, a bank that is restored in part and opens, a state that is lost while its files are merged,
//! a part of a new bank that passes for one.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use seedbank::engine::Bank;
use seedbank::engine::error::ErrorKind;
use seedbank::engine::maintenance::backups;
use seedbank::synth::{SynthOptions, generate};
use seedbank::watch::{Unwatched, Watch};

use crate::kills::{Moments, Seen, Tally, assert_tidy, beside, check, kill, published, seen};
use crate::old_formats::migrated;
use crate::support::command::{Place, names};
use crate::support::folders::copy;
use crate::support::quota;

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

/// Puts a copy of a folder in the place of another.
fn put_back(from: &Path, to: &Path) {
    if to.exists() {
        fs::remove_dir_all(to).unwrap();
    }
    copy(from, to);
}

/// How long a command takes when nobody kills it.
fn timed(place: &Place, args: &[&str]) -> Moments<'static> {
    let begun = Instant::now();
    place.run(args).done();
    Moments::new(begun.elapsed(), &[])
}

/// Checks that every backup is whole, byte by byte, and returns their numbers.
fn whole_backups(folder: &Path) -> Vec<u32> {
    let found = backups(folder, true, &Unwatched).unwrap();
    assert!(found.is_clean(), "{found:?}");
    found
        .backups
        .iter()
        .map(|backup| backup.made.backup)
        .collect()
}

/// Checks that nothing is in a folder of backups but what its backups need.
fn nothing_is_left_over(folder: &Path) {
    let mut needed = Vec::new();
    for number in names(&folder.join("backups")) {
        let text = fs::read_to_string(folder.join("backups").join(number)).unwrap();
        for line in text.lines() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            needed.extend(line["hash"].as_str().map(str::to_owned));
        }
    }
    needed.sort();
    needed.dedup();
    assert_eq!(names(&folder.join("files")), needed);
}

#[test]
fn a_killed_backup_leaves_the_earlier_ones() {
    let quota = quota(10);
    let place = with_crawl(2);
    let (bank, folder) = (place.path("bank"), place.path("b"));
    let mut states = Vec::new();
    let args = ["backup", "bank", "b", "--keep", "2"];
    for day in 0..2 {
        ingest(&place, "bank", day);
        place.run(&args).done();
        states.push(seen(&bank));
    }
    ingest(&place, "bank", 2);
    states.push(seen(&bank));
    copy(&folder, &place.path("before"));
    let mut moments = timed(&place, &args);
    let (mut kills, mut undone) = (0, 0);
    for _ in 0..4 * quota {
        if kills >= quota && undone > 0 {
            break;
        }
        put_back(&place.path("before"), &folder);
        let moment = moments.next();
        if kill(&place, &args, 0, moment).is_none() {
            moments.came_late(moment);
            continue;
        }
        kills += 1;
        let there = whole_backups(&folder);
        assert!(
            [&[1, 2][..], &[1, 2, 3], &[2, 3]].contains(&&there[..]),
            "{there:?}"
        );
        undone += usize::from(there == [1, 2]);
        place.run(&args).done();
        let there = whole_backups(&folder);
        assert!([&[2, 3][..], &[3, 4]].contains(&&there[..]), "{there:?}");
        nothing_is_left_over(&folder);
        place.run(&["restore", "b", "again"]).done();
        assert!(seen(&place.path("again")) == states[2]);
        fs::remove_dir_all(place.path("again")).unwrap();
    }
    eprintln!("backup: {kills} kills, {undone} before the list was there");
    assert!(kills >= quota && undone > 0);
    assert!(seen(&bank) == states[2]);
    check(&bank);
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

#[test]
fn a_killed_restore_makes_a_whole_bank_or_none() {
    let quota = quota(10);
    let place = with_crawl(0);
    ingest(&place, "bank", 0);
    place
        .run(&[
            "refresh", "bank", "--method", "cores", "--within", "0", "--seeds", "5",
        ])
        .done();
    let expected = seen(&place.path("bank"));
    place.run(&["backup", "bank", "b"]).done();
    let args = ["restore", "b", "new"];
    let new = place.path("new");
    let mut moments = timed(&place, &args);
    let (mut kills, mut undone) = (0, 0);
    for round in 0..4 * quota {
        if kills >= quota && undone > 0 {
            break;
        }
        fs::remove_dir_all(&new).unwrap();
        // A folder that is there is filled in place.
        if round % 2 == 0 {
            fs::create_dir(&new).unwrap();
        }
        let moment = moments.next();
        if kill(&place, &args, 0, moment).is_none() {
            moments.came_late(moment);
            continue;
        }
        kills += 1;
        if Bank::at(&new).status().is_err() {
            undone += 1;
            place.run(&args).done();
        }
        assert!(seen(&new) == expected);
        check(&new);
        assert_tidy(&new, 2);
        place.run(&["seeds", "new"]).done();
        // What was begun beside the bank, the next one removes.
        place.run(&["restore", "b", "other"]).done();
        fs::remove_dir_all(place.path("other")).unwrap();
        assert_eq!(names(&place.path("")), ["b", "bank", "crawl", "new"]);
        // The graph image is in no backup.
        let mut of_bank = names(&place.path("bank"));
        of_bank.retain(|name| name != "image");
        assert_eq!(names(&new), of_bank);
    }
    eprintln!("restore: {kills} kills, {undone} before the bank was there");
    assert!(kills >= quota && undone > 0);
    assert_eq!(whole_backups(&place.path("b")), [1]);
}

#[test]
fn a_killed_compact_loses_nothing() {
    let quota = quota(10);
    let place = with_crawl(4);
    let bank = place.path("bank");
    for day in 0..=4 {
        ingest(&place, "bank", day);
    }
    place
        .run(&[
            "refresh", "bank", "--method", "cores", "--within", "0", "--seeds", "5",
        ])
        .done();
    let expected = seen(&bank);
    let seeds = place.run(&["seeds", "bank"]).done();
    copy(&bank, &place.path("before"));
    let epoch = published(&bank).unwrap();
    let args = ["compact", "bank"];
    let mut moments = timed(&place, &args);
    let mut tally = Tally::default();
    for _ in 0..4 * quota {
        if tally.kills >= quota && tally.undone > 0 {
            break;
        }
        put_back(&place.path("before"), &bank);
        let moment = moments.next();
        let ask = || {
            assert_eq!(
                Bank::at(&bank).status().unwrap().counters,
                expected.counters
            );
        };
        let Some(stage) = beside(ask, || kill(&place, &args, epoch + 1, moment)) else {
            moments.came_late(moment);
            continue;
        };
        tally.count(stage);
        assert!(seen(&bank) == expected);
        check(&bank);
        tally.undone += usize::from(published(&bank) == Some(epoch));
        place.run(&args).done();
        assert!(seen(&bank) == expected);
        assert_eq!(place.run(&["seeds", "bank"]).done(), seeds);
        check(&bank);
        assert_tidy(&bank, published(&bank).unwrap());
        assert!(Bank::at(&bank).status().unwrap().compacted);
    }
    eprintln!("compact: {tally:?}");
    assert!(tally.kills >= quota && tally.undone > 0, "{tally:?}");
}

/// Kills a command that changes what the bank has: all of it is done, or nothing, and the same command
/// does it or says that it is done.
fn killed_is_done_or_not(place: &Place, args: &[&str], quota: usize) {
    let bank = place.path("bank");
    copy(&bank, &place.path("before"));
    let (before, epoch) = (seen(&bank), published(&bank).unwrap());
    let mut moments = timed(place, args);
    let after = seen(&bank);
    assert!(before != after);
    let mut tally = Tally::default();
    for _ in 0..4 * quota {
        if tally.kills >= quota && tally.undone > 0 {
            break;
        }
        put_back(&place.path("before"), &bank);
        let moment = moments.next();
        let Some(stage) = kill(place, args, epoch + 1, moment) else {
            moments.came_late(moment);
            continue;
        };
        tally.count(stage);
        // The next writer finishes what was begun for certain, and changes nothing else.
        place.run(&["repair", "bank"]).done();
        let found = seen(&bank);
        assert!(found == before || found == after);
        check(&bank);
        let again = place.run(args).status;
        if found == before {
            tally.undone += 1;
            assert_eq!(again, Some(0));
        } else {
            assert!(again == Some(2) || again == Some(5), "{again:?}");
        }
        assert!(seen(&bank) == after);
        check(&bank);
        assert_tidy(&bank, published(&bank).unwrap());
    }
    eprintln!("{}: {tally:?}", args[0]);
    assert!(tally.kills >= quota && tally.undone > 0, "{tally:?}");
    fs::remove_dir_all(place.path("before")).unwrap();
}

#[test]
fn a_killed_undo_or_forget_is_done_or_not() {
    let place = with_crawl(2);
    for day in 0..=1 {
        ingest(&place, "bank", day);
    }
    place
        .run(&[
            "refresh", "bank", "--method", "cores", "--within", "0", "--seeds", "5",
        ])
        .done();
    let seeds = place.run(&["seeds", "bank"]).done();
    killed_is_done_or_not(&place, &["undo", "bank"], quota(10));
    ingest(&place, "bank", 2);
    let first = seeds.lines().next().unwrap();
    let url = first.split_whitespace().last().unwrap();
    killed_is_done_or_not(&place, &["forget", "bank", url], quota(10));
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
    for tables in [0, 1, 7, 30] {
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

#[test]
fn a_killed_migrate_leaves_a_new_bank_or_none() {
    let quota = quota(10);
    let (place, _) = migrated(1, "refreshes");
    let bank = place.path("bank");
    let expected = seen(&bank);
    let seeds = place.run(&["seeds", "bank"]).done();
    let args = ["migrate", "bank", "--to", "new"];
    let mut moments = timed(&place, &args);
    let (mut kills, mut undone) = (0, 0);
    for _ in 0..4 * quota {
        if kills >= quota && undone > 0 {
            break;
        }
        let _ = fs::remove_dir_all(place.path("new"));
        let moment = moments.next();
        let ask = || {
            assert_eq!(
                Bank::at(&bank).status().unwrap().counters,
                expected.counters
            );
        };
        if beside(ask, || kill(&place, &args, 0, moment)).is_none() {
            moments.came_late(moment);
            continue;
        }
        kills += 1;
        if !place.path("new/SEEDBANK").exists() {
            undone += 1;
            place.run(&args).done();
        }
        assert!(seen(&bank) == expected);
        assert!(seen(&place.path("new")) == expected);
        assert_eq!(place.run(&["seeds", "new"]).done(), seeds);
        check(&place.path("new"));
        place
            .run(&["refresh", "new", "--method", "cores", "--within", "0"])
            .done();
    }
    eprintln!("migrate: {kills} kills, {undone} before it was done");
    assert!(kills >= quota && undone > 0);
    place.run(&["check", "bank"]).done();
}
