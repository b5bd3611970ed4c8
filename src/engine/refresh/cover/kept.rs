//! What a refresh keeps of a site that it selected on, so that the next one can follow the selection
//! when the site has changed: the site as it was, which pick covered each page, and how the bounds
//! of weights fell.
//!
//! It is kept of sites of at least [`LEAST`] pages, by methods that [can be
//! followed](is_followed), for the last refresh of a plan alone.

use std::collections::{BTreeMap, HashMap};

use super::sites::LoadedSite;
use crate::engine::EngineError;
use crate::engine::error::no_site;
use seedbank_algorithms::cover::{
    Choice, Covered, Former, Mark, Method, PUniq, Score, SiteCover, SiteGraph, Trail,
};
use seedbank_algorithms::graph::NONE;
use seedbank_algorithms::page::SiteId;
use seedbank_store::blocks::{BLOCK, place};
use seedbank_store::evidence::ReachKey;
use seedbank_store::kept_sites::{KeptBlock, KeptHead, KeptMark, KeptPage, UNREAD};
use seedbank_store::records::RefreshId;
use seedbank_store::{Changes, Key, Store, StoreError, tables};

/// Smaller sites are selected on anew, which costs less than comparing them.
const LEAST: u32 = 256;

/// Whether a method picks by weight anywhere on a site and leaves covered pages where they are.
pub(super) fn is_followed(choice: &Choice) -> bool {
    matches!(choice.method, Method::MaxWeight | Method::Greedy) && choice.covered == Covered::Zero
}

/// Blocks of a site, on their way to the store.
#[derive(Default)]
pub(super) struct KeptSite(BTreeMap<u32, KeptBlock>);

impl KeptSite {
    /// What is kept of a selection; nothing where it cannot be followed.
    pub(super) fn of(site: &LoadedSite<'_>, cover: &SiteCover, trail: Option<Trail>) -> Self {
        let (graph, pages) = (&site.graph, site.graph.pages());
        let Some(trail) = trail.filter(|_| pages >= LEAST && graph.pins().is_empty()) else {
            return Self::default();
        };
        let weights = cover.picks.iter().map(|pick| match pick.seed.score {
            Score::Weight(weight) => weight,
            _ => 0,
        });
        let head = KeptHead {
            pages,
            p_uniq: site.site.p_uniq.parts(),
            weights: weights.collect(),
        };
        let mut covered = vec![None; pages as usize];
        for (round, pick) in (0..).zip(&cover.picks) {
            for page in &pick.covered() {
                covered[page as usize] = Some(round);
            }
        }
        let index = |number: u32| site.pages[number as usize];
        let mut blocks: BTreeMap<u32, BTreeMap<u32, KeptPage>> = BTreeMap::new();
        for (page, (marks, covered)) in (0..pages).zip(trail.marks.into_iter().zip(covered)) {
            let links = graph.successors(page).iter();
            let mut links: Vec<u32> = links.map(|&to| index(to)).collect();
            links.sort_unstable();
            let marks = marks.into_iter().map(|mark| KeptMark {
                round: mark.round,
                weight: mark.weight,
                positive: mark.positive.max(mark.weight),
            });
            let kept = KeptPage {
                value: graph.values()[page as usize],
                covered,
                links,
                marks: marks.collect(),
            };
            let (block, place) = place(index(page));
            blocks.entry(block).or_default().insert(place, kept);
        }
        let blocks = blocks.into_iter().map(|(block, pages)| {
            let pages = pages.into_iter().collect();
            let head = head.clone();
            (block, KeptBlock { head, pages })
        });
        Self(blocks.collect())
    }

    /// Hands it to `changes`, under the refresh that picked.
    pub(super) fn put(
        &self,
        changes: &mut Changes,
        (refresh, site): (RefreshId, SiteId),
    ) -> Result<(), StoreError> {
        for (&block, kept) in &self.0 {
            let key = ReachKey {
                refresh,
                site,
                block,
            };
            changes.put(&tables::KEPT_SITES, &key, kept)?;
        }
        Ok(())
    }
}

/// The selection of an earlier refresh in today's numbers; `None` where nothing is kept of it.
///
/// Memory: the site once more, and 24 bytes for each page and mark.
pub(super) fn former(
    store: &Store,
    site: &LoadedSite<'_>,
    since: RefreshId,
) -> Result<Option<Former>, EngineError> {
    let of_site = (since, site.site.id);
    let damaged = |what: &str| {
        EngineError::Ledger(StoreError::Damaged {
            table: tables::KEPT_SITES.name,
            key: format!("refresh {since}, {}", site.site.id),
            what: what.to_owned(),
        })
    };
    let mut head: Option<KeptHead> = None;
    let mut pages: Vec<(u32, KeptPage)> = Vec::new();
    for entry in store.scan_under(&tables::KEPT_SITES, &of_site.bytes())? {
        let (key, block) = entry.map_err(told)?;
        if head.as_ref().is_some_and(|head| *head != block.head) {
            return Err(damaged("its blocks are of different times"));
        }
        head = Some(block.head);
        let index = |place: u32| key.block.saturating_mul(BLOCK).saturating_add(place);
        pages.extend(block.pages.into_iter().map(|(at, page)| (index(at), page)));
    }
    let Some(head) = head else {
        return Ok(None);
    };
    if pages.len() != head.pages as usize {
        return Err(damaged("it is not all of the site"));
    }
    let mut numbers: HashMap<u32, u32> = site.pages.iter().copied().zip(0..).collect();
    let mut next = site.graph.pages();
    for (index, _) in &pages {
        numbers.entry(*index).or_insert_with(|| {
            next += 1;
            next - 1
        });
    }
    let mut values = vec![0; next as usize];
    let mut rounds = vec![NONE; next as usize];
    let mut marks = vec![Vec::new(); next as usize];
    let mut links = Vec::new();
    for (index, page) in pages {
        // Its number was given above.
        let from = numbers.get(&index).copied().unwrap_or(NONE);
        let at = from as usize;
        values[at] = page.value;
        rounds[at] = page.covered.unwrap_or(NONE);
        let of_page = page.marks.into_iter().map(|mark| Mark {
            round: mark.round,
            weight: mark.weight,
            positive: mark.positive,
        });
        marks[at] = of_page.collect();
        for to in page.links {
            let to = numbers.get(&to).copied();
            links.push((
                from,
                to.ok_or_else(|| damaged("it links to no page of it"))?,
            ));
        }
    }
    let graph = SiteGraph::new(values, links).map_err(|e| no_site(e, &site.site.name))?;
    let picks = head.weights.len();
    if rounds
        .iter()
        .any(|&round| round != NONE && round as usize >= picks)
    {
        return Err(damaged("it names a pick that was not made"));
    }
    Ok(Some(Former {
        graph,
        rounds,
        weights: head.weights,
        trail: Trail { marks },
        p_uniq: (PUniq::of_parts(head.p_uniq), site.site.p_uniq),
    }))
}

/// Damage to what is kept: a refresh from scratch does not read it.
fn told(error: StoreError) -> EngineError {
    match error {
        StoreError::Damaged { .. } => EngineError::Ledger(error),
        other => other.into(),
    }
}

/// Deletes what is kept of a site under the refresh that picked its seeds; damaged or not.
pub(crate) fn delete_site(
    store: &Store,
    changes: &mut Changes,
    of_site: (RefreshId, SiteId),
) -> Result<(), StoreError> {
    changes.delete_under(store, &UNREAD, &of_site.bytes())?;
    Ok(())
}
