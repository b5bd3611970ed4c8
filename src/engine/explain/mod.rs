//! `explain`: why a page is a seed of a refresh, or why not.
//!
//! Answers come from what the refresh kept, in a bounded number of point reads whatever the size
//! of the bank: records of one page, one core or one site, and one block of neighbouring pages.
//! Nothing is computed from links. What the page is today is told beside it, since batches may
//! have come in after the refresh.

mod answers;
mod cores;
mod cover;
mod site;

pub use answers::{
    Asked, CoreMember, CoreSeed, CoreView as CoreNumbers, CoverSeed, Explanation, LeftOut,
    NearCore, NotTaken, PageToday, Parts, PlaceView, ReadCost, Role, RowSums, ScoredUrl, SiteSeed,
    Uncovered, Why,
};
pub use site::{
    CoresOfSite, CoverOfSite, PagesOfCore, SeedOfCore, SeedOfSite, SiteExplanation, SiteWhy,
};

use super::plan::{Plan, PlanOptions};
use super::views::Views;
use super::{Bank, EngineError, Which, nearest};
use crate::page::PageId;
use crate::storage::StoreError;
use crate::storage::records::{PageRecord, PageState, RefreshId, RefreshRecord};

/// A refresh that is asked, with the state that it is read from.
struct Case {
    views: Views,
    refresh: RefreshId,
    record: RefreshRecord,
    plan: Plan,
    method: &'static str,
}

impl Case {
    fn open(bank: &Bank, which: &Which) -> Result<Self, EngineError> {
        let views = Views::open(bank)?;
        let (refresh, record) = match views.find(which) {
            Err(EngineError::NoRefresh(refresh))
                if (1..=views.reader.counters()?.refresh).contains(&refresh) =>
            {
                return Err(EngineError::Forgotten(refresh));
            }
            found => found?,
        };
        let options = PlanOptions::from_kept(&record.settings)?;
        Ok(Self {
            views,
            refresh,
            plan: options.decide()?,
            method: options.method.unwrap_or_default().name(),
            record,
        })
    }

    fn asked(&self) -> Asked {
        Asked {
            plan: self.record.plan.clone(),
            method: self.method,
            refresh: self.refresh,
            state_after: self.record.batch,
            seeds: self.record.seeds,
            certified: self.record.certified,
        }
    }

    fn url(&self, page: PageId) -> Result<String, StoreError> {
        Ok(self.views.name(page)?.1)
    }

    fn scored(&self, (page, score): (PageId, f64)) -> Result<ScoredUrl, StoreError> {
        let url = self.url(page)?;
        Ok(ScoredUrl { url, score })
    }

    fn cost(&self) -> ReadCost {
        ReadCost {
            reads: self.views.reader.reads(),
            bytes: self.views.reader.bytes_read(),
        }
    }

    /// What the page's present record says where the refresh kept nothing of it.
    fn without_evidence(
        &self,
        page: &PageRecord,
        crawled_only: bool,
        no_spam: bool,
    ) -> Option<Why> {
        let reason = match page.state {
            _ if page.first_seen > self.record.batch => return Some(Why::Later),
            PageState::Gone => LeftOut::Gone,
            PageState::Unlinked => LeftOut::NoPage,
            _ if page.spam && no_spam => LeftOut::Spam,
            PageState::Known if crawled_only => LeftOut::NotCrawled,
            PageState::Known | PageState::Crawled => return None,
        };
        Some(Why::LeftOut { reason })
    }
}

/// A refresh that can be asked about many pages, all in one published state.
pub struct Explainer {
    case: Case,
    /// What opening took.
    opened: ReadCost,
}

impl Bank {
    /// A refresh to be asked; one that `--keep` deleted is [`EngineError::Forgotten`].
    pub fn explainer(&self, which: &Which) -> Result<Explainer, EngineError> {
        let case = Case::open(self, which)?;
        let opened = case.cost();
        Ok(Explainer { case, opened })
    }

    /// Why a page is a seed of a refresh, or why not: [`Explainer::page`] on the published state.
    pub fn explain(&self, url: &str, which: &Which) -> Result<Explanation, EngineError> {
        self.explainer(which)?.page(url)
    }
}

impl Explainer {
    /// Why a page is a seed of the refresh, or why not.
    ///
    /// The URL is normalised as ingest does. One that is no URL is [`EngineError::NoUrl`], one that
    /// the bank does not know [`EngineError::NotKnown`], with the nearest that it knows.
    ///
    /// Cost, opening included: at most 20 point reads, and well below 1 MB, whatever the size of
    /// the bank.
    pub fn page(&self, url: &str) -> Result<Explanation, EngineError> {
        let case = &self.case;
        let before = case.cost();
        let views = &case.views;
        let (location, page, record) = nearest::named(views, url)?;
        let why = match &case.plan {
            Plan::Cores(plan) => cores::why(case, plan, page, &record)?,
            Plan::Cover(_) => cover::why(case, page, &record)?,
        };
        Ok(Explanation {
            url: location.url(views.mode),
            site: location.site,
            asked: case.asked(),
            page: PageToday {
                state: record.state,
                spam: record.spam,
                first_seen: record.first_seen,
                last_seen: record.last_seen,
                recorded_since: record.last_seen > Some(case.record.batch),
            },
            why,
            cost: self.cost_since(before),
        })
    }

    /// What an answer took that began with this cost, as if it were the only one.
    fn cost_since(&self, before: ReadCost) -> ReadCost {
        let now = self.case.cost();
        ReadCost {
            reads: self.opened.reads + now.reads - before.reads,
            bytes: self.opened.bytes + now.bytes - before.bytes,
        }
    }
}
