//! `status`: what a bank holds, how old that is, and the room that it takes.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answers::CounterView;
use super::views::Views;
use crate::engine::clock::now;
use crate::engine::ingest::{list_of, readable};
use crate::engine::plan::{NAME_PATTERN, PlanOptions};
use crate::engine::{Bank, EngineError};
use seedbank_formats::ingest::{Naming, SiteMode, UrlRules};
use seedbank_store::records::{BatchId, BatchKind, PageState, PlanRecord, RefreshId};
use seedbank_store::tables;
use seedbank_store::{self, Store, TableGroup, TableInfo};

/// What a bank holds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Status {
    /// The format version of the bank, which may be older than the one that this build writes.
    #[schemars(range(min = 1))]
    pub format: u32,
    /// What a site is.
    pub site_mode: SiteMode,
    /// How URLs are normalised.
    pub url_rules: UrlRules,
    /// The version of the public suffix list.
    pub suffix_list: String,
    /// When the bank was asked, in seconds since 1970 (UTC).
    pub at: u64,
    /// Sites with at least one page that is known, crawled or gone.
    pub sites: u64,
    /// Totals and last numbers.
    #[serde(flatten)]
    pub counters: CounterView,
    /// The last batch; `None` before the first.
    pub last_batch: Option<LastBatch>,
    /// The last batch, where it can be taken back; `None` where it cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<Undoable>,
    /// Plans by name.
    pub plans: Vec<PlanView>,
    /// Bits on disk for each link, both directions together: the tables of links, their keys,
    /// indexes and filters, over the links between pages. `None` where no
    /// file of theirs is there yet.
    #[schemars(range(min = 0))]
    pub link_bits: Option<f64>,
    /// Whether nothing that was overwritten takes room; tables of what there is one of do not
    /// count.
    pub compacted: bool,
    /// Bytes on disk of the tables, by what they are there for.
    pub groups: Vec<GroupSize>,
    /// Bytes on disk of the bank's folder: the live and the published state, which share most of
    /// their files, lists of bad records, and what commands at work or earlier ones left there.
    pub folder_bytes: u64,
    /// Bytes of the published state's log: what small batches wrote, and no table has in its files yet.
    pub log_bytes: u64,
    /// Bytes on disk, by table.
    pub tables: Vec<TableSize>,
}

impl Status {
    /// How the bank tells pages and sites apart.
    #[must_use]
    pub const fn naming(&self) -> Naming {
        self.site_mode.with(self.url_rules)
    }
}

/// A batch that can be taken back.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Undoable {
    /// The batch.
    #[schemars(range(min = 1))]
    pub batch: BatchId,
    /// How many bytes of what it overwrote are kept for that, before compression; they go with the
    /// next batch.
    pub bytes: u64,
}

/// The last batch as `status` tells it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct LastBatch {
    /// Its number.
    #[schemars(range(min = 1))]
    pub batch: BatchId,
    /// The user's name for it.
    pub name: String,
    /// Whether the batch is the whole state or changes.
    pub kind: BatchKind,
    /// When it was ingested, in seconds since 1970 (UTC).
    pub at: u64,
    /// How long ago that was, in seconds; 0 where the clock was set back.
    pub age: u64,
    /// How long it took, in seconds.
    #[schemars(range(min = 0))]
    pub seconds: f64,
    /// Records read, good and bad.
    pub records: u64,
    /// Records refused.
    pub rejected: u64,
    /// The list of refused records in the bank's folder; `None` where there is none there: nothing
    /// was refused, the user named another file, or somebody removed it.
    #[serde(serialize_with = "readable")]
    pub rejects_file: Option<PathBuf>,
}

/// A plan as `status` tells it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PlanView {
    /// Its name.
    #[schemars(regex(pattern = NAME_PATTERN))]
    pub plan: String,
    /// Its parameters as far as they were said; the others have their defaults.
    pub parameters: PlanOptions,
    /// Its last refresh.
    #[schemars(range(min = 1))]
    pub last_refresh: RefreshId,
    /// The last batch of the state that it ran on; 0 before the first.
    pub batch: BatchId,
    /// When it ran, in seconds since 1970 (UTC).
    pub at: u64,
    /// How long ago that was, in seconds; 0 where the clock was set back.
    pub age: u64,
    /// How long it took, in seconds.
    #[schemars(range(min = 0))]
    pub seconds: f64,
    /// Whether every result of it was proven.
    pub certified: bool,
    /// What has become of its list.
    pub seeds: ListToday,
}

/// What the pages of a list are today.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ListToday {
    /// Seeds on the list.
    pub listed: u64,
    /// Those that are pages still: known or crawled.
    pub alive: u64,
    /// Those that were reported as gone.
    pub gone: u64,
    /// Those that are aliases of other pages.
    pub alias: u64,
    /// Those that nobody links to any more, and that have no record.
    pub unlinked: u64,
    /// Those that were forgotten on demand; no list names them any more.
    pub forgotten: u64,
}

