//! `evaluate distances`: measures distances between cores.

use std::path::Path;

use clap::Args;
use seedbank::display::counted;
use seedbank::engine::evaluate::{DistanceSpread, DistancesEvaluation, DistancesRequest};

use super::output::{TableFormatArgs, claim_lines, state_line};
use crate::cli::failure::CliError;
use crate::cli::session::{Outcome, Session};
use crate::cli::table::{aligned, comma_separated, or_nothing, plus_minus};
use crate::cli::values::{WhichArgs, integer};

/// The maximum number of cores in the distance matrix of text output.
const SHOWN: usize = 25;

const EXAMPLES: &str = "\
Examples:
  seedbank evaluate bank distances
  seedbank evaluate bank distances --refresh 3 --cores 20 --samples 5000
  seedbank evaluate bank distances --format csv > distances.csv";

/// Measure distances between the cores of a refresh
///
/// The distance of two cores is the smallest number of links from any page of one to any page of the
/// other, over all links of the current state. It is compared with the average distance between pages,
/// estimated by searches from a random sample of the pages that have links.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct DistancesArgs {
    #[command(flatten)]
    which: WhichArgs,
    /// Maximum number of cores, in order of rank
    #[arg(long, value_name = "N", default_value_t = 100,
        value_parser = integer::<u32>(1..=10_000))]
    cores: u32,
    /// Number of pages to estimate the average distance from
    #[arg(long, value_name = "N", default_value_t = 400,
        value_parser = integer::<u32>(1..=u32::MAX))]
    samples: u32,
    /// Seed of the random sample
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = integer::<u64>(0..=u64::MAX))]
    rng_seed: u64,
    #[command(flatten)]
    format: TableFormatArgs,
}

pub(super) fn run(
    bank: &Path,
    args: DistancesArgs,
    session: &Session,
) -> Result<Outcome, CliError> {
    let request = DistancesRequest {
        which: args.which.into(),
        cores: args.cores,
        samples: args.samples,
        rng_seed: args.rng_seed,
    };
    let found = session.run(|watch| {
        session
            .bank(bank)
            .watched(watch.clone())
            .evaluate_distances(&request)
    })?;
    args.format.print(&found, text, csv)
}

fn text(found: &DistancesEvaluation) -> String {
    let mut text = format!(
        "refresh {} of plan {}: {}\n{}",
        found.refresh,
        found.plan,
        counted(found.cores.len(), "core"),
        state_line(&found.state)
    );
    append_line!(
        text,
        "average distance between pages: {} links, from {} of {} with links\n",
        plus_minus(found.graph.mean, 3),
        found.graph.samples,
        counted(found.graph.sources, "page")
    );
    let row = |name: &str, spread: &DistanceSpread| {
        let or_dash =
            |number: Option<u32>| number.map_or_else(|| "-".to_owned(), |n| n.to_string());
        vec![
            name.to_owned(),
            spread.pairs.to_string(),
            spread.unreachable.to_string(),
            or_dash(spread.min),
            spread
                .mean
                .map_or_else(|| "-".to_owned(), |mean| format!("{mean:.3}")),
            or_dash(spread.max),
        ]
    };
    let rows = [
        row("all cores", &found.all),
        row("neighbours in rank", &found.neighbours),
    ];
    let header = [
        "ordered pairs of",
        "pairs",
        "unreachable",
        "min",
        "mean",
        "max",
    ];
    text.push_str(&aligned(&header, &rows));
    text.push('\n');
    text.push_str(&matrix(found));
    text.push('\n');
    text + &claim_lines(&found.claims)
}

/// Formats the distances between pairs of cores as a matrix: from the row's core to the column's.
fn matrix(found: &DistancesEvaluation) -> String {
    let shown = found.cores.len().min(SHOWN);
    let ranks: Vec<String> = found.cores[..shown]
        .iter()
        .map(|core| core.rank.to_string())
        .collect();
    let mut header = vec!["from \\ to"];
    header.extend(ranks.iter().map(String::as_str));
    let rows: Vec<Vec<String>> = ranks
        .iter()
        .zip(&found.distances)
        .map(|(rank, row)| {
            let cell = |cell: &Option<u32>| cell.map_or_else(|| ".".to_owned(), |d| d.to_string());
            let cells = row[..shown].iter().map(cell);
            std::iter::once(rank.clone()).chain(cells).collect()
        })
        .collect();
    let mut text = aligned(&header, &rows);
    if found.cores.len() > SHOWN {
        let more = found.cores.len() - SHOWN;
        append_line!(
            text,
            "{} more; --format csv prints all",
            counted(more, "core")
        );
    }
    text
}

/// Formats the result as CSV: one line per ordered pair of cores.
fn csv(found: &DistancesEvaluation) -> String {
    let header = "from,to,from_seed,to_seed,distance";
    let mut rows = Vec::new();
    for (from, row) in found.cores.iter().zip(&found.distances) {
        for (to, distance) in found.cores.iter().zip(row) {
            if from.rank != to.rank {
                rows.push(vec![
                    from.rank.to_string(),
                    to.rank.to_string(),
                    from.seed.clone(),
                    to.seed.clone(),
                    or_nothing(*distance),
                ]);
            }
        }
    }
    comma_separated(header, &rows)
}
