//! Determines why a page is a seed of only one of two refreshes, from what both stored.
//!
//! One procedure serves lost and gained seeds: why does one refresh lack a page that the other has? For a
//! gained seed the refreshes are exchanged, and the cause is replaced by its reverse. The definitions are
//! those of [`Cause`], tried in order.

use super::answers::Cause;
use super::side::{Side, StoredRefresh};
use crate::engine::EngineError;
use crate::engine::history::timeline::{PageStatus, PageTimelines};
use crate::engine::plan::{Parameter, ResolvedPlan};
use crate::engine::policy::{Caps, RejectionReason};
use crate::engine::query::views::Views;
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_store::records::{BatchId, CoreRecord, PageState, SeedEvidence};
use seedbank_store::tables::{self, PageSetKey};
use seedbank_store::{PageSetReader, StoreError};

/// Two lists and the batches between them.
pub(in crate::engine) struct Pair<'a> {
    pub(super) views: &'a Views,
    pub(super) from: &'a Side,
    pub(super) to: &'a Side,
    pub(super) timelines: PageTimelines<'a>,
    pub(super) parameters_differ: bool,
    /// The batches `low + 1..=high` lie between the two states.
    pub(super) low: BatchId,
    pub(super) high: BatchId,
    /// Pages that each of these batches changed, last batch first.
    changed: Vec<(BatchId, PageSetReader<'a>)>,
}

/// Cause with the batch, core and seed that it refers to.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::engine) struct CauseDetail {
    pub(in crate::engine) cause: Cause,
    pub(in crate::engine) batch: Option<BatchId>,
    pub(in crate::engine) core: Option<u32>,
    pub(in crate::engine) by: Option<PageId>,
    pub(super) hop: Option<u32>,
    /// Links of the core: `(lost, all)`.
    pub(super) links: Option<(u64, u64)>,
}

impl CauseDetail {
    pub(super) fn new(cause: Cause, batch: Option<BatchId>) -> Self {
        Self {
            cause,
            batch,
            core: None,
            by: None,
            hop: None,
            links: None,
        }
    }
}

impl<'a> Pair<'a> {
    /// Reads the sets of pages that the batches between the two states changed.
    pub(in crate::engine) fn new(
        views: &'a Views,
        from: &'a Side,
        to: &'a Side,
    ) -> Result<Self, EngineError> {
        let batch = |side: &Side| side.run.as_ref().map_or(0, |run| run.record.batch);
        let (low, high) = (batch(from).min(batch(to)), batch(from).max(batch(to)));
        let mut changed = Vec::new();
        // A list from outside has no state, so batches are known only between two refreshes.
        if from.run.is_some() {
            for batch in (low + 1..=high).rev() {
                let set = PageSetKey::Changed(batch);
                changed.push((batch, views.reader.need_page_set_reader(set)?));
            }
        }
        let parameters_differ = match (&from.run, &to.run) {
            (Some(from), Some(to)) => (from.plan, from.rules.policy) != (to.plan, to.rules.policy),
            _ => false,
        };
        Ok(Self {
            views,
            from,
            to,
            timelines: PageTimelines::open(&views.reader, low)?,
            parameters_differ,
            low,
            high,
            changed,
        })
    }

    /// Returns why the second list lacks a seed of the first.
    pub(in crate::engine) fn lost(&self, page: PageId) -> Result<CauseDetail, EngineError> {
        match &self.to.run {
            Some(to) => Ok(self.with_single_batch(self.absent(page, self.from, to)?)),
            None => Err(EngineError::Internal("the second list is not a refresh")),
        }
    }

    /// Returns why the second list has a seed that the first lacks.
    pub(in crate::engine) fn gained(&self, page: PageId) -> Result<CauseDetail, EngineError> {
        let Some(from) = &self.from.run else {
            return Ok(CauseDetail::new(Cause::NotListed, None));
        };
        let mut detail = self.with_single_batch(self.absent(page, self.to, from)?);
        let before = self
            .timelines
            .timeline(page)?
            .after(from.record.batch)
            .state;
        detail.cause = match detail.cause {
            Cause::Unlinked if before.is_none() => Cause::NewPage,
            Cause::Gone | Cause::Unlinked | Cause::Alias => Cause::Revived,
            Cause::Spam => Cause::SpamCleared,
            Cause::NotCrawled => Cause::BecameCrawled,
            Cause::NoLinks => Cause::BecameHub,
            Cause::ReplacedByHub => Cause::ReplacesHub,
            Cause::BecameAuthority => Cause::WasAuthority,
            Cause::Outranked => Cause::Outranks,
            Cause::LinksLost => Cause::LinksGained,
            Cause::PagesTaken => Cause::PagesReleased,
            Cause::RegionWeakened => Cause::RegionStrengthened,
            Cause::Covered => Cause::Uncovered,
            Cause::FewerSeats => Cause::MoreSeats,
            Cause::NoValue => Cause::GainedValue,
            Cause::Outweighed => Cause::Outweighs,
            other => other,
        };
        Ok(detail)
    }

