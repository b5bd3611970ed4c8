//! Refresh by cover: selects seeds for each site with crawled pages.
//!
//! A site keeps its seeds if nothing that cover methods depend on has changed
//! ([`SiteRecord::cover_changed`]) and its number of seats is the same. Its records in `seeds` and
//! `covers` are copied under the new number, since ranks run through all sites. But the site is not
//! read, and the sets of pages that its seeds cover stay stored under the refresh that picked the
//! seeds. So besides reading and selecting on changed sites, a refresh costs one scan of the sites
//! and one small record for each site and seed.
//!
//! Seeds are ordered so that every prefix of the list is a good list: first the first pick of every
//! site, then the second picks, and so on. Within a round they are ordered by descending value that
//! they cover first, ties by site name. (That value is comparable across sites; a PageRank on one
//! site and a weight on another are not.) The lists of reused and of new seeds both have this
//! order, so they are merged.
//!
//! [`SiteRecord::cover_changed`]: seedbank_store::records::SiteRecord::cover_changed

pub(crate) mod evidence;
pub(crate) mod reach;
mod seat_allocation;
mod select;
mod select_sites;
pub(crate) mod site_requests;
pub(crate) mod sites;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringBitmap;

use super::run_context::RunContext;
use crate::engine::error::PlanError;
use crate::engine::{EngineError, Result};
use evidence::Picked;
use reach::put_reach;
use seat_allocation::allocate_seats;
use seedbank_algorithms::cover::Choice;
use seedbank_algorithms::page::{PageId, PageSet, SiteId};
use seedbank_store::records::{
    BatchId, CoverEvidence, CoverRecord, RefreshId, SeedEvidence, SeedRecord,
};
use seedbank_store::tables::{self, CoveredKey, PageSetKey};
use seedbank_store::{Changes, Store};
use select::{SiteSelection, select};
use sites::cover_sites;

/// Previous refresh of the plan, with the same parameters.
#[derive(Clone, Copy)]
pub(crate) struct PreviousRefresh {
    pub(crate) refresh: RefreshId,
    /// The last batch of the state that it ran on.
    pub(crate) batch: BatchId,
}

/// Seeds of all sites, to be stored. Memory: the pages that new seeds cover, at most a few bits per
/// page, and some 100 bytes per site.
pub(crate) struct CoverRun {
    previous: Option<RefreshId>,
    /// Pinned pages, which are seeds before any pick, in their order.
    pins: Vec<PageId>,
    /// Sites, by name.
    sites: Vec<(SiteId, SiteSelection)>,
    pub(crate) page_visits: u64,
}

/// Selects on all sites that changed since `previous`, or on all sites if it is `None`.
pub(crate) fn run(
    context: RunContext<'_, Choice>,
    previous: Option<PreviousRefresh>,
) -> Result<CoverRun> {
    let store = context.store;
    let pins = &context.policy.pins.pages;
    let sites = cover_sites(store, context.plan, context.watch)?;
    let mut selection = Vec::with_capacity(sites.len());
    let mut records =
        previous.map_or_else(|| Ok(BTreeMap::new()), |e| records(store, e.refresh))?;
    let pinned: BTreeSet<SiteId> = pins.iter().map(|pin| pin.site()).collect();
    for site in &sites {
        let record = records.remove(&site.id);
        let unchanged = previous.is_some_and(|previous| site.changed <= previous.batch);
        // Pins change without a change of the site's record.
        let is_pinned = pinned.contains(&site.id);
        selection.push(record.filter(|record| unchanged && !is_pinned && record.pinned == 0));
    }
    // A site with another number of seats is selected on again.
    let seats = allocate_seats(context, &sites, &selection)?;
    let mut page_visits = seats.visits;
    for (selection, seats) in selection.iter_mut().zip(&seats.of_sites) {
        *selection = selection.take().filter(|record| record.seats == *seats);
    }
    let again: Vec<usize> = (0..sites.len())
        .filter(|&at| selection[at].is_none())
        .collect();
    context.watch.stage("select", Some(again.len() as u64));
    let mut new = select(context, &sites, &again, &seats)?;
    let mut all = Vec::with_capacity(sites.len());
    for (at, (site, selection)) in sites.iter().zip(selection).enumerate() {
        let of_site = match selection {
            Some(record) => SiteSelection::Reused(record),
            None => new
                .remove(&at)
                .ok_or(EngineError::Internal("a site was not selected on"))?,
        };
        if let SiteSelection::New(new) = &of_site {
            page_visits += new.record.page_visits;
        }
        all.push((site.id, of_site));
    }
    Ok(CoverRun {
        previous: previous.map(|previous| previous.refresh),
        pins: pins.clone(),
        sites: all,
        page_visits,
    })
}

