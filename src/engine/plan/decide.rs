//! From what was said of a plan to a plan with every parameter decided, or to what makes no sense.

use super::{CorePlan, Method, Plan, PlanOptions, Scope};
use crate::engine::policy::{Limit, List, Policy};
use crate::engine::{Family, PlanError};
use seedbank_algorithms::cores::{CoreParams, Density, Hits, Pick, Rule};
use seedbank_algorithms::cover::web::{WebChoice, WebParams};
use seedbank_algorithms::cover::{self, BadParams, Choice, CoverParams, Value};

impl PlanOptions {
    /// Decides every parameter.
    pub fn decide(&self) -> Result<Plan, PlanError> {
        let method = self.method.unwrap_or_default();
        let (parameters, family) = match method {
            Method::Cores => (given(&self.of_cover()), Family::Cover),
            Method::Cover(_) => (given(&self.of_cores()), Family::Cores),
        };
        if !parameters.is_empty() {
            return Err(PlanError::OtherFamily {
                method: method.name(),
                parameters,
                family,
            });
        }
        self.policy()?;
        match method {
            Method::Cores => self.decide_cores().map(Plan::Cores),
            Method::Cover(method) => match self.scope.unwrap_or_default() {
                Scope::Site => self.decide_cover(method).map(Plan::Cover),
                Scope::Web => self.decide_web(method).map(Plan::Web),
            },
        }
    }

    /// Decides every policy.
    pub fn policy(&self) -> Result<Policy, PlanError> {
        let all = [
            &self.exclude,
            &self.only,
            &self.exclude_from_graph,
            &self.pin,
        ];
        if let Some(list) = all.into_iter().flatten().find(|list| list.is_unread()) {
            return Err(PlanError::UnreadList(list.name().to_owned()));
        }
        let hash = |list: &Option<List>| list.as_ref().and_then(List::hash);
        let most = |limit: Option<Limit>| limit.and_then(Limit::number);
        for (name, limit) in [
            ("max-per-site", self.max_per_site),
            ("max-per-domain", self.max_per_domain),
        ] {
            if most(limit) == Some(0) {
                return Err(PlanError::NoSeedAllowed(name));
            }
        }
        if let Some(only) = self
            .only
            .as_ref()
            .filter(|only| hash(&self.only).is_some() && only.lines() == 0)
        {
            return Err(PlanError::NamesNothing(only.name().to_owned()));
        }
        Ok(Policy {
            max_per_site: most(self.max_per_site),
            max_per_domain: most(self.max_per_domain),
            exclude: hash(&self.exclude),
            only: hash(&self.only),
            exclude_from_graph: hash(&self.exclude_from_graph),
            pin: hash(&self.pin),
            min_hubs: self.min_hubs.unwrap_or(0),
            min_authorities: self.min_authorities.unwrap_or(0),
            min_quality: least_quality(self.min_quality)?,
            max_changes: most(self.max_changes),
        })
    }

