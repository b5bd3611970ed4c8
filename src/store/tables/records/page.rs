//! The record of a page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::site_attributes::SiteDefaults;
use super::{BatchId, Hash128};
use crate::tables::codec::{self, Malformed};
use crate::tables::table::Value;

/// The state of a page.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum PageState {
    /// Not fetched: linked to, or named by a record with attributes only.
    Known,
    /// Fetched: it has had a record with outlinks, a digest or a fetch time.
    Crawled,
    /// Reported as gone.
    Gone,
    /// Not linked to any more, and never had a record: outside the store this is no page. The store
    /// keeps the record, so that the page gets the same id when a link returns, and so that the evidence
    /// of earlier refreshes keeps its URL.
    Unlinked,
    /// An alias: it redirects to another page or names another page as canonical. It does not count as a
    /// page.
    Alias,
}

impl PageState {
    /// Returns whether the page is known or crawled.
    #[must_use]
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Known | Self::Crawled)
    }

    /// Returns the name of the state, as in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Known => "known",
            Self::Crawled => "crawled",
            Self::Gone => "gone",
            Self::Unlinked => "unlinked",
            Self::Alias => "alias",
        }
    }
}

/// A page.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PageRecord {
    /// The part of the URL after the name of the site; sorts in the order of the URLs of the site.
    pub local: String,
    /// The state of the page.
    pub state: PageState,
    /// The effective spam mark: `spam_given`, else the default of the site, else `false`.
    pub spam: bool,
    /// Clicks.
    pub clicks: u64,
    /// `uncrawled_outlinks` as reported by a record; `None` if no record did and links are counted.
    pub uncrawled_given: Option<u32>,
    /// The number of known, not crawled intra-site targets. Those of its row are counted in the row.
    pub uncrawled_intra: u32,
    /// Hash of the content digest; `None` without one.
    pub digest: Option<Hash128>,
    /// The index of the row of the page on its site; `None` without inter-site links.
    pub row: Option<u32>,
    /// The batch that first named the page.
    pub first_seen: BatchId,
    /// The last batch with a record of the page; `None` if the page is only linked to.
    pub last_seen: Option<BatchId>,
    /// The spam mark that a record of the page reported; `None` if none did.
    pub spam_given: Option<bool>,
    /// The quality that a record of the page reported, in ten-thousandths; `None` if none did.
    pub quality_given: Option<u16>,
    /// The effective quality in ten-thousandths: `quality_given`, else the default of the site; `None`,
    /// which counts as 0, if there is neither.
    pub quality: Option<u16>,
    /// The time of the last fetch, in seconds since 1970 (UTC); `None` if it is not known. It follows the
    /// encoded record, and takes no space without a time.
    #[serde(skip)]
    pub fetched: Option<u64>,
}

impl PageRecord {
    /// Creates the record of a forgotten page, which only keeps its id for evidence that refers to it.
    #[must_use]
    pub const fn nameless(first_seen: BatchId) -> Self {
        Self::unlinked(String::new(), first_seen)
    }

    /// Returns whether the page was forgotten, so that it has no URL.
    #[must_use]
    pub const fn is_nameless(&self) -> bool {
        self.local.is_empty()
    }

    /// Creates a page without links to it that never had a record.
    #[must_use]
    pub const fn unlinked(local: String, first_seen: BatchId) -> Self {
        Self {
            local,
            state: PageState::Unlinked,
            spam: false,
            clicks: 0,
            uncrawled_given: None,
            uncrawled_intra: 0,
            digest: None,
            row: None,
            first_seen,
            last_seen: None,
            spam_given: None,
            quality_given: None,
            quality: None,
            fetched: None,
        }
    }

    /// Returns the digest that counts for P_uniq, which is that of a crawled page.
    #[must_use]
    pub fn counted_digest(&self) -> Option<Hash128> {
        self.digest.filter(|_| self.state == PageState::Crawled)
    }

    /// Updates the effective spam mark and quality.
    pub fn inherit(&mut self, site: &SiteDefaults) {
        (self.spam, self.quality) = site.effective(self.spam_given, self.quality_given);
    }

    /// Returns the effective quality in ten-thousandths, which is 0 for a page without one.
    #[must_use]
    pub fn quality(&self) -> u16 {
        self.quality.unwrap_or(0)
    }
}

impl Value for PageRecord {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        codec::put_extended_record(self, self.fetched.as_slice(), out)
    }
    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let (record, [fetched]) = codec::take_extended_record(bytes)?;
        Ok(Self { fetched, ..record })
    }
}