pub(crate) fn records(store: &Store, refresh: RefreshId) -> Result<BTreeMap<SiteId, CoverRecord>> {
    let mut records = BTreeMap::new();
    for entry in store.scan_under(&tables::COVERS, &refresh.to_be_bytes())? {
        let ((_, site), record) = entry?;
        records.insert(site, record);
    }
    Ok(records)
}

impl CoverRun {
    /// Numbers of sites whose seeds are reused, and of sites selected on.
    pub(crate) fn steps(&self) -> (u64, u64) {
        let reused = self
            .sites
            .iter()
            .filter(|s| matches!(s.1, SiteSelection::Reused(_)));
        let reused = reused.count() as u64;
        (reused, self.sites.len() as u64 - reused)
    }

    pub(crate) fn seeds(&self) -> Result<u32> {
        let seeds: u64 = self
            .sites
            .iter()
            .map(|s| s.1.record().ranks.len() as u64)
            .sum();
        let seeds = seeds + self.unloaded_pins().len() as u64;
        u32::try_from(seeds).map_err(|_| PlanError::TooManySeeds { seeds }.into())
    }

    /// Pins that are on no loaded site, with their positions.
    fn unloaded_pins(&self) -> Vec<(usize, PageId)> {
        if self.pins.is_empty() {
            return Vec::new();
        }
        let new = self
            .sites
            .iter()
            .flat_map(|(_, selection)| match selection {
                SiteSelection::New(new) => &new.picks[..new.record.pinned as usize],
                SiteSelection::Reused(_) => &[],
            });
        let picked: BTreeSet<PageId> = new.map(|picked| picked.page).collect();
        let pins = self.pins.iter().copied().enumerate();
        pins.filter(|(_, pin)| !picked.contains(pin)).collect()
    }

    pub(crate) fn pages(&self, store: &Store) -> Result<Vec<PageId>> {
        let mut pages = Vec::new();
        self.each_seed(store, |_, seed| {
            pages.push(match seed {
                Ranked::New(picked) => picked.page,
                Ranked::Reused(seed) => seed.page,
                Ranked::Pin(page) => page,
            });
            Ok(())
        })?;
        Ok(pages)
    }

