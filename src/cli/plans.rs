//! `plans`: lists plans, shows one of them, or deletes it.

use std::path::PathBuf;

use clap::builder::BoolishValueParser;
use clap::{Args, Subcommand};
use seedbank::answers::{
    PlanWithCommand, dated_verdict, plan_flags, site_limit_flag, verdict_ratio,
};
use seedbank::display::{counted, escape_controls};
use seedbank::engine::Bank;
use seedbank::engine::policy::Limit;
use seedbank::engine::query::PlanSummary;
use seedbank::engine::refresh::DeletedPlan;

use super::failure::CliError;
use super::session::{Outcome, Session};
use super::values::{Format, FormatArgs, time};

const EXAMPLES: &str = "\
Examples:
  seedbank plans bank                         all plans with parameters and last refresh
  seedbank plans bank show weekly             one plan, with the command that recreates it
  seedbank plans bank show weekly > weekly.txt
  seedbank plans bank delete weekly           delete the plan and its refreshes";

/// List the plans, show one, or delete one
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, disable_help_subcommand = true,
    subcommand_value_name = "list|show|delete")]
pub(super) struct PlansArgs {
    /// The bank
    bank: PathBuf,
    #[command(flatten)]
    format: FormatArgs,
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    List(ListArgs),
    Show(ShowArgs),
    Delete(DeleteArgs),
}

const LIST: &str = "\
Examples:
  seedbank plans bank list --format json";

/// Print all plans with parameters and last refresh; the default action
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

/// Print one plan, with the command and the plan file that recreate it
#[derive(Debug, Args)]
#[command(after_help = SHOW)]
struct ShowArgs {
    /// Name of the plan
    plan: String,
    #[command(flatten)]
    format: FormatArgs,
}

const DELETE: &str = "\
Examples:
  seedbank plans bank delete weekly";

/// Delete a plan, its refreshes, and everything stored for them
///
/// Other plans are unchanged. The numbers of the refreshes are not reused.
#[derive(Debug, Args)]
#[command(after_help = DELETE)]
struct DeleteArgs {
    /// Name of the plan
    plan: String,
    /// Wait while another process writes to the bank
    #[arg(long, value_parser = BoolishValueParser::new(),
        env = "SEEDBANK_WAIT")]
    wait: bool,
    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn run(args: &PlansArgs, session: &Session) -> Result<Outcome, CliError> {
    let bank = session.bank(&args.bank);
    // --format may come before or after the action.
    let format = |inner: &FormatArgs| match inner.format {
        Format::Text => args.format.format,
        Format::Json => Format::Json,
    };
    match &args.action {
        None => list(&bank, args.format.format, session),
        Some(Action::List(list_args)) => list(&bank, format(&list_args.format), session),
        Some(Action::Show(show_args)) => show(&bank, &show_args.plan, format(&show_args.format)),
        Some(Action::Delete(delete_args)) => {
            delete(&bank, delete_args, format(&delete_args.format), session)
        }
    }
}

fn list(bank: &Bank, format: Format, session: &Session) -> Result<Outcome, CliError> {
    let plans = bank.plans()?;
    format.print(&plans, |plans| plans.plans.iter().map(line).collect())?;
    if plans.plans.is_empty() {
        session.note("no plans yet; `seedbank refresh` creates one");
    }
    Ok(Outcome::Done)
}

fn show(bank: &Bank, plan: &str, format: Format) -> Result<Outcome, CliError> {
    let detail = bank.plan(plan)?;
    let shown = PlanWithCommand::new(detail, &bank.path().to_string_lossy());
    format.print(&shown, text)?;
    Ok(Outcome::Done)
}

fn delete(
    bank: &Bank,
    args: &DeleteArgs,
    format: Format,
    session: &Session,
) -> Result<Outcome, CliError> {
    let deleted = session.run(|watch| {
        bank.watched(watch.clone())
            .delete_plan(&args.plan, args.wait)
    })?;
    format.print(&deleted, deleted_text)?;
    Ok(Outcome::Done)
}

fn deleted_text(deleted: &DeletedPlan) -> String {
    format!(
        "deleted plan {} and {}: {}\n",
        deleted.deleted,
        counted(deleted.refreshes.len(), "refresh"),
        numbers(&deleted.refreshes)
    )
}

fn numbers(refreshes: &[u32]) -> String {
    let numbers: Vec<String> = refreshes.iter().map(ToString::to_string).collect();
    numbers.join(", ")
}

/// Formats a plan as one line.
fn line(plan: &PlanSummary) -> String {
    format!(
        "{}: {}, {}{}; {}\n",
        title(plan),
        last(plan),
        counted(plan.last.seeds, "seed"),
        plan.parameters
            .judged
            .as_ref()
            .map_or_else(String::new, |verdict| format!(
                ", {}",
                verdict_ratio(verdict)
            )),
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

/// Formats the name, goal, method and scope of a plan.
fn title(plan: &PlanSummary) -> String {
    let over = match plan.parameters.scope {
        Some(seedbank::engine::plan::Scope::Web) => " over the web",
        _ => "",
    };
    match plan.parameters.goal {
        Some(goal) => format!("{} ({}: {}{over})", plan.plan, goal.name(), plan.method),
        None => format!("{} ({}{over})", plan.plan, plan.method),
    }
}

/// Formats the number and time of the last refresh.
fn last(plan: &PlanSummary) -> String {
    let last = &plan.last;
    format!(
        "refresh {} of {}, after batch {}",
        last.refresh,
        time(last.at),
        last.batch
    )
}

fn text(shown: &PlanWithCommand) -> String {
    let plan = &shown.detail.summary;
    let mut text = format!(
        "plan {}\n  last {}: {}\n  {} stored: {}\n",
        title(plan),
        last(plan),
        counted(plan.last.seeds, "seed"),
        counted(plan.refreshes, "refresh"),
        numbers(&shown.detail.stored_refreshes)
    );
    if let Some(tuned) = &plan.parameters.tuned {
        append_line!(
            text,
            "  tuned after batch {} for its budget: --hops {} --fetch-cost {} --value-known {}{}; a new plan is tuned again",
            tuned.batch,
            plan.parameters.hops.unwrap_or_default(),
            plan.parameters.fetch_cost.unwrap_or_default(),
            plan.parameters.value_known.unwrap_or_default(),
            site_limit_flag(plan.parameters.max_per_site.and_then(Limit::number))
        );
    }
    if let Some(verdict) = &plan.parameters.judged {
        append_line!(text, "  the plan {}", dated_verdict(verdict));
    }
    if let Some(command) = &shown.command {
        append_line!(
            text,
            "command that recreates it:\n  {}",
            escape_controls(command)
        );
    }
    text.push_str("plan file for --plan-file (other parameters have their defaults):\n");
    for line in shown.detail.plan_file.lines() {
        append_line!(text, "  {}", escape_controls(line));
    }
    text
}
