//! `evaluate methods`: compares every method and baseline by what crawls gather per page fetched.

use std::path::Path;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use seedbank::display::counted;
use seedbank::engine::evaluate::{
    ByFetches, ComparedList, Comparison, Estimate, MethodsEvaluation, MethodsRequest, NextRequest,
};
use seedbank::engine::ingest::BatchId;
use seedbank::engine::plan::{Goal, Measure, Parameter, PlanOptions};
use seedbank::render::plan_flags;

use super::next;
use super::output::{TableFormatArgs, claim_lines, state_line};
use crate::cli::failure::{CliError, for_shell};
use crate::cli::parameter_flags::{ParameterFlags, Selection, words};
use crate::cli::session::{Outcome, Session};
use crate::cli::table::{aligned, comma_separated, fields, or_nothing, plus_minus};
use crate::cli::values::integer;

const EXAMPLES: &str = "\
Examples:
  seedbank evaluate bank methods
  seedbank evaluate bank methods --seeds 20,100 --budget 1000,5000,20000
  seedbank evaluate bank methods --seeds 50 --budget 10000 --value-by pagerank --draws 10
  seedbank evaluate bank methods --plan sites --since 3
  seedbank evaluate bank methods --next --seeds 20 --budget 100 --rest 3
  seedbank evaluate bank methods --format csv > methods.csv";

/// Compare crawls from seeds for every goal, of every method and of common baselines
///
/// Each list is selected from everything that is known; `--draws` times with the links, clicks and
/// digests of a random tenth of the crawled pages held out; and, if the bank has enough history, with
/// the pages that were first crawled after an early batch held out. All lists are evaluated on the
/// complete state by breadth-first crawls, in the order of `evaluate budget`. The output ends with the
/// recommended plans.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct MethodsArgs {
    /// Numbers of seeds [default: 20,100, or 20 with --next]
    #[arg(long, value_name = "K,...", value_delimiter = ',',
        value_parser = integer::<u32>(1..=1_000_000))]
    seeds: Vec<u32>,
    /// Numbers of fetches [default: a tenth of, half of and twice the number of crawled pages, or with --next
    /// five for each seed]
    #[arg(long, value_name = "N,...", value_delimiter = ',',
        value_parser = integer::<u64>(1..=u64::MAX))]
    budget: Vec<u64>,
    /// Compare lists by the new pages of the next crawls instead, including a list with learned
    /// values
    ///
    /// After each of the last batches (at most 40), every list is chosen with what was known then,
    /// and crawls are replayed over what the next three batches found. In the closed loop, each
    /// list crawls after every batch and knows only what its own crawls found.
    #[arg(long, conflicts_with_all = ["draws", "plan", "goal", "since"])]
    next: bool,
    /// With --next: do not select pages that were fetched in the last DAYS days as seeds
    #[arg(long, value_name = "DAYS", requires = "next", default_value_t = 0,
        value_parser = integer::<u32>(0..=36_500))]
    rest: u32,
    /// Number of runs with pages held out; 0 holds out none
    #[arg(long, value_name = "N", default_value_t = MethodsRequest::default().draws,
        value_parser = integer::<u32>(0..=1000))]
    draws: u32,
    /// Also compare this plan, and use its values of pages
    #[arg(long, value_name = "NAME")]
    plan: Option<String>,
    /// Goal that decides which list is best, and what pages are worth [default: that of the plan, or
    /// coverage]
    #[arg(long, value_name = "GOAL", value_parser = goal())]
    goal: Option<Goal>,
    /// Also select seeds on the state after this batch [default: the earliest that the bank can reconstruct]
    #[arg(long, value_name = "BATCH", value_parser = integer::<BatchId>(0..=BatchId::MAX))]
    since: Option<BatchId>,
    /// Seed of the random number generator
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = integer::<u64>(0..=u64::MAX))]
    rng_seed: u64,
    #[command(flatten)]
    value: ParameterFlags<Values>,
    #[command(flatten)]
    format: TableFormatArgs,
}

/// The parameters from which the values of pages follow.
#[derive(Clone, Debug)]
struct Values;

impl Selection for Values {
    fn includes(parameter: &Parameter) -> bool {
        parameter.values_pages
    }

    fn heading(_: &Parameter) -> Option<&'static str> {
        Some("What pages are worth, unless the goal sets it")
    }
}

