//! Sites: their names, and their counts against what the walk has seen.

use std::collections::BTreeSet;

use super::{SiteCounts, Walk};
use crate::error::StoreError;
use crate::tables;
use crate::tables::records::{Counters, SiteRecord};
use seedbank_algorithms::page::{MAX_QUALITY, SiteId};

impl Walk<'_> {
    pub(super) fn sites(&mut self, counters: &Counters) -> Result<(), StoreError> {
        let mut names = BTreeSet::new();
        let mut totals = Counters::default();
        self.walk(&tables::SITES, |walk, site, record| {
            let counts = walk.sites.remove(&site).unwrap_or_default();
            walk.site_counts(site, &record, &counts);
            if site.0 >= counters.next_site {
                walk.report
                    .find("sites", site, "its number was not given out yet");
            }
            if !record.name.is_empty() {
                walk.name(site, &record, &mut names)?;
            }
            totals.known += u64::from(record.known);
            totals.crawled += u64::from(record.crawled);
            totals.gone += u64::from(record.gone);
            totals.spam += u64::from(record.spam);
            totals.rows += u64::from(record.rows);
            totals.row_links += record.row_links;
            totals.intra_links += record.intra_links;
            totals.inter_links += record.inter_links;
            Ok(())
        })?;
        for site in std::mem::take(&mut self.sites).into_keys() {
            self.report
                .find("sites", site, "it has pages or rows and no record");
        }
        self.walk(&tables::SITE_IDS, |walk, name, site| {
            if !names.contains(&name) {
                walk.report.find(
                    "site_ids",
                    name,
                    format!("it leads to {site}, which has another name"),
                );
            }
            Ok(())
        })?;
        for (what, counted, kept) in [
            ("known pages", totals.known, counters.known),
            ("crawled pages", totals.crawled, counters.crawled),
            ("gone pages", totals.gone, counters.gone),
            ("spam pages", totals.spam, counters.spam),
            ("rows", totals.rows, counters.rows),
            ("links of rows", totals.row_links, counters.row_links),
            ("intra-site links", totals.intra_links, counters.intra_links),
            ("inter-site links", totals.inter_links, counters.inter_links),
        ] {
            if counted != kept {
                self.report.find(
                    "meta",
                    "Counters",
                    format!("{what}: the sites have {counted}, but the counter has {kept}"),
                );
            }
        }
        Ok(())
    }

    /// A name leads to its site, and to no other. A site that was forgotten has none.
    fn name(
        &mut self,
        site: SiteId,
        record: &SiteRecord,
        names: &mut BTreeSet<String>,
    ) -> Result<(), StoreError> {
        match self.store.get(&tables::SITE_IDS, &record.name) {
            Ok(Some(id)) if id == site => {}
            Ok(_) => self.report.find(
                "site_ids",
                &record.name,
                format!("it is the name of {site}, but does not lead there"),
            ),
            Err(e) if e.is_damage() => {
                self.report.find("site_ids", &record.name, e.to_string());
            }
            Err(e) => return Err(e),
        }
        if !names.insert(record.name.clone()) {
            self.report.find(
                "sites",
                site,
                format!("another site has its name {}", record.name),
            );
        }
        Ok(())
    }

    fn site_counts(&mut self, site: SiteId, record: &SiteRecord, counts: &SiteCounts) {
        let seen = &counts.seen;
        for (what, counted, kept) in [
            (
                "known pages",
                u64::from(seen.known),
                u64::from(record.known),
            ),
            (
                "crawled pages",
                u64::from(seen.crawled),
                u64::from(record.crawled),
            ),
            ("gone pages", u64::from(seen.gone), u64::from(record.gone)),
            ("spam pages", u64::from(seen.spam), u64::from(record.spam)),
            ("rows", u64::from(seen.rows), u64::from(record.rows)),
            ("links of rows", seen.row_links, record.row_links),
            ("intra-site links", seen.intra_links, record.intra_links),
            ("inter-site links", seen.inter_links, record.inter_links),
            (
                "qualities of known pages",
                seen.known_quality,
                record.known_quality,
            ),
            (
                "qualities of crawled pages",
                seen.crawled_quality,
                record.crawled_quality,
            ),
            (
                "pages with a digest",
                u64::from(seen.with_digest),
                u64::from(record.with_digest),
            ),
            (
                "distinct digests",
                u64::from(counts.distinct),
                u64::from(record.distinct_digests),
            ),
        ] {
            if counted != kept {
                self.report.find(
                    "sites",
                    site,
                    format!("{what}: {counted} found, but the record has {kept}"),
                );
            }
        }
        let quality = record.given.quality;
        if quality.is_some_and(|quality| quality > MAX_QUALITY) {
            self.report
                .find("sites", site, "the quality that is given of it is above 1");
        }
        for (what, sum) in [
            ("pages and page_ids do not match", counts.names),
            ("pages and row_members do not match", counts.members),
            ("pages and digests do not match", counts.digests),
        ] {
            if sum != 0 {
                self.report
                    .find("sites", format!("{site} ({})", record.name), what);
            }
        }
        if counts
            .highest_page
            .is_some_and(|highest| highest >= record.next_page)
        {
            self.report.find(
                "sites",
                site,
                "a page has an index that is not assigned yet",
            );
        }
        if counts
            .highest_row
            .is_some_and(|highest| highest >= record.next_row)
        {
            self.report
                .find("sites", site, "a row has an index that is not assigned yet");
        }
    }
}
