//! What changed since an earlier refresh, with its causes in words.

use crate::engine::{Cause, Change, SeedChange, SeedDiff};

impl SeedDiff {
    /// The seeds that this happened to, best first.
    pub(super) fn of(&self, change: Change) -> Vec<&SeedChange> {
        let seeds = self.seeds.iter();
        seeds.filter(|seed| seed.change == change).collect()
    }

    /// The lists of what came and what went with their titles.
    pub(super) fn lists(&self) -> [(&'static str, Vec<&SeedChange>); 2] {
        [("Gained", Change::Gained), ("Lost", Change::Lost)]
            .map(|(title, change)| (title, self.of(change)))
    }
}

impl SeedChange {
    /// Why it happened, in words; empty where nothing happened.
    pub(super) fn because(&self) -> &'static str {
        self.cause.map(words).unwrap_or_default()
    }
}

/// A cause for somebody who has not read its definition.
const fn words(cause: Cause) -> &'static str {
    match cause {
        Cause::Gone => "the page is gone",
        Cause::Unlinked => "nobody links to the page any more",
        Cause::Alias => "the page became an alias of another one",
        Cause::Spam => "the page was marked as spam",
        Cause::NotCrawled => "the page is not crawled",
        Cause::Unknown => "the bank does not know the page",
        Cause::NewPage => "the page is new",
        Cause::Revived => "the page came back",
        Cause::SpamCleared => "the page is no spam any more",
        Cause::BecameCrawled => "the page was crawled",
        Cause::NotListed => "the list did not have it",
        Cause::Settings => "the plan has other parameters",
        Cause::Policy => "by a policy of the plan",
        Cause::NoLinks => "the page links to no other site any more",
        Cause::BecameHub => "the page now links to other sites",
        Cause::AnotherHub => "another hub of its core became the seed",
        Cause::TookOver => "it took over from another hub of its core",
        Cause::AsAuthority => "it is an authority of another core now",
        Cause::WasAuthority => "it was an authority of another core",
        Cause::Displaced => "denser cores came before its own",
        Cause::MovedUp => "its core moved up among the densest",
        Cause::LinksLost => "its core lost links",
        Cause::LinksGained => "its core won links",
        Cause::TakenApart => "other cores took pages of its core",
        Cause::SetFree => "other cores left pages to its core",
        Cause::RegionWeakened => "what surrounds its core became weaker",
        Cause::RegionGrown => "what surrounds its core became stronger",
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
