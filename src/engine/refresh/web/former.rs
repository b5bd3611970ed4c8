//! What an earlier refresh kept, in the numbers of today's web, and what may have changed since: so
//! that a selection can follow it.
//!
//! A batch names the pages whose links, state or attributes it changed, and keeps the state and the
//! spam mark that they had, where it changed these. Beside these, the value of a page may have
//! changed that links to one of them (it may be crawled now, and was an uncrawled outlink), and the
//! value of every page of a site whose share of distinct digests did. Pages that linked to one that
//! is gone have lost a link without being named; they are found by key. Where only one batch came in
//! since, the links and values that pages had are known too ([`Then`]).

use std::collections::BTreeSet;

use super::load::LoadedWeb;
use super::numbers::{Earlier, Numbers};
use super::then::Then;
use crate::engine::EngineError;
use crate::engine::policy::Rules;
use seedbank_algorithms::cover::web::{Changes, Former, FormerPick, ValueBy, WebChoice};
use seedbank_algorithms::graph::NONE;
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_store::blocks::BLOCK;
use seedbank_store::records::{BatchId, PageState, SeedEvidence, SeedRecord};
use seedbank_store::tables::{self, BitmapKey};
use seedbank_store::{Key, Store, StoreError};

/// What the earlier refresh kept; `None` where its kind of plan cannot be followed.
///
/// Memory: 28 bytes per page, 16 for each candidate that no seed reaches, and what the last batch
/// overwrote.
pub(super) fn former(
    store: &Store,
    web: &LoadedWeb,
    (choice, rules): (&WebChoice, &Rules),
    earlier: Earlier,
    seeds: Vec<SeedRecord>,
    watch: &dyn Watch,
) -> Result<Option<Former>, EngineError> {
    // A link anywhere changes PageRank everywhere.
    if choice.value_by == ValueBy::Pagerank {
        return Ok(None);
    }
    watch.stage("what changed", None);
    let numbers = Numbers::new(&web.pages);
    let mut picks = Vec::with_capacity(seeds.len());
    let mut since = earlier.refresh;
    // By rank, from 0: the place of the seed in the order of picks, from 0.
    let mut places = Vec::with_capacity(seeds.len());
    for seed in seeds {
        let SeedEvidence::Web(evidence) = seed.evidence else {
            return Ok(None);
        };
        let Some(gain) = evidence.gain else {
            return Ok(None);
        };
        let next = evidence.next.into_iter();
        let pick = FormerPick {
            page: numbers.of(seed.page),
            gain: millionths(gain),
            next: next
                .map(|(page, gain)| (numbers.of(page), millionths(gain)))
                .collect(),
        };
        since = evidence.since;
        places.push(evidence.pick.saturating_sub(1));
        picks.push((evidence.pick, pick));
    }
    picks.sort_unstable_by_key(|(pick, _)| *pick);
    let then = Then::of(store, (web, &numbers), (choice, rules), earlier, watch)?;
    let lost = then.as_ref().map_or(0, |then| then.lost().len());
    let number = |page: PageId| match &then {
        Some(then) => then.number(page),
        None => numbers.of(page),
    };
    let mut former = Former {
        picks: picks.into_iter().map(|(_, pick)| pick).collect(),
        rounds: vec![NONE; web.pages.len() + lost],
        margins: vec![0; web.pages.len()],
        ..Former::default()
    };
    for entry in store.scan_under(&tables::REACH, &since.bytes())? {
        watch.proceed()?;
        let (key, block) = entry?;
        for (place, reach) in block.0 {
            let index = key.block.saturating_mul(BLOCK).saturating_add(place);
            let Some(page) = number(PageId::new(key.site, index)) else {
                continue;
            };
            if let Some(covered) = reach.covered {
                let rank = covered.pick.saturating_sub(1) as usize;
                former.rounds[page as usize] = places.get(rank).copied().unwrap_or(NONE);
            } else if let Some(score) = reach.score {
                former.rest.push((page, millionths(score)));
            }
            if let (Some(margin), Some(of_page)) =
                (reach.margin, former.margins.get_mut(page as usize))
            {
                *of_page = margin.millionths();
            }
        }
    }
    former.rest.sort_unstable();
    former.changes = match then {
        Some(then) => then.changes(watch)?,
        None => perhaps_changed(store, web, choice, earlier, &numbers, watch)?,
    };
    Ok(Some(former))
}

/// A gain as it was before it was written in units. Gains are below 2^52 millionths wherever a web
/// has fewer pages than that at prices of a few units; a larger one would be rounded, and so is not
/// followed: it is worked out anew with the pages around it.
fn millionths(units: f64) -> i64 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a number of millionths that was divided by a million"
    )]
    let millionths = (units * 1e6).round() as i64;
    millionths
}

/// The pages that may have other values or links.
fn perhaps_changed(
    store: &Store,
    web: &LoadedWeb,
    choice: &WebChoice,
    earlier: Earlier,
    numbers: &Numbers,
    watch: &dyn Watch,
) -> Result<Changes, EngineError> {
    let mut revalued = BTreeSet::new();
    let mut relinked = BTreeSet::new();
    let by_outlinks = choice.p_uniq.is_none_or(|share| share.0 != 0);
    // Batches do not keep what clicks and qualities were.
    let by_attributes =
        choice.weights.clicked != choice.weights.base || choice.weights.quality.0 != 0;
    for batch in earlier.batch + 1..=earlier.today {
        let pages = store.need(&tables::BITMAPS, &BitmapKey::Changed(batch))?;
        for page in pages.iter().map(PageId) {
            watch.proceed()?;
            let Some(number) = numbers.of(page) else {
                let sources = store.linking(page)?;
                relinked.extend(sources.into_iter().filter_map(|source| numbers.of(source)));
                continue;
            };
            relinked.insert(number);
            // Of a page that lost or gained links alone, a batch keeps the former row.
            let is_other = match store.get(&tables::FORMER_PAGES, &(batch, page))? {
                Some(former) => {
                    let mark = web.marks[number as usize];
                    let crawled = former.state == PageState::Crawled;
                    let is_same = (former.spam, crawled) == (mark.spam, mark.crawled);
                    // One that comes back is new to those that link to it.
                    !former.state.is_live() || !is_same
                }
                None => false,
            };
            if by_outlinks || by_attributes || is_other {
                revalued.insert(number);
            }
            if by_outlinks {
                revalued.extend(web.graph.predecessors().list(number));
            }
        }
    }
    if choice.p_uniq.is_none() {
        let sites = changed_sites(store, earlier.batch)?;
        let of_sites = (0..).zip(&web.pages);
        let of_sites = of_sites.filter(|(_, page)| sites.contains(&page.site()));
        revalued.extend(of_sites.map(|(number, _)| number));
    }
    if by_outlinks {
        // Pages that linked to one that is gone have one uncrawled outlink less.
        revalued.extend(&relinked);
    }
    Ok(Changes::Unknown {
        revalued: revalued.into_iter().collect(),
        relinked: relinked.into_iter().collect(),
    })
}

/// Sites whose values may be others since a batch.
fn changed_sites(store: &Store, batch: BatchId) -> Result<BTreeSet<SiteId>, StoreError> {
    let mut sites = BTreeSet::new();
    for entry in store.scan(&tables::SITES)? {
        let (site, record) = entry?;
        if record.cover_changed > batch {
            sites.insert(site);
        }
    }
    Ok(sites)
}
