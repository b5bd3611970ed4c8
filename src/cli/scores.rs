//! `scores`: prints degrees and centralities of every page, and its role in a plan.

use std::cmp::Ordering;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use seedbank::answers::{ScoreFormat, ScoreWriter};
use seedbank::display::counted;
use seedbank::engine::EngineError;
use seedbank::engine::scores::{PageScore, ScoresReport, ScoresRequest};

use super::failure::CliError;
use super::output::{Compressed, parquet_to};
use super::session::{Outcome, Session};
use super::values::{integer, named};

const EXAMPLES: &str = "\
Examples:
  seedbank scores bank --top 20 --format text
  seedbank scores bank --top 100 --by harmonic
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
/// If more than 4,096 pages have links, harmonic centralities are estimated from a random sample of 512 of
/// them, and each has its standard error; a note says so.
///
/// Pages are ordered by site name, and by URL within a site; with `--top`, by their scores.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ScoresArgs {
    /// The bank
    bank: PathBuf,
    /// The plan whose last refresh is used [default: default, if it exists]
    #[arg(long, value_name = "NAME")]
    plan: Option<String>,
    /// Seed of the random sample of pages for harmonic centralities
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = integer::<u64>(0..=u64::MAX))]
    rng_seed: u64,
    /// Only the N pages with the highest scores, highest first
    #[arg(long, value_name = "N", value_parser = integer::<usize>(1..=usize::MAX))]
    top: Option<usize>,
    /// With `--top`: the score
    #[arg(
        long,
        value_name = "SCORE",
        value_enum,
        default_value_t,
        requires = "top"
    )]
    by: Score,
    /// Output format
    #[arg(long, value_parser = named(ScoreFormat::VALUES), default_value_t, env = "SEEDBANK_FORMAT")]
    format: ScoreFormat,
    /// Write to this file or address, which is replaced only when the output is complete
    ///
    /// CSV and JSON are compressed if the name ends in .gz or .zst.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// A score that pages can be ordered by.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Score {
    /// PageRank
    #[default]
    Pagerank,
    /// Harmonic centrality
    Harmonic,
    /// Number of pages that link to the page
    InDegree,
    /// Number of pages that it links to
    OutDegree,
}

impl Score {
    /// Compares two pages for a list with the highest score first.
    fn order(self, a: &PageScore, b: &PageScore) -> Ordering {
        let by_score = match self {
            Self::Pagerank => b.pagerank.total_cmp(&a.pagerank),
            Self::Harmonic => b.harmonic.total_cmp(&a.harmonic),
            Self::InDegree => b.in_degree.cmp(&a.in_degree),
            Self::OutDegree => b.out_degree.cmp(&a.out_degree),
        };
        by_score.then_with(|| a.url.cmp(&b.url))
    }
}

/// The pages with the highest scores so far.
struct Top {
    most: usize,
    by: Score,
    /// The pages to print so far, and others: at most twice the number to print. They are sorted and
    /// truncated when that number is reached.
    pages: Vec<PageScore>,
}

impl Top {
    fn add(&mut self, page: PageScore) {
        self.pages.push(page);
        if self.pages.len() >= self.most.saturating_mul(2) {
            self.truncate();
        }
    }

    fn truncate(&mut self) {
        self.pages.sort_unstable_by(|a, b| self.by.order(a, b));
        self.pages.truncate(self.most);
    }
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
    let bank = session.bank(&args.bank).pinned()?;
    let mut compressed = Compressed::to(out, &args.bank)?;
    let request = ScoresRequest {
        plan: args.plan.clone(),
        rng_seed: args.rng_seed,
    };
    let watch = session.watch()?;
    let written = (|| -> Result<ScoresReport, ScoresError> {
        let mut writer = ScoreWriter::new(&mut compressed, args.format)?;
        let mut top = args.top.map(|most| Top {
            most,
            by: args.by,
            pages: Vec::new(),
        });
        let each = |score: PageScore| {
            match &mut top {
                Some(top) => top.add(score),
                None => writer.page(&score)?,
            }
            Ok::<_, ScoresError>(())
        };
        let report = bank.watched(watch.clone()).scores(&request, each)?;
        if let Some(mut top) = top {
            top.truncate();
            top.pages.iter().try_for_each(|page| writer.page(page))?;
        }
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
                "harmonic centralities are estimated from {} drawn at random, each with its standard error",
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
