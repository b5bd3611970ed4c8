//! Causes over the web.

use super::answers::Cause;
use super::causes::{CauseDetail, Pair};
use super::side::StoredRefresh;
use crate::engine::EngineError;
use seedbank_algorithms::cover::global::WebChoice;
use seedbank_algorithms::page::PageId;
use seedbank_store::evidence::ReachKey;
use seedbank_store::page_blocks::place;
use seedbank_store::records::SeedEvidence;
use seedbank_store::tables;

impl Pair<'_> {
    pub(super) fn absent_from_web(
        &self,
        page: PageId,
        lacking: &StoredRefresh,
        choice: &WebChoice,
    ) -> Result<CauseDetail, EngineError> {
        let batch = self.last_change_of(&[page]);
        let with_batch = |cause| CauseDetail::new(cause, batch);
        let first = self
            .views
            .reader
            .get(&tables::SEEDS, &(lacking.refresh, 1))?;
        let since = first.and_then(|seed| match seed.evidence {
            SeedEvidence::Web(evidence) => Some(evidence.since),
            SeedEvidence::Core { .. } | SeedEvidence::Cover(_) | SeedEvidence::ByPolicy => None,
        });
        let Some(refresh) = since else {
            return Ok(with_batch(Cause::NoValue));
        };
        let (block, at) = place(page.index());
        let key = ReachKey {
            refresh,
            site: page.site(),
            block,
        };
        let block = self.views.reader.get(&tables::REACH, &key)?;
        let reach = block.and_then(|block| block.at(at).copied());
        // The picks of baselines do not depend on what is reached.
        let covered = reach.and_then(|reach| reach.covered);
        if let Some(covered) = covered.filter(|_| !choice.method.is_baseline()) {
            return Ok(CauseDetail {
                by: self.selected(lacking, covered.pick)?,
                hop: Some(covered.hop),
                ..with_batch(Cause::Covered)
            });
        }
        let chosen = lacking.record.chosen.unwrap_or(lacking.record.seeds);
        let is_complete = chosen == choice.seeds;
        Ok(with_batch(match reach {
            Some(_) if is_complete => Cause::Outweighed,
            _ => Cause::NoValue,
        }))
    }

    /// Returns the page that the method selected at this rank, on the list or not.
    pub(super) fn selected(
        &self,
        lacking: &StoredRefresh,
        rank: u32,
    ) -> Result<Option<PageId>, EngineError> {
        let key = (lacking.refresh, rank);
        let seed = self.views.reader.get(&tables::SEEDS, &key)?;
        Ok(seed.map(|seed| seed.page))
    }
}
