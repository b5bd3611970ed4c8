//! The parameters of a plan as flags: one struct for each method, and the order of precedence of
//! flags, plan file and kept plan.

use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use seedbank::engine::{
    CoverMethod, Covered, Density, Growth, Hits, Method, Pages, Pick, PlanOptions, Scope, Share,
    Slack, Value, ValueBy,
};
use seedbank::watch::{Interruptible, Watch};

use super::failure::CliError;
use super::policy_flags::PolicyFlags;
use super::values::human_bytes;

/// The most bytes of a plan file; real ones have a few hundred.
const MAX_PLAN_FILE: u64 = 1 << 20;

/// The parameters of any method.
#[derive(Debug, Args)]
pub(super) struct PlanFlags {
    /// How seeds are selected [default: cores]
    #[arg(long, value_enum, value_name = "METHOD")]
    method: Option<MethodFlag>,
    /// A TOML file with parameters, named as the flags are: `seeds = 50`
    ///
    /// Flags win over the file, the file over what the plan kept.
    #[arg(long, value_name = "FILE", env = "SEEDBANK_PLAN_FILE")]
    plan_file: Option<PathBuf>,
    /// How many seeds: by cores one from each core [default: 100]; by cover a total that is shared
    /// out over the sites, or with `--scope web` the list's [default: 100]
    #[arg(long, value_name = "N")]
    seeds: Option<u32>,
    #[command(flatten)]
    cores: CoreFlags,
    #[command(flatten)]
    cover: CoverFlags,
    #[command(flatten)]
    web: WebFlags,
    #[command(flatten)]
    policies: PolicyFlags,
}

/// The parameters of method cores.
#[derive(Debug, Args)]
#[command(next_help_heading = "Method cores")]
struct CoreFlags {
    /// How pages are ranked [default: converged]
    #[arg(long, value_enum, value_name = "MODE")]
    hits: Option<HitsFlag>,
    /// Iterations of `--hits classic`, 1 to 100000 [default: 60]
    #[arg(long, value_name = "N")]
    iterations: Option<u32>,
    /// How many per cent of the links that could be between a core's hubs and authorities must
    /// be there [default: 100]
    #[arg(long, value_name = "PERCENT")]
    density: Option<Density>,
    /// What happens when the best page would lower the density too far [default: maximal]
    #[arg(long, value_enum, value_name = "RULE")]
    growth: Option<GrowthFlag>,
    /// End a core at so many pages, instead of by density
    #[arg(long, value_name = "N")]
    core_size: Option<u32>,
    /// With `--core-size`: so many new hubs and authorities in a round [default: 1]
    #[arg(long, value_name = "N")]
    new_members: Option<u32>,
    /// The most hubs of a core [default: no limit]
    #[arg(long, value_name = "N")]
    max_hubs: Option<u32>,
    /// Which hub of a core becomes the seed [default: best]
    #[arg(long, value_enum, value_name = "RULE")]
    pick: Option<PickFlag>,
    /// How many per cent below the densest place left a core may lie: 0 for exact cores, 0.5 to 50 for
    /// cores that are proven to be so near and that stay from day to day [default: 0]
    #[arg(long, value_name = "PERCENT")]
    within: Option<Slack>,
    /// Keep the seed list stable: as `--pick stable`, and where a seed of the previous refresh is
    /// gone, spam or no hub any more, its successor stands in its place [default: false]
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    succeed: Option<bool>,
    /// Let spam pages take part [default: false]
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    keep_spam: Option<bool>,
    /// Which pages take part [default: all]
    #[arg(long, value_enum, value_name = "PAGES")]
    pages: Option<PagesFlag>,
}

/// A method as a flag has it.
#[derive(Clone, Copy, Debug)]
struct MethodFlag(Method);

impl MethodFlag {
    const fn help(self) -> &'static str {
        let Method::Cover(method) = self.0 else {
            return "One seed from each dense group of hubs and authorities between sites";
        };
        match method {
            CoverMethod::Random => "Per site: drawn without replacement",
            CoverMethod::Pagerank => "Per site: the best PageRank on the site's own graph",
            CoverMethod::OutDegree => "Per site: the most links to crawled pages of the site",
            CoverMethod::MaxOut => "Per site: the most links to pages that no earlier seed covers",
            CoverMethod::MaxWeight => "Per site: the most value within `--depth` hops",
            CoverMethod::MaxScc => {
                "Per site: the same, in the heaviest strongly connected component"
            }
            CoverMethod::RootScc => {
                "Per site: the same, in the root component above the heaviest one"
            }
            CoverMethod::Greedy => "Per site: the most value within all `--hops` hops",
        }
    }
}

