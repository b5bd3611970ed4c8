//! Commands are killed at their system calls.

use std::collections::BTreeSet;
use std::fs;

use seedbank::engine::Bank;
use seedbank::engine::maintenance::backups;
use seedbank::watch::Unwatched;
use seedbank_store::Verdict;

use super::{PARTS, back_up, ingest, injector, part, refresh, state, with_cluster};
use crate::faults::injector::{Call, DISK, Ended, Injector, Point};
use crate::kills::{is_clean, published};
use crate::support::command::{Place, names};
use crate::support::folders::copy;
use crate::support::quota;

/// Kills a command at calls spread over its run, and at all calls that `is_late` says, and judges what each leaves.
/// Returns the number of kills.
fn kill_at_calls(
    injector: &Injector,
    place: &Place,
    args: &[&str],
    is_late: impl Fn(&Call) -> bool,
    begin: impl Fn(usize),
    mut judge: impl FnMut(usize, &Ended),
) -> usize {
    const KINDS: [&str; 7] = [
        "write", "sync", "rename", "link", "unlink", "create", "size",
    ];
    let folder = place.path("");
    begin(0);
    let undisturbed = injector.strike(&folder, args, None);
    assert_eq!(undisturbed.status, Some(0), "{}", undisturbed.told());
    let calls = undisturbed.calls;
    let count = quota(10).min(calls.len());
    let mut chosen: BTreeSet<usize> = (0..count).map(|at| at * calls.len() / count).collect();
    let late: Vec<usize> = (0..calls.len()).filter(|&at| is_late(&calls[at])).collect();
    let count = quota(10).min(late.len());
    chosen.extend((0..count).map(|at| late[at * late.len() / count]));
    chosen.extend(calls.len().saturating_sub(3)..calls.len());
    let mut kills = 0;
    for (round, at) in chosen.into_iter().enumerate() {
        let kind = KINDS.into_iter().find(|kind| *kind == calls[at].kind);
        let Some(kind) = kind else { continue };
        let number = calls[..=at].iter().filter(|call| call.kind == kind).count();
        let point = Point {
            kind,
            number: number as u64,
            mode: "kill",
            error: 0,
        };
        begin(round);
        let ended = injector.strike(&folder, args, Some(&point));
        eprintln!("{point}: {}, {}", calls[at].path, ended.told());
        kills += usize::from(ended.was_killed());
        judge(round, &ended);
    }
    kills
}

/// Kills a command that creates `disk/new`: a whole bank is there, or nothing but what the same command removes.
fn creates_a_whole_bank_or_none(test: &str, args: &[&str]) {
    let place = with_cluster("60");
    let Some(injector) = injector(&place, test) else {
        return;
    };
    let (bank, new) = (place.path("disk/bank"), place.path("disk/new"));
    let expected = state(&bank);
    back_up(&place, &[]);
    let (mut whole, mut none) = (0, 0);
    let begin = |round: usize| {
        let _ = fs::remove_dir_all(&new);
        // A folder that exists is filled in place.
        if round % 2 == 1 {
            fs::create_dir(&new).unwrap();
        }
    };
    let is_late =
        |call: &Call| call.path.ends_with("SEEDBANK.new") || call.path.contains("CURRENT");
    let judge = |_: usize, ended: &Ended| {
        if new.join("SEEDBANK").exists() {
            whole += 1;
        } else {
            none += 1;
            assert!(ended.was_killed());
            place.run(&["status", "disk/new"]).fails(4);
            place.run(args).done();
        }
        assert!(state(&new) == expected);
        assert_eq!(is_clean(&new), Verdict::Good);
        assert_eq!(names(&place.path(DISK)), ["b", "bank", "new"]);
        // It can be written.
        place
            .run(&["refresh", "disk/new", "-q", "--plan", "sites"])
            .done();
        let epochs: BTreeSet<_> = (0..PARTS)
            .map(|number| published(&part(&new, number)))
            .collect();
        assert_eq!(epochs.len(), 1, "{epochs:?}");
        assert!(!new.join("UNFINISHED-COPY").exists());
    };
    let kills = kill_at_calls(&injector, &place, args, is_late, begin, judge);
    eprintln!("{test}: {kills} kills, {whole} banks, {none} times none");
    assert!(kills >= quota(10) && whole > 0 && none > kills / 2);
}

#[test]
fn a_killed_restore_leaves_all_parts_or_nothing() {
    let test = "a_killed_restore_leaves_all_parts_or_nothing";
    creates_a_whole_bank_or_none(test, &["restore", "disk/b", "disk/new"]);
}

