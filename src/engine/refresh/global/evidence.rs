//! Evidence for a pick over the web, and for every page that picks reach or that was a candidate,
//! with page ids instead of numbers and the parts of the gain.

use serde::{Deserialize, Serialize};

use super::load::LoadedWeb;
use crate::engine::refresh::cover::evidence::gain;
use crate::engine::web_graph::MirroredHosts;
use crate::engine::{EngineError, Result};
use seedbank_algorithms::cover::global::{Tuning, ValueBy, WebChoice, WebSelection};
use seedbank_algorithms::cover::{HopGain, Pick};
use seedbank_algorithms::page::PageId;
use seedbank_store::evidence::{Covered, Reach, ReachKey};
use seedbank_store::gain_cache::{CachedGain, GainBlock};
use seedbank_store::page_blocks::{PageBlock, place};
use seedbank_store::records::{
    HopEvidence, RefreshId, SeedEvidence, SeedRecord, WebEvidence, WebHop,
};
use seedbank_store::{Changes, Store, StoreError, Table, Value, tables};

/// A pick.
pub(super) struct Picked {
    pub(super) page: PageId,
    /// The refresh number is set when it is stored.
    evidence: WebEvidence,
}

pub(in crate::engine::refresh) type PageReach = Vec<(PageId, Reach)>;

/// What a process has of the evidence for a selection; all of it if it has the whole web.
pub(super) struct Evidence {
    pub(super) lists: ListShares,
    pub(super) pages: PageEvidence,
}

/// What a process has of the list, and of the lists on which draws judge it.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct ListShares {
    /// In the order of the list.
    picks: Vec<PickShare>,
    /// By draw of tuning, the list of the setting that the other draws choose; `None` for pages of another process. Empty if
    /// these lists are made in another way than the list.
    draws: Vec<Vec<Option<PageId>>>,
}

/// What a refresh stores of the pages of a process.
#[derive(Default)]
pub(in crate::engine::refresh) struct PageEvidence {
    /// The pages that seeds reach or that were candidates.
    reach: PageReach,
    /// What is cached for the next refresh.
    gains: Vec<(PageId, CachedGain)>,
    /// As [`LoadedWeb`] has them.
    pub(super) mirrored: Vec<MirroredHosts>,
}

/// What a process has of the evidence for a pick.
#[derive(Serialize, Deserialize)]
pub(super) struct PickShare {
    /// The page, and the second best one; `None` if another process has it.
    page: Option<PageId>,
    runner_up: Option<PageId>,
    /// The pages of the process that the pick is the first to reach, by hop.
    hops: Vec<WebHop>,
}

