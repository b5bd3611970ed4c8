//! `explain`: why a page is a seed of a refresh or not.
//!
//! Answers come from the evidence that the refresh stored. The number of point reads is bounded
//! independently of the size of the bank: records of one page, one core or one site, and one block of
//! neighbouring pages. Nothing is recomputed from links. The answer also has the current state of the
//! page, because batches may have followed the refresh.
//!
//! A refresh stores nothing about a page without inter-site links (cores), an uncrawled page (cover), or
//! a page that is neither reached nor a candidate (over the web). Whether such a page was gone or spam
//! follows from the records that later batches overwrote, if there are at most ten such batches.

mod answers;
mod context;
mod cores;
mod cover;
mod global;
mod policy;
mod site;

pub use answers::{
    CoreMember, CoreNumbers, CoreSeed, NearCore, NotAdded, Role, RowSums, ScoredUrl, SidePosition,
};
pub use answers::{
    CoverSeed, SiteSeed, Uncovered, Unreached, ValueBreakdown, WebSeed, WebTerms, WebValueBreakdown,
};
pub use answers::{CurrentPage, Explanation, IneligibleReason, ReadCost, RefreshRun, Why};
pub use answers::{PolicyVerdict, RevisitView, SeedByPolicy};
pub(super) use site::site_in_plans;
pub use site::{
    CoresOfSite, CoverOfSite, PagesOfCore, SeedOfCore, SeedOfSite, SiteExplanation, SiteInPlan,
    SiteWhy, WebOfSite,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::nearest;
use super::views::Views;
use crate::engine::plan::ResolvedPlan;
use crate::engine::revisits::Revisits;
use crate::engine::{Bank, EngineError, Which};
use context::Context;
use seedbank_algorithms::cover::revisit::DAY;
use seedbank_algorithms::page::PageId;
use seedbank_store::records::{PageRecord, PageState};
use seedbank_store::tables;

/// Explains many pages of one refresh in one published state.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::Which;
/// use seedbank::engine::query::Why;
///
/// let explainer = bank.explainer(&Which::default())?;
/// for url in ["http://a.example/", "http://b.example/"] {
///     match explainer.page(url)?.why {
///         Why::CoreSeed(seed) => println!("{url} is a seed, one of {} hubs", seed.core.hubs),
///         why => println!("{url} is not a seed: {why:?}"),
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Explainer {
    context: Context,
    /// Reads that opening took.
    opened: ReadCost,
}

impl Bank {
    /// Opens a refresh to explain pages of.
    ///
    /// # Errors
    ///
    /// [`EngineError::DeletedRefresh`] if the refresh was deleted.
    pub fn explainer(&self, which: impl Into<Which>) -> Result<Explainer, EngineError> {
        let context = Context::open(self, &which.into())?;
        let opened = context.cost();
        Ok(Explainer { context, opened })
    }

    /// Explains why a page is a seed of a refresh or not; see [`Explainer::page`].
    pub fn explain(&self, url: &str, which: impl Into<Which>) -> Result<Explanation, EngineError> {
        self.explainer(which)?.page(url)
    }
}

impl Explainer {
    /// Explains why a page is a seed of the refresh or not. The URL is normalised as ingest does.
    ///
    /// # Errors
    ///
    /// [`EngineError::InvalidUrl`] if the text is not a URL; [`EngineError::UnknownPage`], with similar URLs, if
    /// the bank does not contain the page.
    ///
    /// Cost, including opening: at most 20 point reads and well below 1 MB, independently of the size of
    /// the bank; 24 with limits by site or domain. With policies also one for each of their lists, with its
    /// lines, and a binary search among the seeds if `max-changes` keeps a seed of a core off the list.
    pub fn page(&self, url: &str) -> Result<Explanation, EngineError> {
        let context = &self.context;
        let before = context.cost();
        let views = &context.views;
        let (location, page, record) = nearest::resolve_page(views, url)?;
        let (policy, why) = self.verdict(page, &location.site, &record)?;
        Ok(Explanation {
            url: location.url(views.naming.sites),
            site: location.site,
            run: context.run(),
            page: self.current_page(page, &record)?,
            revisit: self.revisit(&record)?,
            policy,
            why,
            cost: self.cost_since(before),
        })
    }

    /// Returns the state that is read.
    pub(super) const fn views(&self) -> &Views {
        &self.context.views
    }

    /// Returns the refresh.
    pub(super) fn run(&self) -> RefreshRun {
        self.context.run()
    }

    /// Returns the plan as it was when the refresh ran.
    pub(super) const fn plan(&self) -> &ResolvedPlan {
        &self.context.plan
    }

    /// Returns the verdict of the policies on a page, and why it is a seed or not.
    pub(super) fn verdict(
        &self,
        page: PageId,
        site: &str,
        record: &PageRecord,
    ) -> Result<(Option<PolicyVerdict>, Why), EngineError> {
        let why = why(&self.context, page, record)?;
        let policy = policy::verdict(&self.context, page, site, record, &why)?;
        Ok((policy, why))
    }

    /// Returns the current state of a page.
    pub(super) fn current_page(
        &self,
        page: PageId,
        record: &PageRecord,
    ) -> Result<CurrentPage, EngineError> {
        Ok(CurrentPage {
            state: record.state,
            alias: self.context.views.alias(page, record)?,
            spam: record.spam,
            first_seen: record.first_seen,
            last_seen: record.last_seen,
            recorded_since_refresh: record.last_seen > Some(self.context.record.batch),
        })
    }

    /// Returns what a page counts for by the time since its last fetch.
    fn revisit(&self, record: &PageRecord) -> Result<Option<RevisitView>, EngineError> {
        let store = &self.context.views.reader;
        let is_current = store.counters()?.batch == self.context.record.batch;
        let times = self.context.record.revisit;
        let times = times.filter(|_| is_current && record.state == PageState::Crawled);
        Ok(times.map(|times| {
            let revisits = Revisits::of_refresh(times);
            RevisitView {
                fetched: record.fetched,
                days: record.fetched.map(|at| revisits.days_since(Some(at))),
                whole_after: times.period as f64 / DAY as f64,
                counts: revisits.of_page(record).due,
            }
        }))
    }

    /// Returns the reads since `before` plus those of opening.
    fn cost_since(&self, before: ReadCost) -> ReadCost {
        let now = self.context.cost();
        ReadCost {
            reads: self.opened.reads + now.reads - before.reads,
            bytes: self.opened.bytes + now.bytes - before.bytes,
        }
    }
}

/// Returns why a page is a seed of a refresh or not.
fn why(context: &Context, page: PageId, record: &PageRecord) -> Result<Why, EngineError> {
    match &context.plan {
        _ if record.first_seen > context.record.batch => Ok(Why::NotYetKnown),
        ResolvedPlan::Cores(plan) => cores::why(context, plan, page, record),
        ResolvedPlan::Cover(_) => cover::why(context, page, record),
        ResolvedPlan::Web(choice) => global::why(context, choice, page, record),
    }
}

/// Result for a page in the last refresh of a plan.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PageInPlan {
    /// The refresh.
    #[serde(flatten)]
    pub run: RefreshRun,
    /// Verdict of the plan's policies; absent if none affects the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyVerdict>,
    /// Why it is a seed or not.
    #[serde(flatten)]
    pub why: Why,
}

/// Returns the result for a page in the last refresh of every plan, by plan name, and gives `views` back.
///
/// Cost: at most 20 point reads per plan.
pub(super) fn page_in_plans(
    views: Views,
    page: PageId,
    site: &str,
    record: &PageRecord,
) -> Result<(Vec<PageInPlan>, Views), EngineError> {
    for_each_plan(views, |context| {
        let why = why(context, page, record)?;
        Ok(PageInPlan {
            policy: policy::verdict(context, page, site, record, &why)?,
            why,
            run: context.run(),
        })
    })
}

/// Calls `explain` for the last refresh of every plan, by plan name, and gives `views` back.
fn for_each_plan<T>(
    mut views: Views,
    explain: impl Fn(&Context) -> Result<T, EngineError>,
) -> Result<(Vec<T>, Views), EngineError> {
    let mut names = Vec::new();
    for entry in views.reader.scan(&tables::PLANS)? {
        names.push(entry?.0);
    }
    let mut found = Vec::with_capacity(names.len());
    for name in names {
        let which = Which {
            plan: Some(name),
            refresh: None,
        };
        let context = Context::with(views, &which)?;
        found.push(explain(&context)?);
        views = context.views;
    }
    Ok((found, views))
}
