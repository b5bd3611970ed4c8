//! `explain`: why a page is a seed, or why not.

use std::path::PathBuf;

use clap::Args;
use seedbank::engine::{Bank, ReadCost};
use seedbank::shown::readable;

use super::explain_text::{of_page, of_site};
use super::failure::CliError;
use super::output::{print, print_json};
use super::session::{Outcome, Session};
use super::values::{Format, FormatArgs, WhichArgs, human_bytes};

const EXAMPLES: &str = "\
Examples:
  seedbank explain bank https://example.org/about
  seedbank explain bank https://example.org/ --plan sites --refresh 3
  seedbank explain bank --site example.org --format json";

/// Tell why a page is a seed, or why it is not; or what became of a site
///
/// The answer comes from what the refresh kept, so it is there at once for any page of the bank and
/// for any refresh that is kept. What the page is today is told beside it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ExplainArgs {
    /// The bank
    bank: PathBuf,
    /// The page; its URL is normalised as ingest does
    #[arg(required_unless_present = "site", conflicts_with = "site")]
    url: Option<String>,
    /// A site instead of a page: its seeds, what they cover, and what no seed reaches
    #[arg(long, value_name = "SITE")]
    site: Option<String>,
    #[command(flatten)]
    which: WhichArgs,
    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn run(args: ExplainArgs, session: &Session) -> Result<Outcome, CliError> {
    let bank = Bank::at(&args.bank);
    let which = args.which.into();
    let cost = if let Some(site) = &args.site {
        let answer = bank.explain_site(site, &which)?;
        match args.format.format {
            Format::Json => print_json(&answer)?,
            Format::Text => print(&readable(&of_site(&answer)))?,
        }
        answer.cost
    } else {
        let url = args.url.as_deref().unwrap_or_default();
        let answer = bank.explain(url, &which)?;
        match args.format.format {
            Format::Json => print_json(&answer)?,
            Format::Text => print(&readable(&of_page(&answer)))?,
        }
        answer.cost
    };
    tell(session, cost);
    Ok(Outcome::Done)
}

fn tell(session: &Session, cost: ReadCost) {
    if session.is_verbose() {
        session.note(format_args!(
            "{} point reads, {} read",
            cost.reads,
            human_bytes(cost.bytes)
        ));
    }
}
