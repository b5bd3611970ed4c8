//! Check of all tables for consistency with each other.
//!
//! Sets of pages and rows are bitmaps. Links are compared with their transposes by sums: each link adds a
//! 64-bit hash on one side and subtracts it on the other, per site, and only a site with a non-zero sum is
//! compared link by link. The probability that errors cancel out is negligible.
//!
//! Entries are checked in the order of their keys by one thread, while another one reads and decodes the next
//! ones, so findings do not depend on threads.
//!
//! Cost: scans every table once, and page evidence and sets of pages twice. Memory: bitmaps of pages, and a few
//! counters for each site.

use std::collections::BTreeMap;
use std::fmt::Display;

use roaring::{RoaringBitmap, RoaringTreemap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::tables::records::{PageState, SiteDefaults, SiteRecord, UndoRecord};
use crate::tables::store::Store;
use crate::tables::table::{Hash128, Key, Table, Value};
use crate::tables::{self, CoreScoresKey, PageSetKey};
use seedbank_algorithms::page::{PageId, PageKind, PageSet, RowId, SiteId};
use seedbank_algorithms::watch::Watch;

pub use self::graph_image::ImageCheck;

mod graph_image;
mod links;
mod pages;
mod refreshes;

/// An inconsistency in a bank.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The table.
    pub table: String,
    /// The key in readable form.
    pub key: String,
    /// What is wrong.
    pub what: String,
}

/// The maximum number of reported findings; all are counted.
const MAX_FINDINGS: usize = 1000;

/// The maximum number of entries that are read before they are checked, and the number of bytes of keys and values
/// after which no further entry is.
const PART_ENTRIES: usize = 1 << 12;
const PART_BYTES: usize = 1 << 18;

/// The result of a check of the tables.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CheckReport {
    /// The first 1,000 findings, in the order of the check.
    pub findings: Vec<Finding>,
    /// The number of all findings.
    pub count: u64,
    /// The number of entries read, by table.
    pub entries: BTreeMap<String, u64>,
}

impl CheckReport {
    /// Returns whether there are no findings.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.count == 0
    }

    fn find(&mut self, table: &'static str, key: impl Display, what: impl Into<String>) {
        self.count += 1;
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(Finding {
                table: table.to_owned(),
                key: key.to_string(),
                what: what.into(),
            });
        }
    }
}

/// Counts and sums of a site, computed by the check.
#[derive(Default)]
struct SiteCounts {
    seen: SiteRecord,
    /// Sum of the hashes of the digests of its pages, minus those of its digest counts.
    digests: u64,
    /// Sum of the hashes of intra-site links by block, minus those of their transpose.
    intra: u64,
    /// Sum of the hashes of rows, minus those of citers, by the citing site.
    rows: u64,
    /// Sum of the hashes of rows, minus those of rows by hash.
    row_hashes: u64,
    /// Sum of the hashes of the rows of its pages, minus those of the members of its rows.
    members: u64,
    /// Sum of the hashes of the numbers of known targets of its pages, minus those in the records of the pages.
    uncrawled: u64,
    /// Sum of the hashes of page ids, minus those of pages.
    names: u64,
    highest_page: Option<u32>,
    highest_row: Option<u32>,
}

/// The state of a check.
struct Walk<'a> {
    store: &'a Store,
    watch: &'a dyn Watch,
    report: CheckReport,
    sites: BTreeMap<SiteId, SiteCounts>,
    known: PageIndex,
    live: RoaringTreemap,
    pages: PageIndex,
    /// Known pages that never had a record, so they must be linked to.
    need_link: RoaringTreemap,
    /// Pages that must not be linked to.
    unlinked: RoaringTreemap,
    /// Pages that a link leads to.
    linked: PageIndex,
    /// Pages that are marked as aliases.
    aliases: RoaringTreemap,
    /// Targets of aliases.
    alias_targets: RoaringTreemap,
    /// Sum of the hashes of the canonical pages of pages.
    canonicals: u64,
    rows: RoaringTreemap,
    /// The site of the last page, and its attributes.
    defaults: Option<(SiteId, SiteDefaults)>,
    /// Pages with an entry in `page_history`, by batch.
    history: BTreeMap<u32, RoaringTreemap>,
    /// The record for undoing the last batch; `None` if it cannot be undone.
    undo: Option<UndoRecord>,
}

