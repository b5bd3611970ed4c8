//! Evidence of a plan's refresh about pages, read site by site.

use std::collections::HashMap;

use super::answers::PageScore;
use crate::engine::plan::ResolvedPlan;
use crate::engine::query::views::Views;
use crate::engine::{EngineError, PlanOptions};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_store::evidence::{Member, Reach};
use seedbank_store::page_blocks::BLOCK;
use seedbank_store::records::{RefreshId, RefreshRecord, SeedEvidence};
use seedbank_store::{Key, StoreError, tables};

/// Evidence of a refresh.
pub(super) struct PlanEvidence {
    /// Rank of each seed.
    ranks: HashMap<PageId, u32>,
    stored: Stored,
}

/// Kind of stored evidence about pages.
enum Stored {
    /// No refresh, or one without evidence.
    Nothing,
    /// Members of cores.
    Cores(RefreshId),
    /// Coverage of pages by the picks of their site.
    Cover(RefreshId),
    /// Coverage of pages by picks over the web: the refresh that picked, and the URL of each pick by rank.
    Web(RefreshId, HashMap<u32, String>),
}

/// Evidence about the pages of a site.
#[derive(Default)]
pub(super) struct SiteEvidence {
    members: HashMap<PageId, Member>,
    reached: HashMap<PageId, Reach>,
    /// URL of each pick of the site.
    picks: HashMap<u32, String>,
}

impl PlanEvidence {
    pub(super) fn load(
        views: &Views,
        refresh: Option<&(RefreshId, RefreshRecord)>,
    ) -> Result<Self, EngineError> {
        let Some((refresh, record)) = refresh else {
            return Ok(Self {
                ranks: HashMap::new(),
                stored: Stored::Nothing,
            });
        };
        let list = views.reader.list(*refresh)?;
        let ranks = list.into_iter().map(|(rank, seed)| (seed.page, rank));
        let stored = match PlanOptions::from_stored(&record.settings)?.resolve()? {
            ResolvedPlan::Cores(_) => Stored::Cores(*refresh),
            ResolvedPlan::Cover(_) => Stored::Cover(*refresh),
            ResolvedPlan::Web(_) => over_web(views, *refresh)?,
        };
        Ok(Self {
            ranks: ranks.collect(),
            stored,
        })
    }

    /// Returns the rank of a page on the list.
    pub(super) fn rank(&self, page: PageId) -> Option<u32> {
        self.ranks.get(&page).copied()
    }

    /// Reads the evidence about the pages of a site.
    pub(super) fn read_site(
        &self,
        views: &Views,
        site: SiteId,
    ) -> Result<SiteEvidence, EngineError> {
        let mut found = SiteEvidence::default();
        match &self.stored {
            Stored::Nothing => {}
            Stored::Cores(refresh) => {
                let prefix = (*refresh, site).bytes();
                for entry in views.reader.scan_under(&tables::CORE_MEMBERS, &prefix)? {
                    let ((_, page), member) = entry?;
                    found.members.insert(page, member);
                }
            }
            Stored::Cover(refresh) => {
                let Some(cover) = views.reader.get(&tables::COVERS, &(*refresh, site))? else {
                    return Ok(found);
                };
                for (pick, rank) in (1..).zip(&cover.ranks) {
                    let seed = views.reader.need(&tables::SEEDS, &(*refresh, *rank))?;
                    found.picks.insert(pick, views.name(seed.page)?.1);
                }
                found.reached = reached(views, cover.since, site)?;
            }
            Stored::Web(since, _) => found.reached = reached(views, *since, site)?,
        }
        Ok(found)
    }

    /// Returns the URL of a pick, of the site or over the web.
    fn pick(&self, site: &SiteEvidence, pick: u32) -> Option<String> {
        match &self.stored {
            Stored::Web(_, picks) => picks.get(&pick).cloned(),
            _ => site.picks.get(&pick).cloned(),
        }
    }
}

impl SiteEvidence {
    /// Adds the evidence about a page to its scores.
    pub(super) fn add_to(&self, plan: &PlanEvidence, page: PageId, score: &mut PageScore) {
        if let Some(member) = self.members.get(&page) {
            score.core = Some(member.core);
            score.hub_score = member.hub.map(|place| place.score);
            score.authority_score = member.authority.map(|place| place.score);
        }
        if let Some(reach) = self.reached.get(&page) {
            let covered = reach.covered.map(|covered| (covered.pick, covered.hop));
            let itself = reach.pick.map(|pick| (pick, 0));
            if let Some((pick, hop)) = covered.or(itself) {
                score.covered_by = plan.pick(self, pick);
                score.covered_at = score.covered_by.as_ref().map(|_| hop);
            }
        }
    }
}

fn reached(
    views: &Views,
    since: RefreshId,
    site: SiteId,
) -> Result<HashMap<PageId, Reach>, StoreError> {
    let mut found = HashMap::new();
    for entry in views
        .reader
        .scan_under(&tables::REACH, &(since, site).bytes())?
    {
        let (key, block) = entry?;
        for (place, reach) in block.0 {
            let index = key.block.saturating_mul(BLOCK).saturating_add(place);
            found.insert(PageId::new(site, index), reach);
        }
    }
    Ok(found)
}

fn over_web(views: &Views, refresh: RefreshId) -> Result<Stored, EngineError> {
    let mut since = None;
    let mut picks = HashMap::new();
    for entry in views
        .reader
        .scan_under(&tables::SEEDS, &refresh.to_be_bytes())?
    {
        let ((_, rank), seed) = entry?;
        if let SeedEvidence::Web(evidence) = &seed.evidence {
            since = Some(evidence.since);
        }
        picks.insert(rank, views.name(seed.page)?.1);
    }
    Ok(since.map_or(Stored::Nothing, |since| Stored::Web(since, picks)))
}
