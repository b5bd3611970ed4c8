//! `status`: contents, age and disk usage of a bank.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::answers::{BatchView, CounterView, History};
use super::canonical::{CanonicalCounts, canonical_counts};
use super::quotas::{Balance, Owners, SiteWeights};
use super::views::Views;
use crate::engine::clock::now;
use crate::engine::ingest::{RefusedBatch, list_of, readable};
use crate::engine::plan::{Method, NAME_PATTERN, PlanOptions};
use crate::engine::refresh::{Proof, RefreshView};
use crate::engine::repeated_content::{MostRepeated, RepeatedContent};
use crate::engine::site_owners::SiteOwners;
use crate::engine::{Bank, EngineError};
use schemars::JsonSchema;
use seedbank_formats::ingest::{Naming, SiteMode, UrlRules};
use seedbank_store::records::{BatchId, BatchKind, PageState, PlanRecord, RefreshId};
use seedbank_store::{self, Format, Store, TableGroup, TableInfo, tables};
use serde::{Deserialize, Serialize};

/// Status of a bank.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Status {
    /// The format of the bank.
    pub format: Format,
    /// Definition of a site.
    pub site_mode: SiteMode,
    /// Rules of URL normalisation.
    pub url_rules: UrlRules,
    /// Version of the public suffix list.
    pub suffix_list: String,
    /// Number of databases of a cluster bank; `None` for a bank in one database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<u32>,
    /// How evenly the sites of a cluster bank are divided; `None` for a bank in one database, or without pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balance: Option<Balance>,
    /// Time of the answer, in seconds since 1970 (UTC).
    pub at: u64,
    /// Number of sites with at least one known, crawled or gone page.
    pub sites: u64,
    /// Sites on which one content is on more than 20 pages, such as a page to log in; at most 20, those with the most copies
    /// first. Empty if they were not counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeated: Vec<RepeatedContent>,
    /// Totals, and the last batch and refresh.
    #[serde(flatten)]
    pub counters: CounterView,
    /// Pages with a canonical link; `None` if they were not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canonical: Option<CanonicalCounts>,
    /// Last batch; `None` before the first.
    pub last_batch: Option<LastBatch>,
    /// Last refused batch; `None` if no batch was refused, or if a batch with its name was accepted later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<RefusedBatch>,
    /// Last batch if `undo` can revert it; `None` if not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<Undoable>,
    /// Plans, by name.
    pub plans: Vec<PlanView>,
    /// Bits on disk per link, both directions together: the size of the link tables with their keys,
    /// indexes and filters, divided by the number of links. `None` if the tables have no files yet.
    #[schemars(range(min = 0))]
    pub bits_per_link: Option<f64>,
    /// Whether no overwritten data takes up space. Tables of single records do not count.
    pub compacted: bool,
    /// Bytes on disk of the tables, by group.
    pub groups: Vec<GroupSize>,
    /// Bytes on disk of the bank's folder: the live and the published state, which share most of their
    /// files, lists of rejected records, and temporary files of commands.
    pub folder_bytes: u64,
    /// Bytes of the published state's log: data of small batches that no table file contains yet.
    pub log_bytes: u64,
    /// Bytes on disk, by table.
    pub tables: Vec<TableSize>,
}

impl Status {
    /// Returns the naming rules of pages and sites.
    #[must_use]
    pub const fn naming(&self) -> Naming {
        self.site_mode.with(self.url_rules)
    }

    /// Whether a batch was refused, and no batch has been ingested since.
    #[must_use]
    pub fn ends_with_refusal(&self) -> bool {
        let refused = self.refused.as_ref();
        refused.is_some_and(|refused| refused.after >= self.counters.batches)
    }
}

/// Batch that `undo` can revert.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Undoable {
    /// Number of the batch.
    #[schemars(range(min = 1))]
    pub batch: BatchId,
    /// Bytes stored for that, before compression. The next batch deletes them.
    pub bytes: u64,
}

