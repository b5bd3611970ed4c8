//! What a plan over the whole web is asked to do, and what of it makes no sense.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::error::BadParams;
use super::super::limits::{MAX_HOPS, MAX_PRICE, PRICES, WEIGHTS};
use super::super::params::{CoverParams, Covered, Method};
use super::super::value::{PUniq, UNIT, Value, Weights};

/// What pages are worth.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ValueBy {
    /// The weights of spam, clicked and other pages, and uncrawled outlinks.
    #[default]
    Weights,
    /// The PageRank on the whole graph, times the number of its pages.
    Pagerank,
}

/// How far candidates look, and what they pay for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Setting {
    /// How many hops from a seed a page is reached.
    pub hops: u32,
    /// What every page reached costs.
    pub fetch_cost: Value,
}

/// Seeds of a plan over the web, unless it says how many.
const SEEDS: u32 = 100;
/// Hops, unless said or tried: of methods that search from every candidate, and of the others.
const HOPS: (u32, u32) = (2, 5);
/// The most visits of a pass that is tried, unless said.
pub const TUNE_VISITS: u64 = 10_000_000_000;

/// Prices that are tried where pages are worth their PageRank, in millionths of the average page's.
///
/// Few pages have most of the PageRank, so the fewer a crawl fetches, the more a fetch has to bring,
/// and the best price rises far above the average. `benches/README.md` has what these gather, and
/// what others would.
const RANK_PRICES: [i64; 8] = [
    0, 500_000, 750_000, 1_000_000, 1_500_000, 2_000_000, 3_000_000, 4_000_000,
];

/// The parameters of a plan over the web, field by field what the command line and plan files say.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WebParams {
    /// What plans over sites and plans over the web have in common. `hops` is not looked at.
    pub cover: CoverParams,
    /// How many hops from a seed a page is reached.
    pub hops: Option<u32>,
    /// What a known page is worth.
    pub value_known: Value,
    /// What pages are worth; by weights unless given.
    pub value_by: ValueBy,
    /// What every page reached costs.
    pub fetch_cost: Option<Value>,
    /// How many pages the crawl will fetch.
    pub budget: Option<u64>,
    /// The most page visits of a pass that is tried.
    pub tune_visits: Option<u64>,
}

/// Parameters that make sense together, with every default filled in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WebChoice {
    /// How pages are picked.
    pub method: Method,
    /// How many of them.
    pub seeds: u32,
    /// How many hops from a seed a page is reached; `None` where that is to be tried.
    pub hops: Option<u32>,
    /// The depth of the weight that max-weight picks by.
    pub depth: Option<u32>,
    /// What every page reached costs; `None` where that is to be tried.
    pub fetch_cost: Option<Value>,
    /// The weight settings.
    pub weights: Weights,
    /// Overrides `P_uniq` of every site.
    pub p_uniq: Option<Value>,
    /// What a known page is worth.
    pub value_known: Value,
    /// What pages are worth.
    pub value_by: ValueBy,
    /// How many pages the crawl will fetch; `None` where the list is not made for a crawl.
    pub budget: Option<u64>,
    /// The most page visits of a pass that is tried.
    pub tune_visits: u64,
    /// Stop before a pick whose score is not positive; never for baselines.
    pub positive_only: bool,
    /// The seed of the stream of [`Method::Random`].
    pub rng_seed: u64,
}

impl WebChoice {
    /// `P_uniq` of a site: by its digests, unless the setting overrides it.
    #[must_use]
    pub fn p_uniq_of(&self, distinct: u64, with_digest: u64) -> PUniq {
        let by_digests = || PUniq::of_digests(distinct, with_digest);
        self.p_uniq.map_or_else(by_digests, PUniq::fixed)
    }

    /// Hops and price; `None` where one of them is to be tried.
    #[must_use]
    pub fn setting(&self) -> Option<Setting> {
        Some(Setting {
            hops: self.hops?,
            fetch_cost: self.fetch_cost?,
        })
    }

    /// The depth of the weight that pages are picked by, at so many hops.
    #[must_use]
    pub fn depth_within(&self, hops: u32) -> u32 {
        self.depth.unwrap_or(hops).min(hops)
    }

    /// The hops and prices to be tried, those that the plan leaves open; fewest hops and then the
    /// lowest price first.
    #[must_use]
    pub fn grid(&self) -> (Vec<u32>, Vec<Value>) {
        let hops = self
            .hops
            .map_or_else(|| (1..=4).collect(), |hops| vec![hops]);
        // A page by PageRank is worth 1 on average.
        let (unit, shares): (i64, &[i64]) = match self.value_by {
            ValueBy::Pagerank => (UNIT, &RANK_PRICES),
            ValueBy::Weights if self.weights.base.0 > 0 => (
                self.weights.base.0,
                &[0, 170_000, 330_000, 500_000, 670_000],
            ),
            ValueBy::Weights => (UNIT, &[0, 170_000, 330_000, 500_000, 670_000]),
        };
        let price = |share: &i64| {
            let price = share * (unit / UNIT) + share * (unit % UNIT) / UNIT;
            Value(price.min(MAX_PRICE * UNIT))
        };
        let prices = || shares.iter().map(price).collect();
        (
            hops,
            self.fetch_cost.map_or_else(prices, |price| vec![price]),
        )
    }
}

