//! Applies the policies of a plan to the choice of seeds by cores.

use std::collections::{BTreeMap, BTreeSet};

use super::load::LoadedHubGraph;
use crate::engine::policy::{Caps, LoadedPolicy, RejectionReason};
use crate::engine::{EngineError, Result};
use seedbank_algorithms::cores::{Core, HubChoice, SeedRules};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_store::{Store, tables};

/// Number of rejections by each policy.
pub(crate) type Rejections = BTreeMap<RejectionReason, u64>;

/// The pages of cores, by their numbers in the graph.
pub(super) trait PageLookup: Send {
    /// Returns the page with a number; `None` if no page has it.
    fn page(&self, number: u32) -> Option<PageId>;
}

impl PageLookup for &LoadedHubGraph {
    fn page(&self, number: u32) -> Option<PageId> {
        self.pages.get(number as usize).copied()
    }
}

/// Policies, applied core by core.
pub(super) struct PolicySeedRules<'a, P> {
    store: &'a Store,
    pub(super) pages: P,
    rules: &'a LoadedPolicy,
    caps: Caps,
    remaining: u32,
    rejections: Rejections,
    failed: Option<EngineError>,
}

impl<'a, P: PageLookup> PolicySeedRules<'a, P> {
    /// Creates the state before the first core, with pins counted as seeds.
    pub(super) fn new(
        store: &'a Store,
        pages: P,
        rules: &'a LoadedPolicy,
        seeds: u32,
    ) -> Result<Self> {
        let mut caps = Caps::new(&rules.policy);
        for pin in &rules.pins.pages {
            caps.count(store, pin.site())?;
        }
        Ok(Self {
            store,
            pages,
            rules,
            caps,
            remaining: seeds.saturating_sub(rules.pins.count()),
            rejections: Rejections::new(),
            failed: None,
        })
    }

    /// Returns the rejections, after the last core.
    pub(super) fn finish(self) -> Result<(Rejections, P)> {
        match self.failed {
            None => Ok((self.rejections, self.pages)),
            Some(error) => Err(error),
        }
    }

    fn page(&self, hub: u32) -> Result<PageId> {
        let page = self.pages.page(hub);
        page.ok_or(EngineError::Internal("a hub is not among the pages"))
    }

    /// Returns the number of sites of a core's hubs.
    fn hub_sites(&self, core: &Core) -> usize {
        let pages = core.hubs.iter().filter_map(|hub| self.pages.page(*hub));
        let sites: BTreeSet<SiteId> = pages.map(PageId::site).collect();
        sites.len()
    }

    /// Returns why a hub may not be a seed; `None` if it may.
    fn rejection(&mut self, hub: u32) -> Result<Option<RejectionReason>> {
        let page = self.page(hub)?;
        if let Some(cap) = self.caps.reached(self.store, page.site())? {
            return Ok(Some(cap));
        }
        if self.rules.candidates.allows_all() {
            return Ok(None);
        }
        let site = self.store.need(&tables::SITES, &page.site())?.name;
        let record = self.store.need(&tables::PAGES, &page)?;
        let candidates = &self.rules.candidates;
        let is_failing = candidates.is_failing(self.store, page)?;
        let rejection = candidates.rejection(&site, &record, is_failing);
        Ok(rejection.map(|rejection| rejection.by))
    }

    /// Returns the hub that becomes the seed of a core.
    fn choose(&mut self, core: &Core, choice: &HubChoice) -> Result<Option<u32>> {
        let policy = &self.rules.policy;
        let pinned = core.hubs.iter().filter_map(|hub| {
            let position = self.rules.pins.position(self.pages.page(*hub)?)?;
            Some((position, *hub))
        });
        // A pin in the core is its seed, whatever the policies.
        if let Some((_, pin)) = pinned.min() {
            return Ok(Some(pin));
        }
        let (hubs, authorities) = (core.hubs.len(), core.authorities.len());
        if let Some(by) = policy.rejects_core(hubs, authorities, self.hub_sites(core)) {
            *self.rejections.entry(by).or_default() += 1;
            return Ok(None);
        }
        // Record why the best hub was rejected, and take the best one that is not.
        let mut first = None;
        let mut failed = None;
        let found = choice.best(core, |hub| match self.rejection(hub) {
            Ok(rejection) => {
                first.get_or_insert(rejection);
                rejection.is_none()
            }
            Err(e) => {
                failed.get_or_insert(e);
                true
            }
        });
        if let Some(e) = failed {
            return Err(e);
        }
        if let Some(Some(by)) = first {
            *self.rejections.entry(by).or_default() += 1;
        }
        if let Some(hub) = found {
            self.caps.count(self.store, self.page(hub)?.site())?;
            self.remaining = self.remaining.saturating_sub(1);
        }
        Ok(found)
    }
}

impl<P: PageLookup> SeedRules for PolicySeedRules<'_, P> {
    fn seed_of(&mut self, core: &Core, choice: &HubChoice) -> Option<u32> {
        self.choose(core, choice).unwrap_or_else(|e| {
            self.failed.get_or_insert(e);
            None
        })
    }

    fn is_complete(&self) -> bool {
        self.remaining == 0 || self.failed.is_some()
    }
}
