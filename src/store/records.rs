//! The records of the store: what one key of a table stands for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::codec::{self, Malformed};
use super::table::{Value, record_values};
use seedbank_algorithms::page::PageId;

pub use super::former::{FormerPage, FormerRow, Succession};
pub use super::gains::{CoverEvidence, HopEvidence, WebEvidence, WebHop};
pub use super::given::SiteGiven;
pub use super::intent::{Intent, LoadFile};
pub use super::lineage::Lineage;
pub use super::seeds::{ListedSeed, SeedEvidence, SeedRecord};
pub use super::table::Hash128;
pub use super::undo::{Barred, UndoRecord};

/// Numbers batches from 1.
pub type BatchId = u32;

/// Numbers refreshes from 1.
pub type RefreshId = u32;

/// What all pages of a bank share, chosen when it is created.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// What counts as a site: `bare-host`, `host` or `domain`.
    pub site_mode: String,
    /// How URLs are normalised: `rfc3986` or `whatwg`.
    pub url_rules: String,
    /// The version of the public suffix list by which sites were told apart.
    pub suffix_list: String,
}

/// Totals over the bank, and the last number of each kind that was given out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Rises by one with every batch and refresh; names the published checkpoint.
    pub epoch: u64,
    /// The last batch, 0 before the first.
    pub batch: BatchId,
    /// The last refresh, 0 before the first.
    pub refresh: RefreshId,
    /// The id that the next new site gets.
    pub next_site: u32,
    /// Known pages.
    pub known: u64,
    /// Crawled pages.
    pub crawled: u64,
    /// Gone pages.
    pub gone: u64,
    /// Known and crawled pages with the spam mark.
    pub spam: u64,
    /// Intra-site links.
    pub intra_links: u64,
    /// Inter-site links; those of a row count once for every page that carries it.
    pub inter_links: u64,
    /// Rows.
    pub rows: u64,
    /// Targets of all rows, each row counted once.
    pub row_links: u64,
}

/// The values of the `meta` table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Meta {
    /// The format version of the bank.
    Format(u32),
    /// Totals and last numbers.
    Counters(Counters),
    /// What was chosen when the bank was created.
    Settings(Settings),
    /// What it takes to take the last batch back.
    Undo(UndoRecord),
    /// The secret by which names in `barred` are hashed.
    Secret([u8; 32]),
    /// An unfinished bulk load.
    Intent(Intent),
    /// The identities of the bank and of its state.
    Lineage(Lineage),
}

/// A site.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SiteRecord {
    /// Host or registrable domain, in lower case and punycode.
    pub name: String,
    /// The index that the next new page gets.
    pub next_page: u32,
    /// The index that the next new row gets.
    pub next_row: u32,
    /// The last batch that changed the site's value, a page of it or a link.
    pub changed: BatchId,
    /// The last batch that changed what cover methods see of the site: its crawled pages, the links
    /// between them, their values, `P_uniq`.
    pub cover_changed: BatchId,
    /// Known pages.
    pub known: u32,
    /// Crawled pages.
    pub crawled: u32,
    /// Gone pages.
    pub gone: u32,
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
    /// Inter-site links from the site's pages; those of a row count once for every page that
    /// carries it.
    pub inter_links: u64,
    /// What records of sites gave. A site that has only that has no page yet.
    pub given: SiteGiven,
    /// The sum of the qualities of known pages, in ten-thousandths.
    pub known_quality: u64,
    /// The sum of the qualities of crawled pages, in ten-thousandths.
    pub crawled_quality: u64,
}

/// What a page is to the crawler.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum PageState {
    /// Only linked to, or named by a record that has nothing but attributes.
    Known,
    /// Fetched: it had a record with outlinks, a digest or a fetch time.
    Crawled,
    /// Reported as gone.
    Gone,
    /// No longer linked to, and never had a record: outside the store this is no page at all. The
    /// record stays, so that the page gets the same id when a link comes back, and so that the
    /// evidence of older refreshes keeps its URL.
    Unlinked,
    /// An alias: it redirects to another page, or names another one as canonical, and counts as
    /// none itself.
    Alias,
}

impl PageState {
    /// Whether the page counts: known or crawled.
    #[must_use]
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Known | Self::Crawled)
    }

    /// Its name, as in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Known => "known",
            Self::Crawled => "crawled",
            Self::Gone => "gone",
            Self::Unlinked => "unlinked",
            Self::Alias => "alias",
        }
    }
}

