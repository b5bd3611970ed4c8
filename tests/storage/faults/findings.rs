//! Findings: what must not happen.

use super::injector::Ended;

/// Something that must not happen: its class, and what it was.
pub type Finding = (&'static str, String);

/// What was found in one case.
#[derive(Default, Debug)]
pub struct Findings(pub Vec<Finding>);

impl Findings {
    pub fn find(&mut self, class: &'static str, what: impl Into<String>) {
        self.0.push((class, what.into()));
    }

    /// Reports a command that does not end with one of these statuses: a panic, an abort and a time limit are findings,
    /// too. Returns the status.
    pub fn status(&mut self, class: &'static str, ended: &Ended, allowed: &[i32]) -> Option<i32> {
        if ended.err.contains("panicked") {
            self.find("a panic", ended.describe());
        } else if !ended.status.is_some_and(|status| allowed.contains(&status)) {
            self.find(class, ended.describe());
        }
        ended.status
    }
}