    /// Sets the batch if the parameters are the same and a single batch lies between the refreshes. That
    /// batch then caused every change, even if no page of the core or site shows it.
    fn with_single_batch(&self, detail: CauseDetail) -> CauseDetail {
        match self.changed.as_slice() {
            [(only, _)] if !self.parameters_differ => CauseDetail {
                batch: detail.batch.or(Some(*only)),
                ..detail
            },
            _ => detail,
        }
    }

    /// Returns the parameters with different values.
    pub(super) fn differing_parameters(&self) -> Vec<String> {
        let (Some(from), Some(to), true) = (&self.from.run, &self.to.run, self.parameters_differ)
        else {
            return Vec::new();
        };
        let differing = Parameter::all()
            .iter()
            .filter(|parameter| !parameter.is_equal(&from.options, &to.options));
        let mut names: Vec<String> = differing.map(|parameter| parameter.name.clone()).collect();
        names.sort_unstable();
        names
    }

    /// Returns where `lacking` has a page that is a seed by other parameters.
    fn with_other_parameters(
        &self,
        page: PageId,
        lacking: &StoredRefresh,
    ) -> Result<CauseDetail, EngineError> {
        let detail = CauseDetail::new(Cause::Parameters, None);
        match &lacking.plan {
            ResolvedPlan::Cores(_) => {
                let core = lacking.in_cores.get(&page).map(|(rank, _)| *rank);
                let by = core.map(|rank| self.core(lacking, rank)).transpose()?;
                Ok(CauseDetail {
                    core,
                    by: by.and_then(|core| seed_of(&core)),
                    ..detail
                })
            }
            ResolvedPlan::Cover(_) => {
                let key = (lacking.refresh, page.site());
                let Some(record) = self.views.reader.get(&tables::COVERS, &key)? else {
                    return Ok(detail);
                };
                let Some((pick, hop)) = self.covered(page, lacking, &record)? else {
                    return Ok(detail);
                };
                Ok(CauseDetail {
                    by: self.picked(lacking, &record, pick)?,
                    hop: Some(hop),
                    ..detail
                })
            }
            ResolvedPlan::Web(choice) => {
                let reached = self.reached(page, lacking, choice)?;
                Ok(match reached.covered {
                    Some((by, hop)) => CauseDetail {
                        by,
                        hop: Some(hop),
                        ..detail
                    },
                    None => detail,
                })
            }
        }
    }

    /// Returns why `lacking` lacks a seed of `having`.
    fn absent(
        &self,
        page: PageId,
        having: &Side,
        lacking: &StoredRefresh,
    ) -> Result<CauseDetail, EngineError> {
        let line = self.timelines.timeline(page)?;
        let at = line.after(lacking.record.batch);
        let having = having.run.as_ref();
        let was = having.map(|having| line.after(having.record.batch));
        let part = lacking.eligibility();
        let became = |holds: fn(PageStatus) -> bool| {
            (holds(at) && !was.is_some_and(holds))
                .then(|| line.last_change(self.low, self.high, holds))
        };
        let spam = |page: PageStatus| page.spam;
        // Cover methods of sites select spam too, so spam is a cause only if the page became it.
        let is_of_sites = matches!(lacking.plan, ResolvedPlan::Cover(_));
        let spam_counts = if is_of_sites {
            was.is_some()
        } else {
            !part.spam
        };
        let gone = |page: PageStatus| page.state == Some(PageState::Gone);
        let unlinked = |page: PageStatus| matches!(page.state, None | Some(PageState::Unlinked));
        let alias = |page: PageStatus| page.state == Some(PageState::Alias);
        let known = |page: PageStatus| page.state == Some(PageState::Known);
        for (cause, counts, holds) in [
            (Cause::Gone, true, gone as fn(PageStatus) -> bool),
            (Cause::Unlinked, true, unlinked),
            (Cause::Alias, true, alias),
            (Cause::Spam, spam_counts, spam),
            (Cause::NotCrawled, !part.known, known),
        ] {
            if let Some(batch) = became(holds).filter(|_| counts) {
                return Ok(CauseDetail::new(cause, batch));
            }
        }
        if self.parameters_differ {
            return self.with_other_parameters(page, lacking);
        }
        if self.is_policy(page, having, lacking)? {
            return Ok(CauseDetail::new(Cause::Policy, None));
        }
        match lacking.plan {
            ResolvedPlan::Cores(_) => self.absent_from_cores(page, having, lacking, &line),
            ResolvedPlan::Cover(_) => self.absent_from_cover(page, having, lacking),
            ResolvedPlan::Web(choice) => self.absent_from_web(page, lacking, &choice),
        }
    }

