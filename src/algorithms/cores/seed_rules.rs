//! The hub of a core that becomes its seed.

use std::collections::BTreeMap;

use super::core::Core;
use crate::rank::TIED;

/// Decides which hubs may be seeds, and when there are enough seeds. The cores do not depend on it, except
/// for their number.
pub trait SeedRules: Send {
    /// The hub of a core that becomes a seed; `None` if the core gives no seed.
    fn seed_of(&mut self, core: &Core, choice: &HubChoice) -> Option<u32>;

    /// Whether there are enough seeds.
    fn is_complete(&self) -> bool;
}

/// Takes one seed from every core, up to a number of seeds.
#[derive(Clone, Copy, Debug)]
pub struct OneSeedPerCore {
    /// The number of further seeds.
    pub left: u32,
}

impl SeedRules for OneSeedPerCore {
    fn seed_of(&mut self, core: &Core, choice: &HubChoice) -> Option<u32> {
        self.left = self.left.saturating_sub(1);
        choice.best(core, |_| true)
    }

    fn is_complete(&self) -> bool {
        self.left == 0
    }
}

/// Chooses one of the admitted hubs of a core.
#[derive(Clone, Debug, Default)]
pub struct HubChoice {
    /// The ranks of the previous seeds, if the choice prefers them.
    previous: BTreeMap<u32, usize>,
}

impl HubChoice {
    /// A choice that prefers these seeds, in order.
    pub(super) fn preferring(seeds: &[u32]) -> Self {
        let mut previous = BTreeMap::new();
        for (rank, &page) in seeds.iter().enumerate() {
            previous.entry(page).or_insert(rank);
        }
        Self { previous }
    }

    /// Of the hubs for which `admits` holds, the one that ranked first among the previous seeds; otherwise
    /// the best by score, ties by smallest URL. `None` if no hub is admitted.
    ///
    /// Calls `admits` for previous seeds, then for hubs by score, up to the last one that is tied with the
    /// first admitted hub.
    pub fn best(&self, core: &Core, mut admits: impl FnMut(u32) -> bool) -> Option<u32> {
        if !self.previous.is_empty() {
            let hubs = core.hubs.iter();
            let mut preferred: Vec<(usize, u32)> = hubs
                .filter_map(|hub| Some((*self.previous.get(hub)?, *hub)))
                .collect();
            preferred.sort_unstable();
            if let Some((_, hub)) = preferred.into_iter().find(|(_, hub)| admits(*hub)) {
                return Some(hub);
            }
        }
        let mut by_score: Vec<(f64, u32)> = core
            .hub_scores
            .iter()
            .copied()
            .zip(core.hubs.iter().copied())
            .collect();
        by_score.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let first = by_score.iter().position(|(_, hub)| admits(*hub))?;
        let (best, mut found) = by_score[first];
        let tied = by_score[first + 1..].iter();
        for &(_, hub) in tied.take_while(|(score, _)| *score >= best * (1.0 - TIED)) {
            if hub < found && admits(hub) {
                found = hub;
            }
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn core(hubs: &[(u32, f64)]) -> Core {
        Core {
            sigma_bound: None,
            convergence: None,
            sigma: 1.0,
            density: 100.0,
            edges: 1,
            hubs: hubs.iter().map(|hub| hub.0).collect(),
            authorities: vec![0],
            hub_scores: hubs.iter().map(|hub| hub.1).collect(),
            authority_scores: vec![1.0],
            sides: String::new(),
            seed: 0,
            gives_seed: true,
            doubt: None,
        }
    }

    #[test]
    fn the_best_admitted_hub_is_taken_and_ties_go_by_url() {
        let near = 1.0 - 0.7e-9;
        let far = 1.0 - 1.4e-9;
        let core = core(&[(7, 1.0), (4, near), (2, far), (9, 0.5)]);
        let free = HubChoice::default();
        assert_eq!(free.best(&core, |_| true), Some(4));
        assert_eq!(free.best(&core, |hub| hub != 4), Some(7));
        // Without the best hub, one that was too far from it is tied with the next.
        assert_eq!(free.best(&core, |hub| hub != 7), Some(2));
        assert_eq!(free.best(&core, |hub| hub == 9), Some(9));
        assert_eq!(free.best(&core, |_| false), None);
        let kept = HubChoice::preferring(&[9, 2, 9]);
        assert_eq!(kept.best(&core, |_| true), Some(9));
        assert_eq!(kept.best(&core, |hub| hub != 9), Some(2));
        assert_eq!(kept.best(&core, |hub| hub > 2 && hub != 9), Some(4));
    }
}
