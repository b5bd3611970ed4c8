//! What a bank answers with: seeds, cores, history, status, pages. As JSON they have schemas in
//! `schema/`.

use serde::Serialize;

use super::diff::SuccessorView;
use super::plan::PlanOptions;
use crate::ingest::SiteMode;
use crate::storage::Holds;
use crate::storage::records::{BatchCounts, BatchId, BatchKind, Counters, PageState, RefreshId};

/// Which refresh is meant: one by number, else a plan's last.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Which {
    /// The plan; where a refresh is given too, it must be one of this plan.
    pub plan: Option<String>,
    /// The refresh.
    pub refresh: Option<RefreshId>,
}

/// A seed of a refresh.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Seed {
    /// Its rank, from 1.
    pub rank: u32,
    /// The page.
    pub url: String,
    /// Whether it still is a page at the published state. Where `false`, it is gone or nobody links
    /// to it any more; JSON has the field only then.
    #[serde(skip_serializing_if = "is_true")]
    pub alive: bool,
    /// Its site.
    pub site: String,
    /// The method that selected it.
    pub method: String,
    /// The plan.
    pub plan: String,
    /// The refresh.
    pub refresh: RefreshId,
    /// Why it was selected.
    #[serde(flatten)]
    pub evidence: Evidence,
    /// The old seed that it succeeds, where the plan says `succeed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub succeeds: Option<SuccessorView>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands the field by reference"
)]
fn is_true(field: &bool) -> bool {
    *field
}

/// Why a seed was selected.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum Evidence {
    /// It is the chosen hub of a core.
    Core {
        /// The core's rank.
        core: u32,
        /// The core's sigma.
        sigma: f64,
        /// Its hub score, L2-normalised over pages.
        hub_score: f64,
    },
    /// It covers value on its site.
    Cover {
        /// The score that it was picked by: a weight in units, a PageRank or an out-degree; `null`
        /// where it was drawn.
        gain: Option<f64>,
        /// Pages that it covers and no earlier pick of the site does.
        covered_pages: u64,
        /// Their value.
        covered_value: f64,
        /// Its place among the picks of the site, from 1.
        pick: u32,
        /// The refresh that picked it; later ones took it over.
        since: RefreshId,
        /// The site's seats where seeds are shared out.
        #[serde(skip_serializing_if = "Option::is_none")]
        seats: Option<u32>,
    },
}

/// A core of a refresh.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CoreView {
    /// Its rank, from 1.
    pub rank: u32,
    /// The refresh.
    pub refresh: RefreshId,
    /// The singular value of the region that it came from.
    pub sigma: f64,
    /// Links from its hubs to its authorities, in per cent of all that could be.
    pub density: f64,
    /// Links from its hubs to its authorities.
    pub edges: u64,
    /// The hub that became the seed.
    pub seed: String,
    /// Hubs in the order in which they were taken.
    pub hubs: Vec<String>,
    /// Authorities in the order in which they were taken.
    pub authorities: Vec<String>,
    /// Their scores, L2-normalised over pages.
    pub hub_scores: Vec<f64>,
    /// Their scores, L2-normalised over pages.
    pub authority_scores: Vec<f64>,
    /// The interleaving of the additions: `a` for an authority, `h` for a hub.
    pub sides: String,
}

/// A batch as `history` tells it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct BatchView {
    /// Its number.
    pub batch: BatchId,
    /// What is kept of it.
    #[serde(flatten)]
    pub record: BatchSummary,
}

/// What `history` tells of a batch.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct BatchSummary {
    /// The user's name for it.
    pub name: String,
    /// Snapshot or delta.
    pub kind: BatchKind,
    /// The inputs, as they were named.
    pub inputs: Vec<String>,
    /// When it was ingested, in seconds since 1970 (UTC).
    pub at: u64,
    /// How long that took, in seconds.
    pub seconds: f64,
    /// What it did.
    pub counts: BatchCounts,
}

