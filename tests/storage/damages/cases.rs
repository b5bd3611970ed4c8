//! One case: a bank is damaged; then it is read and checked, written to, and repaired, each in a
//! copy of its own.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::banks::{Depth, Subject};
use super::judge::{Answered, Expected, Findings, Heard, ask, judge_checked, judge_loss};
use super::runs::{Ended, seedbank};
use super::strikes::{Side, Strike, strike};
use crate::support::asking::{Answers, FIRST};
use crate::support::folders::{changes, contents, copy};

/// The result of a case.
pub struct Case {
    pub number: u64,
    pub subject: &'static str,
    pub strike: Strike,
    /// How it was noticed, in a word.
    pub noticed: &'static str,
    /// The exit status of `repair`; `None` where it was not run, or has no status.
    pub repaired: Option<i32>,
    pub found: Findings,
}

struct Run<'a> {
    place: &'a Path,
    subject: &'a Subject,
    strike: &'a Strike,
    questions: &'a [String],
    found: Findings,
}

impl<'a> Run<'a> {
    fn path(&self, name: &str) -> PathBuf {
        self.place.join(name)
    }

    fn expected(&self, states: &'a [Answers]) -> Expected<'a> {
        Expected {
            questions: self.questions,
            states,
            is_told: false,
        }
    }

    fn check(&mut self, name: &str) -> Ended {
        let ended = seedbank(self.place, &["check", name]);
        self.found.status("`check` ended badly", &ended, &[0, 4]);
        ended
    }

    fn ask(&mut self, name: &str, expected: Expected<'a>) -> Option<Answered> {
        ask(&self.place.join(name), expected, &mut self.found)
    }

    /// Runs readers, then `check`, which only reads. Returns what was answered.
    fn read(&mut self) -> (Option<Answered>, Ended) {
        let expected = Expected {
            is_told: self.is_as_before(),
            ..self.expected(self.subject.acknowledged())
        };
        let answered = self.ask("struck", expected);
        copy(&self.path("struck"), &self.path("read"));
        let check = self.check("read");
        if let Some(answered) = &answered {
            judge_checked(answered, &check, &mut self.found);
        }
        let changed = changes(&contents(&self.path("struck")), &self.path("read"));
        if !changed.is_empty() {
            self.found.find("`check` writes", format!("{changed:?}"));
        }
        (answered, check)
    }

    /// A further batch is either refused, and readers keep what they had, or it goes in, with all
    /// that was acknowledged before.
    fn write(&mut self, before: Option<&Answered>) {
        copy(&self.path("struck"), &self.path("written"));
        let next = self.subject.next.to_str().unwrap();
        let ended = seedbank(self.place, &["ingest", "written", next]);
        self.found.status("a writer ended badly", &ended, &[0, 4]);
        let was_written = ended.status == Some(0);
        let states = if was_written {
            self.subject.after()
        } else {
            self.subject.acknowledged()
        };
        let expected = Expected {
            is_told: self.is_as_before(),
            ..self.expected(states)
        };
        let answered = self.ask("written", expected);
        let (Some(answered), Some(before)) = (answered, before) else {
            return;
        };
        if was_written {
            let check = self.check("written");
            judge_checked(&answered, &check, &mut self.found);
        } else if answered.count(Heard::Same) < before.count(Heard::Same) {
            let said = ended.err.trim();
            self.found
                .find("a writer that failed took something away", said);
        }
        if self.strike.kind == "SEEDBANK" {
            self.init();
        }
    }

    /// A bank with a damaged marker is not cleared for a new one.
    fn init(&mut self) {
        copy(&self.path("struck"), &self.path("made"));
        let ended = seedbank(self.place, &["init", "made"]);
        self.found.status("`init` ended badly", &ended, &[2, 4]);
        let changed = changes(&contents(&self.path("struck")), &self.path("made"));
        if !changed.is_empty() {
            self.found.find(
                "`init` over a bank",
                format!("{} files changed", changed.len()),
            );
        }
    }

    /// Whether everything that readers look at is as it was before the last step. Then only the
    /// live database knows of that step, as after a kill before it was acknowledged.
    fn is_as_before(&self) -> bool {
        let of_last = self.strike.kind == "ACKNOWLEDGED" && self.strike.steps == Some(1);
        self.subject.unpublished && of_last
    }

    /// Whether nothing can be lost: one of the two copies of the data is intact and complete.
    fn is_mendable(&self) -> bool {
        match self.strike.side {
            Side::Neither | Side::Published => true,
            Side::Live => !self.subject.unpublished,
            Side::Both => false,
        }
    }

    /// `repair` brings everything back, or says what is lost.
    fn repair(&mut self, depth: Depth, was_found: bool) -> Option<i32> {
        copy(&self.path("struck"), &self.path("repaired"));
        let ended = seedbank(self.place, &["repair", "repaired"]);
        self.found.status("`repair` ended badly", &ended, &[0, 4]);
        if was_found {
            self.keeps();
        }
        let check = self.check("repaired");
        let expected = Expected {
            is_told: ended.status == Some(4),
            ..self.expected(self.subject.acknowledged())
        };
        let answered = self.ask("repaired", expected);
        let said = format!("{}{}", ended.out, ended.err);
        match ended.status {
            Some(0) => {
                if check.status != Some(0) {
                    let printed = format!("{}{}", check.out, check.err);
                    self.found
                        .find("repaired, and `check` finds something", printed);
                }
                if answered.is_none_or(|answered| !answered.is_same()) {
                    self.found.find("repaired, and not as acknowledged", said);
                }
                if depth == Depth::Whole {
                    self.repair_again();
                }
            }
            Some(4) => {
                if said.trim().is_empty() {
                    self.found.find("a loss without a word", "");
                }
                if self.is_mendable() {
                    self.found
                        .find("not repaired, though one copy is whole", said);
                }
                if let Some(answered) = answered {
                    judge_loss(&answered, &check, expected, &mut self.found);
                }
            }
            _ => {}
        }
        ended.status
    }

    /// A repaired bank is whole: the second time there is nothing to do.
    fn repair_again(&mut self) {
        copy(&self.path("repaired"), &self.path("again"));
        let ended = seedbank(self.place, &["repair", "again"]);
        self.found
            .status("a second `repair` finds something", &ended, &[0]);
        let changed = changes(&contents(&self.path("repaired")), &self.path("again"));
        if !changed.is_empty() {
            self.found.find(
                "a second `repair` changes something",
                format!("{changed:?}"),
            );
        }
    }

    /// Damage was found: what was hit, and every table on the side that was hit, is still somewhere
    /// in the bank.
    fn keeps(&mut self) {
        let before = contents(&self.path("struck"));
        let now: HashSet<blake3::Hash> = contents(&self.path("repaired")).into_values().collect();
        let side = match self.strike.side {
            Side::Live => Some("live"),
            Side::Published => Some("published"),
            Side::Both => Some(""),
            Side::Neither => None,
        };
        // RocksDB's own notes, which it writes anew, and locks hold nothing.
        let is_note = |path: &Path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            let notes = ["LOG", "OPTIONS", "IDENTITY", "LOCK"];
            let is_lock = path.extension().is_some_and(|end| end == "lock");
            is_lock || notes.iter().any(|note| name.starts_with(note))
        };
        let counts = |path: &Path| {
            let is_table = path.extension().is_some_and(|end| end == "sst");
            let is_of_side = side.is_some_and(|side| path.starts_with(side));
            is_table && is_of_side || self.strike.hit.iter().any(|hit| hit == path)
        };
        let nothing = blake3::hash(b"");
        let lost: Vec<&PathBuf> = before
            .iter()
            .filter(|(path, hash)| {
                counts(path) && !is_note(path) && **hash != nothing && !now.contains(*hash)
            })
            .map(|(path, _)| path)
            .collect();
        if !lost.is_empty() {
            self.found.find("`repair` deletes", format!("{lost:?}"));
        }
    }
}