/// Parses a goal, with the help of the plan parameter.
fn goal() -> impl TypedValueParser<Value = Goal> {
    let named = Parameter::named("goal").map_or_else(|| PossibleValuesParser::new([""; 0]), words);
    named.try_map(|name| {
        let mut all = Goal::ALL.into_iter();
        all.find(|goal| goal.name() == name)
            .ok_or_else(|| format!("unknown goal {name}"))
    })
}

pub(super) fn run(bank: &Path, args: MethodsArgs, session: &Session) -> Result<Outcome, CliError> {
    if args.next {
        let request = next_request(&args)?;
        return next::run(bank, &request, args.format, session);
    }
    let seeds = match &args.seeds[..] {
        [] => MethodsRequest::default().seeds,
        seeds => seeds.to_vec(),
    };
    let request = MethodsRequest {
        seeds,
        budgets: args.budget,
        draws: args.draws,
        rng_seed: args.rng_seed,
        plan: args.plan,
        goal: args.goal,
        value: args.value.into_options(),
        since: args.since,
    };
    let found = session.run(|watch| {
        session
            .bank(bank)
            .watched(watch.clone())
            .evaluate_methods(&request)
    })?;
    let name = bank.display().to_string();
    args.format.print(&found, |found| text(found, &name), csv)
}

/// Converts the arguments of `--next`, which compares one number of seeds and of fetches.
fn next_request(args: &MethodsArgs) -> Result<NextRequest, CliError> {
    let usage = |text: &str| Err(CliError::Usage(text.to_owned()));
    if args.seeds.len() > 1 || args.budget.len() > 1 {
        return usage("--next compares one number of seeds and one of fetches");
    }
    if args.value.clone().into_options() != PlanOptions::default() {
        return usage("--next counts new pages, so no flag about what pages are worth applies");
    }
    let default = NextRequest::default();
    Ok(NextRequest {
        seeds: args.seeds.first().copied().unwrap_or(default.seeds),
        budget: args.budget.first().copied(),
        rest: args.rest,
        rng_seed: args.rng_seed,
    })
}

fn text(found: &MethodsEvaluation, bank: &str) -> String {
    let mut text = state_line(&found.state);
    text.push_str(&compared(&found.comparison));
    text.push_str(&claim_lines(&found.comparison.claims));
    if !found.recommended.is_empty() {
        text.push_str("\nRecommended plans, by number of seeds and fetches:\n");
    }
    for plan in &found.recommended {
        let name = format!("for-{}-{}", plan.seeds, plan.budget);
        append_line!(
            text,
            "  seedbank refresh {} --plan {name} {}",
            for_shell(bank),
            plan_flags(&plan.parameters).unwrap_or_default().join(" ")
        );
        if plan.listed < u64::from(plan.seeds) {
            append_line!(
                text,
                "  (it selects {} of {}: no further page is worth its cost)",
                plan.listed,
                counted(plan.seeds, "seed")
            );
        }
    }
    text
}

/// Formats the lists as text: one table for each number of seeds and fetches.
pub(super) fn compared(found: &Comparison) -> String {
    let mut text = String::new();
    if found.draws > 0 {
        append_line!(
            text,
            "held out: selected without {} and evaluated with everything; mean of {} ± standard error",
            counted(found.held_out, "crawled page"),
            counted(found.draws, "draw"),
        );
    }
    if let (Some(since), Some(pages)) = (found.since, found.crawled_since) {
        append_line!(
            text,
            "since: selected without the {} that came after batch {since}, evaluated with everything",
            counted(pages, "crawled page")
        );
    }
    if !found.harmonic_is_exact {
        text.push_str("harmonic: estimated from a sample of pages\n");
    }
    for &seeds in &found.seeds {
        for &budget in &found.budgets {
            let lists = found.lists.iter();
            let lists: Vec<&ComparedList> = lists
                .filter(|list| list.seeds == seeds && list.budget == budget)
                .collect();
            append_line!(
                text,
                "\n{}, {}",
                counted(seeds, "seed"),
                counted(budget, "fetch")
            );
            text.push_str(&table(&lists, found));
            // No crawl finds more crawled pages than it fetches, or than there are.
            if found.measure == Measure::Crawled {
                append_line!(
                    text,
                    "at most {} can be found",
                    counted(budget.min(found.crawled), "crawled page")
                );
            }
        }
    }
    text.push('\n');
    text
}

