//! What the refresh of a plan knows of pages, site by site.

use std::collections::HashMap;

use super::answers::PageScore;
use crate::engine::ask::views::Views;
use crate::engine::plan::Plan;
use crate::engine::{EngineError, PlanOptions};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_store::evidence::{Member, Reach};
use seedbank_store::page_blocks::BLOCK;
use seedbank_store::records::{RefreshId, RefreshRecord, SeedEvidence};
use seedbank_store::{Key, StoreError, tables};

/// A refresh that is told of.
pub(super) struct ByPlan {
    /// The rank of each seed of the list.
    ranks: HashMap<PageId, u32>,
    kept: Kept,
}

/// What the refresh keeps of pages.
enum Kept {
    /// No refresh is told of, or it has nothing.
    Nothing,
    /// Members of cores.
    Cores(RefreshId),
    /// Pages that the picks of their own site cover.
    Cover(RefreshId),
    /// Pages that picks over the web reach: the refresh that picked, and the URL of each pick by rank.
    Web(RefreshId, HashMap<u32, String>),
}

/// What is kept of the pages of a site.
#[derive(Default)]
pub(super) struct OfSite {
    members: HashMap<PageId, Member>,
    reached: HashMap<PageId, Reach>,
    /// The URL of each pick of the site.
    picks: HashMap<u32, String>,
}

impl ByPlan {
    pub(super) fn of(
        views: &Views,
        refresh: Option<&(RefreshId, RefreshRecord)>,
    ) -> Result<Self, EngineError> {
        let Some((refresh, record)) = refresh else {
            return Ok(Self {
                ranks: HashMap::new(),
                kept: Kept::Nothing,
            });
        };
        let list = views.reader.list(*refresh)?;
        let ranks = list.into_iter().map(|(rank, seed)| (seed.page, rank));
        let kept = match PlanOptions::from_stored(&record.settings)?.resolve()? {
            Plan::Cores(_) => Kept::Cores(*refresh),
            Plan::Cover(_) => Kept::Cover(*refresh),
            Plan::Web(_) => over_web(views, *refresh)?,
        };
        Ok(Self {
            ranks: ranks.collect(),
            kept,
        })
    }

    /// The rank of a page on the list.
    pub(super) fn rank(&self, page: PageId) -> Option<u32> {
        self.ranks.get(&page).copied()
    }

    /// What is kept of the pages of a site.
    pub(super) fn of_site(&self, views: &Views, site: SiteId) -> Result<OfSite, EngineError> {
        let mut found = OfSite::default();
        match &self.kept {
            Kept::Nothing => {}
            Kept::Cores(refresh) => {
                let prefix = (*refresh, site).bytes();
                for entry in views.reader.scan_under(&tables::CORE_MEMBERS, &prefix)? {
                    let ((_, page), member) = entry?;
                    found.members.insert(page, member);
                }
            }
            Kept::Cover(refresh) => {
                let Some(of) = views.reader.get(&tables::COVERS, &(*refresh, site))? else {
                    return Ok(found);
                };
                for (pick, rank) in (1..).zip(&of.ranks) {
                    let seed = views.reader.need(&tables::SEEDS, &(*refresh, *rank))?;
                    found.picks.insert(pick, views.name(seed.page)?.1);
                }
                found.reached = reached(views, of.since, site)?;
            }
            Kept::Web(since, _) => found.reached = reached(views, *since, site)?,
        }
        Ok(found)
    }

    /// The URL of a pick, of the site or over the web.
    fn pick(&self, of_site: &OfSite, pick: u32) -> Option<String> {
        match &self.kept {
            Kept::Web(_, picks) => picks.get(&pick).cloned(),
            _ => of_site.picks.get(&pick).cloned(),
        }
    }
}

impl OfSite {
    /// Adds what is kept of a page to its scores.
    pub(super) fn tell(&self, of: &ByPlan, page: PageId, score: &mut PageScore) {
        if let Some(member) = self.members.get(&page) {
            score.core = Some(member.core);
            score.hub_score = member.hub.map(|place| place.score);
            score.authority_score = member.authority.map(|place| place.score);
        }
        if let Some(reach) = self.reached.get(&page) {
            let covered = reach.covered.map(|covered| (covered.pick, covered.hop));
            let itself = reach.pick.map(|pick| (pick, 0));
            if let Some((pick, hop)) = covered.or(itself) {
                score.covered_by = of.pick(self, pick);
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

fn over_web(views: &Views, refresh: RefreshId) -> Result<Kept, EngineError> {
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
    Ok(since.map_or(Kept::Nothing, |since| Kept::Web(since, picks)))
}