/// A page.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PageRecord {
    /// The part of the URL after the site's name; sorts in the order of the site's URLs.
    pub local: String,
    /// What the page is to the crawler.
    pub state: PageState,
    /// The spam mark that counts: `spam_given`, or else the site's, or else none.
    pub spam: bool,
    /// Clicks.
    pub clicks: u64,
    /// `uncrawled_outlinks` as a record gave it; `None` where none did and it is counted.
    pub uncrawled_given: Option<u32>,
    /// The number of the page's intra-site targets that are known and not crawled. Targets of its
    /// row are counted with the row.
    pub uncrawled_intra: u32,
    /// Hash of the content digest; `None` without one.
    pub digest: Option<Hash128>,
    /// The index of the page's row on its site; `None` without inter-site links.
    pub row: Option<u32>,
    /// The batch that first named the page.
    pub first_seen: BatchId,
    /// The last batch with a record for the page; `None` for a page that is only linked to.
    pub last_seen: Option<BatchId>,
    /// The spam mark as the page's own records gave it; `None` where none did. (Formats before 7
    /// did not tell that from a mark that was given as `false`.)
    pub spam_given: Option<bool>,
    /// The quality as the page's own records gave it, in ten-thousandths; `None` where none did.
    pub quality_given: Option<u16>,
    /// The quality that counts, in ten-thousandths: `quality_given`, or else the site's; `None`
    /// where neither is there, which counts as 0.
    pub quality: Option<u16>,
}

impl PageRecord {
    /// What is left of a page that was forgotten: its id, for evidence that names it.
    #[must_use]
    pub const fn nameless(first_seen: BatchId) -> Self {
        Self::unlinked(String::new(), first_seen)
    }

    /// Whether the page was forgotten, so that it has no URL any more.
    #[must_use]
    pub const fn is_nameless(&self) -> bool {
        self.local.is_empty()
    }

    /// A page that nobody links to and that never had a record.
    #[must_use]
    pub const fn unlinked(local: String, first_seen: BatchId) -> Self {
        Self {
            local,
            state: PageState::Unlinked,
            spam: false,
            clicks: 0,
            uncrawled_given: None,
            uncrawled_intra: 0,
            digest: None,
            row: None,
            first_seen,
            last_seen: None,
            spam_given: None,
            quality_given: None,
            quality: None,
        }
    }

    /// Works out again what the page's own records and those of its site come to.
    pub fn inherit(&mut self, site: &SiteGiven) {
        (self.spam, self.quality) = site.over(self.spam_given, self.quality_given);
    }

    /// The quality in ten-thousandths; 0 where there is none.
    #[must_use]
    pub fn quality(&self) -> u16 {
        self.quality.unwrap_or(0)
    }
}

/// The pages that carry a row.
#[derive(Clone, PartialEq, Debug)]
pub struct RowMembers {
    /// The number of the row's targets that are known and not crawled.
    pub uncrawled: u32,
    /// Indexes of the pages on the row's site; never empty.
    pub pages: roaring::RoaringBitmap,
}

/// How a batch is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BatchKind {
    /// The whole state: crawled pages without a record become gone.
    Snapshot,
    /// Changes.
    Delta,
    /// The batch before it, taken back.
    Undo,
    /// Pages or sites that were forgotten on demand.
    Forget,
}

/// What a batch did, in counts that do not depend on the order of its records.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct BatchCounts {
    /// Records read, good and bad.
    pub records: u64,
    /// Records refused.
    pub rejected: u64,
    /// Records that another record of the batch for the same URL overruled.
    pub superseded: u64,
    /// Outlinks dropped because they were not http or https URLs.
    pub dropped_outlinks: u64,
    /// Pages that are new to the bank.
    pub new_pages: u64,
    /// Pages that became crawled.
    pub became_crawled: u64,
    /// Pages that became gone.
    pub became_gone: u64,
    /// Pages whose links, state or attributes differ from before, new pages included.
    pub changed: u64,
    /// Links added.
    pub links_added: u64,
    /// Links removed.
    pub links_removed: u64,
}

/// A batch that was ingested.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct BatchRecord {
    /// The user's name for it.
    pub name: String,
    /// Snapshot or delta.
    pub kind: BatchKind,
    /// The inputs, as the user named them.
    pub inputs: Vec<String>,
    /// Digest of the canonical records.
    pub digest: [u8; 32],
    /// When it was ingested, in seconds since 1970 (UTC).
    pub at: u64,
    /// How long the ingest took, in seconds.
    pub seconds: f64,
    /// What the batch did.
    pub counts: BatchCounts,
}

/// A plan: a named seed selection.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlanRecord {
    /// Method and parameters as JSON, which only the engine interprets.
    pub settings: String,
    /// The number of the plan's last refresh.
    pub last_refresh: RefreshId,
    /// The keys of the lists that the parameters name, ascending.
    pub lists: Vec<Hash128>,
}

