//! Aliases: what pages say of themselves, the way back, and the links that come of it.

use std::collections::BTreeSet;

use roaring::RoaringTreemap;

use super::{Walk, mix};
use crate::error::StoreError;
use crate::tables;
use crate::tables::records::PageState;
use crate::tables::records::aliases::{AliasLinks, AliasRecord, AliasReference};
use seedbank_algorithms::page::PageId;

/// A hash of the way from a page to another one, which is an alias or links to one.
fn way_mix(page: PageId, other: PageId, why: AliasReference) -> u64 {
    let hash = mix(page.0, other.0);
    match why {
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
                sum = sum.wrapping_add(way_mix(to, page, why));
            }
            match record {
                AliasRecord::Alias(alias) => {
                    found.insert(page.0);
                    walk.led.insert(alias.to.0);
                    if alias.to == page {
                        walk.report.find("aliases", page, "it leads to itself");
                    }
                }
                AliasRecord::Links(links) => walk.alias_links(page, &links)?,
            }
            Ok(())
        })?;
        for page in &(&self.aliases ^ &found) {
            let what = if found.contains(page) {
                "its record does not say that it is an alias"
            } else {
                "it is marked as an alias, but names no page"
            };
            self.report.find("aliases", PageId(page), what);
        }
        for page in &(&self.aliases & &self.linked) {
            self.report
                .find("aliases", PageId(page), "a link to an alias counts");
        }
        self.walk(&tables::ALIAS_REFERENCES, |_, (page, other), why| {
            sum = sum.wrapping_sub(way_mix(page, other, why));
            Ok(())
        })?;
        if sum != 0 {
            self.ways_back()?;
        }
        for page in &(&self.led - &self.pages) {
            let what = "an alias leads to it, but it has no record";
            self.report.find("pages", PageId(page), what);
        }
        Ok(())
    }

    /// Compares the links of a page with what its aliases lead to.
    fn alias_links(&mut self, page: PageId, links: &AliasLinks) -> Result<(), StoreError> {
        let mut wrong = Vec::new();
        if links.aliases.is_empty() {
            wrong.push("it names no alias".to_owned());
        }
        let record = self.store.get(&tables::PAGES, &page);
        let Ok(record) = record else { return Ok(()) };
        match record {
            Some(record) if record.state == PageState::Crawled => {
                // What cannot be read is a finding elsewhere.
                if let Ok(there) = self.store.links_of(page, record.row) {
                    self.compare(page, links, &there, &mut wrong)?;
                }
            }
            _ => wrong.push("it links to aliases, but is not crawled".to_owned()),
        }
        for what in wrong {
            self.report.find("aliases", page, what);
        }
        Ok(())
    }

    fn compare(
        &self,
        page: PageId,
        links: &AliasLinks,
        there: &[PageId],
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
        for end in ends.iter().filter(|end| there.binary_search(end).is_err()) {
            wrong.push(format!("its links lead to {end}, but it has no link there"));
        }
        for target in &links.reached {
            if !ends.contains(target) || there.binary_search(target).is_err() {
                wrong.push(format!("no alias leads it to {target}"));
            }
        }
        Ok(())
    }

    /// Reports the entries in which `aliases` and `alias_references` differ.
    fn ways_back(&mut self) -> Result<(), StoreError> {
        for entry in self.store.scan(&tables::ALIASES)? {
            let Ok((page, record)) = entry else { continue };
            for (to, why) in record.references() {
                let back = self.store.get(&tables::ALIAS_REFERENCES, &(to, page));
                if back.is_ok_and(|back| back != Some(why)) {
                    let what = format!("the reverse entry of {page} is missing or different");
                    self.report.find("alias_references", to, what);
                }
            }
        }
        for entry in self.store.scan(&tables::ALIAS_REFERENCES)? {
            let Ok(((page, other), why)) = entry else {
                continue;
            };
            let there = self.store.get(&tables::ALIASES, &other);
            let leads = |record: AliasRecord| record.references().any(|way| way == (page, why));
            if there.is_ok_and(|there| !there.is_some_and(leads)) {
                let what = format!("{other} does not lead or link here");
                self.report.find("alias_references", page, what);
            }
        }
        Ok(())
    }
}
