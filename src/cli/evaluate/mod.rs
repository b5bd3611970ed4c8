//! `evaluate`: runs the experiments of the papers on a bank.

mod actual;
mod coverage;
mod crawl;
mod methods;
mod output;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::failure::CliError;
use super::session::{Outcome, Session};

const EXAMPLES: &str = "\
Examples:
  seedbank evaluate bank methods                         compare methods, to choose one
  seedbank evaluate bank crawl                           compare the plan's seeds with random seeds
  seedbank evaluate bank crawl --refresh 3               evaluate old seeds on the current state
  seedbank evaluate bank crawl --seeds-file today.txt    evaluate the list that you use today
  seedbank evaluate bank distances
  seedbank evaluate bank coverage --format csv > coverage.csv
  seedbank evaluate bank actual                          count what crawlers fetched from each seed
  seedbank evaluate bank budget --pages 5000 --plan default --plan sites --seeds-file today.txt";

/// Evaluate seeds by actual and simulated crawls and by the experiments of the papers
///
/// Reads the state after the last batch and changes nothing. The whole web, here, is all crawled and
/// known pages with all their links; it is held in memory.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, disable_help_subcommand = true,
    subcommand_value_name = "methods|actual|crawl|distances|coverage|budget")]
pub(super) struct EvaluateArgs {
    /// The bank
    bank: PathBuf,
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Debug, Subcommand)]
enum Experiment {
    Methods(methods::MethodsArgs),
    Actual(actual::ActualArgs),
    Crawl(crawl::CrawlArgs),
    Distances(coverage::DistancesArgs),
    Coverage(coverage::CoverageArgs),
    Budget(crawl::BudgetArgs),
}

pub(super) fn run(args: EvaluateArgs, session: &Session) -> Result<Outcome, CliError> {
    match args.experiment {
        Experiment::Methods(experiment) => methods::run(&args.bank, experiment, session),
        Experiment::Actual(experiment) => actual::run(&args.bank, &experiment, session),
        Experiment::Crawl(experiment) => crawl::crawl(&args.bank, experiment, session),
        Experiment::Distances(experiment) => coverage::distances(&args.bank, experiment, session),
        Experiment::Coverage(experiment) => coverage::coverage(&args.bank, experiment, session),
        Experiment::Budget(experiment) => crawl::budget(&args.bank, experiment, session),
    }
}
