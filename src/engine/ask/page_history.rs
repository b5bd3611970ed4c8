//! `history URL`: when a page was a seed, at which rank, and why it came and went.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::diff::{Cause, Pair, Side, refreshes_of};
use super::nearest;
use super::views::Views;
use crate::engine::plan::NAME_PATTERN;
use crate::engine::{Bank, EngineError};
use crate::ingest::URL_PATTERN;
use crate::page::PageId;
use crate::storage::records::{BatchId, PageState, RefreshId};
use crate::storage::tables;
use crate::watch::Watch;

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

impl Bank {
    /// When a page was a seed, in the kept refreshes of one plan or of all.
    ///
    /// The URL may be written in any way that ingest accepts. Cost: one scan of the seeds of these
    /// refreshes; where the page came or went, what a diff of two refreshes costs for one seed.
    pub fn page_history(
        &self,
        url: &str,
        plan: Option<&str>,
        watch: &dyn Watch,
    ) -> Result<PageHistory, EngineError> {
        let views = Views::open(self)?;
        let (at, page, record) = nearest::named(&views, url)?;
        let mut history = PageHistory {
            url: at.url(views.naming.sites),
            state: record.state,
            spam: record.spam,
            first_seen: record.first_seen,
            last_seen: record.last_seen,
            plans: Vec::new(),
        };
        for entry in views.reader.scan(&tables::PLANS)? {
            let (name, _) = entry?;
            if plan.is_none_or(|plan| plan == name) {
                history.plans.push(of_plan(&views, &name, page, watch)?);
            }
        }
        match plan {
            Some(plan) if history.plans.is_empty() => Err(EngineError::NoPlan(plan.to_owned())),
            _ => Ok(history),
        }
    }
}

fn of_plan(
    views: &Views,
    plan: &str,
    page: PageId,
    watch: &dyn Watch,
) -> Result<PlanHistory, EngineError> {
    let refreshes = refreshes_of(views, plan)?;
    let mut history = PlanHistory {
        plan: plan.to_owned(),
        refreshes: u32::try_from(refreshes.len()).unwrap_or(u32::MAX),
        seed_in: 0,
        appearances: Vec::new(),
    };
    watch.stage("refreshes", Some(refreshes.len() as u64));
    let mut before: Option<Side> = None;
    for (refresh, record) in refreshes {
        watch.proceed()?;
        let state_after = record.batch;
        let now = Side::of_refresh(views, refresh, record)?;
        let rank = now.ranks.get(&page).copied();
        let was = before
            .as_ref()
            .map(|before| before.ranks.contains_key(&page));
        let because = match (&before, was, rank) {
            (Some(before), Some(false), Some(_)) => {
                Some(Pair::new(views, before, &now)?.gained(page)?)
            }
            (Some(before), Some(true), None) => Some(Pair::new(views, before, &now)?.lost(page)?),
            _ => None,
        };
        history.seed_in += u32::from(rank.is_some());
        if rank.is_some() || because.is_some() {
            let by = because.as_ref().and_then(|because| because.by);
            let by = by.map(|page| views.name(page)).transpose()?;
            history.appearances.push(Appearance {
                refresh,
                state_after,
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