/// Last batch.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct LastBatch {
    /// Number of the batch.
    #[schemars(range(min = 1))]
    pub batch: BatchId,
    /// Name given by the user.
    pub name: String,
    /// Whether the batch is a whole state or a set of changes.
    pub kind: BatchKind,
    /// Time of ingest, in seconds since 1970 (UTC).
    pub at: u64,
    /// Time since then, in seconds; 0 if the clock was set back.
    pub age: u64,
    /// Elapsed time, in seconds.
    #[schemars(range(min = 0))]
    pub seconds: f64,
    /// Number of records read, including rejected ones.
    pub records: u64,
    /// Number of rejected records.
    pub rejected: u64,
    /// Truncated inputs whose complete records were read.
    pub truncated: u64,
    /// Number of stale records: skipped, because their pages were fetched later.
    pub stale: u64,
    /// Number of pages whose fetch failed.
    pub failed: u64,
    /// Number of pages whose last fetch failed, after the batch.
    pub failing: u64,
    /// List of bad and stale records in the bank's folder; `None` if there are none, the user named another
    /// file, or the list was removed.
    #[serde(serialize_with = "readable")]
    pub rejects_file: Option<PathBuf>,
}

/// Plan with its last refresh.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PlanView {
    /// Name of the plan.
    #[schemars(regex(pattern = NAME_PATTERN))]
    pub plan: String,
    /// Given parameters; all others have their defaults.
    pub parameters: PlanOptions,
    /// Last refresh.
    #[schemars(range(min = 1))]
    pub last_refresh: RefreshId,
    /// Last batch of the state that it ran on; 0 before the first.
    pub batch: BatchId,
    /// Time of the refresh, in seconds since 1970 (UTC).
    pub at: u64,
    /// Time since then, in seconds; 0 if the clock was set back.
    pub age: u64,
    /// Elapsed time, in seconds.
    #[schemars(range(min = 0))]
    pub seconds: f64,
    /// What is proved about its cores.
    pub proof: Proof,
    /// Current states of its seeds.
    pub seeds: SeedStates,
}

/// Current states of the pages of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct SeedStates {
    /// Number of seeds on the list.
    pub listed: u64,
    /// Known or crawled.
    pub alive: u64,
    /// Gone.
    pub gone: u64,
    /// Aliases of other pages.
    pub alias: u64,
    /// Resources.
    pub resource: u64,
    /// Without links to them and without a record.
    pub unlinked: u64,
    /// Forgotten on demand; lists no longer contain them.
    pub forgotten: u64,
}

/// Size of a group of tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct GroupSize {
    /// Group of the tables.
    pub group: TableGroup,
    /// Bytes of the tables' files in the published state.
    pub bytes: u64,
}

/// Size of a table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TableSize {
    /// Name of the table.
    pub table: String,
    /// Group of the table.
    pub group: TableGroup,
    /// Bytes of its files. Data of small batches may be only in the log.
    pub bytes: u64,
    /// Estimated number of entries.
    pub entries: u64,
    /// Whether no overwritten data takes up space in it.
    pub compacted: bool,
}

impl Bank {
    /// Returns contents, age and disk usage of the bank.
    ///
    /// Cost: one scan of the sites, a read per seed of the plans' last lists, and the metadata of each file
    /// of the bank.
    pub fn status(&self) -> Result<Status, EngineError> {
        self.read_status(false)
    }

    /// Returns the status with the numbers of canonical links.
    ///
    /// Cost: that of [`status`](Self::status), one scan of all canonical links, and a read of each canonical page.
    pub fn status_with_canonical(&self) -> Result<Status, EngineError> {
        self.read_status(true)
    }

