//! The power is cut at any moment of the real command, and nothing that was acknowledged is lost.
//!
//! A kill leaves everything that was written; a power cut leaves what was synced, and any
//! part of the rest. So the changes that commands make are recorded by a preloaded library
//! (`trace.c`) and replayed up to a cut, on a model of a disk that knows which bytes and names last
//! (`disk.rs`). What is then on the disk is recreated and judged (`judge.rs`). Bug classes: a file
//! renamed or named by another one before its bytes are synced, a folder that is never synced, a
//! promise that relies on the order in which a journal happens to write.
//!
//! A few cuts by default; `make test-long [LONG_CUTS=500]` makes many, of more commands.

mod disk;
mod judge;
mod stories;
mod trace;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::sync::{Mutex, mpsc};
use std::thread;

use crate::support::skipped::skipped;
use disk::{Disk, Kept, Listed, Listing, PAGE, number};
use judge::{Cut, Outcome};
use stories::Traced;
use trace::Event;

/// At most `count` entries of the list, spread evenly over it.
fn spread(from: &[usize], count: usize) -> impl Iterator<Item = usize> {
    let count = count.min(from.len());
    (0..count).map(move |at| from[at * from.len() / count])
}

/// Whether readers, or RocksDB, have just been pointed to another state, so that the name of the
/// pointer may be the only thing on disk.
fn is_pointed(events: &[Event], at: usize) -> bool {
    let last = at.checked_sub(1).map(|at| &events[at]);
    matches!(last, Some(Event::Rename { to, .. }) if to.ends_with("/CURRENT"))
}

/// The events before which to cut, about `count` of them: the same share for each command, half of
/// it while its commit is published; those next to syncs and changes of names come first.
fn cuts(events: &[Event], count: usize) -> BTreeSet<usize> {
    let ends: Vec<usize> = (0..events.len())
        .filter(|&at| matches!(events[at], Event::Acknowledged))
        .collect();
    let mut chosen = BTreeSet::from([events.len()]);
    let mut first = 0;
    for (done, &end) in ends.iter().enumerate() {
        let share = count.saturating_sub(chosen.len()) / (ends.len() - done);
        let is_publishing = |at: &usize| {
            let path = events[*at].path();
            path.is_some_and(|path| path.contains("/published/"))
        };
        let late = (first..end).find(is_publishing).unwrap_or(end);
        let turns = |at: &usize| {
            events[*at].is_turning_point() || *at > 0 && events[at - 1].is_turning_point()
        };
        // The moment before the command is acknowledged, and the one after.
        let mut own = BTreeSet::from([first, end]);
        own.extend((first..end).filter(|&at| is_pointed(events, at)));
        let groups: [Vec<usize>; 3] = [
            (late..end).filter(turns).collect(),
            (first..end).filter(turns).collect(),
            (first..end).collect(),
        ];
        for (group, part) in groups.iter().zip([share / 2, share, share]) {
            let rest: Vec<usize> = group
                .iter()
                .filter(|at| !own.contains(at))
                .copied()
                .collect();
            own.extend(spread(&rest, part.saturating_sub(own.len())));
        }
        chosen.extend(own);
        first = end + 1;
    }
    chosen
}

