//! Causes over the web: what became of the page among all others.

use super::answers::Cause;
use super::causes::{Because, Pair};
use super::side::KeptRefresh;
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
        run: &KeptRefresh,
        choice: &WebChoice,
    ) -> Result<Because, EngineError> {
        let batch = self.touched(&[page]);
        let because = |cause| Because::new(cause, batch);
        let first = self.views.reader.get(&tables::SEEDS, &(run.refresh, 1))?;
        let since = first.and_then(|seed| match seed.evidence {
            SeedEvidence::Web(evidence) => Some(evidence.since),
            SeedEvidence::Core { .. } | SeedEvidence::Cover(_) | SeedEvidence::ByPolicy => None,
        });
        let Some(refresh) = since else {
            return Ok(because(Cause::NoValue));
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
            return Ok(Because {
                by: self.chosen(run, covered.pick)?,
                hop: Some(covered.hop),
                ..because(Cause::Covered)
            });
        }
        let chosen = run.record.chosen.unwrap_or(run.record.seeds);
        let is_complete = chosen == choice.seeds;
        Ok(because(match reach {
            Some(_) if is_complete => Cause::Outweighed,
            _ => Cause::NoValue,
        }))
    }

    /// What the method came to at this rank, on the list or not.
    pub(super) fn chosen(
        &self,
        run: &KeptRefresh,
        rank: u32,
    ) -> Result<Option<PageId>, EngineError> {
        let key = (run.refresh, rank);
        let seed = self.views.reader.get(&tables::SEEDS, &key)?;
        Ok(seed.map(|seed| seed.page))
    }
}