    fn of_cores(&self) -> [(&'static str, bool); 14] {
        [
            ("hits", self.hits.is_some()),
            ("iterations", self.iterations.is_some()),
            ("density", self.density.is_some()),
            ("growth", self.growth.is_some()),
            ("core-size", self.core_size.is_some()),
            ("new-members", self.new_members.is_some()),
            ("max-hubs", self.max_hubs.is_some()),
            ("pick", self.pick.is_some()),
            ("within", self.within.is_some()),
            ("succeed", self.succeed.is_some()),
            ("keep-spam", self.keep_spam.is_some()),
            ("pages", self.pages.is_some()),
            ("min-hubs", self.min_hubs.is_some()),
            ("min-authorities", self.min_authorities.is_some()),
        ]
    }

    fn of_web(&self) -> [(&'static str, bool); 5] {
        [
            ("value-known", self.value_known.is_some()),
            ("value-by", self.value_by.is_some()),
            ("fetch-cost", self.fetch_cost.is_some()),
            ("budget", self.budget.is_some()),
            ("tune-visits", self.tune_visits.is_some()),
        ]
    }

    fn of_cover(&self) -> [(&'static str, bool); 18] {
        let [known, by, price, budget, visits] = self.of_web();
        [
            ("per-site", self.per_site.is_some()),
            ("share", self.share.is_some()),
            ("hops", self.hops.is_some()),
            ("depth", self.depth.is_some()),
            ("covered", self.covered.is_some()),
            ("value-base", self.value_base.is_some()),
            ("value-spam", self.value_spam.is_some()),
            ("value-clicked", self.value_clicked.is_some()),
            ("value-quality", self.value_quality.is_some()),
            ("p-uniq", self.p_uniq.is_some()),
            ("positive-only", self.positive_only.is_some()),
            ("rng-seed", self.rng_seed.is_some()),
            ("scope", self.scope.is_some()),
            known,
            by,
            price,
            budget,
            visits,
        ]
    }

    fn decide_cover(&self, method: cover::Method) -> Result<Choice, PlanError> {
        if let Some(parameter) = given(&self.of_web()).first() {
            return Err(BadParams::NeedsWeb(parameter).into());
        }
        Ok(self.cover_params(method).choose()?)
    }

    fn decide_web(&self, method: cover::Method) -> Result<WebChoice, PlanError> {
        let params = WebParams {
            cover: self.cover_params(method),
            hops: self.hops,
            value_known: self.value_known.unwrap_or_default(),
            value_by: self.value_by.unwrap_or_default(),
            fetch_cost: self.fetch_cost,
            budget: self.budget,
            tune_visits: self.tune_visits,
        };
        Ok(params.choose()?)
    }

    fn cover_params(&self, method: cover::Method) -> CoverParams {
        let default = CoverParams::default();
        CoverParams {
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
            value_quality: self.value_quality.unwrap_or(default.value_quality),
            p_uniq: self.p_uniq,
            positive_only: self.positive_only.unwrap_or(default.positive_only),
            rng_seed: self.rng_seed.unwrap_or(default.rng_seed),
        }
    }

    fn decide_cores(&self) -> Result<CorePlan, PlanError> {
        let by_size = match (self.core_size, self.new_members) {
            (Some(size), members) => Some((size, members.unwrap_or(1))),
            (None, Some(_)) => {
                return Err(PlanError::NoCoreSize);
            }
            (None, None) => None,
        };
        let rule = match by_size {
            Some((size, new_members)) => {
                if self.density.is_some() || self.growth.is_some() {
                    return Err(PlanError::TwoRules);
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
            return Err(PlanError::NoIterations);
        }
        let succeed = self.succeed.unwrap_or(false);
        if succeed && self.pick == Some(Pick::Best) {
            return Err(PlanError::TwoPicks);
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
            within: self.within.unwrap_or_default(),
        };
        params.validate()?;
        Ok(CorePlan {
            params,
            succeed,
            keep_spam: self.keep_spam.unwrap_or(false),
            pages: self.pages.unwrap_or_default(),
            left_out: self.exclude_from_graph.as_ref().and_then(List::hash),
        })
    }
}

/// A quality in ten-thousandths, rounded up: what is below it is below the quality that was said.
fn least_quality(quality: Option<Value>) -> Result<u16, PlanError> {
    let millionths = quality.unwrap_or_default().0;
    if !(0..=1_000_000).contains(&millionths) {
        return Err(PlanError::NoQuality(quality.unwrap_or_default()));
    }
    // At most 10,000.
    Ok(u16::try_from((millionths + 99) / 100).unwrap_or(u16::MAX))
}

/// The names of those that were given.
fn given(parameters: &[(&'static str, bool)]) -> Vec<&'static str> {
    parameters.iter().filter(|p| p.1).map(|p| p.0).collect()
}
