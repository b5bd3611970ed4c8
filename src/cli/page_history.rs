//! `history URL`: formats the history of a page as text.

use seedbank::display::counted;
use seedbank::engine::query::{Appearance, PageHistory, PageState};

pub(super) fn text(history: &PageHistory) -> String {
    let mut text = String::new();
    let state = match history.state {
        PageState::Known => "known",
        PageState::Crawled => "crawled",
        PageState::Gone => "gone",
        PageState::Unlinked => "no longer a page: no page links to it",
        PageState::Alias => "an alias of another page",
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
        let mut because = format!("{change}: {}", super::diff::cause_name(cause));
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
