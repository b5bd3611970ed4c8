//! Judges a bank after a command on it was struck and a file of it damaged, by the states that it may have.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use seedbank_store::raw_tables;

use super::findings::Findings;
use super::injector::{DISK, Ended, Injector};
use super::processes::{PARTS, part};
use super::scenes::{FORGOTTEN, Kind, Number, Operation};
use super::state::State;
use crate::support::folders::copy;

/// A bank that is judged.
pub struct Judged<'a> {
    pub injector: &'a Injector,
    pub operation: &'a Operation,
    /// Where commands run.
    pub place: &'a Path,
    /// The states that the bank may have: all that was acknowledged, and perhaps what was begun.
    pub now: BTreeSet<Number>,
    /// The number of processes of commands that write.
    pub processes: usize,
    /// Whether a file was damaged at random.
    pub is_damaged: bool,
    /// Whether readers may see the state before what was stored and not published, without a warning.
    pub may_be_older: bool,
    /// Whether commands must succeed without a repair: the command was killed, or it ended well, on
    /// a sound bank.
    pub is_sound: bool,
    pub found: Findings,
}

/// What readers see.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Seen {
    /// One of the states that the bank may have.
    State(Number),
    /// Some other state: its number, if it is one of the operation, and how it differs.
    Other(Option<Number>, String),
    /// Nothing, for this reason.
    Nothing(String),
}

