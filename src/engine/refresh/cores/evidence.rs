//! Stored evidence of a refresh by cores, from which any page can be explained without reading
//! links: the pages of cores, the figures by which cores are compared, and evidence for every page
//! on inter-site links. [`seedbank_store::evidence`] describes the layout.

use std::collections::{BTreeMap, BTreeSet};

use super::page_evidence::{NewPageEvidence, SeriesRefresh, Written};
use crate::engine::Result;
use seedbank_algorithms::cores::{Core, Rule, Selection};
use seedbank_algorithms::cover::order_by_score;
use seedbank_algorithms::graph::number;
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_algorithms::rank::TIED;
use seedbank_store::evidence::{CoreEvidence, Member, SidePlace};
use seedbank_store::records::RefreshId;
use seedbank_store::{Changes, Store, StoreError, tables};

/// Maximum number of authorities of a core that an explanation names.
const MAX_NAMED: usize = 3;

/// Evidence to be stored.
pub(crate) struct CoresEvidence {
    members: Vec<(PageId, Member)>,
    /// `since`, the first of the consecutive refreshes in which a page has been a seed, is set when
    /// they are stored.
    cores: Vec<CoreEvidence>,
    standings: NewPageEvidence,
}

/// Collects the evidence of a selection. `pages` has the page of each number.
pub(crate) fn gather(
    pages: &[PageId],
    selection: &Selection,
    rule: Rule,
    standings: NewPageEvidence,
) -> CoresEvidence {
    let mut members = Vec::new();
    let mut cores = Vec::new();
    for ((rank, core), leads_to) in (1..).zip(&selection.cores).zip(&selection.led_to) {
        let of_hubs = places(&core.hubs, &core.hub_scores);
        let of_authorities = places(&core.authorities, &core.authority_scores);
        cores.push(core_evidence(pages, core, &of_hubs, rule, leads_to));
        let mut of_core: BTreeMap<u32, Member> = BTreeMap::new();
        let nothing = Member {
            core: rank,
            hub: None,
            authority: None,
        };
        for (&page, place) in core.hubs.iter().zip(of_hubs) {
            of_core.entry(page).or_insert(nothing).hub = Some(place);
        }
        for (&page, place) in core.authorities.iter().zip(of_authorities) {
            of_core.entry(page).or_insert(nothing).authority = Some(place);
        }
        let of_core = of_core.into_iter();
        members.extend(of_core.map(|(page, member)| (pages[page as usize], member)));
    }
    CoresEvidence {
        members,
        cores,
        standings,
    }
}

/// Ranks pages, whose numbers are in URL order, by score: by the rule of ties, so that rounding decides no rank.
fn places(pages: &[u32], scores: &[f64]) -> Vec<SidePlace> {
    let mut by_url: Vec<usize> = (0..pages.len()).collect();
    by_url.sort_unstable_by_key(|&at| pages[at]);
    let scores_by_url: Vec<f64> = by_url.iter().map(|&at| scores[at]).collect();
    let order = order_by_score(&scores_by_url, pages.len());
    let mut ranks = vec![0; pages.len()];
    for (at, rank) in order.into_iter().zip(1..) {
        ranks[by_url[at as usize]] = rank;
    }
    let taken = (1..).zip(scores).zip(ranks);
    taken
        .map(|((taken, &score), rank)| SidePlace { taken, rank, score })
        .collect()
}

