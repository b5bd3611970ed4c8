//! Why seeds came and went, in words; and the counts of a comparison.

use schemars::JsonSchema;
use serde::Serialize;

use crate::engine::{Cause, DiffSummary, SeedDiff};

/// The first of the lines of JSON that a comparison is printed as; a line for each seed follows.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SummaryLine<'a> {
    /// The counts.
    summary: &'a DiffSummary,
}

impl<'a> SummaryLine<'a> {
    /// The counts of a comparison.
    #[must_use]
    pub const fn of(diff: &'a SeedDiff) -> Self {
        Self {
            summary: &diff.summary,
        }
    }
}

/// A cause for somebody who has not read its definition.
#[must_use]
pub const fn cause_text(cause: Cause) -> &'static str {
    match cause {
        Cause::Gone => "the page is gone",
        Cause::Unlinked => "nobody links to the page any more",
        Cause::Alias => "the page became an alias of another one",
        Cause::Spam => "the page was marked as spam",
        Cause::NotCrawled => "the page is not crawled",
        Cause::NotInBank => "the bank does not know the page",
        Cause::NewPage => "the page is new",
        Cause::Revived => "the page came back",
        Cause::SpamCleared => "the page is no spam any more",
        Cause::BecameCrawled => "the page was crawled",
        Cause::NotListed => "the list did not have it",
        Cause::Parameters => "the plan has other parameters",
        Cause::Policy => "by a policy of the plan",
        Cause::NoLinks => "the page links to no other site any more",
        Cause::BecameHub => "the page now links to other sites",
        Cause::ReplacedByHub => "another hub of its core became the seed",
        Cause::ReplacesHub => "it took over from another hub of its core",
        Cause::BecameAuthority => "it is an authority of another core now",
        Cause::WasAuthority => "it was an authority of another core",
        Cause::Outranked => "denser cores came before its own",
        Cause::Outranks => "its core moved up among the densest",
        Cause::LinksLost => "its core lost links",
        Cause::LinksGained => "its core won links",
        Cause::PagesTaken => "other cores took pages of its core",
        Cause::PagesReleased => "other cores left pages to its core",
        Cause::RegionWeakened => "what surrounds its core became weaker",
        Cause::RegionStrengthened => "what surrounds its core became stronger",
        Cause::NoCore => "no core has it",
        Cause::Covered => "another seed of its site covers it now",
        Cause::Uncovered => "no other seed of its site covers it any more",
        Cause::FewerSeats => "its site has fewer seeds to give",
        Cause::MoreSeats => "its site has more seeds to give",
        Cause::NoValue => "it would add no value any more",
        Cause::GainedValue => "it adds value now",
        Cause::Outweighed => "other pages of its site are worth more",
        Cause::Outweighs => "it is worth more than other pages of its site",
        Cause::Shifted | Cause::Reordered => "its rank changed",
    }
}
