//! `explain`: why a page is a seed of a refresh, or why not.
//!
//! Answers come from what the refresh kept, in a bounded number of point reads whatever the size of
//! the bank: records of one page, one core or one site, and one block of neighbouring pages.
//! Nothing is computed from links. What the page is today is given as well, since batches may have
//! come in after the refresh.
//!
//! A refresh keeps nothing about a page that has no inter-site links (cores), is not crawled
//! (cover), or is neither reached nor a candidate (over the web), and the answer then says just
//! that. Whether the page was also gone or spam follows from what batches overwrote of its record,
//! as long as no more than ten have come in since.

mod answers;
mod context;
mod core_answers;
mod cores;
mod cover;
mod cover_answers;
mod list_positions;
mod policy;
mod policy_verdict;
mod site;
mod web;

pub use answers::{CurrentPage, Explanation, IneligibleReason, ReadCost, RefreshRun, Why};
pub use core_answers::{
    CoreMember, CoreNumbers, CoreSeed, NearCore, NotAdded, Role, RowSums, ScoredUrl, SidePosition,
};
pub use cover_answers::{
    CoverSeed, SiteSeed, Uncovered, Unreached, ValueBreakdown, WebSeed, WebTerms, WebValueBreakdown,
};
pub use policy_verdict::{PolicyVerdict, SeedByPolicy};
pub(super) use site::site_in_plans;
pub use site::{
    CoresOfSite, CoverOfSite, PagesOfCore, SeedOfCore, SeedOfSite, SiteExplanation, SiteInPlan,
    SiteWhy, WebOfSite,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::nearest;
use super::views::Views;
use crate::engine::plan::Plan;
use crate::engine::{Bank, EngineError, Which};
use context::Context;
use seedbank_algorithms::page::PageId;
use seedbank_store::records::PageRecord;
use seedbank_store::tables;

/// A refresh that can be asked about many pages, all in one published state.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::{Which, Why};
///
/// let explainer = bank.explainer(&Which::default())?;
/// for url in ["http://a.example/", "http://b.example/"] {
///     match explainer.page(url)?.why {
///         Why::CoreSeed(seed) => println!("{url} is a seed, of {} hubs", seed.core.hubs),
///         why => println!("{url} is no seed: {why:?}"),
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Explainer {
    context: Context,
    /// What opening cost to read.
    opened: ReadCost,
}

impl Bank {
    /// Opens a refresh to ask about; one that `--keep` deleted is [`EngineError::Forgotten`].
    pub fn explainer(&self, which: &Which) -> Result<Explainer, EngineError> {
        let context = Context::open(self, which)?;
        let opened = context.cost();
        Ok(Explainer { context, opened })
    }

    /// Why a page is a seed of a refresh, or why not: [`Explainer::page`] on the published state.
    pub fn explain(&self, url: &str, which: &Which) -> Result<Explanation, EngineError> {
        self.explainer(which)?.page(url)
    }
}

impl Explainer {
    /// Why a page is a seed of the refresh, or why not.
    ///
    /// The URL is normalised as ingest does. One that is not a URL is [`EngineError::NoUrl`]; one
    /// that the bank does not know is [`EngineError::NotKnown`], with the nearest pages that it
    /// knows.
    ///
    /// Cost, opening included: at most 20 point reads, and well below 1 MB, whatever the size of
    /// the bank; where the plan has policies, its lists and one scan of its seeds more, with caps two.
    pub fn page(&self, url: &str) -> Result<Explanation, EngineError> {
        let context = &self.context;
        let before = context.cost();
        let views = &context.views;
        let (location, page, record) = nearest::resolve_page(views, url)?;
        let (policy, why) = self.verdict(page, &record)?;
        Ok(Explanation {
            url: location.url(views.naming.sites),
            site: location.site,
            run: context.run(),
            page: self.current_page(page, &record)?,
            policy,
            why,
            cost: self.cost_since(before),
        })
    }

    /// The state that is read.
    pub(super) const fn views(&self) -> &Views {
        &self.context.views
    }

    /// The refresh that is asked.
    pub(super) fn run(&self) -> RefreshRun {
        self.context.run()
    }

    /// The plan, as it was when the refresh ran.
    pub(super) const fn plan(&self) -> &Plan {
        &self.context.plan
    }

    /// What the policies say of a page, and why it is a seed, or why not.
    pub(super) fn verdict(
        &self,
        page: PageId,
        record: &PageRecord,
    ) -> Result<(Option<PolicyVerdict>, Why), EngineError> {
        let policy = policy::verdict(&self.context, page, record)?;
        Ok((policy, why(&self.context, page, record)?))
    }

    /// A page as it is in the state that is read.
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

    /// The cost of an answer that began at this cost, as if it were the only one.
    fn cost_since(&self, before: ReadCost) -> ReadCost {
        let now = self.context.cost();
        ReadCost {
            reads: self.opened.reads + now.reads - before.reads,
            bytes: self.opened.bytes + now.bytes - before.bytes,
        }
    }
}

/// Why a page is a seed of a refresh, or why not.
fn why(context: &Context, page: PageId, record: &PageRecord) -> Result<Why, EngineError> {
    match &context.plan {
        _ if record.first_seen > context.record.batch => Ok(Why::NotYetKnown),
        Plan::Cores(plan) => cores::why(context, plan, page, record),
        Plan::Cover(_) => cover::why(context, page, record),
        Plan::Web(choice) => web::why(context, choice, page, record),
    }
}

/// What a page is in the last refresh of a plan.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PageInPlan {
    /// The refresh.
    #[serde(flatten)]
    pub run: RefreshRun,
    /// What the policies of the plan say of it; left out where they say nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyVerdict>,
    /// Why it is a seed, or why not.
    #[serde(flatten)]
    pub why: Why,
}

/// What a page is in the last refresh of every plan, by the names of the plans; the state that is
/// read is handed back.
///
/// Cost: for each plan at most 20 point reads.
pub(super) fn page_in_plans(
    views: Views,
    page: PageId,
    record: &PageRecord,
) -> Result<(Vec<PageInPlan>, Views), EngineError> {
    for_each_plan(views, |case| {
        Ok(PageInPlan {
            policy: policy::verdict(context, page, record)?,
            why: why(context, page, record)?,
            run: context.run(),
        })
    })
}

/// What `tell` says of the last refresh of every plan, by the names of the plans; the state that is read
/// is handed back.
fn for_each_plan<T>(
    mut views: Views,
    tell: impl Fn(&Context) -> Result<T, EngineError>,
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
        found.push(tell(&context)?);
        views = context.views;
    }
    Ok((found, views))
}