/// One run of a plan.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RefreshRecord {
    /// The plan's name.
    pub plan: String,
    /// The plan's method and parameters at that time, as JSON.
    pub settings: String,
    /// The last batch of the state that the refresh ran on.
    pub batch: BatchId,
    /// When the refresh ran, in seconds since 1970 (UTC).
    pub at: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Whether nothing of an earlier refresh was reused.
    pub cold: bool,
    /// Whether every result is proven.
    pub certified: bool,
    /// Why a result is not proven; `None` where all are.
    pub doubt: Option<String>,
    /// Seeds selected.
    pub seeds: u32,
    /// Cores found.
    pub cores: u32,
    /// Steps taken over from the previous refresh.
    pub steps_reused: u64,
    /// Steps computed.
    pub steps_recomputed: u64,
    /// Entries of rows or citers read while ranking.
    pub link_visits: u64,
    /// Pages settled plus adjacency entries scanned, summed over all sites.
    pub page_visits: u64,
    /// Where its standings are; `None` for a refresh by a cover method.
    pub standings: Option<SeriesRecord>,
    /// For a refresh by cores: the number of weakly connected components of its graph.
    pub components: u32,
    /// The keys of the lists that the parameters name, ascending.
    pub lists: Vec<Hash128>,
    /// What policies came to, as JSON, which only the engine interprets; `None` without policies.
    pub policy: Option<String>,
    /// How many seeds the method came to, where the list is another; `None` where they are the list.
    pub chosen: Option<u32>,
}

/// A core of a refresh; its scores are in `vectors`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CoreRecord {
    /// The singular value of the region that the core came from.
    pub sigma: f64,
    /// The number of links from its hubs to its authorities.
    pub edges: u64,
    /// Hubs in the order in which they were taken.
    pub hubs: Vec<PageId>,
    /// Authorities in the order in which they were taken.
    pub authorities: Vec<PageId>,
    /// The order of additions across both sides: one bit for each, 1 for a hub, eight to a byte,
    /// the first in the lowest bit.
    pub sides: Vec<u8>,
    /// The hub that became the seed; where the core gives none, its best hub.
    pub seed: PageId,
    /// Whether the core gives a seed.
    pub gives_seed: bool,
}

/// What a refresh of a cover method keeps of a site with crawled pages.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CoverRecord {
    /// The refresh that picked the site's seeds: this one, or the earlier one whose result it
    /// took over.
    pub since: RefreshId,
    /// The number of seeds that the site was to have.
    pub seats: u32,
    /// The ranks of its seeds, in the order in which they were picked, which is also their rank
    /// order.
    pub ranks: Vec<u32>,
    /// Why the site has no more seeds.
    pub stop: CoverStop,
    /// The number of crawled pages of the site.
    pub crawled: u32,
    /// The value of those pages, in millionths; `None` where it was not read.
    pub value: Option<i64>,
    /// Page visits of the run that picked the seeds.
    pub page_visits: u64,
    /// How many of the crawled pages may be seeds; `None` where that was not asked.
    pub allowed: Option<u32>,
    /// How many of the seeds are pinned: the first ones.
    pub pinned: u32,
}

/// Why a site got no further seed: the first reason that holds, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CoverStop {
    /// No page has any value left.
    NoValueLeft,
    /// No page that could be picked is left.
    NoPageLeft,
    /// The site has all the seeds it was to have.
    Complete,
    /// The next pick's score would not be positive.
    NotPositive,
}

/// Where the standings of a refresh are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SeriesRecord {
    /// The series that the refresh belongs to.
    pub series: RefreshId,
    /// How many pages have a standing in the series, as the refresh sees it; `check` compares it.
    pub pages: u64,
    /// How many of these pages are in components.
    pub counted: u64,
}

impl Value for RowMembers {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        codec::put_varint(u64::from(self.uncrawled), out);
        codec::put_bitmap(&self.pages, out)
    }
    fn decode(mut bytes: &[u8]) -> Result<Self, Malformed> {
        let uncrawled = u32::try_from(codec::take_varint(&mut bytes)?)
            .map_err(|_| Malformed("count of uncrawled targets is too large".to_owned()))?;
        let pages = codec::take_bitmap(bytes)?;
        Ok(Self { uncrawled, pages })
    }
}

record_values!(
    Meta,
    SiteRecord,
    PageRecord,
    BatchRecord,
    PlanRecord,
    RefreshRecord,
    CoreRecord,
    CoverRecord,
);
