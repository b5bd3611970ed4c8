//! Causes by cover: what became of the page's place on its site.

use super::answers::Cause;
use super::causes::{Because, Pair};
use super::side::KeptRefresh;
use crate::engine::EngineError;
use crate::engine::plan::Plan;
use seedbank_algorithms::page::PageId;
use seedbank_store::records::{CoverRecord, CoverStop, SeedEvidence};
use seedbank_store::tables::{self, PageSetKey};

impl Pair<'_> {
    pub(super) fn absent_from_cover(
        &self,
        page: PageId,
        there: Option<&KeptRefresh>,
        run: &KeptRefresh,
    ) -> Result<Because, EngineError> {
        let site = page.site();
        let batch = self.touched_site(site);
        let covers = &tables::COVERS;
        let Some(record) = self.views.reader.get(covers, &(run.refresh, site))? else {
            // Sites without crawled pages have no record.
            return Ok(Because::new(Cause::NotCrawled, batch));
        };
        let seed = there.and_then(|there| there.seeds.get(&page));
        if let Some(SeedEvidence::Cover(evidence)) = seed.map(|seed| &seed.evidence)
            && evidence.pick > record.seats
        {
            return Ok(Because::new(Cause::FewerSeats, batch));
        }
        if let Some((pick, hop)) = self.covered(page, run, &record)? {
            return Ok(Because {
                by: self.picked(run, &record, pick)?,
                hop: Some(hop),
                ..Because::new(Cause::Covered, batch)
            });
        }
        let cause = match record.stop {
            CoverStop::Complete => Cause::Outweighed,
            CoverStop::NoValueLeft | CoverStop::NoPageLeft | CoverStop::NotPositive => {
                Cause::NoValue
            }
        };
        Ok(Because::new(cause, batch))
    }

    /// The pick that covers the page, and at which hop. For baselines this says nothing, since
    /// their picks do not depend on what is covered.
    fn covered(
        &self,
        page: PageId,
        run: &KeptRefresh,
        record: &CoverRecord,
    ) -> Result<Option<(u32, u32)>, EngineError> {
        let Plan::Cover(choice) = &run.plan else {
            return Ok(None);
        };
        if choice.method.is_baseline() {
            return Ok(None);
        }
        let prefix = PageSetKey::covered_prefix(record.since, page.site());
        for entry in self.views.reader.scan_under(&tables::PAGE_SETS, &prefix)? {
            if let (PageSetKey::Covered(key), pages) = entry?
                && pages.contains(page.0)
            {
                return Ok(Some((key.pick, key.hop)));
            }
        }
        Ok(None)
    }

    fn picked(
        &self,
        run: &KeptRefresh,
        record: &CoverRecord,
        pick: u32,
    ) -> Result<Option<PageId>, EngineError> {
        let place = pick.checked_sub(1).map(|place| place as usize);
        let rank = place.and_then(|place| record.ranks.get(place));
        rank.map_or(Ok(None), |rank| self.chosen(run, *rank))
    }
}
