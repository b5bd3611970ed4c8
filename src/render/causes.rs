//! Describes why seeds were gained and lost, and serialises the counts of a comparison.

use schemars::JsonSchema;
use serde::Serialize;

use crate::engine::query::{Cause, DiffSummary, SeedDiff};

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

/// Returns a phrase for readers who do not know the definition of the cause.
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
        Cause::Covered => "another seed of its site covers it now",
        Cause::Uncovered => "no other seed of its site covers it any more",
        Cause::FewerSeats => "its site has fewer seats",
        Cause::MoreSeats => "its site has more seats",
        Cause::NoValue => "it would no longer add value",
        Cause::GainedValue => "it adds value now",
        Cause::Outweighed => "other pages of its site are worth more",
        Cause::Outweighs => "it is worth more than other pages of its site",
        Cause::Shifted | Cause::Reordered => "its rank changed",
    }
}
