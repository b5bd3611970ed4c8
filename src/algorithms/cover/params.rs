//! What a cover plan is asked to do, and what of it makes no sense.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::BadParams;
use super::limits::{HOPS, PER_SITE, SHARES, WEIGHTS};
use super::value::{PUniq, Value, Weights};

/// How the pages of a site are picked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "CoverMethod")]
pub enum Method {
    /// Per site: drawn without replacement.
    Random,
    /// Per site: the best PageRank on the site's own graph.
    Pagerank,
    /// Per site: the most links to crawled pages of the site.
    OutDegree,
    /// Per site: the most links to pages that no earlier seed covers.
    MaxOut,
    /// Per site: the most value within `depth` hops.
    MaxWeight,
    /// Per site: the same, in the heaviest strongly connected component.
    MaxScc,
    /// Per site: the same, in the heaviest root component above the heaviest component.
    RootScc,
    /// Per site: the most value within all `hops` hops.
    Greedy,
}

impl Method {
    /// All methods.
    pub const ALL: [Self; 8] = [
        Self::Random,
        Self::Pagerank,
        Self::OutDegree,
        Self::MaxOut,
        Self::MaxWeight,
        Self::MaxScc,
        Self::RootScc,
        Self::Greedy,
    ];

    /// The name in plans and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Pagerank => "pagerank",
            Self::OutDegree => "out-degree",
            Self::MaxOut => "max-out",
            Self::MaxWeight => "max-weight",
            Self::MaxScc => "max-scc",
            Self::RootScc => "root-scc",
            Self::Greedy => "greedy",
        }
    }

    /// Whether it is a baseline: gives its seeds whatever they cover.
    #[must_use]
    pub const fn is_baseline(self) -> bool {
        matches!(self, Self::Random | Self::Pagerank | Self::OutDegree)
    }
}

/// What becomes of covered pages.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Covered {
    /// Their value becomes zero; hops still walk through them.
    Zero,
    /// They are removed; hops walk what remains.
    Remove,
}

/// By what a total of seeds is shared out over the sites.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Share {
    /// The number of the site's crawled pages.
    #[default]
    Pages,
    /// The value of the site's pages; a negative one counts as 0.
    Value,
    /// The PageRank of the site's pages on the whole graph.
    Pagerank,
    /// The qualities of the site's crawled pages.
    Quality,
}

/// The parameters of a cover plan.
///
/// A field that is `None` was not given, so [`CoverParams::choose`] can tell a default from a
/// request that makes no sense.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CoverParams {
    /// How pages are picked; `max-weight` unless given.
    pub method: Method,
    /// Seeds per site; 10 unless this or `seeds` is given.
    pub per_site: Option<u32>,
    /// A total of seeds, shared out over the sites.
    pub seeds: Option<u32>,
    /// By what the total is shared out; by crawled pages unless given.
    pub share: Option<Share>,
    /// How many hops from a seed a page is covered.
    pub hops: u32,
    /// The depth of the weight that a page is picked by; unless given 2, or `hops` if that is less.
    pub depth: Option<u32>,
    /// What becomes of covered pages; unless given what the method implies.
    pub covered: Option<Covered>,
    /// The weight settings.
    pub weights: Weights,
    /// Overrides `P_uniq` of every site.
    pub p_uniq: Option<Value>,
    /// Stop before a pick whose score is not positive.
    pub positive_only: bool,
    /// The seed of the streams of [`Method::Random`].
    pub rng_seed: u64,
}

impl Default for CoverParams {
    fn default() -> Self {
        Self {
            method: Method::MaxWeight,
            per_site: None,
            seeds: None,
            share: None,
            hops: 5,
            depth: None,
            covered: None,
            weights: Weights::default(),
            p_uniq: None,
            positive_only: true,
            rng_seed: 0,
        }
    }
}

/// How many seeds a site gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seats {
    /// This many seeds on every site.
    PerSite(u32),
    /// A total, shared out.
    Shared(u32, Share),
}

/// Parameters that make sense together, with every default filled in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    /// How pages are picked.
    pub method: Method,
    /// How many of them.
    pub seats: Seats,
    /// How many hops from a seed a page is covered.
    pub hops: u32,
    /// The depth of the weight that a page is picked by; `hops` for greedy, 0 where none is used.
    pub depth: u32,
    /// What becomes of covered pages.
    pub covered: Covered,
    /// The weight settings.
    pub weights: Weights,
    /// Overrides `P_uniq` of every site.
    pub p_uniq: Option<Value>,
    /// Stop before a pick whose score is not positive; never for baselines.
    pub positive_only: bool,
    /// The seed of the streams of [`Method::Random`].
    pub rng_seed: u64,
}

impl Choice {
    /// `P_uniq` of a site: by its digests, unless the setting overrides it.
    #[must_use]
    pub fn p_uniq_of(&self, distinct: u64, with_digest: u64) -> PUniq {
        let by_digests = || PUniq::of_digests(distinct, with_digest);
        self.p_uniq.map_or_else(by_digests, PUniq::fixed)
    }
}

/// Whether sums of these weights cannot overflow.
fn are_in_range(weights: &Weights) -> bool {
    let Weights {
        base,
        spam,
        clicked,
        quality,
    } = weights;
    [base, spam, clicked, quality]
        .into_iter()
        .all(|weight| WEIGHTS.contains(weight))
}

