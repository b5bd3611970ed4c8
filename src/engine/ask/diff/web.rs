//! Causes over the web: what became of the page among all others.

use super::answers::Cause;
use super::causes::{Because, Pair};
use super::side::KeptRefresh;
use crate::cover::web::WebChoice;
use crate::engine::EngineError;
use crate::page::PageId;
use crate::storage::blocks::place;
use crate::storage::evidence::ReachKey;
use crate::storage::records::SeedEvidence;
use crate::storage::tables;

impl Pair<'_> {
    pub(super) fn absent_from_web(
        &self,
        page: PageId,
        run: &KeptRefresh,
        choice: &WebChoice,
    ) -> Result<Because, EngineError> {
        let batch = self.touched(&[page]);
        let because = |cause| Because::new(cause, batch);
        let mut seeds = run.seeds.iter();
        let since = seeds.find_map(|(_, seed)| match &seed.evidence {
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
                by: self.at_rank(run, covered.pick),
                hop: Some(covered.hop),
                ..because(Cause::Covered)
            });
        }
        let is_complete = run.record.seeds == choice.seeds;
        Ok(because(match reach {
            Some(_) if is_complete => Cause::Outweighed,
            _ => Cause::NoValue,
        }))
    }

    /// The seed of this rank.
    fn at_rank(&self, run: &KeptRefresh, rank: u32) -> Option<PageId> {
        let sides = [self.from, self.to];
        let side = sides
            .into_iter()
            .find(|side| side.view.refresh == Some(run.refresh))?;
        side.order.get(rank.checked_sub(1)? as usize).copied()
    }
}