fn core_evidence(
    pages: &[PageId],
    core: &Core,
    of_hubs: &[SidePlace],
    rule: Rule,
    leads_to: &[u32],
) -> CoreEvidence {
    let page = |n: u32| pages[n as usize];
    let sites = |numbers: &[u32]| -> u32 {
        let sites: BTreeSet<SiteId> = numbers.iter().map(|&n| page(n).site()).collect();
        number(sites.len())
    };
    let at_seed = core.hubs.iter().position(|hub| *hub == core.seed);
    let others = of_hubs
        .iter()
        .zip(&core.hubs)
        .filter(|(_, hub)| **hub != core.seed);
    let runner_up = others.min_by_key(|(place, _)| place.rank);
    let weakest = |pages: &[u32], scores: &[f64]| -> (PageId, f64) {
        // Of tied pages the last by URL is named, so that rounding does not decide.
        let least = scores.iter().copied().min_by(f64::total_cmp).unwrap_or(0.0);
        let tied = pages
            .iter()
            .zip(scores)
            .filter(|(_, score)| **score <= least * (1.0 + TIED));
        let found = tied.max_by_key(|(page, _)| **page);
        found.map_or((page(core.seed), 0.0), |(&n, &score)| (page(n), score))
    };
    let (h, a) = (core.hubs.len() as u64, core.authorities.len() as u64);
    // Number of links that one more member would need by the rule of the core.
    let needs = |hubs: u64, authorities: u64| -> u64 {
        let Rule::Density { density, .. } = rule else {
            return 1;
        };
        let edges = density.edges_needed(hubs, authorities);
        let missing = edges.saturating_sub(u128::from(core.edges)).max(1);
        u64::try_from(missing).unwrap_or(u64::MAX)
    };
    CoreEvidence {
        sigma: core.sigma,
        edges: core.edges,
        hubs: number(core.hubs.len()),
        authorities: number(core.authorities.len()),
        authority_sites: sites(&core.authorities),
        seed: page(core.seed),
        gives_seed: core.gives_seed,
        seed_place: at_seed.map_or(
            SidePlace {
                taken: 0,
                rank: 0,
                score: 0.0,
            },
            |at| of_hubs[at],
        ),
        since: 0,
        leads_to: number(leads_to.len()),
        leads_to_sites: sites(leads_to),
        first: leads_to.iter().take(MAX_NAMED).map(|&n| page(n)).collect(),
        runner_up: runner_up.map(|(place, &hub)| (page(hub), place.score)),
        weakest_hub: weakest(&core.hubs, &core.hub_scores),
        weakest_authority: weakest(&core.authorities, &core.authority_scores),
        hub_needs: needs(h + 1, a),
        authority_needs: needs(h, a + 1),
    }
}

impl CoresEvidence {
    /// Adds the evidence to `changes`; of pages, only what differs from the plan's previous
    /// refresh. Returns what was written of page evidence. `counted` is the number of pages in
    /// components.
    ///
    /// Cost besides writing: one scan of the series, if the whole graph was loaded.
    pub(crate) fn put(
        &self,
        store: &Store,
        changes: &mut Changes,
        plan: &str,
        refresh: RefreshId,
        counted: u64,
    ) -> Result<Written> {
        for (page, member) in &self.members {
            changes.put(&tables::CORE_MEMBERS, &(refresh, *page), member)?;
        }
        let plan = store.get(&tables::PLANS, &plan.to_owned())?;
        let previous = plan.map(|plan| plan.last_refresh);
        let since = previous.map_or_else(|| Ok(BTreeMap::new()), |p| seeds_since(store, p))?;
        for (rank, core) in (1..).zip(&self.cores) {
            let mut core = core.clone();
            core.since = since.get(&core.seed).copied().unwrap_or(refresh);
            changes.put(&tables::CORE_EVIDENCE, &(refresh, rank), &core)?;
        }
        let record = match previous {
            Some(previous) => store.get(&tables::REFRESHES, &previous)?,
            None => None,
        };
        let previous_series = record.and_then(|record| record.standings);
        let series = previous_series.map_or(refresh, |previous_series| previous_series.series);
        self.standings
            .put(store, changes, SeriesRefresh { series, refresh }, counted)
    }
}

/// Returns the seeds of a refresh, each with the first of the consecutive refreshes in which it has
/// been a seed.
fn seeds_since(store: &Store, refresh: RefreshId) -> Result<BTreeMap<PageId, RefreshId>> {
    let mut since = BTreeMap::new();
    for entry in store.scan_under(&tables::CORE_EVIDENCE, &refresh.to_be_bytes())? {
        let (_, core) = entry?;
        if core.gives_seed {
            since.insert(core.seed, core.since);
        }
    }
    Ok(since)
}

/// Deletes the members and cores of a refresh.
pub(crate) fn delete_refresh(
    store: &Store,
    changes: &mut Changes,
    refresh: RefreshId,
) -> Result<(), StoreError> {
    let prefix = refresh.to_be_bytes();
    changes.delete_under(store, &tables::CORE_MEMBERS, &prefix)?;
    changes.delete_under(store, &tables::CORE_EVIDENCE, &prefix)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_scores_are_ranked_by_url_whatever_their_last_bits() {
        let (best, next) = (0.5, 0.25);
        let last_bit = f64::EPSILON;
        // In the order of extraction; numbers are in URL order.
        let pages = [4, 1, 3, 0, 2];
        for sign in [-1.0, 1.0] {
            let scores = [
                best,
                best + sign * last_bit,
                next,
                next + sign * last_bit,
                0.0,
            ];
            let ranks: Vec<u32> = places(&pages, &scores)
                .iter()
                .map(|place| place.rank)
                .collect();
            assert_eq!(ranks, [2, 1, 4, 3, 5]);
        }
    }
}
