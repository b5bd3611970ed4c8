//! Plans: a method and its parameters under a name.
//!
//! A plan's parameters come from flags, from a plan file and from what the plan kept, in this
//! order; what none of them says has its default. The command line and the plan file both fill
//! [`PlanOptions`], so they know the same parameters by the same names.

use serde::{Deserialize, Serialize};

use super::EngineError;
use crate::cores::{CoreParams, Density, Growth, Hits, Pick, Rule};

/// The plan that is meant where none is named.
pub const DEFAULT_PLAN: &str = "default";

/// How seeds are selected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// One seed from each dense bipartite core.
    #[default]
    Cores,
}

impl Method {
    /// The method's name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cores => "cores",
        }
    }
}

/// Which pages take part in ranking.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pages {
    /// Crawled and known pages.
    #[default]
    All,
    /// Crawled pages only.
    Crawled,
}

/// A plan's parameters as far as they were said; names as on the command line.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PlanOptions {
    /// How seeds are selected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<Method>,
    /// How many seeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seeds: Option<u32>,
    /// How the graph is ranked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hits: Option<Hits>,
    /// Iterations of classic HITS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u32>,
    /// Cover density of a core in per cent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub density: Option<Density>,
    /// What happens to pages that would lower the density.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
    /// Extraction by fixed size instead of density.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub core_size: Option<u32>,
    /// New members of each side per round, with `core_size`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_members: Option<u32>,
    /// The most hubs of a core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_hubs: Option<u32>,
    /// Which hub of a core becomes the seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pick: Option<Pick>,
    /// Whether spam pages take part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_spam: Option<bool>,
    /// Which pages take part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<Pages>,
}

/// A plan with every parameter decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CorePlan {
    /// The core method's parameters.
    pub params: CoreParams,
    /// Whether spam pages take part.
    pub keep_spam: bool,
    /// Which pages take part.
    pub pages: Pages,
}

impl PlanOptions {
    /// Reads a plan file (TOML).
    pub fn from_toml(text: &str) -> Result<Self, EngineError> {
        toml::from_str(text).map_err(|e| EngineError::Plan(format!("the plan file: {e}")))
    }

    /// These options, and where they are silent those of `base`.
    ///
    /// A stopping rule is taken whole: a density here sets aside a core size there, and the other
    /// way round.
    #[must_use]
    pub fn over(self, base: &Self) -> Self {
        let by_density = self.density.is_some() || self.growth.is_some();
        let by_size = self.core_size.is_some() || self.new_members.is_some();
        let (base_density, base_growth) = if by_size {
            (None, None)
        } else {
            (base.density, base.growth)
        };
        let (base_size, base_members) = if by_density {
            (None, None)
        } else {
            (base.core_size, base.new_members)
        };
        Self {
            method: self.method.or(base.method),
            seeds: self.seeds.or(base.seeds),
            hits: self.hits.or(base.hits),
            iterations: self.iterations.or(base.iterations),
            density: self.density.or(base_density),
            growth: self.growth.or(base_growth),
            core_size: self.core_size.or(base_size),
            new_members: self.new_members.or(base_members),
            max_hubs: self.max_hubs.or(base.max_hubs),
            pick: self.pick.or(base.pick),
            keep_spam: self.keep_spam.or(base.keep_spam),
            pages: self.pages.or(base.pages),
        }
    }

    /// The options of a plan as it is kept.
    pub(super) fn from_kept(settings: &str) -> Result<Self, EngineError> {
        serde_json::from_str(settings).map_err(|e| {
            EngineError::Plan(format!(
                "the plan was kept by another version of seedbank ({e}); name a new plan"
            ))
        })
    }

    /// What is kept of a plan.
    pub(super) fn to_kept(&self) -> Result<String, EngineError> {
        serde_json::to_string(self)
            .map_err(|_| EngineError::Internal("a plan cannot be written as JSON"))
    }

    /// Decides every parameter.
    pub fn decide(&self) -> Result<CorePlan, EngineError> {
        let by_size = match (self.core_size, self.new_members) {
            (Some(size), members) => Some((size, members.unwrap_or(1))),
            (None, Some(_)) => {
                return Err(EngineError::Plan(
                    "--new-members goes with --core-size; give that too".to_owned(),
                ));
            }
            (None, None) => None,
        };
        let rule = match by_size {
            Some((size, new_members)) => {
                if self.density.is_some() || self.growth.is_some() {
                    return Err(EngineError::Plan(
                        "a core is extracted by density or by size; give --density and --growth, or --core-size and --new-members"
                            .to_owned(),
                    ));
                }
                Rule::Size { size, new_members }
            }
            None => Rule::Density {
                density: self.density.unwrap_or(Density::COMPLETE),
                growth: self.growth.unwrap_or_default(),
            },
        };
        let hits = self.hits.unwrap_or_default();
        if self.iterations.is_some() && hits != Hits::Classic {
            return Err(EngineError::Plan(
                "--iterations goes with --hits classic; converged HITS iterates until it is certain"
                    .to_owned(),
            ));
        }
        let default = CoreParams::default();
        let params = CoreParams {
            seeds: self.seeds.unwrap_or(default.seeds),
            hits,
            iterations: self.iterations.unwrap_or(default.iterations),
            rule,
            max_hubs: self.max_hubs,
            pick: self.pick.unwrap_or_default(),
        };
        params
            .validate()
            .map_err(|e| EngineError::Plan(e.to_string()))?;
        Ok(CorePlan {
            params,
            keep_spam: self.keep_spam.unwrap_or(false),
            pages: self.pages.unwrap_or_default(),
        })
    }
}

/// Whether a name may be a plan's: it is written into seed lists and file names.
pub(super) fn check_name(name: &str) -> Result<(), EngineError> {
    let good = !name.is_empty()
        && name.len() <= 64
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    if good {
        Ok(())
    } else {
        Err(EngineError::Plan(format!(
            "{name:?} cannot be a plan's name; use 1 to 64 letters, digits, dots, dashes and underscores"
        )))
    }
}
