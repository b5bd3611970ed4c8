//! Resolves the options of a plan to values of all parameters, and validates them.

use super::parameter::{Parameter, TakenBy};
use super::{CorePlan, Goal, Method, PlanOptions, ResolvedPlan, Scope};
use crate::engine::error::{Family, PlanError};
use crate::engine::policy::{Limit, List, PagePolicy, Policy};
use seedbank_algorithms::cores::{CoreParams, Density, Hits, Pick, Rule};
use seedbank_algorithms::cover::global::{ValueBy, WebChoice, WebParams};
use seedbank_algorithms::cover::{self, BadParams, Choice, CoverParams, Revisit, Value};
use seedbank_algorithms::slack::Slack;

impl PlanOptions {
    /// Resolves and validates every parameter.
    pub fn resolve(&self) -> Result<ResolvedPlan, PlanError> {
        let method = self.method.unwrap_or_default();
        let family = match method {
            Method::Cores => Family::Cover,
            Method::Cover(_) => Family::Cores,
        };
        let parameters = self.set_names(|parameter| parameter.taken_by.family() == Some(family));
        if !parameters.is_empty() {
            return Err(PlanError::OtherFamily {
                method: method.name(),
                parameters,
                family,
            });
        }
        for parameter in Parameter::all() {
            parameter.check(self)?;
        }
        self.policy()?;
        match method {
            Method::Cores => self.resolve_cores().map(ResolvedPlan::Cores),
            Method::Cover(method) => match self.scope.unwrap_or_default() {
                Scope::Site => self.resolve_cover(method).map(ResolvedPlan::Cover),
                Scope::Web => self.resolve_web(method).map(ResolvedPlan::Web),
            },
        }
    }

    /// Resolves and validates every policy.
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
            pages: PagePolicy {
                exclude: hash(&self.exclude),
                only: hash(&self.only),
                exclude_from_graph: hash(&self.exclude_from_graph),
                min_quality: least_quality(self.min_quality),
                max_failures: self.max_failures.unwrap_or(0),
            },
            pin: hash(&self.pin),
            min_hubs: self.min_hubs.unwrap_or(0),
            min_authorities: self.min_authorities.unwrap_or(0),
            min_hub_sites: self.min_hub_sites.unwrap_or(0),
            max_changes: most(self.max_changes),
        })
    }

    fn resolve_cover(&self, method: cover::Method) -> Result<Choice, PlanError> {
        let over_web = self.set_names(|parameter| parameter.taken_by == TakenBy::Web);
        if let Some(parameter) = over_web.first() {
            return Err(BadParams::NeedsWeb(parameter).into());
        }
        Ok(self.cover_params(method).choose()?)
    }

    fn resolve_web(&self, method: cover::Method) -> Result<WebChoice, PlanError> {
        let is_for_other = self.goal.is_some_and(|goal| goal != Goal::Discovery);
        if self.learned == Some(true) && (is_for_other || self.value_by.is_some()) {
            let parameter = if is_for_other { "goal" } else { "value-by" };
            return Err(BadParams::ExcludedByLearned(parameter).into());
        }
        let is_greedy = method == cover::Method::Greedy && self.learned != Some(true);
        let revisit = self.revisit.unwrap_or_default();
        let keeps = self.goal == Some(Goal::Coverage) && is_greedy && revisit == Revisit::Off;
        let params = WebParams {
            cover: self.cover_params(method),
            hops: self.hops,
            value_known: self.value_known,
            value_by: if self.learned == Some(true) {
                ValueBy::Learned
            } else {
                self.value_by.unwrap_or_default()
            },
            fetch_cost: self.fetch_cost,
            duplicates: self.duplicates,
            revisit,
            keep_seeds: self.keep_seeds.unwrap_or(if keeps {
                Slack::ONE_PERCENT
            } else {
                Slack::EXACT
            }),
            budget: self.budget,
            tune_visits: self.tune_visits,
            holdouts: self.holdouts,
            objective: self.goal.map(Goal::objective).unwrap_or_default(),
            crawl: self.crawl.unwrap_or_default(),
            max_per_site: self.max_per_site.and_then(Limit::number),
            tunes_max_per_site: self.goal.is_some() && self.max_per_site.is_none(),
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
            weights: self.weights(),
            p_uniq: self.p_uniq,
            positive_only: self.positive_only.unwrap_or(default.positive_only),
            rng_seed: self.rng_seed.unwrap_or(default.rng_seed),
        }
    }

    fn resolve_cores(&self) -> Result<CorePlan, PlanError> {
        // Cores are completed either by size or by density.
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

/// Converts a quality to ten-thousandths, rounding up, so that lower qualities stay below it.
fn least_quality(quality: Option<Value>) -> u16 {
    let millionths = quality.unwrap_or_default().0;
    // The range check limits it to 10,000.
    u16::try_from((millionths + 99) / 100).unwrap_or(u16::MAX)
}
