//! `forget`: takes pages and sites out of a bank, with all that names them.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use clap::builder::BoolishValueParser;
use seedbank::engine::{Bank, EngineError, ForgetReport, ForgetRequest, PageLimits};
use seedbank::shown::counted;

use super::failure::CliError;
use super::output::{print, print_json};
use super::session::{Outcome, Session};
use super::values::{self, Format, FormatArgs};

const EXAMPLES: &str = "\
Examples:
  seedbank forget bank https://example.org/private      a page
  seedbank forget bank example.org example.net          whole sites
  seedbank forget bank https://example.org/x --block    and later batches leave it out
  seedbank compact bank                                 then no file of the bank has it any more

Backups and other copies of the bank still have it: make them anew. `restore --blocks-of BANK` leaves out
what BANK blocks.";

/// Forget pages or sites for good: a takedown
///
/// Their records go, links to and from them, attributes, and their names in lists that plans name, in
/// evidence of refreshes and in lists of bad records. Lists of seeds leave them out at once; refresh to have
/// others in their place. The history tells that something was forgotten, not what. It cannot be taken
/// back, and neither can the batch before it any more.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ForgetArgs {
    /// The bank
    bank: PathBuf,
    /// URLs of pages; names of sites, with all their pages
    #[arg(required = true, value_name = "URL|SITE")]
    what: Vec<String>,
    /// Leave it out of later batches too; then it need not be known. Only a keyed hash is kept
    #[arg(long)]
    block: bool,
    /// Memory for sorting; what does not fit goes to files in the bank's folder
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
        bar: args.block,
        wait: args.wait,
        memory: args.memory,
    };
    let bank = Bank::at(&args.bank);
    let watch = session.watch()?;
    let forgotten = bank.forget(&request, &watch);
    drop(watch);
    if let Err(EngineError::NotKnown { url, .. }) = &forgotten {
        // Its error has the pages that may have been meant.
        bank.page(url, PageLimits::default())?;
    }
    let report = forgotten?;
    match args.format.format {
        Format::Json => print_json(&report)?,
        Format::Text => print(&text(&report))?,
    }
    session.note(
        "hint: `seedbank compact` takes what is overwritten out of the bank's files; backups and other copies are out of reach",
    );
    Ok(Outcome::Done)
}

/// The report for people.
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
        (report.list_lines, "line of lists that plans name"),
        (report.reject_lines, "line of lists of bad records"),
        (report.barred, "name that later batches leave out"),
    ] {
        if count > 0 {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{what}: {count}");
        }
    }
    if report.has_damaged {
        text.push_str(
            "the bank's folder damaged/ has what a repair replaced, which is not looked into: remove it\n",
        );
    }
    text
}
