//! The kinds of entries that processes send to each other.

use crate::engine::ingest::memory::{LARGE, SMALL};

/// Which processes own a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Route {
    /// The key begins with the name of a site and a NUL byte: the process that has the site.
    SiteName,
    /// The key begins with the id of a site: the process that has the site.
    Site,
    /// The key begins with the number of a portion of the input: the process that read it.
    Portion,
    /// Process 0.
    Coordinator,
    /// All processes but the sender.
    Others,
}

/// A kind of entries. The discriminants are sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::engine) enum Stream {
    /// Rejected records, by source and position.
    Rejects = 0,
    /// Distinct URLs of portions.
    Urls = 1,
    /// Whole records by URL, to find those that supersede others.
    Sources = 2,
    /// Attributes of sites by name.
    Sites = 3,
    /// Superseded records, by portion and rank.
    Losers = 4,
    /// URLs that only superseded records name, by portion and rank.
    Unnamed = 5,
    /// The ids of the URLs of portions.
    Numbers = 6,
    /// Records of graphs that another node of the same URL supersedes, by portion and rank.
    Superseded = 7,
    /// The first new page of each site that has one.
    NewPages = 8,
    /// Aliases of the bank that the batch names.
    NamedAliases = 9,
    /// Input about aliases.
    AliasInputs = 10,
    /// Changes of aliases.
    AliasChanges = 11,
    /// Pages whose links change because of aliases.
    Affected = 12,
    /// Records by page.
    Records = 13,
    /// Stale records.
    Stale = 14,
    /// Changes of pages as targets.
    Targets = 15,
    /// Changes of the targets of rows, by block of rows.
    Citers = 16,
    /// Changed pages of sites.
    Changed = 17,
    /// Pages of sites whose previous version is kept.
    Former = 18,
    /// Changes of entries that are not stored by site, or in another process.
    Changes = 19,
}

impl Stream {
    /// All kinds, in the order of their numbers.
    pub(super) const ALL: [Self; 20] = [
        Self::Rejects,
        Self::Urls,
        Self::Sources,
        Self::Sites,
        Self::Losers,
        Self::Unnamed,
        Self::Numbers,
        Self::Superseded,
        Self::NewPages,
        Self::NamedAliases,
        Self::AliasInputs,
        Self::AliasChanges,
        Self::Affected,
        Self::Records,
        Self::Stale,
        Self::Targets,
        Self::Citers,
        Self::Changed,
        Self::Former,
        Self::Changes,
    ];

    /// Returns who owns a key.
    pub(super) const fn route(self) -> Route {
        match self {
            Self::Urls | Self::Sources | Self::Sites => Route::SiteName,
            Self::Affected | Self::Records | Self::Targets | Self::Citers => Route::Site,
            Self::Losers | Self::Numbers | Self::Superseded => Route::Portion,
            Self::Unnamed | Self::NewPages | Self::NamedAliases | Self::AliasChanges => {
                Route::Others
            }
            Self::Rejects
            | Self::AliasInputs
            | Self::Stale
            | Self::Changed
            | Self::Former
            | Self::Changes => Route::Coordinator,
        }
    }

    /// Returns the number of shares of the memory budget for sorting.
    pub(in crate::engine) const fn shares(self) -> usize {
        match self {
            Self::Urls | Self::Sources | Self::Numbers | Self::Records | Self::Targets => LARGE,
            _ => SMALL,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_positions() {
        for (number, stream) in (0_u8..).zip(Stream::ALL) {
            assert_eq!(stream as u8, number);
        }
    }
}
