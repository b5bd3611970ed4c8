//! `evaluate crawl`: compares the crawl from seeds with crawls from other starting points.

use std::path::{Path, PathBuf};

use clap::Args;
use seedbank::display::counted;
use seedbank::engine::evaluate::{ComparedWith, CrawlDepth, CrawlEvaluation, CrawlRequest};

use super::list_args;
use super::methods::compared;
use super::output::{TableFormatArgs, claim_lines, list_lines, state_line, warn_of_absent};
use crate::cli::failure::CliError;
use crate::cli::session::{Outcome, Session};
use crate::cli::table::{aligned, comma_separated, fields, or_nothing, plus_minus};
use crate::cli::values::{WhichArgs, integer};

const EXAMPLES: &str = "\
Examples:
  seedbank evaluate bank crawl
  seedbank evaluate bank crawl --plan sites --depth 3 --draws 1000
  seedbank evaluate bank crawl --refresh 3 --succeed --format json | jq .list.dead
  cat urls/*.txt | seedbank evaluate bank crawl --seeds-file -";

/// Compare crawls from a list of seeds with crawls from other starting points
///
/// Runs two experiments. The first compares breadth-first crawls of fixed numbers of fetches with
/// crawls from random pages, pages of high PageRank and other baselines, by the plan's values of pages;
/// it also runs the plan again with a random tenth of the crawled pages held out. The second is the
/// experiment of the papers: for each depth it compares the crawl with crawls from random sets of seeds
/// by the number of new pages, their share of the web, their mean PageRank, the share of spam, and
/// their value with the default weights. Seeds that have died since the refresh are counted and named,
/// and the crawl starts from the others.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CrawlArgs {
    #[command(flatten)]
    which: WhichArgs,
    /// Evaluate the URLs in this file instead of a plan's seeds; `-` reads standard input
    ///
    /// The file has one URL per line.
    #[arg(long, value_name = "FILE", conflicts_with = "refresh")]
    seeds_file: Option<PathBuf>,
    /// Replace seeds that have died by their successors, if they have any
    #[arg(long, conflicts_with = "seeds_file")]
    succeed: bool,
    /// Maximum number of links that the crawl follows from a seed
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = integer::<u32>(0..=u32::MAX))]
    depth: u32,
    /// Number of random sets of seeds to compare with
    #[arg(long, value_name = "N", default_value_t = 100,
        value_parser = integer::<u32>(1..=100_000))]
    draws: u32,
    /// Number of runs in which a random tenth of the crawled pages is held out
    #[arg(long, value_name = "N", default_value_t = CrawlRequest::default().holdouts,
        value_parser = integer::<u32>(0..=1000))]
    holdouts: u32,
    /// Numbers of fetches [default: a tenth of, half of and twice the number of crawled pages]
    #[arg(long, value_name = "N,...", value_delimiter = ',',
        value_parser = integer::<u64>(1..=u64::MAX))]
    budget: Vec<u64>,
    /// Seed of the random number generator
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = integer::<u64>(0..=u64::MAX))]
    rng_seed: u64,
    /// Number of pages with the highest PageRank to list, with the depth at which they are reached
    #[arg(long, value_name = "N", default_value_t = 10,
        value_parser = integer::<u32>(0..=1_000_000))]
    top: u32,
    #[command(flatten)]
    format: TableFormatArgs,
}

pub(super) fn run(bank: &Path, args: CrawlArgs, session: &Session) -> Result<Outcome, CliError> {
    let list = match &args.seeds_file {
        None => list_args::refresh_list(args.which.into(), args.succeed),
        Some(file) => {
            // A plan from the environment is ignored; one given as a flag contradicts --seeds-file.
            let set = std::env::var("SEEDBANK_PLAN").ok();
            if args.which.plan.is_some() && args.which.plan != set {
                return Err(CliError::Usage(
                    "--plan and --seeds-file name two different lists; remove one of them, or compare both with `evaluate BANK budget`"
                        .to_owned(),
                ));
            }
            session.run(|watch| list_args::read(file, watch))?
        }
    };
    let request = CrawlRequest {
        list,
        depth: args.depth,
        draws: args.draws,
        rng_seed: args.rng_seed,
        top: args.top,
        compared_with: ComparedWith::Baselines,
        holdouts: args.holdouts,
        budgets: args.budget,
    };
    let found = session.run(|watch| {
        session
            .bank(bank)
            .watched(watch.clone())
            .evaluate_crawl(&request)
    })?;
    warn_of_absent(&found.list, args.format, session);
    args.format.print(&found, text, csv)
}

/// Formats the crawl as text. PageRank is shown as a multiple of the PageRank of an average page,
/// which is 1 divided by the number of pages.
fn text(found: &CrawlEvaluation) -> String {
    let mut text = list_lines(&found.list) + &state_line(&found.state);
    if let Some(fetches) = &found.fetches {
        text.push_str(&compared(fetches));
        text.push_str(&claim_lines(&fetches.claims));
        text.push('\n');
    }
    append_line!(
        text,
        "compared with {} of {}, mean ± standard error; PageRank 1 is that of an average page\n",
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
        text.push_str(
            "\npages with the highest PageRank, and the depth at which the crawl reaches them\n",
        );
        for page in &found.top_pages {
            let depth = page
                .depth
                .map_or_else(|| "not reached".to_owned(), |depth| format!("at {depth}"));
            append_line!(
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
    let header = "depth,new_pages,pages,share,pagerank,mean_pagerank,spam_share,value,\
                  random_new_pages,random_new_pages_error,random_pages,random_pages_error,\
                  random_share,random_share_error,random_pagerank,random_pagerank_error,\
                  random_mean_pagerank,random_mean_pagerank_error,random_spam_share,\
                  random_spam_share_error,random_value,random_value_error";
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
    comma_separated(header, &rows)
}
