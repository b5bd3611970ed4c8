//! Applies the policies of a plan to the choice of seeds by cores: process 0 does so, and all processes get its answers.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::load::OwnPages;
use crate::engine::policy::{Caps, LoadedPolicy, RejectionReason};
use crate::engine::web_graph::{Group, malformed};
use crate::engine::{EngineError, Result};
use seedbank_algorithms::cores::{Core, HubChoice, SeedRules};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_store::Store;

/// About the bytes of a number and a page id in a message.
const OF_PAGE: usize = 14;

/// Number of rejections by each policy.
pub(crate) type Rejections = BTreeMap<RejectionReason, u64>;

/// The pages of the cores so far, by their numbers in the web.
pub(super) type PagesOfCores = BTreeMap<u32, PageId>;

/// Policies, applied core by core.
struct PolicySeedRules<'a> {
    store: &'a Store,
    pages: PagesOfCores,
    rules: &'a LoadedPolicy,
    caps: Caps,
    remaining: u32,
    rejections: Rejections,
}

impl<'a> PolicySeedRules<'a> {
    /// Creates the state before the first core, with pins counted as seeds.
    fn new(store: &'a Store, rules: &'a LoadedPolicy, seeds: u32) -> Result<Self> {
        let mut caps = Caps::new(&rules.policy);
        for pin in &rules.pins.pages {
            caps.count(store, pin.site())?;
        }
        Ok(Self {
            store,
            pages: PagesOfCores::new(),
            rules,
            caps,
            remaining: seeds.saturating_sub(rules.pins.count()),
            rejections: Rejections::new(),
        })
    }

    fn page(&self, hub: u32) -> Result<PageId> {
        let page = self.pages.get(&hub).copied();
        page.ok_or(EngineError::Internal("a hub is not among the pages"))
    }

    /// Returns the number of sites of a core's hubs.
    fn hub_sites(&self, core: &Core) -> usize {
        let pages = core
            .hubs
            .iter()
            .filter_map(|hub| self.pages.get(hub).copied());
        let sites: BTreeSet<SiteId> = pages.map(PageId::site).collect();
        sites.len()
    }

    /// Returns why a hub may not be a seed; `None` if it may.
    fn rejection(&mut self, hub: u32) -> Result<Option<RejectionReason>> {
        let page = self.page(hub)?;
        if let Some(cap) = self.caps.reached(self.store, page.site())? {
            return Ok(Some(cap));
        }
        Ok(self.rules.pages.reason_of_page(self.store, page, None)?)
    }

    /// Returns the hub that becomes the seed of a core.
    fn choose(&mut self, core: &Core, choice: &HubChoice) -> Result<Option<u32>> {
        let policy = &self.rules.policy;
        let pinned = core.hubs.iter().filter_map(|hub| {
            let position = self.rules.pins.position(self.pages.get(hub).copied()?)?;
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

/// What process 0 answers about a core.
#[derive(Serialize, Deserialize)]
struct Decision {
    seed: Option<u32>,
    /// Whether there are enough seeds.
    is_complete: bool,
}

/// Rules that give the same answers in all processes.
pub(super) struct GroupSeedRules<'a> {
    group: Group<'a>,
    own: &'a OwnPages,
    /// The policies in process 0; `None` in other processes.
    policies: Option<PolicySeedRules<'a>>,
    is_complete: bool,
    failed: Option<EngineError>,
}

impl<'a> GroupSeedRules<'a> {
    /// Creates the state before the first core, for a number of seeds. All processes call it at the same time.
    pub(super) fn new(
        group: Group<'a>,
        own: &'a OwnPages,
        store: &'a Store,
        rules: &'a LoadedPolicy,
        seeds: u32,
    ) -> Result<Self> {
        let policies = if group.is_first() {
            Some(PolicySeedRules::new(store, rules, seeds)?)
        } else {
            None
        };
        let is_complete = policies.as_ref().map(|of| of.remaining == 0);
        Ok(Self {
            is_complete: group.of_first(is_complete.as_ref())?,
            group,
            own,
            policies,
            failed: None,
        })
    }

    /// Returns in process 0 the rejections and the pages of all cores, after the last core.
    pub(super) fn finish(self) -> Result<Option<(Rejections, PagesOfCores)>> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        Ok(self.policies.map(|of| (of.rejections, of.pages)))
    }

    /// Returns the hub that becomes the seed of a core. All processes call it at the same time.
    fn decide(&mut self, core: &Core, choice: &HubChoice) -> Result<Decision> {
        let numbers = core.hubs.iter().chain(&core.authorities);
        let own = numbers
            .clone()
            .filter_map(|number| Some((*number, self.own.page(*number)?)));
        let mut pages: BTreeMap<u32, PageId> = BTreeMap::new();
        self.group.send_to_first(
            own,
            |_| OF_PAGE,
            |_, (number, page)| {
                pages.insert(number, page);
                Ok(())
            },
        )?;
        let decision = match &mut self.policies {
            Some(policies) => {
                if !numbers.clone().all(|number| pages.contains_key(number)) {
                    return Err(malformed().into());
                }
                // To append a map would rebuild that of all cores.
                policies.pages.extend(pages);
                // All processes end after this core if a policy fails.
                let seed = policies.choose(core, choice).unwrap_or_else(|error| {
                    self.failed.get_or_insert(error);
                    None
                });
                let is_complete = policies.remaining == 0 || self.failed.is_some();
                Some(Decision { seed, is_complete })
            }
            None => None,
        };
        let decision = self.group.of_first(decision.as_ref())?;
        if decision.seed.is_some_and(|seed| !core.hubs.contains(&seed)) {
            return Err(malformed().into());
        }
        Ok(decision)
    }
}

impl SeedRules for GroupSeedRules<'_> {
    fn seed_of(&mut self, core: &Core, choice: &HubChoice) -> Option<u32> {
        match self.decide(core, choice) {
            Ok(Decision { seed, is_complete }) => {
                self.is_complete = is_complete;
                seed
            }
            Err(error) => {
                self.failed.get_or_insert(error);
                None
            }
        }
    }

    fn is_complete(&self) -> bool {
        self.is_complete || self.failed.is_some()
    }
}