impl ValueEnum for MethodFlag {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [MethodFlag; CoverMethod::ALL.len() + 1] = {
            let mut all = [MethodFlag(Method::Cores); CoverMethod::ALL.len() + 1];
            let mut at = 0;
            while at < CoverMethod::ALL.len() {
                all[at + 1] = MethodFlag(Method::Cover(CoverMethod::ALL[at]));
                at += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()).help(self.help()))
    }
}

/// The parameters of the other methods, which pick seeds on each site or over the whole web.
#[derive(Debug, Args)]
#[command(next_help_heading = "Methods that cover each site (all but cores)")]
struct CoverFlags {
    /// Seeds per site [default: 10]
    #[arg(long, value_name = "N")]
    per_site: Option<u32>,
    /// With `--seeds`: by what the total is shared out [default: pages]
    #[arg(long, value_enum, value_name = "WHAT")]
    share: Option<ShareFlag>,
    /// A seed covers the pages within so many hops [default: 5; over the web 2 for greedy and
    /// max-weight]
    #[arg(long, value_name = "N")]
    hops: Option<u32>,
    /// max-weight, max-scc, root-scc: a page is picked by the value within so many hops
    /// [default: 2, or `--hops` if that is less]
    #[arg(long, value_name = "N")]
    depth: Option<u32>,
    /// max-weight, max-scc: what becomes of pages that a seed covers [default: zero]
    #[arg(long, value_enum, value_name = "WHAT")]
    covered: Option<CoveredFlag>,
    /// Value of a page that is neither spam nor clicked [default: 1]
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true)]
    value_base: Option<Value>,
    /// Value of a spam page [default: -10]
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true)]
    value_spam: Option<Value>,
    /// Value of a clicked page [default: 10]
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true)]
    value_clicked: Option<Value>,
    /// What a quality of 1 adds to a page's value, a lower one in proportion [default: 0]
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true)]
    value_quality: Option<Value>,
    /// Value of an uncrawled outlink, from 0 to 1 [default: by the site's content digests]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    p_uniq: Option<Value>,
    /// Stop before a seed that adds nothing [default: true]
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    positive_only: Option<bool>,
    /// random: another number draws other pages [default: 0]
    #[arg(long, value_name = "N")]
    rng_seed: Option<u64>,
}

/// What goes with `--scope web`.
#[derive(Debug, Args)]
#[command(
    next_help_heading = "The same over the whole web (greedy, max-weight, max-out, baselines)"
)]
struct WebFlags {
    /// Each site by itself, or one list over the whole web: all pages, crawled and known, and all
    /// links; `--seeds N` of its crawled pages [default: site]
    #[arg(long, value_enum, value_name = "SCOPE")]
    scope: Option<ScopeFlag>,
    /// How many pages the crawl will fetch: the first refresh tries hops 1 to 4 and five prices, and
    /// keeps what gathers most value; the list is put in an order whose head is good too
    #[arg(long, value_name = "N")]
    budget: Option<u64>,
    /// Try hops and prices for the budget again, but for those given here
    #[arg(long)]
    tune: bool,
    /// What every page reached costs, taken off its value [default: 0]
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true)]
    fetch_cost: Option<Value>,
    /// Value of a page that is only linked to [default: 0]
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true)]
    value_known: Option<Value>,
    /// What pages are worth [default: weights]
    #[arg(long, value_enum, value_name = "WHAT")]
    value_by: Option<ValueByFlag>,
    /// With `--budget`: the most page visits of a search from every page; hops that take more are
    /// not tried [default: 10000000000]
    #[arg(long, value_name = "N")]
    tune_visits: Option<u64>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ScopeFlag {
    /// One graph for each site: its crawled pages and the links between them
    Site,
    /// One graph of the whole web
    Web,
}

/// What pages are worth, as a flag.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum ValueByFlag {
    /// `--value-base` and the others, and uncrawled outlinks
    Weights,
    /// The PageRank on the whole web, times its number of pages
    Pagerank,
}

