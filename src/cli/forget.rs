//! `forget`: removes pages and sites from a bank for good.

use std::path::PathBuf;

use clap::Args;
use clap::builder::BoolishValueParser;
use seedbank::display::counted;
use seedbank::engine::EngineError;
use seedbank::engine::ingest::{ForgetReport, ForgetRequest};
use seedbank::engine::query::PageLimits;

use super::failure::CliError;
use super::session::{Outcome, Session};
use super::values::{self, FormatArgs};

const EXAMPLES: &str = "\
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
/// the plans to select other seeds instead. The history records that something was forgotten, but not
/// what. This cannot be undone, and the batch before it can no longer be undone either.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
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

pub(super) fn run(args: ForgetArgs, session: &Session) -> Result<Outcome, CliError> {
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
    args.format.format.print(&report, text)?;
    session.note(
        "hint: `seedbank compact` removes the overwritten data from the bank's files; backups and other copies are not changed",
    );
    Ok(Outcome::Done)
}

/// Formats the report as text.
fn text(report: &ForgetReport) -> String {
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
    if report.has_damaged {
        text.push_str(
            "the folder damaged/ in the bank contains what a repair replaced, which was not searched: remove it\n",
        );
    }
    text
}
