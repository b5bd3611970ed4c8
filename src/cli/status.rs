//! `status`: what a bank holds.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use seedbank::engine::{Bank, Status};
use seedbank::ingest::SiteMode;

use super::Outcome;
use super::failure::CliError;
use super::output::{print, print_json};
use super::values::{Format, FormatArgs, human_bytes};

const EXAMPLES: &str = "\
Examples:
  seedbank status bank
  seedbank status bank --format json | jq .crawled";

/// Print what a bank holds: sites, pages, links, plans, and what its tables take on disk
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct StatusArgs {
    /// The bank
    bank: PathBuf,
    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn run(args: &StatusArgs) -> Result<Outcome, CliError> {
    let status = Bank::at(&args.bank).status()?;
    match args.format.format {
        Format::Json => print_json(&status)?,
        Format::Text => print(&text(&status))?,
    }
    Ok(Outcome::Done)
}

/// The status for people.
fn text(status: &Status) -> String {
    let mut text = String::new();
    let counters = &status.counters;
    let site = match status.site_mode {
        SiteMode::Host => "a host",
        SiteMode::Domain => "a registrable domain",
    };
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "format {}; a site is {site} (public suffix list {})",
        status.format, status.suffix_list
    );
    let _ = writeln!(
        text,
        "batches {}, refreshes {}\nsites {}\npages {} crawled, {} known, {} gone; {} spam",
        counters.batches,
        counters.refreshes,
        status.sites,
        counters.crawled,
        counters.known,
        counters.gone,
        counters.spam
    );
    let _ = writeln!(
        text,
        "links {} intra-site, {} inter-site in {} rows of {} targets",
        counters.intra_links, counters.inter_links, counters.rows, counters.row_links
    );
    for plan in &status.plans {
        let _ = writeln!(
            text,
            "plan {} ({}), last refresh {}",
            plan.plan,
            plan.parameters.method.unwrap_or_default().name(),
            plan.last_refresh
        );
    }
    let total: u64 = status.tables.iter().map(|table| table.bytes).sum();
    let _ = writeln!(text, "on disk {}", human_bytes(total));
    for table in &status.tables {
        let _ = writeln!(
            text,
            "  {:<12} {:>12}  about {} entries",
            table.table,
            human_bytes(table.bytes),
            table.entries
        );
    }
    text
}
