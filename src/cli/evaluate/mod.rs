//! `evaluate`: the papers' experiments on a bank.

mod budget;
mod coverage;
mod crawl;
mod distances;
mod lists;

use std::fmt::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use seedbank::engine::{AbsentWhy, Claim, ListView, StateView};
use seedbank::shown::plain;
use serde::Serialize;

use super::Outcome;
use super::failure::CliError;
use super::output::{print, print_json};
use super::session::Session;

/// So many seeds that take no part are shown to people.
const SHOWN: usize = 10;

const EXAMPLES: &str = "\
Examples:
  seedbank evaluate bank crawl                           the plan's seeds against random ones
  seedbank evaluate bank crawl --refresh 3               old seeds on today's state
  seedbank evaluate bank crawl --seeds-file today.txt    the list that you have now
  seedbank evaluate bank distances
  seedbank evaluate bank coverage --format csv > coverage.csv
  seedbank evaluate bank budget --pages 5000 --plan default --plan sites --seeds-file today.txt";

/// Judge seeds by the papers' experiments: a crawl against random seeds, distances, coverage,
/// a budget
///
/// Reads the state after the last batch and changes nothing. The whole web here is all crawled and
/// known pages with all links; it is held in memory.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct EvaluateArgs {
    /// The bank
    bank: PathBuf,
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Debug, Subcommand)]
enum Experiment {
    Crawl(crawl::CrawlArgs),
    Distances(distances::DistancesArgs),
    Coverage(coverage::CoverageArgs),
    Budget(budget::BudgetArgs),
}

pub(super) fn run(args: EvaluateArgs, session: &Session) -> Result<Outcome, CliError> {
    match args.experiment {
        Experiment::Crawl(experiment) => crawl::run(&args.bank, experiment, session),
        Experiment::Distances(experiment) => distances::run(&args.bank, experiment, session),
        Experiment::Coverage(experiment) => coverage::run(&args.bank, &experiment, session),
        Experiment::Budget(experiment) => budget::run(&args.bank, experiment, session),
    }
}

/// How an experiment is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
enum TableFormat {
    /// For people: tables and a conclusion
    #[default]
    Text,
    /// One JSON object on one line; its JSON Schema is in schema/
    #[value(alias = "jsonl")]
    Json,
    /// The tables as comma-separated values (RFC 4180) with a header
    Csv,
}

#[derive(Clone, Copy, Debug, Args)]
struct TableFormatArgs {
    /// How the result is printed
    #[arg(long, value_enum, default_value_t, env = "SEEDBANK_FORMAT")]
    format: TableFormat,
}

impl TableFormatArgs {
    fn print<T: Serialize>(
        self,
        result: &T,
        text: impl FnOnce(&T) -> String,
        csv: impl FnOnce(&T) -> String,
    ) -> Result<Outcome, CliError> {
        match self.format {
            TableFormat::Text => print(&text(result))?,
            TableFormat::Json => print_json(result)?,
            TableFormat::Csv => print(&csv(result))?,
        }
        Ok(Outcome::Done)
    }
}

/// The state in a line.
fn state_line(state: &StateView) -> String {
    format!(
        "state after batch {}: {} pages ({} crawled), {} links\n",
        state.batch, state.pages, state.crawled, state.links
    )
}

/// A list in a line, and what of it takes no part.
fn list_lines(list: &ListView) -> String {
    let mut text = format!("{}: {} seeds", plain(&list.name), list.seeds);
    // Writing to a String cannot fail.
    if let Some(batch) = list.batch {
        let _ = write!(text, " selected after batch {batch}");
    }
    if list.repeated > 0 {
        let _ = write!(text, ", {} given again", list.repeated);
    }
    if list.dead > 0 {
        let _ = write!(text, ", {} have died since", list.dead);
        if let Some(succeeded) = list.succeeded {
            let _ = write!(text, " and {succeeded} of them have successors here");
        }
    }
    if list.unknown > 0 {
        let _ = write!(text, ", {} are not in the bank", list.unknown);
    }
    text.push('\n');
    for seed in list.absent.iter().take(SHOWN) {
        let why = match seed.why {
            AbsentWhy::Gone => "gone",
            AbsentWhy::Spam => "spam",
            AbsentWhy::Unlinked => "unlinked",
            AbsentWhy::NotInBank => "not in the bank",
            AbsentWhy::NoUrl => "no URL of a page",
        };
        let _ = write!(text, "  {why}: {}", plain(&seed.url));
        if let Some(successor) = &seed.successor {
            let _ = write!(text, ", succeeded by {successor}");
        }
        text.push('\n');
    }
    if list.absent.len() > SHOWN {
        let more = list.absent.len() - SHOWN;
        let _ = writeln!(text, "  {more} more; --format json has all");
    }
    text
}

/// What is claimed and whether it holds, a line each.
fn claim_lines(claims: &[Claim]) -> String {
    let line = |claim: &Claim| {
        let holds = if claim.holds { "yes" } else { "no" };
        format!("{holds}: {}\n", plain(&claim.text))
    };
    claims.iter().map(line).collect()
}

/// Tells what takes no part where the output has no place for it.
fn warn_of_absent(list: &ListView, format: TableFormatArgs, session: &Session) {
    if format.format == TableFormat::Csv && !list.absent.is_empty() {
        session.warn(format_args!(
            "{} of {} seeds of {} take no part: {} died, {} are not in the bank",
            list.absent.len(),
            list.given,
            list.name,
            list.dead,
            list.unknown
        ));
    }
}
