//! Explains why cores were recomputed: which batch changed what, on which site.
//!
//! A core is recomputed if the previous refresh did not run on the same component. A component
//! changes through its pages whose state, spam mark or row a batch changed, and through pages that
//! left it. The latter are found by the targets of their old rows and by the pages that link to
//! them.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::load::LoadedHubs;
use crate::engine::Result;
use crate::engine::history::timeline::{PageTimelines, Timeline};
use seedbank_algorithms::cores::Selection;
use seedbank_algorithms::graph::{NONE, WeakComponents};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_store::links::LinkKey;
use seedbank_store::records::{BatchId, RefreshId};
use seedbank_store::{Store, tables};

const MAX_CHANGES: usize = 20;

/// Cores that were recomputed for the same reason.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RecomputedCores {
    /// Ranks of the cores, ascending.
    #[schemars(length(min = 1), inner(range(min = 1)))]
    pub cores: Vec<u32>,
    /// Why the cores were not reused.
    pub reason: RecomputeReason,
    /// For reason `changed`: what batches changed in the component, by descending number of pages,
    /// at most 20.
    pub changes: Vec<SiteChange>,
    /// Number of further pairs of batch and site that changed the component.
    pub more: u64,
}

/// Why a core was recomputed.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum RecomputeReason {
    /// There was no previous refresh with these parameters, or it was not to be used.
    Cold,
    /// Batches changed the component of the core.
    Changed,
    /// The component is unchanged, but nothing was cached from this core on: the previous refresh
    /// stopped earlier in the component, or sigmas were so close that other components decide their
    /// order.
    Further,
    /// Within a tolerance: the cached certificate of the step is too weak.
    Bound,
}

/// Changes of one batch on one site.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SiteChange {
    /// The batch.
    #[schemars(range(min = 1))]
    pub batch: BatchId,
    /// The site.
    pub site: String,
    /// Number of pages of the site whose state, spam mark or row the batch changed.
    #[schemars(range(min = 1))]
    pub pages: u64,
}

/// Input of the explanation.
pub(crate) struct Recomputation<'a> {
    pub(crate) store: &'a Store,
    pub(crate) hubs: &'a LoadedHubs,
    pub(crate) components: &'a WeakComponents,
    /// Unchanged components of the loaded graph.
    pub(crate) verified: &'a BTreeSet<u32>,
    pub(crate) selection: &'a Selection,
    pub(crate) cached: Option<RefreshId>,
    pub(crate) warm_start: bool,
}

/// Groups the recomputed cores of a run without cached results of components.
pub(crate) fn without_components(reused: &[bool], warm_start: bool) -> Vec<RecomputedCores> {
    let ranked = (1..).zip(reused);
    let cores: Vec<u32> = ranked
        .filter(|(_, reused)| !**reused)
        .map(|(rank, _)| rank)
        .collect();
    let costs = RecomputedCores {
        cores,
        reason: if warm_start {
            RecomputeReason::Bound
        } else {
            RecomputeReason::Cold
        },
        changes: Vec::new(),
        more: 0,
    };
    if costs.cores.is_empty() {
        Vec::new()
    } else {
        vec![costs]
    }
}

impl Recomputation<'_> {
    /// Groups the recomputed cores by reason and component.
    ///
    /// Cost: the pages changed since the earlier refresh, their rows and in-links.
    pub(crate) fn costs(&self) -> Result<Vec<RecomputedCores>> {
        let mut computed: BTreeMap<(RecomputeReason, u32), Vec<u32>> = BTreeMap::new();
        let cores = (1..).zip(&self.selection.cores).zip(&self.selection.reused);
        for ((rank, core), _) in cores.filter(|(_, reused)| !**reused) {
            let first = core.authorities.first();
            let component = first.map_or(NONE, |page| self.component(*page).unwrap_or(NONE));
            let reason = match self.cached {
                None if self.warm_start => RecomputeReason::Bound,
                None => RecomputeReason::Cold,
                Some(_) if self.verified.contains(&component) => RecomputeReason::Further,
                Some(_) => RecomputeReason::Changed,
            };
            let group = if matches!(reason, RecomputeReason::Cold | RecomputeReason::Bound) {
                NONE
            } else {
                component
            };
            computed.entry((reason, group)).or_default().push(rank);
        }
        let wanted = computed
            .keys()
            .filter(|key| key.0 == RecomputeReason::Changed);
        let wanted: BTreeSet<u32> = wanted.map(|key| key.1).collect();
        let mut by_component = match self.cached {
            Some(cached) if !wanted.is_empty() => self.changes(cached, &wanted)?,
            _ => BTreeMap::new(),
        };
        let mut costs = Vec::new();
        for ((reason, component), cores) in computed {
            let mut changes = by_component.remove(&component).unwrap_or_default();
            changes.sort_by(|a, b| b.pages.cmp(&a.pages).then_with(|| a.cmp(b)));
            // Without changes, the reason is that nothing was cached.
            let reason = match reason {
                RecomputeReason::Changed if changes.is_empty() => RecomputeReason::Further,
                reason => reason,
            };
            let more = changes.len().saturating_sub(MAX_CHANGES) as u64;
            changes.truncate(MAX_CHANGES);
            costs.push(RecomputedCores {
                cores,
                reason,
                changes,
                more,
            });
        }
        costs.sort_by(|a, b| a.cores.cmp(&b.cores));
        Ok(costs)
    }

    fn component(&self, number: u32) -> Option<u32> {
        self.components.component_of_page(self.hubs.graph(), number)
    }

    fn changes(
        &self,
        cached: RefreshId,
        wanted: &BTreeSet<u32>,
    ) -> Result<BTreeMap<u32, Vec<SiteChange>>> {
        let from = self.store.need(&tables::REFRESHES, &cached)?.batch;
        let past = PageTimelines::open(self.store, from)?;
        let mut counts: BTreeMap<(u32, BatchId, SiteId), u64> = BTreeMap::new();
        for part in past.changed()? {
            let (batch, pages) = part?;
            for page in pages.into_iter().map(PageId) {
                let timeline = past.timeline(page)?;
                if !timeline.is_changed_by(batch) {
                    continue;
                }
                for component in self.touched(&past, page, &timeline)?.intersection(wanted) {
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

    /// Returns the components that contain or contained a page: its own, those of its targets, and
    /// those of the pages that link to it.
    fn touched(
        &self,
        past: &PageTimelines<'_>,
        page: PageId,
        timeline: &Timeline,
    ) -> Result<BTreeSet<u32>> {
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
