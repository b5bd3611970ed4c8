//! What a canonical record says of its page, without its URL and outlinks.

use serde::{Deserialize, Serialize};

use crate::engine::EngineError;
use seedbank_algorithms::page::AliasBy;
use seedbank_formats::ingest::{Attribute, UncrawledOutlinks};
use seedbank_store::records::PageState;
use seedbank_store::{self, Hash128};

/// A canonical record without its URL and outlinks.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct PageUpdate {
    /// Whether the record replaces the page's outlinks.
    pub(super) links: bool,
    /// Whether the record makes its page crawled.
    pub(super) crawled: bool,
    pub(super) gone: bool,
    pub(super) spam: Option<bool>,
    pub(super) clicks: Option<u64>,
    pub(super) uncrawled: UncrawledOutlinks,
    pub(super) digest: Option<Hash128>,
    /// Whether the page is an alias of its only target, and what says so.
    pub(super) alias: Option<AliasBy>,
    /// The quality, in ten-thousandths.
    pub(super) quality: Attribute<u16>,
}

impl PageUpdate {
    /// The state of a page after the record; `None` where the bank did not have it.
    pub(super) fn state_after(&self, old: Option<PageState>) -> PageState {
        match old {
            _ if self.gone => PageState::Gone,
            _ if self.alias.is_some() => PageState::Alias,
            _ if self.crawled => PageState::Crawled,
            // Attributes alone change neither.
            Some(state @ (PageState::Crawled | PageState::Alias)) => state,
            _ => PageState::Known,
        }
    }

    /// Whether it says of the page's links which there are: none of a page that is gone or an alias.
    pub(super) const fn is_whole(&self) -> bool {
        self.links || self.gone || self.alias.is_some()
    }

    /// The bytes that stand for it in a batch's digest. Those of a record without quality are what
    /// they were before there were qualities, so that an old file is known again.
    pub(super) fn digested(&self) -> Result<Vec<u8>, EngineError> {
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
        Ok(bytes)
    }

    /// What a record says of a page that is gone.
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
    };

    /// A page that a list of links points to, which says nothing of the page's own links.
    pub(super) const NAMED: Self = Self {
        links: false,
        crawled: true,
        gone: false,
        spam: None,
        clicks: None,
        uncrawled: UncrawledOutlinks::Absent,
        digest: None,
        alias: None,
        quality: Attribute::Absent,
    };
}
