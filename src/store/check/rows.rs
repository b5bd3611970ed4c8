//! Check of rows against their transpose, their members and their hashes.

use super::{Walk, hash, mix};
use crate::error::StoreError;
use crate::tables::records::links::{LinkBlock, LinkKey};
use crate::{Hash128, row_hash, tables};
use seedbank_algorithms::page::{PageId, RowId, SiteId};

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
