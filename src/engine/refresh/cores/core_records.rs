//! The records of cores.

use std::collections::BTreeMap;

use crate::engine::Result;
use seedbank_algorithms::cores::{Core, Selection};
use seedbank_algorithms::page::{PageId, PageSet};
use seedbank_store::component_cache::CoreOrigin;
use seedbank_store::records::{CoreRecord, RefreshId};
use seedbank_store::tables::{self, CoreScoresKey, CoreScoresPart, PageSetKey};
use seedbank_store::{Changes, Store, member_order};

/// Gives cores with the members of a core of the previous refresh its origin, so that the evidence of the
/// pages near them is written only where it changed.
///
/// Cost: the cores of the previous refresh.
pub(super) fn keep_origins(
    store: &Store,
    previous: RefreshId,
    pages: &[PageId],
    selection: &mut Selection,
) -> Result<()> {
    let prefix = previous.to_be_bytes();
    let mut origins: BTreeMap<u32, CoreOrigin> = BTreeMap::new();
    for entry in store.scan_under(&tables::CORE_ORIGINS, &prefix)? {
        let (key, rank) = entry?;
        origins.insert(rank, key.origin);
    }
    // Cores have no hub in common, so that the first one identifies a core.
    let mut cores: BTreeMap<PageId, (u32, CoreRecord)> = BTreeMap::new();
    for entry in store.scan_under(&tables::CORES, &prefix)? {
        let ((_, rank), core) = entry?;
        if let Some(first) = core.hubs.first() {
            cores.insert(*first, (rank, core));
        }
    }
    for (origin, core) in selection.origins.iter_mut().zip(&selection.cores) {
        let core = core_record(pages, core);
        let stored = core.hubs.first().and_then(|first| cores.get(first));
        if let Some((rank, _)) = stored.filter(|(_, stored)| stored.has_members_of(&core)) {
            *origin = origins.get(rank).map(|origin| origin.packed());
        }
    }
    Ok(())
}

/// Returns the record of a core. `pages` has the page of each number.
fn core_record(pages: &[PageId], core: &Core) -> CoreRecord {
    let page = |number: &u32| pages[*number as usize];
    CoreRecord {
        sigma: core.sigma,
        edges: core.edges,
        hubs: core.hubs.iter().map(page).collect(),
        authorities: core.authorities.iter().map(page).collect(),
        sides: member_order::pack(&core.sides),
        seed: page(&core.seed),
        gives_seed: core.gives_seed,
    }
}

/// Adds the cores of a selection to `changes`, with their scores and the set of their pages. `pages` has the page of each
/// number.
pub(super) fn put_cores(
    changes: &mut Changes,
    refresh: RefreshId,
    pages: &[PageId],
    selection: &Selection,
) -> Result<()> {
    let mut removed = PageSet::new();
    for (rank, core) in (1_u32..).zip(&selection.cores) {
        let record = core_record(pages, core);
        removed.extend(
            record
                .hubs
                .iter()
                .chain(&record.authorities)
                .map(|page| page.0),
        );
        changes.put(&tables::CORES, &(refresh, rank), &record)?;
        let bound = core.sigma_bound.map(|bound| vec![bound]);
        let convergence = core
            .convergence
            .map(|of| vec![of.residual, of.sigma_change]);
        for (side, scores) in [
            (CoreScoresPart::Hubs, Some(&core.hub_scores)),
            (CoreScoresPart::Authorities, Some(&core.authority_scores)),
            (CoreScoresPart::Bound, bound.as_ref()),
            (CoreScoresPart::Convergence, convergence.as_ref()),
        ] {
            let key = CoreScoresKey {
                refresh,
                rank,
                side,
            };
            if let Some(scores) = scores {
                changes.put(&tables::CORE_SCORES, &key, scores)?;
            }
        }
    }
    Ok(changes.put_page_set(PageSetKey::Removed(refresh), &removed)?)
}
