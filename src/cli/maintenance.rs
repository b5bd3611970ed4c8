//! `check`, `repair`, `compact`, `undo`, `forget`: what keeps a bank intact and small, and takes data out of it.

use std::path::PathBuf;

use clap::Args;
use clap::builder::BoolishValueParser;
use schemars::JsonSchema;
use serde::Serialize;

use super::failure::CliError;
use super::session::{Outcome, Session};
use super::values::{self, FormatArgs, human_bytes};

use seedbank::display::{counted, escape_controls};
use seedbank::engine::cluster::cluster_parts;
use seedbank::engine::ingest::{ForgetReport, ForgetRequest, UndoReport};
use seedbank::engine::maintenance::{
    BankCheck, CompactReport, Lost, RepairReport, RepairedPart, StateCheck, Verdict,
};
use seedbank::engine::query::PageLimits;
use seedbank::engine::{Bank, EngineError};

const CHECK_EXAMPLES: &str = "\
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
#[command(after_help = CHECK_EXAMPLES)]
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

pub(super) fn check(args: &CheckArgs, session: &Session) -> Result<Outcome, CliError> {
    let check = session.with_bank(&args.bank, Bank::check)?;
    let clean = check.is_clean();
    let result = CheckResult {
        clean,
        count: check.count(),
        check: &check,
    };
    args.format.format.print(&result, |_| check_text(&check))?;
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
const fn hint_for_parts(check: &BankCheck) -> &'static str {
    match check.live.verdict {
        Verdict::Unseen => {
            "hint: run it again in one process that has all parts, when no other writes to the bank; then `seedbank repair` repairs what it can"
        }
        _ => {
            "hint: `seedbank repair` brings all parts to the latest state that is intact in all of them, and reports which changes are lost; if no such state exists, `seedbank restore` restores a backup"
        }
    }
}