/// Returns the evidence for a selection from the pages in `web`.
pub(super) fn evidence(web: &LoadedWeb, selected: &WebSelection, choice: &WebChoice) -> Evidence {
    let price = selected.setting.fetch_cost.0;
    let all = &selected.cover.picks;
    let page = |number: u32| web.pages[number as usize];
    let page_of_number = |number: u32| web.graph.local(number).map(page);
    let mut picks = Vec::with_capacity(all.len());
    for pick in all {
        let runner_up = pick.runner_up.filter(|second| gain(*second).is_some());
        picks.push(PickShare {
            page: page_of_number(pick.seed.page),
            runner_up: runner_up.and_then(|second| page_of_number(second.page)),
            hops: pick
                .hops
                .iter()
                .map(|hop| parts(web, hop, price, choice))
                .collect(),
        });
    }
    let nothing = Reach {
        pick: None,
        covered: None,
        score: None,
        exact: true,
        represented_by: None,
    };
    let mut reach: PageReach = Vec::new();
    let mut seeds: Vec<(PageId, u32)> = Vec::new();
    for (rank, pick) in (1..).zip(all) {
        seeds.extend(page_of_number(pick.seed.page).map(|seed| (seed, rank)));
        for (hop, of_hop) in (0..).zip(&pick.hops) {
            let covered = Some(Covered { pick: rank, hop });
            let of_page = Reach { covered, ..nothing };
            reach.extend(of_hop.pages.iter().map(|number| (page(number), of_page)));
        }
    }
    let rest = selected.cover.uncovered.iter();
    reach.extend(rest.map(|&scored| {
        let score = gain(scored);
        (page(scored.page), Reach { score, ..nothing })
    }));
    reach.sort_unstable_by_key(|(page, _)| *page);
    let copies = web.contents.copies.iter();
    let mut copies: Vec<_> = copies.map(|&(copy, by)| (page(copy), by)).collect();
    copies.sort_unstable();
    let unreached = reach.len();
    for (copy, by) in copies {
        let represented_by = Some(by);
        match reach[..unreached].binary_search_by_key(&copy, |(page, _)| *page) {
            Ok(at) => reach[at].1.represented_by = represented_by,
            Err(_) => reach.push((
                copy,
                Reach {
                    represented_by,
                    ..nothing
                },
            )),
        }
    }
    reach.sort_by_key(|(page, _)| *page);
    // Every seed reaches itself, unless an earlier pick does.
    for (seed, rank) in seeds {
        if let Ok(at) = reach.binary_search_by_key(&seed, |(page, _)| *page) {
            reach[at].1.pick = Some(rank);
        }
    }
    let mut gains = web.gains_to_cache(selected, choice);
    if all.is_empty() {
        // Without seeds, nothing records under which refresh these are stored.
        reach.clear();
        gains.clear();
    }
    let pages = PageEvidence {
        reach,
        gains,
        mirrored: web.mirrored.clone(),
    };
    let tuning = selected
        .tuning
        .iter()
        .filter(|_| choice.selects_as_tried(&web.graph));
    let of_draws = tuning.flat_map(Tuning::best_without_each);
    let draws = of_draws.map(|(_, list)| list.iter().map(|page| page_of_number(*page)).collect());
    let lists = ListShares {
        draws: draws.collect(),
        picks,
    };
    Evidence { lists, pages }
}

/// The list, and the lists on which draws judge it.
pub(super) struct Lists {
    pub(super) picked: Vec<Picked>,
    pub(super) draws: Vec<Vec<PageId>>,
}

/// Combines what all processes have of the lists of a selection, and of the evidence for its picks.
///
/// Fails unless each page belongs to one of them.
pub(super) fn combine(selected: &WebSelection, shares: Vec<ListShares>) -> Result<Lists> {
    let picks = &selected.cover.picks;
    let mut shares = shares.into_iter();
    let ListShares {
        picks: mut all,
        mut draws,
    } = shares.next().unwrap_or_default();
    for share in shares {
        let has_draws = draws
            .iter()
            .map(Vec::len)
            .eq(share.draws.iter().map(Vec::len));
        if share.picks.len() != all.len() || !has_draws {
            return Err(disagreement());
        }
        for (of_all, of_share) in all.iter_mut().zip(share.picks) {
            of_all.add(&of_share)?;
        }
        let pages = draws.iter_mut().flatten();
        for (of_all, of_share) in pages.zip(share.draws.into_iter().flatten()) {
            *of_all = of_all.or(of_share);
        }
    }
    if all.len() != picks.len() {
        return Err(disagreement());
    }
    let complete = |(pick, share): (&Pick, PickShare)| {
        let runner_up = match pick.runner_up.and_then(gain) {
            Some(gain) => Some((share.runner_up.ok_or_else(disagreement)?, gain)),
            None => None,
        };
        Ok(Picked {
            page: share.page.ok_or_else(disagreement)?,
            evidence: WebEvidence {
                since: 0,
                gain: gain(pick.seed),
                hops: share.hops,
                runner_up,
            },
        })
    };
    let of_draw = |list: Vec<Option<PageId>>| list.into_iter().collect::<Option<Vec<PageId>>>();
    let draws: Option<_> = draws.into_iter().map(of_draw).collect();
    Ok(Lists {
        picked: picks.iter().zip(all).map(complete).collect::<Result<_>>()?,
        draws: draws.ok_or_else(disagreement)?,
    })
}

fn disagreement() -> EngineError {
    StoreError::Protocol("the processes do not agree on the picks").into()
}

