//! `history`: prints batches, refreshes and the last refused batch, or when a page was a seed.

use std::path::PathBuf;

use clap::Args;
use seedbank::display::{counted, escape_controls, readable};
use seedbank::engine::ingest::RefusedBatch;
use seedbank::engine::query::{BatchView, Event, History};
use seedbank::engine::refresh::RefreshView;
use seedbank::render;

use super::failure::CliError;
use super::page_history;
use super::session::{Outcome, Session};
use super::values::{FormatArgs, integer, kind_name, time};

const EXAMPLES: &str = "\
Examples:
  seedbank history bank
  seedbank history bank --last 5               the last five batches and refreshes
  seedbank history bank --format json | jq .refreshes[].seeds
  seedbank history bank https://example.org/   when and why the page was a seed";

/// Print the batches and stored refreshes in order of time, or when a page was a seed
///
/// The output includes the last refused batch, unless a batch with its name was accepted later.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct HistoryArgs {
    /// The bank
    bank: PathBuf,
    /// A page: print when it was a seed, at which rank, and why it became or stopped being one
    url: Option<String>,
    /// Print the history of the page in this plan only
    #[arg(long, value_name = "NAME", requires = "url")]
    plan: Option<String>,
    /// Only the last N entries, batches and refreshes together
    #[arg(long, value_name = "N", conflicts_with = "url", value_parser = integer::<u32>(0..=u32::MAX))]
    last: Option<u32>,
    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn run(args: &HistoryArgs, session: &Session) -> Result<Outcome, CliError> {
    if let Some(url) = &args.url {
        return page(args, url, session);
    }
    let mut history = session.bank(&args.bank).history()?;
    let missing = missing_kinds(&history);
    if let Some(last) = args.last {
        history = history.last(last as usize);
    }
    args.format
        .format
        .print(&history, |history| missing + &text(history))?;
    Ok(Outcome::Done)
}

fn page(args: &HistoryArgs, url: &str, session: &Session) -> Result<Outcome, CliError> {
    let history = session.run(|watch| {
        session
            .bank(&args.bank)
            .watched(watch.clone())
            .page_history(url, args.plan.as_deref())
    })?;
    args.format.format.print(&history, |history| {
        readable(&page_history::text(history)).into_owned()
    })?;
    session.note_cost(history.cost);
    Ok(Outcome::Done)
}

/// Says which kinds of entries the bank does not have yet.
fn missing_kinds(history: &History) -> String {
    let mut text = String::new();
    if history.batches.is_empty() {
        text.push_str("no batches\n");
    }
    if history.refreshes.is_empty() {
        text.push_str("no refreshes\n");
    }
    text
}

/// Formats the history as text.
fn text(history: &History) -> String {
    let mut text = String::new();
    for event in history.in_order() {
        text.push_str(&match event {
            Event::Batch(batch) => batch_line(batch),
            Event::Refresh(refresh) => refresh_line(refresh),
            Event::Refused(refused) => refused_line(refused),
        });
    }
    text
}

fn batch_line(batch: &BatchView) -> String {
    let (record, counts) = (&batch.record, &batch.record.counts);
    let kind = kind_name(record.kind);
    let stale = match record.stale {
        0 => String::new(),
        stale => format!(", {stale} stale"),
    };
    let failed = match record.failed {
        0 => String::new(),
        failed => format!(", {failed} failed"),
    };
    format!(
        "batch {} {} {kind} {}: {} ({} rejected{stale}), {} new, {} crawled, {} gone{failed}, \
         {} changed, links +{} -{}, {:.2} s\n",
        batch.batch,
        time(record.at),
        escape_controls(&record.name),
        counted(counts.records, "record"),
        counts.rejected,
        counted(counts.new_pages, "page"),
        counts.became_crawled,
        counts.became_gone,
        counts.changed,
        counts.links_added,
        counts.links_removed,
        record.seconds
    )
}

fn refused_line(refused: &RefusedBatch) -> String {
    format!(
        "refused {} {} {}, {}\n",
        time(refused.at),
        kind_name(refused.kind),
        escape_controls(&refused.name),
        escape_controls(&render::refusal(refused))
    )
}

fn refresh_line(refresh: &RefreshView) -> String {
    format!(
        "refresh {} {} plan {} ({}) after batch {}: {}, {}, {}, {}, {}, {:.2} s\n",
        refresh.refresh,
        time(refresh.at),
        refresh.plan,
        refresh.method().name(),
        refresh.batch,
        counted(refresh.seeds, "seed"),
        counted(refresh.cores, "core"),
        render::provenance(refresh),
        counted(refresh.link_visits, "link visit"),
        counted(refresh.page_visits, "page visit"),
        refresh.seconds
    )
}
