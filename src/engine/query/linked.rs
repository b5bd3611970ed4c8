//! Pages linked with a page, in parts.
//!
//! Millions of pages may link to a page. To return a part of them, the pages are counted by site, and
//! only the sites that contain the requested part are read.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::answers::Which;
use super::nearest;
use super::page_facts::{in_name_order, in_url_order, targets_by_site};
use super::views::Views;
use crate::engine::{Bank, EngineError};
use roaring::RoaringBitmap;
use schemars::JsonSchema;
use seedbank_algorithms::page::{PageId, RowId, SiteId};
use seedbank_formats::ingest::{self, URL_PATTERN};
use seedbank_store::records::{CoreRecord, PageRecord, PageState, RefreshId};
use seedbank_store::{StoreError, tables};
use serde::{Deserialize, Serialize};

/// Direction of links, seen from a page.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LinkDirection {
    /// Links to the page.
    #[default]
    In,
    /// Links from the page.
    Out,
}

impl LinkDirection {
    /// Returns the name on the command line and in answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::In => "in",
            Self::Out => "out",
        }
    }
}

/// Selects a part of the pages linked with a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkedRequest {
    /// Direction of the links.
    pub direction: LinkDirection,
    /// Restricts the pages to one site, by its name or by a URL of one of its pages; `None` for all sites.
    pub site: Option<String>,
    /// Number of pages to skip.
    pub offset: u64,
    /// Maximum number of pages to return.
    pub limit: usize,
}

impl Default for LinkedRequest {
    fn default() -> Self {
        Self {
            direction: LinkDirection::default(),
            site: None,
            offset: 0,
            limit: 100,
        }
    }
}

/// Part of the pages linked with a page.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// let request = LinkedRequest { offset: 1, ..LinkedRequest::default() };
/// let linking = bank.linked("http://x.example/", &request)?;
/// assert_eq!((linking.pages, linking.linked.len()), (2, 1));
/// assert_eq!(linking.linked[0].url, "http://b.example/");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct LinkedPages {
    /// Normalised URL of the page.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Direction of the links.
    pub direction: LinkDirection,
    /// Site of the pages, if the request restricted them to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// Total number of linked pages.
    pub pages: u64,
    /// Number of pages skipped.
    pub offset: u64,
    /// The next pages, by site name and then by URL.
    pub linked: Vec<LinkedPage>,
}

/// Page linked with another one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LinkedPage {
    /// URL of the page.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Site of the page.
    pub site: String,
    /// Known, crawled, or gone.
    pub state: PageState,
    /// Spam mark of the page, or else of its site.
    pub spam: bool,
    /// Names of the plans in whose last refresh it is a seed.
    pub seed_of: Vec<String>,
}

impl Bank {
    /// Returns a part of the pages that link to a page, or that it links to, by site name and then by URL.
    ///
    /// A link to an alias of the page counts as a link to the page, and an alias itself has no links. The
    /// URL may have any form that ingest accepts.
    ///
    /// # Errors
    ///
    /// [`EngineError::UnknownPage`] if the bank does not contain the page, [`EngineError::UnknownSite`] if it does
    /// not contain the site.
    ///
    /// Cost: the rows that link to the page and the pages that share each row; site names up to the last
    /// one needed; the linked pages of each site in the returned part. Memory: a count per site, and the
    /// pages of one site.
    pub fn linked(&self, url: &str, request: &LinkedRequest) -> Result<LinkedPages, EngineError> {
        let views = Views::open(self)?;
        let (location, page, record) = nearest::resolve_page(&views, url)?;
        let only = match &request.site {
            Some(site) => Some(nearest::resolve_site(&views, site)?),
            None => None,
        };
        let (pages, entries) = match request.direction {
            LinkDirection::In => {
                let pages_of = |site| views.reader.linking_from(page, site);
                let counts = || views.reader.linking_sites(page);
                page_of(&views, only.as_ref(), counts, pages_of, request)
            }
            LinkDirection::Out => {
                let targets = targets_by_site(&views, page, &record)?;
                let pages_of = |site| Ok(targets.get(&site).cloned().unwrap_or_default());
                let counts = targets.iter().map(|(site, pages)| (*site, pages.len()));
                let counts = || Ok(counts.collect());
                page_of(&views, only.as_ref(), counts, pages_of, request)
            }
        }?;
        Ok(LinkedPages {
            url: location.url(views.naming.sites),
            direction: request.direction,
            site: only.map(|(name, _)| name),
            pages,
            offset: request.offset,
            linked: linked_pages(&views, entries)?,
        })
    }
}