    /// Returns whether a policy puts a page on the list of `having`, or rejects it for that of `lacking`.
    fn is_policy(
        &self,
        page: PageId,
        having: Option<&StoredRefresh>,
        lacking: &StoredRefresh,
    ) -> Result<bool, EngineError> {
        let seed = having.and_then(|having| having.seeds.get(&page));
        let is_retained = seed.is_some_and(|seed| seed.evidence == SeedEvidence::ByPolicy);
        if is_retained || lacking.deferred.contains(&page) || self.is_rejected(page, lacking)? {
            return Ok(true);
        }
        let core = lacking.in_cores.get(&page).filter(|(_, is_hub)| *is_hub);
        let core = core
            .map(|(rank, _)| self.core(lacking, *rank))
            .transpose()?;
        if core.as_ref().is_some_and(|core| !core.gives_seed) {
            return Ok(true);
        }
        // A cap concerns only pages that the method could have selected.
        let is_cores = matches!(lacking.plan, ResolvedPlan::Cores(_));
        if !lacking.rules.policy.has_caps() || (is_cores && core.is_none()) {
            return Ok(false);
        }
        let store = &self.views.reader;
        let mut caps = Caps::new(&lacking.rules.policy);
        for seed in lacking.seeds.keys() {
            caps.count(store, seed.site())?;
        }
        Ok(caps.reached(store, page.site())?.is_some())
    }

    /// Returns whether a policy rejected the page itself as a seed of `lacking`. Lists give the same result
    /// as then; the quality and failed fetches do only if the page has no later record.
    fn is_rejected(&self, page: PageId, lacking: &StoredRefresh) -> Result<bool, EngineError> {
        let candidates = &lacking.rules.candidates;
        if candidates.allows_all() {
            return Ok(false);
        }
        let record = self.views.reader.need(&tables::PAGES, &page)?;
        let site = self.views.reader.need(&tables::SITES, &page.site())?.name;
        let is_unchanged = record.last_seen <= Some(lacking.record.batch);
        let is_failing = candidates.is_failing(&self.views.reader, page)?;
        let refusal = candidates.rejection(&site, &record, is_failing);
        Ok(refusal.is_some_and(|refusal| {
            let may_differ = [
                RejectionReason::MinQuality,
                RejectionReason::MaxFailures,
                RejectionReason::Rest,
            ];
            is_unchanged || !may_differ.contains(&refusal.by)
        }))
    }

    /// Returns the last batch between the two states that changed one of these pages.
    pub(super) fn last_change_of(&self, pages: &[PageId]) -> Result<Option<BatchId>, StoreError> {
        for (batch, set) in &self.changed {
            for page in pages {
                if set.contains(*page)? {
                    return Ok(Some(*batch));
                }
            }
        }
        Ok(None)
    }

    /// Returns the last batch between the two states that changed a page of this site.
    pub(super) fn last_change_on_site(&self, site: SiteId) -> Result<Option<BatchId>, StoreError> {
        for (batch, set) in &self.changed {
            if set.has_site(site)? {
                return Ok(Some(*batch));
            }
        }
        Ok(None)
    }
}

/// Returns the seed of a core; `None` if policies rejected it.
pub(super) fn seed_of(core: &CoreRecord) -> Option<PageId> {
    core.gives_seed.then_some(core.seed)
}
