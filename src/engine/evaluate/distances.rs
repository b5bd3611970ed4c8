//! Distances between the cores of a refresh.

use std::collections::BTreeSet;

use super::answers::{
    Claim, CorePlace, DistanceSpread, DistancesEvaluation, DistancesRequest, GraphDistance,
};
use super::seed_lists::{CurrentState, Needed};

use crate::engine::error::ExperimentError;
use crate::engine::query::views::Views;
use crate::engine::{Bank, EngineError};
use seedbank_algorithms::evaluate::distances::{average_distance, group_distances};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Watch;
use seedbank_store::tables;

/// See [`Bank::evaluate_distances`].
pub(super) fn run(
    bank: &Bank,
    request: &DistancesRequest,
    watch: &dyn Watch,
) -> Result<DistancesEvaluation, EngineError> {
    // Fail before the slow loading of the graph.
    let views = Views::open(bank)?;
    let (refresh, record) = views.find(&request.which)?;
    if record.cores == 0 {
        let plan = record.plan;
        return Err(ExperimentError::NoCores { refresh, plan }.into());
    }
    if request.cores == 0 || request.samples == 0 {
        return Err(ExperimentError::NoDistances.into());
    }
    let current = CurrentState::load(views, Needed::Links, watch)?;
    let mut cores = Vec::new();
    let mut groups = Vec::new();
    let reader = &current.views.reader;
    let stored = reader.scan_under(&tables::CORES, &refresh.to_be_bytes())?;
    for entry in stored.take(request.cores as usize) {
        let ((_, rank), core) = entry?;
        let pages: BTreeSet<PageId> = core.hubs.iter().chain(&core.authorities).copied().collect();
        let live: Vec<u32> = pages
            .iter()
            .filter_map(|p| current.numbers.number_of(*p))
            .collect();
        cores.push(CorePlace {
            rank,
            seed: current.url(core.seed)?,
            sigma: core.sigma,
            pages: pages.len() as u64,
            live_pages: live.len() as u64,
        });
        groups.push(live);
    }
    watch.stage("core distances", Some(groups.len() as u64));
    let distances = group_distances(&current.web, &groups, watch)?;
    watch.stage("sample distances", Some(request.samples.into()));
    let found = average_distance(&current.web, request.samples, request.rng_seed, watch)?;
    let graph = GraphDistance {
        sources: found.sources,
        samples: found.samples,
        mean: found.mean,
        reached: found.reached,
    };
    let count = cores.len();
    // All ordered pairs of different cores that `keep` accepts.
    let cells = |keep: &dyn Fn(usize, usize) -> bool| {
        let pairs = (0..count).flat_map(|from| (0..count).map(move |to| (from, to)));
        let pairs = pairs.filter(|&(from, to)| from != to && keep(from, to));
        spread(pairs.map(|(from, to)| distances[from][to]))
    };
    let all = cells(&|_, _| true);
    let neighbours = cells(&|from, to| from.abs_diff(to) == 1);
    Ok(DistancesEvaluation {
        state: current.state,
        plan: record.plan,
        refresh,
        claims: claims(&neighbours, &graph),
        cores,
        all,
        neighbours,
        graph,
        distances,
    })
}

fn spread(distances: impl Iterator<Item = Option<u32>>) -> DistanceSpread {
    let mut spread = DistanceSpread {
        pairs: 0,
        reachable: 0,
        unreachable: 0,
        min: None,
        mean: None,
        max: None,
    };
    let mut sum = 0_u64;
    for distance in distances {
        spread.pairs += 1;
        let Some(distance) = distance else {
            spread.unreachable += 1;
            continue;
        };
        spread.reachable += 1;
        sum += u64::from(distance);
        spread.min = Some(spread.min.map_or(distance, |min| min.min(distance)));
        spread.max = Some(spread.max.map_or(distance, |max| max.max(distance)));
    }
    spread.mean = (spread.reachable > 0).then(|| sum as f64 / spread.reachable as f64);
    spread
}

/// Checks the claim of Daneshpajouh, Mohammadi Nasiri and Ghodsi about their cores, section 3.5.
fn claims(neighbours: &DistanceSpread, graph: &GraphDistance) -> Vec<Claim> {
    let Some(average) = graph.mean else {
        return Vec::new();
    };
    if neighbours.pairs == 0 {
        return Vec::new();
    }
    let error = average
        .standard_error
        .map_or_else(String::new, |error| format!(" ± {error:.2}"));
    let without = format!(
        "{} of {} pairs have no path",
        neighbours.unreachable, neighbours.pairs
    );
    let (holds, text) = match neighbours.mean {
        None => (
            true,
            "No core of a neighbouring rank can be reached from another.".to_owned(),
        ),
        Some(mean) => {
            let holds = mean >= average.mean;
            (
                holds,
                format!(
                    "Cores of neighbouring ranks are {} an average distance apart: {mean:.2} links over pairs with a path, against {:.2}{error} between pages; {without}.",
                    if holds { "at least" } else { "less than" },
                    average.mean
                ),
            )
        }
    };
    vec![Claim {
        claim: "neighbouring-cores-at-least-average".to_owned(),
        holds,
        text,
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_count_pairs_without_a_way() {
        let found = spread([Some(2), None, Some(5), Some(2)].into_iter());
        assert_eq!((found.pairs, found.reachable, found.unreachable), (4, 3, 1));
        assert_eq!(
            (found.min, found.mean, found.max),
            (Some(2), Some(3.0), Some(5))
        );
        assert_eq!(spread([None].into_iter()).mean, None);
    }
}
