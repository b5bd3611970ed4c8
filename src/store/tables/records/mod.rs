//! Records: the values of tables.

pub mod aliases;
pub mod component_cache;
pub mod evidence;
pub(crate) mod fetches;
pub mod gain_cache;
pub(crate) mod lineage;
pub mod links;
pub(crate) mod page;
pub mod page_blocks;
pub mod page_set_keys;
pub mod plan_lists;
pub mod seed_fetches;
pub(crate) mod seeds;
pub mod step_cache;
pub mod undo;

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::format::Format;
use crate::tables::codec::{self, Malformed};
use crate::tables::table::{Value, record_values};
use seedbank_algorithms::page::{PageId, SiteId};

pub use self::lineage::Lineage;
pub use self::page::{PageField, PageRecord, PageState};
pub use self::seeds::{FinalListEntry, SeedEvidence, SeedRecord};
pub use self::undo::{BlocklistEntry, UndoRecord};
pub use crate::tables::table::Hash128;
pub use fetches::{Observed, PreviousFetch, PreviousFetches, YieldBlock};
pub use lineage::{Intent, LoadFile};
pub use page::{Failures, PreviousPage, RemovedRow, SiteDefaults, Succession};
pub use seeds::{CoverEvidence, HopEvidence, WebEvidence, WebHop};

/// The number of a batch, from 1.
pub type BatchId = u32;

/// The number of a refresh, from 1.
pub type RefreshId = u32;

/// The settings of a bank, chosen when it is created.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// The definition of a site: `bare-host`, `host` or `domain`.
    pub site_mode: String,
    /// The rules of URL normalisation: `rfc3986` or `whatwg`.
    pub url_rules: String,
    /// The version of the public suffix list that determines sites.
    pub suffix_list: String,
}

/// Totals over the bank, and the last assigned numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counters {
    /// The number of the state; increases with every commit and names the published checkpoint.
    pub epoch: u64,
    /// The last batch; 0 if there is none.
    pub batch: BatchId,
    /// The last refresh; 0 if there is none.
    pub refresh: RefreshId,
    /// The id of the next new site.
    pub next_site: u32,
    /// Known pages.
    pub known: u64,
    /// Crawled pages.
    pub crawled: u64,
    /// Gone pages.
    pub gone: u64,
    /// Documents among the crawled pages.
    pub documents: u64,
    /// Resources, which are no pages.
    pub resources: u64,
    /// Known and crawled pages with the spam mark.
    pub spam: u64,
    /// Intra-site links.
    pub intra_links: u64,
    /// Inter-site links; those of a row count once for every page of the row.
    pub inter_links: u64,
    /// Rows.
    pub rows: u64,
    /// Targets of all rows, each row counted once.
    pub row_links: u64,
}

impl Counters {
    /// Returns whether the bank has no page.
    #[must_use]
    pub const fn has_no_page(&self) -> bool {
        self.crawled + self.known + self.gone == 0
    }
}

/// The values of the `meta` table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Meta {
    /// The format of the bank.
    Format(Format),
    /// Totals, and the last assigned numbers.
    Counters(Counters),
    /// The settings of the bank.
    Settings(Settings),
    /// The record for undoing the last batch.
    Undo(UndoRecord),
    /// The secret that keys the hashes of `blocklist`.
    Secret([u8; 32]),
    /// An unfinished bulk load.
    Intent(Intent),
    /// The identities of the bank and of its state.
    Lineage(Lineage),
    /// The number of ids that were assigned in each shard.
    Shards(Vec<u32>),
}

/// A site.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SiteRecord {
    /// Host or registrable domain, in lower case and punycode.
    pub name: String,
    /// The index of the next new page.
    pub next_page: u32,
    /// The index of the next new row.
    pub next_row: u32,
    /// The last batch that changed the site, a page of it or a link.
    pub changed: BatchId,
    /// The last batch that changed an input of cover methods: the crawled pages of the site, the links
    /// between them, their values, or `P_uniq`.
    pub cover_changed: BatchId,
    /// Known pages.
    pub known: u32,
    /// Crawled pages.
    pub crawled: u32,
    /// Gone pages.
    pub gone: u32,
    /// Documents among the crawled pages.
    pub documents: u32,
    /// Resources, which are no pages.
    pub resources: u32,
    /// Known and crawled pages with the spam mark.
    pub spam: u32,
    /// Crawled pages with a content digest: `n` of P_uniq.
    pub with_digest: u32,
    /// Distinct content digests among them: `d` of P_uniq.
    pub distinct_digests: u32,
    /// Rows.
    pub rows: u32,
    /// Targets of the site's rows, each row counted once.
    pub row_links: u64,
    /// Intra-site links.
    pub intra_links: u64,
    /// Inter-site links from pages of the site; those of a row count once for every page of the row.
    pub inter_links: u64,
    /// Values that pages of the site inherit. A site may have these before it has a page.
    pub defaults: SiteDefaults,
    /// The sum of the qualities of known pages, in ten-thousandths.
    pub known_quality: u64,
    /// The sum of the qualities of crawled pages, in ten-thousandths.
    pub crawled_quality: u64,
}

