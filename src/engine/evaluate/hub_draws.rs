//! Seeds drawn at random from the hubs of cores, as Daneshpajouh, Mohammadi Nasiri and Ghodsi chose theirs.

use std::collections::{BTreeMap, BTreeSet};

use super::seed_lists::CurrentState;

use crate::engine::EngineError;
use seedbank_algorithms::evaluate::draw;
use seedbank_store::records::{RefreshId, SeedEvidence};
use seedbank_store::tables;

/// The hubs of cores from which seeds are drawn.
pub(super) struct HubSets(Vec<HubSet>);

/// The hubs of a core that are live pages, and the number of seeds that the core has on the list.
struct HubSet {
    core: u32,
    hubs: Vec<u32>,
    seeds: usize,
}

impl HubSets {
    /// Returns the hubs of the cores that have live seeds on the list of a refresh; none if it has no cores.
    pub(super) fn of(
        current: &CurrentState,
        refresh: RefreshId,
        seeds: &[u32],
    ) -> Result<Self, EngineError> {
        let live: BTreeSet<u32> = seeds.iter().copied().collect();
        let mut seeds_of: BTreeMap<u32, usize> = BTreeMap::new();
        let reader = &current.views.reader;
        for (_, seed) in reader.list(refresh)? {
            let number = current.numbers.number_of(seed.page);
            if let SeedEvidence::Core { core, .. } = seed.evidence
                && number.is_some_and(|number| live.contains(&number))
            {
                *seeds_of.entry(core).or_default() += 1;
            }
        }
        let mut sets = Vec::with_capacity(seeds_of.len());
        if seeds_of.is_empty() {
            return Ok(Self(sets));
        }
        for entry in reader.scan_under(&tables::CORES, &refresh.to_be_bytes())? {
            let ((_, core), record) = entry?;
            if let Some(&seeds) = seeds_of.get(&core) {
                let hubs = record.hubs.iter();
                let hubs = hubs.filter_map(|hub| current.numbers.number_of(*hub));
                let mut hubs: Vec<u32> = hubs.collect();
                // By URL, so that a draw does not depend on the order of extraction.
                hubs.sort_unstable();
                sets.push(HubSet { core, hubs, seeds });
            }
        }
        Ok(Self(sets))
    }

    /// Whether there are no cores.
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Draws as many hubs of each core as it has seeds.
    pub(super) fn draw(&self, rng_seed: u64, at: u32) -> Vec<u32> {
        let mut drawn = Vec::new();
        for set in &self.0 {
            let count = u32::try_from(set.hubs.len()).unwrap_or(u32::MAX);
            let of_core = (u64::from(at) << 32) | u64::from(set.core);
            let places = draw("hubs", rng_seed, of_core, count, set.seeds);
            drawn.extend(places.iter().map(|&place| set.hubs[place as usize]));
        }
        drawn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_hub_of_a_core_is_equally_likely_and_cores_are_independent() {
        let set = |core, hubs: &[u32], seeds| HubSet {
            core,
            hubs: hubs.to_vec(),
            seeds,
        };
        let sets = HubSets(vec![
            set(1, &[0, 1, 2], 1),
            set(2, &[3, 4, 5], 2),
            set(3, &[6], 2),
        ]);
        let mut hits = [0_u32; 7];
        let mut both_first = 0;
        for at in 0..3000 {
            let drawn = sets.draw(5, at);
            assert_eq!(drawn.len(), 4, "{drawn:?}");
            both_first += u32::from(drawn.contains(&0) && drawn.contains(&3));
            for hub in drawn {
                hits[hub as usize] += 1;
            }
        }
        // One of three, two of three, and the only one; standard deviation 26.
        assert!(
            hits[..3].iter().all(|&hits| hits.abs_diff(1000) < 110),
            "{hits:?}"
        );
        assert!(
            hits[3..6].iter().all(|&hits| hits.abs_diff(2000) < 110),
            "{hits:?}"
        );
        assert_eq!(hits[6], 3000);
        // 1/3 of 2/3.
        assert!(both_first.abs_diff(667) < 100, "{both_first}");
        assert_eq!(sets.draw(5, 9), sets.draw(5, 9));
    }
}
