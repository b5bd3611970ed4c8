//! The seeds that a refresh gained and lost.

use crate::engine::query::{Change, SeedChange, SeedDiff};
use crate::render::cause_text;

impl SeedDiff {
    /// The seeds with this change, best first.
    pub(super) fn with_change(&self, change: Change) -> Vec<&SeedChange> {
        let seeds = self.seeds.iter();
        seeds.filter(|seed| seed.change == change).collect()
    }

    /// The lists of gained and lost seeds, with their titles.
    pub(super) fn lists(&self) -> [(&'static str, Vec<&SeedChange>); 2] {
        [("Gained", Change::Gained), ("Lost", Change::Lost)]
            .map(|(title, change)| (title, self.with_change(change)))
    }
}

impl SeedChange {
    /// The cause, in words; empty if there is none.
    pub(super) fn cause_text(&self) -> &'static str {
        self.cause.map(cause_text).unwrap_or_default()
    }
}