fn table(lists: &[&ComparedList], found: &Comparison) -> String {
    let (has_held_out, has_since) = (found.draws > 0, found.since.is_some());
    let mut header = vec!["list", "crawled", "% of PageRank", "value"];
    // Columns exist only for the runs that were made, so that the table stays narrow.
    if has_held_out {
        header.extend([
            "held out: crawled",
            "new",
            "first seen",
            "% of PageRank",
            "value",
        ]);
        header.extend(["crawled pages alone: new", "value"]);
    } else {
        header.push("crawled pages alone: value");
    }
    if has_since {
        header.extend(["since: new", "value"]);
    }
    let row = |list: &&ComparedList| {
        let cell = |number: Estimate, decimals| plus_minus(Some(number), decimals);
        let percent = |number: Estimate| plus_minus(Some(number.times(100.0)), 2);
        let known = &list.known.all;
        let mut row = vec![
            list.list.clone(),
            cell(known.crawled, 0),
            percent(known.pagerank),
            cell(known.value, 0),
        ];
        match &list.held_out {
            Some(held_out) => row.extend([
                cell(held_out.all.crawled, 0),
                cell(held_out.all.new_pages, 0),
                cell(held_out.all.discovered, 0),
                percent(held_out.all.pagerank),
                cell(held_out.all.value, 0),
                cell(held_out.of_crawled.new_pages, 0),
                cell(held_out.of_crawled.value, 0),
            ]),
            // A list without held-out runs gets empty cells, so that columns stay aligned.
            None if has_held_out => row.extend(std::iter::repeat_n("-".to_owned(), 7)),
            None => row.push(cell(list.known.of_crawled.value, 0)),
        }
        if has_since {
            let since = list.since.as_ref();
            row.push(plus_minus(since.map(|since| since.all.new_pages), 0));
            row.push(plus_minus(since.map(|since| since.all.value), 0));
        }
        row
    };
    let rows: Vec<Vec<String>> = lists.iter().map(row).collect();
    aligned(&header, &rows)
}

fn csv(found: &MethodsEvaluation) -> String {
    let mut header: Vec<String> = ["list", "kind", "seeds", "listed", "budget"]
        .map(str::to_owned)
        .to_vec();
    for chosen in ["known", "held_out", "since"] {
        for counted in ["all", "of_crawled"] {
            for what in [
                "fetched",
                "value",
                "crawled",
                "new_pages",
                "discovered",
                "pagerank",
            ] {
                // Each figure is followed by its error, in the order of `numbers`.
                let name = format!("{chosen}_{counted}_{what}");
                header.push(format!("{name}_error"));
                let last = header.len() - 1;
                header.insert(last, name);
            }
        }
    }
    header.extend(
        [
            "times_best_baseline",
            "times_best_baseline_error",
            "times_best_value",
            "times_best_value_error",
            "above_baselines",
        ]
        .map(str::to_owned),
    );
    let row = |list: &ComparedList| {
        let kind = serde_json::to_value(list.kind).ok();
        let kind = kind.as_ref().and_then(serde_json::Value::as_str);
        let mut row = vec![
            list.list.clone(),
            kind.unwrap_or_default().to_owned(),
            list.seeds.to_string(),
            list.listed.to_string(),
            list.budget.to_string(),
        ];
        for found in [
            Some(&list.known),
            list.held_out.as_ref(),
            list.since.as_ref(),
        ] {
            row.extend(numbers(found));
        }
        row.extend(fields(list.times_best_baseline));
        row.extend(fields(list.times_best_value));
        row.push(or_nothing(list.above_baselines));
        row
    };
    let rows: Vec<Vec<String>> = found.comparison.lists.iter().map(row).collect();
    comma_separated(&header.join(","), &rows)
}

/// Formats every figure with its error; fields that were not measured are empty.
fn numbers(found: Option<&ByFetches>) -> Vec<String> {
    let both = [
        found.map(|found| found.all),
        found.map(|found| found.of_crawled),
    ];
    both.into_iter()
        .flat_map(|found| {
            [
                found.map(|found| found.fetched),
                found.map(|found| found.value),
                found.map(|found| found.crawled),
                found.map(|found| found.new_pages),
                found.map(|found| found.discovered),
                found.map(|found| found.pagerank),
            ]
        })
        .flat_map(fields)
        .collect()
}
