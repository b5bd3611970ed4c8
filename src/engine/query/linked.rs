//! The pages that a page is linked with, some at a time.
//!
//! A page may be linked from millions of others. To tell some of them, the sites are counted, and only
//! the pages of those sites are looked at that the asked ones fall on.

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

/// Which way links go, seen from a page.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LinkDirection {
    /// From others to the page.
    #[default]
    In,
    /// From the page to others.
    Out,
}

impl LinkDirection {
    /// The name on the command line and in answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::In => "in",
            Self::Out => "out",
        }
    }
}

/// Which of the pages are entries that a page is linked with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkedRequest {
    /// Those that link to it, or those that it links to.
    pub direction: LinkDirection,
    /// Those of one site alone, by its name or a URL of a page of it; `None` for all.
    pub site: Option<String>,
    /// How many of them are passed over.
    pub offset: u64,
    /// How many are entries.
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

/// Pages that a page is linked with.
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
    /// The page that is asked about, normalised.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Whether these link to it, or it links to them.
    pub direction: LinkDirection,
    /// The site that they are on, where only those of one were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// How many there are, entries or not.
    pub pages: u64,
    /// How many of them were passed over.
    pub offset: u64,
    /// The pages after these, by the names of their sites, those of a site by URL.
    pub linked: Vec<LinkedPage>,
}

/// A page that another one is linked with.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LinkedPage {
    /// The page.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Its site.
    pub site: String,
    /// Known, crawled, or gone.
    pub state: PageState,
    /// The spam mark: the page's own, or else its site's.
    pub spam: bool,
    /// The plans in whose last refresh it is a seed, by name.
    pub seed_of: Vec<String>,
}

impl Bank {
    /// Some of the pages that link to a page, or that it links to: by the names of their sites, those
    /// of a site by URL.
    ///
    /// Links are those that count: one to an alias of the page is one to the page, and an alias has
    /// none. The URL may be written in any way that ingest accepts; one that the bank does not know is
    /// [`EngineError::NotKnown`], a site that it does not know [`EngineError::NoSite`].
    ///
    /// Cost: the rows that link to the page and who carries them; the names of the sites, up to the last
    /// one that is needed; of each site with pages that are entries, those of its pages that are linked.
    /// Memory: a count for each site, and a set of pages of one site.
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

/// A page that is entries, with its site and the rest of its URL.
type Entry = (PageId, String, String);

/// How many pages there are, of one site or of all, and those that are entries.
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

/// How many pages of all sites there are, and those that are entries.
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

/// What is entries of these pages.
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