#[derive(Default)]
struct Tally {
    cuts: usize,
    outcomes: BTreeMap<(Kind, Outcome), usize>,
    /// How many disks had been judged before, after another cut.
    again: usize,
    wrong: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Kind {
    Nothing,
    Some,
    Last,
    Journal,
    Everything,
}

impl From<Kept> for Kind {
    fn from(kept: Kept) -> Self {
        match kept {
            Kept::Nothing => Self::Nothing,
            Kept::Some(_) => Self::Some,
            Kept::Last(_) => Self::Last,
            Kept::Journal(_) => Self::Journal,
            Kept::Everything => Self::Everything,
        }
    }
}

impl Tally {
    /// Cuts the power `count` times while the commands run. With `every` each cut is judged with
    /// everything that may survive it, otherwise most cuts with two of these in turn.
    fn cut(&mut self, traced: &Traced, place: &Path, count: usize, every: bool) {
        let Traced {
            story,
            disk,
            events,
        } = traced;
        let chosen = cuts(events, count);
        self.cuts += chosen.len();
        let (jobs, receive) = mpsc::sync_channel::<(usize, Kept, Cut)>(4);
        let receive = Mutex::new(receive);
        let tally = Mutex::new(self);
        thread::scope(|scope| {
            for worker in 0..thread::available_parallelism().map_or(1, usize::from) {
                let (receive, tally) = (&receive, &tally);
                let place = place.join(format!("cut-{worker}"));
                scope.spawn(move || {
                    loop {
                        let next = receive.lock().unwrap().recv();
                        let Ok((at, kept, cut)) = next else { return };
                        let judged = story.judge(&cut, &place);
                        let mut tally = tally.lock().unwrap();
                        match judged {
                            Ok(outcome) => {
                                *tally.outcomes.entry((kept.into(), outcome)).or_default() += 1;
                            }
                            Err(what) => {
                                let last = at.checked_sub(1).map(|at| events[at].to_string());
                                let wrong = format!(
                                    "{}, after {} commands, cut after event {at} ({}), {kept:?} kept: {what}",
                                    story.name,
                                    cut.acknowledged,
                                    last.unwrap_or_default(),
                                );
                                // Printed at once, so that nobody has to wait for the end of a long
                                // run.
                                eprintln!("{wrong}");
                                tally.wrong += 1;
                            }
                        }
                    }
                });
            }
            let mut disks: HashSet<(u64, usize)> = HashSet::new();
            let mut now = disk.clone();
            let (mut acknowledged, mut is_within) = (0, false);
            for at in 0..=events.len() {
                if chosen.contains(&at) {
                    let seed = at as u64;
                    let others = [
                        Kept::Some(seed),
                        Kept::Last(seed),
                        Kept::Journal(seed),
                        Kept::Everything,
                    ];
                    let kept = others.into_iter().enumerate();
                    let every = every || is_pointed(events, at);
                    let kept = kept.filter(|(other, _)| every || other % 4 == at % 4);
                    let kept = kept.map(|(_, kept)| kept);
                    for kept in std::iter::once(Kept::Nothing).chain(kept) {
                        let found: Listing = now.after_crash(kept);
                        if !disks.insert((number(&found), acknowledged)) {
                            tally.lock().unwrap().again += 1;
                            continue;
                        }
                        let cut = Cut {
                            acknowledged,
                            is_within,
                            in_order: !matches!(kept, Kept::Some(_) | Kept::Last(_)),
                            found,
                        };
                        jobs.send((at, kept, cut)).unwrap();
                    }
                }
                let Some(event) = events.get(at) else { break };
                now.apply(event);
                let has_ended = matches!(event, Event::Acknowledged);
                acknowledged += usize::from(has_ended);
                is_within = !has_ended;
            }
            drop(jobs);
        });
    }

