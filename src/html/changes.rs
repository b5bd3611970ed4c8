//! The seeds that a refresh gained, lost and moved.

use crate::engine::query::{Change, SeedChange, SeedDiff};

/// The seeds with one kind of change, best first.
pub(crate) struct ChangeList<'a> {
    pub(crate) title: &'static str,
    pub(crate) seeds: Vec<&'a SeedChange>,
}

/// The lists of all kinds of changes.
pub(crate) fn change_lists(diff: &SeedDiff) -> [ChangeList<'_>; 3] {
    [
        ("Gained", Change::Gained),
        ("Lost", Change::Lost),
        ("Moved", Change::Moved),
    ]
    .map(|(title, change)| ChangeList {
        title,
        seeds: diff
            .seeds
            .iter()
            .filter(|seed| seed.change == change)
            .collect(),
    })
}
