//! Check of links, rows and aliases against their transposes, and of counts of links.

use std::collections::{BTreeMap, BTreeSet};

use roaring::{RoaringBitmap, RoaringTreemap};

use super::{SiteCounts, Walk, hash, mix, uncrawled_hash};
use crate::error::StoreError;
use crate::tables::records::PageState;
use crate::tables::records::aliases::{AliasLinks, AliasRecord, AliasReference};
use crate::tables::records::links::{LinkBlock, LinkKey};
use crate::{Hash128, row_hash, tables};
use seedbank_algorithms::page::{PageId, RowId, SiteId};

/// Hashes a link from a block of pages to a page of the same site.
fn intra_hash(from: LinkKey, target: u32) -> u64 {
    mix(
        RowId::new(from.site, from.block).0,
        PageId::new(from.site, target).0,
    )
}

fn count_known(targets: &[u32], known: &RoaringBitmap) -> u32 {
    let known = targets.iter().filter(|target| known.contains(**target));
    u32::try_from(known.count()).unwrap_or(u32::MAX)
}

/// Sums the hashes of the numbers of known targets of the pages of a block that have some.
fn uncrawled_hashes(key: LinkKey, block: &LinkBlock<u32>, known: Option<&RoaringBitmap>) -> u64 {
    let Some(known) = known else { return 0 };
    block.lists().fold(0, |sum, (place, targets)| {
        let page = PageId::new(key.site, key.index(place));
        match count_known(targets, known) {
            0 => sum,
            count => uncrawled_hash(page, count).wrapping_add(sum),
        }
    })
}

impl Walk<'_> {
    pub(super) fn intra(&mut self) -> Result<(), StoreError> {
        self.walk(&tables::INTRA, |walk, key, block| {
            for (place, targets) in block.lists() {
                walk.intra_targets(PageId::new(key.site, key.index(place)), targets);
            }
            let uncrawled = uncrawled_hashes(key, &block, walk.known.of_site(key.site));
            let distinct = block.distinct();
            walk.linked.of_site_mut(key.site).extend(&distinct);
            let site = walk.site(key.site);
            site.uncrawled = site.uncrawled.wrapping_sub(uncrawled);
            for target in distinct {
                site.intra = site.intra.wrapping_add(intra_hash(key, target));
            }
            Ok(())
        })?;
        self.walk(&tables::INTRA_IN, |walk, key, block| {
            let site = walk.site(key.site);
            for (place, blocks) in block.lists() {
                for &of_sources in blocks {
                    let from = LinkKey {
                        site: key.site,
                        block: of_sources,
                    };
                    site.intra = site.intra.wrapping_sub(intra_hash(from, key.index(place)));
                }
            }
            Ok(())
        })?;
        for site in self.unequal_sites(|site| site.intra) {
            self.compare_intra(site)?;
        }
        Ok(())
    }

    /// Returns the sites with a non-zero sum.
    pub(super) fn unequal_sites(&self, sum: impl Fn(&SiteCounts) -> u64) -> Vec<SiteId> {
        self.sites
            .iter()
            .filter(|(_, counts)| sum(counts) != 0)
            .map(|(site, _)| *site)
            .collect()
    }

    /// Reports the differences between `intra` and `intra_in` on a site.
    fn compare_intra(&mut self, site: SiteId) -> Result<(), StoreError> {
        let prefix = site.0.to_be_bytes();
        for entry in self.store.scan_under(&tables::INTRA, &prefix)? {
            let Ok((key, block)) = entry else { continue };
            for target in block.distinct() {
                let target = PageId::new(site, target);
                let (back, place) = LinkKey::of_page(target);
                let listed = self.store.links(&tables::INTRA_IN, back);
                if listed.is_ok_and(|listed| !listed.at(place).contains(&key.block)) {
                    let what =
                        format!("it lacks block {} of `intra`, which links to it", key.block);
                    self.find("intra_in", target, what);
                }
            }
        }
        for entry in self.store.scan_under(&tables::INTRA_IN, &prefix)? {
            let Ok((key, block)) = entry else { continue };
            for (place, blocks) in block.lists() {
                let target = key.index(place);
                for &block in blocks {
                    let links = self.store.links(&tables::INTRA, LinkKey { site, block });
                    if links.is_ok_and(|links| links.places_of(target).next().is_none()) {
                        let what = format!(
                            "no page of block {block} links to it, but `intra_in` has an entry"
                        );
                        self.find("intra", PageId::new(site, target), what);
                    }
                }
            }
        }
        Ok(())
    }

    /// Checks the targets of a page.
    fn intra_targets(&mut self, page: PageId, targets: &[u32]) {
        if !self.live.contains(page.0) {
            self.find("intra", page, "it is not live, but has links");
        }
        if targets.binary_search(&page.index()).is_ok() {
            self.find("intra", page, "it links to itself");
        }
        self.site(page.site()).seen.intra_links += targets.len() as u64;
    }

    /// Compares the counts of known intra-site targets with the links.
    pub(super) fn uncrawled(&mut self) -> Result<(), StoreError> {
        for site in self.unequal_sites(|site| site.uncrawled) {
            let counts = self.known_targets(site)?;
            let prefix = site.0.to_be_bytes();
            for entry in self.store.scan_under(&tables::PAGES, &prefix)? {
                // Unreadable records are findings elsewhere.
                let Ok((page, record)) = entry else { continue };
                let counted = counts.get(&page.index()).copied().unwrap_or(0);
                if counted != record.uncrawled_intra {
                    let what = format!(
                        "{counted} of its intra-site targets are known, but the record has {}",
                        record.uncrawled_intra
                    );
                    self.find("pages", page, what);
                }
            }
        }
        Ok(())
    }

    fn known_targets(&self, site: SiteId) -> Result<BTreeMap<u32, u32>, StoreError> {
        let mut counts = BTreeMap::new();
        let Some(known) = self.known.of_site(site) else {
            return Ok(counts);
        };
        for entry in self.store.intra_of(site)? {
            let Ok((page, targets)) = entry else { continue };
            let count = count_known(&targets, known);
            if count > 0 {
                counts.insert(page.index(), count);
            }
        }
        Ok(counts)
    }
}

