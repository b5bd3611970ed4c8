//! Refresh: one run of a plan.
//!
//! It computes on the published state and takes the writer's lock only to store what came out,
//! so an ingest can go on meanwhile.

use std::time::Instant;

use serde::Serialize;

use super::clock::now;
use super::hubs::Hubs;
use super::plan::{CorePlan, DEFAULT_PLAN, PlanOptions, check_name};
use super::{Bank, EngineError};
use crate::cores::{self, CoresError, Selection};
use crate::page::{PageId, PageSet};
use crate::storage::records::{
    BatchId, CoreRecord, PlanRecord, RefreshId, RefreshRecord, SeedEvidence, SeedRecord,
};
use crate::storage::tables::{self, BitmapKey, VectorKey, VectorSide};
use crate::storage::{Changes, Reader, Store, Writer};
use crate::watch::Watch;

/// What to refresh, and how.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RefreshRequest {
    /// The plan; the default plan where `None`.
    pub plan: Option<String>,
    /// Parameters; where they are silent the plan's own are taken, then the defaults.
    pub options: PlanOptions,
    /// Take nothing over from earlier refreshes.
    pub cold: bool,
    /// Keep only so many refreshes of the plan, this one included.
    pub keep: Option<u32>,
    /// Wait while another process writes to the bank.
    pub wait: bool,
}

/// What a refresh did.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RefreshReport {
    /// Its number.
    pub refresh: RefreshId,
    /// The plan.
    pub plan: String,
    /// The method.
    pub method: &'static str,
    /// The parameters of the plan.
    pub parameters: PlanOptions,
    /// Whether the plan had other parameters before.
    pub plan_changed: bool,
    /// The last batch of the state that it ran on.
    pub batch: BatchId,
    /// Seeds selected.
    pub seeds: u32,
    /// Cores found.
    pub cores: u32,
    /// Whether nothing of an earlier refresh was reused.
    pub cold: bool,
    /// Steps taken over from the previous refresh.
    pub steps_reused: u64,
    /// Steps computed.
    pub steps_recomputed: u64,
    /// Whether every result was proven.
    pub certified: bool,
    /// Why not, where it was not.
    pub doubt: Option<String>,
    /// Entries of rows or citers read while ranking.
    pub link_visits: u64,
    /// Pages settled plus adjacency entries scanned.
    pub page_visits: u64,
    /// Bytes of keys and values read from the store.
    pub bytes_read: u64,
    /// How long it took.
    pub seconds: f64,
    /// Older refreshes of the plan that were deleted.
    pub pruned: Vec<RefreshId>,
}

impl Bank {
    /// Runs a plan on the published state and keeps what came out.
    ///
    /// A refresh without seeds is kept too.
    ///
    /// Cost: one scan of pages and two of rows; then what [`cores::select`] costs.
    pub fn refresh(
        &self,
        request: &RefreshRequest,
        watch: &dyn Watch,
    ) -> Result<RefreshReport, EngineError> {
        let begun = Instant::now();
        let plan = request.plan.as_deref().unwrap_or(DEFAULT_PLAN).to_owned();
        check_name(&plan)?;
        if request.keep == Some(0) {
            return Err(EngineError::Plan(
                "--keep 0 would delete the refresh itself; keep at least 1".to_owned(),
            ));
        }
        if !request.wait {
            Writer::probe(self.path())?;
        }
        let reader = Reader::open(self.path())?;
        let kept = reader.get(&tables::PLANS, &plan)?;
        let base = match &kept {
            Some(kept) => PlanOptions::from_kept(&kept.settings)?,
            None => PlanOptions::default(),
        };
        let options = request.options.clone().over(&base);
        let decided = options.decide()?;
        let plan_changed = kept.is_some() && base.decide().ok() != Some(decided);
        let batch = reader.counters()?.batch;
        let previous = match &kept {
            Some(kept) => seeds_of(&reader, kept.last_refresh)?,
            None => Vec::new(),
        };
        let hubs = Hubs::load(&reader, decided.keep_spam, decided.pages, watch)?;
        let selection = select(&hubs, &decided, &previous, watch)?;
        let method = options.method.unwrap_or_default().name();
        let mut report = RefreshReport {
            refresh: 0,
            plan,
            method,
            parameters: options,
            plan_changed,
            batch,
            seeds: count(selection.cores.len()),
            cores: count(selection.cores.len()),
            cold: true,
            steps_reused: 0,
            steps_recomputed: selection.cores.len() as u64,
            certified: selection.certified,
            doubt: selection
                .uncertified_reason
                .map(|(rank, doubt)| format!("core {rank}: {doubt}")),
            link_visits: selection.link_visits,
            page_visits: 0,
            bytes_read: reader.bytes_read(),
            seconds: 0.0,
            pruned: Vec::new(),
        };
        drop(reader);
        self.keep(request, &hubs, &selection, &mut report, begun, watch)?;
        Ok(report)
    }

