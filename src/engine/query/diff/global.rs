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

/// What the searches of a refresh over the web found out about a page.
#[derive(Default)]
pub(super) struct Reached {
    /// Whether the refresh has a record of the page.
    is_searched: bool,
    /// The page of the pick that covers it, and the distance in links.
    pub(super) covered: Option<(Option<PageId>, u32)>,
}

impl Pair<'_> {
    pub(super) fn absent_from_web(
        &self,
        page: PageId,
        lacking: &StoredRefresh,
        choice: &WebChoice,
    ) -> Result<CauseDetail, EngineError> {
        let batch = self.last_change_of(&[page])?;
        let with_batch = |cause| CauseDetail::new(cause, batch);
        let reached = self.reached(page, lacking, choice)?;
        if let Some((by, hop)) = reached.covered {
            return Ok(CauseDetail {
                by,
                hop: Some(hop),
                ..with_batch(Cause::Covered)
            });
        }
        let chosen = lacking.record.chosen.unwrap_or(lacking.record.seeds);
        let is_complete = chosen == choice.seeds;
        Ok(with_batch(if reached.is_searched && is_complete {
            Cause::Outweighed
        } else {
            Cause::NoValue
        }))
    }

    /// Returns what the searches of a refresh found out about a page.
    pub(super) fn reached(
        &self,
        page: PageId,
        lacking: &StoredRefresh,
        choice: &WebChoice,
    ) -> Result<Reached, EngineError> {
        let first = self
            .views
            .reader
            .get(&tables::SEEDS, &(lacking.refresh, 1))?;
        let since = first.and_then(|seed| match seed.evidence {
            SeedEvidence::Web(evidence) => Some(evidence.since),
            SeedEvidence::Core { .. } | SeedEvidence::Cover(_) | SeedEvidence::ByPolicy => None,
        });
        let Some(refresh) = since else {
            return Ok(Reached::default());
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
        let covered = covered.filter(|_| !choice.method.is_baseline());
        let covered = match covered {
            Some(covered) => Some((self.selected(lacking, covered.pick)?, covered.hop)),
            None => None,
        };
        Ok(Reached {
            is_searched: reach.is_some(),
            covered,
        })
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
