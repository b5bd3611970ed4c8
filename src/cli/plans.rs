//! `plans`: which plans there are, one of them whole, and its end.

use std::fmt::Write;
use std::path::PathBuf;

use clap::builder::BoolishValueParser;
use clap::{Args, Subcommand};
use seedbank::engine::{Bank, DeletedPlan, PlanSummary};
use seedbank::render::{PlanWithCommand, plan_flags};
use seedbank::shown::{counted, plain};

use super::failure::CliError;
use super::output::{print, print_json};
use super::session::{Outcome, Session};
use super::values::{Format, FormatArgs, time};

const EXAMPLES: &str = "\
Examples:
  seedbank plans bank                         every plan, its parameters and its last refresh
  seedbank plans bank show weekly             one plan whole, and how to make it again
  seedbank plans bank show weekly > weekly.txt
  seedbank plans bank delete weekly           the plan, its refreshes and all that is kept of them";

/// List the plans, show one whole, or delete one
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, disable_help_subcommand = true)]
pub(super) struct PlansArgs {
    /// The bank
    bank: PathBuf,
    #[command(flatten)]
    format: FormatArgs,
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Subcommand)]
enum What {
    List(ListArgs),
    Show(ShowArgs),
    Delete(DeleteArgs),
}

const LIST: &str = "\
Examples:
  seedbank plans bank list --format json";

/// Print every plan, its parameters and its last refresh; so does `plans` alone
#[derive(Debug, Args)]
#[command(after_help = LIST)]
struct ListArgs {
    #[command(flatten)]
    format: FormatArgs,
}

const SHOW: &str = "\
Examples:
  seedbank plans bank show weekly
  seedbank plans bank show weekly --format json | jq -r .plan_file > weekly.toml";

/// Print one plan whole, with the command and the plan file that make it again
#[derive(Debug, Args)]
#[command(after_help = SHOW)]
struct ShowArgs {
    /// The plan
    plan: String,
    #[command(flatten)]
    format: FormatArgs,
}

const DELETE: &str = "\
Examples:
  seedbank plans bank delete weekly";

/// Delete a plan, its refreshes and all that is kept of them
///
/// Other plans stay as they are. The numbers of the refreshes are not given out again.
#[derive(Debug, Args)]
#[command(after_help = DELETE)]
struct DeleteArgs {
    /// The plan
    plan: String,
    /// Wait while another process writes to the bank
    #[arg(long, value_parser = BoolishValueParser::new(),
        env = "SEEDBANK_WAIT")]
    wait: bool,
    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn run(args: &PlansArgs, session: &Session) -> Result<Outcome, CliError> {
    let bank = Bank::at(&args.bank);
    // The format may stand before the word or after it.
    let format = |of: &FormatArgs| match of.format {
        Format::Text => args.format.format,
        Format::Json => Format::Json,
    };
    match &args.what {
        None => list(&bank, args.format.format, session),
        Some(What::List(of)) => list(&bank, format(&of.format), session),
        Some(What::Show(of)) => show(&bank, &of.plan, format(&of.format)),
        Some(What::Delete(of)) => delete(&bank, of, format(&of.format), session),
    }
}

fn list(bank: &Bank, format: Format, session: &Session) -> Result<Outcome, CliError> {
    let plans = bank.plans()?;
    match format {
        Format::Json => print_json(&plans)?,
        Format::Text => print(&plans.plans.iter().map(line).collect::<String>())?,
    }
    if plans.plans.is_empty() {
        session.note("no plans yet; `seedbank refresh` makes one");
    }
    Ok(Outcome::Done)
}

fn show(bank: &Bank, plan: &str, format: Format) -> Result<Outcome, CliError> {
    let detail = bank.plan(plan)?;
    let shown = PlanWithCommand::new(&detail, &bank.path().to_string_lossy());
    match format {
        Format::Json => print_json(&shown)?,
        Format::Text => print(&text(&shown))?,
    }
    Ok(Outcome::Done)
}

fn delete(
    bank: &Bank,
    of: &DeleteArgs,
    format: Format,
    session: &Session,
) -> Result<Outcome, CliError> {
    let watch = session.watch()?;
    let deleted = bank.delete_plan(&of.plan, of.wait, &watch);
    drop(watch);
    let deleted = deleted?;
    match format {
        Format::Json => print_json(&deleted)?,
        Format::Text => print(&ended(&deleted))?,
    }
    Ok(Outcome::Done)
}

fn ended(deleted: &DeletedPlan) -> String {
    format!(
        "deleted plan {} and {}: {}\n",
        deleted.deleted,
        counted(deleted.refreshes.len(), "refresh"),
        numbers(&deleted.refreshes)
    )
}

fn numbers(of: &[u32]) -> String {
    let of: Vec<String> = of.iter().map(ToString::to_string).collect();
    of.join(", ")
}

/// A plan on one line.
fn line(plan: &PlanSummary) -> String {
    format!(
        "{}: {}, {}; {}\n",
        named(plan),
        last(plan),
        counted(plan.last.seeds, "seed"),
        plan_flags(&plan.parameters).map_or_else(
            || "a plan file".to_owned(),
            |flags| {
                if flags.is_empty() {
                    "all defaults".to_owned()
                } else {
                    flags.join(" ")
                }
            }
        )
    )
}

/// A plan's name and its method.
fn named(plan: &PlanSummary) -> String {
    let over = match plan.parameters.scope {
        Some(seedbank::engine::Scope::Web) => " over the web",
        _ => "",
    };
    format!("{} ({}{over})", plan.plan, plan.method)
}

/// A plan's last refresh.
fn last(plan: &PlanSummary) -> String {
    let last = &plan.last;
    let at = time(last.at);
    format!(
        "refresh {} of {at}, after batch {}",
        last.refresh, last.batch
    )
}

fn text(shown: &PlanWithCommand<'_>) -> String {
    let plan = &shown.detail.summary;
    let mut text = format!(
        "plan {}\n  last {}: {}\n  {} kept: {}\n",
        named(plan),
        last(plan),
        counted(plan.last.seeds, "seed"),
        counted(plan.refreshes, "refresh"),
        numbers(&shown.detail.stored_refreshes)
    );
    if let Some(tuned) = &plan.parameters.tuned {
        let price = plan.parameters.fetch_cost.unwrap_or_default();
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "  for its budget it took hops {} and fetch-cost {price}, after batch {}; a new plan tries \
             them anew",
            plan.parameters.hops.unwrap_or_default(),
            tuned.batch
        );
    }
    if let Some(command) = &shown.command {
        let _ = writeln!(
            text,
            "the command that makes it again:\n  {}",
            plain(command)
        );
    }
    text.push_str("as a plan file, for --plan-file; what it does not say has its default:\n");
    for line in shown.detail.plan_file.lines() {
        let _ = writeln!(text, "  {}", plain(line));
    }
    text
}
