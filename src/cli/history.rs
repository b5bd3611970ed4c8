//! `history`: batches, refreshes and the last refused batch, or when a page was a seed.

use std::path::PathBuf;

use clap::Args;

use super::failure::CliError;
use super::lists::cause_name;
use super::session::{Outcome, Session};
use super::values::{FormatArgs, integer, kind_name, time, truncated_inputs};

use seedbank::answers;
use seedbank::display::{counted, escape_controls, readable};
use seedbank::engine::ingest::RefusedBatch;
use seedbank::engine::query::{Appearance, BatchView, Event, History, PageHistory, PageState};
use seedbank::engine::refresh::RefreshView;

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
    let history = session.with_bank(&args.bank, |bank| {
        bank.page_history(url, args.plan.as_deref())
    })?;
    args.format.format.print(&history, |history| {
        readable(&page_text(history)).into_owned()
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
    let truncated = truncated_inputs(counts.truncated);
    let failed = match record.failed {
        0 => String::new(),
        failed => format!(", {failed} failed"),
    };
    format!(
        "batch {} {} {kind} {}: {} ({} rejected{truncated}{stale}), {} new, {} crawled, {} gone{failed}, \
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
        escape_controls(&answers::refusal(refused))
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
        answers::provenance(refresh),
        counted(refresh.link_visits, "link visit"),
        counted(refresh.page_visits, "page visit"),
        refresh.seconds
    )
}

pub(super) fn page_text(history: &PageHistory) -> String {
    let mut text = String::new();
    let state = match history.state {
        PageState::Known => "known",
        PageState::Crawled => "crawled",
        PageState::Gone => "gone",
        PageState::Unlinked => "no longer a page: no page links to it",
        PageState::Alias => "an alias of another page",
        PageState::Resource => "a resource",
    };
    let record = history.last_seen.map_or_else(
        || "no record".to_owned(),
        |batch| format!("last record in batch {batch}"),
    );
    append_line!(
        text,
        "{}\n{state}{}, first mentioned in batch {}, {record}",
        history.url,
        if history.spam { ", spam" } else { "" },
        history.first_seen
    );
    if history.plans.is_empty() {
        text.push_str("no refreshes\n");
    }
    for plan in &history.plans {
        append_line!(
            text,
            "plan {}: a seed in {} of {}",
            plan.plan,
            plan.seed_in,
            counted(plan.refreshes, "stored refresh")
        );
        // Refreshes that left the page at the same rank are merged into one line.
        let same = |a: &Appearance, b: &Appearance| a.rank == b.rank && b.cause.is_none();
        for run in plan.appearances.chunk_by(same) {
            if let [first, .., last] = run {
                text.push_str(&line(first, Some(last)));
            } else {
                for one in run {
                    text.push_str(&line(one, None));
                }
            }
        }
    }
    text
}

/// Formats what changed at a refresh, and the last refresh up to which nothing else changed.
fn line(appearance: &Appearance, until: Option<&Appearance>) -> String {
    let to = |number: fn(&Appearance) -> u32| {
        until.map_or_else(String::new, |until| format!(" to {}", number(until)))
    };
    let mut parts = Vec::new();
    parts.extend(appearance.rank.map(|rank| format!("rank {rank}")));
    if let Some(cause) = appearance.cause {
        let change = if appearance.rank.is_some() {
            "came"
        } else {
            "lost"
        };
        let mut because = format!("{change}: {}", cause_name(cause));
        if let Some(by) = &appearance.by {
            append!(because, ", seed {by}");
        }
        if let Some(batch) = appearance.batch {
            append!(because, ", batch {batch}");
        }
        parts.push(because);
    }
    format!(
        "  refresh {}{} (after batch {}{}): {}\n",
        appearance.refresh,
        to(|until| until.refresh),
        appearance.state_batch,
        to(|until| until.state_batch),
        parts.join("; ")
    )
}
