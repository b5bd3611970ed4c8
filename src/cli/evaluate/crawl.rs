//! `evaluate crawl`: seeds compared with random seeds.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use seedbank::engine::{Bank, Beside, CrawlDepth, CrawlEvaluation, CrawlRequest};
use seedbank::shown::counted;

use super::lists;
use super::methods::compared;
use super::printed::{TableFormatArgs, claim_lines, list_lines, state_line, warn_of_absent};
use crate::cli::failure::CliError;
use crate::cli::session::{Outcome, Session};
use crate::cli::table::{aligned, comma_separated, fields, or_nothing, plus_minus};
use crate::cli::values::{WhichArgs, whole};

const EXAMPLES: &str = "\
Examples:
  seedbank evaluate bank crawl
  seedbank evaluate bank crawl --plan sites --depth 3 --draws 1000
  seedbank evaluate bank crawl --refresh 3 --succeed --format json | jq .list.dead
  cat urls/*.txt | seedbank evaluate bank crawl --seeds-file -";

/// Crawl breadth first from seeds, and from what crawlers use today
///
/// First by pages fetched: what crawls of so many pages gather, beside random pages, PageRank and
/// other baselines, by the plan's own value; the plan also chooses anew with a tenth of the crawled
/// pages held out. Then the papers' experiment, by depth beside random sets: tells for each depth how many pages are new, their share of the web, their mean PageRank, the
/// share of spam among them and their value (by the default weights). Seeds of an older refresh that died since are counted
/// and named; the others start.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CrawlArgs {
    #[command(flatten)]
    which: WhichArgs,
    /// Judge these URLs instead of a plan's seeds: one a line, `-` for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "refresh")]
    seeds_file: Option<PathBuf>,
    /// Let a successor start in the place of each seed that died, where there is one
    #[arg(long, conflicts_with = "seeds_file")]
    succeed: bool,
    /// How many links from the seeds the crawl goes
    #[arg(long, value_name = "N", default_value_t = 6)]
    depth: u32,
    /// How many random sets of seeds to compare with
    #[arg(long, value_name = "N", default_value_t = 100,
        value_parser = whole::<u32>(1..=100_000))]
    draws: u32,
    /// How often a tenth of the crawled pages is held out while the plan chooses anew
    #[arg(long, value_name = "N", default_value_t = CrawlRequest::default().holdouts,
        value_parser = whole::<u32>(0..=1000))]
    holdouts: u32,
    /// Pages that crawls fetch [default: a tenth, half and twice as many as are crawled]
    #[arg(long, value_name = "N,...", value_delimiter = ',',
        value_parser = whole::<u64>(1..=u64::MAX))]
    budget: Vec<u64>,
    /// The seed of the random sets
    #[arg(long, value_name = "N", default_value_t = 0)]
    rng_seed: u64,
    /// How many pages of the highest PageRank to name, with the depth at which they are reached
    #[arg(long, value_name = "N", default_value_t = 10,
        value_parser = whole::<u32>(0..=1_000_000))]
    top: u32,
    #[command(flatten)]
    format: TableFormatArgs,
}

pub(super) fn run(bank: &Path, args: CrawlArgs, session: &Session) -> Result<Outcome, CliError> {
    let watch = session.watch()?;
    let list = match &args.seeds_file {
        None => lists::of_refresh(args.which.into(), args.succeed),
        Some(file) => {
            // A plan from the environment is ignored; one on the command line is a contradiction.
            let set = std::env::var("SEEDBANK_PLAN").ok();
            if args.which.plan.is_some() && args.which.plan != set {
                return Err(CliError::Usage(
                    "--plan and --seeds-file name two lists; give one, or compare both with `evaluate BANK budget`"
                        .to_owned(),
                ));
            }
            lists::read(file, &watch)?
        }
    };
    let request = CrawlRequest {
        list,
        depth: args.depth,
        draws: args.draws,
        rng_seed: args.rng_seed,
        top: args.top,
        beside: Beside::Baselines,
        holdouts: args.holdouts,
        budgets: args.budget,
    };
    let found = Bank::at(bank).evaluate_crawl(&request, &watch);
    drop(watch);
    let found = found?;
    warn_of_absent(&found.list, args.format, session);
    args.format.print(&found, text, csv)
}

/// The crawl for people. PageRank is shown as a multiple of the average page's, which is 1 divided
/// by the number of pages.
fn text(found: &CrawlEvaluation) -> String {
    let mut text = list_lines(&found.list) + &state_line(&found.state);
    if let Some(fetches) = &found.fetches {
        text.push_str(&compared(fetches));
        text.push_str(&claim_lines(&fetches.claims));
        text.push('\n');
    }
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "beside {} of {}, mean ± standard error; PageRank 1 is that of an average page\n",
        counted(found.draws, "random set"),
        counted(found.list.seeds, "crawled page")
    );
    let pages = found.state.pages as f64;
    let row = |at: &CrawlDepth| {
        let random = &at.random;
        vec![
            at.depth.to_string(),
            at.new_pages.to_string(),
            plus_minus(Some(random.new_pages), 1),
            format!("{:.2}", 100.0 * at.share),
            plus_minus(Some(random.share.times(100.0)), 2),
            at.mean_pagerank
                .map_or_else(|| "-".to_owned(), |mean| format!("{:.3}", mean * pages)),
            plus_minus(random.mean_pagerank.map(|mean| mean.times(pages)), 3),
            at.spam_share
                .map_or_else(|| "-".to_owned(), |share| format!("{:.2}", 100.0 * share)),
            plus_minus(random.spam_share.map(|share| share.times(100.0)), 2),
            format!("{:.1}", at.value),
            plus_minus(Some(random.value), 1),
        ]
    };
    let rows: Vec<Vec<String>> = found.depths.iter().map(row).collect();
    let header = [
        "depth",
        "new pages",
        "random",
        "% of web",
        "random",
        "PageRank",
        "random",
        "% spam",
        "random",
        "value",
        "random",
    ];
    text.push_str(&aligned(&header, &rows));
    if !found.top_pages.is_empty() {
        text.push_str("\npages of the highest PageRank, and where the crawl reaches them\n");
        for page in &found.top_pages {
            let depth = page
                .depth
                .map_or_else(|| "not".to_owned(), |depth| format!("at {depth}"));
            let _ = writeln!(
                text,
                "  {:.1}  {depth}  {}",
                page.pagerank * pages,
                page.url
            );
        }
    }
    text.push('\n');
    text + &claim_lines(&found.claims)
}

fn csv(found: &CrawlEvaluation) -> String {
    let header = [
        "depth",
        "new_pages",
        "pages",
        "share",
        "pagerank",
        "mean_pagerank",
        "spam_share",
        "value",
        "random_new_pages",
        "random_new_pages_error",
        "random_pages",
        "random_pages_error",
        "random_share",
        "random_share_error",
        "random_pagerank",
        "random_pagerank_error",
        "random_mean_pagerank",
        "random_mean_pagerank_error",
        "random_spam_share",
        "random_spam_share_error",
        "random_value",
        "random_value_error",
    ];
    let row = |at: &CrawlDepth| {
        let mut row = vec![
            at.depth.to_string(),
            at.new_pages.to_string(),
            at.pages.to_string(),
            at.share.to_string(),
            at.pagerank.to_string(),
            or_nothing(at.mean_pagerank),
            or_nothing(at.spam_share),
            at.value.to_string(),
        ];
        for estimate in [
            Some(at.random.new_pages),
            Some(at.random.pages),
            Some(at.random.share),
            Some(at.random.pagerank),
            at.random.mean_pagerank,
            at.random.spam_share,
            Some(at.random.value),
        ] {
            row.extend(fields(estimate));
        }
        row
    };
    let rows: Vec<Vec<String>> = found.depths.iter().map(row).collect();
    comma_separated(&header, &rows)
}
