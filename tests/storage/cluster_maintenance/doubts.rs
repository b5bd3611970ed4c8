//! A process was killed while RocksDB flushed the log of a part, one table after the other, so that its files do not show
//! whether its live state is complete. And it had not published its last commit, so that the live state is not the
//! published one.
//!
//! Bug classes: a sound part that is refused as damaged, since it was checked without the others; a damaged one that is
//! published because it can be compared with nothing.

use std::fs;
use std::path::Path;

use seedbank_store::{Verdict, raw_entries, raw_flush, raw_write};

use super::{PARTS, PLANS, ingest, part, state, with_cluster};
use crate::published::{is_clean, published};
use crate::support::command::{Place, names};
use crate::support::folders::copy;

/// The names of the log files of the live database of a part.
fn logs(part: &Path) -> Vec<String> {
    let mut names = names(&part.join("live"));
    names.retain(|name| Path::new(name).extension().is_some_and(|end| end == "log"));
    names
}

/// Leaves a part with a commit that it has not published, and with one table of its log flushed.
fn doubtful(place: &Place, number: u32) {
    let part = part(&place.path("disk/bank"), number);
    let epoch = published(&part).unwrap() + 1;
    // Publishing fails, since a file is where the folder of the state has to be.
    let obstacle = part.join(format!("published/{epoch}"));
    fs::write(&obstacle, "").unwrap();
    let day = ["ingest", "disk/bank", "crawl/day-001.jsonl.zst", "-q"];
    let as_of = ["--as-of", "2026-11-02T00:00:00Z"];
    let failed = place.run(&[&day[..], &as_of].concat());
    assert_ne!(failed.status, Some(0), "{failed:?}");
    assert!(failed.err.contains("the change is stored"), "{failed:?}");
    fs::remove_file(obstacle).unwrap();
    let before = logs(&part);
    raw_flush(&part, "meta").unwrap();
    let after = logs(&part);
    let gone = before.iter().filter(|name| !after.contains(name)).count();
    assert!(gone > 0 && gone < before.len(), "{before:?}, {after:?}");
    assert_eq!(published(&part), Some(epoch - 1));
}

#[test]
fn a_part_in_doubt_is_compared_with_a_commit_that_it_has_not_published() {
    let place = with_cluster("100");
    let bank = place.path("disk/bank");
    // The log is empty. Then a refresh has entries of one table in it, and a batch those of two.
    place.run(&["compact", "disk/bank"]).done();
    for plan in PLANS {
        place
            .run(&["refresh", "disk/bank", "-q", "--plan", plan[0], "--cold"])
            .done();
    }
    copy(&bank, &place.path("kept"));
    ingest(&place, "disk/bank", 1);
    let expected = state(&bank);
    for number in 0..PARTS {
        for is_damaged in [false, true] {
            fs::remove_dir_all(&bank).unwrap();
            copy(&place.path("kept"), &bank);
            let before = state(&bank);
            doubtful(&place, number);
            assert!(state(&bank) == before);
            let next = ["ingest", "disk/bank", "/dev/null", "-q"];
            if is_damaged {
                let part = part(&bank, number);
                let (key, mut value) = raw_entries(&part, "pages").unwrap().pop().unwrap();
                *value.last_mut().unwrap() ^= 1;
                raw_write(&part, "pages", &[(key, Some(value))]).unwrap();
                let err = place.run(&next).fails(4);
                assert!(err.contains("table pages, key "), "{err}");
                assert!(state(&bank) == before);
                continue;
            }
            place.run(&next).done();
            let found = state(&bank);
            assert!(found == expected, "{number}: {}", found.unlike(&expected));
            assert_eq!(is_clean(&bank), Verdict::Good);
            for number in 0..PARTS {
                assert!(names(&part(&bank, number).join("spill")).is_empty());
            }
        }
    }
}
