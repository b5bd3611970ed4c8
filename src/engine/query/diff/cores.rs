//! Causes by cores: where the page went, or what became of the core whose hub it was.

use std::collections::{BTreeMap, BTreeSet};

use super::answers::Cause;
use super::causes::{CauseDetail, Pair, seed_of};
use super::side::StoredRefresh;
use crate::engine::EngineError;
use crate::engine::history::timeline::{Eligibility, PageStatus, Timeline};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::rank::TIED;
use seedbank_store::records::{BatchId, CoreRecord, SeedEvidence};
use seedbank_store::tables;

/// The links of a core: how many there are, how many are lost.
struct Links {
    all: u64,
    lost: u64,
    /// The last batch that took a link away.
    batch: Option<BatchId>,
}

/// A hub over time.
struct Hub {
    line: Timeline,
    /// The targets of every row that the hub had.
    rows: BTreeMap<Option<u32>, Vec<PageId>>,
}

impl Hub {
    fn links_to(&self, at: PageStatus, target: PageId, part: Eligibility) -> bool {
        let targets = self.rows.get(&at.row);
        part.has(at) && targets.is_some_and(|row| row.binary_search(&target).is_ok())
    }
}

impl Pair<'_> {
    pub(super) fn absent_from_cores(
        &self,
        page: PageId,
        there: Option<&StoredRefresh>,
        run: &StoredRefresh,
        line: &Timeline,
    ) -> Result<CauseDetail, EngineError> {
        let at = line.after(run.record.batch);
        if !self.is_hub(page, at, run)? {
            let was = there.map(|there| line.after(there.record.batch));
            let batch = was.map_or(Ok(None), |was| {
                self.link_gone(page, line, was, run.eligibility())
            })?;
            return Ok(CauseDetail::new(Cause::NoLinks, batch));
        }
        if let Some(&(rank, as_hub)) = run.in_cores.get(&page) {
            let core = self.core(run, rank)?;
            let cause = if as_hub {
                Cause::ReplacedByHub
            } else {
                Cause::BecameAuthority
            };
            return Ok(CauseDetail {
                core: Some(rank),
                by: seed_of(&core),
                ..CauseDetail::new(cause, self.last_change_of(&pages_of(&core)))
            });
        }
        match there {
            None => Ok(CauseDetail::new(Cause::NoCore, None)),
            Some(there) => self.core_absent(page, there, run),
        }
    }

    /// Why `run` lacks the core of `there` that the page was the seed of.
    fn core_absent(
        &self,
        page: PageId,
        there: &StoredRefresh,
        run: &StoredRefresh,
    ) -> Result<CauseDetail, EngineError> {
        let seed = there.seeds.get(&page);
        let Some(SeedEvidence::Core { core: rank, .. }) = seed.map(|seed| &seed.evidence) else {
            return Err(EngineError::Internal("a seed by cores has no core"));
        };
        let core = self.core(there, *rank)?;
        if run
            .lowest_sigma_if_full
            .is_some_and(|last| core.sigma < last * (1.0 - TIED))
        {
            return Ok(CauseDetail::new(
                Cause::Outranked,
                self.last_change_of_new_cores(there, run),
            ));
        }
        let links = self.links(&core, there, run)?;
        if links.lost > 0 {
            return Ok(CauseDetail {
                links: Some((links.lost, links.all)),
                ..CauseDetail::new(Cause::LinksLost, links.batch)
            });
        }
        let pages = pages_of(&core);
        let elsewhere = pages.iter().filter_map(|page| run.in_cores.get(page));
        let batch = self.last_change_of(&pages);
        match elsewhere.map(|(rank, _)| *rank).min() {
            // The sigmas are tied, so the order of the best authorities' URLs decided.
            None if run
                .lowest_sigma_if_full
                .is_some_and(|last| core.sigma <= last * (1.0 + TIED)) =>
            {
                Ok(CauseDetail::new(
                    Cause::Outranked,
                    self.last_change_of_new_cores(there, run),
                ))
            }
            None => Ok(CauseDetail::new(Cause::RegionWeakened, batch)),
            Some(rank) => {
                let taker = self.core(run, rank)?;
                Ok(CauseDetail {
                    core: Some(rank),
                    by: seed_of(&taker),
                    ..CauseDetail::new(
                        Cause::PagesTaken,
                        batch.max(self.last_change_of(&pages_of(&taker))),
                    )
                })
            }
        }
    }

    pub(super) fn core(&self, run: &StoredRefresh, rank: u32) -> Result<CoreRecord, EngineError> {
        let cores = &tables::CORES;
        Ok(self.views.reader.need(cores, &(run.refresh, rank))?)
    }

    /// Whether a page links to one that takes part.
    fn is_hub(
        &self,
        page: PageId,
        at: PageStatus,
        run: &StoredRefresh,
    ) -> Result<bool, EngineError> {
        for target in self.timelines.targets(page, at.row)? {
            let target = self.timelines.timeline(target)?.after(run.record.batch);
            if run.eligibility().has(target) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The last batch that changed the page's row, or changed whether one of its targets takes
    /// part.
    fn link_gone(
        &self,
        page: PageId,
        line: &Timeline,
        was: PageStatus,
        part: Eligibility,
    ) -> Result<Option<BatchId>, EngineError> {
        let mut last = line.last_change(self.low, self.high, |page| page.row);
        for target in self.timelines.targets(page, was.row)? {
            let target = self.timelines.timeline(target)?;
            last = last.max(target.last_change(self.low, self.high, |page| part.has(page)));
        }
        Ok(last)
    }

    /// The last batch that changed a page of a core of `run` whose seed `there` lacks.
    fn last_change_of_new_cores(
        &self,
        there: &StoredRefresh,
        run: &StoredRefresh,
    ) -> Option<BatchId> {
        let seeds = run.seeds.values();
        let new = seeds.filter(|seed| !there.seeds.contains_key(&seed.page));
        let new: BTreeSet<u32> = new
            .filter_map(|seed| match seed.evidence {
                SeedEvidence::Core { core, .. } => Some(core),
                SeedEvidence::Cover(_) | SeedEvidence::Web(_) | SeedEvidence::ByPolicy => None,
            })
            .collect();
        let of_new = run
            .in_cores
            .iter()
            .filter(|(_, (core, _))| new.contains(core));
        let pages: Vec<PageId> = of_new.map(|(page, _)| *page).collect();
        self.last_change_of(&pages)
    }

    /// Which links of a core of `there` are missing in `run`.
    fn links(
        &self,
        core: &CoreRecord,
        there: &StoredRefresh,
        run: &StoredRefresh,
    ) -> Result<Links, EngineError> {
        let (then, at) = (there.record.batch, run.record.batch);
        let part = run.eligibility();
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
                if !hub.links_to(hub.line.after(then), *target, part) {
                    continue;
                }
                links.all += 1;
                let has_link = hub.links_to(hub.line.after(at), *target, part);
                let has_target = part.has(line.after(at));
                if has_link && has_target {
                    continue;
                }
                links.lost += 1;
                let links_to = |page| hub.links_to(page, *target, part);
                let of_hub = hub.line.last_change(self.low, self.high, links_to);
                let of_target = line.last_change(self.low, self.high, |page| part.has(page));
                links.batch = links.batch.max(of_hub.filter(|_| !has_link));
                links.batch = links.batch.max(of_target.filter(|_| !has_target));
            }
        }
        Ok(links)
    }
}

fn pages_of(core: &CoreRecord) -> Vec<PageId> {
    let pages = core.hubs.iter().chain(&core.authorities);
    pages.copied().collect()
}
