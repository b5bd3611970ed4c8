//! `scores`: prints degrees and centralities of every page, and its role in a plan.

use std::path::PathBuf;

use clap::Args;
use seedbank::display::counted;
use seedbank::engine::scores::{PageScore, ScoresReport, ScoresRequest};
use seedbank::engine::{Bank, EngineError};
use seedbank::render::{ScoreFormat, ScoreWriter};

use super::compressed::Compressed;
use super::failure::CliError;
use super::output::parquet_to;
use super::session::{Outcome, Session};
use super::values::named;

const EXAMPLES: &str = "\
Examples:
  seedbank scores bank --out scores.csv
  seedbank scores bank --plan weekly --format parquet --out scores.parquet
  seedbank scores bank --format jsonl | jq -r 'select(.seed_rank) | [.url, .pagerank] | @tsv'
  duckdb -c \"SELECT url FROM 'scores.parquet' ORDER BY harmonic DESC LIMIT 10\"";

/// Print degrees, PageRank and harmonic centrality of every page, and its role in a plan
///
/// Degrees and centralities refer to the last published state: all crawled and known pages, and the
/// links between them that count. From the last refresh of a plan come the rank as a seed, the core with
/// hub and authority scores, and the seed that covers the page.
///
/// If more than 4,096 pages have links, harmonic centralities are estimated from a random sample of that
/// many pages; a note says so, and the order of pages by harmonic centrality is then an estimate.
///
/// Pages are ordered by site name, and by URL within a site.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ScoresArgs {
    /// The bank
    bank: PathBuf,
    /// The plan whose last refresh is used [default: default, if it exists]
    #[arg(long, value_name = "NAME")]
    plan: Option<String>,
    /// Seed of the random sample of pages for harmonic centralities
    #[arg(long, value_name = "N", default_value_t = 0)]
    rng_seed: u64,
    /// Output format
    #[arg(long, value_parser = named(ScoreFormat::VALUES), default_value_t, env = "SEEDBANK_FORMAT")]
    format: ScoreFormat,
    /// Write to this file, which is replaced only when the output is complete
    ///
    /// CSV and JSON are compressed if the name ends in .gz or .zst.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Why the scores could not be written.
#[derive(Debug, thiserror::Error)]
enum ScoresError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Write(#[from] std::io::Error),
}

pub(super) fn run(args: &ScoresArgs, session: &Session) -> Result<Outcome, CliError> {
    let out = args.out.as_deref();
    if args.format == ScoreFormat::Parquet {
        parquet_to(out)?;
    }
    let bank = Bank::at(&args.bank).pinned()?;
    let mut compressed = Compressed::to(out, &args.bank)?;
    let request = ScoresRequest {
        plan: args.plan.clone(),
        rng_seed: args.rng_seed,
    };
    let watch = session.watch()?;
    let written = (|| -> Result<ScoresReport, ScoresError> {
        let mut writer = ScoreWriter::new(&mut compressed, args.format)?;
        let each = |score: PageScore| writer.page(&score).map_err(ScoresError::from);
        let report = bank.scores(&request, each, &watch)?;
        writer.finish()?;
        Ok(report)
    })();
    drop(watch);
    let report = written.map_err(|e| match e {
        ScoresError::Engine(e) => e.into(),
        ScoresError::Write(e) => compressed.failed(e),
    })?;
    compressed.finish()?;
    print_notes(&report, session);
    Ok(Outcome::Done)
}

fn print_notes(report: &ScoresReport, session: &Session) {
    session.note(format_args!(
        "state after batch {}: {}; {}",
        report.batch,
        counted(report.pages, "page"),
        if report.harmonic_is_exact {
            "harmonic centralities are exact".to_owned()
        } else {
            format!(
                "harmonic centralities are estimated from {} drawn at random",
                counted(report.harmonic_sources, "page")
            )
        }
    ));
    match (&report.plan, report.refresh, report.state_batch) {
        (Some(plan), Some(refresh), Some(batch)) => session.note(format_args!(
            "seeds, cores and covers are from refresh {refresh} of plan {plan}, state after batch {batch}"
        )),
        _ => session.note(format_args!(
            "the plan `default` does not exist, so seeds, cores and covers are empty; use --plan to name another plan"
        )),
    }
}
