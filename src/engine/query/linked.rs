//! Pages linked with a page, in parts.
//!
//! Millions of pages may link to a page. To return a part of them, the pages are counted by site, and
//! only the sites that contain the requested part are read.

use std::ops::ControlFlow;

use roaring::RoaringBitmap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::by_site::{in_name_order, in_url_order};
use super::nearest;
use super::page_facts::targets_by_site;
use super::views::Views;
use crate::engine::{Bank, EngineError};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_formats::ingest::{self, URL_PATTERN};
use seedbank_store::records::PageState;
use seedbank_store::{StoreError, tables};

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
