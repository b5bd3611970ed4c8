//! Refresh by cover: seeds for each site with crawled pages, and what is kept of them.
//!
//! A site keeps its seeds if nothing changed that cover methods see ([`SiteRecord::cover_changed`])
//! and it has the seats it had. Its records in `seeds` and `covers` are written again under the new
//! number, since ranks run through all sites. But the site is not read, and the sets of pages that
//! its seeds cover stay where they are, under the refresh that picked the seeds. So besides reading
//! and selecting on the sites that changed, a refresh costs one scan of the sites and one small
//! record for each site and seed.
//!
//! Seeds are ordered so that any head of the list is a good list: the first pick of every site
//! comes first, then the second picks, and so on. Those of one round are ordered by the value that
//! they are the first to cover (it compares across sites, which a PageRank on one site and a weight
//! on another do not), the highest first, ties by site name. Within a site that is the order of the
//! picks. Both lists, of seeds taken over and of new ones, have this order, so they are merged.
//!
//! [`SiteRecord::cover_changed`]: seedbank_store::records::SiteRecord::cover_changed

pub(crate) mod evidence;
pub(crate) mod reach;
mod seats;
mod select;
pub(crate) mod sites;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringBitmap;

use crate::engine::policy::Rules;
use crate::engine::{EngineError, PlanError};
use evidence::Picked;
use reach::put_reach;
use seats::seats;
use seedbank_algorithms::cover::Choice;
use seedbank_algorithms::page::{PageId, PageSet, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_store::records::{
    BatchId, CoverEvidence, CoverRecord, RefreshId, SeedEvidence, SeedRecord,
};
use seedbank_store::tables::{self, CoveredKey, PageSetKey};
use seedbank_store::{Changes, Store};
use select::{Kept, select};
use sites::cover_sites;

/// An earlier refresh of the plan with the same parameters.
#[derive(Clone, Copy)]
pub(crate) struct Earlier {
    pub(crate) refresh: RefreshId,
    /// The last batch of the state that it ran on.
    pub(crate) batch: BatchId,
}

/// The seeds of all sites, on their way to the store. Memory: what the new seeds cover, at most a
/// few bits per page, and some 100 bytes per site.
pub(crate) struct CoverRun {
    earlier: Option<RefreshId>,
    /// Pages that are seeds before any pick, in their order.
    pins: Vec<PageId>,
    /// Sites, by name.
    sites: Vec<(SiteId, Kept)>,
    pub(crate) page_visits: u64,
}

/// Selects on all sites that changed since `earlier`; without it, on all sites.
pub(crate) fn run(
    store: &Store,
    (choice, rules): (&Choice, &Rules),
    earlier: Option<Earlier>,
    watch: &dyn Watch,
) -> Result<CoverRun, EngineError> {
    let sites = cover_sites(store, choice, watch)?;
    let mut kept = Vec::with_capacity(sites.len());
    let mut records = earlier.map_or_else(|| Ok(BTreeMap::new()), |e| records(store, e.refresh))?;
    let pinned: BTreeSet<SiteId> = rules.pins.pages.iter().map(|pin| pin.site()).collect();
    for site in &sites {
        let record = records.remove(&site.id);
        let unchanged = earlier.is_some_and(|earlier| site.changed <= earlier.batch);
        // Pins come and go without a change that the site's record tells of.
        let is_pinned = pinned.contains(&site.id);
        kept.push(record.filter(|record| unchanged && !is_pinned && record.pinned == 0));
    }
    let seats = seats(store, &sites, &kept, (choice, rules), watch)?;
    let mut page_visits = seats.visits;
    for (kept, seats) in kept.iter_mut().zip(&seats.of_sites) {
        *kept = kept.take().filter(|record| record.seats == *seats);
    }
    let again: Vec<usize> = (0..sites.len()).filter(|&at| kept[at].is_none()).collect();
    watch.stage("select", Some(again.len() as u64));
    let mut new = select(store, &sites, &again, &seats, (choice, rules), watch)?;
    let mut all = Vec::with_capacity(sites.len());
    for (at, (site, kept)) in sites.iter().zip(kept).enumerate() {
        let of_site = match kept {
            Some(record) => Kept::Taken(record),
            None => new
                .remove(&at)
                .ok_or(EngineError::Internal("a site was left out"))?,
        };
        if let Kept::New(new) = &of_site {
            page_visits += new.record.page_visits;
        }
        all.push((site.id, of_site));
    }
    Ok(CoverRun {
        earlier: earlier.map(|earlier| earlier.refresh),
        pins: rules.pins.pages.clone(),
        sites: all,
        page_visits,
    })
}

/// What a refresh keeps of its sites.
pub(crate) fn records(
    store: &Store,
    refresh: RefreshId,
) -> Result<BTreeMap<SiteId, CoverRecord>, EngineError> {
    let mut records = BTreeMap::new();
    for entry in store.scan_under(&tables::COVERS, &refresh.to_be_bytes())? {
        let ((_, site), record) = entry?;
        records.insert(site, record);
    }
    Ok(records)
}

impl CoverRun {
    /// The refresh whose records are taken over where a site did not change.
    pub(crate) fn leans_on(&self) -> Option<RefreshId> {
        self.earlier
    }

    /// The number of sites whose seeds are taken over, and of sites that were selected on.
    pub(crate) fn steps(&self) -> (u64, u64) {
        let taken = self.sites.iter().filter(|s| matches!(s.1, Kept::Taken(_)));
        let taken = taken.count() as u64;
        (taken, self.sites.len() as u64 - taken)
    }

    /// How many seeds there are.
    pub(crate) fn seeds(&self) -> Result<u32, EngineError> {
        let seeds: u64 = self
            .sites
            .iter()
            .map(|s| s.1.record().ranks.len() as u64)
            .sum();
        let seeds = seeds + self.bare_pins().len() as u64;
        u32::try_from(seeds).map_err(|_| PlanError::TooManySeeds { seeds }.into())
    }

    /// The pins that are on no site's graph, by their places.
    fn bare_pins(&self) -> Vec<(usize, PageId)> {
        if self.pins.is_empty() {
            return Vec::new();
        }
        let new = self.sites.iter().flat_map(|(_, kept)| match kept {
            Kept::New(new) => &new.picks[..new.record.pinned as usize],
            Kept::Taken(_) => &[],
        });
        let picked: BTreeSet<PageId> = new.map(|picked| picked.page).collect();
        let pins = self.pins.iter().copied().enumerate();
        pins.filter(|(_, pin)| !picked.contains(pin)).collect()
    }

    /// The seeds, best first.
    pub(crate) fn pages(&self, store: &Store) -> Result<Vec<PageId>, EngineError> {
        let mut pages = Vec::new();
        self.each_seed(store, |_, seed| {
            pages.push(match seed {
                Ranked::New(picked) => picked.page,
                Ranked::Taken(seed) => seed.page,
                Ranked::Pin(page) => page,
            });
            Ok(())
        })?;
        Ok(pages)
    }

    /// Hands the seeds to `each` with their ranks, best first; `store` has the earlier refresh.
    fn each_seed(
        &self,
        store: &Store,
        mut each: impl FnMut(u32, Ranked<'_>) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let places = self.sites.iter().map(|s| s.0).zip(0..).collect();
        let mut new = self.new_seeds();
        new.sort_unstable_by_key(|(order, _)| *order);
        let mut new = new.into_iter().peekable();
        let mut taken = self.taken_seeds(store, &places)?.peekable();
        for rank in 1.. {
            let new_first = match (new.peek(), taken.peek()) {
                (None, None) => break,
                (Some((a, _)), Some(Ok((b, _)))) => a < b,
                (new, _) => new.is_some(),
            };
            if let Some((_, seed)) = new.next_if(|_| new_first) {
                each(rank, seed)?;
            } else if let Some(seed) = taken.next() {
                each(rank, Ranked::Taken(seed?.1))?;
            } else {
                break;
            }
        }
        Ok(())
    }

    /// The refresh that picked a site's seeds, by site, once this one is stored as `refresh`.
    pub(crate) fn picked_by(&self, refresh: RefreshId) -> BTreeMap<SiteId, RefreshId> {
        let sites = self.sites.iter();
        sites
            .map(|(site, kept)| match kept {
                Kept::Taken(record) => (*site, record.since),
                Kept::New(..) => (*site, refresh),
            })
            .collect()
    }

    /// Hands sites, seeds and covered sets to `changes`; `store` has the earlier refresh.
    pub(crate) fn put(
        &self,
        store: &Store,
        changes: &mut Changes,
        refresh: RefreshId,
    ) -> Result<(), EngineError> {
        let mut ranks: BTreeMap<SiteId, Vec<u32>> = BTreeMap::new();
        self.each_seed(store, |rank, seed| {
            let page = match seed {
                Ranked::New(picked) => {
                    put_pick(changes, refresh, rank, picked)?;
                    picked.page
                }
                Ranked::Taken(seed) => {
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
        for (site, kept) in &self.sites {
            let mut record = kept.record().clone();
            record.ranks = ranks.remove(site).unwrap_or_default();
            if let Kept::New(new) = kept {
                record.since = refresh;
                put_reach(changes, (refresh, *site), &new.picks, &new.uncovered)?;
            }
            changes.put(&tables::COVERS, &(refresh, *site), &record)?;
        }
        Ok(())
    }

    fn new_seeds(&self) -> Vec<(Order, Ranked<'_>)> {
        let pins: BTreeMap<PageId, usize> = self.pins.iter().copied().zip(0..).collect();
        let mut seeds = Vec::new();
        for (place, (_, kept)) in self.sites.iter().enumerate() {
            if let Kept::New(new) = kept {
                let (of_pins, others) = new.picks.split_at(new.record.pinned as usize);
                let pinned = of_pins.iter().filter_map(|p| {
                    let place = pins.get(&p.page)?;
                    Some((order_of_pin(*place), Ranked::New(p)))
                });
                seeds.extend(pinned);
                let ordered = others
                    .iter()
                    .map(|p| (order(&p.evidence, place), Ranked::New(p)));
                seeds.extend(ordered);
            }
        }
        let bare = self.bare_pins().into_iter();
        seeds.extend(bare.map(|(place, page)| (order_of_pin(place), Ranked::Pin(page))));
        seeds
    }

    /// The seeds that are taken over from the earlier refresh, in order.
    fn taken_seeds<'a>(
        &'a self,
        store: &'a Store,
        places: &'a BTreeMap<SiteId, usize>,
    ) -> Result<impl Iterator<Item = Result<(Order, SeedRecord), EngineError>> + 'a, EngineError>
    {
        let prefix = self.earlier.map(u32::to_be_bytes);
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
                (Kept::Taken(_), SeedEvidence::Cover(cover)) => {
                    Some(Ok((order(cover, place), seed)))
                }
                _ => None,
            }
        }))
    }
}

/// What seeds are ordered by: the pick, the value covered, the site's place by name.
type Order = (u32, Reverse<i64>, usize);

fn order(evidence: &CoverEvidence, place: usize) -> Order {
    (evidence.pick, Reverse(evidence.covered_value()), place)
}

/// Pins come before all others, in their order.
const fn order_of_pin(place: usize) -> Order {
    (0, Reverse(0), place)
}

/// A seed that has its rank.
enum Ranked<'a> {
    New(&'a Picked),
    Taken(SeedRecord),
    /// On no site's graph.
    Pin(PageId),
}

fn put_pick(
    changes: &mut Changes,
    refresh: RefreshId,
    rank: u32,
    picked: &Picked,
) -> Result<(), EngineError> {
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
            changes.put(&tables::PAGE_SETS, &PageSetKey::Covered(key), &pages)?;
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