    #[track_caller]
    fn judge(&self) {
        eprintln!(
            "{} cuts: {:?}; {} more were as one of these",
            self.cuts, self.outcomes, self.again
        );
        assert_eq!(self.wrong, 0, "see above for each that is wrong");
        let count = |of: Outcome| {
            let counts = self
                .outcomes
                .iter()
                .filter(|((_, outcome), _)| *outcome == of);
            counts.map(|(_, count)| count).sum::<usize>()
        };
        for outcome in [Outcome::NoBank, Outcome::AsBefore, Outcome::AsAfter] {
            assert!(count(outcome) > 0, "no cut ended {outcome:?}");
        }
    }
}

#[test]
fn a_power_cut_loses_nothing_that_was_acknowledged() {
    let place = stories::Place::new();
    let long: Option<usize> = std::env::var("LONG_CUTS")
        .ok()
        .map(|count| count.parse().expect("LONG_CUTS"));
    let mut tally = Tally::default();
    let Some(traced) = place.tell(long.is_some()) else {
        let test = "a_power_cut_loses_nothing_that_was_acknowledged";
        skipped(test, "a C compiler", "apt-get install gcc");
        return;
    };
    // Most of the cuts fall on the first story, that of a bank from its creation on.
    let all: usize = traced
        .iter()
        .map(|traced| traced.story.commands.len())
        .sum();
    for traced in &traced {
        let count = long.unwrap_or(20) * traced.story.commands.len() / all;
        tally.cut(traced, place.path(), count, long.is_some());
        eprintln!("{}: {} cuts so far", traced.story.name, tally.cuts);
    }
    tally.judge();
    assert_a_missing_sync_is_found(&traced[0], place.path());
}

/// If folders were not synced, the same cuts would lose something; otherwise they prove nothing.
fn assert_a_missing_sync_is_found(traced: &Traced, place: &Path) {
    let mut disk = traced.disk.clone();
    let folders: HashSet<u64> = traced.events.iter().filter_map(Event::new_folder).collect();
    for event in &traced.events {
        if !matches!(event, Event::Sync { inode } if folders.contains(inode)) {
            disk.apply(event);
        }
    }
    let cut = Cut {
        acknowledged: traced.story.commands.len(),
        is_within: false,
        in_order: true,
        found: disk.after_crash(Kept::Nothing),
    };
    assert!(traced.story.judge(&cut, &place.join("control")).is_err());
}

/// The contents of a file after a crash; `None` where there is no such file.
fn survives(events: &[Event], kept: Kept, path: &str) -> Option<Vec<u8>> {
    let empty = tempfile::tempdir().unwrap();
    let mut disk = Disk::of(empty.path());
    for event in events {
        disk.apply(event);
    }
    match disk.after_crash(kept).remove(path) {
        Some(Listed::File { bytes, .. }) => Some(bytes),
        Some(Listed::Folder) => panic!("a folder"),
        None => None,
    }
}

#[test]
fn the_disk_keeps_what_was_synced_and_no_more() {
    const FOLDER: u64 = 1;
    const FILE: u64 = 2;
    let make = [
        Event::MakeFolder {
            path: "f".to_owned(),
            inode: FOLDER,
        },
        Event::SyncAll,
    ];
    let create = Event::Create {
        path: "f/a".to_owned(),
        inode: FILE,
    };
    let write = |offset| Event::Write {
        inode: FILE,
        offset,
        bytes: b"text".to_vec(),
    };
    let rename = Event::Rename {
        from: "f/a".to_owned(),
        to: "f/b".to_owned(),
    };
    let (sync, sync_folder) = (Event::Sync { inode: FILE }, Event::Sync { inode: FOLDER });
    let mut events = Vec::from(make);
    let nothing = |events: &[Event], path| survives(events, Kept::Nothing, path);

    events.extend([create, write(0), sync]);
    assert_eq!(nothing(&events, "f/a"), None, "nobody synced the folder");
    let journal = survives(&events, Kept::Journal(1), "f/a");
    assert_eq!(journal.as_deref(), Some(&b"text"[..]));
    events.push(sync_folder);
    assert_eq!(nothing(&events, "f/a").as_deref(), Some(&b"text"[..]));
    events.push(write(4));
    assert_eq!(nothing(&events, "f/a").as_deref(), Some(&b"text"[..]));
    let all = survives(&events, Kept::Everything, "f/a");
    assert_eq!(all.as_deref(), Some(&b"texttext"[..]));
    events.push(rename);
    assert!(nothing(&events, "f/a").is_some() && nothing(&events, "f/b").is_none());
    let all = survives(&events, Kept::Everything, "f/b");
    assert_eq!(all.as_deref(), Some(&b"texttext"[..]));
    events.push(Event::Sync { inode: FOLDER });
    assert_eq!(nothing(&events, "f/a"), None);
    assert_eq!(nothing(&events, "f/b").as_deref(), Some(&b"text"[..]));
    // Any part of what was not synced: each of two pages is there after some cuts and not after
    // others.
    events.push(write(PAGE));
    let seen: HashSet<Vec<u8>> = (0..60)
        .filter_map(|seed| survives(&events, Kept::Some(seed), "f/b"))
        .collect();
    assert!(seen.len() >= 4, "{}", seen.len());
}
