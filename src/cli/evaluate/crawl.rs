//! `evaluate crawl` and `evaluate budget`: compare the crawl from seeds with crawls from other starting points, and
//! crawls of a fixed size from several lists.

use std::path::{Path, PathBuf};

use clap::Args;

use super::methods::compared;
use super::output::{
    TableFormatArgs, claim_lines, list_lines, read, read_all, refresh_list, state_line,
    warn_of_absent,
};

use crate::cli::failure::CliError;
use crate::cli::session::{Outcome, Session};
use crate::cli::values::{WhichArgs, integer};
use seedbank::answers::{Table, crawl_note};
use seedbank::display::counted;
use seedbank::engine::Which;
use seedbank::engine::evaluate::{
    BudgetEvaluation, BudgetRequest, ComparedWith, Convergence, CrawlEvaluation, CrawlRequest,
    SeedList,
};
use seedbank::engine::plan::Crawls;
use seedbank::engine::refresh::RefreshId;

const CRAWL_EXAMPLES: &str = "\
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
/// their value with the default weights. For a plan with --hits classic, it also compares the cores with
/// those of converged HITS. Seeds that have died since the refresh are counted and named,
/// and the crawl starts from the others.
#[derive(Debug, Args)]
#[command(after_help = CRAWL_EXAMPLES)]
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