// Check of rows against their transpose, their members and their hashes.

/// Hashes a link from a block of rows to a page.
fn row_link_hash(from: LinkKey, target: PageId) -> u64 {
    mix(RowId::new(from.site, from.block).0, target.0)
}

/// Hashes a row and the hash of its targets.
fn row_entry_hash(row: RowId, of_row: Hash128) -> u64 {
    hash(&[&row.0.to_be_bytes(), &of_row])
}

impl Walk<'_> {
    pub(super) fn rows(&mut self) -> Result<(), StoreError> {
        self.walk(&tables::ROWS, |walk, key, block| {
            for (place, targets) in block.lists() {
                walk.row(RowId::new(key.site, key.index(place)), targets);
            }
            let sum = block.distinct().into_iter().fold(0_u64, |sum, target| {
                sum.wrapping_add(row_link_hash(key, target))
            });
            let site = walk.site(key.site);
            site.rows = site.rows.wrapping_add(sum);
            Ok(())
        })
    }

    fn row(&mut self, row: RowId, targets: &[PageId]) {
        self.rows.insert(row.0);
        for &target in targets {
            if target.site() == row.site() {
                let what = format!("its target {target} is on its own site");
                self.find("rows", row, what);
            }
        }
        for of_site in targets.chunk_by(|a, b| a.site() == b.site()) {
            let linked = self.linked.of_site_mut(of_site[0].site());
            linked.extend(of_site.iter().map(|target| target.index()));
        }
        let site = self.site(row.site());
        site.row_hashes = site
            .row_hashes
            .wrapping_add(row_entry_hash(row, row_hash(targets)));
        site.seen.rows += 1;
        site.seen.row_links += targets.len() as u64;
        site.highest_row = site.highest_row.max(Some(row.index()));
    }

    pub(super) fn citers(&mut self) -> Result<(), StoreError> {
        self.walk(&tables::CITERS, |walk, key, block| {
            for (place, blocks) in block.lists() {
                let page = PageId::new(key.site, key.index(place));
                for &from in blocks {
                    let site = walk.site(from.site);
                    site.rows = site.rows.wrapping_sub(row_link_hash(from, page));
                }
            }
            Ok(())
        })?;
        let sites = self.unequal_sites(|site| site.rows);
        if sites.is_empty() {
            return Ok(());
        }
        for site in &sites {
            self.compare_citers(*site)?;
        }
        for entry in self.store.scan(&tables::CITERS)? {
            let Ok((key, block)) = entry else { continue };
            for (place, blocks) in block.lists() {
                let page = PageId::new(key.site, key.index(place));
                for &from in blocks {
                    if sites.binary_search(&from.site).is_err() {
                        continue;
                    }
                    let rows = self.store.links(&tables::ROWS, from);
                    if rows.is_ok_and(|rows| rows.places_of(page).next().is_none()) {
                        let what =
                            format!("no row of {}, block {} links to it", from.site, from.block);
                        self.find("citers", page, what);
                    }
                }
            }
        }
        Ok(())
    }

    /// Reports the links of the rows of a site that `citers` lacks.
    fn compare_citers(&mut self, site: SiteId) -> Result<(), StoreError> {
        let prefix = site.0.to_be_bytes();
        for entry in self.store.scan_under(&tables::ROWS, &prefix)? {
            let Ok((key, block)) = entry else { continue };
            for target in block.distinct() {
                let (back, place) = LinkKey::of_page(target);
                let listed = self.store.links(&tables::CITERS, back);
                if listed.is_ok_and(|listed| !listed.at(place).contains(&key)) {
                    let what = format!(
                        "it lacks rows of {site}, block {}, which link to it",
                        key.block
                    );
                    self.find("citers", target, what);
                }
            }
        }
        Ok(())
    }

    pub(super) fn members(&mut self) -> Result<(), StoreError> {
        let mut with_pages = roaring::RoaringTreemap::new();
        // Members are in the order of the blocks of their rows, so one block is cached.
        let mut at: Option<(LinkKey, LinkBlock<PageId>)> = None;
        self.walk(&tables::ROW_MEMBERS, |walk, row, members| {
            with_pages.insert(row.0);
            if members.pages.is_empty() {
                walk.find("row_members", row, "the row has no pages");
            }
            if !walk.rows.contains(row.0) {
                walk.find("row_members", row, "the row does not exist");
                return Ok(());
            }
            let (key, place) = LinkKey::of_row(row);
            if at.as_ref().is_none_or(|(block, _)| *block != key) {
                let block = walk.store.links(&tables::ROWS, key);
                at = Some((key, block.unwrap_or_default()));
            }
            let targets = at.as_ref().map_or(&[][..], |(_, block)| block.at(place));
            let sum = members.pages.iter().fold(0_u64, |sum, page| {
                sum.wrapping_add(mix(row.0, u64::from(page)))
            });
            let known = targets
                .iter()
                .filter(|target| walk.known.contains(**target))
                .count() as u64;
            if known != u64::from(members.uncrawled) {
                let what = format!(
                    "{known} of its targets are known, but the record has {}",
                    members.uncrawled
                );
                walk.find("row_members", row, what);
            }
            let site = walk.site(row.site());
            site.members = site.members.wrapping_sub(sum);
            site.seen.inter_links += members.pages.len() * targets.len() as u64;
            Ok(())
        })?;
        let without = &self.rows - &with_pages;
        for row in &without {
            self.find("rows", RowId(row), "no page has it");
        }
        Ok(())
    }

    pub(super) fn row_hashes(&mut self) -> Result<(), StoreError> {
        self.walk(&tables::ROW_HASHES, |walk, (site, of_row), rows| {
            let counts = walk.site(site);
            for index in rows {
                let row = RowId::new(site, index);
                counts.row_hashes = counts.row_hashes.wrapping_sub(row_entry_hash(row, of_row));
            }
            Ok(())
        })?;
        for site in self.unequal_sites(|site| site.row_hashes) {
            self.compare_row_hashes(site)?;
        }
        Ok(())
    }

    /// Reports the differences between the rows of a site and `row_hashes`.
    fn compare_row_hashes(&mut self, site: SiteId) -> Result<(), StoreError> {
        let prefix = site.0.to_be_bytes();
        for entry in self.store.scan_under(&tables::ROW_HASHES, &prefix)? {
            let Ok(((_, of_row), rows)) = entry else {
                continue;
            };
            for index in rows {
                let row = RowId::new(site, index);
                let targets = self.store.row(row).ok().flatten();
                if targets.is_none_or(|targets| row_hash(&targets) != of_row) {
                    self.find("row_hashes", row, "the row is missing or has another hash");
                }
            }
        }
        for entry in self.store.rows_of(site.as_range())? {
            let Ok((row, targets)) = entry else { continue };
            let listed = self
                .store
                .get(&tables::ROW_HASHES, &(site, row_hash(&targets)));
            if listed.is_ok_and(|rows| rows.is_none_or(|rows| !rows.contains(&row.index()))) {
                self.find("row_hashes", row, "the row is not listed under its hash");
            }
        }
        Ok(())
    }
}

// Check of aliases, their transpose, and the links that they resolve.

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
                AliasRecord::Alias(to) => {
                    found.insert(page.0);
                    walk.alias_targets.insert(to.0);
                    if to == page {
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

    /// Compares `canonical_references` with the canonical pages of pages.
    pub(super) fn canonical_references(&mut self) -> Result<(), StoreError> {
        let mut sum = self.canonicals;
        self.walk(&tables::CANONICAL_REFERENCES, |walk, (to, page), ()| {
            sum = sum.wrapping_sub(mix(page.0, to.0));
            match walk.store.get(&tables::PAGES, &page) {
                Ok(Some(record)) if record.canonical == Some(to) => {}
                Err(e) if !e.is_damage() => return Err(e),
                _ => {
                    let what = format!("{page} does not name it as canonical");
                    walk.find("canonical_references", to, what);
                }
            }
            walk.require_page("canonical_references", page, to);
            Ok(())
        })?;
        if sum != 0 {
            let what = "the canonical pages of `pages` have other entries";
            self.find("canonical_references", "(all)", what);
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
