//! A refresh that is asked about, and what can be said of a page without evidence from the refresh.

use super::answers::{Asked, LeftOut, ReadCost};
use super::core_answers::ScoredUrl;
use super::places::{Place, Places};
use crate::engine::ask::views::Views;
use crate::engine::plan::{Method, Pages, Plan, TuningRecord};
use crate::engine::policy::{LoadedPolicy, Policy};
use crate::engine::{Bank, EngineError, Which};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Unwatched;
use seedbank_store::records::{PageRecord, PageState, RefreshId, RefreshRecord};
use seedbank_store::{StoreError, tables};

/// How many batches are read back, at most, to learn what a page was.
const LOOKED_BACK: usize = 10;

/// A refresh that is asked about, with the state that it is read from.
pub(super) struct Case {
    pub(super) views: Views,
    pub(super) refresh: RefreshId,
    pub(super) record: RefreshRecord,
    pub(super) plan: Plan,
    pub(super) method: Method,
    /// The policies of the plan; `None` where it has none.
    pub(super) rules: Option<LoadedPolicy>,
    /// Where pages stand on the list; `None` without policies, where the list is what the method came to.
    pub(super) places: Option<Places>,
    /// How the plan came by hops and price over the web; `None` where they were given.
    pub(super) tuned: Option<TuningRecord>,
}

impl Case {
    pub(super) fn open(bank: &Bank, which: &Which) -> Result<Self, EngineError> {
        Self::with(Views::open(bank)?, which)
    }

    /// A refresh in a state that is open already.
    pub(super) fn with(views: Views, which: &Which) -> Result<Self, EngineError> {
        let (refresh, record) = match views.find(which) {
            Err(EngineError::UnknownRefresh(refresh))
                if (1..=views.reader.counters()?.refresh).contains(&refresh) =>
            {
                return Err(EngineError::DeletedRefresh(refresh));
            }
            found => found?,
        };
        let options = views.options(&record.settings)?;
        let policy = options.policy()?;
        let (rules, places) = if policy == Policy::default() {
            (None, None)
        } else {
            let differs = record.chosen.is_some();
            (
                Some(LoadedPolicy::load(
                    &views.reader,
                    policy,
                    options.lists(),
                    &Unwatched,
                )?),
                Some(Places::read(&views.reader, refresh, differs)?),
            )
        };
        Ok(Self {
            rules,
            places,
            views,
            refresh,
            plan: options.resolve()?,
            method: options.method.unwrap_or_default(),
            tuned: options.tuned,
            record,
        })
    }

    pub(super) fn asked(&self) -> Asked {
        Asked {
            plan: self.record.plan.clone(),
            method: self.method,
            refresh: self.refresh,
            state_after: self.record.batch,
            seeds: self.record.seeds,
            certified: self.record.certified,
        }
    }

    /// How many seeds the method came to.
    pub(super) fn chosen(&self) -> u32 {
        self.record.chosen.unwrap_or(self.record.seeds)
    }

    /// Where a page stands on the list of a plan with policies.
    pub(super) fn place(&self, page: PageId) -> Option<Place> {
        self.places.as_ref()?.of(page)
    }

    /// The rank of a seed on the list, and `false`; of one that is not on it the rank among those that
    /// the method came to, and `true`. `chosen` is its rank where there are no policies.
    pub(super) fn rank(&self, page: PageId, chosen: u32) -> (u32, bool) {
        if self.places.is_none() {
            return (chosen, false);
        }
        let place = self.place(page);
        match place.and_then(|place| place.listed) {
            Some(listed) => (listed, false),
            None => (place.and_then(|place| place.chosen).unwrap_or(chosen), true),
        }
    }

    pub(super) fn url(&self, page: PageId) -> Result<String, StoreError> {
        Ok(self.views.name(page)?.1)
    }

    pub(super) fn scored(&self, (page, score): (PageId, f64)) -> Result<ScoredUrl, StoreError> {
        let url = self.url(page)?;
        Ok(ScoredUrl { url, score })
    }

    pub(super) fn cost(&self) -> ReadCost {
        ReadCost {
            reads: self.views.reader.reads(),
            bytes: self.views.reader.bytes_read(),
        }
    }

    /// Why the page took no part, where the refresh kept nothing about it. The reason follows from
    /// what the page was when the refresh ran, as far as that is known.
    pub(super) fn without_evidence(
        &self,
        page: PageId,
        record: &PageRecord,
    ) -> Result<Option<LeftOut>, StoreError> {
        let (crawled_only, no_spam) = match self.plan {
            Plan::Cores(plan) => (plan.pages == Pages::Crawled, !plan.keep_spam),
            Plan::Cover(_) => (true, false),
            Plan::Web(_) => (true, true),
        };
        let Some((state, spam)) = self.then(page, record)? else {
            return Ok(None);
        };
        Ok(match state {
            PageState::Gone => Some(LeftOut::Gone),
            PageState::Unlinked => Some(LeftOut::NoPage),
            PageState::Alias => Some(LeftOut::Alias),
            _ if spam && no_spam => Some(LeftOut::Spam),
            PageState::Known if crawled_only => Some(LeftOut::NotCrawled),
            PageState::Known | PageState::Crawled => {
                self.is_left_out(page, record)?.then_some(LeftOut::Excluded)
            }
        })
    }

    /// Whether the plan leaves a page out of the graph.
    fn is_left_out(&self, page: PageId, record: &PageRecord) -> Result<bool, StoreError> {
        let Some(rules) = &self.rules else {
            return Ok(false);
        };
        let site = self.views.reader.need(&tables::SITES, &page.site())?.name;
        Ok(rules.candidates.is_excluded(&site, record))
    }

    /// The state of a page and its spam mark when the refresh ran; `None` where too many batches
    /// have come in since for a bounded number of reads.
    fn then(
        &self,
        page: PageId,
        record: &PageRecord,
    ) -> Result<Option<(PageState, bool)>, StoreError> {
        let store = &self.views.reader;
        let since = self.record.batch + 1..=store.counters()?.batch;
        if since.clone().count() > LOOKED_BACK {
            return Ok(None);
        }
        for batch in since {
            if let Some(former) = store.get(&tables::PAGE_HISTORY, &(batch, page))? {
                return Ok(Some((former.state, former.spam)));
            }
        }
        Ok(Some((record.state, record.spam)))
    }
}
