//! The refresh that an explanation is about, and reasons that follow from a page's state without evidence
//! from the refresh.

use std::collections::HashSet;

use super::answers::{IneligibleReason, ReadCost, RefreshRun, ScoredUrl};
use crate::engine::error::PlanError;
use crate::engine::plan::{Method, ResolvedPlan, TuningRecord};
use crate::engine::policy::{LoadedPolicy, Policy, pinned_urls};
use crate::engine::query::views::Views;
use crate::engine::refresh::{PolicyView, Proof};
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
    pub(super) proof: Proof,
    /// Policies of the plan, without the pages that it pins; `None` if it has none, when the list is the method's selection.
    pub(super) rules: Option<LoadedPolicy>,
    /// The normalised URLs that the plan pins.
    pub(super) pinned: HashSet<String>,
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
        let mut rules = None;
        if policy != Policy::default() || record.chosen.is_some() {
            let (store, lists) = (&views.reader, options.lists());
            let (naming, watch) = (views.naming, &Unwatched);
            let loaded = LoadedPolicy::load_without_pins(store, naming, policy, lists, watch)?;
            rules = Some(loaded);
        }
        Ok(Self {
            rules,
            pinned: pinned_urls(&views.reader, options.lists(), views.naming)?,
            views,
            refresh,
            plan: options.resolve()?,
            method: options.method.unwrap_or_default(),
            proof: Proof::of(&options, record.doubt.is_some()),
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
            proof: self.proof,
        }
    }

    /// Returns the number of seeds that the method selected.
    pub(super) fn chosen(&self) -> u32 {
        self.record.chosen.unwrap_or(self.record.seeds)
    }

    /// Returns the rank of a page on the list of a plan with policies; `None` if it is not on it.
    pub(super) fn listed(&self, page: PageId) -> Result<Option<u32>, StoreError> {
        let store = &self.views.reader;
        store.get(&tables::SEED_PAGES, &(page, self.refresh))
    }

    /// Returns whether a page that the method selected is on the list.
    pub(super) fn is_listed(&self, page: PageId) -> Result<bool, StoreError> {
        Ok(self.rules.is_none() || self.listed(page)?.is_some())
    }

    /// Returns the rank of a page that the method selected, and whether `max-changes` keeps it off the list. The rank is that
    /// on the list, or for a deferred page `chosen`, its rank among the method's selection.
    pub(super) fn rank(&self, page: PageId, chosen: u32) -> Result<(u32, bool), StoreError> {
        if self.rules.is_none() {
            return Ok((chosen, false));
        }
        let listed = self.listed(page)?;
        Ok((listed.unwrap_or(chosen), listed.is_none()))
    }

    /// Returns the number of pinned seeds, which are the first ones.
    pub(super) fn pinned_seeds(&self) -> Result<u32, EngineError> {
        let policy = self.record.policy.as_deref();
        let policy: Option<PolicyView> = policy
            .map(serde_json::from_str)
            .transpose()
            .map_err(PlanError::Stored)?;
        Ok(policy.map_or(0, |policy| policy.pinned))
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
        let Some((state, spam)) = self.state_at_refresh(page, record)? else {
            return Ok(None);
        };
        if let Some(reason) = self.plan.page_scope().seeds.reason(state, spam) {
            return Ok(Some(reason.into()));
        }
        let Some(rules) = &self.rules else {
            return Ok(None);
        };
        let site = self.views.reader.need(&tables::SITES, &page.site())?.name;
        let is_excluded = rules.pages.is_excluded(&site, record);
        Ok(is_excluded.then_some(IneligibleReason::Excluded))
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
