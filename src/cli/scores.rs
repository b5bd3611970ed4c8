//! `scores`: degrees and centralities of every page, with what a plan knows of it.

use std::path::PathBuf;

use clap::Args;
use seedbank::engine::{Bank, EngineError, PageScore, ScoresReport, ScoresRequest};
use seedbank::shown::counted;
use seedbank::told::{ScoreFormat, ScoreWriter};

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

/// Print degrees, PageRank and harmonic centrality of every page, and what a plan knows of it
///
/// Degrees and centralities are of the last published state, over all crawled and known pages and the
/// links that count. Of the last refresh of a plan come the rank as a seed, the core with hub and
/// authority scores, and the seed that covers the page.
///
/// Where more than 4,096 pages have links, harmonic centralities are measured from so many of them, drawn
/// at random, which is told; the order of pages by them is an estimate then.
///
/// Pages are in the order of site names and of the URLs of each site.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ScoresArgs {
    /// The bank
    bank: PathBuf,
    /// The plan whose last refresh is told of; `default`, if there is one
    #[arg(long, value_name = "NAME")]
    plan: Option<String>,
    /// The seed of the draw of pages that distances are measured from
    #[arg(long, value_name = "N", default_value_t = 0)]
    rng_seed: u64,
    /// How the scores are printed
    #[arg(long, value_parser = named(ScoreFormat::NAMED), default_value_t, env = "SEEDBANK_FORMAT")]
    format: ScoreFormat,
    /// Write to a file, which is replaced only once all is written; CSV and JSON are compressed where its
    /// name ends in .gz or .zst
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Why scores were not written.
enum Failed {
    Engine(EngineError),
    Write(std::io::Error),
}

impl From<EngineError> for Failed {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
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
    let written = (|| -> Result<ScoresReport, Failed> {
        let writer = ScoreWriter::new(&mut compressed, args.format);
        let mut writer = writer.map_err(Failed::Write)?;
        let each = |score: PageScore| writer.page(&score).map_err(Failed::Write);
        let report = bank.scores(&request, each, &watch)?;
        writer.finish().map_err(Failed::Write)?;
        Ok(report)
    })();
    drop(watch);
    let report = written.map_err(|failed| match failed {
        Failed::Engine(e) => e.into(),
        Failed::Write(e) => compressed.failed(e),
    })?;
    compressed.finish()?;
    tell(&report, session);
    Ok(Outcome::Done)
}

fn tell(of: &ScoresReport, session: &Session) {
    session.note(format_args!(
        "state after batch {}: {}; {}",
        of.batch,
        counted(of.pages, "page"),
        if of.harmonic_is_exact {
            "harmonic centralities are exact".to_owned()
        } else {
            format!(
                "harmonic centralities are measured from {} drawn at random",
                counted(of.harmonic_sources, "page")
            )
        }
    ));
    match (&of.plan, of.refresh, of.state_after) {
        (Some(plan), Some(refresh), Some(batch)) => session.note(format_args!(
            "seeds, cores and covers are those of refresh {refresh} of plan {plan}, state after batch {batch}"
        )),
        _ => session.note(format_args!(
            "there is no plan named default, so nothing is told of seeds, cores and covers; --plan names another"
        )),
    }
}
