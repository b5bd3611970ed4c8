//! Which hubs of a core link to which of its authorities today, and to which other cores they lead.
//!
//! A refresh keeps how many links a core had, and not which: they are read from the present state.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answers::Which;
use super::views::Views;
use crate::engine::{Bank, EngineError};
use seedbank_algorithms::page::{PageId, RowId};
use seedbank_formats::ingest::URL_PATTERN;
use seedbank_store::records::{CoreRecord, PageRecord, RefreshId};
use seedbank_store::{StoreError, tables};

/// Of so many hubs and so many authorities, the first, it is told who links to whom.
const LISTED: usize = 1_000;
/// So many other cores are named.
const BLOCK_LEN: usize = 10;

/// The links of a core today.
///
/// A link counts as it does for cores: it leads from one site to another, and both pages are known or
/// crawled today. A link to an alias is one to where that leads.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::Which;
///
/// let today = bank.core_links(&Which::default(), 1)?;
/// // Both hubs link to both authorities, as when the core was found.
/// assert_eq!(today.links, [[0, 1], [0, 1]]);
/// assert_eq!((today.today, today.lost), (4, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CoreLinks {
    /// The refresh.
    #[schemars(range(min = 1))]
    pub refresh: RefreshId,
    /// The core's rank, from 1.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// How many hubs the core has; those beyond the first 1,000 are only in `today`.
    #[schemars(range(min = 1))]
    pub hubs: u64,
    /// How many authorities the core has; those beyond the first 1,000 are only in `today`.
    #[schemars(range(min = 1))]
    pub authorities: u64,
    /// Links from its hubs to its authorities when the refresh ran.
    #[schemars(range(min = 1))]
    pub edges: u64,
    /// Links from its hubs to its authorities today.
    pub today: u64,
    /// How many fewer these are; 0 where there are as many or more.
    pub lost: u64,
    /// For each of the first 1,000 hubs, in the order of the core, the authorities among the first
    /// 1,000 that it links to today: their places in the order of the core, from 0, ascending.
    #[schemars(length(min = 1, max = LISTED))]
    pub links: Vec<Vec<u32>>,
    /// The other cores of the refresh to whose pages the first 1,000 hubs have the most links today, at
    /// most 10; ties by rank.
    #[schemars(length(max = BLOCK_LEN))]
    pub neighbours: Vec<LinkedCore>,
}

/// Another core that the hubs of a core link to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct LinkedCore {
    /// Its rank, from 1.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// Its seed; where it gives none, the hub that would be.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub seed: String,
    /// How many links lead to its hubs and authorities.
    #[schemars(range(min = 1))]
    pub links: u64,
}

impl Bank {
    /// Which hubs of a core link to which of its authorities today, and which other cores they link to;
    /// [`EngineError::UnknownCore`] where there is no core of this rank.
    ///
    /// Cost: a read for each page of the core and each distinct row of its hubs; for the first 1,000 hubs
    /// a read or two for each distinct page that they link to.
    pub fn core_links(&self, which: &Which, rank: u32) -> Result<CoreLinks, EngineError> {
        let views = Views::open(self)?;
        let (refresh, record) = views.find(which)?;
        let Some(core) = views.reader.get(&tables::CORES, &(refresh, rank))? else {
            return Err(EngineError::UnknownCore {
                refresh,
                rank,
                cores: record.cores,
            });
        };
        let mut rows = Rows::new(&views, &core)?;
        let mut links = Vec::with_capacity(core.hubs.len().min(LISTED));
        let mut carried: BTreeMap<RowId, u64> = BTreeMap::new();
        let mut today = 0;
        for (at, hub) in core.hubs.iter().enumerate() {
            let row = row(*hub, &views.reader.need(&tables::PAGES, hub)?);
            let to = rows.authorities(row)?;
            today += to.len() as u64;
            if at < LISTED {
                let listed = to.iter().copied().filter(|at| (*at as usize) < LISTED);
                links.push(listed.collect());
                if let Some(row) = row {
                    *carried.entry(row).or_default() += 1;
                }
            }
        }
        Ok(CoreLinks {
            refresh,
            rank,
            hubs: core.hubs.len() as u64,
            authorities: core.authorities.len() as u64,
            edges: core.edges,
            today,
            lost: core.edges.saturating_sub(today),
            links,
            neighbours: neighbours(&views, (refresh, rank), &carried)?,
        })
    }
}

/// The row of a page; `None` where it links to no other site, or is no page any more.
fn row(page: PageId, record: &PageRecord) -> Option<RowId> {
    let row = record.row.filter(|_| record.state.is_live())?;
    Some(RowId::new(page.site(), row))
}

/// To which authorities of a core rows lead. Hubs of a site often share one: each is read once.
struct Rows<'a> {
    views: &'a Views,
    /// The places of the authorities that are pages today.
    places: BTreeMap<PageId, u32>,
    read: BTreeMap<RowId, Vec<u32>>,
}

impl<'a> Rows<'a> {
    fn new(views: &'a Views, core: &CoreRecord) -> Result<Self, StoreError> {
        let mut places = BTreeMap::new();
        for (place, authority) in (0..).zip(&core.authorities) {
            if is_live(views, *authority)? {
                places.insert(*authority, place);
            }
        }
        Ok(Self {
            views,
            places,
            read: BTreeMap::new(),
        })
    }

    /// The places of the authorities, ascending.
    fn authorities(&mut self, row: Option<RowId>) -> Result<&[u32], StoreError> {
        let Some(row) = row else {
            return Ok(&[]);
        };
        if !self.read.contains_key(&row) {
            let targets = self.views.reader.need_row(row)?.into_iter();
            let mut to: Vec<u32> = targets
                .filter_map(|target| self.places.get(&target).copied())
                .collect();
            to.sort_unstable();
            self.read.insert(row, to);
        }
        Ok(self.read.get(&row).map_or(&[], Vec::as_slice))
    }
}

fn is_live(views: &Views, page: PageId) -> Result<bool, StoreError> {
    Ok(views.reader.need(&tables::PAGES, &page)?.state.is_live())
}

/// The other cores that rows lead to; each row comes with how many hubs carry it.
fn neighbours(
    views: &Views,
    (refresh, rank): (RefreshId, u32),
    carried: &BTreeMap<RowId, u64>,
) -> Result<Vec<LinkedCore>, EngineError> {
    let mut linked: BTreeMap<PageId, u64> = BTreeMap::new();
    for (row, hubs) in carried {
        for target in views.reader.need_row(*row)? {
            *linked.entry(target).or_default() += hubs;
        }
    }
    let mut cores: BTreeMap<u32, u64> = BTreeMap::new();
    for (page, links) in linked {
        let member = views.reader.get(&tables::CORE_MEMBERS, &(refresh, page))?;
        if let Some(other) = member.filter(|member| member.core != rank)
            && is_live(views, page)?
        {
            *cores.entry(other.core).or_default() += links;
        }
    }
    let mut cores: Vec<(u32, u64)> = cores.into_iter().collect();
    // They come by rank, and stay so where they are tied.
    cores.sort_by_key(|(_, links)| std::cmp::Reverse(*links));
    cores.truncate(BLOCK_LEN);
    let named = cores.into_iter().map(|(rank, links)| {
        let seed = views
            .reader
            .need(&tables::CORE_EVIDENCE, &(refresh, rank))?
            .seed;
        Ok(LinkedCore {
            rank,
            seed: views.name(seed)?.1,
            links,
        })
    });
    named.collect()
}