/// The members of a row: the pages with exactly these inter-site targets.
#[derive(Clone, PartialEq, Debug)]
pub struct RowMembers {
    /// The number of known, not crawled targets of the row.
    pub uncrawled: u32,
    /// The indexes of the pages on the site of the row; never empty.
    pub pages: roaring::RoaringBitmap,
}

/// The kind of a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BatchKind {
    /// A complete crawl: crawled pages without a record become gone.
    Snapshot,
    /// Changes.
    Delta,
    /// Undoes the previous batch.
    Undo,
    /// Forgets pages or sites.
    Forget,
}

/// Counts of the effects of a batch; they do not depend on the order of its records.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct BatchCounts {
    /// Records read, accepted or rejected.
    pub records: u64,
    /// Records rejected.
    pub rejected: u64,
    /// Records superseded by another record of the batch for the same URL.
    pub superseded: u64,
    /// Truncated inputs whose complete records were read.
    pub truncated: u64,
    /// Outlinks dropped because they are not http or https URLs.
    pub dropped_outlinks: u64,
    /// Pages that are new to the bank.
    pub new_pages: u64,
    /// Pages that became crawled.
    pub became_crawled: u64,
    /// Pages that became gone.
    pub became_gone: u64,
    /// URLs that became resources.
    pub became_resources: u64,
    /// Pages whose links, state or attributes changed, including new pages.
    pub changed: u64,
    /// Links added.
    pub links_added: u64,
    /// Links removed.
    pub links_removed: u64,
}

/// An ingested batch.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct BatchRecord {
    /// The name that the user chose.
    pub name: String,
    /// The kind of the batch.
    pub kind: BatchKind,
    /// The inputs, as named by the user.
    pub inputs: Vec<String>,
    /// The digest of the canonical records.
    pub digest: [u8; 32],
    /// The time of the ingest, in seconds since 1970 (UTC).
    pub at: u64,
    /// The duration of the ingest in seconds.
    pub seconds: f64,
    /// Counts of the effects.
    pub counts: BatchCounts,
    /// The number of stale records: skipped, because their pages were fetched later.
    pub stale: u64,
    /// The number of pages whose fetch failed.
    pub failed: u64,
    /// The number of pages whose last fetch failed, after the batch.
    pub failing: u64,
    /// The time of the last fetch in the bank after the batch, in seconds since 1970 (UTC). A time after that of
    /// its batch counts as that of the batch.
    pub last_fetch: u64,
    /// What the fetches of the batch brought.
    pub observed: Observed,
    /// The number of fetches that crawlers attribute to seeds.
    pub attributed: u64,
    /// The fetches that no crawler attributes to a seed.
    pub unattributed: FetchCounts,
}

/// Numbers of fetches.
#[derive(
    Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct FetchCounts {
    /// Fetches that did not fail: they found the page crawled, redirected or gone.
    pub fetched: u64,
    /// Those that crawled a page whose fetches had all failed before, or that was never fetched.
    pub new: u64,
    /// Fetches that failed.
    pub failed: u64,
}

impl std::ops::Add for FetchCounts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            fetched: self.fetched.saturating_add(other.fetched),
            new: self.new.saturating_add(other.new),
            failed: self.failed.saturating_add(other.failed),
        }
    }
}

/// A plan: a named seed selection.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlanRecord {
    /// The method and its parameters as JSON, which only the engine interprets.
    pub settings: String,
    /// The last refresh of the plan.
    pub last_refresh: RefreshId,
    /// The keys of the lists that the parameters name, ascending.
    pub lists: Vec<Hash128>,
}