impl Judged<'_> {
    fn bank(&self) -> PathBuf {
        self.place.join(DISK).join(self.operation.bank())
    }

    /// The bank as commands name it.
    fn name(&self) -> String {
        format!("{DISK}/{}", self.operation.bank())
    }

    fn run(&self, args: &[&str]) -> Ended {
        self.injector.run(self.place, args)
    }

    fn see(&self, bank: &Path) -> Seen {
        match State::read(bank) {
            Err(e) => Seen::Nothing(format!("{e}: {:?}", std::error::Error::source(&e))),
            Ok(state) => {
                let is_it = |number: &&Number| self.operation.states[**number] == state;
                if let Some(number) = self.now.iter().find(is_it) {
                    return Seen::State(*number);
                }
                let known = self
                    .operation
                    .states
                    .iter()
                    .position(|known| *known == state);
                let expected = self.now.iter().next_back();
                let unlike = expected.map(|number| state.unlike(&self.operation.states[*number]));
                Seen::Other(
                    known,
                    format!("state {known:?}: {}", unlike.unwrap_or_default()),
                )
            }
        }
    }

    /// Looks at what readers see, which must be a whole state, and none before what was acknowledged without a warning.
    /// Returns why nothing can be read.
    pub fn look(&mut self, when: &str) -> Option<String> {
        match self.see(&self.bank()) {
            Seen::State(number) => {
                // What was published once stays.
                self.now.retain(|other| *other >= number);
                None
            }
            Seen::Nothing(why) => {
                if !self.is_damaged && self.operation.kind != Kind::Repairs {
                    self.found.find(
                        "nothing can be read, and nothing was damaged",
                        format!("{when}: {why}"),
                    );
                }
                Some(why)
            }
            Seen::Other(None, what) => {
                self.found.find(
                    "a reader sees what is no whole state",
                    format!("{when}: {what}"),
                );
                None
            }
            Seen::Other(Some(_), what) => {
                if self.may_be_older {
                    return None;
                }
                let ended = self.run(&["status", &self.name()]);
                if ended.status != Some(4) && ended.err.trim().is_empty() {
                    self.found.find(
                        "an older state without a warning",
                        format!("{when}: {what}"),
                    );
                }
                None
            }
        }
    }

    /// Whether there is a good state: the published one is good, or a copy of the bank can be repaired.
    fn is_good(&self) -> bool {
        if matches!(self.see(&self.bank()), Seen::State(_)) {
            return true;
        }
        let copied = self.place.join("copy");
        fs::create_dir(&copied).unwrap();
        copy(&self.bank(), &copied.join("bank"));
        self.injector.run(&copied, &["repair", "bank"]);
        let seen = self.see(&copied.join("bank"));
        fs::remove_dir_all(copied).unwrap();
        matches!(seen, Seen::State(_))
    }

    /// Reports it if a command removed the good state; returns whether there is one.
    fn keeps(&mut self, was_good: bool, ended: &Ended, what: &str) -> bool {
        let is_good = self.is_good();
        if was_good && !is_good {
            self.found.find(
                "a good state was removed",
                format!("by {what}: {}", ended.describe()),
            );
        }
        is_good
    }

    fn check(&mut self) -> Ended {
        let ended = self.run(&["check", &self.name()]);
        self.found.status("`check` ended badly", &ended, &[0, 4]);
        ended
    }

    /// Runs a writer. If it succeeds, its result must follow from a state that the bank may have. If nothing can be
    /// read then, something was wrong that it could not know of, or had no reason to read: no state `was_good`, or it is
    /// a command with nothing to do.
    fn write(&mut self, writer: usize, was_good: bool) -> Ended {
        let args = self.operation.writer(writer);
        let mut all = (self.injector).strike_in(self.place, &args, self.processes, None);
        let ended = all.remove(0);
        let refused = [4];
        let done: Vec<i32> = self
            .now
            .iter()
            .map(|state| self.operation.next[&(*state, writer)].0)
            .collect();
        let allowed: Vec<i32> = refused.iter().chain(&done).copied().collect();
        let class = match ended.status {
            Some(1) => "damage ends a writer with status 1",
            _ => "a writer ended badly",
        };
        let status = self.found.status(class, &ended, &allowed);
        if status == Some(4) || status.is_none_or(|status| !done.contains(&status)) {
            if ended.err.contains("the change is stored") {
                // It may be published later, or be lost with a warning.
                let next = self
                    .now
                    .iter()
                    .map(|state| self.operation.next[&(*state, writer)].1);
                self.now = next.chain(self.now.iter().copied()).collect();
            }
            return ended;
        }
        let left = match State::read(&self.bank()) {
            Ok(left) => left,
            Err(e) => {
                if was_good && writer == 0 {
                    let what = format!("{e}: {}", ended.describe());
                    self.found
                        .find("a writer is done, and nothing can be read", what);
                }
                return ended;
            }
        };
        let follows = |state: &&Number| {
            let (then, number) = self.operation.next[&(**state, writer)];
            Some(then) == status && self.operation.states[number] == left
        };
        let from: Vec<Number> = self.now.iter().filter(follows).copied().collect();
        if from.is_empty() {
            let expected = self.now.iter().next_back().unwrap();
            let expected = self.operation.next[&(*expected, writer)].1;
            let unlike = left.unlike(&self.operation.states[expected]);
            self.found.find(
                "a writer is done, and its result is no state that follows",
                format!("{unlike}: {}", ended.describe()),
            );
            return ended;
        }
        self.now = from
            .iter()
            .map(|state| self.operation.next[&(*state, writer)].1)
            .collect();
        ended
    }

    /// Where a text is in the files of the bank, or in its tables.
    fn find_text(&self, text: &str) -> Option<String> {
        let has = |bytes: &[u8]| {
            bytes
                .windows(text.len())
                .any(|part| part == text.as_bytes())
        };
        let bank = self.bank();
        let mut folders = vec![bank.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if has(&fs::read(&path).unwrap()) {
                    return Some(path.display().to_string());
                }
            }
        }
        let has_parts = self.operation.scene.has_parts();
        for number in 0..if has_parts { PARTS } else { 1 } {
            for (table, entries) in raw_tables(&part(&bank, number)).unwrap() {
                if entries.iter().any(|(key, value)| has(key) || has(value)) {
                    return Some(format!("{table} of part {number}"));
                }
            }
        }
        None
    }

    /// Once the site is forgotten and the bank is compacted, no file of the bank has its name.
    fn judge_forgotten(&mut self) {
        let mut now = self.now.iter();
        let is_forgotten =
            self.operation.name == "forget" && now.all(|state| self.operation.follows(*state));
        if !is_forgotten || self.is_damaged {
            return;
        }
        let compacted = self.run(&["compact", &self.name()]);
        self.found.status("`compact` failed", &compacted, &[0]);
        if let Some(place) = self.find_text(FORGOTTEN) {
            self.found.find("a forgotten name remains", place);
        }
    }

    /// Checks, writes and repairs in turn.
    pub fn go_on(&mut self, writer: usize) {
        self.check_and_write(writer);
        if self.found.0.is_empty() {
            self.judge_forgotten();
        }
    }

    fn check_and_write(&mut self, writer: usize) {
        let unreadable = self.look("after the command");
        let was_good = self.is_good();
        let check = self.check();
        let is_clean = check.status == Some(0);
        if self.is_sound && !self.is_damaged && !is_clean {
            self.found
                .find("undamaged, and `check` finds something", check.describe());
        }
        if let Some(why) = unreadable.filter(|_| is_clean) {
            self.found
                .find("unreadable, and `check` finds nothing", why);
        }
        let written = self.write(writer, was_good);
        let is_written = written.status != Some(4);
        let mut is_good = self.keeps(was_good, &written, "a writer");
        if !is_written && is_clean {
            self.found.find(
                "`check` calls it good, and a writer refuses",
                written.describe(),
            );
        }
        if !self.found.0.is_empty() {
            // What follows would be found again in other words.
            return;
        }
        if is_written {
            let check = self.check();
            if check.status == Some(0) {
                self.look("after a writer");
                return;
            }
            if is_clean {
                self.found.find(
                    "a writer is done, and then `check` finds something",
                    check.describe(),
                );
            }
        }
        is_good = self.repair(is_good);
        let check = self.check();
        if is_good && check.status != Some(0) {
            self.found
                .find("repaired, and `check` finds something", check.describe());
        }
        // What was stored and not published may have been published.
        let is_written = is_written || self.now.iter().any(|state| *state > 1);
        if is_good && !is_written {
            let written = self.write(writer, true);
            if written.status == Some(4) {
                self.found
                    .find("no command makes it writable", written.describe());
            }
            self.keeps(true, &written, "a writer after `repair`");
        }
        if is_good {
            self.look("at the end");
        }
    }

    /// Repairs the bank; returns whether a good state is there then.
    fn repair(&mut self, was_good: bool) -> bool {
        let seen = self.see(&self.bank());
        let repaired = self.run(&["repair", &self.name()]);
        let status = self
            .found
            .status("`repair` ended badly", &repaired, &[0, 4]);
        if status == Some(4) && was_good {
            // What was begun and not acknowledged may be lost, if that is reported.
            let is_whole = matches!(seen, Seen::State(_)) && self.now.len() == 1;
            if is_whole {
                self.found.find(
                    "a loss is reported, and nothing was lost",
                    repaired.describe(),
                );
            }
            if let Seen::Other(Some(number), _) = self.see(&self.bank()) {
                self.now = BTreeSet::from([number]);
            }
        }
        // It publishes what is live, so that nothing else can appear later.
        if let Seen::State(number) = self.see(&self.bank()) {
            self.now = BTreeSet::from([number]);
        }
        self.keeps(was_good, &repaired, "`repair`")
    }
}
