//! `check`: checks a bank for damage.

use std::path::PathBuf;

use clap::Args;
use schemars::JsonSchema;
use seedbank::display::{counted, escape_controls};
use seedbank::engine::cluster::cluster_parts;
use seedbank::engine::maintenance::{BankCheck, StateCheck, Verdict};
use serde::Serialize;

use super::failure::CliError;
use super::session::{Outcome, Session};
use super::values::FormatArgs;

const EXAMPLES: &str = "\
Examples:
  seedbank check bank                  exit status 0: no damage; 4: damage found
  seedbank check bank --format json

`check` changes nothing and needs only read access. While another process writes to the bank, only
the published state is checked.";

/// Check every table of a bank for consistency and report damage
///
/// Checks both states of the bank: the live state, to which the next batch is applied, and the
/// published state, which readers see. Reports which of them are intact.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CheckArgs {
    /// The bank
    bank: PathBuf,
    #[command(flatten)]
    format: FormatArgs,
}

/// The result of `check --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CheckResult<'a> {
    /// Whether no damage was found.
    clean: bool,
    /// The number of findings: in tables, in states that are damaged as a whole, and in files.
    count: u64,
    #[serde(flatten)]
    check: &'a BankCheck,
}

pub(super) fn run(args: &CheckArgs, session: &Session) -> Result<Outcome, CliError> {
    let check = session.run(|watch| session.bank(&args.bank).watched(watch.clone()).check())?;
    let clean = check.is_clean();
    let result = CheckResult {
        clean,
        count: check.count(),
        check: &check,
    };
    args.format.format.print(&result, |_| text(&check))?;
    if clean {
        return Ok(Outcome::Done);
    }
    let is_cluster = matches!(cluster_parts(&args.bank), Ok(Some(_)));
    session.note(if is_cluster {
        hint_for_parts(&check)
    } else {
        hint(&check)
    });
    Ok(Outcome::Findings)
}

/// Advises what to do about the findings.
fn hint(check: &BankCheck) -> &'static str {
    match (check.live.verdict, check.published.verdict) {
        (Verdict::Unseen, _) => {
            "hint: run it again when no other process writes to the bank; then `seedbank repair` repairs what it can"
        }
        (Verdict::Damaged, Verdict::Damaged) => {
            "hint: `seedbank restore` restores a backup; without one, create a new bank and ingest a snapshot"
        }
        (Verdict::Damaged, _) => {
            "hint: `seedbank repair` rebuilds the live state from the published one and moves the damaged one aside"
        }
        (_, Verdict::Damaged) => {
            "hint: `seedbank repair` publishes the live state again; nothing is lost"
        }
        _ => "hint: `seedbank repair` rewrites the damaged files; nothing is lost",
    }
}

/// Advises what to do about the findings in a cluster bank.
fn hint_for_parts(check: &BankCheck) -> &'static str {
    let is_damaged = |state: &StateCheck| state.verdict == Verdict::Damaged;
    if is_damaged(&check.live) || is_damaged(&check.published) || check.image.what.is_none() {
        "hint: `seedbank restore` restores a backup; `repair` does not support cluster banks"
    } else {
        "hint: remove the folder `image` of the bank, which the next command writes again"
    }
}

/// Formats the findings as text.
pub(super) fn text(check: &BankCheck) -> String {
    let mut text = String::new();
    for finding in &check.files {
        append_line!(
            text,
            "file {}: {}",
            finding.file,
            escape_controls(&finding.what)
        );
    }
    let mut entries = 0;
    let mut tables = 0;
    for (name, state) in [("live", &check.live), ("published", &check.published)] {
        let is_same = check.same_files && name == "live";
        if !is_same {
            findings(name, state, &mut text);
            entries += state.walk.entries.values().sum::<u64>();
            tables += state.walk.entries.len();
        }
        append_line!(text, "{name} state: {}", describe_state(state, is_same));
    }
    match (&check.image.what, check.image.pages) {
        (Some(what), _) => append_line!(text, "graph image: {what}"),
        (None, 0) => {}
        (None, pages) => {
            let pages = counted(pages, "page");
            append_line!(text, "graph image: {pages} compared with the tables");
        }
    }
    let found = match check.count() {
        0 => "no problems found".to_owned(),
        1 => "1 problem found".to_owned(),
        count => format!("{count} problems found"),
    };
    let (entries, tables) = (counted(entries, "entry"), counted(tables, "table"));
    append_line!(text, "{entries} in {tables}: {found}");
    text
}

fn findings(name: &str, state: &StateCheck, text: &mut String) {
    let walk = &state.walk;
    for finding in &walk.findings {
        append_line!(
            text,
            "{name} state, table {}, key {}: {}",
            finding.table,
            escape_controls(&finding.key),
            escape_controls(&finding.what)
        );
    }
    if walk.count > walk.findings.len() as u64 {
        append_line!(
            text,
            "{} problems in the {name} state; the first {} are above",
            walk.count,
            walk.findings.len()
        );
    }
}

/// Describes the verdict on a state.
fn describe_state(state: &StateCheck, is_same: bool) -> String {
    let mut text = match state.verdict {
        Verdict::Good => "good",
        Verdict::Damaged => "damaged",
        Verdict::Unfinished => "unfinished",
        Verdict::Unseen => "not checked",
    }
    .to_owned();
    if let (Some(batch), Some(refresh)) = (state.batch, state.refresh) {
        append!(text, ", batch {batch}, refresh {refresh}");
    }
    if is_same {
        text.push_str(", same files as the published state");
    }
    if let Some(why) = &state.why {
        append!(text, ": {}", escape_controls(why));
    }
    text
}
