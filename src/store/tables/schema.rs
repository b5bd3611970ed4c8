//! The declarations of all tables. Opening, `check`, `status` and `schema/tables.md` use this list.

use std::fmt::Write;
use std::path::Path;
use std::sync::LazyLock;

use super::records::aliases::{AliasRecord, AliasReference};
use super::records::component_cache::{ComponentRecord, CoreOriginKey, NearGroups};
use super::records::evidence::{
    CoreEvidence, Member, PageEvidenceBlock, PageEvidenceKey, Reach, ReachKey,
};
use super::records::gain_cache::GainBlock;
use super::records::links::{LinkBlock, LinkKey};
use super::records::page_blocks::PageBlock;
use super::records::page_set_keys::PageSetPart;
use super::records::plan_lists::ListText;
use super::records::seed_fetches::{SeedFetches, SeedFetchesKey};
use super::records::step_cache::StepCacheRecord;
use super::records::undo::{BlocklistEntry, Overwritten, UndoKey};
use super::records::{
    BatchRecord, CoreRecord, CoverRecord, Failures, FinalListEntry, Hash128, Meta, PageRecord,
    PlanRecord, PreviousFetches, PreviousPage, RefreshRecord, RemovedRow, RowMembers, SeedRecord,
    SiteRecord, YieldBlock,
};
use super::table::{Key, Table, Value};
use crate::error::StoreError;
use crate::format::Format;
use crate::table_info::{Family, Placement, TableGroup, TableInfo};
use seedbank_algorithms::page::{PageId, PageSet, RowId, SiteId};