/// How much room the tables of one kind take.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct GroupSize {
    /// What the tables are there for.
    pub holds: TableGroup,
    /// Bytes of the tables' files, of the published state.
    pub bytes: u64,
}

/// How large a table is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TableSize {
    /// The table.
    pub table: String,
    /// What the table is there for.
    pub holds: TableGroup,
    /// Bytes of its files; what small batches wrote may be in the log alone.
    pub bytes: u64,
    /// An estimate of its entries.
    pub entries: u64,
    /// Whether nothing that was overwritten takes room in it.
    pub compacted: bool,
}

impl Bank {
    /// What the bank holds, how old that is, and the room that it takes.
    ///
    /// Cost: one scan of the sites, a read for each seed of the plans' last lists, and a look at each
    /// file of the bank.
    pub fn status(&self) -> Result<Status, EngineError> {
        let views = Views::open(self)?;
        let store: &Store = &views.reader;
        let settings = store.settings()?;
        let at = now();
        let mut sites = 0;
        for entry in store.scan(&tables::SITES)? {
            let (_, site) = entry?;
            sites += u64::from(site.known + site.crawled + site.gone > 0);
        }
        let mut plans = Vec::new();
        for entry in store.scan(&tables::PLANS)? {
            let (plan, record) = entry?;
            plans.push(plan_view(&views, at, plan, &record)?);
        }
        let size = |(table, size): (&TableInfo, seedbank_store::TableSize)| TableSize {
            table: table.name.to_owned(),
            holds: table.group,
            bytes: size.bytes,
            entries: size.keys,
            compacted: size.is_compacted,
        };
        let tables: Vec<TableSize> = store.sizes()?.into_iter().map(size).collect();
        let counters = store.counters()?;
        let groups = TableGroup::ALL.map(|holds| GroupSize {
            holds,
            bytes: tables
                .iter()
                .filter(|table| table.holds == holds)
                .map(|table| table.bytes)
                .sum(),
        });
        let of_links = groups.iter().find(|group| group.holds == TableGroup::Links);
        let link_bytes = of_links.map_or(0, |group| group.bytes);
        let links = counters.intra_links + counters.inter_links;
        Ok(Status {
            format: store.format()?,
            site_mode: views.naming.sites,
            url_rules: views.naming.urls,
            suffix_list: settings.suffix_list,
            at,
            sites,
            counters: counters.into(),
            last_batch: self.last_batch(store, at, counters.batch)?,
            undo: store.undo_record()?.map(|undo| Undoable {
                batch: undo.batch,
                bytes: undo.bytes,
            }),
            plans,
            log_bytes: store.log_bytes(),
            link_bits: (links > 0 && link_bytes > 0)
                .then(|| 8.0 * link_bytes as f64 / links as f64),
            compacted: tables
                .iter()
                .all(|table| table.compacted || table.holds == TableGroup::Bank),
            groups: groups.into(),
            folder_bytes: seedbank_store::disk_usage(self.path())?,
            tables,
        })
    }

    fn last_batch(
        &self,
        store: &Store,
        at: u64,
        batch: BatchId,
    ) -> Result<Option<LastBatch>, EngineError> {
        let Some(record) = store.get(&tables::BATCHES, &batch)? else {
            return Ok(None);
        };
        let mut list = list_of(self.path(), batch);
        let has_list = record.counts.rejected > 0 && list.is_file();
        if self.hides_folders()
            && let Ok(in_bank) = list.strip_prefix(self.path())
        {
            list = in_bank.to_path_buf();
        }
        Ok(Some(LastBatch {
            batch,
            name: record.name,
            kind: record.kind,
            at: record.at,
            age: at.saturating_sub(record.at),
            seconds: record.seconds,
            records: record.counts.records,
            rejected: record.counts.rejected,
            rejects_file: has_list.then_some(list),
        }))
    }
}

fn plan_view(
    views: &Views,
    at: u64,
    plan: String,
    record: &PlanRecord,
) -> Result<PlanView, EngineError> {
    let store = &views.reader;
    let refresh = store.need(&tables::REFRESHES, &record.last_refresh)?;
    let mut seeds = ListToday::default();
    for (_, seed) in store.list(record.last_refresh)? {
        seeds.listed += 1;
        let page = store.need(&tables::PAGES, &seed.page)?;
        *match page.state {
            _ if page.is_nameless() => &mut seeds.forgotten,
            PageState::Known | PageState::Crawled => &mut seeds.alive,
            PageState::Gone => &mut seeds.gone,
            PageState::Alias => &mut seeds.alias,
            PageState::Unlinked => &mut seeds.unlinked,
        } += 1;
    }
    Ok(PlanView {
        plan,
        parameters: views.options(&record.settings)?,
        last_refresh: record.last_refresh,
        batch: refresh.batch,
        at: refresh.at,
        age: at.saturating_sub(refresh.at),
        seconds: refresh.seconds,
        certified: refresh.certified,
        seeds,
    })
}
