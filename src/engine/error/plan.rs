//! The errors of plans.

use seedbank_algorithms::cores;
use seedbank_algorithms::cover::{self, SiteGraphError};
use seedbank_formats::display::truncated;
use seedbank_formats::ingest::BadPattern;

/// Why a plan is invalid. The texts name parameters as in plan files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The plan file is not valid TOML, or has an unknown parameter.
    #[error("the plan file is invalid")]
    File(#[from] toml::de::Error),
    /// The plan was stored by another version of Seedbank, and this one cannot read it.
    #[error("the plan was stored by another version of seedbank; use a new plan name")]
    Stored(#[source] serde_json::Error),
    /// The name has characters that are not allowed in seed lists and file names.
    #[error(
        "expected a plan name of 1 to 64 letters, digits, dots, dashes and underscores, found {:?}",
        truncated(.0)
    )]
    Name(String),
    /// Parameters that belong to the other family of methods.
    #[error(
        "{} belong{} to {family}, but the plan's method is {method}; remove what does not fit, or give the method",
        parameters.join(", "),
        if parameters.len() > 1 { "" } else { "s" }
    )]
    OtherFamily {
        /// The plan's method.
        method: &'static str,
        /// The parameters that do not fit the method; at least one.
        parameters: Vec<&'static str>,
        /// The methods that have these parameters.
        family: Family,
    },
    /// A number of a stored plan that is changed by a factor of at least ten without `replace`.
    #[error(
        "`{parameter}` is {before} in the stored plan, and {now} differs by a factor of ten or more"
    )]
    TenTimes {
        /// The parameter.
        parameter: &'static str,
        /// The value in the stored plan.
        before: u64,
        /// The given value.
        now: u64,
    },
    /// `new-members` without `core-size`.
    #[error("`new-members` requires `core-size`")]
    NoCoreSize,
    /// Cores are given both a density and a size.
    #[error(
        "`density` and `growth` conflict with `core-size` and `new-members`; cores are extracted by density or by size"
    )]
    TwoRules,
    /// A number of iterations for HITS that iterates until the result is proved.
    #[error(
        "`iterations` requires `hits` = classic; converged HITS iterates until the result is proved"
    )]
    NoIterations,
    /// Both `succeed`, which keeps seeds, and `pick` = best, which does not.
    #[error(
        "`succeed` conflicts with `pick` = best: it keeps seeds, which `pick` = best never does; remove one of them"
    )]
    TwoPicks,
    /// Invalid parameters of a plan with method cores.
    #[error(transparent)]
    Cores(#[from] cores::BadParams),
    /// Invalid parameters of a plan with a cover method.
    #[error(transparent)]
    Cover(#[from] cover::BadParams),
    /// The sum of the plan's values of pages over a site is too large.
    #[error("site {site}")]
    Values {
        /// The site.
        site: String,
        /// What is wrong with the site's values.
        source: SiteGraphError,
    },
    /// The sum of the plan's values of pages over the whole web is too large.
    #[error("the whole web")]
    WebValues(#[source] SiteGraphError),
    /// A verdict by pages held out on a plan with learned values.
    #[error(
        "values that are learned from past crawls are judged by what the next batches bring, not by pages held out"
    )]
    LearnedByNext,
    /// `tune`, but the plan has nothing to tune.
    #[error(
        "`tune` tries hops, fetch costs and values of known pages for a crawl over the whole web; use a goal with a `budget`, and omit at least one of `hops`, `fetch-cost` and `value-known`"
    )]
    NothingToTune,
    /// Another goal, method or scope for a stored plan.
    #[error(
        "the plan has another `{0}`, which belongs to all of its parameters; replace the plan, or use a new plan name"
    )]
    NotReplaced(&'static str),
    /// The file of a list could not be read.
    #[error("the list {name}")]
    List {
        /// The name of the list.
        name: String,
        /// The cause.
        source: std::io::Error,
    },
    /// A list that was named but not read.
    #[error("the list {0} was named but not read; read the plan's lists first")]
    UnreadList(String),
    /// A list has an invalid line.
    #[error("invalid line {:?} in the list {list}: {why}", truncated(line))]
    Line {
        /// The name of the list.
        list: String,
        /// The line.
        line: String,
        /// What is wrong with it.
        why: BadPattern,
    },
    /// The list of the only pages that can be seeds is empty.
    #[error("the list {0} is empty, so no page could be a seed; use `none` to remove the list")]
    NamesNothing(String),
    /// A parameter is out of range.
    #[error("`{parameter}`: expected {expected}, found {found}")]
    OutOfRange {
        /// The parameter.
        parameter: &'static str,
        /// The range, in words.
        expected: String,
        /// The value.
        found: String,
    },
    /// A limit of zero seeds.
    #[error("`{0}` = 0 would allow no seed; use `none` to remove the limit")]
    NoSeedAllowed(&'static str),
    /// More pages are pinned than the plan selects seeds.
    #[error(
        "{pins} pages are pinned, and the plan selects {seeds} seeds; raise `seeds`, or pin fewer"
    )]
    TooManyPins {
        /// The number of pinned pages.
        pins: u64,
        /// The number of seeds that the plan selects.
        seeds: u32,
    },
    /// More seeds than a refresh can rank.
    #[error(
        "the plan selects {seeds} seeds, and a refresh can rank at most {}; select fewer per site",
        u32::MAX
    )]
    TooManySeeds {
        /// The number of seeds over all sites.
        seeds: u64,
    },
}

/// A family of methods with the same parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// The method cores.
    Cores,
    /// The methods that pick seeds on each site.
    Cover,
}

impl std::fmt::Display for Family {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Cores => "the method cores",
            Self::Cover => "a cover method (such as max-weight)",
        })
    }
}
