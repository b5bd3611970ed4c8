//! `evaluate`: the papers' experiments on a bank.

mod budget;
mod coverage;
mod crawl;
mod distances;
mod lists;
mod methods;
mod printed;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::failure::CliError;
use super::session::{Outcome, Session};

const EXAMPLES: &str = "\
Examples:
  seedbank evaluate bank methods                         which method to take, on this crawl
  seedbank evaluate bank crawl                           the plan's seeds against random ones
  seedbank evaluate bank crawl --refresh 3               old seeds on today's state
  seedbank evaluate bank crawl --seeds-file today.txt    the list that you have now
  seedbank evaluate bank distances
  seedbank evaluate bank coverage --format csv > coverage.csv
  seedbank evaluate bank budget --pages 5000 --plan default --plan sites --seeds-file today.txt";

/// Judge seeds: by what crawls gather per page fetched, and by the papers' experiments
///
/// Reads the state after the last batch and changes nothing. The whole web here is all crawled and
/// known pages with all links; it is held in memory.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, disable_help_subcommand = true)]
pub(super) struct EvaluateArgs {
    /// The bank
    bank: PathBuf,
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Debug, Subcommand)]
enum Experiment {
    Methods(methods::MethodsArgs),
    Crawl(crawl::CrawlArgs),
    Distances(distances::DistancesArgs),
    Coverage(coverage::CoverageArgs),
    Budget(budget::BudgetArgs),
}

pub(super) fn run(args: EvaluateArgs, session: &Session) -> Result<Outcome, CliError> {
    match args.experiment {
        Experiment::Methods(experiment) => methods::run(&args.bank, experiment, session),
        Experiment::Crawl(experiment) => crawl::run(&args.bank, experiment, session),
        Experiment::Distances(experiment) => distances::run(&args.bank, experiment, session),
        Experiment::Coverage(experiment) => coverage::run(&args.bank, experiment, session),
        Experiment::Budget(experiment) => budget::run(&args.bank, experiment, session),
    }
}
