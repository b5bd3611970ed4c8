//! `evaluate actual`: what crawlers fetched from each seed, beside what the lists promised.

use std::path::Path;

use clap::Args;
use seedbank::display::counted;
use seedbank::engine::evaluate::{ActualEvaluation, ActualRequest, PlanActual, SeedActual};
use seedbank::engine::ingest::BatchId;

use super::output::{TableFormatArgs, state_line};
use crate::cli::failure::CliError;
use crate::cli::session::{Outcome, Session};
use crate::cli::table::{aligned, comma_separated, or_nothing};
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
    let found = session.run(|watch| {
        session
            .bank(bank)
            .watched(watch.clone())
            .evaluate_actual(&request)
    })?;
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
        text.push_str(&table(&found.others, true, false));
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
    text.push_str(&table(&plan.seeds, plan.valued, plan.promises));
    text
}

/// Formats rows; with `promises`, they include what the lists promised.
fn table(seeds: &[SeedActual], valued: bool, promises: bool) -> String {
    let mut header = vec!["seed", "fetched", "new", "failed", "duplicates"];
    if valued {
        header.push("value/fetch");
    }
    if promises {
        header.extend(["promised: pages", "known", "value/page"]);
    }
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| format!("{v:.2}"));
    let row = |seed: &SeedActual| {
        let counts = seed.counts;
        let mut cells = vec![seed.url.clone()];
        let all = [counts.fetched, counts.new, counts.failed, counts.duplicates];
        cells.extend(all.map(|count| count.to_string()));
        if valued {
            cells.push(number(seed.value_per_fetch));
        }
        if promises {
            let of_lists = seed.promised;
            let count = |of: Option<u64>| of.map_or_else(|| "-".to_owned(), |n| n.to_string());
            cells.push(count(of_lists.map(|of| of.pages)));
            cells.push(count(of_lists.map(|of| of.known)));
            cells.push(number(of_lists.and_then(|of| of.value_per_page())));
        }
        cells
    };
    let rows: Vec<Vec<String>> = seeds.iter().map(row).collect();
    aligned(&header, &rows)
}

fn csv(found: &ActualEvaluation) -> String {
    let header = "plan,rank,seed,fetched,new,failed,duplicates,value,value_per_fetch,\
                  promised_pages,promised_known,promised_value,promised_value_per_page";
    let mut rows = Vec::new();
    for plan in &found.plans {
        let of_plan = plan.seeds.iter().map(|seed| row(&plan.plan, seed));
        rows.extend(of_plan);
    }
    rows.extend(found.others.iter().map(|seed| row("", seed)));
    // Neither a plan nor a seed.
    let nobody = found.unattributed;
    let mut last = vec![String::new(); 3];
    let counts = [nobody.fetched, nobody.new, nobody.failed];
    last.extend(counts.map(|count| count.to_string()));
    last.resize(13, String::new());
    rows.push(last);
    comma_separated(header, &rows)
}

fn row(plan: &str, seed: &SeedActual) -> Vec<String> {
    let promised = seed.promised;
    vec![
        plan.to_owned(),
        or_nothing(seed.rank),
        seed.url.clone(),
        seed.counts.fetched.to_string(),
        seed.counts.new.to_string(),
        seed.counts.failed.to_string(),
        seed.counts.duplicates.to_string(),
        or_nothing(seed.value),
        or_nothing(seed.value_per_fetch),
        or_nothing(promised.map(|of| of.pages)),
        or_nothing(promised.map(|of| of.known)),
        or_nothing(promised.map(|of| of.value)),
        or_nothing(promised.and_then(|of| of.value_per_page())),
    ]
}