fn hash(parts: &[&[u8]]) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    hasher
        .finalize()
        .as_bytes()
        .first_chunk::<8>()
        .map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Hashes two ids. There are too many links for a cryptographic hash.
fn mix(a: u64, b: u64) -> u64 {
    let mut x = a.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ b.rotate_left(32);
    for _ in 0..2 {
        x = (x ^ (x >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    }
    (x ^ (x >> 32)).wrapping_add(b.wrapping_mul(0xa076_1d64_78bd_642f))
}

/// Hashes the number of known intra-site targets of a page.
fn uncrawled_hash(page: PageId, count: u32) -> u64 {
    mix(page.0, count.into())
}

impl Store {
    /// Checks every table. Damage is in the report; an `Err` means that reading failed.
    pub fn check(&self, watch: &dyn Watch) -> Result<CheckReport, StoreError> {
        let mut walk = Walk {
            store: self,
            watch,
            report: CheckReport::default(),
            sites: BTreeMap::new(),
            known: PageIndex::default(),
            live: RoaringTreemap::new(),
            pages: PageIndex::default(),
            need_link: RoaringTreemap::new(),
            unlinked: RoaringTreemap::new(),
            linked: PageIndex::default(),
            aliases: RoaringTreemap::new(),
            alias_targets: RoaringTreemap::new(),
            canonicals: 0,
            rows: RoaringTreemap::new(),
            defaults: None,
            history: BTreeMap::new(),
            undo: None,
        };
        let counters = walk.meta()?;
        walk.pages(counters.batch)?;
        walk.page_ids()?;
        walk.intra()?;
        walk.rows()?;
        walk.citers()?;
        walk.members()?;
        walk.aliases()?;
        walk.canonical_references()?;
        walk.row_hashes()?;
        walk.uncrawled()?;
        walk.digests()?;
        walk.sites(&counters)?;
        walk.linked();
        walk.failures(&counters)?;
        walk.yields(&counters)?;
        walk.seed_fetches()?;
        walk.page_history(&counters)?;
        walk.undo(&counters)?;
        walk.blocklist(&counters)?;
        walk.refresh_tables(&counters)?;
        Ok(walk.report)
    }
}

impl Walk<'_> {
    fn find(&mut self, table: &'static str, key: impl Display, what: impl Into<String>) {
        self.report.find(table, key, what);
    }

    /// Reports a page that does not exist.
    fn require_page(&mut self, table: &'static str, key: impl Display, page: PageId) {
        if !self.pages.contains(page) {
            self.find(table, key, format!("{page} does not exist"));
        }
    }

    /// Calls `each` for every readable entry of a table, in key order; an unreadable one is a finding.
    ///
    /// While the entries of one part of the table are checked, another thread reads and decodes the next part.
    fn walk<K: Key + Send, V: Value + Send>(
        &mut self,
        table: &Table<K, V>,
        mut each: impl FnMut(&mut Self, K, V) -> Result<(), StoreError> + Send,
    ) -> Result<(), StoreError> {
        self.watch.stage(table.name, None);
        let mut scan = self.store.scan(table)?;
        let mut entries = 0_u64;
        let mut part = scan.next_part(PART_ENTRIES, PART_BYTES);
        while !part.is_empty() {
            self.watch.proceed()?;
            entries += part.len() as u64;
            let (checked, next) = rayon::join(
                || self.check_part(table.name, part, &mut each),
                || scan.next_part(PART_ENTRIES, PART_BYTES),
            );
            checked?;
            part = next;
        }
        self.report.entries.insert(table.name.to_owned(), entries);
        Ok(())
    }

    fn check_part<K, V>(
        &mut self,
        table: &'static str,
        part: Vec<Result<(K, V), StoreError>>,
        each: &mut impl FnMut(&mut Self, K, V) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        for entry in part {
            match entry {
                Ok((key, value)) => each(self, key, value)?,
                Err(StoreError::Damaged { table, key, what }) => self.find(table, key, what),
                // The scan has ended.
                Err(e) if e.is_damage() => {
                    let what = format!("cannot be read: {e}: {}", cause(&e));
                    self.find(table, "(remaining keys)", what);
                }
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    fn site(&mut self, site: SiteId) -> &mut SiteCounts {
        self.sites.entry(site).or_default()
    }

    fn pages(&mut self, last_batch: u32) -> Result<(), StoreError> {
        self.walk(&tables::PAGES, |walk, page, record| {
            walk.pages.insert(page);
            let name = hash(&[record.local.as_bytes(), &page.index().to_be_bytes()]);
            let site = walk.site(page.site());
            // A forgotten page has no URL and no entry in `page_ids`.
            if !record.is_nameless() {
                site.names = site.names.wrapping_add(name);
            } else if record.state != PageState::Unlinked {
                let what = "it has no URL, but its state is not unlinked";
                walk.find("pages", page, what);
            }
            let site = walk.site(page.site());
            site.highest_page = site.highest_page.max(Some(page.index()));
            match record.state {
                PageState::Known => site.seen.known += 1,
                PageState::Crawled => site.seen.crawled += 1,
                PageState::Gone => site.seen.gone += 1,
                PageState::Resource => site.seen.resources += 1,
                PageState::Unlinked | PageState::Alias => {}
            }
            site.seen.documents += u32::from(record.is_document());
            if record.state.is_live() && record.spam {
                site.seen.spam += 1;
            }
            match record.state {
                PageState::Known => site.seen.known_quality += u64::from(record.quality()),
                PageState::Crawled => site.seen.crawled_quality += u64::from(record.quality()),
                PageState::Gone | PageState::Unlinked | PageState::Alias | PageState::Resource => {}
            }
            if let (Some(digest), PageState::Crawled) = (&record.digest, record.state) {
                site.seen.with_digest += 1;
                site.digests = site.digests.wrapping_add(hash(&[digest]));
            }
            if record.uncrawled_intra > 0 {
                let uncrawled = uncrawled_hash(page, record.uncrawled_intra);
                site.uncrawled = site.uncrawled.wrapping_add(uncrawled);
            }
            if let Some(row) = record.row {
                let member = mix(RowId::new(page.site(), row).0, u64::from(page.index()));
                site.members = site.members.wrapping_add(member);
            }
            if record.state == PageState::Known {
                walk.known.insert(page);
            } else if record.state == PageState::Alias {
                walk.aliases.insert(page.0);
            }
            if record.state.is_live() {
                walk.live.insert(page.0);
            } else if record.row.is_some() {
                let what = "a page that is gone, unlinked, an alias or a resource has a row";
                walk.find("pages", page, what);
            }
            if record.last_seen.is_none() {
                match record.state {
                    PageState::Known => {
                        walk.need_link.insert(page.0);
                    }
                    PageState::Unlinked => {
                        walk.unlinked.insert(page.0);
                    }
                    PageState::Crawled
                    | PageState::Gone
                    | PageState::Alias
                    | PageState::Resource => {
                        let what = "its state requires a record, but it never had one";
                        walk.find("pages", page, what);
                    }
                }
            } else if record.state == PageState::Unlinked {
                walk.find("pages", page, "it had a record and is marked as unlinked");
            }
            let kind = match record.state {
                PageState::Resource => PageKind::Resource,
                PageState::Crawled => record.kind.max(PageKind::Document),
                _ => PageKind::Page,
            };
            if record.kind != kind {
                walk.find("pages", page, "its kind does not fit its state");
            }
            if let Some(to) = record.canonical {
                walk.canonicals = walk.canonicals.wrapping_add(mix(page.0, to.0));
                if record.state != PageState::Crawled || to == page {
                    walk.find("pages", page, "it cannot have this canonical page");
                }
            }
            if !record.is_nameless() {
                walk.inherited_attributes(page, &record)?;
            }
            if record.first_seen.max(record.last_seen.unwrap_or(0)) > last_batch {
                walk.find("pages", page, "it refers to a batch that does not exist");
            }
            Ok(())
        })
    }

    fn page_ids(&mut self) -> Result<(), StoreError> {
        self.walk(&tables::PAGE_IDS, |walk, (site, local), index| {
            let name = hash(&[local.as_bytes(), &index.to_be_bytes()]);
            let counts = walk.site(site);
            counts.names = counts.names.wrapping_sub(name);
            if !walk.pages.contains(PageId::new(site, index)) {
                let what = format!(
                    "it refers to {}, which does not exist",
                    PageId::new(site, index)
                );
                walk.find("page_ids", format!("{site}, {local:?}"), what);
            }
            Ok(())
        })
    }

    fn digests(&mut self) -> Result<(), StoreError> {
        self.walk(
            &tables::DIGESTS,
            |walk, (site, digest): (SiteId, Hash128), count| {
                let sum = hash(&[&digest]).wrapping_mul(u64::from(count));
                let counts = walk.site(site);
                counts.digests = counts.digests.wrapping_sub(sum);
                counts.seen.distinct_digests += 1;
                if count == 0 {
                    walk.find("digests", site, "its count is 0");
                }
                Ok(())
            },
        )
    }

    fn linked(&mut self) {
        let linked = std::mem::take(&mut self.linked).into_set();
        let unreferenced = &(&self.need_link - &linked) - &self.alias_targets;
        for page in &unreferenced {
            let what = "it never had a record, but no page links to it and no alias leads to it";
            self.find("pages", PageId(page), what);
        }
        let referenced = &self.unlinked & &(&linked | &self.alias_targets);
        for page in &referenced {
            let what = "it is marked as unlinked, but a page links to it or an alias leads to it";
            self.find("pages", PageId(page), what);
        }
        for page in self.pages.missing(&linked) {
            self.find("pages", page, "it is linked to and has no record");
        }
    }
}

fn cause(e: &StoreError) -> String {
    std::error::Error::source(e).map_or_else(|| e.to_string(), ToString::to_string)
}

/// Names a set of pages in a finding.
fn page_set_name(key: PageSetKey) -> String {
    match key {
        PageSetKey::Changed(batch) => format!("changed by batch {batch}"),
        PageSetKey::Removed(refresh) => format!("removed by refresh {refresh}"),
        PageSetKey::History(batch) => format!("in the history of batch {batch}"),
        PageSetKey::EvidenceBlocks(refresh) => {
            format!("blocks of page evidence written by refresh {refresh}")
        }
        PageSetKey::Covered(key) => format!(
            "refresh {}, {}, pick {}, hop {}",
            key.refresh, key.site, key.pick, key.hop
        ),
    }
}

fn core_scores_name(key: CoreScoresKey) -> String {
    format!("refresh {}, core {}, {:?}", key.refresh, key.rank, key.side)
}

/// A set of pages in which the bitmap of a site is found by its id.
///
/// [`PageSet`] compares two sets by walking the sites of both, which is quadratic if many sets of a few sites
/// are compared with a set of all sites. Here a comparison costs a lookup for each site of the other set.
#[derive(Default)]
struct PageIndex(BTreeMap<u32, RoaringBitmap>);

impl PageIndex {
    fn insert(&mut self, page: PageId) {
        self.of_site_mut(page.site()).insert(page.index());
    }

    /// Returns the indexes of the pages of a site; `None` if there are none.
    fn of_site(&self, site: SiteId) -> Option<&RoaringBitmap> {
        self.0.get(&site.0)
    }

    fn of_site_mut(&mut self, site: SiteId) -> &mut RoaringBitmap {
        self.0.entry(site.0).or_default()
    }

    fn into_set(self) -> PageSet {
        PageSet::from_bitmaps(self.0)
    }

    fn contains(&self, page: PageId) -> bool {
        let of_site = self.of_site(page.site());
        of_site.is_some_and(|of_site| of_site.contains(page.index()))
    }

    /// Returns whether all pages of a set are in this one.
    fn contains_all(&self, pages: &PageSet) -> bool {
        pages.bitmaps().all(|(site, of_site)| {
            let own = self.0.get(&site);
            own.is_some_and(|own| of_site.is_subset(own))
        })
    }

    /// Returns the pages of a set that are not in this one, ascending.
    fn missing(&self, pages: &PageSet) -> Vec<PageId> {
        let of_sites = pages.bitmaps().flat_map(|(site, of_site)| {
            let missing = match self.0.get(&site) {
                Some(own) => of_site - own,
                None => of_site.clone(),
            };
            missing
                .into_iter()
                .map(move |index| PageId::new(SiteId(site), index))
        });
        of_sites.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_compared_site_by_site() {
        let page = |site, index| PageId::new(SiteId(site), index);
        let all = [page(0, 7), page(2, 1), page(2, 3), page(u32::MAX, 0)];
        let mut index = PageIndex::default();
        for page in all {
            index.insert(page);
        }
        assert!(all.iter().all(|page| index.contains(*page)));
        for other in [page(0, 6), page(1, 7), page(2, 2)] {
            assert!(!index.contains(other));
            let set: PageSet = [page(2, 3).0, other.0].into_iter().collect();
            assert!(!index.contains_all(&set));
            assert_eq!(index.missing(&set), [other]);
        }
        assert!(index.contains_all(&PageSet::new()));
        assert!(index.contains_all(&all[1..].iter().map(|page| page.0).collect()));
    }
}
