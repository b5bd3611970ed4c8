//! Determines why a page is a seed of only one of two refreshes, from what both stored.
//!
//! One procedure serves lost and gained seeds: why does one refresh lack a page that the other has? For a
//! gained seed the refreshes are exchanged, and the cause is replaced by its reverse. The definitions are
//! those of [`Cause`], tried in order.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::answers::Cause;
use super::side::{Side, StoredRefresh};
use crate::engine::EngineError;
use crate::engine::eligibility::{Admitted, Ineligible};
use crate::engine::history::timeline::{PageStatus, PageTimelines, Timeline};
use crate::engine::plan::{Parameter, ResolvedPlan};
use crate::engine::policy::Caps;
use crate::engine::query::views::Views;
use seedbank_algorithms::cover::global::WebChoice;
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_algorithms::rank::TIED;
use seedbank_store::evidence::ReachKey;
use seedbank_store::page_blocks::place;
use seedbank_store::records::{BatchId, CoreRecord, CoverRecord, CoverStop, SeedEvidence};
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
            Cause::Gone | Cause::Unlinked | Cause::Alias | Cause::Resource => Cause::Revived,
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
        let mut admitted = lacking.admitted();
        // Cover methods of sites select spam too, so spam is a cause only if the page became it.
        if matches!(lacking.plan, ResolvedPlan::Cover(_)) {
            admitted.spam = was.is_none();
        }
        let rejecting = Ineligible::BY_STATE.into_iter();
        for reason in rejecting.filter(|reason| admitted.rejects(*reason)) {
            let is_of = |page: PageStatus| page.has(reason);
            if is_of(at) && !was.is_some_and(is_of) {
                let batch = line.last_change(self.low, self.high, is_of);
                return Ok(CauseDetail::new(reason.into(), batch));
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
        let store = &self.views.reader;
        let Some(reason) = lacking.rules.pages.reason_of_page(store, page, None)? else {
            return Ok(false);
        };
        let last_seen = store.need(&tables::PAGES, &page)?.last_seen;
        Ok(reason.follows_from_url() || last_seen <= Some(lacking.record.batch))
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

// Causes by cores: what became of the page, or of the core whose hub it was.

/// Counts of a core's links, all and lost.
struct Links {
    all: u64,
    lost: u64,
    /// Last batch from which on a lost link does not count; of a gained one, counts.
    batch: Option<BatchId>,
}

/// Hub of a core over time.
struct Hub {
    line: Timeline,
    /// Targets of every row that the hub had.
    rows: BTreeMap<Option<u32>, Vec<PageId>>,
}

impl Hub {
    fn links_to(&self, at: PageStatus, target: PageId, admitted: Admitted) -> bool {
        let targets = self.rows.get(&at.row);
        at.is_admitted(admitted) && targets.is_some_and(|row| row.binary_search(&target).is_ok())
    }
}

impl Pair<'_> {
    pub(super) fn absent_from_cores(
        &self,
        page: PageId,
        having: Option<&StoredRefresh>,
        lacking: &StoredRefresh,
        line: &Timeline,
    ) -> Result<CauseDetail, EngineError> {
        let at = line.after(lacking.record.batch);
        if !self.is_hub(page, at, lacking)? {
            let was = having.map(|having| line.after(having.record.batch));
            let batch = was.map_or(Ok(None), |was| {
                self.last_link_change(page, line, was, lacking.admitted())
            })?;
            return Ok(CauseDetail::new(Cause::NoLinks, batch));
        }
        if let Some(&(rank, as_hub)) = lacking.in_cores.get(&page) {
            let core = self.core(lacking, rank)?;
            let cause = if as_hub {
                Cause::ReplacedByHub
            } else {
                Cause::BecameAuthority
            };
            return Ok(CauseDetail {
                core: Some(rank),
                by: seed_of(&core),
                ..CauseDetail::new(cause, self.last_change_of(&pages_of(&core))?)
            });
        }
        match having {
            None => Ok(CauseDetail::new(Cause::NoCore, None)),
            Some(having) => self.core_absent(page, having, lacking),
        }
    }

    /// Returns why `lacking` lacks the core of `having` whose seed the page was.
    fn core_absent(
        &self,
        page: PageId,
        having: &StoredRefresh,
        lacking: &StoredRefresh,
    ) -> Result<CauseDetail, EngineError> {
        let seed = having.seeds.get(&page);
        let Some(SeedEvidence::Core { core: rank, .. }) = seed.map(|seed| &seed.evidence) else {
            return Err(EngineError::Internal("a seed by cores has no core"));
        };
        let core = self.core(having, *rank)?;
        if lacking
            .lowest_sigma_if_full
            .is_some_and(|last| core.sigma < last * (1.0 - TIED))
        {
            return Ok(CauseDetail::new(
                Cause::Outranked,
                self.last_change_of_new_cores(having, lacking)?,
            ));
        }
        let links = self.links(&core, having, lacking)?;
        if links.lost > 0 {
            return Ok(CauseDetail {
                links: Some((links.lost, links.all)),
                ..CauseDetail::new(Cause::LinksLost, links.batch)
            });
        }
        let pages = pages_of(&core);
        let elsewhere = pages.iter().filter_map(|page| lacking.in_cores.get(page));
        let batch = self.last_change_of(&pages)?;
        match elsewhere.map(|(rank, _)| *rank).min() {
            // The sigmas are tied, so the URL order of the best authorities decided.
            None if lacking
                .lowest_sigma_if_full
                .is_some_and(|last| core.sigma <= last * (1.0 + TIED)) =>
            {
                Ok(CauseDetail::new(
                    Cause::Outranked,
                    self.last_change_of_new_cores(having, lacking)?,
                ))
            }
            None => Ok(CauseDetail::new(Cause::RegionWeakened, batch)),
            Some(rank) => {
                let taker = self.core(lacking, rank)?;
                Ok(CauseDetail {
                    core: Some(rank),
                    by: seed_of(&taker),
                    ..CauseDetail::new(
                        Cause::PagesTaken,
                        batch.max(self.last_change_of(&pages_of(&taker))?),
                    )
                })
            }
        }
    }

    pub(super) fn core(
        &self,
        lacking: &StoredRefresh,
        rank: u32,
    ) -> Result<CoreRecord, EngineError> {
        let cores = &tables::CORES;
        Ok(self.views.reader.need(cores, &(lacking.refresh, rank))?)
    }

    /// Returns whether a page links to an eligible page.
    fn is_hub(
        &self,
        page: PageId,
        at: PageStatus,
        lacking: &StoredRefresh,
    ) -> Result<bool, EngineError> {
        for target in self.timelines.targets(page, at.row)? {
            let target = self.timelines.timeline(target)?.after(lacking.record.batch);
            if target.is_admitted(lacking.admitted()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the last batch that changed the page's row, or the eligibility of one of its targets.
    fn last_link_change(
        &self,
        page: PageId,
        line: &Timeline,
        was: PageStatus,
        admitted: Admitted,
    ) -> Result<Option<BatchId>, EngineError> {
        let mut last = line.last_change(self.low, self.high, |page| page.row);
        for target in self.timelines.targets(page, was.row)? {
            let target = self.timelines.timeline(target)?;
            last = last
                .max(target.last_change(self.low, self.high, |page| page.is_admitted(admitted)));
        }
        Ok(last)
    }

    /// Returns the last batch that changed a page of a core of `lacking` whose seed is not in `having`.
    fn last_change_of_new_cores(
        &self,
        having: &StoredRefresh,
        lacking: &StoredRefresh,
    ) -> Result<Option<BatchId>, StoreError> {
        let seeds = lacking.seeds.values();
        let new = seeds.filter(|seed| !having.seeds.contains_key(&seed.page));
        let new: BTreeSet<u32> = new
            .filter_map(|seed| match seed.evidence {
                SeedEvidence::Core { core, .. } => Some(core),
                SeedEvidence::Cover(_) | SeedEvidence::Web(_) | SeedEvidence::ByPolicy => None,
            })
            .collect();
        let of_new = lacking
            .in_cores
            .iter()
            .filter(|(_, (core, _))| new.contains(core));
        let pages: Vec<PageId> = of_new.map(|(page, _)| *page).collect();
        self.last_change_of(&pages)
    }

    /// Counts the links of a core of `having`, and those missing in `lacking`.
    fn links(
        &self,
        core: &CoreRecord,
        having: &StoredRefresh,
        lacking: &StoredRefresh,
    ) -> Result<Links, EngineError> {
        let (old, new) = (having.record.batch, lacking.record.batch);
        let admitted = lacking.admitted();
        let mut links = Links {
            all: 0,
            lost: 0,
            batch: None,
        };
        let mut authorities = Vec::with_capacity(core.authorities.len());
        for &page in &core.authorities {
            authorities.push((page, self.timelines.timeline(page)?));
        }
        for &page in &core.hubs {
            let line = self.timelines.timeline(page)?;
            let mut rows = BTreeMap::new();
            for row in line.rows() {
                rows.insert(row, self.timelines.targets(page, row)?);
            }
            let hub = Hub { line, rows };
            for (target, line) in &authorities {
                if !hub.links_to(hub.line.after(old), *target, admitted) {
                    continue;
                }
                links.all += 1;
                // A link counts while the hub has it and both pages are eligible, whichever of these changed last.
                let counts = |from, to: PageStatus| {
                    hub.links_to(from, *target, admitted) && to.is_admitted(admitted)
                };
                if counts(hub.line.after(new), line.after(new)) {
                    continue;
                }
                links.lost += 1;
                let batch = hub.line.last_change_with(line, self.low, self.high, counts);
                links.batch = links.batch.max(batch);
            }
        }
        Ok(links)
    }
}

fn pages_of(core: &CoreRecord) -> Vec<PageId> {
    let pages = core.hubs.iter().chain(&core.authorities);
    pages.copied().collect()
}

// Causes by cover methods of sites.

impl Pair<'_> {
    pub(super) fn absent_from_cover(
        &self,
        page: PageId,
        having: Option<&StoredRefresh>,
        lacking: &StoredRefresh,
    ) -> Result<CauseDetail, EngineError> {
        let site = page.site();
        let batch = self.last_change_on_site(site)?;
        let covers = &tables::COVERS;
        let Some(record) = self.views.reader.get(covers, &(lacking.refresh, site))? else {
            // Sites without crawled pages have no record.
            return Ok(CauseDetail::new(Cause::NotCrawled, batch));
        };
        let seed = having.and_then(|having| having.seeds.get(&page));
        if let Some(SeedEvidence::Cover(evidence)) = seed.map(|seed| &seed.evidence)
            && evidence.pick > record.seats
        {
            return Ok(CauseDetail::new(Cause::FewerSeats, batch));
        }
        if let Some((pick, hop)) = self.covered(page, lacking, &record)? {
            return Ok(CauseDetail {
                by: self.picked(lacking, &record, pick)?,
                hop: Some(hop),
                ..CauseDetail::new(Cause::Covered, batch)
            });
        }
        let cause = match record.stop {
            CoverStop::Complete => Cause::Outweighed,
            CoverStop::NoValueLeft | CoverStop::NoPageLeft | CoverStop::NotPositive => {
                Cause::NoValue
            }
        };
        Ok(CauseDetail::new(cause, batch))
    }

    /// Returns the pick that covers the page, and the hop. `None` for baselines, whose picks do not depend
    /// on coverage.
    pub(super) fn covered(
        &self,
        page: PageId,
        lacking: &StoredRefresh,
        record: &CoverRecord,
    ) -> Result<Option<(u32, u32)>, EngineError> {
        let ResolvedPlan::Cover(choice) = &lacking.plan else {
            return Ok(None);
        };
        if choice.method.is_baseline() {
            return Ok(None);
        }
        let prefix = PageSetKey::covered_prefix(record.since, page.site());
        for entry in self.views.reader.scan_under(&tables::PAGE_SETS, &prefix)? {
            let (part, pages) = entry?;
            if let PageSetKey::Covered(key) = part.set
                && pages.contains(page.0)
            {
                return Ok(Some((key.pick, key.hop)));
            }
        }
        Ok(None)
    }

    /// Returns the page of a pick of a site.
    pub(super) fn picked(
        &self,
        lacking: &StoredRefresh,
        record: &CoverRecord,
        pick: u32,
    ) -> Result<Option<PageId>, EngineError> {
        let place = pick.checked_sub(1).map(|place| place as usize);
        let rank = place.and_then(|place| record.ranks.get(place));
        rank.map_or(Ok(None), |rank| self.selected(lacking, *rank))
    }
}

// Causes over the web.

/// What the searches of a refresh over the web found out about a page.
#[derive(Default)]
pub(super) struct Reached {
    /// Whether the refresh has a record of the page, as one that counts.
    is_searched: bool,
    /// The page of the pick that covers it, and the distance in links.
    pub(super) covered: Option<(Option<PageId>, u32)>,
}

impl Pair<'_> {
    pub(super) fn absent_from_web(
        &self,
        page: PageId,
        lacking: &StoredRefresh,
        choice: &WebChoice,
    ) -> Result<CauseDetail, EngineError> {
        let batch = self.last_change_of(&[page])?;
        let with_batch = |cause| CauseDetail::new(cause, batch);
        let reached = self.reached(page, lacking, choice)?;
        if let Some((by, hop)) = reached.covered {
            return Ok(CauseDetail {
                by,
                hop: Some(hop),
                ..with_batch(Cause::Covered)
            });
        }
        let chosen = lacking.record.chosen.unwrap_or(lacking.record.seeds);
        let is_complete = chosen == choice.seeds;
        if !reached.is_searched || !is_complete {
            return Ok(with_batch(Cause::NoValue));
        }
        Ok(CauseDetail {
            by: self.leads_to_most(page, lacking, choice)?,
            ..with_batch(Cause::Outweighed)
        })
    }

    /// Returns the pick of a refresh that reaches most of the pages that a page linked to at its time; of equal ones the first
    /// by id. `None` if none reaches any. Cost: a read for each link.
    fn leads_to_most(
        &self,
        page: PageId,
        lacking: &StoredRefresh,
        choice: &WebChoice,
    ) -> Result<Option<PageId>, EngineError> {
        let row = self
            .timelines
            .timeline(page)?
            .after(lacking.record.batch)
            .row;
        let mut reached: BTreeMap<PageId, u64> = BTreeMap::new();
        for target in self.timelines.targets(page, row)? {
            if let Some((Some(by), _)) = self.reached(target, lacking, choice)?.covered {
                *reached.entry(by).or_default() += 1;
            }
        }
        let most = reached
            .into_iter()
            .max_by_key(|(by, pages)| (*pages, Reverse(*by)));
        Ok(most.map(|(by, _)| by))
    }

    /// Returns what the searches of a refresh found out about a page.
    pub(super) fn reached(
        &self,
        page: PageId,
        lacking: &StoredRefresh,
        choice: &WebChoice,
    ) -> Result<Reached, EngineError> {
        let first = self
            .views
            .reader
            .get(&tables::SEEDS, &(lacking.refresh, 1))?;
        let since = first.and_then(|seed| match seed.evidence {
            SeedEvidence::Web(evidence) => Some(evidence.since),
            SeedEvidence::Core { .. } | SeedEvidence::Cover(_) | SeedEvidence::ByPolicy => None,
        });
        let Some(refresh) = since else {
            return Ok(Reached::default());
        };
        let (block, at) = place(page.index());
        let key = ReachKey {
            refresh,
            site: page.site(),
            block,
        };
        let block = self.views.reader.get(&tables::REACH, &key)?;
        let reach = block.and_then(|block| block.at(at).copied());
        // Another page counts for its content.
        let reach = reach.filter(|reach| reach.represented_by.is_none());
        // The picks of baselines do not depend on what is reached.
        let covered = reach.and_then(|reach| reach.covered);
        let covered = covered.filter(|_| !choice.method.is_baseline());
        let covered = match covered {
            Some(covered) => Some((self.selected(lacking, covered.pick)?, covered.hop)),
            None => None,
        };
        Ok(Reached {
            is_searched: reach.is_some(),
            covered,
        })
    }

    /// Returns the page that the method selected at this rank, on the list or not.
    pub(super) fn selected(
        &self,
        lacking: &StoredRefresh,
        rank: u32,
    ) -> Result<Option<PageId>, EngineError> {
        let key = (lacking.refresh, rank);
        let seed = self.views.reader.get(&tables::SEEDS, &key)?;
        Ok(seed.map(|seed| seed.page))
    }
}
