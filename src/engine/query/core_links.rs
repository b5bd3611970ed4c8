//! Current links from the hubs of a core to its authorities, and to other cores.
//!
//! A refresh stores only the number of links of a core. The links themselves are read from the current
//! state.

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

/// Maximum number of hubs, and of authorities, whose links are listed.
const LISTED: usize = 1_000;
/// Maximum number of other cores listed.
const NEIGHBOURS: usize = 10;

/// Current links of a core.
///
/// As for cores, only links between sites count, and both pages must be known or crawled. A link to an
/// alias counts as one to the page it resolves to.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::Which;
///
/// let current = bank.core_links(&Which::default(), 1)?;
/// // Both hubs link to both authorities, as when the core was found.
/// assert_eq!(current.links, [[0, 1], [0, 1]]);
/// assert_eq!((current.current_edges, current.lost_edges), (4, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CoreLinks {
    /// Number of the refresh.
    #[schemars(range(min = 1))]
    pub refresh: RefreshId,
    /// Rank of the core, from 1.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// Number of hubs. Those beyond the first 1,000 are counted only in `current_edges`.
    #[schemars(range(min = 1))]
    pub hubs: u64,
    /// Number of authorities. Those beyond the first 1,000 are counted only in `current_edges`.
    #[schemars(range(min = 1))]
    pub authorities: u64,
    /// Number of links from hubs to authorities when the refresh ran.
    #[schemars(range(min = 1))]
    pub edges: u64,
    /// Current number of links from hubs to authorities.
    pub current_edges: u64,
    /// Decrease of that number since the refresh; 0 if it did not decrease.
    pub lost_edges: u64,
    /// For each of the first 1,000 hubs, the indexes of the authorities among the first 1,000 that it
    /// currently links to, from 0, ascending. Both are in the order of the core.
    #[schemars(length(min = 1, max = LISTED))]
    pub links: Vec<Vec<u32>>,
    /// Other cores of the refresh to whose pages the first 1,000 hubs currently have the most links, at most
    /// 10; ties by rank.
    #[schemars(length(max = NEIGHBOURS))]
    pub neighbours: Vec<LinkedCore>,
}

/// Another core to which the hubs of a core link.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct LinkedCore {
    /// Rank of the core, from 1.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// Seed of the core; if it gives none, the hub that would be its seed.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub seed: String,
    /// Number of links to its hubs and authorities.
    #[schemars(range(min = 1))]
    pub links: u64,
}

impl Bank {
    /// Returns the current links from the hubs of a core to its authorities, and to other cores.
    ///
    /// # Errors
    ///
    /// [`EngineError::UnknownCore`] if there is no core of this rank.
    ///
    /// Cost: a read per page of the core and per distinct row of its hubs; for the first 1,000 hubs one or
    /// two reads per distinct page that they link to.
    pub fn core_links(&self, which: impl Into<Which>, rank: u32) -> Result<CoreLinks, EngineError> {
        let views = Views::open(self)?;
        let (refresh, record) = views.find(&which.into())?;
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
        let mut current_edges = 0;
        for (at, hub) in core.hubs.iter().enumerate() {
            let row = row(*hub, &views.reader.need(&tables::PAGES, hub)?);
            let to = rows.authorities(row)?;
            current_edges += to.len() as u64;
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
            current_edges,
            lost_edges: core.edges.saturating_sub(current_edges),
            links,
            neighbours: neighbours(&views, refresh, rank, &carried)?,
        })
    }
}

/// Returns the row of a page; `None` if it links to no other site, or is neither known nor crawled.
fn row(page: PageId, record: &PageRecord) -> Option<RowId> {
    let row = record.row.filter(|_| record.state.is_live())?;
    Some(RowId::new(page.site(), row))
}

/// Finds the authorities of a core in rows. Hubs of a site often share a row, which is read once.
struct Rows<'a> {
    views: &'a Views,
    /// Indexes of the authorities that are known or crawled.
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

    /// Returns the indexes of the authorities in a row, ascending.
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

/// Returns the other cores that rows link to. `carried` has the number of hubs with each row.
fn neighbours(
    views: &Views,
    refresh: RefreshId,
    rank: u32,
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
    // Stable sort: the cores are sorted by rank already.
    cores.sort_by_key(|(_, links)| std::cmp::Reverse(*links));
    cores.truncate(NEIGHBOURS);
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