impl From<ValueByFlag> for ValueBy {
    fn from(by: ValueByFlag) -> Self {
        match by {
            ValueByFlag::Weights => Self::Weights,
            ValueByFlag::Pagerank => Self::Pagerank,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ShareFlag {
    /// Crawled pages of the site
    Pages,
    /// Value of the site's pages; a negative one counts as 0
    Value,
    /// PageRank of the site's pages on the whole graph
    Pagerank,
    /// Qualities of the site's crawled pages
    Quality,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum CoveredFlag {
    /// Their value becomes zero; hops still walk through them
    Zero,
    /// They are removed; hops walk what remains
    Remove,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum HitsFlag {
    /// The principal pair of hub and authority scores, whatever the start; proven
    Converged,
    /// A fixed number of iterations from equal scores, as published
    Classic,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum GrowthFlag {
    /// The best page that fits is taken instead, until none fits
    Maximal,
    /// The core is done
    Literal,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum PickFlag {
    /// The hub with the best score
    Best,
    /// The hub that was a seed in the plan's previous refresh, if there is one
    Stable,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum PagesFlag {
    /// Crawled pages and pages that are only linked to
    All,
    /// Crawled pages
    Crawled,
}

/// The text of a plan file. The file may be a pipe, which need not have an end.
fn read(path: &Path, watch: &dyn Watch) -> Result<String, CliError> {
    let failed = |source| {
        CliError::reading(source, |source| {
            let path = path.to_path_buf();
            CliError::PlanFile { path, source }
        })
    };
    let mut bytes = Vec::new();
    Interruptible::file(path, watch)
        .and_then(|file| file.take(MAX_PLAN_FILE + 1).read_to_end(&mut bytes))
        .map_err(failed)?;
    if bytes.len() as u64 > MAX_PLAN_FILE {
        return Err(CliError::Usage(format!(
            "the plan file {} is longer than {}; a plan is a few lines of TOML",
            path.display(),
            human_bytes(MAX_PLAN_FILE)
        )));
    }
    String::from_utf8(bytes).map_err(|e| failed(io::Error::new(ErrorKind::InvalidData, e)))
}

impl PlanFlags {
    /// Whether hops and prices are to be tried again.
    pub(super) fn tune(&self) -> bool {
        self.web.tune
    }

    /// What flags and plan file say, with the lists that they name.
    pub(super) fn options(self, watch: &dyn Watch) -> Result<PlanOptions, CliError> {
        let file = match &self.plan_file {
            None => PlanOptions::default(),
            Some(path) => {
                let text = read(path, watch)?;
                let options =
                    PlanOptions::from_toml(&text).map_err(|source| CliError::PlanText {
                        path: path.clone(),
                        source,
                    })?;
                let folder = path.parent().unwrap_or(Path::new(""));
                options.read_lists(folder, watch)?
            }
        };
        let mut flags = self.cores.options();
        flags.method = self.method.map(|MethodFlag(method)| method);
        flags.seeds = self.seeds;
        self.cover.fill(&mut flags);
        self.web.fill(&mut flags);
        self.policies.fill(&mut flags, watch)?;
        Ok(flags.over(&file))
    }
}

impl WebFlags {
    fn fill(self, options: &mut PlanOptions) {
        options.scope = self.scope.map(|scope| match scope {
            ScopeFlag::Site => Scope::Site,
            ScopeFlag::Web => Scope::Web,
        });
        options.budget = self.budget;
        options.fetch_cost = self.fetch_cost;
        options.value_known = self.value_known;
        options.value_by = self.value_by.map(Into::into);
        options.tune_visits = self.tune_visits;
    }
}

impl CoverFlags {
    fn fill(self, options: &mut PlanOptions) {
        options.per_site = self.per_site;
        options.share = self.share.map(|share| match share {
            ShareFlag::Pages => Share::Pages,
            ShareFlag::Value => Share::Value,
            ShareFlag::Pagerank => Share::Pagerank,
            ShareFlag::Quality => Share::Quality,
        });
        options.hops = self.hops;
        options.depth = self.depth;
        options.covered = self.covered.map(|covered| match covered {
            CoveredFlag::Zero => Covered::Zero,
            CoveredFlag::Remove => Covered::Remove,
        });
        options.value_base = self.value_base;
        options.value_spam = self.value_spam;
        options.value_clicked = self.value_clicked;
        options.value_quality = self.value_quality;
        options.p_uniq = self.p_uniq;
        options.positive_only = self.positive_only;
        options.rng_seed = self.rng_seed;
    }
}

impl CoreFlags {
    fn options(self) -> PlanOptions {
        PlanOptions {
            hits: self.hits.map(|hits| match hits {
                HitsFlag::Converged => Hits::Converged,
                HitsFlag::Classic => Hits::Classic,
            }),
            iterations: self.iterations,
            density: self.density,
            growth: self.growth.map(|growth| match growth {
                GrowthFlag::Maximal => Growth::Maximal,
                GrowthFlag::Literal => Growth::Literal,
            }),
            core_size: self.core_size,
            new_members: self.new_members,
            max_hubs: self.max_hubs,
            pick: self.pick.map(|pick| match pick {
                PickFlag::Best => Pick::Best,
                PickFlag::Stable => Pick::Stable,
            }),
            within: self.within,
            succeed: self.succeed,
            keep_spam: self.keep_spam,
            pages: self.pages.map(|pages| match pages {
                PagesFlag::All => Pages::All,
                PagesFlag::Crawled => Pages::Crawled,
            }),
            ..PlanOptions::default()
        }
    }
}
