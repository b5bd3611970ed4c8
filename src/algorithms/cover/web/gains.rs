//! What following an earlier selection knows of a candidate.

use std::cmp::Reverse;

use crate::graph::NONE;

/// A candidate whose gains may be others.
pub(super) struct Touched {
    pub(super) page: u32,
    /// Whether `gain` is the gain; else it is what is to be added to the earlier gain.
    pub(super) is_known: bool,
    pub(super) gain: i64,
    /// What is to be taken off the gain as earlier picks are passed: by their places, the next last.
    pub(super) later: Vec<(u32, i64)>,
    /// The margin so far, for a selection that follows this one.
    pub(super) margin: i64,
}

impl Touched {
    /// Takes off so much more when an earlier pick is passed.
    pub(super) fn add_later(&mut self, round: u32, worth: i64) {
        let later = &mut self.later;
        match later.binary_search_by_key(&Reverse(round), |(at, _)| Reverse(*at)) {
            Ok(at) => later[at].1 += worth,
            Err(at) => later.insert(at, (round, worth)),
        }
    }
}

/// Gains that are being found, and what is taken off them at each earlier pick.
#[derive(Default)]
pub(super) struct Sum {
    gain: i64,
    later: Vec<(u32, i64)>,
}

impl Sum {
    /// Adds what a page is worth, with the earlier pick that it was reached by; [`NONE`] for none.
    pub(super) fn add(&mut self, worth: i64, round: u32) {
        self.gain += worth;
        if round != NONE {
            self.later.push((round, worth));
        }
    }

    /// What was found of a candidate.
    pub(super) fn touched(self, page: u32, is_known: bool, margin: i64) -> Touched {
        let mut later = self.later;
        later.sort_unstable_by_key(|&(at, _)| Reverse(at));
        later.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0 };
            same
        });
        later.retain(|(_, worth)| *worth != 0);
        later.shrink_to_fit();
        Touched {
            page,
            is_known,
            gain: self.gain,
            later,
            margin,
        }
    }
}
