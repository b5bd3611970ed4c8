//! Refresh by cores: loads the host-pruned graph, or the part of it that changed, selects, and
//! keeps the ledger.

mod changed;
pub(crate) mod cost;
pub(crate) mod evidence;
mod findings;
pub(crate) mod kept;
mod kept_steps;
pub(crate) mod linked;
pub(crate) mod load;
mod mine;
mod neighbourhood;
mod seeds;
mod select;
pub(crate) mod standings;
pub(crate) mod unchanged;

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::EngineError;
use crate::engine::history::succession;
use crate::engine::plan::CorePlan;
use crate::engine::policy::Rules;
use changed::{Attempt, ChangedSelection};
use cost::Cost;
use evidence::CoresEvidence;
use findings::Findings;
use kept::{ComponentCounts, Earlier};
use load::Hubs;
use seedbank_algorithms::cores::{CoreCache, Pick, Selection};
use seedbank_algorithms::graph::number;
use seedbank_algorithms::page::{PageId, PageSet};
use seedbank_algorithms::rank::Reads;
use seedbank_algorithms::watch::Watch;
use seedbank_store::records::{CoreRecord, RefreshId, SeedEvidence, SeedRecord, Succession};
use seedbank_store::tables::{self, BitmapKey, VectorKey, VectorSide};
use seedbank_store::{Changes, Store, sides};
use seeds::Held;
use select::select;
use standings::{OfSeries, Written};

/// The cores that a refresh found, on their way to the store.
pub(crate) struct CoresRun {
    hubs: Hubs,
    ledger: CoreCache,
    pub(crate) selection: Selection,
    /// What policies held back.
    pub(crate) held: Held,
    /// Pages that are seeds before any core is looked at, in their order.
    pins: Vec<PageId>,
    /// The refresh that was taken over from.
    pub(crate) earlier: Option<Earlier>,
    /// The refresh that was taken over from, or the previous one where only its seeds matter;
    /// `None` on a cold run.
    pub(crate) leans_on: Option<RefreshId>,
    /// Whether it began with steps that an earlier refresh kept.
    pub(crate) began_with_steps: bool,
    pub(crate) components: ComponentCounts,
    /// How many pages the loaded graph has.
    pub(crate) pages_loaded: u64,
    /// The components of the loaded graph that are unchanged.
    verified: BTreeSet<u32>,
    findings: Findings,
    /// Successors of dead seeds, where the plan says so.
    succeeding: BTreeMap<PageId, Succession>,
    evidence: CoresEvidence,
}

/// With `cold` nothing is taken over from the plan's previous refresh except its seeds, where the
/// plan says so.
///
/// Cost: the pages and rows of components that changed, by key, or, where that is too much, one
/// scan of pages and two of rows; then what [`select`](seedbank_algorithms::cores::select) costs in components
/// that changed.
pub(crate) fn run(
    store: &Store,
    (plan, rules): (&CorePlan, &Rules),
    previous: Option<RefreshId>,
    cold: bool,
    watch: &dyn Watch,
) -> Result<CoresRun, EngineError> {
    let mut earlier = match previous {
        Some(refresh) if !cold => kept::earlier(store, refresh, plan)?,
        _ => None,
    };
    let mut succeeding = BTreeMap::new();
    let leans_on = earlier.map(|earlier| earlier.refresh);
    let seeds_matter = plan.succeed || plan.params.pick == Pick::Stable;
    let leans_on = leans_on.or(previous.filter(|_| seeds_matter));
    let of_steps = previous.filter(|_| !cold && !plan.params.within.is_exact());
    let leans_on = leans_on.or(of_steps);
    let previous = match previous {
        Some(refresh) if plan.succeed => {
            let (seeds, of_dead) = succession::stable_list(store, plan, refresh, watch)?;
            succeeding = of_dead;
            seeds
        }
        Some(refresh) => seeds_of(store, refresh)?,
        None => Vec::new(),
    };
    let mut reads = Reads::default();
    if let Some(earlier) = earlier {
        match changed::run(store, (plan, rules), earlier, &previous, watch)? {
            Attempt::Done(part) => {
                let of_plan = ((plan, rules), succeeding, leans_on);
                return Ok(of_part(*part, earlier, of_plan));
            }
            Attempt::GivenUp(in_vain) => reads = in_vain,
        }
    }
    let hubs = Hubs::load(store, plan, rules.candidates.leave_out(), watch)?;
    let steps = kept_steps::load(store, of_steps, (plan, &hubs))?;
    let mut began_with_steps = !steps.steps.is_empty();
    let mut ledger = kept::load(store, &hubs, earlier)?.with_steps(steps);
    let (mut selection, mut held) = select(store, &hubs, (plan, rules), &previous, &ledger, watch)?;
    selection.reads += reads;
    if !selection.certified && selection.reused.contains(&true) {
        // Nothing is built upon an uncertain result.
        earlier = None;
        began_with_steps = false;
        ledger = kept::load(store, &hubs, None)?;
        let reads = selection.reads;
        (selection, held) = select(store, &hubs, (plan, rules), &previous, &ledger, watch)?;
        selection.reads += reads;
    }
    let components = ledger.components();
    let all = number(components.len());
    let verified: BTreeSet<u32> = (0..all).filter(|c| ledger.knows(*c)).collect();
    Ok(CoresRun {
        evidence: evidence::gather(&hubs, components, &selection, plan.params.rule),
        findings: Findings::new(&hubs, components, &selection, None),
        components: ComponentCounts {
            all,
            verified: number(verified.len()),
        },
        pages_loaded: hubs.pages.len() as u64,
        hubs,
        ledger,
        selection,
        held,
        pins: rules.pins.pages.clone(),
        earlier,
        leans_on,
        began_with_steps,
        verified,
        succeeding,
    })
}

