//! The parameters of plans that cover sites, and their validation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::BadParams;
use super::limits::{HOPS, PER_SITE, SHARES, WEIGHTS};
use super::value::{Value, Weights};

/// The method that picks the pages of a site.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "CoverMethod")]
pub enum Method {
    /// Per site: drawn at random, without replacement.
    Random,
    /// Per site: the highest PageRank on the site's own graph.
    Pagerank,
    /// Per site: the most links to crawled pages of the site.
    OutDegree,
    /// Over the whole web: the pages whose last fetch is the longest ago. Pages without a known fetch come first, and
    /// ties go to the most links.
    Oldest,
    /// Per site: the most links to pages that no earlier seed covers.
    MaxOut,
    /// Per site: the most value within `depth` hops.
    MaxWeight,
    /// Per site: the most value within `depth` hops, in the heaviest strongly connected component.
    MaxScc,
    /// Per site: the most value within `depth` hops, in the heaviest of the root components that
    /// lead to the heaviest component.
    RootScc,
    /// Per site: the most value within all `hops` hops.
    Greedy,
}

impl Method {
    /// All methods.
    pub const ALL: [Self; 9] = [
        Self::Random,
        Self::Pagerank,
        Self::OutDegree,
        Self::Oldest,
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
            Self::Oldest => "oldest",
            Self::MaxOut => "max-out",
            Self::MaxWeight => "max-weight",
            Self::MaxScc => "max-scc",
            Self::RootScc => "root-scc",
            Self::Greedy => "greedy",
        }
    }

    /// Whether the method is a baseline, which picks its seeds regardless of coverage.
    #[must_use]
    pub const fn is_baseline(self) -> bool {
        matches!(
            self,
            Self::Random | Self::Pagerank | Self::OutDegree | Self::Oldest
        )
    }
}

/// The treatment of covered pages.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Covered {
    /// Their value becomes zero; hops still lead through them.
    Zero,
    /// They are removed; hops lead through the remaining pages only.
    Remove,
}

/// The weight by which a total of seeds is distributed over sites.
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
    /// The sum of the qualities of the site's crawled pages.
    Quality,
}

/// The parameters of a cover plan.
///
/// A field that was not set is `None`, so [`CoverParams::choose`] can reject parameters that conflict with
/// the method, and still fill in defaults.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CoverParams {
    /// The method that picks pages.
    pub method: Method,
    /// Seeds per site; 10 if this and `seeds` are `None`.
    pub per_site: Option<u32>,
    /// The total number of seeds, distributed over the sites.
    pub seeds: Option<u32>,
    /// The weight by which the total is distributed; crawled pages by default.
    pub share: Option<Share>,
    /// A seed covers the pages within this many hops.
    pub hops: u32,
    /// The depth of the weight that a page is picked by; by default 2, or `hops` if that is less.
    pub depth: Option<u32>,
    /// The treatment of covered pages; by default that of the method.
    pub covered: Option<Covered>,
    /// The weights of page values.
    pub weights: Weights,
    /// Overrides `P_uniq` of every site.
    pub p_uniq: Option<Value>,
    /// Whether to stop before a pick that adds nothing: no page with max-out, else no positive value.
    pub positive_only: bool,
    /// The seed of the random streams of [`Method::Random`].
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

/// The number of seeds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seats {
    /// On every site.
    PerSite(u32),
    /// In total, and the weight by which they are distributed over sites.
    Shared(u32, Share),
}

/// Validated parameters, with all defaults filled in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    /// The method that picks pages.
    pub method: Method,
    /// The number of seeds.
    pub seats: Seats,
    /// A seed covers the pages within this many hops.
    pub hops: u32,
    /// The depth of the weight that a page is picked by: `hops` for greedy, 0 for methods without weights.
    pub depth: u32,
    /// The treatment of covered pages.
    pub covered: Covered,
    /// The weights of page values.
    pub weights: Weights,
    /// Overrides `P_uniq` of every site.
    pub p_uniq: Option<Value>,
    /// Whether to stop before a pick that adds nothing; false for baselines, which pick regardless of coverage.
    pub positive_only: bool,
    /// The seed of the random streams of [`Method::Random`].
    pub rng_seed: u64,
}

/// Whether all weights are in range, so that sums cannot overflow.
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
    /// Validates the parameters and fills in the defaults.
    pub fn choose(&self) -> Result<Choice, BadParams> {
        if self.method == Method::Oldest {
            return Err(BadParams::OnlyOverWeb(self.method.name()));
        }
        self.choose_any()
    }

    /// Validates the parameters of a method that may select over the web only.
    pub(super) fn choose_any(&self) -> Result<Choice, BadParams> {
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
#[path = "params_tests.rs"]
mod tests;
