//! What refreshes keep of sites to follow them: whole, and of sites that a refresh selected on.

use std::collections::{BTreeMap, BTreeSet};

use super::Walk;
use crate::blocks::BLOCK;
use crate::error::StoreError;
use crate::kept_sites::KeptHead;
use crate::records::RefreshRecord;
use crate::tables;
use seedbank_algorithms::page::{PageId, SiteId};

impl Walk<'_> {
    pub(super) fn kept_sites(
        &mut self,
        refreshes: &BTreeMap<u32, RefreshRecord>,
    ) -> Result<(), StoreError> {
        let mut selected: BTreeMap<(u32, SiteId), u32> = BTreeMap::new();
        self.walk(&tables::COVERS, |_, (refresh, site), record| {
            if refreshes.contains_key(&refresh) {
                selected.insert((record.since, site), record.crawled);
            }
            Ok(())
        })?;
        let mut found: BTreeMap<(u32, SiteId), (KeptHead, u64)> = BTreeMap::new();
        let mut unlike = BTreeSet::new();
        self.walk(&tables::KEPT_SITES, |walk, key, block| {
            let of_site = (key.refresh, key.site);
            for (place, page) in &block.pages {
                let index = |index: u64| u32::try_from(index).unwrap_or(u32::MAX);
                let own = index(u64::from(key.block) * u64::from(BLOCK) + u64::from(*place));
                let all = page.links.iter().copied().chain([own]);
                let mut all = all.map(|index| PageId::new(key.site, index));
                if !all.all(|page| walk.pages.contains(page.0)) {
                    let what = "it names no page";
                    walk.report.find("kept_sites", site_name(of_site), what);
                }
            }
            let pages = block.pages.len() as u64;
            let (head, count) = found.entry(of_site).or_insert((block.head.clone(), 0));
            *count += pages;
            if *head != block.head {
                unlike.insert(of_site);
            }
            Ok(())
        })?;
        for (of_site, (head, count)) in found {
            let what = match selected.get(&of_site) {
                None => "no refresh sees it",
                Some(crawled) if *crawled != head.pages || count != u64::from(head.pages) => {
                    "it is not all of the site"
                }
                Some(_) if unlike.contains(&of_site) => "its blocks are of different times",
                Some(_) => continue,
            };
            self.report.find("kept_sites", site_name(of_site), what);
        }
        Ok(())
    }
}

fn site_name((refresh, site): (u32, SiteId)) -> String {
    format!("refresh {refresh}, {site}")
}
