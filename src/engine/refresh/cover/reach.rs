//! Stored reach of a cover refresh: for every crawled page of a site that was selected on, its pick
//! if it is a seed, the pick and hop that cover it first, or its score after the last pick.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::evidence::{Picked, gain};
use super::sites::LoadedSite;
use crate::engine::Result;
use seedbank_algorithms::cover::{Choice, SiteCover, uncovered_scores};
use seedbank_algorithms::page::SiteId;
use seedbank_algorithms::watch::Watch;
use seedbank_store::evidence::{Covered, Reach, ReachKey};
use seedbank_store::page_blocks::{PageBlock, place};
use seedbank_store::records::RefreshId;
use seedbank_store::{Changes, Key, Store, StoreError, tables};

/// Pages that no pick covers, with their scores.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Uncovered {
    /// Page indexes.
    pages: Vec<(u32, Option<f64>)>,
    exact: bool,
}

impl Uncovered {
    /// Cost: see [`uncovered_scores`](mod@seedbank_algorithms::cover::uncovered_scores).
    pub(crate) fn compute(
        site: &LoadedSite<'_>,
        cover: &SiteCover,
        choice: &Choice,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let rest = uncovered_scores(&site.graph, cover, choice, watch)?;
        let index = |number: u32| site.pages[number as usize];
        let pages = rest.pages.into_iter();
        Ok(Self {
            pages: pages.map(|page| (index(page.page), gain(page))).collect(),
            exact: rest.exact,
        })
    }
}

/// Adds the reach of a site's crawled pages to `changes`, under the refresh that picked the seeds.
pub(crate) fn put_reach(
    changes: &mut Changes,
    refresh: RefreshId,
    site: SiteId,
    picks: &[Picked],
    uncovered: &Uncovered,
) -> Result<()> {
    let mut blocks: BTreeMap<u32, BTreeMap<u32, Reach>> = BTreeMap::new();
    let nothing = Reach {
        pick: None,
        covered: None,
        score: None,
        exact: true,
        represented_by: None,
    };
    for picked in picks {
        let pick = picked.evidence.pick;
        for (hop, pages) in (0..).zip(&picked.covered) {
            for index in pages {
                let (block, place) = place(index);
                let reach = blocks.entry(block).or_default().entry(place);
                reach.or_insert(nothing).covered = Some(Covered { pick, hop });
            }
        }
        let (block, place) = place(picked.page.index());
        let reach = blocks.entry(block).or_default().entry(place);
        reach.or_insert(nothing).pick = Some(pick);
    }
    // Pages that no pick covers have a score instead.
    for &(index, score) in &uncovered.pages {
        let (block, place) = place(index);
        let reach = blocks.entry(block).or_default().entry(place);
        let reach = reach.or_insert(nothing);
        reach.score = score;
        reach.exact = uncovered.exact;
    }
    for (block, pages) in blocks {
        let key = ReachKey {
            refresh,
            site,
            block,
        };
        changes.put(
            &tables::REACH,
            &key,
            &PageBlock(pages.into_iter().collect()),
        )?;
    }
    Ok(())
}

/// Deletes the reach of a site under the refresh that picked its seeds.
pub(crate) fn delete_site(
    store: &Store,
    changes: &mut Changes,
    of_site: (RefreshId, SiteId),
) -> Result<(), StoreError> {
    changes.delete_under(store, &tables::REACH, &of_site.bytes())?;
    Ok(())
}
