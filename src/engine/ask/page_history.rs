//! `history URL`: when a page was a seed, at which rank, and why it came and went.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::diff::{Because, Cause, Pair, Side};
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

/// What `history` tells of one page.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PageHistory {
    /// The page.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// What the page is to the crawler today.
    pub state: PageState,
    /// Whether the page has the spam mark today.
    pub spam: bool,
    /// The batch that first named the page.
    #[schemars(range(min = 1))]
    pub first_seen: BatchId,
    /// The last batch with a record for the page; none for a page that is only linked to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub last_seen: Option<BatchId>,
    /// The plans, by name.
    pub plans: Vec<PlanHistory>,
    /// What the answer cost to read.
    #[serde(skip)]
    pub cost: ReadCost,
}

/// What a plan's kept refreshes tell of a page.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PlanHistory {
    /// The plan.
    #[schemars(regex(pattern = NAME_PATTERN))]
    pub plan: String,
    /// How many refreshes of the plan are kept.
    pub refreshes: u32,
    /// In how many of them the page is a seed.
    pub seed_in: u32,
    /// The refreshes in which it is a seed, and those that lost it, in order.
    pub appearances: Vec<Appearance>,
}

/// A refresh that has the page as a seed, or lost it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Appearance {
    /// The refresh.
    #[schemars(range(min = 1))]
    pub refresh: RefreshId,
    /// The last batch of the state that the refresh ran on.
    pub state_after: BatchId,
    /// The page's rank; none where the refresh lost it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub rank: Option<u32>,
    /// Why it came or went since the previous kept refresh, as in a diff; none where it stayed, and
    /// in the first refresh.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The batch that brought the change, as in a diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub batch: Option<BatchId>,
    /// The seed that the cause speaks of.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = URL_PATTERN))]
    pub by: Option<String>,
}

/// The kept refreshes of a plan, in order.
type Kept = Vec<(RefreshId, RefreshRecord)>;

impl Bank {
    /// When a page was a seed, in the kept refreshes of one plan or of all.
    ///
    /// The URL may be written in any way that ingest accepts. Cost: one scan of the records of
    /// refreshes, without their seeds; an entry for each list that the page is on; where the page came
    /// or went, what a diff of two refreshes costs for one seed.
    pub fn page_history(
        &self,
        url: &str,
        plan: Option<&str>,
        watch: &dyn Watch,
    ) -> Result<PageHistory, EngineError> {
        let views = Views::open(self)?;
        let (at, page, record) = nearest::named(&views, url)?;
        let mut kept: BTreeMap<String, Kept> = BTreeMap::new();
        for entry in views.reader.scan(&tables::PLANS)? {
            let (name, _) = entry?;
            if plan.is_none_or(|plan| plan == name) {
                kept.insert(name, Kept::new());
            }
        }
        if let Some(plan) = plan.filter(|_| kept.is_empty()) {
            return Err(EngineError::UnknownPlan(plan.to_owned()));
        }
        for entry in views.reader.scan(&tables::REFRESHES)? {
            let (refresh, record) = entry?;
            if let Some(kept) = kept.get_mut(&record.plan) {
                kept.push((refresh, record));
            }
        }
        let ranks = views.reader.lists_with_page(page)?.into_iter().collect();
        let of_page = OfPage {
            views: &views,
            page,
            ranks,
        };
        let mut plans = Vec::with_capacity(kept.len());
        for (name, kept) in kept {
            plans.push(of_page.of_plan(name, &kept, watch)?);
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

/// A page and the lists that it is on.
struct OfPage<'a> {
    views: &'a Views,
    page: PageId,
    /// The page's rank on each list.
    ranks: BTreeMap<RefreshId, u32>,
}

impl OfPage<'_> {
    fn of_plan(
        &self,
        plan: String,
        kept: &[(RefreshId, RefreshRecord)],
        watch: &dyn Watch,
    ) -> Result<PlanHistory, EngineError> {
        let mut history = PlanHistory {
            plan,
            refreshes: u32::try_from(kept.len()).unwrap_or(u32::MAX),
            seed_in: 0,
            appearances: Vec::new(),
        };
        watch.stage("refreshes", Some(kept.len() as u64));
        let mut before: Option<&(RefreshId, RefreshRecord)> = None;
        for now in kept {
            watch.proceed()?;
            let (refresh, record) = now;
            let rank = self.ranks.get(refresh).copied();
            let because = match before {
                Some(before) if self.ranks.contains_key(&before.0) != rank.is_some() => {
                    Some(self.because(before, now)?)
                }
                _ => None,
            };
            history.seed_in += u32::from(rank.is_some());
            if rank.is_some() || because.is_some() {
                let by = because.as_ref().and_then(|because| because.by);
                let by = by.map(|page| self.views.name(page)).transpose()?;
                history.appearances.push(Appearance {
                    refresh: *refresh,
                    state_after: record.batch,
                    rank,
                    cause: because.as_ref().map(|because| because.cause),
                    batch: because.as_ref().and_then(|because| because.batch),
                    by: by.map(|(_, url)| url),
                });
            }
            before = Some(now);
            watch.advance(1);
        }
        Ok(history)
    }

    /// Why the page is on the list of one refresh and not on that of the other.
    fn because(
        &self,
        before: &(RefreshId, RefreshRecord),
        now: &(RefreshId, RefreshRecord),
    ) -> Result<Because, EngineError> {
        let side = |of: &(RefreshId, RefreshRecord)| {
            let (refresh, record) = of;
            Side::of_refresh(self.views, *refresh, record.clone())
        };
        let (from, to) = (side(before)?, side(now)?);
        let pair = Pair::new(self.views, &from, &to)?;
        if self.ranks.contains_key(&now.0) {
            pair.gained(self.page)
        } else {
            pair.lost(self.page)
        }
    }
}
