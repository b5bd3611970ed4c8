//! Links against their transposes, rows against their pages and hashes, counts against links.

use std::collections::BTreeMap;

use super::{SiteCounts, Walk, fits, mix};
use crate::page::{PageId, RowId, SiteId};
use crate::storage::error::StoreError;
use crate::storage::tables;

impl Walk<'_> {
    pub(super) fn intra(&mut self) -> Result<(), StoreError> {
        self.walk(&tables::INTRA, |walk, page, targets| {
            if targets.is_empty() {
                walk.report.find("intra", page, "an empty list is kept");
            }
            if !walk.live.contains(page.0) {
                walk.report
                    .find("intra", page, "a page that is gone or not there has links");
            }
            let mut sum = 0_u64;
            for &target in &targets {
                let target = PageId::new(page.site(), target);
                if target == page {
                    walk.report.find("intra", page, "it links to itself");
                }
                walk.linked.insert(target.0);
                sum = sum.wrapping_add(mix(page.0, target.0));
            }
            let site = walk.site(page.site());
            site.intra = site.intra.wrapping_add(sum);
            site.seen.intra_links += targets.len() as u64;
            Ok(())
        })?;
        self.walk(&tables::INTRA_IN, |walk, page, sources| {
            if sources.is_empty() {
                walk.report.find("intra_in", page, "an empty list is kept");
            }
            let sum = sources.iter().fold(0_u64, |sum, &source| {
                sum.wrapping_add(mix(PageId::new(page.site(), source).0, page.0))
            });
            let site = walk.site(page.site());
            site.intra = site.intra.wrapping_sub(sum);
            Ok(())
        })?;
        for site in self.unequal(|site| site.intra) {
            self.intra_of(site)?;
        }
        Ok(())
    }

    fn unequal(&self, sum: impl Fn(&SiteCounts) -> u64) -> Vec<SiteId> {
        self.sites
            .iter()
            .filter(|(_, counts)| sum(counts) != 0)
            .map(|(site, _)| *site)
            .collect()
    }

    /// Names the links of a site that `intra` and `intra_in` do not agree on.
    fn intra_of(&mut self, site: SiteId) -> Result<(), StoreError> {
        let prefix = site.0.to_be_bytes();
        for entry in self.store.scan_under(&tables::INTRA, &prefix)? {
            let Ok((page, targets)) = entry else { continue };
            for target in targets {
                let back = self
                    .store
                    .get(&tables::INTRA_IN, &PageId::new(site, target))
                    .ok()
                    .flatten();
                if back.is_none_or(|sources| sources.binary_search(&page.index()).is_err()) {
                    self.report.find(
                        "intra_in",
                        PageId::new(site, target),
                        format!("the link from {page} is missing"),
                    );
                }
            }
        }
        for entry in self.store.scan_under(&tables::INTRA_IN, &prefix)? {
            let Ok((page, sources)) = entry else { continue };
            for source in sources {
                let forth = self
                    .store
                    .get(&tables::INTRA, &PageId::new(site, source))
                    .ok()
                    .flatten();
                if forth.is_none_or(|targets| targets.binary_search(&page.index()).is_err()) {
                    self.report.find(
                        "intra",
                        PageId::new(site, source),
                        format!("the link to {page} is missing"),
                    );
                }
            }
        }
        Ok(())
    }

    pub(super) fn rows(&mut self) -> Result<(), StoreError> {
        self.walk(&tables::ROWS, |walk, row, targets| {
            if targets.is_empty() {
                walk.report.find("rows", row, "it has no targets");
            }
            walk.rows.insert(row.0);
            let mut sum = 0_u64;
            for target in &targets {
                if target.site() == row.site() {
                    walk.report.find(
                        "rows",
                        row,
                        format!("its target {target} is on its own site"),
                    );
                }
                walk.linked.insert(target.0);
                sum = sum.wrapping_add(mix(row.0, target.0));
            }
            let site = walk.site(row.site());
            site.rows = site.rows.wrapping_add(sum);
            site.seen.rows += 1;
            site.seen.row_links += targets.len() as u64;
            site.highest_row = site.highest_row.max(Some(row.index()));
            Ok(())
        })
    }

    pub(super) fn citers(&mut self) -> Result<(), StoreError> {
        self.walk(&tables::CITERS, |walk, (page, site), rows| {
            if rows.is_empty() {
                walk.report
                    .find("citers", format!("{page}, {site}"), "an empty set is kept");
            }
            let sum = rows.iter().fold(0_u64, |sum, row| {
                sum.wrapping_add(mix(RowId::new(site, row).0, page.0))
            });
            let counts = walk.site(site);
            counts.rows = counts.rows.wrapping_sub(sum);
            Ok(())
        })?;
        let sites = self.unequal(|site| site.rows);
        if sites.is_empty() {
            return Ok(());
        }
        for site in &sites {
            self.rows_of(*site)?;
        }
        for entry in self.store.scan(&tables::CITERS)? {
            let Ok(((page, site), rows)) = entry else {
                continue;
            };
            if sites.binary_search(&site).is_err() {
                continue;
            }
            for row in &rows {
                let row = RowId::new(site, row);
                let targets = self.store.get(&tables::ROWS, &row).ok().flatten();
                if targets.is_none_or(|targets| targets.binary_search(&page).is_err()) {
                    self.report.find(
                        "citers",
                        format!("{page}, {site}"),
                        format!("{row} is listed and does not link to the page"),
                    );
                }
            }
        }
        Ok(())
    }

    /// Names the links of a site's rows that `citers` lacks.
    fn rows_of(&mut self, site: SiteId) -> Result<(), StoreError> {
        for entry in self
            .store
            .scan_under(&tables::ROWS, &site.0.to_be_bytes())?
        {
            let Ok((row, targets)) = entry else { continue };
            for target in targets {
                let rows = self
                    .store
                    .get(&tables::CITERS, &(target, site))
                    .ok()
                    .flatten();
                if rows.is_none_or(|rows| !rows.contains(row.index())) {
                    self.report.find(
                        "citers",
                        format!("{target}, {site}"),
                        format!("{row} links to the page and is not listed"),
                    );
                }
            }
        }
        Ok(())
    }

    pub(super) fn members(&mut self) -> Result<(), StoreError> {
        let mut with_pages = roaring::RoaringTreemap::new();
        self.walk(&tables::ROW_MEMBERS, |walk, row, members| {
            with_pages.insert(row.0);
            if members.pages.is_empty() {
                walk.report
                    .find("row_members", row, "a row without pages is kept");
            }
            if !walk.rows.contains(row.0) {
                walk.report
                    .find("row_members", row, "the row does not exist");
                return Ok(());
            }
            let sum = members.pages.iter().fold(0_u64, |sum, page| {
                sum.wrapping_add(mix(row.0, u64::from(page)))
            });
            let targets = walk.store.get(&tables::ROWS, &row).ok().flatten();
            let targets = targets.unwrap_or_default();
            let known = targets
                .iter()
                .filter(|target| walk.known.contains(target.0))
                .count() as u64;
            if known != u64::from(members.uncrawled) {
                walk.report.find(
                    "row_members",
                    row,
                    format!(
                        "{known} of its targets are known, the record says {}",
                        members.uncrawled
                    ),
                );
            }
            let site = walk.site(row.site());
            site.members = site.members.wrapping_sub(sum);
            site.seen.inter_links += members.pages.len() * targets.len() as u64;
            Ok(())
        })?;
        let without = &self.rows - &with_pages;
        for row in &without {
            self.report.find("rows", RowId(row), "no page carries it");
        }
        Ok(())
    }

    pub(super) fn row_hashes(&mut self) -> Result<(), StoreError> {
        let mut found = roaring::RoaringTreemap::new();
        self.walk(&tables::ROW_HASHES, |walk, (site, hash), rows| {
            for index in rows {
                let row = RowId::new(site, index);
                let targets = walk.store.get(&tables::ROWS, &row).ok().flatten();
                if targets.is_some_and(|targets| fits(site, hash, &targets, row)) {
                    found.insert(row.0);
                } else {
                    walk.report.find(
                        "row_hashes",
                        row,
                        "the row is not there or has another hash",
                    );
                }
            }
            Ok(())
        })?;
        let lost = &self.rows - &found;
        for row in &lost {
            self.report.find(
                "row_hashes",
                RowId(row),
                "the row is not listed under its hash",
            );
        }
        Ok(())
    }

    /// Counts of known intra-site targets, against the links.
    pub(super) fn uncrawled(&mut self) -> Result<(), StoreError> {
        let mut site = None;
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        self.walk(&tables::PAGES, |walk, page, record| {
            if site != Some(page.site()) {
                site = Some(page.site());
                counts = walk.known_targets(page.site())?;
            }
            let counted = counts.get(&page.index()).copied().unwrap_or(0);
            if counted != record.uncrawled_intra {
                walk.report.find(
                    "pages",
                    page,
                    format!(
                        "{counted} of its intra-site targets are known, the record says {}",
                        record.uncrawled_intra
                    ),
                );
            }
            Ok(())
        })
    }

    fn known_targets(&self, site: SiteId) -> Result<BTreeMap<u32, u32>, StoreError> {
        let mut counts = BTreeMap::new();
        for entry in self
            .store
            .scan_under(&tables::INTRA, &site.0.to_be_bytes())?
        {
            let Ok((page, targets)) = entry else { continue };
            let known = targets
                .iter()
                .filter(|&&target| self.known.contains(PageId::new(site, target).0))
                .count();
            if known > 0 {
                counts.insert(page.index(), u32::try_from(known).unwrap_or(u32::MAX));
            }
        }
        Ok(counts)
    }
}
