//! The choice of seeds in a selection by several processes: process 0 applies the policies, and all get its answers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::load_share::OwnPages;
use super::seed_rules::{PageLookup, PolicySeedRules, Rejections};
use crate::engine::web_graph::{Group, malformed};
use crate::engine::{EngineError, Result};
use seedbank_algorithms::cores::{Core, HubChoice, SeedRules};
use seedbank_algorithms::page::PageId;

/// About the bytes of a number and a page id in a message.
const OF_PAGE: usize = 14;

/// The pages of the cores so far, by their numbers in the web.
#[derive(Default)]
pub(super) struct PagesOfCores(pub(super) BTreeMap<u32, PageId>);

impl PageLookup for PagesOfCores {
    fn page(&self, number: u32) -> Option<PageId> {
        self.0.get(&number).copied()
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
pub(super) struct SharedSeedRules<'a> {
    group: Group<'a>,
    own: &'a OwnPages,
    /// The rules of process 0; `None` in other processes.
    policies: Option<PolicySeedRules<'a, PagesOfCores>>,
    is_complete: bool,
    failed: Option<EngineError>,
}

impl<'a> SharedSeedRules<'a> {
    /// Creates the state before the first core. Process 0 has the policies. All processes call it at the same time.
    pub(super) fn new(
        group: Group<'a>,
        own: &'a OwnPages,
        policies: Option<PolicySeedRules<'a, PagesOfCores>>,
    ) -> Result<Self> {
        let is_complete = group.of_first(policies.as_ref().map(SeedRules::is_complete).as_ref())?;
        Ok(Self {
            group,
            own,
            policies,
            is_complete,
            failed: None,
        })
    }

    /// Returns in process 0 the rejections and the pages of all cores, after the last core.
    pub(super) fn finish(self) -> Result<Option<(Rejections, PagesOfCores)>> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.policies.map(PolicySeedRules::finish).transpose()
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
                policies.pages.0.extend(pages);
                let seed = policies.seed_of(core, choice);
                let is_complete = policies.is_complete();
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

impl SeedRules for SharedSeedRules<'_> {
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