    /// Calls `each` with the seeds and their ranks, best first. `store` contains the previous
    /// refresh.
    fn each_seed(
        &self,
        store: &Store,
        mut each: impl FnMut(u32, Ranked<'_>) -> Result<()>,
    ) -> Result<()> {
        let places = self.sites.iter().map(|s| s.0).zip(0..).collect();
        let mut new = self.new_seeds();
        new.sort_unstable_by_key(|(order, _)| *order);
        let mut new = new.into_iter().peekable();
        let mut reused = self.reused_seeds(store, &places)?.peekable();
        for rank in 1.. {
            let new_first = match (new.peek(), reused.peek()) {
                (None, None) => break,
                (Some((a, _)), Some(Ok((b, _)))) => a < b,
                (new, _) => new.is_some(),
            };
            if let Some((_, seed)) = new.next_if(|_| new_first) {
                each(rank, seed)?;
            } else if let Some(seed) = reused.next() {
                each(rank, Ranked::Reused(seed?.1))?;
            } else {
                break;
            }
        }
        Ok(())
    }

    /// Returns for each site the refresh that picked its seeds, if this one is stored as `refresh`.
    pub(crate) fn picked_by(&self, refresh: RefreshId) -> BTreeMap<SiteId, RefreshId> {
        let sites = self.sites.iter();
        sites
            .map(|(site, selection)| match selection {
                SiteSelection::Reused(record) => (*site, record.since),
                SiteSelection::New(..) => (*site, refresh),
            })
            .collect()
    }

    /// Adds sites, seeds and covered sets to `changes`. `store` contains the previous refresh.
    pub(crate) fn put(
        &self,
        store: &Store,
        changes: &mut Changes,
        refresh: RefreshId,
    ) -> Result<()> {
        let mut ranks: BTreeMap<SiteId, Vec<u32>> = BTreeMap::new();
        self.each_seed(store, |rank, seed| {
            let page = match seed {
                Ranked::New(picked) => {
                    put_pick(changes, refresh, rank, picked)?;
                    picked.page
                }
                Ranked::Reused(seed) => {
                    changes.put_seed(refresh, rank, &seed)?;
                    seed.page
                }
                Ranked::Pin(page) => {
                    let seed = SeedRecord {
                        page,
                        evidence: SeedEvidence::ByPolicy,
                        succeeds: None,
                    };
                    return Ok(changes.put_seed(refresh, rank, &seed)?);
                }
            };
            ranks.entry(page.site()).or_default().push(rank);
            Ok(())
        })?;
        for (site, selection) in &self.sites {
            let mut record = selection.record().clone();
            record.ranks = ranks.remove(site).unwrap_or_default();
            if let SiteSelection::New(new) = selection {
                record.since = refresh;
                put_reach(changes, refresh, *site, &new.picks, &new.uncovered)?;
            }
            changes.put(&tables::COVERS, &(refresh, *site), &record)?;
        }
        Ok(())
    }

    fn new_seeds(&self) -> Vec<(Order, Ranked<'_>)> {
        let pins: BTreeMap<PageId, usize> = self.pins.iter().copied().zip(0..).collect();
        let mut seeds = Vec::new();
        for (place, (_, selection)) in self.sites.iter().enumerate() {
            if let SiteSelection::New(new) = selection {
                let (of_pins, others) = new.picks.split_at(new.record.pinned as usize);
                let pinned = of_pins.iter().filter_map(|p| {
                    let place = pins.get(&p.page)?;
                    Some((pin_order(*place), Ranked::New(p)))
                });
                seeds.extend(pinned);
                let ordered = others
                    .iter()
                    .map(|p| (order(&p.evidence, place), Ranked::New(p)));
                seeds.extend(ordered);
            }
        }
        let bare = self.unloaded_pins().into_iter();
        seeds.extend(bare.map(|(place, page)| (pin_order(place), Ranked::Pin(page))));
        seeds
    }

    /// Iterates over the seeds reused from the earlier refresh, in order.
    fn reused_seeds<'a>(
        &'a self,
        store: &'a Store,
        places: &'a BTreeMap<SiteId, usize>,
    ) -> Result<impl Iterator<Item = Result<(Order, SeedRecord)>> + 'a> {
        let prefix = self.previous.map(u32::to_be_bytes);
        let seeds = match &prefix {
            Some(prefix) => Some(store.scan_under(&tables::SEEDS, prefix)?),
            None => None,
        };
        Ok(seeds.into_iter().flatten().filter_map(|entry| {
            let seed = match entry {
                Ok((_, seed)) => seed,
                Err(e) => return Some(Err(e.into())),
            };
            let place = *places.get(&seed.page.site())?;
            match (&self.sites[place].1, &seed.evidence) {
                (SiteSelection::Reused(_), SeedEvidence::Cover(cover)) => {
                    Some(Ok((order(cover, place), seed)))
                }
                _ => None,
            }
        }))
    }
}

/// Sort key of seeds: pick, covered value, position of the site by name.
type Order = (u32, Reverse<i64>, usize);

fn order(evidence: &CoverEvidence, place: usize) -> Order {
    (evidence.pick, Reverse(evidence.covered_value()), place)
}

/// Pins come before all other seeds, in their order.
const fn pin_order(place: usize) -> Order {
    (0, Reverse(0), place)
}

/// A seed with a rank.
enum Ranked<'a> {
    New(&'a Picked),
    Reused(SeedRecord),
    /// Pin that is on no loaded site.
    Pin(PageId),
}

fn put_pick(changes: &mut Changes, refresh: RefreshId, rank: u32, picked: &Picked) -> Result<()> {
    let site = picked.page.site();
    let mut evidence = picked.evidence.clone();
    evidence.since = refresh;
    for (hop, pages) in (0..).zip(&picked.covered) {
        if !pages.is_empty() {
            let key = CoveredKey {
                refresh,
                site,
                pick: evidence.pick,
                hop,
            };
            let pages = on_site(site, pages);
            changes.put_page_set(PageSetKey::Covered(key), &pages)?;
        }
    }
    let seed = SeedRecord {
        page: picked.page,
        evidence: SeedEvidence::Cover(evidence),
        succeeds: None,
    };
    Ok(changes.put_seed(refresh, rank, &seed)?)
}

fn on_site(site: SiteId, indexes: &RoaringBitmap) -> PageSet {
    PageSet::from_bitmaps([(site.0, indexes.clone())])
}
