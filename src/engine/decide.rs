//! From what was said of a plan to a plan with every parameter decided, or to what makes no sense.

use super::EngineError;
use super::plan::{CorePlan, Plan, PlanOptions};
use crate::cores::{CoreParams, Density, Hits, Pick, Rule};
use crate::cover::{self, Choice, CoverParams};

impl PlanOptions {
    /// Decides every parameter.
    pub fn decide(&self) -> Result<Plan, EngineError> {
        let method = self.method.unwrap_or_default();
        let foreign = match method.cover() {
            None => given(&self.of_cover()),
            Some(_) => given(&self.of_cores()),
        };
        if let Some(flags) = foreign {
            let other = match method.cover() {
                None => "a cover method (--method max-weight, say)",
                Some(_) => "--method cores",
            };
            return Err(EngineError::Plan(format!(
                "the plan's method is {}, and {flags} belong{} to {other}; leave out what does not fit, or name the method",
                method.name(),
                if flags.contains(',') { "" } else { "s" },
            )));
        }
        match method.cover() {
            None => self.decide_cores().map(Plan::Cores),
            Some(method) => self.decide_cover(method).map(Plan::Cover),
        }
    }

    fn of_cores(&self) -> [(&'static str, bool); 11] {
        [
            ("--hits", self.hits.is_some()),
            ("--iterations", self.iterations.is_some()),
            ("--density", self.density.is_some()),
            ("--growth", self.growth.is_some()),
            ("--core-size", self.core_size.is_some()),
            ("--new-members", self.new_members.is_some()),
            ("--max-hubs", self.max_hubs.is_some()),
            ("--pick", self.pick.is_some()),
            ("--succeed", self.succeed.is_some()),
            ("--keep-spam", self.keep_spam.is_some()),
            ("--pages", self.pages.is_some()),
        ]
    }

    fn of_cover(&self) -> [(&'static str, bool); 11] {
        [
            ("--per-site", self.per_site.is_some()),
            ("--share", self.share.is_some()),
            ("--hops", self.hops.is_some()),
            ("--depth", self.depth.is_some()),
            ("--covered", self.covered.is_some()),
            ("--value-base", self.value_base.is_some()),
            ("--value-spam", self.value_spam.is_some()),
            ("--value-clicked", self.value_clicked.is_some()),
            ("--p-uniq", self.p_uniq.is_some()),
            ("--positive-only", self.positive_only.is_some()),
            ("--rng-seed", self.rng_seed.is_some()),
        ]
    }

    fn decide_cover(&self, method: cover::Method) -> Result<Choice, EngineError> {
        let default = CoverParams::default();
        let params = CoverParams {
            method,
            per_site: self.per_site,
            seeds: self.seeds,
            share: self.share,
            hops: self.hops.unwrap_or(default.hops),
            depth: self.depth,
            covered: self.covered,
            value_base: self.value_base.unwrap_or(default.value_base),
            value_spam: self.value_spam.unwrap_or(default.value_spam),
            value_clicked: self.value_clicked.unwrap_or(default.value_clicked),
            p_uniq: self.p_uniq,
            positive_only: self.positive_only.unwrap_or(default.positive_only),
            rng_seed: self.rng_seed.unwrap_or(default.rng_seed),
        };
        params
            .choose()
            .map_err(|e| EngineError::Plan(e.to_string()))
    }

    fn decide_cores(&self) -> Result<CorePlan, EngineError> {
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
        let succeed = self.succeed.unwrap_or(false);
        if succeed && self.pick == Some(Pick::Best) {
            return Err(EngineError::Plan(
                "--succeed keeps seeds and --pick best does not; give one of the two".to_owned(),
            ));
        }
        let default = CoreParams::default();
        let params = CoreParams {
            seeds: self.seeds.unwrap_or(default.seeds),
            hits,
            iterations: self.iterations.unwrap_or(default.iterations),
            rule,
            max_hubs: self.max_hubs,
            pick: if succeed {
                Pick::Stable
            } else {
                self.pick.unwrap_or_default()
            },
        };
        params
            .validate()
            .map_err(|e| EngineError::Plan(e.to_string()))?;
        Ok(CorePlan {
            params,
            succeed,
            keep_spam: self.keep_spam.unwrap_or(false),
            pages: self.pages.unwrap_or_default(),
        })
    }
}

/// The flags that were given, in words.
fn given(flags: &[(&'static str, bool)]) -> Option<String> {
    let given: Vec<&str> = flags.iter().filter(|f| f.1).map(|f| f.0).collect();
    (!given.is_empty()).then(|| given.join(", "))
}