    /// Stores a refresh, and deletes what `--keep` says.
    fn keep(
        &self,
        request: &RefreshRequest,
        hubs: &Hubs,
        selection: &Selection,
        report: &mut RefreshReport,
        begun: Instant,
        watch: &dyn Watch,
    ) -> Result<(), EngineError> {
        watch.stage("commit", None);
        // What was computed is worth waiting for.
        let writer = Writer::open(self.path(), true, watch)?;
        let mut counters = writer.counters()?;
        counters.refresh += 1;
        report.refresh = counters.refresh;
        // Small beside the ledger's own records, and a bulk load where there is more.
        let mut changes = Changes::new(&writer.spill_folder(), 64 << 20);
        put_cores(&mut changes, report.refresh, hubs, selection)?;
        let settings = report.parameters.to_kept()?;
        let plan = PlanRecord {
            settings: settings.clone(),
            last_refresh: report.refresh,
        };
        changes.put(&tables::PLANS, &report.plan, &plan)?;
        if let Some(keep) = request.keep {
            report.pruned = prune(&writer, &mut changes, &report.plan, keep)?;
        }
        report.seconds = begun.elapsed().as_secs_f64();
        let record = RefreshRecord {
            plan: report.plan.clone(),
            settings,
            batch: report.batch,
            at: now(),
            seconds: report.seconds,
            cold: report.cold,
            certified: report.certified,
            doubt: report.doubt.clone(),
            seeds: report.seeds,
            cores: report.cores,
            steps_reused: report.steps_reused,
            steps_recomputed: report.steps_recomputed,
            link_visits: report.link_visits,
            page_visits: report.page_visits,
        };
        changes.put(&tables::REFRESHES, &report.refresh, &record)?;
        watch.proceed()?;
        writer.commit(changes, counters)?;
        Ok(())
    }
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn select(
    hubs: &Hubs,
    plan: &CorePlan,
    previous: &[PageId],
    watch: &dyn Watch,
) -> Result<Selection, EngineError> {
    let previous: Vec<u32> = previous
        .iter()
        .filter_map(|page| hubs.number(*page))
        .collect();
    cores::select(&hubs.graph, &plan.params, &previous, watch).map_err(|e| match e {
        CoresError::Interrupted(e) => e.into(),
        CoresError::Params(e) => EngineError::Plan(e.to_string()),
        e @ CoresError::NoHub { .. } => EngineError::Cores(e),
    })
}

/// The seeds of a refresh in order.
pub(super) fn seeds_of(store: &Store, refresh: RefreshId) -> Result<Vec<PageId>, EngineError> {
    let mut seeds = Vec::new();
    for entry in store.scan_under(&tables::SEEDS, &refresh.to_be_bytes())? {
        let (_, seed) = entry?;
        seeds.push(seed.page);
    }
    Ok(seeds)
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
            sides: pack_sides(&core.sides),
            seed: page(&core.seed),
        };
        removed.extend(
            record
                .hubs
                .iter()
                .chain(&record.authorities)
                .map(|page| page.0),
        );
        changes.put(&tables::CORES, &(refresh, rank), &record)?;
        for (side, scores) in [
            (VectorSide::Hubs, &core.hub_scores),
            (VectorSide::Authorities, &core.authority_scores),
        ] {
            let key = VectorKey {
                refresh,
                rank,
                side,
            };
            changes.put(&tables::VECTORS, &key, scores)?;
        }
        let of_seed = core.hubs.iter().position(|hub| *hub == core.seed);
        let seed = SeedRecord {
            page: record.seed,
            evidence: SeedEvidence::Core {
                core: rank,
                sigma: core.sigma,
                hub_score: of_seed
                    .and_then(|at| core.hub_scores.get(at))
                    .copied()
                    .ok_or(EngineError::Internal("a seed is no hub of its core"))?,
            },
        };
        changes.put(&tables::SEEDS, &(refresh, rank), &seed)?;
    }
    Ok(changes.put(&tables::BITMAPS, &BitmapKey::Removed(refresh), &removed)?)
}

/// Eight additions to a byte, the first in the lowest bit; a hub is a 1.
fn pack_sides(sides: &str) -> Vec<u8> {
    sides
        .as_bytes()
        .chunks(8)
        .map(|chunk| {
            let bits = chunk.iter().enumerate();
            bits.fold(0, |byte, (bit, side)| {
                byte | (u8::from(*side == b'h') << bit)
            })
        })
        .collect()
}

/// The interleaving of `length` additions as `a` and `h`.
pub(super) fn unpack_sides(packed: &[u8], length: usize) -> String {
    (0..length)
        .map(|at| {
            let byte = packed.get(at / 8).copied().unwrap_or(0);
            if byte >> (at % 8) & 1 == 1 { 'h' } else { 'a' }
        })
        .collect()
}

/// Deletes all but the newest `keep` refreshes of a plan, the one being stored included.
fn prune(
    store: &Store,
    changes: &mut Changes,
    plan: &str,
    keep: u32,
) -> Result<Vec<RefreshId>, EngineError> {
    let mut old = Vec::new();
    for entry in store.scan(&tables::REFRESHES)? {
        let (number, record) = entry?;
        if record.plan == plan {
            old.push(number);
        }
    }
    let stay = (keep as usize).saturating_sub(1);
    old.truncate(old.len().saturating_sub(stay));
    for &refresh in &old {
        let prefix = refresh.to_be_bytes();
        changes.delete(&tables::REFRESHES, &refresh)?;
        changes.delete(&tables::BITMAPS, &BitmapKey::Removed(refresh))?;
        for entry in store.scan_under(&tables::CORES, &prefix)? {
            changes.delete(&tables::CORES, &entry?.0)?;
        }
        for entry in store.scan_under(&tables::VECTORS, &prefix)? {
            changes.delete(&tables::VECTORS, &entry?.0)?;
        }
        for entry in store.scan_under(&tables::SEEDS, &prefix)? {
            changes.delete(&tables::SEEDS, &entry?.0)?;
        }
    }
    Ok(old)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_come_back() {
        for sides in ["", "a", "ahahahahh", "hhhhhhhha"] {
            assert_eq!(unpack_sides(&pack_sides(sides), sides.len()), sides);
        }
    }
}
