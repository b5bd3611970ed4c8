//! Causes by cores: what became of the page, or of the core whose hub it was.

use std::collections::{BTreeMap, BTreeSet};

use super::answers::Cause;
use super::causes::{CauseDetail, Pair, seed_of};
use super::side::StoredRefresh;
use crate::engine::EngineError;
use crate::engine::history::timeline::{Eligibility, PageStatus, Timeline};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::rank::TIED;
use seedbank_store::records::{BatchId, CoreRecord, SeedEvidence};
use seedbank_store::{StoreError, tables};

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
    fn links_to(&self, at: PageStatus, target: PageId, part: Eligibility) -> bool {
        let targets = self.rows.get(&at.row);
        part.includes(at) && targets.is_some_and(|row| row.binary_search(&target).is_ok())
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
                self.last_link_change(page, line, was, lacking.eligibility())
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
            if lacking.eligibility().includes(target) {
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
        part: Eligibility,
    ) -> Result<Option<BatchId>, EngineError> {
        let mut last = line.last_change(self.low, self.high, |page| page.row);
        for target in self.timelines.targets(page, was.row)? {
            let target = self.timelines.timeline(target)?;
            last = last.max(target.last_change(self.low, self.high, |page| part.includes(page)));
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
        let part = lacking.eligibility();
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
                if !hub.links_to(hub.line.after(old), *target, part) {
                    continue;
                }
                links.all += 1;
                // A link counts while the hub has it and both pages are eligible, whichever of these changed last.
                let counts = |from, to| hub.links_to(from, *target, part) && part.includes(to);
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
