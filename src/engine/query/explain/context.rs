//! The refresh that an explanation is about, and reasons that follow from a page's state without evidence
//! from the refresh.

use super::answers::{IneligibleReason, ReadCost, RefreshRun};
use super::core_answers::ScoredUrl;
use super::list_positions::{ListPosition, ListPositions};
use crate::engine::plan::{Method, Pages, ResolvedPlan, TuningRecord};
use crate::engine::policy::{LoadedPolicy, Policy};
use crate::engine::query::views::Views;
use crate::engine::{Bank, EngineError, Which};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Unwatched;
use seedbank_store::records::{PageRecord, PageState, RefreshId, RefreshRecord};
use seedbank_store::{StoreError, tables};

/// Maximum number of later batches that are searched for the state of a page at the refresh.
const MAX_BATCHES_BACK: usize = 10;

/// Refresh to explain, with the state that it is read from.
pub(super) struct Context {
    pub(super) views: Views,
    pub(super) refresh: RefreshId,
    pub(super) record: RefreshRecord,
    pub(super) plan: ResolvedPlan,
    pub(super) method: Method,
    /// Policies of the plan; `None` if it has none.
    pub(super) rules: Option<LoadedPolicy>,
    /// Positions on the list; `None` without policies, when the list is the method's selection.
    pub(super) positions: Option<ListPositions>,
    /// How hops and fetch cost were tuned over the web; `None` if they were given.
    pub(super) tuned: Option<TuningRecord>,
}

impl Context {
    pub(super) fn open(bank: &Bank, which: &Which) -> Result<Self, EngineError> {
        Self::with(Views::open(bank)?, which)
    }

    /// Opens a refresh in a state that is already open.
    pub(super) fn with(views: Views, which: &Which) -> Result<Self, EngineError> {
        let (refresh, record) = views.find(which)?;
        let options = views.options(&record.settings)?;
        let policy = options.policy()?;
        let (rules, positions) = if policy == Policy::default() {
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
                Some(ListPositions::read(&views.reader, refresh, differs)?),
            )
        };
        Ok(Self {
            rules,
            positions,
            views,
            refresh,
            plan: options.resolve()?,
            method: options.method.unwrap_or_default(),
            tuned: options.tuned,
            record,
        })
    }

    pub(super) fn run(&self) -> RefreshRun {
        RefreshRun {
            plan: self.record.plan.clone(),
            method: self.method,
            refresh: self.refresh,
            state_batch: self.record.batch,
            seeds: self.record.seeds,
            certified: self.record.certified,
        }
    }

    /// Returns the number of seeds that the method selected.
    pub(super) fn chosen(&self) -> u32 {
        self.record.chosen.unwrap_or(self.record.seeds)
    }

    /// Returns the position of a page on the list of a plan with policies.
    pub(super) fn position(&self, page: PageId) -> Option<ListPosition> {
        self.positions.as_ref()?.get(page)
    }

    /// Returns the rank of a seed, and whether `max-changes` keeps it off the list. The rank is that on the
    /// list, or for a deferred seed that among the method's selection. `chosen` is the rank without policies.
    pub(super) fn rank(&self, page: PageId, chosen: u32) -> (u32, bool) {
        if self.positions.is_none() {
            return (chosen, false);
        }
        let place = self.position(page);
        match place.and_then(|place| place.listed) {
            Some(listed) => (listed, false),
            None => (place.and_then(|place| place.chosen).unwrap_or(chosen), true),
        }
    }

    pub(super) fn url(&self, page: PageId) -> Result<String, StoreError> {
        Ok(self.views.name(page)?.1)
    }

    pub(super) fn scored(&self, page: PageId, score: f64) -> Result<ScoredUrl, StoreError> {
        let url = self.url(page)?;
        Ok(ScoredUrl { url, score })
    }

    pub(super) fn cost(&self) -> ReadCost {
        ReadCost {
            reads: self.views.reader.reads(),
            bytes: self.views.reader.bytes_read(),
        }
    }

    /// Returns why a page without evidence was ineligible, derived from its state when the refresh ran.
    /// `None` if it was eligible, or that state is unknown.
    pub(super) fn ineligible_reason(
        &self,
        page: PageId,
        record: &PageRecord,
    ) -> Result<Option<IneligibleReason>, StoreError> {
        let (crawled_only, no_spam) = match self.plan {
            ResolvedPlan::Cores(plan) => (plan.pages == Pages::Crawled, !plan.keep_spam),
            ResolvedPlan::Cover(_) => (true, false),
            ResolvedPlan::Web(_) => (true, true),
        };
        let Some((state, spam)) = self.state_at_refresh(page, record)? else {
            return Ok(None);
        };
        Ok(match state {
            PageState::Gone => Some(IneligibleReason::Gone),
            PageState::Unlinked => Some(IneligibleReason::Unlinked),
            PageState::Alias => Some(IneligibleReason::Alias),
            _ if spam && no_spam => Some(IneligibleReason::Spam),
            PageState::Known if crawled_only => Some(IneligibleReason::NotCrawled),
            PageState::Known | PageState::Crawled => self
                .is_excluded(page, record)?
                .then_some(IneligibleReason::Excluded),
        })
    }

    /// Returns whether the plan excludes a page from the graph.
    fn is_excluded(&self, page: PageId, record: &PageRecord) -> Result<bool, StoreError> {
        let Some(rules) = &self.rules else {
            return Ok(false);
        };
        let site = self.views.reader.need(&tables::SITES, &page.site())?.name;
        Ok(rules.candidates.is_excluded(&site, record))
    }

    /// Returns the state of a page and its spam mark when the refresh ran; `None` if more than
    /// [`MAX_BATCHES_BACK`] batches followed, which bounds the reads.
    fn state_at_refresh(
        &self,
        page: PageId,
        record: &PageRecord,
    ) -> Result<Option<(PageState, bool)>, StoreError> {
        let store = &self.views.reader;
        let since = self.record.batch + 1..=store.counters()?.batch;
        if since.clone().count() > MAX_BATCHES_BACK {
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
