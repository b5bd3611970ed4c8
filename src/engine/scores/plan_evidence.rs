//! What the refresh of a plan knows of pages, site by site.

use std::collections::HashMap;

use super::answers::PageScore;
use crate::engine::query::views::Views;
use crate::engine::{EngineError, Plan, PlanOptions};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_store::blocks::BLOCK;
use seedbank_store::evidence::{Member, Reach};
use seedbank_store::records::{RefreshId, RefreshRecord, SeedEvidence};
use seedbank_store::{Key, StoreError, tables};

/// A refresh that is told of.
pub(super) struct PlanEvidence {
    /// The rank of each seed of the list.
    ranks: HashMap<PageId, u32>,
    kept: Stored,
}

/// What the refresh keeps of pages.
enum Stored {
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
pub(super) struct SiteEvidence {
    members: HashMap<PageId, Member>,
    reached: HashMap<PageId, Reach>,
    /// The URL of each pick of the site.
    picks: HashMap<u32, String>,
}

impl PlanEvidence {
    pub(super) fn of(
        views: &Views,
        refresh: Option<&(RefreshId, RefreshRecord)>,
    ) -> Result<Self, EngineError> {
        let Some((refresh, record)) = refresh else {
            return Ok(Self {
                ranks: HashMap::new(),
                kept: Stored::Nothing,
            });
        };
        let list = views.reader.list(*refresh)?;
        let ranks = list.into_iter().map(|(rank, seed)| (seed.page, rank));
        let kept = match PlanOptions::from_kept(&record.settings)?.decide()? {
            Plan::Cores(_) => Stored::Cores(*refresh),
            Plan::Cover(_) => Stored::Cover(*refresh),
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
    pub(super) fn of_site(&self, views: &Views, site: SiteId) -> Result<SiteEvidence, EngineError> {
        let mut found = SiteEvidence::default();
        match &self.kept {
            Stored::Nothing => {}
            Stored::Cores(refresh) => {
                let prefix = (*refresh, site).bytes();
                for entry in views.reader.scan_under(&tables::MEMBERS, &prefix)? {
                    let ((_, page), member) = entry?;
                    found.members.insert(page, member);
                }
            }
            Stored::Cover(refresh) => {
                let Some(of) = views.reader.get(&tables::COVERS, &(*refresh, site))? else {
                    return Ok(found);
                };
                for (pick, rank) in (1..).zip(&of.ranks) {
                    let seed = views.reader.need(&tables::SEEDS, &(*refresh, *rank))?;
                    found.picks.insert(pick, views.name(seed.page)?.1);
                }
                found.reached = reached(views, of.since, site)?;
            }
            Stored::Web(since, _) => found.reached = reached(views, *since, site)?,
        }
        Ok(found)
    }

    /// The URL of a pick, of the site or over the web.
    fn pick(&self, of_site: &SiteEvidence, pick: u32) -> Option<String> {
        match &self.kept {
            Stored::Web(_, picks) => picks.get(&pick).cloned(),
            _ => of_site.picks.get(&pick).cloned(),
        }
    }
}

impl SiteEvidence {
    /// Adds what is kept of a page to its scores.
    pub(super) fn add_to(&self, of: &PlanEvidence, page: PageId, score: &mut PageScore) {
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
