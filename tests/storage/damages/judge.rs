//! Judges the answers of a bank by what was acknowledged.

use std::path::Path;

use super::runs::{self, Ended, seedbank};
use crate::support::asking::{Answers, DAMAGED, command_line};

/// Something that must not happen: its class, and what it was.
pub type Finding = (&'static str, String);

/// What was found in one bank so far.
#[derive(Default, Debug)]
pub struct Findings(pub Vec<Finding>);

impl Findings {
    pub fn find(&mut self, class: &'static str, what: impl Into<String>) {
        self.0.push((class, what.into()));
    }

    /// A command must end with one of these statuses: any other one, a panic, an abort or a hang is
    /// a finding.
    pub fn status(&mut self, class: &'static str, ended: &Ended, allowed: &[i32]) {
        if !ended.status.is_some_and(|status| allowed.contains(&status)) {
            self.find(
                class,
                format!("status {:?}: {}", ended.status, ended.err.trim()),
            );
        }
    }
}

/// How an answer compares with what is expected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Heard {
    /// The answer of the state with all that was acknowledged.
    Same,
    /// No answer: the bank is damaged.
    Damaged,
    /// The answer of an earlier state.
    Older,
    /// Some other answer.
    Changed,
    /// No answer, for a reason other than damage.
    Failed,
}

/// What must be answered.
#[derive(Clone, Copy)]
pub struct Expected<'a> {
    pub questions: &'a [String],
    /// The answers of all states, the last one's at the end.
    pub states: &'a [Answers],
    /// Whether an older state needs no warning: it was said that something is lost, or no reader
    /// can know.
    pub is_told: bool,
}

impl Expected<'_> {
    fn heard(&self, question: &str, answer: &str) -> Heard {
        let is = |answers: &Answers| answers.get(question).is_some_and(|found| found == answer);
        if self.states.last().is_some_and(is) {
            Heard::Same
        } else if self.states.iter().any(is) {
            Heard::Older
        } else if answer.starts_with(DAMAGED) {
            Heard::Damaged
        } else if answer.starts_with("answered") {
            Heard::Changed
        } else {
            Heard::Failed
        }
    }

    /// Whether all answers are those of one whole state.
    fn is_one(&self, answers: &Answers) -> bool {
        self.states.iter().any(|state| {
            let mut all = answers.iter();
            all.all(|(question, answer)| state.get(question) == Some(answer))
        })
    }
}

/// What a bank answered.
pub struct Answered {
    pub answers: Answers,
    heard: Vec<(String, Heard)>,
}

impl Answered {
    pub fn count(&self, heard: Heard) -> usize {
        self.heard.iter().filter(|(_, each)| *each == heard).count()
    }

    pub fn is_same(&self) -> bool {
        self.count(Heard::Same) == self.heard.len()
    }
}

/// Asks a bank everything, and finds what no reader may be given: an older state without a warning,
/// a failure that is not the bank's. Changed answers are left to [`judge_checked`].
pub fn ask(bank: &Path, expected: Expected<'_>, found: &mut Findings) -> Option<Answered> {
    let answers = match runs::ask(bank, expected.questions) {
        Ok(answers) => answers,
        Err(ended) => {
            found.find("a reader ended badly", ended);
            return None;
        }
    };
    let heard: Vec<(String, Heard)> = answers
        .iter()
        .map(|(question, answer)| (question.clone(), expected.heard(question, answer)))
        .collect();
    let of = |which| {
        let those = heard.iter().filter(move |(_, heard)| *heard == which);
        those.map(|(question, _)| question)
    };
    for question in of(Heard::Failed) {
        let answer = &answers[question];
        found.find(
            "a status that is not damage's",
            format!("{question}: {answer}"),
        );
    }
    // The warning comes with the command. One answer is as good as all, since opening the bank
    // gives it. An error such as that there is no such refresh is not a warning.
    let older = of(Heard::Older).find(|question| answers[*question].starts_with("answered"));
    if let Some(question) = older
        && !expected.is_told
    {
        let ended = by_command(bank, question);
        found.status("a reader ended badly", &ended, &[0, 4]);
        if ended.status != Some(4) && ended.err.trim().is_empty() {
            let all: Vec<&String> = of(Heard::Older).collect();
            found.find("an older state without a word", format!("{all:?}"));
        }
    }
    Some(Answered { answers, heard })
}

/// The command's answer to a question.
fn by_command(bank: &Path, question: &str) -> Ended {
    let name = bank.file_name().unwrap().to_str().unwrap();
    seedbank(bank.parent().unwrap(), &command_line(question, name))
}

/// Judges answers by what `check` says of the same bank: they may be changed, or missing, only
/// where it finds something.
pub fn judge_checked(answered: &Answered, check: &Ended, found: &mut Findings) {
    if check.status != Some(0) {
        return;
    }
    let those = |which| -> Vec<&String> {
        let those = answered.heard.iter().filter(|(_, heard)| *heard == which);
        those.map(|(question, _)| question).collect()
    };
    let changed = those(Heard::Changed);
    if !changed.is_empty() {
        found.find("changed, and `check` finds nothing", format!("{changed:?}"));
    }
    let damaged = those(Heard::Damaged);
    if let Some(first) = damaged.first() {
        let answer = &answered.answers[*first];
        found.find(
            "damaged, and `check` finds nothing",
            format!("{damaged:?}: {answer}"),
        );
    }
}

/// Judges the answers after `repair` ended with a loss that it reported: they are those of one
/// whole state that was acknowledged before, or what is still damaged.
pub fn judge_loss(
    answered: &Answered,
    check: &Ended,
    expected: Expected<'_>,
    found: &mut Findings,
) {
    if check.status == Some(0) && !expected.is_one(&answered.answers) {
        found.find(
            "repaired to no state that was",
            format!("{:?}", answered.heard),
        );
    }
}