macro_rules! tables {
    ($($(#[doc = $purpose:literal])+ $constant:ident = $name:literal: $key:ty => $value:ty,
        $family:ident $prefix:literal, $holds:ident, $placement:ident $(($offset:literal))?,
        key $key_doc:literal, value $value_doc:literal;)+) => {
        $(
            $(#[doc = $purpose])+
            pub const $constant: Table<$key, $value> = Table::new($name);
        )+

        /// All tables, by family: in the order of their prefixes, in which a bulk load writes them.
        pub const ALL: &[TableInfo] = &[$(TableInfo {
            name: $name,
            key: $key_doc,
            value: $value_doc,
            layout: <$value as Value>::layout,
            purpose: concat!($($purpose),+),
            family: Family::$family,
            prefix: $prefix,
            group: TableGroup::$holds,
            placement: Placement::$placement $(($offset))?,
        }),+];
    };
}

tables! {
    /// Sites by id.
    SITES = "sites": SiteId => SiteRecord, Sites 0, Pages, Site(0),
        key "site u32", value "record: name, next page and row index, counts (also for P_uniq), values that pages inherit";
    /// Site ids by name.
    SITE_IDS = "site_ids": String => SiteId, Sites 1, Pages, SiteName,
        key "name, UTF-8", value "site id, a number within the shard of the name times 1,024 plus the shard, varint";
    /// Page indexes by URL; key order is the URL order of a site.
    PAGE_IDS = "page_ids": (SiteId, String) => u32, Sites 2, Pages, Site(0),
        key "site u32, URL after the name of the site, UTF-8", value "page index, varint";
    /// Pages by id.
    PAGES = "pages": PageId => PageRecord, Pages 3, Pages, Site(0),
        key "site u32, index u32", value "record: URL after the name of the site, state, attributes, row, first and last batch, time of the last fetch; kind, canonical page; fields with another time, each with the seconds between";
    /// Intra-site targets of a page.
    INTRA = "intra": LinkKey => LinkBlock<u32>, Pages 4, Links, Site(0),
        key "site u32, block of 64 page indexes u32", value "lists by page: page indexes on the same site";
    /// Transpose of `intra`: the blocks that contain links to a page.
    INTRA_IN = "intra_in": LinkKey => LinkBlock<u32>, Pages 5, Links, Site(0),
        key "site u32, block of 64 page indexes u32", value "lists by page: blocks of `intra` that link to it";
    /// Inter-site targets of a row; never modified, only created and deleted.
    ROWS = "rows": LinkKey => LinkBlock<PageId>, Pages 6, Links, Site(0),
        key "site u32, block of 64 row indexes u32", value "lists by row: page ids";
    /// Rows of a site by the hash of their targets.
    ROW_HASHES = "row_hashes": (SiteId, Hash128) => Vec<u32>, Pages 7, Links, Site(0),
        key "site u32, 128-bit hash of the targets", value "row indexes, gap-coded; more than one only if hashes collide";
    /// Pages of a row.
    ROW_MEMBERS = "row_members": RowId => RowMembers, Pages 8, Links, Site(0),
        key "site u32, row u32", value "count of known targets, varint; page indexes, roaring, never empty";
    /// Transpose of `rows`: the blocks that contain links to a page.
    CITERS = "citers": LinkKey => LinkBlock<LinkKey>, Pages 9, Links, Site(0),
        key "site u32, block of 64 page indexes u32", value "lists by page: site and block of the `rows` that link to it";
    /// Crawled pages of a site by content digest.
    DIGESTS = "digests": (SiteId, Hash128) => u32, Pages 10, Pages, Site(0),
        key "site u32, 128-bit hash of the digest", value "pages, varint, never 0";
    /// Aliases, and pages that link to aliases.
    ALIASES = "aliases": PageId => AliasRecord, Pages 11, Pages, Site(0),
        key "site u32, index u32", value "record: of an alias, its target; of another page, its links to aliases, and the targets that it reaches only through them";
    /// Transpose of `aliases`.
    ALIAS_REFERENCES = "alias_references": (PageId, PageId) => AliasReference, Pages 12, Pages, Site(0),
        key "page: site u32, index u32, other page: site u32, index u32", value "varint: 0 if the other page is an alias with this target, 1 if it links to the page, which is an alias";
    /// Failed fetches of pages, each after the last fetch of the page that did not fail.
    FAILURES = "failures": PageId => Failures, Pages 13, Pages, Site(0),
        key "site u32, index u32", value "record: result of the last one, number, times of the first and the last one";
    /// What fetches brought, of pages that were fetched twice or more.
    YIELDS = "yields": LinkKey => YieldBlock, Pages 14, Pages, Site(0),
        key "site u32, block of 64 page indexes u32", value "for each page the gap of its position, days between fetches and new links, both decayed to the time of the last fetch, in ten-thousandths, varints";
    /// The pages that name a page as canonical, by that page.
    CANONICAL_REFERENCES = "canonical_references": (PageId, PageId) => (), Pages 42, Pages, Site(0),
        key "page: site u32, index u32, page that names it: site u32, index u32", value "empty";
    /// Batches by number.
    BATCHES = "batches": u32 => BatchRecord, History 15, History, First,
        key "batch u32", value "record: name, kind, inputs, digest, time, counts; numbers of stale records, of failed fetches, of pages with failed fetches, of what fetches brought, of fetches attributed to seeds and, of all others, of those that did not fail, of new pages and of failed ones";
    /// Previous state, spam mark and row of pages, stored by the batch that changed one of them.
    PAGE_HISTORY = "page_history": (u32, PageId) => PreviousPage, History 16, History, Site(4),
        key "batch u32, site u32, index u32", value "record: state, spam mark, row";
    /// Rows that no page has any more.
    REMOVED_ROWS = "removed_rows": RowId => RemovedRow, History 17, History, Site(0),
        key "site u32, row u32", value "the batch that removed it from its last page, varint; page ids, gap-coded";
    /// What the last 40 batches overwrote of the fetches of pages that had been fetched before.
    FETCH_HISTORY = "fetch_history": (u32, LinkKey) => PreviousFetches, History 18, History, Site(4),
        key "batch u32, site u32, block of 64 page indexes u32", value "for each page the gap of its position, flags, time of the fetch before and sums of `yields` before, varints; links gained and lost, gap-coded";
    /// Fetches of a batch that crawlers attribute to seeds.
    SEED_FETCHES = "seed_fetches": SeedFetchesKey => PageBlock<SeedFetches>, History 19, Pages, Site(4),
        key "batch u32, site u32, block of 4096 page indexes u32", value "distinct facts, and pages with gaps: of the fetch that did not fail and of the last one that failed, the seed, the page that led to it and the depth; whether the page was new, and whether its content was that of another page";
    /// Previous values of the entries that the last batch wrote.
    UNDO = "undo": UndoKey => Overwritten, History 20, History, Restored,
        key "batch u32, prefix of the table u8, key in that table", value "0: there was no entry; 1: the previous value follows";
    /// Plans by name.
    PLANS = "plans": String => PlanRecord, Plans 21, Bank, First,
        key "name, UTF-8", value "record: method and parameters as JSON, last refresh, keys of its lists";
    /// Lists of URLs and hosts that plans name, by content.
    PLAN_LISTS = "plan_lists": Hash128 => ListText, Plans 22, Bank, First,
        key "128-bit hash of the value", value "lines, UTF-8, each terminated by a line feed";
    /// Refreshes by number.
    REFRESHES = "refreshes": u32 => RefreshRecord, Plans 23, Refreshes, First,
        key "refresh u32", value "record: plan, parameters, state, costs, counts";
    /// Cores of a refresh in order.
    CORES = "cores": (u32, u32) => CoreRecord, Plans 24, Refreshes, First,
        key "refresh u32, rank u32", value "record: sigma, links, hubs and authorities in order, seed";
    /// Scores of the pages of a core, in the order of its record, and what is known of their accuracy.
    CORE_SCORES = "core_scores": CoreScoresKey => Vec<f64>, Plans 25, Refreshes, First,
        key "refresh u32, rank u32, part: 0 authorities, 1 hubs, 2 upper bound of sigma within a bound, 3 residual and last change of sigma after a fixed number of iterations", value "little-endian doubles";
    /// The ranks of the cores of a refresh.
    CORE_ORIGINS = "core_origins": CoreOriginKey => u32, Plans 26, Refreshes, First,
        key "refresh u32, refresh that computed the core u32, its rank there u32", value "rank, varint";
    /// Sites of a refresh by a cover method.
    COVERS = "covers": (u32, SiteId) => CoverRecord, Plans 27, Refreshes, Site(4),
        key "refresh u32, site u32", value "record: the refresh that selected the seeds, seed quota, ranks, stop reason, value, work";
    /// Seeds of a refresh in order.
    SEEDS = "seeds": (u32, u32) => SeedRecord, Plans 28, Refreshes, First,
        key "refresh u32, rank u32", value "record: page, evidence";
    /// Pages of the cores of a refresh.
    CORE_MEMBERS = "core_members": (u32, PageId) => Member, Plans 29, Refreshes, Site(4),
        key "refresh u32, site u32, index u32", value "record: core, position and score in each role";
    /// Summaries of the cores of a refresh, for comparisons.
    CORE_EVIDENCE = "core_evidence": (u32, u32) => CoreEvidence, Plans 30, Refreshes, First,
        key "refresh u32, rank u32", value "record: sigma, counts, seed, runner-up, weakest pages, links that one more page needs";
    /// Evidence for pages with inter-site links in refreshes by cores. A block is written only if it changed; a refresh of the series uses the latest block that is not later than itself.
    PAGE_EVIDENCE = "page_evidence": PageEvidenceKey => PageEvidenceBlock, Plans 31, Refreshes, Site(4),
        key "series u32, site u32, block of 4096 page indexes u32, u32::MAX less the refresh u32", value "distinct facts, and pages with gaps: component, row sums and the first core that the page was near; empty if no page is left";
    /// Evidence for crawled pages in a refresh by a cover method; over the web, for reached pages and for candidates.
    REACH = "reach": ReachKey => PageBlock<Reach>, Plans 32, Refreshes, Site(4),
        key "refresh that selected the seeds u32, site u32, block of 4096 page indexes u32", value "distinct facts, and pages with gaps: pick (over the web: rank), covering pick and hop, score, whether the score is exact";
    /// The final list of a refresh, if policies changed the seeds that the method selected.
    FINAL_LIST = "final_list": (u32, u32) => FinalListEntry, Plans 33, Refreshes, First,
        key "refresh u32, rank u32", value "record: page, its rank in `seeds`, the last refresh that selected it";
    /// Index of seed lists by page.
    SEED_PAGES = "seed_pages": (PageId, u32) => u32, Plans 34, Refreshes, Site(0),
        key "site u32, index u32, refresh u32", value "rank on the list, varint";
    /// The sites and domains whose number of seeds reaches a limit of the plan, in the selection of the method.
    FULL_CAPS = "full_caps": (u32, String) => u32, Plans 44, Refreshes, First,
        key "refresh u32, name of the site or `*.` and the registrable domain, UTF-8", value "rank in `seeds` of the seed with which the limit is reached, varint";
    /// Sets of pages, in parts by ranges of sites.
    PAGE_SETS = "page_sets": PageSetPart => PageSet, Plans 35, Refreshes, First,
        key "kind u8: 0 changed by a batch, 1 removed by a refresh, 2 covered, 3 in `page_history` of a batch, 4 blocks of `page_evidence` written by a refresh; number of the batch, the refresh or, for kind 2, the refresh that selected the seed u32; kind 2: site u32, pick u32, hop u32; in all parts but the first: the first site u32", value "page ids, roaring";
    /// Results of the last refresh of a plan by cores in each weakly connected component of its graph, cached for the next one.
    COMPONENT_CACHE = "component_cache": (u32, PageId) => ComponentRecord, Caches 36, Refreshes, First,
        key "series u32, smallest page: site u32, index u32", value "record: 128-bit hash of its pages and links, number of pages, its cores, an upper bound for the remaining links";
    /// Pages near the cores of `component_cache`.
    NEAR_CORE_CACHE = "near_core_cache": CoreOriginKey => NearGroups, Caches 38, Refreshes, First,
        key "series u32, refresh that computed the core u32, its rank there u32", value "record: groups of pages with the same links, each with number of links and score";
    /// Steps of the last refresh of a plan by cores within a bound, cached for the next one.
    STEP_CACHE = "step_cache": (u32, u32) => StepCacheRecord, Caches 39, Refreshes, First,
        key "series u32, rank u32", value "record: at rank 0 the grouped pages, gap-coded, the group of each, and the regions, each with a 128-bit hash of its pages and links and a sample of the hashes of its rows; else the region, the upper bound, and the quantized scores (u8) and weights (u16) of groups";
    /// Pages of the last selection over the web by gain of a plan, cached for its next refresh. Pages without links and with the value of a page that is known only from links are left out.
    GAIN_CACHE = "gain_cache": ReachKey => GainBlock, Caches 43, Refreshes, Site(4),
        key "refresh that selected the seeds u32, site u32, block of 4096 page indexes u32", value "for each page the gap of its position and flags, varint; a 64-bit hash of its links if it has any; its value less that of the page before, signed varint; the gain before any pick if it was a candidate, signed varint";
    /// Single records: format, settings, counters, the intent of a bulk load, the record for `undo`, the secret of `blocklist`, the identities of the bank and its state, the numbers of sites by shard.
    META = "meta": MetaKey => Meta, Meta 40, Bank, First,
        key "0 format, 1 settings, 2 counters, 3 intent, 4 undo, 5 secret, 6 lineage, 7 numbers of sites by shard", value "record";
    /// Pages and sites that later batches reject.
    BLOCKLIST = "blocklist": Hash128 => BlocklistEntry, Meta 41, Bank, First,
        key "128-bit hash of the URL or the site's name, keyed by a secret of the bank", value "record: whether it is a site, the batch that removed it";
}

/// Returns the declaration of a table.
pub(crate) fn table_info(name: &str) -> Result<&'static TableInfo, StoreError> {
    let found = ALL.iter().find(|info| info.name == name);
    found.ok_or(StoreError::Full("table"))
}

impl Format {
    /// Returns the format that this build reads and writes.
    #[must_use]
    pub fn current() -> Self {
        static CURRENT: LazyLock<Format> = LazyLock::new(|| Format::with_tables(ALL));
        *CURRENT
    }

    /// Fails unless this is the format of this build. `path` is the bank, or the folder of its backups.
    pub(crate) fn ensure_current(self, path: &Path) -> Result<(), StoreError> {
        let expected = Self::current();
        if self == expected {
            return Ok(());
        }
        Err(StoreError::OtherFormat {
            path: path.to_path_buf(),
            found: self,
            expected,
        })
    }
}

/// Keys of `meta`. The discriminants are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MetaKey {
    /// The format.
    Format = 0,
    /// The settings of the bank.
    Settings = 1,
    /// Totals, and the last assigned numbers.
    Counters = 2,
    /// The unfinished bulk load; absent if there is none.
    Intent = 3,
    /// The record for undoing the last batch; absent if that is impossible.
    Undo = 4,
    /// The secret that keys the hashes of `blocklist`; absent before the first entry.
    Secret = 5,
    /// The identities of the bank and of its state.
    Lineage = 6,
    /// The numbers of sites in each shard; absent before the first site.
    Shards = 7,
}

