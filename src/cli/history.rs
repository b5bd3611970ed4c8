//! `history`: what went in and what was selected; for a page, when it was a seed.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use seedbank::engine::{Bank, BatchKind, History};
use seedbank::shown::{counted, plain, readable};

use super::failure::CliError;
use super::output::{print, print_json};
use super::page_history;
use super::session::{Outcome, Session};
use super::values::{Format, FormatArgs, time};

const EXAMPLES: &str = "\
Examples:
  seedbank history bank
  seedbank history bank --format json | jq .refreshes[].seeds
  seedbank history bank https://example.org/   when the page was a seed, why it came and went";

/// Print the batches that went in and the refreshes that are kept, in order; or when a page was a
/// seed
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct HistoryArgs {
    /// The bank
    bank: PathBuf,
    /// A page: print when it was a seed, at which rank, and why it came and went
    url: Option<String>,
    /// With a page: of this plan only
    #[arg(long, value_name = "NAME", requires = "url")]
    plan: Option<String>,
    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn run(args: &HistoryArgs, session: &Session) -> Result<Outcome, CliError> {
    if let Some(url) = &args.url {
        return page(args, url, session);
    }
    let history = Bank::at(&args.bank).history()?;
    match args.format.format {
        Format::Json => print_json(&history)?,
        Format::Text => print(&text(&history))?,
    }
    Ok(Outcome::Done)
}

fn page(args: &HistoryArgs, url: &str, session: &Session) -> Result<Outcome, CliError> {
    let watch = session.watch()?;
    let history = Bank::at(&args.bank).page_history(url, args.plan.as_deref(), &watch);
    drop(watch);
    let history = history?;
    match args.format.format {
        Format::Json => print_json(&history)?,
        Format::Text => print(&readable(&page_history::text(&history)))?,
    }
    Ok(Outcome::Done)
}

/// The history for people.
fn text(history: &History) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    if history.batches.is_empty() {
        text.push_str("no batches\n");
    }
    for batch in &history.batches {
        let (record, counts) = (&batch.record, &batch.record.counts);
        let kind = match record.kind {
            BatchKind::Snapshot => "snapshot",
            BatchKind::Delta => "delta",
        };
        let _ = writeln!(
            text,
            "batch {} {} {kind} {}: {} ({} rejected), {} new, {} crawled, {} gone, \
             {} changed, links +{} -{}, {:.2} s",
            batch.batch,
            time(record.at),
            plain(&record.name),
            counted(counts.records, "record"),
            counts.rejected,
            counted(counts.born, "page"),
            counts.became_crawled,
            counts.became_gone,
            counts.changed,
            counts.links_added,
            counts.links_removed,
            record.seconds
        );
    }
    if history.refreshes.is_empty() {
        text.push_str("no refreshes\n");
    }
    for refresh in &history.refreshes {
        let _ = writeln!(
            text,
            "refresh {} {} plan {} ({}) after batch {}: {}, {}, {}{}, {} reused, \
             {} computed, {}, {}, {:.2} s",
            refresh.refresh,
            time(refresh.at),
            refresh.plan,
            refresh.method().name(),
            refresh.batch,
            counted(refresh.seeds, "seed"),
            counted(refresh.cores, "core"),
            if refresh.certified {
                "certified"
            } else {
                "not certified"
            },
            if refresh.cold { ", cold" } else { "" },
            counted(refresh.steps_reused, "step"),
            refresh.steps_recomputed,
            counted(refresh.link_visits, "link visit"),
            counted(refresh.page_visits, "page visit"),
            refresh.seconds
        );
    }
    text
}
