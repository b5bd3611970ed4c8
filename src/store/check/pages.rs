//! Check of sites and pages, and of what is stored by page.

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringTreemap;

use super::{SiteCounts, Walk};
use crate::error::StoreError;
use crate::format::Format;
use crate::tables::changes::is_undoable;
use crate::tables::records::links::LinkKey;
use crate::tables::records::undo::Overwritten;
use crate::tables::records::{
    BatchKind, Counters, Meta, PageRecord, PageState, SiteDefaults, SiteRecord, UndoRecord,
};
use crate::tables::{self, ALL, META, MetaKey, SiteIds};
use seedbank_algorithms::page::{MAX_QUALITY, PageId, PageSet, RowId, SiteId};

// Check of sites: names, and counts against the other tables.

impl Walk<'_> {
    pub(super) fn sites(&mut self, counters: &Counters) -> Result<(), StoreError> {
        let mut names = BTreeSet::new();
        let ids = self.site_ids(counters)?;
        let mut totals = Counters::default();
        self.walk(&tables::SITES, |walk, site, record| {
            let counts = walk.sites.remove(&site).unwrap_or_default();
            walk.site_counts(site, &record, &counts);
            if site.0 >= counters.next_site {
                walk.find("sites", site, "its number is not assigned yet");
            }
            let fault = ids.as_ref().and_then(|ids| ids.fault(site, &record.name));
            if let Some(what) = fault {
                walk.find("sites", site, what);
            }
            if !record.name.is_empty() {
                walk.name(site, &record, &mut names)?;
            }
            totals.known += u64::from(record.known);
            totals.crawled += u64::from(record.crawled);
            totals.gone += u64::from(record.gone);
            totals.documents += u64::from(record.documents);
            totals.resources += u64::from(record.resources);
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
            ("documents", totals.documents, counters.documents),
            ("resources", totals.resources, counters.resources),
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

    /// The numbers of assigned ids match the counter; returns `None` if they cannot be read.
    fn site_ids(&mut self, counters: &Counters) -> Result<Option<SiteIds>, StoreError> {
        let ids = match SiteIds::load(self.store) {
            Err(StoreError::Damaged { table, key, what }) => {
                self.find(table, key, what);
                return Ok(None);
            }
            ids => ids?,
        };
        if ids.end() != u64::from(counters.next_site) {
            let what = format!(
                "the ids of sites end at {}, but the counter has {}",
                ids.end(),
                counters.next_site
            );
            self.find("meta", "Shards", what);
        }
        Ok(Some(ids))
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
fn site_totals(site: &SiteRecord) -> [(&'static str, u64); 14] {
    [
        ("known pages", site.known.into()),
        ("crawled pages", site.crawled.into()),
        ("gone pages", site.gone.into()),
        ("documents", site.documents.into()),
        ("resources", site.resources.into()),
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

// Check of the effective spam mark and quality of pages.

impl Walk<'_> {
    pub(super) fn inherited_attributes(
        &mut self,
        page: PageId,
        record: &PageRecord,
    ) -> Result<(), StoreError> {
        let own = record.quality_given;
        if own.is_some_and(|quality| quality > MAX_QUALITY) {
            self.find("pages", page, "its quality is above 1");
        }
        let mut expected = record.clone();
        expected.inherit(&self.site_defaults(page)?);
        if (expected.spam, expected.quality) != (record.spam, record.quality) {
            let what =
                "its effective spam mark or quality differs from that of the page, or of its site";
            self.find("pages", page, what);
        }
        Ok(())
    }

    /// Returns the attributes of the site of a page; none if its record cannot be read, which the check of
    /// `sites` reports.
    fn site_defaults(&mut self, page: PageId) -> Result<SiteDefaults, StoreError> {
        let site = page.site();
        if let Some((last, defaults)) = self.defaults
            && last == site
        {
            return Ok(defaults);
        }
        let defaults = match self.store.get(&tables::SITES, &site) {
            Ok(record) => record.unwrap_or_default().defaults,
            Err(e) if e.is_damage() => SiteDefaults::default(),
            Err(e) => return Err(e),
        };
        self.defaults = Some((site, defaults));
        Ok(defaults)
    }
}

// Check of the failed fetches of pages.

impl Walk<'_> {
    /// Compares failed fetches with their pages, and their number with that of the last batch.
    pub(super) fn failures(&mut self, counters: &Counters) -> Result<(), StoreError> {
        let mut pages = 0;
        self.walk(&tables::FAILURES, |walk, page, failures| {
            pages += 1;
            if failures.half_days & 1 == 0 {
                walk.find(
                    "failures",
                    page,
                    "the half-day of the last one does not count",
                );
            }
            match walk.store.get(&tables::PAGES, &page) {
                Ok(Some(record)) if record.state == PageState::Unlinked => {
                    walk.find("failures", page, "the page is unlinked");
                }
                Ok(Some(record))
                    if record
                        .fetched
                        .is_some_and(|at| failures.after(at) != Some(failures)) =>
                {
                    let what = "the last fetch of the page that did not fail is not before these";
                    walk.find("failures", page, what);
                }
                Ok(Some(_)) => {}
                Ok(None) => walk.require_page("failures", page, page),
                // The check of `pages` reports it.
                Err(e) if e.is_damage() => {}
                Err(e) => return Err(e),
            }
            Ok(())
        })?;
        let expected = match self.store.get(&tables::BATCHES, &counters.batch) {
            Ok(batch) => batch.map_or(0, |batch| batch.failing),
            // The check of `batches` reports it.
            Err(e) if e.is_damage() => return Ok(()),
            Err(e) => return Err(e),
        };
        if pages != expected {
            let what =
                format!("{pages} pages have failed fetches, but the last batch has {expected}");
            self.find("failures", "(all)", what);
        }
        Ok(())
    }
}

// Check of what fetches brought, and of what batches overwrote of them.

impl Walk<'_> {
    /// Compares what fetches brought with the pages.
    pub(super) fn yields(&mut self, counters: &Counters) -> Result<(), StoreError> {
        self.walk(&tables::YIELDS, |walk, key, block| {
            for (place, _) in block.0 {
                let page = PageId::new(key.site, key.index(place));
                match walk.store.get(&tables::PAGES, &page) {
                    Ok(Some(record)) if record.fetched.is_none() => {
                        walk.find("yields", page, "the page has no time of a fetch");
                    }
                    Ok(Some(_)) => {}
                    Ok(None) => walk.require_page("yields", page, page),
                    // The check of `pages` reports it.
                    Err(e) if e.is_damage() => {}
                    Err(e) => return Err(e),
                }
            }
            Ok(())
        })?;
        let last = counters.batch;
        self.walk(&tables::FETCH_HISTORY, |walk, (batch, key), block| {
            let key: LinkKey = key;
            if batch == 0 || batch > last {
                walk.find("fetch_history", batch, "there is no such batch");
            }
            for (place, _) in block.0 {
                let page = PageId::new(key.site, key.index(place));
                walk.require_page("fetch_history", page, page);
            }
            Ok(())
        })
    }
}

// Check of the fetches that crawlers attribute to seeds.

impl Walk<'_> {
    /// Compares the fetches with their pages, and their numbers with those of the batches. An undone batch has
    /// none.
    pub(super) fn seed_fetches(&mut self) -> Result<(), StoreError> {
        let mut counted: BTreeMap<u32, u64> = BTreeMap::new();
        self.walk(&tables::SEED_FETCHES, |walk, key, block| {
            let of_batch = counted.entry(key.batch).or_default();
            for (place, fetches) in block.0 {
                *of_batch += fetches.count();
                let name = format!("batch {}, {}, block {}", key.batch, key.site, key.block);
                let Some(page) = key.page(place) else {
                    walk.find("seed_fetches", name, "it has a page that cannot exist");
                    continue;
                };
                let fetches = [fetches.answered, fetches.failed].into_iter().flatten();
                let others = fetches.flat_map(|fetch| [Some(fetch.seed), fetch.via]);
                for page in others.flatten().chain([page]) {
                    walk.require_page("seed_fetches", &name, page);
                }
            }
            Ok(())
        })?;
        let mut expected: BTreeMap<u32, u64> = BTreeMap::new();
        for entry in self.store.scan(&tables::BATCHES)? {
            let (batch, record) = match entry {
                Ok(entry) => entry,
                // The check of `batches` reports it.
                Err(e) if e.is_damage() => continue,
                Err(e) => return Err(e),
            };
            if record.kind == BatchKind::Undo {
                expected.remove(&batch.wrapping_sub(1));
            } else if record.attributed > 0 {
                expected.insert(batch, record.attributed);
            }
        }
        let numbers = counted.keys().chain(expected.keys());
        let mut unequal: Vec<u32> = numbers
            .copied()
            .filter(|batch| counted.get(batch) != expected.get(batch))
            .collect();
        unequal.sort_unstable();
        unequal.dedup();
        for batch in unequal {
            let of = |counts: &BTreeMap<u32, u64>| counts.get(&batch).copied().unwrap_or(0);
            let what = format!(
                "{} fetches found, but the batch has {}",
                of(&counted),
                of(&expected)
            );
            self.find("seed_fetches", format!("batch {batch}"), what);
        }
        Ok(())
    }
}

// Check of the history of pages: the sets in `page_sets` have exactly the pages in `page_history`, and every
// row in it exists.

impl Walk<'_> {
    pub(super) fn page_history(&mut self, counters: &Counters) -> Result<(), StoreError> {
        // Rows that no longer exist, each with the last batch that removed it from a page.
        let mut removed: BTreeMap<RowId, u32> = BTreeMap::new();
        self.walk(&tables::PAGE_HISTORY, |walk, (batch, page), previous| {
            walk.history.entry(batch).or_default().insert(page.0);
            if batch > counters.batch {
                let name = format!("batch {batch}, {page}");
                let what = "it refers to a batch that does not exist";
                walk.find("page_history", name, what);
            }
            let row = previous.row.map(|row| RowId::new(page.site(), row));
            if let Some(row) = row.filter(|row| !walk.rows.contains(row.0)) {
                let last = removed.entry(row).or_default();
                *last = batch.max(*last);
            }
            Ok(())
        })?;
        self.walk(&tables::REMOVED_ROWS, |walk, row, removed_row| {
            if walk.rows.contains(row.0) {
                walk.find("removed_rows", row, "pages have it");
            } else if removed.remove(&row) != Some(removed_row.until) {
                let what = "no page had it until the recorded batch";
                walk.find("removed_rows", row, what);
            }
            let mut targets = removed_row.targets.iter();
            if let Some(target) = targets.find(|target| !walk.pages.contains(**target)) {
                walk.find("removed_rows", row, format!("{target} does not exist"));
            }
            Ok(())
        })?;
        for row in removed.keys() {
            self.find("page_history", row, "a page had it, but it is missing");
        }
        Ok(())
    }

    /// Compares a part of the set of a batch in `page_sets` with the pages found in `page_history`: what is only
    /// in one of them remains.
    pub(super) fn history_set(&mut self, batch: u32, pages: &PageSet) {
        *self.history.entry(batch).or_default() ^= pages;
    }

    /// Reports pages that are only in `page_history`, or only in the set of a batch in `page_sets`.
    pub(super) fn history_differences(&mut self) {
        for (batch, pages) in std::mem::take(&mut self.history) {
            self.history_differs(batch, &pages);
        }
    }

    fn history_differs(&mut self, batch: u32, pages: &RoaringTreemap) {
        if let Some(page) = pages.min() {
            let name = format!("batch {batch}, {}", PageId(page));
            let what = format!(
                "{} pages are either here or in the set of the batch, not in both",
                pages.len()
            );
            self.find("page_history", name, what);
        }
    }
}

// Check of `meta`: each record exists and matches its key.

impl Walk<'_> {
    /// Returns the counters; zeros if they are lost.
    pub(super) fn meta(&mut self) -> Result<Counters, StoreError> {
        let mut counters = None;
        let mut settings = false;
        let mut format = false;
        let mut lineage = false;
        self.walk(&META, |walk, key, record| {
            match (key, record) {
                (MetaKey::Format, Meta::Format(found)) => {
                    format = true;
                    let expected = Format::current();
                    if found != expected {
                        let what = format!("expected {expected}, found {found}");
                        walk.find("meta", "Format", what);
                    }
                }
                (MetaKey::Settings, Meta::Settings(_)) => settings = true,
                (MetaKey::Counters, Meta::Counters(found)) => counters = Some(found),
                (MetaKey::Intent, Meta::Intent(_)) => {
                    walk.find("meta", "Intent", "a bulk load is unfinished");
                }
                (MetaKey::Lineage, Meta::Lineage(_)) => lineage = true,
                (MetaKey::Undo, Meta::Undo(found)) => walk.undo = Some(found),
                (MetaKey::Secret, Meta::Secret(_)) | (MetaKey::Shards, Meta::Shards(_)) => {}
                _ => walk.report.find(
                    "meta",
                    format!("{key:?}"),
                    "the record belongs to another key",
                ),
            }
            Ok(())
        })?;
        let found = [
            ("Format", format),
            ("Settings", settings),
            ("Counters", counters.is_some()),
            ("Lineage", lineage),
        ];
        for (name, is_found) in found {
            if !is_found {
                self.find("meta", name, "the record is missing");
            }
        }
        Ok(counters.unwrap_or_default())
    }
}

// Check of the entries for undoing the last batch, and of the blocklist.

impl Walk<'_> {
    pub(super) fn undo(&mut self, counters: &Counters) -> Result<(), StoreError> {
        // In a cluster bank, each part has a record of its own entries.
        let record = match self.undo.take() {
            Some(_) => self.store.undo_record()?,
            None => None,
        };
        if record.is_some_and(|record| record.batch != counters.batch) {
            let what = "it does not belong to the last batch";
            self.find("meta", "Undo", what);
        }
        let mut found = record.map(|record| UndoRecord {
            entries: 0,
            bytes: 0,
            sum: 0,
            ..record
        });
        let mut unexpected = 0_u64;
        self.walk(&tables::UNDO, |_, key, Overwritten(previous)| {
            let of_table = ALL.get(usize::from(key.table)).is_some_and(is_undoable);
            match &mut found {
                Some(found) if of_table && key.batch == found.batch => {
                    found.add(&key, previous.as_deref());
                }
                _ => unexpected += 1,
            }
            Ok(())
        })?;
        if unexpected > 0 || found != record {
            let what = "they differ from the record for undoing the last batch";
            self.find("undo", "(all)", what);
        }
        Ok(())
    }

    pub(super) fn blocklist(&mut self, counters: &Counters) -> Result<(), StoreError> {
        // A record of another key is reported by the check of `meta`.
        let secret = self.store.has(&tables::META, &MetaKey::Secret)?;
        let first = self.store.scan(&tables::BLOCKLIST)?.next();
        if first.is_some() && !secret {
            let what = "the secret of their hashes is missing";
            self.find("blocklist", "(all)", what);
        }
        self.walk(&tables::BLOCKLIST, |walk, _, entry| {
            if entry.batch > counters.batch {
                let what = format!("it refers to batch {}, which does not exist", entry.batch);
                walk.find("blocklist", "(a hash)", what);
            }
            Ok(())
        })
    }
}
