//! Check of sites: names, and counts against the other tables.

use std::collections::BTreeSet;

use super::{SiteCounts, Walk};
use crate::error::StoreError;
use crate::tables::records::{Counters, SiteRecord};
use crate::tables::{self, SiteIds};
use seedbank_algorithms::page::{MAX_QUALITY, SiteId};

impl Walk<'_> {
    pub(super) fn sites(&mut self, counters: &Counters) -> Result<(), StoreError> {
        let mut names = BTreeSet::new();
        let ids = SiteIds::load(self.store)?;
        let mut totals = Counters::default();
        self.walk(&tables::SITES, |walk, site, record| {
            let counts = walk.sites.remove(&site).unwrap_or_default();
            walk.site_counts(site, &record, &counts);
            if site.0 >= counters.next_site {
                walk.find("sites", site, "its number is not assigned yet");
            }
            if let Some(what) = ids.fault(site, &record.name) {
                walk.find("sites", site, what);
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
            self.find("sites", site, "it has pages or rows and no record");
        }
        self.walk(&tables::SITE_IDS, |walk, name, site| {
            if !names.contains(&name) {
                let what = format!("it refers to {site}, which has another name");
                walk.find("site_ids", name, what);
            }
            Ok(())
        })?;
        for (what, counted, recorded) in [
            ("known pages", totals.known, counters.known),
            ("crawled pages", totals.crawled, counters.crawled),
            ("gone pages", totals.gone, counters.gone),
            ("spam pages", totals.spam, counters.spam),
            ("rows", totals.rows, counters.rows),
            ("links of rows", totals.row_links, counters.row_links),
            ("intra-site links", totals.intra_links, counters.intra_links),
            ("inter-site links", totals.inter_links, counters.inter_links),
        ] {
            if counted != recorded {
                let what =
                    format!("{what}: the sites have {counted}, but the counter has {recorded}");
                self.find("meta", "Counters", what);
            }
        }
        Ok(())
    }

    /// The name of a site refers to the site, and to no other. A forgotten site has no name.
    fn name(
        &mut self,
        site: SiteId,
        record: &SiteRecord,
        names: &mut BTreeSet<String>,
    ) -> Result<(), StoreError> {
        match self.store.get(&tables::SITE_IDS, &record.name) {
            Ok(Some(id)) if id == site => {}
            Ok(_) => self.find(
                "site_ids",
                &record.name,
                format!("it is the name of {site}, but does not refer to it"),
            ),
            Err(e) if e.is_damage() => {
                self.find("site_ids", &record.name, e.to_string());
            }
            Err(e) => return Err(e),
        }
        if !names.insert(record.name.clone()) {
            let what = format!("another site has its name {}", record.name);
            self.find("sites", site, what);
        }
        Ok(())
    }

    fn site_counts(&mut self, site: SiteId, record: &SiteRecord, counts: &SiteCounts) {
        let pairs = site_totals(&counts.seen)
            .into_iter()
            .zip(site_totals(record));
        for ((what, counted), (_, recorded)) in
            pairs.filter(|(counted, recorded)| counted != recorded)
        {
            let what = format!("{what}: {counted} found, but the record has {recorded}");
            self.find("sites", site, what);
        }
        let quality = record.defaults.quality;
        if quality.is_some_and(|quality| quality > MAX_QUALITY) {
            self.find("sites", site, "its quality is above 1");
        }
        for (what, sum) in [
            ("pages and page_ids do not match", counts.names),
            ("pages and row_members do not match", counts.members),
            ("pages and digests do not match", counts.digests),
        ] {
            if sum != 0 {
                self.find("sites", format!("{site} ({})", record.name), what);
            }
        }
        if counts
            .highest_page
            .is_some_and(|highest| highest >= record.next_page)
        {
            let what = "a page has an index that is not assigned yet";
            self.find("sites", site, what);
        }
        if counts
            .highest_row
            .is_some_and(|highest| highest >= record.next_row)
        {
            self.find("sites", site, "a row has an index that is not assigned yet");
        }
    }
}

/// Returns the counts of a site that the check recomputes.
fn site_totals(site: &SiteRecord) -> [(&'static str, u64); 12] {
    [
        ("known pages", site.known.into()),
        ("crawled pages", site.crawled.into()),
        ("gone pages", site.gone.into()),
        ("spam pages", site.spam.into()),
        ("rows", site.rows.into()),
        ("links of rows", site.row_links),
        ("intra-site links", site.intra_links),
        ("inter-site links", site.inter_links),
        ("qualities of known pages", site.known_quality),
        ("qualities of crawled pages", site.crawled_quality),
        ("pages with a digest", site.with_digest.into()),
        ("distinct digests", site.distinct_digests.into()),
    ]
}