#[test]
fn a_killed_copy_leaves_all_parts_or_nothing() {
    let test = "a_killed_copy_leaves_all_parts_or_nothing";
    creates_a_whole_bank_or_none(test, &["migrate", "disk/bank", "--to", "disk/new"]);
}

#[test]
fn a_killed_compaction_leaves_the_state_in_all_parts() {
    let place = with_cluster("60");
    let test = "a_killed_compaction_leaves_the_state_in_all_parts";
    let Some(injector) = injector(&place, test) else {
        return;
    };
    let bank = place.path("disk/bank");
    ingest(&place, "disk/bank", 1);
    refresh(&place, "disk/bank");
    let expected = state(&bank);
    copy(&bank, &place.path("kept"));
    let args = ["compact", "disk/bank"];
    let begin = |_| {
        fs::remove_dir_all(&bank).unwrap();
        copy(&place.path("kept"), &bank);
    };
    let is_late = |call: &Call| {
        call.kind == "rename" && (call.path.contains("CURRENT") || call.path.contains("PREPARED"))
    };
    let (mut even, mut uneven) = (0, 0);
    let judge = |round: usize, _: &Ended| {
        let epochs: BTreeSet<_> = (0..PARTS)
            .map(|number| published(&part(&bank, number)))
            .collect();
        if epochs.len() > 1 {
            uneven += 1;
        } else {
            even += 1;
        }
        let found = state(&bank);
        assert!(found == expected, "{}", found.unlike(&expected));
        let check = Bank::at(&bank).check().unwrap();
        assert!(check.is_clean(), "{check:?}");
        // Any writer goes on, and so does the same command.
        let next: &[&str] = match round % 2 {
            0 => &args,
            _ => &["ingest", "disk/bank", "/dev/null", "-q"],
        };
        let ended = place.run(next);
        assert!([Some(0), Some(5)].contains(&ended.status), "{ended:?}");
        place.run(&args).done();
        let found = state(&bank);
        assert!(found == expected, "{}", found.unlike(&expected));
        assert_eq!(is_clean(&bank), Verdict::Good);
        assert!(Bank::at(&bank).status().unwrap().compacted);
        let epochs: BTreeSet<_> = (0..PARTS)
            .map(|number| published(&part(&bank, number)))
            .collect();
        assert_eq!(epochs.len(), 1, "{epochs:?}");
    };
    let kills = kill_at_calls(&injector, &place, &args, is_late, begin, judge);
    eprintln!("compact: {kills} kills, {uneven} within the publication, {even} others");
    assert!(kills >= quota(10) && even > 0 && uneven > 0);
}

#[test]
fn a_killed_backup_of_parts_leaves_the_earlier_one() {
    let place = with_cluster("60");
    let test = "a_killed_backup_of_parts_leaves_the_earlier_one";
    let Some(injector) = injector(&place, test) else {
        return;
    };
    let first = state(&place.path("disk/bank"));
    back_up(&place, &[]);
    ingest(&place, "disk/bank", 1);
    let second = state(&place.path("disk/bank"));
    copy(&place.path("disk/b"), &place.path("kept"));
    let args = ["backup", "disk/bank", "disk/b"];
    let begin = |_| {
        fs::remove_dir_all(place.path("disk/b")).unwrap();
        copy(&place.path("kept"), &place.path("disk/b"));
    };
    let is_late = |call: &Call| call.path.contains("b/backups/");
    let (mut undone, mut done) = (0, 0);
    let judge = |_: usize, _: &Ended| {
        let found = backups(place.path("disk/b"), true, &Unwatched).unwrap();
        assert!(found.is_clean(), "{found:?}");
        let last = &found.backups[found.backups.len() - 1].made;
        let expected = if last.backup == 1 { &first } else { &second };
        *(if last.backup == 1 {
            &mut undone
        } else {
            &mut done
        }) += 1;
        place.run(&["restore", "disk/b", "disk/new"]).done();
        assert!(state(&place.path("disk/new")) == *expected);
        fs::remove_dir_all(place.path("disk/new")).unwrap();
        place.run(&args).done();
        place.run(&["restore", "disk/b", "disk/new"]).done();
        assert!(state(&place.path("disk/new")) == second);
        fs::remove_dir_all(place.path("disk/new")).unwrap();
    };
    let kills = kill_at_calls(&injector, &place, &args, is_late, begin, judge);
    eprintln!("backup: {kills} kills, {undone} before the list was there, {done} after");
    assert!(kills >= quota(10) && undone > 0 && done > 0);
}
