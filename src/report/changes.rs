//! What changed since an earlier refresh, with its causes in words.

use crate::engine::{Change, SeedChange, SeedDiff};
use crate::render::cause_text;

impl SeedDiff {
    /// The seeds that this happened to, best first.
    pub(super) fn of(&self, change: Change) -> Vec<&SeedChange> {
        let seeds = self.seeds.iter();
        seeds.filter(|seed| seed.change == change).collect()
    }

    /// The lists of what came and what went with their titles.
    pub(super) fn lists(&self) -> [(&'static str, Vec<&SeedChange>); 2] {
        [("Gained", Change::Gained), ("Lost", Change::Lost)]
            .map(|(title, change)| (title, self.of(change)))
    }
}

impl SeedChange {
    /// Why it happened, in words; empty where nothing happened.
    pub(super) fn cause_text(&self) -> &'static str {
        self.cause.map(cause_text).unwrap_or_default()
    }
}
