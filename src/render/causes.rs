//! Describes why seeds were gained and lost, and serialises the counts of a comparison.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use super::failures::without_new_pages;
use super::lines::Line;
use crate::engine::query::{Cause, DiffSummary, SeedChange, SeedDiff};
use seedbank_formats::display::counted;

/// First JSON line of a comparison; one line per seed follows.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SummaryLine<'a> {
    /// The counts.
    summary: &'a DiffSummary,
}

impl<'a> SummaryLine<'a> {
    /// Creates the line of a comparison.
    #[must_use]
    pub const fn new(diff: &'a SeedDiff) -> Self {
        Self {
            summary: &diff.summary,
        }
    }
}

/// Returns a phrase for readers who do not know the definition of the cause. It holds for plans of sites,
/// where only pages of the same site count, and for plans over the web.
#[must_use]
pub const fn cause_text(cause: Cause) -> &'static str {
    match cause {
        Cause::Gone => "the page is gone",
        Cause::Unlinked => "no page links to the page any more",
        Cause::Alias => "the page became an alias of another one",
        Cause::Spam => "the page was marked as spam",
        Cause::NotCrawled => "the page is not crawled",
        Cause::NotInBank => "the bank does not know the page",
        Cause::NewPage => "the page is new",
        Cause::Revived => "the page came back",
        Cause::SpamCleared => "the page is no longer marked as spam",
        Cause::BecameCrawled => "the page was crawled",
        Cause::NotListed => "the list did not have it",
        Cause::Parameters => "the plan's parameters differ",
        Cause::Policy => "because of a policy of the plan",
        Cause::NoLinks => "the page links to no other site any more",
        Cause::BecameHub => "the page now links to other sites",
        Cause::ReplacedByHub => "another hub of its core became the seed",
        Cause::ReplacesHub => "it replaced another hub of its core as the seed",
        Cause::BecameAuthority => "it is an authority of another core now",
        Cause::WasAuthority => "it was an authority of another core",
        Cause::Outranked => "denser cores precede its own",
        Cause::Outranks => "its core is now among the densest",
        Cause::LinksLost => "its core lost links",
        Cause::LinksGained => "its core gained links",
        Cause::PagesTaken => "other cores took pages of its core",
        Cause::PagesReleased => "other cores released pages of its core",
        Cause::RegionWeakened => "the region around its core lost links or pages",
        Cause::RegionStrengthened => "the region around its core gained links or pages",
        Cause::NoCore => "no core contains it",
        Cause::Covered => "another seed covers it now",
        Cause::Uncovered => "no other seed covers it any more",
        Cause::FewerSeats => "its site has fewer seats",
        Cause::MoreSeats => "its site has more seats",
        Cause::NoValue => "it would no longer add value",
        Cause::GainedValue => "it adds value now",
        Cause::Outweighed => "other pages are worth more",
        Cause::Outweighs => "it is worth more than other pages",
        Cause::Shifted | Cause::Reordered => "its rank changed",
    }
}

/// Renders why a seed was gained, lost or moved, with the batch and the successor of a dead seed.
#[must_use]
pub fn change_reason(seed: &SeedChange) -> Line {
    let mut why = seed.cause.map_or("", cause_text).to_owned();
    if let (Some(links), Some(all)) = (seed.changed_links, seed.core_links) {
        // Writing to a String cannot fail.
        let _ = write!(why, ": {links} of {}", counted(all, "link"));
    }
    let mut line = Line::from(why);
    if let Some(by) = &seed.by {
        line = line.and(", ").and_page(by);
    }
    if let Some(batch) = seed.batch {
        line = line.and(format_args!(" (batch {batch})"));
    }
    if let Some(next) = &seed.successor {
        line = line.and("; possible successor: ").and_page(&next.url);
    }
    if let Some(old) = &seed.succeeds {
        line = line.and("; replaces ").and_page(&old.url);
    }
    if let Some(note) = seed.fetches.as_ref().and_then(without_new_pages) {
        let separator = if seed.cause.is_some() { "; " } else { "" };
        line = line.and(format_args!("{separator}{note}"));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_has_its_cause_and_its_batch() {
        let seed = serde_json::json!({
            "change": "lost", "url": "http://a.example/", "cause": "covered", "batch": 3,
            "by": "http://b.example/",
        });
        let seed: SeedChange = serde_json::from_value(seed).unwrap();
        // The sentence holds for a plan over the web, where the other seed may be on any site.
        assert_eq!(
            change_reason(&seed).to_string(),
            "another seed covers it now, http://b.example/ (batch 3)"
        );
        let seed = SeedChange {
            cause: Some(Cause::LinksLost),
            by: None,
            batch: None,
            changed_links: Some(2),
            core_links: Some(9),
            ..seed
        };
        assert_eq!(
            change_reason(&seed).to_string(),
            "its core lost links: 2 of 9 links"
        );
    }
}
