//! `evaluate methods`: compares every method and baseline by what crawls gather per page fetched, or with `--next` by the
//! new pages of the next crawls.

use std::path::Path;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::output::{TableFormatArgs, claim_lines, state_line};

use crate::cli::failure::{CliError, for_shell};
use crate::cli::parameter_flags::{ParameterFlags, Selection, words};
use crate::cli::session::{Outcome, Session};
use crate::cli::values::integer;
use seedbank::answers::{Table, flags_of_list, plan_flags};
use seedbank::display::counted;
use seedbank::engine::evaluate::{
    ByFetches, ComparedList, Comparison, MethodsEvaluation, MethodsRequest, NewPages,
    NextEvaluation, NextRequest, NextRow,
};
use seedbank::engine::ingest::BatchId;
use seedbank::engine::plan::{Crawls, Goal, Measure, Parameter, PlanOptions};

const EXAMPLES: &str = "\
Examples:
  seedbank evaluate bank methods
  seedbank evaluate bank methods --seeds 20,100 --budget 1000,5000,20000
  seedbank evaluate bank methods --seeds 50 --budget 10000 --value-by pagerank --draws 10
  seedbank evaluate bank methods --plan sites --since 3
  seedbank evaluate bank methods --next
  seedbank evaluate bank methods --format csv > methods.csv";