/// The first questions, and two of the others in turn.
fn questions(subject: &Subject, number: u64) -> Vec<String> {
    let (first, others) = subject.questions.split_at(FIRST);
    let turn = usize::try_from(number).unwrap();
    let by_turns = others
        .iter()
        .cycle()
        .skip(2 * turn % others.len().max(1))
        .take(2);
    first.iter().chain(by_turns).cloned().collect()
}

/// Runs the case of this number. `None` where its damage changes nothing.
pub fn run(subjects: &[Subject], number: u64, place: &Path, depth: Depth) -> Option<Case> {
    let mut rng = Pcg64Mcg::seed_from_u64(number);
    let subject = &subjects[rng.random_range(0..subjects.len())];
    fs::create_dir(place).unwrap();
    copy(&subject.folder, &place.join("struck"));
    let strike = strike(&mut rng, subject, &place.join("struck"))?;
    let questions = questions(subject, number);
    let mut run = Run {
        place,
        subject,
        strike: &strike,
        questions: &questions,
        found: Findings::default(),
    };
    let (answered, check) = run.read();
    let noticed = match (&answered, check.status) {
        (_, Some(4)) => "by check",
        (Some(answered), _) if answered.count(Heard::Damaged) > 0 => "by readers",
        (Some(answered), _) if answered.is_same() => "no answer changed",
        _ => "otherwise",
    };
    if depth == Depth::Whole || number.is_multiple_of(3) {
        run.write(answered.as_ref());
    }
    let mut repaired = None;
    if depth == Depth::Whole || number % 3 == 1 {
        repaired = run.repair(depth, check.status == Some(4));
    }
    Some(Case {
        number,
        subject: subject.name,
        found: run.found,
        strike,
        noticed,
        repaired,
    })
}
