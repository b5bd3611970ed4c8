//! Check of aliases, their transpose, and the links that they resolve.

use std::collections::BTreeSet;

use roaring::RoaringTreemap;

use super::{Walk, mix};
use crate::error::StoreError;
use crate::tables;
use crate::tables::records::PageState;
use crate::tables::records::aliases::{AliasLinks, AliasRecord, AliasReference};
use seedbank_algorithms::page::PageId;

/// Hashes a reference to a page from an alias or from a page that links to an alias.
fn reference_hash(page: PageId, other: PageId, kind: AliasReference) -> u64 {
    let hash = mix(page.0, other.0);
    match kind {
        AliasReference::Alias => hash,
        AliasReference::Link => hash.rotate_left(1),
    }
}

impl Walk<'_> {
    pub(super) fn aliases(&mut self) -> Result<(), StoreError> {
        let mut found = RoaringTreemap::new();
        let mut sum = 0_u64;
        self.walk(&tables::ALIASES, |walk, page, record| {
            for (to, why) in record.references() {
                sum = sum.wrapping_add(reference_hash(to, page, why));
            }
            match record {
                AliasRecord::Alias(alias) => {
                    found.insert(page.0);
                    walk.alias_targets.insert(alias.to.0);
                    if alias.to == page {
                        walk.find("aliases", page, "it leads to itself");
                    }
                }
                AliasRecord::Links(links) => walk.alias_links(page, &links)?,
            }
            Ok(())
        })?;
        for page in &(&self.aliases ^ &found) {
            let what = if found.contains(page) {
                "its page record is not an alias"
            } else {
                "it is marked as an alias, but has no target"
            };
            self.find("aliases", PageId(page), what);
        }
        let pages = self.aliases.iter().map(PageId);
        let linked: Vec<PageId> = pages.filter(|page| self.linked.contains(*page)).collect();
        for page in linked {
            self.find("aliases", page, "a page links to an alias");
        }
        self.walk(&tables::ALIAS_REFERENCES, |_, (page, other), why| {
            sum = sum.wrapping_sub(reference_hash(page, other, why));
            Ok(())
        })?;
        if sum != 0 {
            self.compare_references()?;
        }
        for page in self.pages.missing(&self.alias_targets) {
            let what = "an alias leads to it, but it has no record";
            self.find("pages", page, what);
        }
        Ok(())
    }

    /// Compares the links of a page with the ends of its aliases.
    fn alias_links(&mut self, page: PageId, links: &AliasLinks) -> Result<(), StoreError> {
        let mut wrong = Vec::new();
        if links.aliases.is_empty() {
            wrong.push("it has no alias".to_owned());
        }
        let record = self.store.get(&tables::PAGES, &page);
        let Ok(record) = record else { return Ok(()) };
        match record {
            Some(record) if record.state == PageState::Crawled => {
                // Unreadable links are findings elsewhere.
                if let Ok(stored) = self.store.links_of(page, record.row) {
                    self.compare(page, links, &stored, &mut wrong)?;
                }
            }
            _ => wrong.push("it links to aliases, but is not crawled".to_owned()),
        }
        for what in wrong {
            self.find("aliases", page, what);
        }
        Ok(())
    }

    fn compare(
        &self,
        page: PageId,
        links: &AliasLinks,
        stored: &[PageId],
        wrong: &mut Vec<String>,
    ) -> Result<(), StoreError> {
        let mut ends = BTreeSet::new();
        for alias in &links.aliases {
            if !self.aliases.contains(alias.0) {
                wrong.push(format!("{alias} is not an alias"));
            }
            match self.store.resolve_alias(*alias) {
                Ok(end) => ends.extend(end.filter(|end| *end != page)),
                Err(e) if e.is_damage() => return Ok(()),
                Err(e) => return Err(e),
            }
        }
        for end in ends.iter().filter(|end| stored.binary_search(end).is_err()) {
            wrong.push(format!("an alias leads to {end}, but it has no link to it"));
        }
        for target in &links.reached {
            if !ends.contains(target) || stored.binary_search(target).is_err() {
                wrong.push(format!("no alias leads to {target}"));
            }
        }
        Ok(())
    }

    /// Reports the differences between `aliases` and `alias_references`.
    fn compare_references(&mut self) -> Result<(), StoreError> {
        for entry in self.store.scan(&tables::ALIASES)? {
            let Ok((page, record)) = entry else { continue };
            for (to, why) in record.references() {
                let back = self.store.get(&tables::ALIAS_REFERENCES, &(to, page));
                if back.is_ok_and(|back| back != Some(why)) {
                    let what = format!("the reverse entry of {page} is missing or different");
                    self.find("alias_references", to, what);
                }
            }
        }
        for entry in self.store.scan(&tables::ALIAS_REFERENCES)? {
            let Ok(((page, other), why)) = entry else {
                continue;
            };
            let there = self.store.get(&tables::ALIASES, &other);
            let leads = |record: AliasRecord| {
                record
                    .references()
                    .any(|reference| reference == (page, why))
            };
            if there.is_ok_and(|there| !there.is_some_and(leads)) {
                let what = format!("{other} does not lead or link here");
                self.find("alias_references", page, what);
            }
        }
        Ok(())
    }
}
