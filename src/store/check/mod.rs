//! `check`: every table walked against its mirrors.
//!
//! Sets of pages and rows are held as bitmaps. Links are compared with their transposes by sums:
//! each link adds a 64-bit hash on one side and subtracts it on the other, site by site, and a site
//! whose sum is not zero is looked at link by link. That two errors cancel out in 64 bits is as
//! good as impossible.
//!
//! Cost: one scan of every table. Memory: bitmaps of pages, and a few counters for each site.

use std::collections::BTreeMap;
use std::fmt::Display;

use roaring::RoaringTreemap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::tables::records::{PageState, SiteDefaults, SiteRecord, UndoRecord};
use crate::tables::store::Store;
use crate::tables::table::Hash128;
use crate::tables::table::{Key, Table, Value};
use crate::tables::{self, CoreScoresKey, PageSetKey};
use seedbank_algorithms::page::{PageId, RowId, SiteId};
use seedbank_algorithms::watch::Watch;

mod aliases;
mod component_cache;
mod covers;
mod evidence;
mod final_list;
mod inherited_attributes;
mod links;
mod meta;
mod page_history;
mod refreshes;
mod rows;
mod sites;
mod step_cache;
mod undo;
mod web_covers;

/// Something that is wrong with a bank.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The table.
    pub table: String,
    /// The key, in words.
    pub key: String,
    /// What is wrong.
    pub what: String,
}

/// How many findings are kept at most; all are counted.
const KEPT: usize = 1000;

/// What a check found.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CheckReport {
    /// What is wrong in the tables, in the order of the walk: the first 1,000 findings.
    pub findings: Vec<Finding>,
    /// How many findings there are in the tables, those beyond the first 1,000 included.
    pub count: u64,
    /// Entries read, by table.
    pub entries: BTreeMap<String, u64>,
}

impl CheckReport {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.count == 0
    }

    fn find(&mut self, table: &'static str, key: impl Display, what: impl Into<String>) {
        self.count += 1;
        if self.findings.len() < KEPT {
            self.findings.push(Finding {
                table: table.to_owned(),
                key: key.to_string(),
                what: what.into(),
            });
        }
    }
}

/// What the walk remembers of a site.
#[derive(Default)]
struct SiteCounts {
    seen: SiteRecord,
    /// Sum of the hashes of its pages' digests, minus those of its digest counts.
    digests: u64,
    /// Sum of the hashes of intra-site links by block, minus those of their transpose.
    intra: u64,
    /// Sum of the hashes of rows, minus those of citers, by the citing site.
    rows: u64,
    /// Sum of the hashes of rows, minus those of rows by hash.
    row_hashes: u64,
    /// Sum of the hashes of pages' rows, minus those of rows' pages.
    members: u64,
    /// Sum of the hashes of page ids, minus those of pages.
    names: u64,
    distinct: u32,
    highest_page: Option<u32>,
    highest_row: Option<u32>,
}

/// The state of the walk.
struct Walk<'a> {
    store: &'a Store,
    watch: &'a dyn Watch,
    report: CheckReport,
    sites: BTreeMap<SiteId, SiteCounts>,
    known: RoaringTreemap,
    live: RoaringTreemap,
    pages: RoaringTreemap,
    /// Pages that count only while they are linked to.
    need_link: RoaringTreemap,
    /// Pages that nobody may link to.
    unlinked: RoaringTreemap,
    linked: RoaringTreemap,
    /// Pages that are marked as aliases.
    aliases: RoaringTreemap,
    /// Pages that an alias leads to.
    led: RoaringTreemap,
    rows: RoaringTreemap,
    /// What is given of the site of the page looked at last.
    given: Option<(SiteId, SiteDefaults)>,
    /// Pages that have a former record, by batch.
    former: BTreeMap<u32, RoaringTreemap>,
    /// What it takes to take the last batch back; `None` where it cannot be.
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