/// The run that a selection on what changed makes.
fn of_part(
    part: ChangedSelection,
    earlier: Earlier,
    ((plan, rules), succeeding, leans_on): (
        (&CorePlan, &Rules),
        BTreeMap<PageId, Succession>,
        Option<RefreshId>,
    ),
) -> CoresRun {
    let ChangedSelection {
        hubs,
        ledger,
        selection,
        held,
        verified,
        components,
        pages_loaded,
        changed,
        standings,
        targets,
    } = part;
    let of_graph = ledger.components();
    let gather = evidence::gather_part;
    let of_part = (standings, &targets);
    CoresRun {
        evidence: gather(&hubs, of_graph, &selection, plan.params.rule, of_part),
        findings: Findings::new(&hubs, of_graph, &selection, Some(changed)),
        components,
        pages_loaded,
        hubs,
        ledger,
        selection,
        held,
        pins: rules.pins.pages.clone(),
        earlier: Some(earlier),
        leans_on,
        began_with_steps: false,
        verified,
        succeeding,
    }
}

/// The seeds of a refresh in order.
fn seeds_of(store: &Store, refresh: RefreshId) -> Result<Vec<PageId>, EngineError> {
    let list = store.list(refresh)?;
    Ok(list.into_iter().map(|(_, seed)| seed.page).collect())
}

impl CoresRun {
    /// The seeds in order: the pages that are pinned, then those of the cores that are none of them.
    pub(crate) fn seeds(&self) -> Vec<SeedRecord> {
        let pins: BTreeSet<PageId> = self.pins.iter().copied().collect();
        let mut pinned: BTreeMap<PageId, SeedEvidence> = BTreeMap::new();
        let mut others = Vec::new();
        for (rank, core) in (1_u32..).zip(&self.selection.cores) {
            for (hub, score) in core.hubs.iter().zip(&core.hub_scores) {
                let page = self.hubs.pages[*hub as usize];
                let evidence = SeedEvidence::Core {
                    core: rank,
                    sigma: core.sigma,
                    hub_score: *score,
                };
                if pins.contains(&page) {
                    pinned.insert(page, evidence);
                } else if core.gives_seed && *hub == core.seed {
                    others.push((page, evidence));
                }
            }
        }
        let pins = self.pins.iter().map(|&page| {
            let evidence = pinned.remove(&page);
            (page, evidence.unwrap_or(SeedEvidence::ByPolicy))
        });
        let seeds: Vec<(PageId, SeedEvidence)> = pins.collect();
        let record = |(page, evidence)| SeedRecord {
            page,
            evidence,
            succeeds: self.succeeding.get(&page).copied(),
        };
        seeds.into_iter().chain(others).map(record).collect()
    }

    /// Why cores had to be computed.
    pub(crate) fn costs(&self, store: &Store) -> Result<Vec<Cost>, EngineError> {
        let run = cost::Computed {
            store,
            hubs: &self.hubs,
            components: self.ledger.components(),
            verified: &self.verified,
            selection: &self.selection,
            earlier: self.earlier.map(|earlier| earlier.refresh),
            began_with_steps: self.began_with_steps,
        };
        run.costs()
    }

    /// Hands the seeds, cores, vectors, the removed set, the evidence and what later refreshes may
    /// take over to `changes`; returns what was written of standings.
    pub(crate) fn put(
        &self,
        store: &Store,
        changes: &mut Changes,
        (plan, refresh): (&str, RefreshId),
    ) -> Result<Written, EngineError> {
        put_cores(changes, refresh, &self.hubs, &self.selection)?;
        let steps = (&self.hubs, self.selection.steps.as_slice());
        kept_steps::put(store, changes, (plan, refresh), steps)?;
        for (rank, seed) in (1_u32..).zip(self.seeds()) {
            changes.put_seed((refresh, rank), &seed)?;
        }
        let counted = self.findings.counted(self.earlier);
        let written = self
            .evidence
            .put(store, changes, (plan, refresh), counted)?;
        let series = written.record.series;
        self.findings
            .put(store, changes, OfSeries { series, refresh })?;
        Ok(written)
    }
}

fn put_cores(
    changes: &mut Changes,
    refresh: RefreshId,
    hubs: &Hubs,
    selection: &Selection,
) -> Result<(), EngineError> {
    let page = |number: &u32| hubs.pages[*number as usize];
    let mut removed = PageSet::new();
    for (rank, core) in (1_u32..).zip(&selection.cores) {
        let record = CoreRecord {
            sigma: core.sigma,
            edges: core.edges,
            hubs: core.hubs.iter().map(page).collect(),
            authorities: core.authorities.iter().map(page).collect(),
            sides: sides::pack(&core.sides),
            seed: page(&core.seed),
            gives_seed: core.gives_seed,
        };
        removed.extend(
            record
                .hubs
                .iter()
                .chain(&record.authorities)
                .map(|page| page.0),
        );
        changes.put(&tables::CORES, &(refresh, rank), &record)?;
        let bound = core.sigma_bound.map(|bound| vec![bound]);
        for (side, scores) in [
            (VectorSide::Hubs, Some(&core.hub_scores)),
            (VectorSide::Authorities, Some(&core.authority_scores)),
            (VectorSide::Bound, bound.as_ref()),
        ] {
            let key = VectorKey {
                refresh,
                rank,
                side,
            };
            if let Some(scores) = scores {
                changes.put(&tables::VECTORS, &key, scores)?;
            }
        }
    }
    Ok(changes.put(&tables::BITMAPS, &BitmapKey::Removed(refresh), &removed)?)
}