/// A run of a plan.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RefreshRecord {
    /// The name of the plan.
    pub plan: String,
    /// The method and parameters of the plan at that time, as JSON.
    pub settings: String,
    /// The last batch of the state that the refresh ran on.
    pub batch: BatchId,
    /// The time of the refresh, in seconds since 1970 (UTC).
    pub at: u64,
    /// The duration of the refresh in seconds.
    pub seconds: f64,
    /// Whether the refresh reused nothing of a previous one.
    pub cold: bool,
    /// Whether no core is in doubt.
    pub certified: bool,
    /// What could not be decided about the first core in doubt.
    pub doubt: Option<String>,
    /// Seeds selected.
    pub seeds: u32,
    /// Cores found.
    pub cores: u32,
    /// Steps reused from the previous refresh.
    pub steps_reused: u64,
    /// Steps computed.
    pub steps_recomputed: u64,
    /// Entries of rows or citers read while ranking.
    pub link_visits: u64,
    /// Settled pages plus scanned adjacency entries, summed over all sites.
    pub page_visits: u64,
    /// The series of its page evidence; `None` for a refresh by a cover method.
    pub standings: Option<EvidenceSeries>,
    /// The number of weakly connected components of the graph of a refresh by cores.
    pub components: u32,
    /// The keys of the lists that the parameters name, ascending.
    pub lists: Vec<Hash128>,
    /// The result of policies as JSON, which only the engine interprets; `None` without policies.
    pub policy: Option<String>,
    /// The number of seeds that the method selected; `None` if they are the final list.
    pub chosen: Option<u32>,
    /// How the time since its last fetch decided what a page counts for; `None` if all pages counted whole.
    pub revisit: Option<RevisitTimes>,
}

/// The times that decide what pages count for in a refresh, in seconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RevisitTimes {
    /// A page counts whole this long after its last fetch.
    pub period: u64,
    /// The time of the last fetch in the bank, since 1970 (UTC).
    pub now: u64,
}

/// A core of a refresh. Its scores are in `core_scores`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CoreRecord {
    /// The largest singular value of the region that the core was extracted from.
    pub sigma: f64,
    /// The number of links from hubs to authorities.
    pub edges: u64,
    /// The hubs in the order in which they were added.
    pub hubs: Vec<PageId>,
    /// The authorities in the order in which they were added.
    pub authorities: Vec<PageId>,
    /// The order of additions to both sides, as bits (see `member_order`).
    pub sides: Vec<u8>,
    /// The hub that is the seed; if the core has no seed, its best hub.
    pub seed: PageId,
    /// Whether the core has a seed.
    pub gives_seed: bool,
}

impl CoreRecord {
    /// Returns whether both have the same members, added in the same order.
    #[must_use]
    pub fn has_members_of(&self, other: &Self) -> bool {
        (&self.hubs, &self.authorities, &self.sides)
            == (&other.hubs, &other.authorities, &other.sides)
    }

    /// Returns the number of sites of the hubs.
    #[must_use]
    pub fn hub_sites(&self) -> usize {
        let sites: BTreeSet<SiteId> = self.hubs.iter().map(|hub| hub.site()).collect();
        sites.len()
    }
}

/// The result of a refresh by a cover method for a site with crawled pages.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CoverRecord {
    /// The refresh that selected the seeds: this one, or the earlier one whose result it reused.
    pub since: RefreshId,
    /// The seed quota of the site.
    pub seats: u32,
    /// The ranks of its seeds in the order of selection, ascending.
    pub ranks: Vec<u32>,
    /// The reason why the site has no more seeds.
    pub stop: CoverStop,
    /// The number of crawled pages of the site.
    pub crawled: u32,
    /// The value of these pages in millionths; `None` if it was not computed.
    pub value: Option<i64>,
    /// The page visits of the run that selected the seeds.
    pub page_visits: u64,
    /// The number of crawled pages that may be seeds; `None` if it was not computed.
    pub allowed: Option<u32>,
    /// The number of pinned seeds, which come first.
    pub pinned: u32,
}

/// The reason why a site has no further seed: the first one that applies, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CoverStop {
    /// No page has any remaining value.
    NoValueLeft,
    /// No candidate is left.
    NoPageLeft,
    /// The quota is used up.
    Complete,
    /// The next seed would add nothing: no page with max-out, else no positive value.
    NotPositive,
}

/// The series of page evidence of a refresh.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct EvidenceSeries {
    /// The series that the refresh belongs to.
    pub series: RefreshId,
    /// The number of pages with evidence that the refresh sees; verified by `check`.
    pub pages: u64,
    /// The number of these pages in components.
    pub counted: u64,
}

impl Value for RowMembers {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        codec::put_varint(u64::from(self.uncrawled), out);
        codec::put_bitmap(&self.pages, out)
    }
    fn decode(mut bytes: &[u8]) -> Result<Self, Malformed> {
        let uncrawled = codec::take_u32(&mut bytes)?;
        let pages = codec::take_bitmap(bytes)?;
        Ok(Self { uncrawled, pages })
    }
}

record_values!(
    Meta,
    SiteRecord,
    BatchRecord,
    PlanRecord,
    RefreshRecord,
    CoreRecord,
    CoverRecord,
);
