//! What makes a plan invalid.

use seedbank_algorithms::cores;
use seedbank_algorithms::cover::{self, SiteGraphError};
use seedbank_formats::ingest::BadPattern;
use seedbank_formats::shown::shortened;

/// Why a plan cannot be run. The texts name parameters as a plan file does.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The text of a plan file is not TOML, or names something that plans do not have.
    #[error("the plan file cannot be understood")]
    File(#[from] toml::de::Error),
    /// The plan was kept by another version of Seedbank, and this one cannot read it.
    #[error("the plan was kept by another version of seedbank; name a new plan")]
    Kept(#[source] serde_json::Error),
    /// The name is not allowed: plan names are written into seed lists and file names.
    #[error(
        "{:?} cannot be a plan's name; use 1 to 64 letters, digits, dots, dashes and underscores",
        shortened(.0)
    )]
    Name(String),
    /// Parameters of the other family of methods.
    #[error(
        "the plan's method is {method}, and {} belong{} to {family}; leave out what does not fit, or name the method",
        parameters.join(", "),
        if parameters.len() > 1 { "" } else { "s" }
    )]
    OtherFamily {
        /// The plan's method.
        method: &'static str,
        /// The parameters that do not fit it; at least one.
        parameters: Vec<&'static str>,
        /// Whose parameters they are.
        family: Family,
    },
    /// New members per round, but no core size.
    #[error("`new-members` goes with `core-size`; give that too")]
    NoCoreSize,
    /// Both a density and a size of cores.
    #[error(
        "a core is extracted by density or by size; give `density` and `growth`, or `core-size` and `new-members`"
    )]
    TwoRules,
    /// A number of iterations for HITS that iterates until the result is certain.
    #[error("`iterations` goes with `hits` = classic; converged HITS iterates until it is certain")]
    NoIterations,
    /// Seeds are both to be kept and not to be kept.
    #[error("`succeed` keeps seeds and `pick` = best does not; give one of the two")]
    TwoPicks,
    /// Parameters of a plan by cores.
    #[error(transparent)]
    Cores(#[from] cores::BadParams),
    /// Parameters of a plan by cover.
    #[error(transparent)]
    Cover(#[from] cover::BadParams),
    /// With the plan's values of pages, the sum over a site is too large.
    #[error("site {site}")]
    Values {
        /// The site.
        site: String,
        /// What is wrong with the site's values.
        source: SiteGraphError,
    },
    /// With the plan's values of pages, the sum over the whole web is too large.
    #[error("the whole web")]
    WebValues(#[source] SiteGraphError),
    /// Hops and prices are to be tried, but the plan leaves nothing open that could be.
    #[error(
        "`tune` tries hops and prices for a crawl over the whole web; give `scope` = web and a `budget`, and leave `hops` or `fetch-cost` out"
    )]
    NothingToTune,
    /// The file of a list cannot be read.
    #[error("the list {name}")]
    List {
        /// What the list is called.
        name: String,
        /// Why not.
        source: std::io::Error,
    },
    /// A list of which nothing but the name is known.
    #[error("the list {0} was named and not read; read the plan's lists first")]
    UnreadList(String),
    /// A line of a list that makes no sense.
    #[error("the list {list} has the line {:?}: {why}", shortened(line))]
    Line {
        /// What the list is called.
        list: String,
        /// The line.
        line: String,
        /// What is wrong with it.
        why: BadPattern,
    },
    /// A list of the only pages that can be seeds, without a line.
    #[error(
        "the list {0} names no pages, so that no page could be a seed; `none` takes the list off"
    )]
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
    /// A limit of no seeds.
    #[error("`{0}` = 0 would allow no seed; `none` takes the limit off")]
    NoSeedAllowed(&'static str),
    /// More pages are pinned than the plan selects seeds.
    #[error(
        "{pins} pages are pinned, and the plan selects {seeds} seeds; raise `seeds`, or pin fewer"
    )]
    TooManyPins {
        /// How many pages are pinned.
        pins: u64,
        /// How many seeds the plan selects.
        seeds: u32,
    },
    /// More seeds than a refresh can rank.
    #[error(
        "the plan selects {seeds} seeds, more than the {} that a refresh can rank; take fewer per site",
        u32::MAX
    )]
    TooManySeeds {
        /// The number of seeds over all sites.
        seeds: u64,
    },
}

/// Methods that have the same parameters.
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
            Self::Cover => "a cover method (max-weight, say)",
        })
    }
}