impl CoverParams {
    /// Fills in the defaults; rejects parameters that contradict each other.
    pub fn choose(&self) -> Result<Choice, BadParams> {
        if !HOPS.contains(&self.hops) {
            return Err(BadParams::OutOfRange("hops"));
        }
        if !are_in_range(&self.weights) {
            return Err(BadParams::OutOfRange("a weight"));
        }
        if self.p_uniq.is_some_and(|share| !SHARES.contains(&share)) {
            return Err(BadParams::OutOfRange("p-uniq"));
        }
        Ok(Choice {
            method: self.method,
            seats: self.choose_seats()?,
            hops: self.hops,
            depth: self.choose_depth()?,
            covered: self.choose_covered()?,
            weights: self.weights,
            p_uniq: self.p_uniq,
            positive_only: self.positive_only && !self.method.is_baseline(),
            rng_seed: self.rng_seed,
        })
    }

    fn choose_seats(&self) -> Result<Seats, BadParams> {
        match (self.per_site, self.seeds) {
            (Some(_), Some(_)) => Err(BadParams::TwoCounts),
            (Some(0), None) | (None, Some(0)) => Err(BadParams::OutOfRange("seeds")),
            (None, Some(total)) => Ok(Seats::Shared(total, self.share.unwrap_or_default())),
            (_, None) if self.share.is_some() => Err(BadParams::NothingToShare),
            (per_site, None) => Ok(Seats::PerSite(per_site.unwrap_or(PER_SITE))),
        }
    }

    fn choose_depth(&self) -> Result<u32, BadParams> {
        let hops = self.hops;
        match (self.method, self.depth) {
            (Method::Greedy, Some(depth)) if depth != hops => {
                Err(BadParams::GreedyDepth { depth, hops })
            }
            (Method::Greedy, _) => Ok(hops),
            (Method::MaxWeight | Method::MaxScc | Method::RootScc, Some(depth)) if depth > hops => {
                Err(BadParams::TooDeep { depth, hops })
            }
            (Method::MaxWeight | Method::MaxScc | Method::RootScc, depth) => {
                Ok(depth.unwrap_or(2.min(hops)))
            }
            (method, Some(_)) => Err(BadParams::NoDepth(method.name())),
            (_, None) => Ok(0),
        }
    }

    fn choose_covered(&self) -> Result<Covered, BadParams> {
        match (self.method, self.covered) {
            (Method::MaxOut, Some(Covered::Zero)) => Err(BadParams::CannotZero),
            (Method::MaxOut, _) => Ok(Covered::Remove),
            (Method::MaxWeight | Method::MaxScc, covered) => Ok(covered.unwrap_or(Covered::Zero)),
            (method, Some(Covered::Remove)) => Err(BadParams::CannotRemove(method.name())),
            (_, _) => Ok(Covered::Zero),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(method: Method) -> CoverParams {
        CoverParams {
            method,
            ..CoverParams::default()
        }
    }

    #[test]
    fn defaults_are_those_of_the_command_line() {
        let choice = CoverParams::default().choose().unwrap();
        assert_eq!(choice.seats, Seats::PerSite(10));
        assert_eq!((choice.hops, choice.depth), (5, 2));
        assert_eq!(choice.covered, Covered::Zero);
        assert!(choice.positive_only);
        assert_eq!(of(Method::Greedy).choose().unwrap().depth, 5);
        assert_eq!(
            of(Method::MaxOut).choose().unwrap().covered,
            Covered::Remove
        );
        let near = CoverParams {
            hops: 1,
            ..CoverParams::default()
        };
        assert_eq!(near.choose().unwrap().depth, 1);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for method in [
            Method::Random,
            Method::Pagerank,
            Method::OutDegree,
            Method::RootScc,
            Method::Greedy,
        ] {
            let params = CoverParams {
                covered: Some(Covered::Remove),
                ..of(method)
            };
            assert_eq!(params.choose(), Err(BadParams::CannotRemove(method.name())));
        }
        let cases = [
            CoverParams {
                covered: Some(Covered::Zero),
                ..of(Method::MaxOut)
            },
            CoverParams {
                depth: Some(6),
                ..of(Method::MaxWeight)
            },
            CoverParams {
                depth: Some(2),
                ..of(Method::Greedy)
            },
            CoverParams {
                depth: Some(2),
                ..of(Method::Random)
            },
            CoverParams {
                hops: 1001,
                ..of(Method::MaxOut)
            },
            CoverParams {
                per_site: Some(1),
                seeds: Some(1),
                ..of(Method::MaxOut)
            },
            CoverParams {
                seeds: Some(0),
                ..of(Method::MaxOut)
            },
            CoverParams {
                share: Some(Share::Value),
                ..of(Method::MaxOut)
            },
            CoverParams {
                p_uniq: Some(Value(1_000_001)),
                ..of(Method::MaxOut)
            },
            CoverParams {
                weights: Weights {
                    spam: Value::units(-1_000_001),
                    ..Weights::default()
                },
                ..of(Method::MaxOut)
            },
        ];
        for params in cases {
            assert!(params.choose().is_err(), "{params:?}");
        }
    }
}
