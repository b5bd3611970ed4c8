//! The refresh that an explanation is about, and reasons that follow from a page's state without evidence
//! from the refresh.

use std::collections::HashMap;

use super::answers::{IneligibleReason, ReadCost, RefreshRun, ScoredUrl};
use crate::engine::plan::{Method, ResolvedPlan, TuningRecord};
use crate::engine::policy::{LoadedPolicy, Policy};
use crate::engine::query::views::Views;
use crate::engine::refresh::Proof;
use crate::engine::{Bank, EngineError, Which};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Unwatched;
use seedbank_store::records::{PageRecord, PageState, RefreshId, RefreshRecord};
use seedbank_store::{Store, StoreError, tables};

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
        let (rules, positions) = if policy == Policy::default() && record.chosen.is_none() {
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

// Positions of pages on the list of a refresh, which policies can make different from the method's
// selection.

/// Position of a page on the list and in the method's selection.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListPosition {
    /// Rank on the list; `None` if the page is not on it.
    pub(super) listed: Option<u32>,
    /// Rank in the method's selection; `None` if it does not contain the page.
    pub(super) chosen: Option<u32>,
    /// Last refresh of the plan in which the method selected the page.
    pub(super) last_chosen: RefreshId,
}

/// Positions of the pages that are on the list or in the method's selection.
///
/// Memory: some 40 bytes per seed.
pub(super) struct ListPositions(HashMap<PageId, ListPosition>);

impl ListPositions {
    /// Reads the positions of a refresh. `differs` tells whether its list differs from the method's selection.
    ///
    /// Cost: one scan of its seeds, and one of its list if that differs.
    pub(super) fn read(
        store: &Store,
        refresh: RefreshId,
        differs: bool,
    ) -> Result<Self, StoreError> {
        let prefix = refresh.to_be_bytes();
        let mut positions = HashMap::new();
        for entry in store.scan_under(&tables::SEEDS, &prefix)? {
            let ((_, rank), seed) = entry?;
            let position = ListPosition {
                listed: (!differs).then_some(rank),
                chosen: Some(rank),
                last_chosen: refresh,
            };
            positions.insert(seed.page, position);
        }
        if differs {
            for entry in store.scan_under(&tables::FINAL_LIST, &prefix)? {
                let ((_, rank), listed) = entry?;
                let position = ListPosition {
                    listed: Some(rank),
                    chosen: listed.chosen,
                    last_chosen: listed.last_chosen,
                };
                positions.insert(listed.page, position);
            }
        }
        Ok(Self(positions))
    }

    /// Returns the position of a page; `None` if it is neither on the list nor in the selection.
    pub(super) fn get(&self, page: PageId) -> Option<ListPosition> {
        self.0.get(&page).copied()
    }

    /// Iterates over the pages on the list with their ranks, in no particular order.
    pub(super) fn listed(&self) -> impl Iterator<Item = (u32, PageId)> {
        let all = self.0.iter();
        all.filter_map(|(page, position)| Some((position.listed?, *page)))
    }
}
