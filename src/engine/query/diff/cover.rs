//! Causes by cover methods of sites.

use super::answers::Cause;
use super::causes::{CauseDetail, Pair};
use super::side::StoredRefresh;
use crate::engine::EngineError;
use crate::engine::plan::ResolvedPlan;
use seedbank_algorithms::page::PageId;
use seedbank_store::records::{CoverRecord, CoverStop, SeedEvidence};
use seedbank_store::tables::{self, PageSetKey};

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
