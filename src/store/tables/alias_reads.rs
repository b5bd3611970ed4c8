//! Reads of aliases.

use super::records::aliases::{Alias, AliasRecord, AliasReference, resolve_alias};
use super::schema::{ALIAS_REFERENCES, ALIASES};
use super::store::Store;
use super::table::Key;
use crate::error::StoreError;
use seedbank_algorithms::page::PageId;

impl Store {
    /// What makes a page an alias; `None` where it is none.
    pub fn alias(&self, page: PageId) -> Result<Option<Alias>, StoreError> {
        Ok(match self.get(&ALIASES, &page)? {
            Some(AliasRecord::Alias(alias)) => Some(alias),
            _ => None,
        })
    }

    /// Where an alias leads in the end, after at most
    /// [`LONGEST_CHAIN`](super::records::aliases::LONGEST_CHAIN) aliases; the page itself where it is none.
    /// `None` where it leads nowhere.
    pub fn resolve_alias(&self, page: PageId) -> Result<Option<PageId>, StoreError> {
        resolve_alias(page, |page| Ok(self.alias(page)?.map(|alias| alias.to)))
    }

    /// The pages from which a page is found, ascending, with the reason.
    pub fn alias_in(&self, page: PageId) -> Result<Vec<(PageId, AliasReference)>, StoreError> {
        let found = self.scan_under(&ALIAS_REFERENCES, &page.bytes())?;
        found
            .map(|entry| entry.map(|((_, other), why)| (other, why)))
            .collect()
    }
}
