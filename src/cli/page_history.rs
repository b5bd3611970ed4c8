//! `history URL`: when a page was a seed, for people.

use std::fmt::Write;

use seedbank::engine::{Appearance, PageHistory};
use seedbank::storage::records::PageState;

pub(super) fn text(history: &PageHistory) -> String {
    let mut text = String::new();
    let state = match history.state {
        PageState::Known => "known",
        PageState::Crawled => "crawled",
        PageState::Gone => "gone",
        PageState::Unlinked => "no page any more: nobody links to it",
    };
    // Writing to a String cannot fail.
    let _ = write!(
        text,
        "{}\n{state}{}, first named by batch {}",
        history.url,
        if history.spam { ", spam" } else { "" },
        history.first_seen
    );
    match history.last_seen {
        Some(batch) => text.push_str(&format!(", last record in batch {batch}\n")),
        None => text.push_str(", no record\n"),
    }
    if history.plans.is_empty() {
        text.push_str("no refreshes\n");
    }
    for plan in &history.plans {
        let _ = writeln!(
            text,
            "plan {}: a seed in {} of {} kept refreshes",
            plan.plan, plan.seed_in, plan.refreshes
        );
        for appearance in &plan.appearances {
            text.push_str(&line(appearance));
        }
    }
    text
}

fn line(appearance: &Appearance) -> String {
    let mut text = format!(
        "  refresh {} (after batch {}): ",
        appearance.refresh, appearance.state_after
    );
    match appearance.rank {
        Some(rank) => text.push_str(&format!("rank {rank}")),
        None => text.push_str("lost"),
    }
    if let Some(cause) = appearance.cause {
        let came = if appearance.rank.is_some() {
            "; came"
        } else {
            ""
        };
        text.push_str(&format!("{came}: {}", super::diff::name(cause)));
    }
    if let Some(by) = &appearance.by {
        text.push_str(&format!(", seed {by}"));
    }
    if let Some(batch) = appearance.batch {
        text.push_str(&format!(", batch {batch}"));
    }
    text.push('\n');
    text
}
