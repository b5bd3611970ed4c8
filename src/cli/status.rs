//! `status`: what a bank holds.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use seedbank::engine::{Bank, Holds, Status, TableSize};
use seedbank::ingest::{SiteMode, UrlRules};
use seedbank::shown::counted;

use super::failure::CliError;
use super::output::{print, print_json};
use super::session::Outcome;
use super::table::aligned;
use super::values::{Format, FormatArgs, human_bytes};

const EXAMPLES: &str = "\
Examples:
  seedbank status bank
  seedbank status bank --sizes
  seedbank status bank --format json | jq .crawled";

/// Print what a bank holds: sites, pages, links, plans, and what it takes on disk
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct StatusArgs {
    /// The bank
    bank: PathBuf,
    /// Also print where the bytes are: table by table, and bits for each link
    ///
    /// JSON always has them. A bank that is not compacted also holds what was overwritten, until
    /// RocksDB merges its files, which it does as batches come.
    #[arg(long)]
    sizes: bool,
    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn run(args: &StatusArgs) -> Result<Outcome, CliError> {
    let status = Bank::at(&args.bank).status()?;
    match args.format.format {
        Format::Json => print_json(&status)?,
        Format::Text => print(&text(&status, args.sizes))?,
    }
    Ok(Outcome::Done)
}

/// The status for people.
fn text(status: &Status, with_sizes: bool) -> String {
    let mut text = String::new();
    let counters = &status.counters;
    let site = match status.site_mode {
        SiteMode::BareHost => "a host, without www.",
        SiteMode::Host => "a host",
        SiteMode::Domain => "a registrable domain",
    };
    let urls = match status.url_rules {
        UrlRules::Rfc3986 => "RFC 3986",
        UrlRules::Whatwg => "WHATWG",
    };
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "format {}; a site is {site} (public suffix list {}); URLs by {urls}",
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
        "links {} intra-site, {} inter-site in {} of {}",
        counters.intra_links,
        counters.inter_links,
        counted(counters.rows, "row"),
        counted(counters.row_links, "target")
    );
    if let Some(undo) = status.undo {
        let _ = writeln!(
            text,
            "`undo` can take back batch {}, for which {} are kept",
            undo.batch,
            human_bytes(undo.bytes)
        );
    }
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
    if with_sizes {
        text.push_str(&sizes(status, total));
    }
    text
}

/// Where the bytes are, largest first.
fn sizes(status: &Status, total: u64) -> String {
    let share = |bytes: u64| format!("{:.1} %", 100.0 * bytes as f64 / total.max(1) as f64);
    let mut by_size: Vec<&TableSize> = status.tables.iter().collect();
    by_size.sort_by(|a, b| b.bytes.cmp(&a.bytes).then(a.table.cmp(&b.table)));
    let rows: Vec<Vec<String>> = by_size
        .iter()
        .map(|table| {
            vec![
                table.table.clone(),
                name(table.holds).to_owned(),
                format!("about {}", table.entries),
                human_bytes(table.bytes),
                share(table.bytes),
            ]
        })
        .collect();
    let mut text = aligned(&["table", "of", "keys", "on disk", "share"], &rows);
    let all = [
        Holds::Pages,
        Holds::Links,
        Holds::History,
        Holds::Refreshes,
        Holds::Bank,
    ];
    for holds in all {
        let of_kind = status.tables.iter().filter(|table| table.holds == holds);
        let bytes: u64 = of_kind.map(|table| table.bytes).sum();
        let note = match (holds, status.link_bits) {
            (Holds::Links, Some(bits)) => format!("; {bits:.2} bits a link, both directions"),
            (Holds::History | Holds::Refreshes, _) => {
                "; `refresh --keep N` deletes what only older refreshes need".to_owned()
            }
            _ => String::new(),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{}: {}, {}{note}",
            name(holds),
            human_bytes(bytes),
            share(bytes)
        );
    }
    let left: Vec<&str> = status
        .tables
        .iter()
        .filter(|table| !table.compacted && table.holds != Holds::Bank)
        .map(|table| table.table.as_str())
        .collect();
    // Writing to a String cannot fail.
    let _ = if left.is_empty() {
        writeln!(text, "compacted")
    } else {
        writeln!(
            text,
            "not compacted, so what was overwritten still takes room: {}",
            left.join(", ")
        )
    };
    text
}

const fn name(holds: Holds) -> &'static str {
    match holds {
        Holds::Pages => "pages",
        Holds::Links => "links",
        Holds::History => "history",
        Holds::Refreshes => "refreshes",
        Holds::Bank => "bank",
    }
}