impl WebParams {
    /// Fills in the defaults; refuses what makes no sense.
    pub fn choose(&self) -> Result<WebChoice, BadParams> {
        let method = self.cover.method;
        if matches!(method, Method::MaxScc | Method::RootScc) {
            return Err(BadParams::OnlyPerSite(method.name()));
        }
        if self.cover.per_site.is_some() {
            return Err(BadParams::PerSiteOverWeb);
        }
        if self.cover.share.is_some() {
            return Err(BadParams::ShareOverWeb);
        }
        let searches = matches!(method, Method::Greedy | Method::MaxWeight);
        if self.fetch_cost.is_some() && !searches {
            return Err(BadParams::NoGain(method.name()));
        }
        if self.budget.is_some() && method != Method::Greedy {
            return Err(BadParams::NoBudget(method.name()));
        }
        if self.budget == Some(0) {
            return Err(BadParams::OutOfRange("budget"));
        }
        if self.budget.is_none() && self.tune_visits.is_some() {
            return Err(BadParams::NothingToTune);
        }
        if self.value_by == ValueBy::Pagerank && self.cover.weights.quality.0 != 0 {
            return Err(BadParams::QualityByPagerank);
        }
        if !WEIGHTS.contains(&self.value_known) {
            return Err(BadParams::OutOfRange("value-known"));
        }
        if self.fetch_cost.is_some_and(|cost| !PRICES.contains(&cost)) {
            return Err(BadParams::OutOfRange("fetch-cost"));
        }
        // Depth and what becomes of covered pages mean what they mean on a site.
        let open = self.budget.is_some();
        let default = if searches { HOPS.0 } else { HOPS.1 };
        let hops = self.hops.unwrap_or(if open { MAX_HOPS } else { default });
        let of_site = CoverParams {
            hops,
            seeds: Some(self.cover.seeds.unwrap_or(SEEDS)),
            ..self.cover.clone()
        };
        let of_site = of_site.choose()?;
        if of_site.covered == Covered::Remove && method != Method::MaxOut {
            return Err(BadParams::RemoveOverWeb);
        }
        Ok(WebChoice {
            method,
            seeds: self.cover.seeds.unwrap_or(SEEDS),
            hops: self.hops.or((!open).then_some(default)),
            depth: (method == Method::MaxWeight).then_some(of_site.depth),
            fetch_cost: self.fetch_cost.or((!open).then_some(Value(0))),
            weights: of_site.weights,
            p_uniq: of_site.p_uniq,
            value_known: self.value_known,
            value_by: self.value_by,
            budget: self.budget,
            tune_visits: self.tune_visits.unwrap_or(TUNE_VISITS),
            positive_only: of_site.positive_only,
            rng_seed: of_site.rng_seed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::params::Share;
    use super::*;

    fn plan(method: Method) -> WebParams {
        WebParams {
            cover: CoverParams {
                method,
                ..CoverParams::default()
            },
            ..WebParams::default()
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let greedy = || plan(Method::Greedy);
        let mut cases = vec![plan(Method::MaxScc), plan(Method::RootScc)];
        let mut add = |method: Method, change: fn(&mut WebParams)| {
            let mut params = plan(method);
            change(&mut params);
            cases.push(params);
        };
        add(Method::Greedy, |p| p.cover.per_site = Some(3));
        add(Method::Greedy, |p| p.cover.share = Some(Share::Value));
        add(Method::Greedy, |p| p.cover.seeds = Some(0));
        add(Method::Greedy, |p| p.cover.depth = Some(1));
        add(Method::MaxWeight, |p| {
            p.cover.covered = Some(Covered::Remove);
        });
        add(Method::MaxWeight, |p| p.budget = Some(10));
        add(Method::MaxOut, |p| p.fetch_cost = Some(Value(1)));
        add(Method::Random, |p| p.fetch_cost = Some(Value(0)));
        add(Method::Greedy, |p| p.fetch_cost = Some(Value(-1)));
        add(Method::Greedy, |p| {
            p.fetch_cost = Some(Value(MAX_PRICE * UNIT + 1));
        });
        add(Method::Greedy, |p| p.value_known = Value(1_000_001 * UNIT));
        add(Method::Greedy, |p| {
            p.cover.weights.quality = Value::units(1);
            p.value_by = ValueBy::Pagerank;
        });
        add(Method::Greedy, |p| p.budget = Some(0));
        add(Method::Greedy, |p| p.tune_visits = Some(9));
        add(Method::Greedy, |p| p.hops = Some(1001));
        for params in cases {
            assert!(params.choose().is_err(), "{params:?}");
        }
        let choice = greedy().choose().unwrap();
        assert_eq!(
            (choice.seeds, choice.hops, choice.fetch_cost),
            (100, Some(2), Some(Value(0)))
        );
        assert_eq!(plan(Method::OutDegree).choose().unwrap().hops, Some(5));
    }

    #[test]
    fn a_grid_leaves_what_is_given() {
        let mut params = plan(Method::Greedy);
        params.budget = Some(1000);
        let (hops, prices) = params.choose().unwrap().grid();
        let of = |millionths: &[i64]| millionths.iter().copied().map(Value).collect::<Vec<_>>();
        assert_eq!(hops, [1, 2, 3, 4]);
        assert_eq!(prices, of(&[0, 170_000, 330_000, 500_000, 670_000]));
        params.cover.weights.base = Value(2_000_001);
        let (_, prices) = params.choose().unwrap().grid();
        assert_eq!(prices, of(&[0, 340_000, 660_000, 1_000_000, 1_340_000]));
        params.value_by = ValueBy::Pagerank;
        params.hops = Some(2);
        let (hops, prices) = params.choose().unwrap().grid();
        assert_eq!(
            (hops, prices),
            (
                vec![2],
                of(&[
                    0, 500_000, 750_000, 1_000_000, 1_500_000, 2_000_000, 3_000_000, 4_000_000
                ])
            )
        );
    }
}
