//! Update of a page by a canonical record, without URL and outlinks.

use serde::{Deserialize, Serialize};

use crate::engine::Result;
use seedbank_algorithms::page::AliasBy;
use seedbank_algorithms::yields::Yield;
use seedbank_formats::ingest::{Attribute, UncrawledOutlinks};
use seedbank_store::records::PageState;
use seedbank_store::{self, Hash128};

/// Update of a page by a canonical record, without URL and outlinks.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent properties of a record"
)]
pub(super) struct PageUpdate {
    /// Whether it replaces the page's outlinks.
    pub(super) links: bool,
    pub(super) crawled: bool,
    pub(super) gone: bool,
    pub(super) spam: Option<bool>,
    pub(super) clicks: Option<u64>,
    pub(super) uncrawled: UncrawledOutlinks,
    pub(super) digest: Option<Hash128>,
    /// If the page becomes an alias of its only target, the reason.
    pub(super) alias: Option<AliasBy>,
    /// The quality, in ten-thousandths.
    pub(super) quality: Attribute<u16>,
    /// The time of the fetch in seconds since 1970; `None` if the page keeps its time. Set in the links pass.
    pub(super) fetched: Option<u64>,
    /// What fetches of the page brought so far, if the record has it.
    pub(super) sums: Option<Yield>,
    /// Whether fetches failed, and nothing else is known: the page keeps its state.
    pub(super) only_failed: bool,
    /// Whether the failed fetches of the page change. Set in the links pass.
    pub(super) failures_change: bool,
}

impl PageUpdate {
    /// Returns the state of a page after the update. `old` is `None` for a new page.
    pub(super) fn state_after(&self, old: Option<PageState>) -> PageState {
        match old {
            _ if self.gone => PageState::Gone,
            _ if self.alias.is_some() => PageState::Alias,
            _ if self.crawled => PageState::Crawled,
            // Attributes alone do not change these states.
            Some(state @ (PageState::Crawled | PageState::Alias)) => state,
            Some(PageState::Gone) if self.only_failed => PageState::Gone,
            _ => PageState::Known,
        }
    }

    /// Whether it determines the page's links. A page that is gone or an alias has none.
    pub(super) const fn sets_links(&self) -> bool {
        self.links || self.gone || self.alias.is_some()
    }

    /// Whether it reports what a fetch found. Attributes alone do not.
    pub(super) const fn is_fetch(&self) -> bool {
        self.crawled || self.gone || self.alias.is_some()
    }

    /// Returns its bytes in a batch's digest. Without a quality and sums, they are the same as before
    /// these existed, so that old batches are still recognised.
    pub(super) fn digest_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = seedbank_store::pack(&(
            self.links,
            self.crawled,
            self.gone,
            self.spam,
            self.clicks,
            self.uncrawled,
            self.digest,
            self.alias,
        ))?;
        if !self.quality.is_absent() {
            bytes.extend(seedbank_store::pack(&self.quality)?);
        }
        if let Some(sums) = &self.sums {
            bytes.extend(seedbank_store::pack(sums)?);
        }
        Ok(bytes)
    }

    pub(super) const GONE: Self = Self {
        links: true,
        crawled: false,
        gone: true,
        spam: None,
        clicks: None,
        uncrawled: UncrawledOutlinks::Absent,
        digest: None,
        alias: None,
        quality: Attribute::Absent,
        fetched: None,
        sums: None,
        only_failed: false,
        failures_change: false,
    };

    /// Update of a page whose fetches failed.
    pub(super) const FAILED: Self = Self {
        links: false,
        gone: false,
        only_failed: true,
        ..Self::GONE
    };

    /// Update of a page that a list of links contains as a target, which keeps the page's own
    /// links.
    pub(super) const NAMED: Self = Self {
        links: false,
        crawled: true,
        gone: false,
        ..Self::GONE
    };
}