impl MetaKey {
    const ALL: [Self; 8] = [
        Self::Format,
        Self::Settings,
        Self::Counters,
        Self::Intent,
        Self::Undo,
        Self::Secret,
        Self::Lineage,
        Self::Shards,
    ];
}

impl Key for MetaKey {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(*self as u8);
    }
    fn take(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [number] => Self::ALL.get(usize::from(*number)).copied(),
            _ => None,
        }
    }
}

/// A part of the scores of a core. The discriminants are stored.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CoreScoresPart {
    /// Authority scores.
    Authorities = 0,
    /// Hub scores.
    Hubs = 1,
    /// The upper bound on the largest sigma of the remaining links, if it is not sigma itself.
    Bound = 2,
    /// The residual, and the share of sigma that the last iteration added, if their number is fixed.
    Convergence = 3,
}

/// Keys of `core_scores`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CoreScoresKey {
    /// The refresh.
    pub refresh: u32,
    /// The rank of the core.
    pub rank: u32,
    /// The part.
    pub side: CoreScoresPart,
}

impl Key for CoreScoresKey {
    fn put(&self, out: &mut Vec<u8>) {
        (self.refresh, self.rank).put(out);
        out.push(self.side as u8);
    }
    fn take(bytes: &[u8]) -> Option<Self> {
        let (&side, rest) = bytes.split_last()?;
        let (refresh, rank) = Key::take(rest)?;
        let side = match side {
            0 => CoreScoresPart::Authorities,
            1 => CoreScoresPart::Hubs,
            2 => CoreScoresPart::Bound,
            3 => CoreScoresPart::Convergence,
            _ => return None,
        };
        Some(Self {
            refresh,
            rank,
            side,
        })
    }
}

/// Returns the text of `schema/tables.md`.
#[must_use]
pub fn describe() -> String {
    let format = Format::current();
    let mut text = format!(
        "# Tables of a bank, format {format}\n\n\
         Generated from `src/store/tables/schema.rs`; a test compares the two. A table is a part of a\n\
         column family: its keys there start with a prefix of one byte. Numbers in keys are big-endian.\n\
         A record is a version byte followed by bincode with variable-length integers. A\n\
         gap-coded list is a count, the first number and then the gaps minus one, as LEB128 varints.\n\
         Lists by page or row are the distinct entries of all lists of the block and, for each list,\n\
         its positions among them, in truncated binary, zeta and interpolative codes\n\
         (`src/store/tables/records/links.rs`).\n\n\
         | table | family and prefix | key | value | contents |\n| --- | --- | --- | --- | --- |\n"
    );
    for table in ALL {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| `{}` | {} {} | {} | {} | {} |",
            table.name,
            table.family.name(),
            table.prefix,
            table.key,
            table.value,
            table.purpose.trim()
        );
    }
    text
}
