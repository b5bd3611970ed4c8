//! Refreshes within a bound: every core has its bound, and those of a plan's last refresh what proves it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Walk, vector_name};
use crate::error::StoreError;
use crate::tables::records::RefreshRecord;
use crate::tables::{self, CoreScoresKey, CoreScoresPart};

/// Whether a refresh is within a bound, by what is kept of its parameters.
fn is_within(refresh: &RefreshRecord) -> bool {
    let settings: Option<serde_json::Value> = serde_json::from_str(&refresh.settings).ok();
    let within = settings.and_then(|settings| settings.get("within")?.as_f64());
    within.is_some_and(|within| within > 0.0)
}

impl Walk<'_> {
    pub(super) fn kept_steps(
        &mut self,
        refreshes: &BTreeMap<u32, RefreshRecord>,
    ) -> Result<(), StoreError> {
        let plans = refreshes
            .iter()
            .map(|(number, record)| (&record.plan, number));
        let last: BTreeMap<&String, &u32> = plans.collect();
        let mut kept = BTreeSet::new();
        let mut bounded = BTreeSet::new();
        for (&refresh, record) in refreshes.iter().filter(|(_, record)| is_within(record)) {
            let cores = (1..=record.cores).map(|rank| (refresh, rank));
            bounded.extend(cores.clone());
            if record.cores > 0 && last.get(&record.plan) == Some(&&refresh) {
                // At rank 0 stand the groups that the steps name.
                kept.extend([(refresh, 0)]);
                kept.extend(cores);
            }
        }
        self.walk(&tables::STEP_CACHE, |walk, key, _| {
            if !kept.remove(&key) {
                let what = "it belongs to no core of a plan's last refresh within a bound";
                walk.report.find("step_cache", step_name(key), what);
            }
            Ok(())
        })?;
        for key in kept {
            let what =
                "it is missing, but the core belongs to a plan's last refresh within a bound";
            self.report.find("step_cache", step_name(key), what);
        }
        let mut there = BTreeSet::new();
        self.walk(&tables::CORE_SCORES, |walk, key, scores| {
            if key.side != CoreScoresPart::Bound {
                return Ok(());
            }
            let core = (key.refresh, key.rank);
            there.insert(core);
            let sigma = walk.store.get(&tables::CORES, &core).ok().flatten();
            let sigma = sigma.map_or(0.0, |core| core.sigma);
            let is_bound = scores.len() == 1 && scores[0] >= sigma;
            if !is_bound || !bounded.contains(&core) {
                let what = "it does not bound its core";
                walk.report.find("core_scores", vector_name(key), what);
            }
            Ok(())
        })?;
        for &(refresh, rank) in bounded.difference(&there) {
            let key = CoreScoresKey {
                refresh,
                rank,
                side: CoreScoresPart::Bound,
            };
            self.report
                .find("core_scores", vector_name(key), "it is not there");
        }
        Ok(())
    }
}

fn step_name((refresh, rank): (u32, u32)) -> String {
    format!("refresh {refresh}, core {rank}")
}
