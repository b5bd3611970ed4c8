//! Check of intra-site links against their transpose, and of counts of links.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use super::{SiteCounts, Walk, mix, uncrawled_hash};
use crate::error::StoreError;
use crate::tables;
use crate::tables::records::links::{LinkBlock, LinkKey};
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
