//! Why steps of a refresh by cores had to be computed: which batch changed what, on which site.
//!
//! A step is computed anew where its component of the graph is not one that the plan's previous
//! refresh ran on. The component has changed because of its pages whose state, spam mark or row a
//! batch changed since, and because of pages that left it. Those are found by what they led to and
//! who led to them.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::load::Hubs;
use crate::engine::EngineError;
use crate::engine::history::timeline::{PageTimelines, Timeline};
use seedbank_algorithms::cores::Selection;
use seedbank_algorithms::graph::{NONE, WeakComponents};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_store::links::LinkKey;
use seedbank_store::records::{BatchId, RefreshId};
use seedbank_store::{Store, tables};

/// How many pairs of batch and site are named for a component.
const NAMED: usize = 20;

/// Why some cores were computed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// The ranks of the cores, ascending.
    #[schemars(length(min = 1), inner(range(min = 1)))]
    pub cores: Vec<u32>,
    /// Why the cores were not taken over.
    pub reason: Reason,
    /// For reason `changed`: what batches changed in their component, most pages first, at most 20.
    pub changes: Vec<SiteChange>,
    /// How many more pairs of batch and site changed the component.
    pub more: u64,
}

/// Why a core was computed.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The plan had no refresh with these parameters to take it from, or was told not to use one.
    Cold,
    /// Batches changed its component.
    Changed,
    /// Its component is unchanged, but nothing from there on was kept: the previous refresh had not
    /// got so far in it, or had met sigmas so close that other components decide their order.
    Further,
    /// Within a bound: what the previous refresh kept of the step proves too little.
    Bound,
}

/// What one batch changed on one site.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SiteChange {
    /// The batch.
    #[schemars(range(min = 1))]
    pub batch: BatchId,
    /// The site.
    pub site: String,
    /// How many pages of the site changed their state, spam mark or row in the batch.
    #[schemars(range(min = 1))]
    pub pages: u64,
}

/// What the cost of a refresh is worked out from.
pub(crate) struct Computed<'a> {
    pub(crate) store: &'a Store,
    pub(crate) hubs: &'a Hubs,
    pub(crate) components: &'a WeakComponents,
    /// Those of them that are unchanged.
    pub(crate) verified: &'a BTreeSet<u32>,
    pub(crate) selection: &'a Selection,
    /// The refresh that was taken over from.
    pub(crate) earlier: Option<RefreshId>,
    /// Whether it began with steps that an earlier refresh kept.
    pub(crate) began_with_steps: bool,
}

impl Computed<'_> {
    /// The cores that were computed, by reason and component.
    ///
    /// Cost: the pages changed since the earlier refresh, their rows and citers.
    pub(crate) fn costs(&self) -> Result<Vec<Cost>, EngineError> {
        let mut computed: BTreeMap<(Reason, u32), Vec<u32>> = BTreeMap::new();
        let cores = (1..).zip(&self.selection.cores).zip(&self.selection.reused);
        for ((rank, core), _) in cores.filter(|(_, reused)| !**reused) {
            let first = core.authorities.first();
            let component = first.map_or(NONE, |page| self.component(*page).unwrap_or(NONE));
            let reason = match self.earlier {
                None if self.began_with_steps => Reason::Bound,
                None => Reason::Cold,
                Some(_) if self.verified.contains(&component) => Reason::Further,
                Some(_) => Reason::Changed,
            };
            let group = if matches!(reason, Reason::Cold | Reason::Bound) {
                NONE
            } else {
                component
            };
            computed.entry((reason, group)).or_default().push(rank);
        }
        let asked = computed.keys().filter(|key| key.0 == Reason::Changed);
        let asked: BTreeSet<u32> = asked.map(|key| key.1).collect();
        let mut by_component = match self.earlier {
            Some(earlier) if !asked.is_empty() => self.changes(earlier, &asked)?,
            _ => BTreeMap::new(),
        };
        let mut costs = Vec::new();
        for ((reason, component), cores) in computed {
            let mut changes = by_component.remove(&component).unwrap_or_default();
            changes.sort_by(|a, b| b.pages.cmp(&a.pages).then_with(|| a.cmp(b)));
            // If nothing was kept of a component, only the changes can tell the reason.
            let reason = match reason {
                Reason::Changed if changes.is_empty() => Reason::Further,
                reason => reason,
            };
            let more = changes.len().saturating_sub(NAMED) as u64;
            changes.truncate(NAMED);
            costs.push(Cost {
                cores,
                reason,
                changes,
                more,
            });
        }
        costs.sort_by(|a, b| a.cores.cmp(&b.cores));
        Ok(costs)
    }

    /// The component that a page is in, by its number.
    fn component(&self, number: u32) -> Option<u32> {
        self.components.of_page(&self.hubs.graph, number)
    }

    fn changes(
        &self,
        earlier: RefreshId,
        asked: &BTreeSet<u32>,
    ) -> Result<BTreeMap<u32, Vec<SiteChange>>, EngineError> {
        let from = self.store.need(&tables::REFRESHES, &earlier)?.batch;
        let past = PageTimelines::open(self.store, from)?;
        let mut counts: BTreeMap<(u32, BatchId, SiteId), u64> = BTreeMap::new();
        for (batch, pages) in past.changed()? {
            for page in pages.into_iter().map(PageId) {
                let timeline = past.timeline(page)?;
                if !timeline.is_changed_by(batch) {
                    continue;
                }
                for component in self.touched(&past, page, &timeline)?.intersection(asked) {
                    let count = counts.entry((*component, batch, page.site())).or_default();
                    *count += 1;
                }
            }
        }
        let mut found: BTreeMap<u32, Vec<SiteChange>> = BTreeMap::new();
        for ((component, batch, site), pages) in counts {
            let site = self.store.need(&tables::SITES, &site)?.name;
            let change = SiteChange { batch, site, pages };
            found.entry(component).or_default().push(change);
        }
        Ok(found)
    }

    /// The components that a page is or was in: found by the page, by what it led to, by who leads
    /// to it.
    fn touched(
        &self,
        past: &PageTimelines<'_>,
        page: PageId,
        timeline: &Timeline,
    ) -> Result<BTreeSet<u32>, EngineError> {
        let mut touched = BTreeSet::new();
        let mut add = |page: PageId| {
            let number = self.hubs.number(page);
            touched.extend(number.and_then(|number| self.component(number)));
        };
        add(page);
        for row in timeline.rows() {
            for target in past.targets(page, row)? {
                add(target);
            }
        }
        let (key, place) = LinkKey::of_page(page);
        let citers = self.store.links(&tables::CITERS, key)?;
        for row in self.store.citing_rows(page, citers.at(place))? {
            let members = self.store.get(&tables::ROW_MEMBERS, &row)?;
            if let Some(index) = members.and_then(|members| members.pages.min()) {
                add(PageId::new(row.site(), index));
            }
        }
        Ok(touched)
    }
}