/// Formats the findings as text.
pub(super) fn check_text(check: &BankCheck) -> String {
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

const REPAIR_EXAMPLES: &str = "\
Examples:
  seedbank repair bank                 after `seedbank check bank` has found damage

Exit status 0: the bank is intact and nothing was lost; 4: something was lost or could not be repaired,
and the output says what. Replaced files are moved to the bank's folder `damaged`; delete them when you
no longer need them.";

/// Repair a damaged bank as far as possible without loss, and report any loss
///
/// A bank has two states, live and published. If one of them is damaged, it is replaced by the other. All
/// parts of a cluster bank get the latest state that is intact in all of them. Replaced files are moved to
/// another folder, and nothing is deleted. An intact bank is not changed, and neither is a bank with both
/// states damaged.
#[derive(Debug, Args)]
#[command(after_help = REPAIR_EXAMPLES)]
pub(super) struct RepairArgs {
    /// The bank
    bank: PathBuf,
    /// Wait while another process writes to the bank
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn repair(args: &RepairArgs, session: &Session) -> Result<Outcome, CliError> {
    let report = session.with_bank(&args.bank, |bank| bank.repair(args.wait))?;
    let is_cluster = matches!(cluster_parts(&args.bank), Ok(Some(_)));
    args.format
        .format
        .print(&report, |report| repair_text(report, is_cluster))?;
    if report.usable && report.certain && report.lost.is_none() {
        return Ok(Outcome::Done);
    }
    // Without an intact state nothing was repaired, so the list of repairs is empty too.
    if !report.usable {
        session.note(
            "hint: `seedbank restore` restores a backup; without one, create a new bank and ingest a snapshot",
        );
    }
    Ok(Outcome::Findings)
}

/// Formats the report as text.
fn repair_text(report: &RepairReport, is_cluster: bool) -> String {
    let mut text = check_text(&report.found);
    if !report.usable {
        text.push_str(if is_cluster {
            "no state is intact in all parts: nothing can be repaired\n"
        } else {
            "both states are damaged: neither can be repaired from the other\n"
        });
    } else if report.repaired.is_empty() && report.parts.is_empty() {
        text.push_str("nothing had to be repaired\n");
    }
    replaced("", &report.repaired, report.moved_to.as_deref(), &mut text);
    for part in &report.parts {
        let prefix = format!("part {}: ", part.part);
        replaced(&prefix, &part.repaired, part.moved_to.as_deref(), &mut text);
    }
    if report.abandoned_load {
        text.push_str(
            "a bulk load was interrupted and could not be finished; its batch was never acknowledged, so run the command again\n",
        );
    }
    // Say explicitly that nothing is lost, but only if the acknowledged state is known.
    match report.lost {
        Some(Lost { batches, refreshes }) => {
            for (what, lost) in [("batch", batches), ("refresh", refreshes)] {
                match lost {
                    Some((first, last)) if first == last => {
                        append_line!(text, "lost: {what} {first}");
                    }
                    Some((first, last)) => {
                        append_line!(text, "lost: {what} {first} to {last}");
                    }
                    None => {}
                }
            }
        }
        None if !report.usable => {}
        None if report.certain => text.push_str("nothing is lost\n"),
        None => text.push_str(
            "the record of acknowledged changes cannot be read, so later changes may be lost\n",
        ),
    }
    text
}

/// Appends what was replaced in a bank or in a part of it.
fn replaced(prefix: &str, repaired: &[RepairedPart], moved_to: Option<&str>, text: &mut String) {
    for repaired in repaired {
        let what = match repaired {
            RepairedPart::Marker => "the marker file SEEDBANK was rewritten",
            RepairedPart::Acknowledgement => "ACKNOWLEDGED was rewritten",
            RepairedPart::Locks => "lock files that were not regular files were moved aside",
            RepairedPart::LivePointer => "live/CURRENT was rewritten",
            RepairedPart::Live => "the live state was rebuilt from the published one",
            RepairedPart::Published => "the live state was published again",
            RepairedPart::Image => "the graph image was removed",
        };
        append_line!(text, "{prefix}{what}");
    }
    if let Some(folder) = moved_to {
        append_line!(
            text,
            "{prefix}replaced files are in the bank's folder {folder}"
        );
    }
}

const COMPACT_EXAMPLES: &str = "\
Examples:
  seedbank compact bank
  seedbank compact bank --wait     first wait until another process has finished writing

`seedbank status bank --sizes` shows which tables are not compacted. RocksDB merges files by itself as
batches arrive, so compaction pays only where a bank must be as small as possible: before it is
copied, or after much was deleted. All parts of a cluster bank must be on this machine.";

/// Merge the files of a bank to free the space of overwritten and deleted data
///
/// Reads and writes the whole bank once. Readers are not blocked, but old files stay on disk while they
/// are being read, so compaction needs as much free space as the bank occupies; with less, it does not
/// start. If it is stopped or killed, the bank is unchanged and the same command can be run again.
#[derive(Debug, Args)]
#[command(after_help = COMPACT_EXAMPLES)]
pub(super) struct CompactArgs {
    /// The bank
    bank: PathBuf,
    /// Wait while another process writes to the bank
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn compact(args: &CompactArgs, session: &Session) -> Result<Outcome, CliError> {
    let report = session.with_bank(&args.bank, |bank| bank.compact(args.wait))?;
    args.format.format.print(&report, compact_text)?;
    Ok(Outcome::Done)
}

/// Formats the report as text.
fn compact_text(report: &CompactReport) -> String {
    let mut text = format!(
        "{}, {}; there were {}, {}; in {:.2} s\n",
        counted(report.files, "file"),
        human_bytes(report.bytes),
        counted(report.files_before, "file"),
        human_bytes(report.bytes_before),
        report.seconds
    );
    if report.held_bytes > 0 {
        append_line!(
            text,
            "{} of old files are still being read; the next command that writes after that removes them",
            human_bytes(report.held_bytes)
        );
    }
    text
}

const UNDO_EXAMPLES: &str = "\
Examples:
  seedbank undo bank                   restores the state before the last batch
  seedbank ingest bank day-7.jsonl     ingests another batch, or the same one again
  seedbank undo bank --refused         dismisses the last refused batch: status and metrics show it no longer

The data needed for an undo is stored for the last batch only (`status --sizes` shows its size), so two
undos in a row are not possible. A batch that an earlier version stored cannot be taken back.";

/// Take back the last batch
///
/// Restores the pages, links and attributes from before the batch. The history keeps the batch and records
/// the undo as a batch of its own, so batch numbers are never reused. Refreshes made after the batch stay;
/// the next refresh gives the same result as one from scratch.
#[derive(Debug, Args)]
#[command(after_help = UNDO_EXAMPLES)]
pub(super) struct UndoArgs {
    /// The bank
    bank: PathBuf,
    /// Forget the last refused batch instead, which changed nothing
    ///
    /// Exits with status 5 if the bank remembers no refused batch.
    #[arg(long)]
    refused: bool,
    /// Memory for sorting; larger data is sorted in files in the bank's folder
    #[arg(long, value_name = "SIZE", default_value = "512M", value_parser = values::memory,
        env = "SEEDBANK_MEMORY")]
    memory: usize,
    /// Wait while another process writes to the bank
    #[arg(long, value_parser = BoolishValueParser::new(), env = "SEEDBANK_WAIT")]
    wait: bool,
    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn undo(args: &UndoArgs, session: &Session) -> Result<Outcome, CliError> {
    if args.refused {
        let refused = session.with_bank(&args.bank, |bank| bank.dismiss_refused(args.wait))?;
        args.format
            .format
            .print(&refused, |refused| match refused {
                Some(refused) => format!(
                    "the refused batch {} is dismissed\n",
                    escape_controls(&refused.name)
                ),
                None => "no batch was refused\n".to_owned(),
            })?;
        return Ok(match refused {
            Some(_) => Outcome::Done,
            None => Outcome::Nothing,
        });
    }
    let report = session.with_bank(&args.bank, |bank| bank.undo(args.wait, args.memory))?;
    args.format.format.print(&report, undo_text)?;
    Ok(Outcome::Done)
}

/// Formats the report as text.
fn undo_text(report: &UndoReport) -> String {
    let counts = &report.counts;
    format!(
        "batch {} ({}) is taken back, as batch {}, {:.2} s\n\
         pages: {} changed, {} crawled again, {} gone again\n\
         links: {} added, {} removed\n",
        report.undone,
        escape_controls(&report.name),
        report.batch,
        report.seconds,
        counted(counts.changed, "page"),
        counts.became_crawled,
        counts.became_gone,
        counts.links_added,
        counts.links_removed,
    )
}

const FORGET_EXAMPLES: &str = "\
Examples:
  seedbank forget bank https://example.org/private      a page
  seedbank forget bank example.org example.net          whole sites
  seedbank forget bank example.org --yes                a site of more than 100 pages
  seedbank forget bank https://example.org/x --block    also ignored in later batches
  seedbank compact bank                                 also removed from the files on disk

Backups and other copies of the bank still contain what was forgotten; make new ones. `restore --blocks-of BANK`
removes from a restored backup what BANK blocks.";

/// Maximum number of pages that are forgotten without --yes.
const MAX_UNCONFIRMED: u64 = 100;

/// Remove pages or sites for good, for example after a takedown request
///
/// Removes their records, attributes, and the links from and to them, and their names from the lists of
/// plans, the evidence of refreshes and the lists of bad records. Seed lists omit them at once; refresh
/// the plans to select other seeds instead. Pages that may be copies, by scheme or `www.`, are named and stay. The history records that something was forgotten, but not
/// what. This cannot be undone, and the batch before it can no longer be undone either.
#[derive(Debug, Args)]
#[command(after_help = FORGET_EXAMPLES)]
pub(super) struct ForgetArgs {
    /// The bank
    bank: PathBuf,
    /// URLs of pages, and names of sites whose pages are all removed
    #[arg(required = true, value_name = "URL|SITE")]
    what: Vec<String>,
    /// Ignore it in later batches too; only a keyed hash is stored
    ///
    /// The bank need not contain a page or site to block it.
    #[arg(long)]
    block: bool,
    /// Also forget if there are more than 100 pages
    ///
    /// Without it, the command fails if there are more, and prints what it would forget.
    #[arg(long)]
    yes: bool,
    /// Memory for sorting; larger data is sorted in files in the bank's folder
    #[arg(long, value_name = "SIZE", default_value = "512M", value_parser = values::memory,
        env = "SEEDBANK_MEMORY")]
    memory: usize,
    /// Wait while another process writes to the bank
    #[arg(long, value_parser = BoolishValueParser::new(), env = "SEEDBANK_WAIT")]
    wait: bool,
    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn forget(args: ForgetArgs, session: &Session) -> Result<Outcome, CliError> {
    let request = ForgetRequest {
        what: args.what,
        block: args.block,
        max_pages: (!args.yes).then_some(MAX_UNCONFIRMED),
        wait: args.wait,
        memory: args.memory,
    };
    let bank = session.bank(&args.bank);
    let forgotten = session.run(|watch| bank.watched(watch.clone()).forget(&request));
    if let Err(CliError::Engine(EngineError::UnknownPage { url, .. })) = &forgotten {
        // The error of `page` names similar pages that the user may have meant.
        bank.page(url, PageLimits::default())?;
    }
    let report = forgotten?;
    args.format.format.print(&report, forget_text)?;
    session.note(
        "hint: `seedbank compact` removes the overwritten data from the bank's files; backups and other copies are not changed",
    );
    Ok(Outcome::Done)
}

/// Formats the report as text.
fn forget_text(report: &ForgetReport) -> String {
    let mut text = format!(
        "forgotten, as batch {}: {}, {}, {}, {:.2} s\n",
        report.batch,
        counted(report.pages, "page"),
        counted(report.sites, "whole site"),
        counted(report.links, "link"),
        report.seconds
    );
    for (count, what) in [
        (report.aliases, "alias of a page, now gone"),
        (report.list_lines, "line of the lists of plans"),
        (report.reject_lines, "line of the lists of bad records"),
        (report.blocked, "name blocked in later batches"),
    ] {
        if count > 0 {
            append_line!(text, "{what}: {count}");
        }
    }
    for twin in &report.twins {
        append_line!(text, "stays, and may be a copy: {twin}");
    }
    if report.has_damaged {
        text.push_str(
            "the folder damaged/ in the bank contains what a repair replaced, which was not searched: remove it\n",
        );
    }
    text
}
