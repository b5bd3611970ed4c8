//! The plans of a bank: which there are, and what each would do.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::views::Views;
use crate::engine::plan::{Method, NAME_PATTERN, PlanOptions};
use crate::engine::refresh::RefreshView;
use crate::engine::{Bank, EngineError};
use seedbank_store::records::RefreshId;
use seedbank_store::tables;

/// The plans of a bank.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Plans {
    /// By name.
    pub plans: Vec<PlanSummary>,
}

/// A plan, and its last refresh.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PlanSummary {
    /// The plan.
    #[schemars(regex(pattern = NAME_PATTERN))]
    pub plan: String,
    /// How it selects seeds.
    pub method: Method,
    /// Its parameters, as far as they were said; the others have their defaults.
    pub parameters: PlanOptions,
    /// How many of its refreshes are kept.
    #[schemars(range(min = 1))]
    pub refreshes: u32,
    /// The last of them.
    pub last: RefreshView,
}

/// A plan with what makes it again.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PlanDetail {
    /// The plan, and its last refresh.
    #[serde(flatten)]
    pub summary: PlanSummary,
    /// The numbers of its refreshes that are kept.
    #[schemars(inner(range(min = 1)))]
    pub stored_refreshes: Vec<RefreshId>,
    /// Its parameters as a plan file (TOML). Hops and a price that a refresh tried for the plan's
    /// budget are left out: a new plan tries them on its own state.
    pub plan_file: String,
}

impl Bank {
    /// The plans, by name.
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
        let kept = kept(&views)?;
        let mut plans = Vec::new();
        for entry in views.reader.scan(&tables::PLANS)? {
            let (name, _) = entry?;
            let of_plan = kept.get(&name).map_or(&[][..], Vec::as_slice);
            plans.push(summary(&views, &name, of_plan.len())?);
        }
        Ok(Plans { plans })
    }

    /// One plan with what makes it again; [`EngineError::NoPlan`] where there is none of this name.
    pub fn plan(&self, name: &str) -> Result<PlanDetail, EngineError> {
        let views = Views::open(self)?;
        let kept = kept(&views)?.remove(name).unwrap_or_default();
        let summary = summary(&views, name, kept.len())?;
        Ok(PlanDetail {
            stored_refreshes: kept,
            plan_file: summary.parameters.to_toml()?,
            summary,
        })
    }
}

/// The numbers of the refreshes that are kept, by plan.
fn kept(views: &Views) -> Result<BTreeMap<String, Vec<RefreshId>>, EngineError> {
    let mut kept: BTreeMap<String, Vec<RefreshId>> = BTreeMap::new();
    for entry in views.reader.scan(&tables::REFRESHES)? {
        let (number, record) = entry?;
        kept.entry(record.plan).or_default().push(number);
    }
    Ok(kept)
}

fn summary(views: &Views, name: &str, refreshes: usize) -> Result<PlanSummary, EngineError> {
    let name = name.to_owned();
    let Some(plan) = views.reader.get(&tables::PLANS, &name)? else {
        return Err(EngineError::NoPlan(name));
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
