//! Plans of a bank and their parameters.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::views::Views;
use crate::engine::plan::{Method, NAME_PATTERN, PlanOptions};
use crate::engine::refresh::RefreshView;
use crate::engine::{Bank, EngineError};
use seedbank_store::records::RefreshId;
use seedbank_store::tables;

/// Plans of a bank.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Plans {
    /// Plans, by name.
    pub plans: Vec<PlanSummary>,
}

/// Plan with its last refresh.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PlanSummary {
    /// Name of the plan.
    #[schemars(regex(pattern = NAME_PATTERN))]
    pub plan: String,
    /// Method that selects seeds.
    pub method: Method,
    /// Given parameters; all others have their defaults.
    pub parameters: PlanOptions,
    /// Number of stored refreshes.
    #[schemars(range(min = 1))]
    pub refreshes: u32,
    /// Last refresh.
    pub last: RefreshView,
}

/// Plan with its plan file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PlanDetail {
    /// Plan and last refresh.
    #[serde(flatten)]
    pub summary: PlanSummary,
    /// Numbers of the stored refreshes.
    #[schemars(inner(range(min = 1)))]
    pub stored_refreshes: Vec<RefreshId>,
    /// Parameters as a plan file (TOML), without the hops and the fetch cost that a refresh tuned for the
    /// plan's budget: a new plan tunes them on its own state.
    pub plan_file: String,
}

impl Bank {
    /// Returns all plans, by name.
    ///
    /// Cost: one scan of the records of refreshes.
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// let plans = bank.plans()?.plans;
    /// assert_eq!((&*plans[0].plan, plans[0].last.seeds), ("default", 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn plans(&self) -> Result<Plans, EngineError> {
        let views = Views::open(self)?;
        let stored = stored_refreshes(&views)?;
        let mut plans = Vec::new();
        for entry in views.reader.scan(&tables::PLANS)? {
            let (name, _) = entry?;
            let of_plan = stored.get(&name).map_or(&[][..], Vec::as_slice);
            plans.push(summary(&views, &name, of_plan.len())?);
        }
        Ok(Plans { plans })
    }

    /// Returns a plan by name.
    ///
    /// # Errors
    ///
    /// [`EngineError::UnknownPlan`] if there is no such plan.
    pub fn plan(&self, name: &str) -> Result<PlanDetail, EngineError> {
        let views = Views::open(self)?;
        let stored_refreshes = stored_refreshes(&views)?.remove(name).unwrap_or_default();
        let summary = summary(&views, name, stored_refreshes.len())?;
        Ok(PlanDetail {
            stored_refreshes,
            plan_file: summary.parameters.to_toml()?,
            summary,
        })
    }
}

/// Returns the numbers of the stored refreshes, by plan.
fn stored_refreshes(views: &Views) -> Result<BTreeMap<String, Vec<RefreshId>>, EngineError> {
    let mut stored: BTreeMap<String, Vec<RefreshId>> = BTreeMap::new();
    for entry in views.reader.scan(&tables::REFRESHES)? {
        let (number, record) = entry?;
        stored.entry(record.plan).or_default().push(number);
    }
    Ok(stored)
}

fn summary(views: &Views, name: &str, refreshes: usize) -> Result<PlanSummary, EngineError> {
    let name = name.to_owned();
    let Some(plan) = views.reader.get(&tables::PLANS, &name)? else {
        return Err(EngineError::UnknownPlan(name));
    };
    let parameters = views.options(&plan.settings)?;
    let last = views.reader.need(&tables::REFRESHES, &plan.last_refresh)?;
    Ok(PlanSummary {
        plan: name,
        method: parameters.method.unwrap_or_default(),
        parameters,
        refreshes: u32::try_from(refreshes).unwrap_or(u32::MAX),
        last: views.refresh(plan.last_refresh, last)?,
    })
}