pub(super) fn crawl(bank: &Path, args: CrawlArgs, session: &Session) -> Result<Outcome, CliError> {
    let list = match &args.seeds_file {
        None => refresh_list(args.which.into(), args.succeed),
        Some(file) => {
            // A plan from the environment is ignored; one given as a flag contradicts --seeds-file.
            let set = std::env::var("SEEDBANK_PLAN").ok();
            if args.which.plan.is_some() && args.which.plan != set {
                return Err(CliError::Usage(
                    "--plan and --seeds-file name two different lists; remove one of them, or compare both with `evaluate BANK budget`"
                        .to_owned(),
                ));
            }
            session.run(|watch| read(file, watch))?
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
    let found = session.with_bank(bank, |bank| bank.evaluate_crawl(&request))?;
    warn_of_absent(&found.list, args.format, session);
    args.format
        .print(&found, crawl_text, |found| crawl_table(found).csv())
}

/// Formats the crawl as text. PageRank is shown as a multiple of the PageRank of an average page,
/// which is 1 divided by the number of pages.
fn crawl_text(found: &CrawlEvaluation) -> String {
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
    let table = crawl_table(found);
    let has_hubs = found.depths.iter().any(|at| at.hubs.is_some());
    let table = if has_hubs {
        text.push_str(
            "hubs: drawn at random from the cores of the seeds, mean of as many draws\n\n",
        );
        table
    } else {
        table.without(&["hub_new_pages", "hub_mean_pagerank", "hub_value"])
    };
    text.push_str(&table.aligned());
    if let Some(convergence) = &found.convergence {
        append_line!(
            text,
            "\ncores after {}, and their ranks among those of converged HITS; sigma + is what the last iteration added\n",
            counted(convergence.iterations, "iteration")
        );
        text.push_str(&convergence_table(convergence).aligned());
    }
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

/// Returns what the crawl finds by depth, and what crawls from random pages find.
fn crawl_table(found: &CrawlEvaluation) -> Table {
    let pages = found.state.pages as f64;
    Table::of("depths", "", &found.depths)
        .number("depth", "depth", |at| at.depth)
        .number("new_pages", "new pages", |at| at.new_pages)
        .estimate("random_new_pages", "random", 1, |at| at.random.new_pages)
        .late()
        .field("pages", |at| at.pages)
        .estimate("random_pages", "", 0, |at| at.random.pages)
        .late()
        .number("share", "% of web", |at| at.share)
        .percent(2)
        .estimate("random_share", "random", 2, |at| at.random.share)
        .percent(2)
        .late()
        .field("pagerank", |at| at.pagerank)
        .estimate("random_pagerank", "", 0, |at| at.random.pagerank)
        .late()
        .optional("mean_pagerank", "PageRank", |at| at.mean_pagerank)
        .decimals(3)
        .scaled(pages)
        .estimate("random_mean_pagerank", "random", 3, |at| {
            at.random.mean_pagerank
        })
        .scaled(pages)
        .late()
        .optional("spam_share", "% spam", |at| at.spam_share)
        .percent(2)
        .estimate("random_spam_share", "random", 2, |at| at.random.spam_share)
        .percent(2)
        .late()
        .number("value", "value", |at| at.value)
        .decimals(1)
        .estimate("random_value", "random", 1, |at| at.random.value)
        .late()
        .estimate("hub_new_pages", "new pages, hubs", 1, |at| {
            at.hubs.map(|hubs| hubs.new_pages)
        })
        .late()
        .estimate("hub_pages", "", 0, |at| at.hubs.map(|hubs| hubs.pages))
        .late()
        .estimate("hub_pagerank", "", 0, |at| {
            at.hubs.map(|hubs| hubs.pagerank)
        })
        .late()
        .estimate("hub_mean_pagerank", "PageRank, hubs", 3, |at| {
            at.hubs.and_then(|hubs| hubs.mean_pagerank)
        })
        .scaled(pages)
        .late()
        .estimate("hub_value", "value, hubs", 1, |at| {
            at.hubs.map(|hubs| hubs.value)
        })
        .late()
        .done()
}

fn convergence_table(found: &Convergence) -> Table {
    let small = |number: f64| format!("{number:.1e}");
    Table::of("cores", "", &found.cores)
        .number("core", "core", |core| core.rank)
        .number("hubs", "hubs", |core| core.hubs)
        .number("authorities", "authorities", |core| core.authorities)
        .number("sigma", "sigma", |core| core.sigma)
        .decimals(3)
        .word("sigma_change", "sigma +", |core| small(core.sigma_change))
        .word("residual", "residual", |core| small(core.residual))
        .optional("converged_rank", "converged", |core| core.converged_rank)
        .done()
}

const BUDGET_EXAMPLES: &str = "\
Examples:
  seedbank evaluate bank budget --pages 5000 --plan default --plan sites
  seedbank evaluate bank budget --pages 5000 --refresh 1 --refresh 7
  seedbank evaluate bank budget --seeds-file today.txt --plan default";

/// Simulate a crawl of N pages from each of several lists and compare the results
///
/// Figures of several crawls are geometric means. --plan, --refresh and --seeds-file can be repeated; the
/// output lists plans first, then refreshes, then files. Without any of them, the list is that of plan
/// `default`.
#[derive(Debug, Args)]
#[command(after_help = BUDGET_EXAMPLES)]
pub(super) struct BudgetArgs {
    /// The budget: the maximum number of pages that a crawl fetches
    #[arg(long, value_name = "N", default_value_t = 1000,
        value_parser = integer::<u64>(1..=u64::MAX))]
    pages: u64,
    /// Crawls from each list, as for `refresh` [default: those of the first plan or refresh, or none]
    #[arg(long, value_name = "LIMITS")]
    crawl: Option<Crawls>,
    /// Add the latest seeds of this plan
    #[arg(long, value_name = "NAME")]
    plan: Vec<String>,
    /// Add the seeds of the refresh with this number
    #[arg(long, value_name = "N", value_parser = integer::<RefreshId>(1..=RefreshId::MAX))]
    refresh: Vec<RefreshId>,
    /// Add the URLs in this file, one per line; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    seeds_file: Vec<PathBuf>,
    /// Replace seeds of a refresh that have died by their successors, if they have any
    #[arg(long)]
    succeed: bool,
    #[command(flatten)]
    format: TableFormatArgs,
}

pub(super) fn budget(
    bank: &Path,
    args: BudgetArgs,
    session: &Session,
) -> Result<Outcome, CliError> {
    let plans = args.plan.into_iter().map(|plan| Which {
        plan: Some(plan),
        refresh: None,
    });
    let refreshes = args.refresh.into_iter().map(|refresh| Which {
        plan: None,
        refresh: Some(refresh),
    });
    let mut lists: Vec<SeedList> = plans
        .chain(refreshes)
        .map(|which| refresh_list(which, args.succeed))
        .collect();
    lists.extend(session.run(|watch| read_all(&args.seeds_file, watch))?);
    if lists.is_empty() {
        lists.push(refresh_list(Which::default(), args.succeed));
    }
    let request = BudgetRequest {
        lists,
        pages: args.pages,
        crawl: args.crawl,
    };
    let found = session.with_bank(bank, |bank| bank.evaluate_budget(&request))?;
    for row in &found.lists {
        warn_of_absent(&row.list, args.format, session);
    }
    args.format
        .print(&found, budget_text, |found| budget_table(found).csv())
}

fn budget_text(found: &BudgetEvaluation) -> String {
    let mut text = String::new();
    for row in &found.lists {
        text.push_str(&list_lines(&row.list));
    }
    text.push_str(&state_line(&found.state));
    let limit = counted(found.budget, "fetch");
    let note = crawl_note(found.crawl);
    append_line!(text, "results of crawls of at most {limit}{note}\n");
    text.push_str(&budget_table(found).aligned());
    text.push('\n');
    for claim in &found.claims {
        append_line!(text, "{}", claim.text);
    }
    text
}

fn budget_table(found: &BudgetEvaluation) -> Table {
    Table::of("lists", "", &found.lists)
        .text("list", "list", |row| &row.list.name)
        .optional_field("plan", |row| row.list.plan.as_ref())
        .optional_field("refresh", |row| row.list.refresh)
        .field("given", |row| row.list.given)
        .number("seeds", "seeds", |row| row.list.seeds)
        .field("dead", |row| row.list.dead)
        .field("unknown", |row| row.list.unknown)
        .field("budget", |_| found.budget)
        .number("pages", "pages", |row| row.pages)
        .number("crawled", "crawled", |row| row.crawled)
        .number("contents", "different", |row| row.contents)
        .optional("depth", "depth", |row| row.depth)
        .number("value", "value", |row| row.value)
        .decimals(1)
        .number("clicks", "clicks", |row| row.clicks)
        .field("clicked_pages", |row| row.clicked_pages)
        .number("spam", "spam", |row| row.spam)
        .number("pagerank", "% of PageRank", |row| row.pagerank)
        .percent(3)
        .done()
}