    fn read_status(&self, with_canonical: bool) -> Result<Status, EngineError> {
        let views = Views::open(self)?;
        let store: &Store = &views.reader;
        let canonical = with_canonical.then(|| canonical_counts(store, self.watch()));
        let settings = store.settings()?;
        let at = now();
        let (mut sites, mut repeated) = (0, MostRepeated::default());
        let owners = Owners::of_bank(store, self.other_processes());
        let mut weights = match &owners {
            None => None,
            Some(owners) => {
                let of_site = SiteOwners::new(store, &owners.by_part, owners.count)?;
                Some((of_site, SiteWeights::new(owners)))
            }
        };
        for entry in store.scan(&tables::SITES)? {
            let (id, site) = entry?;
            sites += u64::from(site.known + site.crawled + site.gone > 0);
            if with_canonical {
                repeated.add(id, &site);
            }
            if let Some((owners, weights)) = &mut weights {
                weights.add(owners.of_site(id), &site);
            }
        }
        let mut plans = Vec::new();
        for entry in store.scan(&tables::PLANS)? {
            let (plan, record) = entry?;
            plans.push(plan_view(&views, at, plan, &record)?);
        }
        let size = |(table, size): (&TableInfo, seedbank_store::TableSize)| TableSize {
            table: table.name.to_owned(),
            group: table.group,
            bytes: size.bytes,
            entries: size.keys,
            compacted: size.is_compacted,
        };
        let tables: Vec<TableSize> = store.sizes()?.into_iter().map(size).collect();
        let counters = store.counters()?;
        let groups = TableGroup::ALL.map(|holds| GroupSize {
            group: holds,
            bytes: tables
                .iter()
                .filter(|table| table.group == holds)
                .map(|table| table.bytes)
                .sum(),
        });
        let of_links = groups.iter().find(|group| group.group == TableGroup::Links);
        let link_bytes = of_links.map_or(0, |group| group.bytes);
        let links = counters.intra_links + counters.inter_links;
        Ok(Status {
            format: store.format()?,
            site_mode: views.naming.sites,
            url_rules: views.naming.urls,
            suffix_list: settings.suffix_list,
            parts: views.reader.part_count(),
            balance: weights.and_then(|(_, weights)| weights.balance()),
            at,
            sites,
            repeated: repeated.find(store)?,
            counters: counters.into(),
            canonical: canonical.transpose()?,
            last_batch: self.last_batch(store, at, counters.batch)?,
            refused: self.refused_batch(),
            undo: store.undo_record()?.map(|undo| Undoable {
                batch: undo.batch,
                bytes: undo.bytes,
            }),
            plans,
            log_bytes: store.log_bytes(),
            bits_per_link: (links > 0 && link_bytes > 0)
                .then(|| 8.0 * link_bytes as f64 / links as f64),
            compacted: tables
                .iter()
                .all(|table| table.compacted || table.group == TableGroup::Bank),
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
        let has_list = list.is_file();
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
            truncated: record.counts.truncated,
            stale: record.stale,
            failed: record.failed,
            failing: record.failing,
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
    let mut seeds = SeedStates::default();
    for (_, seed) in store.list(record.last_refresh)? {
        seeds.listed += 1;
        let page = store.need(&tables::PAGES, &seed.page)?;
        *match page.state {
            _ if page.is_nameless() => &mut seeds.forgotten,
            PageState::Known | PageState::Crawled => &mut seeds.alive,
            PageState::Gone => &mut seeds.gone,
            PageState::Alias => &mut seeds.alias,
            PageState::Resource => &mut seeds.resource,
            PageState::Unlinked => &mut seeds.unlinked,
        } += 1;
    }
    let parameters = views.options(&record.settings)?;
    Ok(PlanView {
        plan,
        proof: Proof::of(&parameters, refresh.doubt.is_some()),
        parameters,
        last_refresh: record.last_refresh,
        batch: refresh.batch,
        at: refresh.at,
        age: at.saturating_sub(refresh.at),
        seconds: refresh.seconds,
        seeds,
    })
}

// Plans of a bank and their parameters.

/// Plans of a bank.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Plans {
    /// Plans, by name.
    pub plans: Vec<PlanSummary>,
}

/// Plan with its last refresh.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PlanSummary {
    /// Name of the plan.
    #[schemars(regex(pattern = NAME_PATTERN))]
    pub plan: String,
    /// Method that selects seeds.
    pub method: Method,
    /// Given parameters; all others have their defaults.
    pub parameters: PlanOptions,
    /// Number of stored refreshes.
    #[schemars(range(min = 1))]
    pub refreshes: u32,
    /// Last refresh.
    pub last: RefreshView,
}

/// Plan with its plan file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PlanDetail {
    /// Plan and last refresh.
    #[serde(flatten)]
    pub summary: PlanSummary,
    /// Numbers of the stored refreshes.
    #[schemars(inner(range(min = 1)))]
    pub stored_refreshes: Vec<RefreshId>,
    /// Parameters as a plan file (TOML), without the hops and the fetch cost that a refresh tuned for the
    /// plan's budget: a new plan tunes them on its own state.
    pub plan_file: String,
}