/// Compare crawls from seeds for every goal, of every method and of common baselines
///
/// Each list is selected from everything that is known; `--draws` times with the links, clicks and
/// digests of a random tenth of the crawled pages held out; and, if the bank has enough history, with
/// the pages that were first crawled after an early batch held out. All lists are evaluated on the
/// complete state by simulated crawls (`--crawl`). By default these are the five of `panel`, and figures are their
/// geometric means. The output ends with the recommended plans.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct MethodsArgs {
    /// Numbers of seeds [default: 20,100, or with --next those of the plan]
    #[arg(long, value_name = "K,...", value_delimiter = ',',
        value_parser = integer::<u32>(1..=1_000_000))]
    seeds: Vec<u32>,
    /// Numbers of fetches [default: a tenth of, half of and twice the number of crawled pages, or with --next
    /// the budget of the plan]
    #[arg(long, value_name = "N,...", value_delimiter = ',',
        value_parser = integer::<u64>(1..=u64::MAX))]
    budget: Vec<u64>,
    /// Compare the lists of a plan with others by the new pages of the next crawls instead, and print the command
    /// that takes the best one
    ///
    /// After each of the last batches (at most 40), every list is chosen with what was known then,
    /// and crawls are replayed over what the next three batches found. In the closed loop, each
    /// list crawls after every batch and knows only what its own crawls found. The lists are those of the plan with
    /// `--revisit` off, auto and 2, 7 and 30 days; the pages whose last fetch is the longest ago; random pages; those with
    /// the most links; and learned values.
    #[arg(long, conflicts_with_all = ["draws", "goal", "crawl", "since"])]
    next: bool,
    /// Number of runs with pages held out; 0 holds out none
    #[arg(long, value_name = "N", default_value_t = MethodsRequest::default().draws,
        value_parser = integer::<u32>(0..=1000))]
    draws: u32,
    /// Also compare this plan, and use its values of pages; with --next, compare its lists [default with --next:
    /// default]
    #[arg(long, value_name = "NAME")]
    plan: Option<String>,
    /// Goal that decides which list is best, and what pages are worth [default: that of the plan, or
    /// coverage]
    #[arg(long, value_name = "GOAL", value_parser = goal())]
    goal: Option<Goal>,
    /// Crawl that lists are compared by, as for `refresh` [default: that of the plan, or panel]
    #[arg(long, value_name = "LIMITS")]
    crawl: Option<Crawls>,
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
        return next(bank, &request, args.format, session);
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
        crawl: args.crawl,
        value: args.value.into_options(),
        since: args.since,
    };
    let found = session.with_bank(bank, |bank| bank.evaluate_methods(&request))?;
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
    Ok(NextRequest {
        plan: args.plan.clone(),
        seeds: args.seeds.first().copied(),
        budget: args.budget.first().copied(),
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
            if matches!(found.measure, Measure::Crawled | Measure::Contents) {
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
    let held_out = |list: &ComparedList| list.held_out.as_ref().map(|of| (of.all, of.of_crawled));
    let since = |list: &ComparedList| list.since.as_ref().map(|of| of.all);
    let mut table = Table::of("lists", "", lists.iter().copied())
        .text("", "list", |list| &list.list)
        .estimate("", "crawled", 0, |list| list.known.all.crawled)
        .estimate("", "contents", 0, |list| list.known.all.contents)
        .estimate("", "% of PageRank", 2, |list| list.known.all.pagerank)
        .percent(2)
        .estimate("", "value", 0, |list| list.known.all.value);
    // Columns exist only for the runs that were made, so that the table stays narrow.
    if found.draws > 0 {
        table = table
            .estimate("", "held out: crawled", 0, |of| {
                held_out(of).map(|of| of.0.crawled)
            })
            .estimate("", "contents", 0, |of| held_out(of).map(|of| of.0.contents))
            .estimate("", "new", 0, |of| held_out(of).map(|of| of.0.new_pages))
            .estimate("", "first seen", 0, |of| {
                held_out(of).map(|of| of.0.discovered)
            })
            .estimate("", "% of PageRank", 2, |of| {
                held_out(of).map(|of| of.0.pagerank)
            })
            .percent(2)
            .estimate("", "value", 0, |of| held_out(of).map(|of| of.0.value))
            .estimate("", "crawled pages alone: new", 0, |of| {
                held_out(of).map(|of| of.1.new_pages)
            })
            .estimate("", "value", 0, |of| held_out(of).map(|of| of.1.value));
    } else {
        table = table.estimate("", "crawled pages alone: value", 0, |list| {
            list.known.of_crawled.value
        });
    }
    if found.since.is_some() {
        table = table
            .estimate("", "since: new", 0, |of| since(of).map(|of| of.new_pages))
            .estimate("", "value", 0, |of| since(of).map(|of| of.value));
    }
    table.done().aligned()
}

/// A run of the lists in a file: its name, and what crawls found in it.
type Run = (&'static str, fn(&ComparedList) -> Option<&ByFetches>);

const RUNS: [Run; 3] = [
    ("known", |list| Some(&list.known)),
    ("held_out", |list| list.held_out.as_ref()),
    ("since", |list| list.since.as_ref()),
];

fn csv(found: &MethodsEvaluation) -> String {
    let kind = |list: &ComparedList| {
        let kind = serde_json::to_value(list.kind).ok();
        let kind = kind.as_ref().and_then(serde_json::Value::as_str);
        kind.unwrap_or_default().to_owned()
    };
    let mut table = Table::of("lists", "", &found.comparison.lists)
        .field("list", |list| &list.list)
        .field("kind", kind)
        .field("seeds", |list| list.seeds)
        .field("listed", |list| list.listed)
        .field("budget", |list| list.budget);
    for (run, found) in RUNS {
        for (pages, only_crawled) in [("all", false), ("of_crawled", true)] {
            let of = |list: &ComparedList| {
                let both = found(list)?;
                Some(if only_crawled {
                    both.of_crawled
                } else {
                    both.all
                })
            };
            let name = |what: &str| format!("{run}_{pages}_{what}");
            table = table
                .estimate(name("fetched"), "", 0, |list| of(list).map(|of| of.fetched))
                .estimate(name("value"), "", 0, |list| of(list).map(|of| of.value))
                .estimate(name("crawled"), "", 0, |list| of(list).map(|of| of.crawled))
                .estimate(name("contents"), "", 0, |list| {
                    of(list).map(|of| of.contents)
                })
                .estimate(name("new_pages"), "", 0, |list| {
                    of(list).map(|of| of.new_pages)
                })
                .estimate(name("new_contents"), "", 0, |list| {
                    of(list).map(|of| of.new_contents)
                })
                .estimate(name("discovered"), "", 0, |list| {
                    of(list).map(|of| of.discovered)
                })
                .estimate(name("pagerank"), "", 0, |list| {
                    of(list).map(|of| of.pagerank)
                });
        }
    }
    table
        .estimate("times_best_baseline", "", 0, |list| {
            list.times_best_baseline
        })
        .estimate("times_best_value", "", 0, |list| list.times_best_value)
        .optional_field("above_baselines", |list| {
            list.above_baselines.map(|is| is.to_string())
        })
        .done()
        .csv()
}

pub(super) fn next(
    bank: &Path,
    request: &NextRequest,
    format: TableFormatArgs,
    session: &Session,
) -> Result<Outcome, CliError> {
    let found = session.with_bank(bank, |bank| bank.evaluate_next(request))?;
    let name = bank.display().to_string();
    format.print(
        &found,
        |found| next_text(found, &name),
        |found| next_table(found).csv(),
    )
}

fn next_text(found: &NextEvaluation, bank: &str) -> String {
    let mut text = state_line(&found.state);
    append_line!(
        text,
        "new pages of a crawl of {} from {}; means",
        counted(found.budget, "fetch"),
        counted(found.seeds, "seed")
    );
    append_line!(
        text,
        "replayed: chosen after each of {}, crawled over what the next three found",
        counted(found.batches.len() as u64, "batch")
    );
    append_line!(
        text,
        "crawled pages only: a crawl fetches only pages that the bank has fetched before",
    );
    append_line!(
        text,
        "closed loop: a crawl for each of {}, and each list knows only what its own crawls found\n",
        counted(found.batches_in_loop.len() as u64, "batch")
    );
    text.push_str(&next_table(found).aligned());
    text.push('\n');
    if let Some(plan) = &found.plan {
        append_line!(text, "* what plan {plan} does now");
    }
    let most = found.rows.iter().map(|row| row.later);
    let most = most.fold(0.0, f64::max);
    if most > 0.0 {
        append_line!(
            text,
            "following the recommendation of the batches before, from the sixth batch on: {:.1} new pages a crawl, {:.2} times \
             as many as the best list in hindsight",
            found.followed,
            found.followed / most
        );
    }
    text.push_str(&recommendation(found, bank));
    text
}

/// Says in one sentence which list to take, with the command.
fn recommendation(found: &NextEvaluation, bank: &str) -> String {
    let rows = &found.rows;
    let Some(best) = rows.iter().find(|row| row.list == found.recommended) else {
        return String::new();
    };
    let pages = |row: &NextRow| format!("{:.1} new pages a crawl", row.closed_loop.found);
    if best.is_plan {
        return format!(
            "keep the plan: in the closed loop it finds {}, and no other list much more\n",
            pages(best)
        );
    }
    let times = best.times_plan.map_or_else(String::new, |times| {
        let error = times.standard_error;
        let error = error.map_or_else(String::new, |error| format!(" ± {error:.2}"));
        format!(", {:.2}{error} times as many as the plan", times.mean)
    });
    let name = found.plan.as_deref().unwrap_or("default");
    format!(
        "take {}: in the closed loop it finds {}{times}: seedbank refresh {} {}\n",
        best.list,
        pages(best),
        for_shell(bank),
        flags_of_list(name, &best.parameters, best.replaces),
    )
}

/// Selects the new pages of one way to crawl.
type NewPagesOf = fn(&NextRow) -> NewPages;

fn next_table(found: &NextEvaluation) -> Table {
    let mut table = Table::of("lists", "", &found.rows)
        .text("list", "list", |row| &row.list)
        .text("", "plan", |row| if row.is_plan { "*" } else { "" })
        .field("is_plan", |row| row.is_plan.to_string())
        .field("seeds", |_| found.seeds)
        .field("budget", |_| found.budget);
    let runs: [(&str, &str, NewPagesOf); 3] = [
        ("replayed", "replayed", |row| row.replayed),
        ("replayed_crawled", "crawled pages only", |row| {
            row.replayed_crawled
        }),
        ("closed_loop", "closed loop", |row| row.closed_loop),
    ];
    for (name, title, run) in runs {
        table = table
            .number(format!("{name}_found"), format!("{title}: found"), |row| {
                run(row).found
            })
            .decimals(1)
            .number(format!("{name}_fetched"), "fetched", |row| run(row).fetched)
            .decimals(1);
    }
    let table = table.number("later_found", "from the sixth batch on", |row| row.later);
    table.decimals(1).done()
}