/// A refresh as `history` tells it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RefreshView {
    /// Its number.
    pub refresh: RefreshId,
    /// The plan.
    pub plan: String,
    /// The parameters that it ran with.
    pub parameters: PlanOptions,
    /// The last batch of the state that it ran on.
    pub batch: BatchId,
    /// When it ran, in seconds since 1970 (UTC).
    pub at: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Seeds selected.
    pub seeds: u32,
    /// Cores found.
    pub cores: u32,
    /// Whether nothing of an earlier refresh was reused.
    pub cold: bool,
    /// Steps taken over from the previous refresh: cores, or sites.
    pub steps_reused: u64,
    /// Steps computed: cores, or sites.
    pub steps_recomputed: u64,
    /// Whether every result was proven.
    pub certified: bool,
    /// Why not, where it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// Entries of rows or citers read while ranking.
    pub link_visits: u64,
    /// Pages settled plus adjacency entries scanned.
    pub page_visits: u64,
}

/// Batches and refreshes in order.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct History {
    /// Batches.
    pub batches: Vec<BatchView>,
    /// Refreshes that are kept.
    pub refreshes: Vec<RefreshView>,
}

/// A plan as `status` tells it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PlanView {
    /// Its name.
    pub plan: String,
    /// Its parameters.
    pub parameters: PlanOptions,
    /// Its last refresh.
    pub last_refresh: RefreshId,
}

/// What a bank holds.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Status {
    /// The format version.
    pub format: u32,
    /// What a site is.
    pub site_mode: SiteMode,
    /// The version of the public suffix list.
    pub suffix_list: String,
    /// Sites with at least one page that is known, crawled or gone.
    pub sites: u64,
    /// Totals and last numbers.
    #[serde(flatten)]
    pub counters: CounterView,
    /// Plans by name.
    pub plans: Vec<PlanView>,
    /// Bits on disk for each link, both directions together: the tables of links, their keys,
    /// indexes and filters, over the links between pages. `None` without links.
    pub link_bits: Option<f64>,
    /// Whether nothing that was overwritten takes room; tables of what there is one of do not
    /// count.
    pub compacted: bool,
    /// Bytes on disk, by table.
    pub tables: Vec<TableSize>,
}

/// Totals over the bank.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct CounterView {
    /// Batches ingested.
    pub batches: BatchId,
    /// Refreshes run, deleted ones included.
    pub refreshes: RefreshId,
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
    /// Inter-site links.
    pub inter_links: u64,
    /// Rows.
    pub rows: u64,
    /// Targets of all rows, each row counted once.
    pub row_links: u64,
}

impl From<Counters> for CounterView {
    fn from(counters: Counters) -> Self {
        Self {
            batches: counters.batch,
            refreshes: counters.refresh,
            known: counters.known,
            crawled: counters.crawled,
            gone: counters.gone,
            spam: counters.spam,
            intra_links: counters.intra_links,
            inter_links: counters.inter_links,
            rows: counters.rows,
            row_links: counters.row_links,
        }
    }
}

/// How large a table is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TableSize {
    /// The table.
    pub table: &'static str,
    /// What it is there for.
    pub holds: Holds,
    /// Bytes of its files and of what is not in files yet.
    pub bytes: u64,
    /// An estimate of its entries.
    pub entries: u64,
    /// Whether nothing that was overwritten takes room in it.
    pub compacted: bool,
}

/// A page as it stands in the bank.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PageView {
    /// The page.
    pub url: String,
    /// Its site.
    pub site: String,
    /// Known, crawled or gone.
    pub state: PageState,
    /// The spam mark.
    pub spam: bool,
    /// Clicks.
    pub clicks: u64,
    /// Its uncrawled outlinks, given or counted.
    pub uncrawled_outlinks: u64,
    /// Whether they were given.
    pub uncrawled_given: bool,
    /// Its links, in URL order.
    pub outlinks: Vec<String>,
}
