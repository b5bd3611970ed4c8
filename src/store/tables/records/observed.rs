//! What the fetches of a batch brought.

use serde::{Deserialize, Serialize};

/// What the fetches of a batch brought.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Observed {
    /// The number of pages that were fetched before and are fetched again.
    pub fetched_again: u64,
    /// The total number of seconds between these fetches and the previous ones.
    pub seconds: u64,
    /// The links that the bank saw for the first time in these fetches.
    pub new_links: u64,
    /// The number of known pages that were tried for the first time.
    pub tried: u64,
    /// The number of known pages that were fetched for the first time.
    pub answered: u64,
    /// The links that the bank saw for the first time in these first fetches.
    pub new_links_of_first: u64,
    /// Whether the batch looks like a bulk import, so that the sums of pages do not contain its fetches.
    pub is_bulk: bool,
}

impl Observed {
    /// Adds what other fetches brought.
    pub fn add(&mut self, other: &Self) {
        self.fetched_again += other.fetched_again;
        self.seconds = self.seconds.saturating_add(other.seconds);
        self.new_links += other.new_links;
        self.tried += other.tried;
        self.answered += other.answered;
        self.new_links_of_first += other.new_links_of_first;
        self.is_bulk |= other.is_bulk;
    }

    pub(super) const fn numbers(&self) -> [u64; 7] {
        [
            self.fetched_again,
            self.seconds,
            self.new_links,
            self.tried,
            self.answered,
            self.new_links_of_first,
            self.is_bulk as u64,
        ]
    }

    pub(super) const fn of_numbers(numbers: [u64; 7]) -> Self {
        let [
            fetched_again,
            seconds,
            new_links,
            tried,
            answered,
            new_links_of_first,
            is_bulk,
        ] = numbers;
        Self {
            fetched_again,
            seconds,
            new_links,
            tried,
            answered,
            new_links_of_first,
            is_bulk: is_bulk != 0,
        }
    }
}