impl Bank {
    /// Returns all plans, by name.
    ///
    /// Cost: one scan of the records of refreshes.
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// let plans = bank.plans()?.plans;
    /// assert_eq!((&*plans[0].plan, plans[0].last.seeds), ("default", 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn plans(&self) -> Result<Plans, EngineError> {
        let views = Views::open(self)?;
        let stored = stored_refreshes(&views)?;
        let mut plans = Vec::new();
        for entry in views.reader.scan(&tables::PLANS)? {
            let (name, _) = entry?;
            let of_plan = stored.get(&name).map_or(&[][..], Vec::as_slice);
            plans.push(summary(&views, &name, of_plan.len())?);
        }
        Ok(Plans { plans })
    }

    /// Returns a plan by name.
    ///
    /// # Errors
    ///
    /// [`EngineError::UnknownPlan`] if there is no such plan.
    pub fn plan(&self, name: &str) -> Result<PlanDetail, EngineError> {
        let views = Views::open(self)?;
        let stored_refreshes = stored_refreshes(&views)?.remove(name).unwrap_or_default();
        let summary = summary(&views, name, stored_refreshes.len())?;
        Ok(PlanDetail {
            stored_refreshes,
            plan_file: summary.parameters.to_toml()?,
            summary,
        })
    }
}

/// Returns the numbers of the stored refreshes, by plan.
fn stored_refreshes(views: &Views) -> Result<BTreeMap<String, Vec<RefreshId>>, EngineError> {
    let mut stored: BTreeMap<String, Vec<RefreshId>> = BTreeMap::new();
    for entry in views.reader.scan(&tables::REFRESHES)? {
        let (number, record) = entry?;
        stored.entry(record.plan).or_default().push(number);
    }
    Ok(stored)
}

fn summary(views: &Views, name: &str, refreshes: usize) -> Result<PlanSummary, EngineError> {
    let name = name.to_owned();
    let Some(plan) = views.reader.get(&tables::PLANS, &name)? else {
        return Err(EngineError::UnknownPlan(name));
    };
    let parameters = views.options(&plan.settings)?;
    let last = views.reader.need(&tables::REFRESHES, &plan.last_refresh)?;
    Ok(PlanSummary {
        plan: name,
        method: parameters.method.unwrap_or_default(),
        parameters,
        refreshes: u32::try_from(refreshes).unwrap_or(u32::MAX),
        last: views.refresh(plan.last_refresh, last)?,
    })
}

// Orders batches, refreshes and the last refused batch by time.

/// Batch, refresh or refused batch of a history.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Event<'a> {
    /// Ingest of a batch.
    Batch(&'a BatchView),
    /// Refresh of a plan.
    Refresh(&'a RefreshView),
    /// Refusal of a batch.
    Refused(&'a RefusedBatch),
}

impl History {
    /// Returns batches, refreshes and the refused batch in the order of time.
    ///
    /// Batches stay in the order of their numbers, and so do refreshes, even if the clock was set back. A
    /// refresh follows the batch whose state it ran on, and a refusal the last batch then. Of equal times the
    /// batch comes first and the refusal last.
    #[must_use]
    pub fn in_order(&self) -> Vec<Event<'_>> {
        let mut events = Vec::with_capacity(self.batches.len() + self.refreshes.len());
        let mut batches = self.batches.iter().peekable();
        for refresh in &self.refreshes {
            let is_before =
                |batch: &&BatchView| batch.record.at <= refresh.at || batch.batch <= refresh.batch;
            while let Some(batch) = batches.next_if(is_before) {
                events.push(Event::Batch(batch));
            }
            events.push(Event::Refresh(refresh));
        }
        events.extend(batches.map(Event::Batch));
        if let Some(refused) = &self.refused {
            let is_later = |event: &Event<'_>| match event {
                Event::Batch(batch) => batch.batch > refused.after,
                Event::Refresh(refresh) => refresh.batch > refused.after || refresh.at > refused.at,
                Event::Refused(_) => false,
            };
            let place = events.iter().position(is_later).unwrap_or(events.len());
            events.insert(place, Event::Refused(refused));
        }
        events
    }

    /// Keeps the last `count` batches and refreshes and the refused batch, counted together.
    #[must_use]
    pub fn last(mut self, count: usize) -> Self {
        let events = self.in_order();
        let kept = &events[events.len().saturating_sub(count)..];
        let batches = kept.iter().filter(|event| matches!(event, Event::Batch(_)));
        let batches = batches.count();
        let has_refused = kept.iter().any(|event| matches!(event, Event::Refused(_)));
        let refreshes = kept.len() - batches - usize::from(has_refused);
        if !has_refused {
            self.refused = None;
        }
        self.batches.drain(..self.batches.len() - batches);
        self.refreshes.drain(..self.refreshes.len() - refreshes);
        self
    }
}

#[cfg(test)]
#[path = "status_tests.rs"]
mod tests;
