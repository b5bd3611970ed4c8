//! `evaluate actual`: what crawlers fetched from each seed, beside what the lists promised.

use std::path::Path;

use clap::Args;
use seedbank::answers::{Cell, Table};
use seedbank::display::counted;
use seedbank::engine::evaluate::{ActualEvaluation, ActualRequest, PlanActual, SeedActual};
use seedbank::engine::ingest::BatchId;
use seedbank::engine::query::SeedCounts;

use super::output::{TableFormatArgs, state_line};
use crate::cli::failure::CliError;
use crate::cli::session::{Outcome, Session};
use crate::cli::values::integer;

const EXAMPLES: &str = "\
Examples:
  seedbank evaluate bank actual
  seedbank evaluate bank actual --plan default --since 12
  seedbank evaluate bank actual --format csv > actual.csv";

/// Count what crawlers fetched from each seed, beside what the lists promised
///
/// Counts the fetches of ingested batches whose records name the seed of the crawl (`seed`), as
/// reported by the crawler; nothing is attributed by links. For each plan, shows the seeds of its
/// lists that were current when the batches were ingested, with the pages and the value that each
/// list promised (lists by cores promise nothing). Values are sums over fetches of pages that are
/// crawled today, without duplicates, by the weights of the plan.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ActualArgs {
    /// Show only this plan, and the seeds that are on no plan's list
    #[arg(long, value_name = "NAME")]
    plan: Option<String>,
    /// Count only the batches from this one on
    #[arg(long, value_name = "BATCH", value_parser = integer::<BatchId>(1..=BatchId::MAX))]
    since: Option<BatchId>,
    #[command(flatten)]
    format: TableFormatArgs,
}

pub(super) fn run(bank: &Path, args: &ActualArgs, session: &Session) -> Result<Outcome, CliError> {
    let request = ActualRequest {
        plan: args.plan.clone(),
        since: args.since,
    };
    let found = session.with_bank(bank, |bank| bank.evaluate_actual(&request))?;
    args.format.print(&found, text, csv)
}

fn text(found: &ActualEvaluation) -> String {
    let mut text = state_line(&found.state);
    let [Some(first), Some(last)] = [found.batches.first(), found.batches.last()] else {
        append_line!(text, "no batch contains fetches");
        return text;
    };
    append_line!(
        text,
        "fetches of {}, from {first} to {last}",
        counted(found.batches.len() as u64, "batch")
    );
    for plan in &found.plans {
        text.push('\n');
        text.push_str(&plan_text(plan));
    }
    if !found.others.is_empty() {
        append_line!(text, "\nseeds on no plan's list");
        text.push_str(&seed_text(&found.others, true, false));
    }
    let nobody = found.unattributed;
    append_line!(
        text,
        "\nwithout a seed: {} fetched, {} new, {} failed",
        nobody.fetched,
        nobody.new,
        nobody.failed
    );
    if found.forgotten.fetches() > 0 {
        append_line!(
            text,
            "from forgotten seeds: {} fetched, {} new, {} failed",
            found.forgotten.fetched,
            found.forgotten.new,
            found.forgotten.failed
        );
    }
    text
}

fn plan_text(plan: &PlanActual) -> String {
    let lists: Vec<String> = plan.refreshes.iter().map(ToString::to_string).collect();
    if lists.is_empty() {
        return format!(
            "plan {}: no list was made before these batches\n",
            plan.plan
        );
    }
    let refreshes = if lists.len() == 1 {
        "refresh"
    } else {
        "refreshes"
    };
    let mut text = format!("plan {}, {refreshes} {}\n", plan.plan, lists.join(", "));
    if !plan.promises {
        text.push_str("lists by cores promise no pages\n");
    }
    if !plan.valued {
        text.push_str("the plan values pages by PageRank, so fetches have no values here\n");
    }
    text.push_str(&seed_text(&plan.seeds, plan.valued, plan.promises));
    text
}

/// A seed of a plan, and the numbers of fetches: of pages, of new ones, failed, and of duplicates.
type Row<'a> = (&'a str, Option<&'a SeedActual>, [Option<u64>; 4]);

fn row<'a>(plan: &'a str, seed: &'a SeedActual) -> Row<'a> {
    let SeedCounts {
        fetched,
        new,
        failed,
        duplicates,
        ..
    } = seed.counts;
    (
        plan,
        Some(seed),
        [fetched, new, failed, duplicates].map(Some),
    )
}

/// Returns what crawlers fetched from seeds, beside what the lists promised.
fn table<'a>(rows: impl IntoIterator<Item = Row<'a>>) -> Table {
    let promised = |seed: Option<&SeedActual>| seed.and_then(|seed| seed.promised);
    Table::of("seeds", "", rows)
        .field("plan", |(plan, ..)| plan)
        .optional_field("rank", |(_, seed, _)| seed.and_then(|seed| seed.rank))
        .text("seed", "seed", |(_, seed, _)| {
            Cell::or_none(seed.map(|seed| &seed.url))
        })
        .optional("fetched", "fetched", |(.., counts)| counts[0])
        .optional("new", "new", |(.., counts)| counts[1])
        .optional("failed", "failed", |(.., counts)| counts[2])
        .optional("duplicates", "duplicates", |(.., counts)| counts[3])
        .optional_field("value", |(_, seed, _)| seed.and_then(|seed| seed.value))
        .optional("value_per_fetch", "value/fetch", |(_, seed, _)| {
            seed.and_then(|seed| seed.value_per_fetch)
        })
        .decimals(2)
        .optional("promised_pages", "promised: pages", |(_, seed, _)| {
            promised(seed).map(|of| of.pages)
        })
        .optional("promised_known", "known", |(_, seed, _)| {
            promised(seed).map(|of| of.known)
        })
        .optional_field("promised_value", |(_, seed, _)| {
            promised(seed).map(|of| of.value)
        })
        .optional("promised_value_per_page", "value/page", |(_, seed, _)| {
            promised(seed).and_then(|of| of.value_per_page())
        })
        .decimals(2)
        .done()
}

/// Formats seeds as text; with `promises`, with what the lists promised.
fn seed_text(seeds: &[SeedActual], valued: bool, promises: bool) -> String {
    let mut omitted = Vec::new();
    if !valued {
        omitted.push("value_per_fetch");
    }
    if !promises {
        omitted.extend([
            "promised_pages",
            "promised_known",
            "promised_value_per_page",
        ]);
    }
    let rows = seeds.iter().map(|seed| row("", seed));
    table(rows).without(&omitted).aligned()
}

fn csv(found: &ActualEvaluation) -> String {
    let plans = found.plans.iter();
    let of_plans = plans.flat_map(|plan| plan.seeds.iter().map(move |seed| row(&plan.plan, seed)));
    let others = found.others.iter().map(|seed| row("", seed));
    // Neither a plan nor a seed.
    let nobody = found.unattributed;
    let counts = [
        Some(nobody.fetched),
        Some(nobody.new),
        Some(nobody.failed),
        None,
    ];
    table(of_plans.chain(others).chain([("", None, counts)])).csv()
}
