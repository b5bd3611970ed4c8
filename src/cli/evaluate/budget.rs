//! `evaluate budget`: compares crawls of a fixed size from several lists.

use std::path::{Path, PathBuf};

use clap::Args;
use seedbank::display::counted;
use seedbank::engine::Which;
use seedbank::engine::evaluate::{BudgetEvaluation, BudgetRequest, BudgetRow, SeedList};
use seedbank::engine::refresh::RefreshId;

use super::list_args;
use super::output::{TableFormatArgs, list_lines, state_line, warn_of_absent};
use crate::cli::failure::CliError;
use crate::cli::session::{Outcome, Session};
use crate::cli::table::{aligned, comma_separated, or_nothing};
use crate::cli::values::integer;

const EXAMPLES: &str = "\
Examples:
  seedbank evaluate bank budget --pages 5000 --plan default --plan sites
  seedbank evaluate bank budget --pages 5000 --refresh 1 --refresh 7
  seedbank evaluate bank budget --seeds-file today.txt --plan default";

/// Simulate a crawl of N pages from each of several lists and compare the results
///
/// Crawls are breadth-first. If a depth does not fit into the budget, its first pages in URL order are
/// crawled; if a list does not fit, its first seeds are. --plan, --refresh and --seeds-file can be
/// repeated; the output lists plans first, then refreshes, then files. Without any of them, the list is
/// that of plan `default`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct BudgetArgs {
    /// The budget: the maximum number of pages that a crawl fetches
    #[arg(long, value_name = "N", default_value_t = 1000,
        value_parser = integer::<u64>(1..=u64::MAX))]
    pages: u64,
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

pub(super) fn run(bank: &Path, args: BudgetArgs, session: &Session) -> Result<Outcome, CliError> {
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
        .map(|which| list_args::refresh_list(which, args.succeed))
        .collect();
    lists.extend(session.run(|watch| list_args::read_all(&args.seeds_file, watch))?);
    if lists.is_empty() {
        lists.push(list_args::refresh_list(Which::default(), args.succeed));
    }
    let request = BudgetRequest {
        lists,
        pages: args.pages,
    };
    let found = session.run(|watch| {
        session
            .bank(bank)
            .watched(watch.clone())
            .evaluate_budget(&request)
    })?;
    for row in &found.lists {
        warn_of_absent(&row.list, args.format, session);
    }
    args.format.print(&found, text, csv)
}

fn text(found: &BudgetEvaluation) -> String {
    let mut text = String::new();
    for row in &found.lists {
        text.push_str(&list_lines(&row.list));
    }
    text.push_str(&state_line(&found.state));
    let limit = counted(found.budget, "page");
    append_line!(text, "results of crawls of at most {limit}\n");
    let line = |row: &BudgetRow| {
        vec![
            row.list.name.clone(),
            row.list.seeds.to_string(),
            row.pages.to_string(),
            row.crawled.to_string(),
            row.depth.map_or_else(|| "-".to_owned(), |d| d.to_string()),
            format!("{:.1}", row.value),
            row.clicks.to_string(),
            row.spam.to_string(),
            format!("{:.3}", 100.0 * row.pagerank),
        ]
    };
    let rows: Vec<Vec<String>> = found.lists.iter().map(line).collect();
    let header = [
        "list",
        "seeds",
        "pages",
        "crawled",
        "depth",
        "value",
        "clicks",
        "spam",
        "% of PageRank",
    ];
    text.push_str(&aligned(&header, &rows));
    text.push('\n');
    for claim in &found.claims {
        append_line!(text, "{}", claim.text);
    }
    text
}

fn csv(found: &BudgetEvaluation) -> String {
    let header = "list,plan,refresh,given,seeds,dead,unknown,budget,pages,crawled,depth,value,\
                  clicks,clicked_pages,spam,pagerank";
    let line = |row: &BudgetRow| {
        vec![
            row.list.name.clone(),
            or_nothing(row.list.plan.as_ref()),
            or_nothing(row.list.refresh),
            row.list.given.to_string(),
            row.list.seeds.to_string(),
            row.list.dead.to_string(),
            row.list.unknown.to_string(),
            found.budget.to_string(),
            row.pages.to_string(),
            row.crawled.to_string(),
            or_nothing(row.depth),
            row.value.to_string(),
            row.clicks.to_string(),
            row.clicked_pages.to_string(),
            row.spam.to_string(),
            row.pagerank.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = found.lists.iter().map(line).collect();
    comma_separated(header, &rows)
}
