//! The parameters of a plan as flags: one struct for each method, and the order in which flags,
//! plan file and kept plan count.

use std::fs;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use seedbank::cores::{Density, Growth, Hits, Pick};
use seedbank::engine::{EngineError, Method, Pages, PlanOptions};

use super::failure::CliError;

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
    #[command(flatten)]
    cores: CoreFlags,
}

/// The parameters of method cores.
#[derive(Debug, Args)]
#[command(next_help_heading = "Method cores")]
struct CoreFlags {
    /// How many seeds, one from each core [default: 100]
    #[arg(long, value_name = "N")]
    seeds: Option<u32>,
    /// How pages are ranked [default: converged]
    #[arg(long, value_enum, value_name = "MODE")]
    hits: Option<HitsFlag>,
    /// Iterations of `--hits classic` [default: 60]
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
    /// Let spam pages take part [default: false]
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    keep_spam: Option<bool>,
    /// Which pages take part [default: all]
    #[arg(long, value_enum, value_name = "PAGES")]
    pages: Option<PagesFlag>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MethodFlag {
    /// One seed from each dense group of hubs and authorities between sites
    Cores,
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

impl PlanFlags {
    /// What flags and plan file say.
    pub(super) fn options(self) -> Result<PlanOptions, CliError> {
        let file = match &self.plan_file {
            None => PlanOptions::default(),
            Some(path) => {
                let text = fs::read_to_string(path).map_err(|source| CliError::PlanFile {
                    path: path.clone(),
                    source,
                })?;
                PlanOptions::from_toml(&text).map_err(|e| match e {
                    EngineError::Plan(text) => {
                        CliError::Usage(format!("{}: {}", path.display(), text.trim_end()))
                    }
                    e => e.into(),
                })?
            }
        };
        let method = self.method.map(|method| match method {
            MethodFlag::Cores => Method::Cores,
        });
        Ok(self.cores.options(method).over(file))
    }
}

impl CoreFlags {
    fn options(self, method: Option<Method>) -> PlanOptions {
        PlanOptions {
            method,
            seeds: self.seeds,
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
            keep_spam: self.keep_spam,
            pages: self.pages.map(|pages| match pages {
                PagesFlag::All => Pages::All,
                PagesFlag::Crawled => Pages::Crawled,
            }),
        }
    }
}