/// A mixing hash of two ids: there are too many links for a cryptographic one.
fn mix(a: u64, b: u64) -> u64 {
    let mut x = a.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ b.rotate_left(32);
    for _ in 0..2 {
        x = (x ^ (x >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    }
    (x ^ (x >> 32)).wrapping_add(b.wrapping_mul(0xa076_1d64_78bd_642f))
}

impl Store {
    /// Walks every table against its mirrors. An `Err` means that reading could not go on; what is
    /// wrong with the bank is in the report.
    pub fn check(&self, watch: &dyn Watch) -> Result<CheckReport, StoreError> {
        let mut walk = Walk {
            store: self,
            watch,
            report: CheckReport::default(),
            sites: BTreeMap::new(),
            known: RoaringTreemap::new(),
            live: RoaringTreemap::new(),
            pages: RoaringTreemap::new(),
            need_link: RoaringTreemap::new(),
            unlinked: RoaringTreemap::new(),
            linked: RoaringTreemap::new(),
            aliases: RoaringTreemap::new(),
            led: RoaringTreemap::new(),
            rows: RoaringTreemap::new(),
            given: None,
            former: BTreeMap::new(),
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
        walk.row_hashes()?;
        walk.uncrawled()?;
        walk.digests()?;
        walk.sites(&counters)?;
        walk.linked();
        walk.former(&counters)?;
        walk.undo(&counters)?;
        walk.barred(&counters)?;
        walk.history(&counters)?;
        Ok(walk.report)
    }
}

impl Walk<'_> {
    /// Hands every readable entry of a table to `each`; what cannot be read is a finding.
    fn walk<K: Key, V: Value>(
        &mut self,
        table: &Table<K, V>,
        mut each: impl FnMut(&mut Self, K, V) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.watch.stage(table.name, None);
        let mut entries = 0_u64;
        for entry in self.store.scan(table)? {
            entries += 1;
            self.watch.proceed()?;
            match entry {
                Ok((key, value)) => each(self, key, value)?,
                Err(StoreError::Damaged { table, key, what }) => self.report.find(table, key, what),
                Err(e) if e.is_damage() => {
                    self.report.find(
                        table.name,
                        "(the rest)",
                        format!("cannot be read: {e}: {}", source(&e)),
                    );
                    break;
                }
                Err(e) => return Err(e),
            }
        }
        self.report.entries.insert(table.name.to_owned(), entries);
        Ok(())
    }

    fn site(&mut self, site: SiteId) -> &mut SiteCounts {
        self.sites.entry(site).or_default()
    }

    fn pages(&mut self, last_batch: u32) -> Result<(), StoreError> {
        self.walk(&tables::PAGES, |walk, page, record| {
            walk.pages.insert(page.0);
            let name = hash(&[record.local.as_bytes(), &page.index().to_be_bytes()]);
            let site = walk.site(page.site());
            // What was forgotten has no name, and nothing leads to it.
            if !record.is_nameless() {
                site.names = site.names.wrapping_add(name);
            } else if record.state != PageState::Unlinked {
                walk.report
                    .find("pages", page, "it has no URL and is a page");
            }
            let site = walk.site(page.site());
            site.highest_page = site.highest_page.max(Some(page.index()));
            match record.state {
                PageState::Known => site.seen.known += 1,
                PageState::Crawled => site.seen.crawled += 1,
                PageState::Gone => site.seen.gone += 1,
                PageState::Unlinked | PageState::Alias => {}
            }
            if record.state.is_live() && record.spam {
                site.seen.spam += 1;
            }
            match record.state {
                PageState::Known => site.seen.known_quality += u64::from(record.quality()),
                PageState::Crawled => site.seen.crawled_quality += u64::from(record.quality()),
                PageState::Gone | PageState::Unlinked | PageState::Alias => {}
            }
            if let (Some(digest), PageState::Crawled) = (&record.digest, record.state) {
                site.seen.with_digest += 1;
                site.digests = site.digests.wrapping_add(hash(&[digest]));
            }
            if let Some(row) = record.row {
                let member = mix(RowId::new(page.site(), row).0, u64::from(page.index()));
                site.members = site.members.wrapping_add(member);
            }
            if record.state == PageState::Known {
                walk.known.insert(page.0);
            } else if record.state == PageState::Alias {
                walk.aliases.insert(page.0);
            }
            if record.state.is_live() {
                walk.live.insert(page.0);
            } else if record.row.is_some() {
                walk.report.find(
                    "pages",
                    page,
                    "a page that is gone, unlinked or an alias has a row",
                );
            }
            if record.last_seen.is_none() {
                match record.state {
                    PageState::Known => {
                        walk.need_link.insert(page.0);
                    }
                    PageState::Unlinked => {
                        walk.unlinked.insert(page.0);
                    }
                    PageState::Crawled | PageState::Gone | PageState::Alias => {
                        walk.report.find(
                            "pages",
                            page,
                            "its state needs a record that it never had",
                        );
                    }
                }
            } else if record.state == PageState::Unlinked {
                walk.report
                    .find("pages", page, "it had a record and is marked as unlinked");
            }
            if !record.is_nameless() {
                walk.inherited(page, &record)?;
            }
            if record.first_seen.max(record.last_seen.unwrap_or(0)) > last_batch {
                walk.report
                    .find("pages", page, "it names a batch that does not exist");
            }
            Ok(())
        })
    }

    fn page_ids(&mut self) -> Result<(), StoreError> {
        self.walk(&tables::PAGE_IDS, |walk, (site, local), index| {
            let name = hash(&[local.as_bytes(), &index.to_be_bytes()]);
            let counts = walk.site(site);
            counts.names = counts.names.wrapping_sub(name);
            if !walk.pages.contains(PageId::new(site, index).0) {
                walk.report.find(
                    "page_ids",
                    format!("{site}, {local:?}"),
                    format!(
                        "it names {}, which does not exist",
                        PageId::new(site, index)
                    ),
                );
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
                counts.distinct += 1;
                if count == 0 {
                    walk.report
                        .find("digests", site, "a digest that no page has is listed");
                }
                Ok(())
            },
        )
    }

    fn linked(&mut self) {
        let alone = &(&self.need_link - &self.linked) - &self.led;
        for page in &alone {
            self.report.find(
                "pages",
                PageId(page),
                "it is known from links only, but no page links to it and no alias leads to it",
            );
        }
        let forgotten = &self.unlinked & &(&self.linked | &self.led);
        for page in &forgotten {
            self.report.find(
                "pages",
                PageId(page),
                "it is marked as unlinked, but a page links to it or an alias leads to it",
            );
        }
        let missing = &self.linked - &self.pages;
        for page in &missing {
            self.report
                .find("pages", PageId(page), "it is linked to and has no record");
        }
    }
}

fn source(e: &StoreError) -> String {
    std::error::Error::source(e).map_or_else(|| e.to_string(), ToString::to_string)
}

/// Names of bitmaps and vectors, for findings.
fn bitmap_name(key: PageSetKey) -> String {
    match key {
        PageSetKey::Changed(batch) => format!("changed by batch {batch}"),
        PageSetKey::Removed(refresh) => format!("removed by refresh {refresh}"),
        PageSetKey::History(batch) => format!("with a previous page of batch {batch}"),
        PageSetKey::EvidenceBlocks(refresh) => format!("standings written by refresh {refresh}"),
        PageSetKey::Covered(key) => format!(
            "refresh {}, {}, pick {}, hop {}",
            key.refresh, key.site, key.pick, key.hop
        ),
        PageSetKey::Reached(key) => format!(
            "refresh {}, over the web, rank {}, hop {}",
            key.refresh, key.rank, key.hop
        ),
    }
}

fn vector_name(key: CoreScoresKey) -> String {
    format!("refresh {}, core {}, {:?}", key.refresh, key.rank, key.side)
}
