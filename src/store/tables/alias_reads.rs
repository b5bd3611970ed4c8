//! Reads of aliases.

use super::records::aliases::{Alias, AliasRecord, AliasReference, resolve_alias};
use super::schema::{ALIAS_REFERENCES, ALIASES};
use super::store::Store;
use super::table::Key;
use crate::error::StoreError;
use seedbank_algorithms::page::PageId;

impl Store {
    /// Returns the alias record of a page; `None` if the page is no alias.
    pub fn alias(&self, page: PageId) -> Result<Option<Alias>, StoreError> {
        Ok(match self.get(&ALIASES, &page)? {
            Some(AliasRecord::Alias(alias)) => Some(alias),
            _ => None,
        })
    }

    /// Follows a chain of at most [`MAX_CHAIN`](super::records::aliases::MAX_CHAIN) aliases and returns
    /// its end; the page itself if it is no alias. `None` if the chain is longer or a loop.
    pub fn resolve_alias(&self, page: PageId) -> Result<Option<PageId>, StoreError> {
        resolve_alias(page, |page| Ok(self.alias(page)?.map(|alias| alias.to)))
    }

    /// Returns the pages whose alias records refer to a page, ascending, with the kind of reference.
    pub fn alias_references(
        &self,
        page: PageId,
    ) -> Result<Vec<(PageId, AliasReference)>, StoreError> {
        let found = self.scan_under(&ALIAS_REFERENCES, &page.bytes())?;
        found
            .map(|entry| entry.map(|((_, other), why)| (other, why)))
            .collect()
    }
}
