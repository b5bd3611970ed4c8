//! Evidence for a pick over the web, and for every page that picks reach or that was a candidate,
//! with page ids instead of numbers and the parts of the gain.

use super::load::LoadedWeb;
use crate::engine::Result;
use crate::engine::refresh::cover::evidence::gain;
use seedbank_algorithms::cover::global::{ValueBy, WebChoice, WebSelection};
use seedbank_algorithms::cover::{HopGain, Pick};
use seedbank_algorithms::graph::number;
use seedbank_algorithms::page::{PageId, PageSet};
use seedbank_store::evidence::{Covered, Reach, ReachKey};
use seedbank_store::page_blocks::{PageBlock, place};
use seedbank_store::records::{
    HopEvidence, RefreshId, SeedEvidence, SeedRecord, WebEvidence, WebHop,
};
use seedbank_store::tables::{self, PageSetKey, ReachedKey};
use seedbank_store::{Changes, Store, StoreError};

/// A pick, with the pages that it reaches first.
pub(super) struct Picked {
    pub(super) page: PageId,
    /// The refresh number is set when it is stored.
    evidence: WebEvidence,
    /// The pages that the seed is the first to reach, by hop.
    reached: Vec<PageSet>,
}

pub(super) type PageReach = Vec<(PageId, Reach)>;

/// Returns the picks in the order of the list, and the reach of pages.
pub(super) fn pick_evidence(
    web: &LoadedWeb,
    selected: &WebSelection,
    choice: &WebChoice,
) -> (Vec<Picked>, PageReach) {
    let price = selected.setting.fetch_cost.0;
    let picks = &selected.cover.picks;
    let mut ranks = vec![0; picks.len()];
    for (rank, &at) in (1..).zip(&selected.order) {
        ranks[at] = rank;
    }
    let last_rank = ranks.last().copied().unwrap_or(0);
    let of_list = selected.order.iter().map(|&at| {
        let mut picked = picked(web, number(at + 1), &picks[at], price, choice);
        picked.evidence.last_rank = last_rank;
        picked
    });
    let of_list = of_list.collect();
    let nothing = Reach {
        pick: None,
        covered: None,
        score: None,
        exact: true,
    };
    let page = |number: u32| web.pages[number as usize];
    let mut reach_of_pages: PageReach = Vec::new();
    let mut seeds: Vec<(PageId, u32)> = Vec::with_capacity(picks.len());
    for (&rank, pick) in ranks.iter().zip(picks) {
        seeds.push((page(pick.seed.page), rank));
        for (hop, of_hop) in (0..).zip(&pick.hops) {
            let covered = Some(Covered { pick: rank, hop });
            let reach = Reach { covered, ..nothing };
            reach_of_pages.extend(of_hop.pages.iter().map(|number| (page(number), reach)));
        }
    }
    let rest = selected.cover.uncovered.iter();
    reach_of_pages.extend(rest.map(|&scored| {
        let score = gain(scored);
        (page(scored.page), Reach { score, ..nothing })
    }));
    reach_of_pages.sort_unstable_by_key(|(page, _)| *page);
    // Every seed reaches itself, unless an earlier pick does.
    for (seed, rank) in seeds {
        if let Ok(at) = reach_of_pages.binary_search_by_key(&seed, |(page, _)| *page) {
            reach_of_pages[at].1.pick = Some(rank);
        }
    }
    if picks.is_empty() {
        // Without seeds, nothing records under which refresh the reach is stored.
        reach_of_pages.clear();
    }
    (of_list, reach_of_pages)
}

fn picked(web: &LoadedWeb, number: u32, pick: &Pick, price: i64, choice: &WebChoice) -> Picked {
    let page = |number: u32| web.pages[number as usize];
    let set = |hop: &HopGain| hop.pages.iter().map(|number| page(number).0).collect();
    Picked {
        page: page(pick.seed.page),
        evidence: WebEvidence {
            since: 0,
            pick: number,
            last_rank: 0,
            gain: gain(pick.seed),
            hops: pick
                .hops
                .iter()
                .map(|hop| parts(web, hop, price, choice))
                .collect(),
            runner_up: pick
                .runner_up
                .and_then(|second| Some((page(second.page), gain(second)?))),
        },
        reached: pick.hops.iter().map(set).collect(),
    }
}

fn parts(web: &LoadedWeb, hop: &HopGain, price: i64, choice: &WebChoice) -> WebHop {
    let weights = &choice.weights;
    let mut all = HopEvidence {
        value: hop.value,
        ..HopEvidence::default()
    };
    let mut known = 0;
    for page in &hop.pages {
        let mark = web.marks[page as usize];
        let weight = if mark.spam {
            all.spam += 1;
            weights.spam
        } else if mark.clicked {
            all.clicked += 1;
            weights.clicked
        } else {
            weights.base
        };
        all.pages += 1;
        if !mark.crawled {
            known += 1;
        } else if choice.value_by == ValueBy::Weights {
            let weight = weight.0 + weights.quality_value(mark.quality);
            all.uncrawled_value += web.graph.values()[page as usize] - weight;
        }
        all.uncrawled_outlinks += u64::from(mark.uncrawled_outlinks);
    }
    WebHop {
        all,
        known,
        cost: price * i64::from(all.pages),
    }
}

/// Adds a pick to `changes` as the seed of this rank.
pub(super) fn put_pick(
    changes: &mut Changes,
    refresh: RefreshId,
    rank: u32,
    picked: &Picked,
) -> Result<()> {
    let mut evidence = picked.evidence.clone();
    evidence.since = refresh;
    for (hop, pages) in (0..).zip(&picked.reached) {
        if !pages.is_empty() {
            let key = ReachedKey { refresh, rank, hop };
            changes.put_page_set(PageSetKey::Reached(key), pages)?;
        }
    }
    let seed = SeedRecord {
        page: picked.page,
        evidence: SeedEvidence::Web(evidence),
        succeeds: None,
    };
    Ok(changes.put_seed(refresh, rank, &seed)?)
}

/// Adds the reach of pages to `changes`, under the refresh that picked the seeds.
pub(super) fn put_reach(
    changes: &mut Changes,
    refresh: RefreshId,
    reach_of_pages: &PageReach,
) -> Result<()> {
    let block = |page: PageId| (page.site(), place(page.index()).0);
    for of_block in reach_of_pages.chunk_by(|a, b| block(a.0) == block(b.0)) {
        let Some((first, _)) = of_block.first() else {
            continue;
        };
        let (site, block) = block(*first);
        let key = ReachKey {
            refresh,
            site,
            block,
        };
        let entries = of_block.iter();
        let entries = entries.map(|(page, reach)| (place(page.index()).1, *reach));
        changes.put(&tables::REACH, &key, &PageBlock(entries.collect()))?;
    }
    Ok(())
}

/// Deletes what is stored under the refresh that picked the seeds.
pub(crate) fn delete_refresh(
    store: &Store,
    changes: &mut Changes,
    since: RefreshId,
) -> Result<(), StoreError> {
    changes.delete_under(
        store,
        &tables::PAGE_SETS,
        &PageSetKey::reached_prefix(since),
    )?;
    changes.delete_under(store, &tables::REACH, &since.to_be_bytes())?;
    Ok(())
}
