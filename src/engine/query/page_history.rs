//! `history URL`: the refreshes in which a page was a seed, its ranks, and why it was gained or lost.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::diff::{Cause, CauseDetail, Pair, Side};
use super::explain::ReadCost;
use super::nearest;
use super::views::Views;
use crate::engine::plan::NAME_PATTERN;
use crate::engine::{Bank, EngineError};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::URL_PATTERN;
use seedbank_store::records::{BatchId, PageState, RefreshId, RefreshRecord};
use seedbank_store::tables;

/// History of one page.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PageHistory {
    /// URL of the page.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Current state of the page.
    pub state: PageState,
    /// Current spam mark of the page.
    pub spam: bool,
    /// Batch that first mentioned the page.
    #[schemars(range(min = 1))]
    pub first_seen: BatchId,
    /// Last batch with a record for the page; absent for a page known only from links.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub last_seen: Option<BatchId>,
    /// History by plan, ordered by plan name.
    pub plans: Vec<PlanHistory>,
    /// Reads that the answer took.
    #[serde(skip)]
    pub cost: ReadCost,
}

/// History of a page in the stored refreshes of a plan.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PlanHistory {
    /// Name of the plan.
    #[schemars(regex(pattern = NAME_PATTERN))]
    pub plan: String,
    /// Number of stored refreshes of the plan.
    pub refreshes: u32,
    /// Number of them in which the page is a seed.
    pub seed_in: u32,
    /// Refreshes in which it is a seed, and those that lost it, by number.
    pub appearances: Vec<Appearance>,
}

/// Refresh in which the page is a seed, or was lost.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Appearance {
    /// Number of the refresh.
    #[schemars(range(min = 1))]
    pub refresh: RefreshId,
    /// The last batch of the state that the refresh ran on.
    pub state_batch: BatchId,
    /// Rank of the page; absent if the refresh lost it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub rank: Option<u32>,
    /// Why it was gained or lost since the previous stored refresh, as in a diff; absent if it was kept, and
    /// in the first refresh.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// Batch that caused the change, as in a diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub batch: Option<BatchId>,
    /// Seed that the cause refers to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = URL_PATTERN))]
    pub by: Option<String>,
}

/// Stored refreshes of a plan, by number.
type Refreshes = Vec<(RefreshId, RefreshRecord)>;

impl Bank {
    /// Returns when a page was a seed in the stored refreshes of one plan, or of all. The URL may have any
    /// form that ingest accepts.
    ///
    /// Cost: one scan of the refresh records without their seeds; one entry per list that contains the
    /// page; for each gain or loss, the cost of a diff of one seed.
    pub fn page_history(&self, url: &str, plan: Option<&str>) -> Result<PageHistory, EngineError> {
        let views = Views::open(self)?;
        let (at, page, record) = nearest::resolve_page(&views, url)?;
        let mut refreshes: BTreeMap<String, Refreshes> = BTreeMap::new();
        for entry in views.reader.scan(&tables::PLANS)? {
            let (name, _) = entry?;
            if plan.is_none_or(|plan| plan == name) {
                refreshes.insert(name, Refreshes::new());
            }
        }
        if let Some(plan) = plan.filter(|_| refreshes.is_empty()) {
            return Err(EngineError::UnknownPlan(plan.to_owned()));
        }
        for entry in views.reader.scan(&tables::REFRESHES)? {
            let (refresh, record) = entry?;
            if let Some(of_plan) = refreshes.get_mut(&record.plan) {
                of_plan.push((refresh, record));
            }
        }
        let ranks = views.reader.lists_with_page(page)?.into_iter().collect();
        let lists = PageLists {
            views: &views,
            page,
            ranks,
        };
        let mut plans = Vec::with_capacity(refreshes.len());
        for (name, refreshes) in refreshes {
            plans.push(lists.plan_history(name, &refreshes, self.watch())?);
        }
        Ok(PageHistory {
            url: at.url(views.naming.sites),
            state: record.state,
            spam: record.spam,
            first_seen: record.first_seen,
            last_seen: record.last_seen,
            plans,
            cost: ReadCost {
                reads: views.reader.reads(),
                bytes: views.reader.bytes_read(),
            },
        })
    }
}

/// Page with the lists that contain it.
struct PageLists<'a> {
    views: &'a Views,
    page: PageId,
    /// Rank of the page on each list.
    ranks: BTreeMap<RefreshId, u32>,
}

impl PageLists<'_> {
    fn plan_history(
        &self,
        plan: String,
        refreshes: &[(RefreshId, RefreshRecord)],
        watch: &dyn Watch,
    ) -> Result<PlanHistory, EngineError> {
        let mut history = PlanHistory {
            plan,
            refreshes: u32::try_from(refreshes.len()).unwrap_or(u32::MAX),
            seed_in: 0,
            appearances: Vec::new(),
        };
        watch.stage("refreshes", Some(refreshes.len() as u64));
        let mut previous: Option<&(RefreshId, RefreshRecord)> = None;
        for current in refreshes {
            watch.proceed()?;
            let (refresh, record) = current;
            let rank = self.ranks.get(refresh).copied();
            let detail = match previous {
                Some(previous) if self.ranks.contains_key(&previous.0) != rank.is_some() => {
                    Some(self.cause(previous, current)?)
                }
                _ => None,
            };
            history.seed_in += u32::from(rank.is_some());
            if rank.is_some() || detail.is_some() {
                let by = detail.as_ref().and_then(|detail| detail.by);
                let by = by.map(|page| self.views.name(page)).transpose()?;
                history.appearances.push(Appearance {
                    refresh: *refresh,
                    state_batch: record.batch,
                    rank,
                    cause: detail.as_ref().map(|detail| detail.cause),
                    batch: detail.as_ref().and_then(|detail| detail.batch),
                    by: by.map(|(_, url)| url),
                });
            }
            previous = Some(current);
            watch.advance(1);
        }
        Ok(history)
    }

    /// Returns why only one of two refreshes has the page on its list.
    fn cause(
        &self,
        previous: &(RefreshId, RefreshRecord),
        current: &(RefreshId, RefreshRecord),
    ) -> Result<CauseDetail, EngineError> {
        let side = |of: &(RefreshId, RefreshRecord)| {
            let (refresh, record) = of;
            Side::from_refresh(self.views, *refresh, record.clone())
        };
        let (from, to) = (side(previous)?, side(current)?);
        let pair = Pair::new(self.views, &from, &to)?;
        if self.ranks.contains_key(&current.0) {
            pair.gained(self.page)
        } else {
            pair.lost(self.page)
        }
    }
}