impl PickShare {
    /// Adds what another process has.
    fn add(&mut self, other: &Self) -> Result<()> {
        let have_both =
            |one: Option<PageId>, other: Option<PageId>| one.is_some() && other.is_some();
        if have_both(self.page, other.page)
            || have_both(self.runner_up, other.runner_up)
            || self.hops.len() != other.hops.len()
        {
            return Err(disagreement());
        }
        self.page = self.page.or(other.page);
        self.runner_up = self.runner_up.or(other.runner_up);
        for (hop, of_other) in self.hops.iter_mut().zip(&other.hops) {
            *hop = sum(hop, of_other).ok_or_else(disagreement)?;
        }
        Ok(())
    }
}

/// Returns the sum of what two processes have of a hop; `None` if it is too large.
fn sum(one: &WebHop, other: &WebHop) -> Option<WebHop> {
    let (a, b) = (&one.all, &other.all);
    Some(WebHop {
        all: HopEvidence {
            pages: a.pages.checked_add(b.pages)?,
            clicked: a.clicked.checked_add(b.clicked)?,
            spam: a.spam.checked_add(b.spam)?,
            uncrawled_outlinks: a.uncrawled_outlinks.checked_add(b.uncrawled_outlinks)?,
            value: a.value.checked_add(b.value)?,
            uncrawled_value: a.uncrawled_value.checked_add(b.uncrawled_value)?,
        },
        known: one.known.checked_add(other.known)?,
        cost: one.cost.checked_add(other.cost)?,
    })
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
        // Another page has the value of its content.
        let has_value = web.contents.represented_by(page).is_none();
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
        } else if choice.value_by == ValueBy::Weights && has_value {
            let weight = weight.0 + weights.quality_value(mark.quality);
            all.uncrawled_value += web.graph.values()[page as usize] - mark.due.part_of(weight);
        }
        if has_value {
            all.uncrawled_outlinks += u64::from(mark.uncrawled_outlinks);
        }
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
    let seed = SeedRecord {
        page: picked.page,
        evidence: SeedEvidence::Web(evidence),
        succeeds: None,
    };
    Ok(changes.put_seed(refresh, rank, &seed)?)
}

impl PageEvidence {
    /// Adds what is stored of pages to `changes`, under the refresh that picked the seeds.
    pub(super) fn put(&self, changes: &mut Changes, refresh: RefreshId) -> Result<(), StoreError> {
        put_blocks(changes, &tables::REACH, refresh, &self.reach, PageBlock)?;
        put_gains(changes, refresh, &self.gains)
    }
}

/// Adds entries for pages, in the order of their ids, to `changes`, block by block.
pub(super) fn put_blocks<T: Copy, V: Value>(
    changes: &mut Changes,
    table: &Table<ReachKey, V>,
    refresh: RefreshId,
    pages: &[(PageId, T)],
    block_of: impl Fn(Vec<(u32, T)>) -> V,
) -> Result<(), StoreError> {
    let block = |page: PageId| (page.site(), place(page.index()).0);
    for of_block in pages.chunk_by(|a, b| block(a.0) == block(b.0)) {
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
        let entries = entries.map(|(page, of_page)| (place(page.index()).1, *of_page));
        changes.put(table, &key, &block_of(entries.collect()))?;
    }
    Ok(())
}

/// Adds what a selection leaves to `changes`, under the refresh that picked the seeds.
pub(super) fn put_gains(
    changes: &mut Changes,
    refresh: RefreshId,
    gains: &[(PageId, CachedGain)],
) -> Result<(), StoreError> {
    put_blocks(changes, &tables::GAIN_CACHE, refresh, gains, GainBlock)
}

/// Deletes what the selection of a refresh left.
pub(in crate::engine::refresh) fn delete_gains(
    store: &Store,
    changes: &mut Changes,
    since: RefreshId,
) -> Result<(), StoreError> {
    changes.delete_under(store, &tables::GAIN_CACHE, &since.to_be_bytes())
}

/// Deletes what is stored under the refresh that picked the seeds.
pub(crate) fn delete_refresh(
    store: &Store,
    changes: &mut Changes,
    since: RefreshId,
) -> Result<(), StoreError> {
    changes.delete_under(store, &tables::REACH, &since.to_be_bytes())?;
    delete_gains(store, changes, since)
}
