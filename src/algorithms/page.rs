//! Ids of sites, pages and rows, and sets of pages.
//!
//! A [`PageId`] packs its site in the high 32 bits and its index within the site in the low 32. So
//! a link is intra-site iff the high halves are equal, a site is one key range, and a [`PageSet`]
//! splits exactly by site. Ids follow the order of ingest, so no output may depend on them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the answer to a fetch is. Of several at the same time the greatest counts.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Debug,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum PageKind {
    /// A part of pages, such as a script, a style, a font, an image or the answer of an API: it is worth nothing, and in no
    /// graph.
    Resource,
    /// A PDF, a feed, an office file: it is worth as much as a page, and never a seed.
    Document,
    /// A page, also if nothing is known about it.
    #[default]
    Page,
}

impl PageKind {
    /// Returns the name of the kind, as in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Resource => "resource",
            Self::Document => "document",
            Self::Page => "page",
        }
    }
}

/// The highest quality of a page or a site, in ten-thousandths.
pub const MAX_QUALITY: u16 = 10_000;

/// A set of pages (a roaring bitmap over page ids).
pub type PageSet = roaring::RoaringTreemap;

/// A site: all pages of one host, or of one registrable domain.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct SiteId(pub u32);

/// A page: its site in the high half, its index within the site in the low half.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct PageId(pub u64);

/// A row: one distinct set of inter-site link targets on a site. Packed like a [`PageId`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct RowId(pub u64);

const fn pack(site: SiteId, index: u32) -> u64 {
    ((site.0 as u64) << 32) | index as u64
}

const fn high(packed: u64) -> SiteId {
    SiteId((packed >> 32) as u32)
}

#[expect(clippy::cast_possible_truncation, reason = "returns the low half")]
const fn low(packed: u64) -> u32 {
    packed as u32
}

impl SiteId {
    /// Returns the range that contains only this site.
    #[must_use]
    pub const fn as_range(self) -> std::ops::Range<u32> {
        self.0..self.0.saturating_add(1)
    }
}

impl PageId {
    /// Returns the page with this index on this site.
    #[must_use]
    pub const fn new(site: SiteId, index: u32) -> Self {
        Self(pack(site, index))
    }

    /// Returns the site of the page.
    #[must_use]
    pub const fn site(self) -> SiteId {
        high(self.0)
    }

    /// Returns the page's index within its site.
    #[must_use]
    pub const fn index(self) -> u32 {
        low(self.0)
    }
}

impl RowId {
    /// Returns the row with this index on this site.
    #[must_use]
    pub const fn new(site: SiteId, index: u32) -> Self {
        Self(pack(site, index))
    }

    /// Returns the site whose pages have the row.
    #[must_use]
    pub const fn site(self) -> SiteId {
        high(self.0)
    }

    /// Returns the row's index within its site.
    #[must_use]
    pub const fn index(self) -> u32 {
        low(self.0)
    }
}

impl fmt::Display for SiteId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "site {}", self.0)
    }
}

impl fmt::Display for PageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "page {}.{}", self.site().0, self.index())
    }
}

impl fmt::Display for RowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "row {}.{}", self.site().0, self.index())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_order_by_site_and_then_by_index() {
        let page = PageId::new(SiteId(7), u32::MAX);
        assert_eq!((page.site(), page.index()), (SiteId(7), u32::MAX));
        assert!(page < PageId::new(SiteId(8), 0));
        assert_eq!(RowId::new(SiteId(1), 2).to_string(), "row 1.2");
    }
}
