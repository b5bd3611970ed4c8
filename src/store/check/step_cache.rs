//! Check of refreshes within a bound: every core has a bound, and those of the last refresh of a plan have
//! cached steps.

use std::collections::{BTreeMap, BTreeSet};

use super::{Walk, core_scores_name};
use crate::error::StoreError;
use crate::tables::records::RefreshRecord;
use crate::tables::{self, CoreScoresKey, CoreScoresPart};

/// Returns whether a refresh is within a bound, according to its parameters.
fn is_within(refresh: &RefreshRecord) -> bool {
    let settings: Option<serde_json::Value> = serde_json::from_str(&refresh.settings).ok();
    let within = settings.and_then(|settings| settings.get("within")?.as_f64());
    within.is_some_and(|within| within > 0.0)
}

impl Walk<'_> {
    pub(super) fn step_cache(
        &mut self,
        refreshes: &BTreeMap<u32, RefreshRecord>,
    ) -> Result<(), StoreError> {
        let plans = refreshes
            .iter()
            .map(|(number, record)| (&record.plan, number));
        let last: BTreeMap<&String, &u32> = plans.collect();
        let mut expected = BTreeSet::new();
        let mut bounded = BTreeSet::new();
        // A plan that changed to another method keeps the steps of its last series until it is pruned.
        let mut unused: BTreeSet<u32> = BTreeSet::new();
        for (&refresh, record) in refreshes {
            let is_last = last.get(&record.plan) == Some(&&refresh);
            let Some(series) = record.standings.map(|standings| standings.series) else {
                continue;
            };
            if is_last {
                unused.remove(&series);
            } else {
                unused.insert(series);
            }
            if !is_within(record) {
                continue;
            }
            bounded.extend((1..=record.cores).map(|rank| (refresh, rank)));
            if record.cores > 0 && is_last {
                // The entry at rank 0 has the groups of all steps.
                expected.extend((0..=record.cores).map(|rank| (series, rank)));
            }
        }
        self.walk(&tables::STEP_CACHE, |walk, key, _| {
            if !expected.remove(&key) && !unused.contains(&key.0) {
                let what = "it belongs to no core of the last refresh of a plan within a bound";
                walk.find("step_cache", step_name(key.0, key.1), what);
            }
            Ok(())
        })?;
        for key in expected {
            let what =
                "it is missing, but the core belongs to the last refresh of a plan within a bound";
            self.find("step_cache", step_name(key.0, key.1), what);
        }
        let mut found = BTreeSet::new();
        self.walk(&tables::CORE_SCORES, |walk, key, scores| {
            if key.side != CoreScoresPart::Bound {
                return Ok(());
            }
            let core = (key.refresh, key.rank);
            found.insert(core);
            let sigma = walk.store.get(&tables::CORES, &core).ok().flatten();
            let sigma = sigma.map_or(0.0, |core| core.sigma);
            let is_bound = scores.len() == 1 && scores[0] >= sigma;
            if !is_bound || !bounded.contains(&core) {
                let what = "it does not bound its core";
                walk.find("core_scores", core_scores_name(key), what);
            }
            Ok(())
        })?;
        for &(refresh, rank) in bounded.difference(&found) {
            let key = CoreScoresKey {
                refresh,
                rank,
                side: CoreScoresPart::Bound,
            };
            self.find("core_scores", core_scores_name(key), "it is missing");
        }
        Ok(())
    }
}

fn step_name(series: u32, rank: u32) -> String {
    format!("series {series}, core {rank}")
}