/// Page with its site and its URL below the site.
type Entry = (PageId, String, String);

/// Returns the number of linked pages, and the requested part of them.
fn page_of(
    views: &Views,
    only: Option<&(String, SiteId)>,
    counts: impl FnOnce() -> Result<Vec<(SiteId, u64)>, StoreError>,
    pages_of: impl Fn(SiteId) -> Result<RoaringBitmap, StoreError>,
    request: &LinkedRequest,
) -> Result<(u64, Vec<Entry>), StoreError> {
    let Some((name, site)) = only else {
        return page_over_sites(views, &counts()?, pages_of, request);
    };
    let pages = pages_of(*site)?;
    let entries = in_url_order(views, *site, &pages, request.offset, request.limit)?;
    let entries = entries.into_iter();
    let entries = entries.map(|(page, local)| (page, name.clone(), local));
    Ok((pages.len(), entries.collect()))
}

/// Returns the number of linked pages of all sites, and the requested part of them.
fn page_over_sites(
    views: &Views,
    counts: &[(SiteId, u64)],
    pages_of: impl Fn(SiteId) -> Result<RoaringBitmap, StoreError>,
    request: &LinkedRequest,
) -> Result<(u64, Vec<Entry>), StoreError> {
    let all = counts.iter().map(|(_, pages)| pages).sum();
    let (mut before, mut entries) = (0_u64, Vec::new());
    if request.offset >= all || request.limit == 0 {
        return Ok((all, entries));
    }
    in_name_order(views, counts, |(site, name, pages)| {
        let passed = request.offset.saturating_sub(before);
        before += pages;
        if passed < pages {
            let room = request.limit - entries.len();
            let of_site = in_url_order(views, site, &pages_of(site)?, passed, room)?;
            let of_site = of_site.into_iter();
            entries.extend(of_site.map(|(page, local)| (page, name.to_owned(), local)));
        }
        Ok::<_, StoreError>(if entries.len() < request.limit {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        })
    })?;
    Ok((all, entries))
}

/// Reads the records and plans of the pages.
fn linked_pages(views: &Views, entries: Vec<Entry>) -> Result<Vec<LinkedPage>, StoreError> {
    let (mut plans, mut last) = (Vec::new(), Vec::new());
    for entry in views.reader.scan(&tables::PLANS)? {
        let (name, record) = entry?;
        plans.push(name);
        last.push(record.last_refresh);
    }
    let pages: Vec<PageId> = entries.iter().map(|(page, _, _)| *page).collect();
    let on = views.reader.on_lists(&last, &pages)?;
    let mut linked = Vec::with_capacity(entries.len());
    for ((page, site, local), on) in entries.into_iter().zip(on) {
        let record = views.reader.need(&tables::PAGES, &page)?;
        let seed_of = plans.iter().zip(&last);
        let seed_of = seed_of.filter(|(_, refresh)| on.contains(refresh));
        linked.push(LinkedPage {
            url: ingest::url(&site, &local, views.naming.sites),
            site,
            state: record.state,
            spam: record.spam,
            seed_of: seed_of.map(|(plan, _)| plan.clone()).collect(),
        });
    }
    Ok(linked)
}

// Current links from the hubs of a core to its authorities, and to other cores.
//
// A refresh stores only the number of links of a core. The links themselves are read from the current
// state.

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
