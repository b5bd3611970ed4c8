//! All that the bank knows of one page: its state and attributes, its links both ways by site, and
//! what it is in the last refresh of each plan.
//!
//! A page may be linked from millions of others. These are counted site by site and never held
//! together: what is held is a count for each site, and one site's linking pages as a set.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answers::AliasView;
use super::explain::{InPlan, in_plans};
use super::nearest;
use super::views::{Views, uncrawled_outlinks};
use crate::cover::Value;
use crate::engine::{Bank, EngineError};
use crate::ingest::{self, URL_PATTERN};
use crate::page::{PageId, SiteId};
use crate::storage::aliases::AliasIn;
use crate::storage::records::{BatchId, PageRecord, PageState};
use crate::storage::{Key, StoreError, tables};

/// Up to so many names are read and sorted; of more, those that come first are looked for in the
/// order of the names.
const SORTED: u64 = 1000;

/// How much is told of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageLimits {
    /// How many sites are named, of those that it links to and of those that link to it.
    pub sites: usize,
    /// How many pages of a site are named.
    pub examples: usize,
}

impl Default for PageLimits {
    fn default() -> Self {
        Self {
            sites: 10,
            examples: 3,
        }
    }
}

/// Of what an attribute of a page was given.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GivenOf {
    /// Of the page itself.
    Page,
    /// Of its site, of which the page has it.
    Site,
}

fn given_of(own: bool, any: bool) -> Option<GivenOf> {
    match (own, any) {
        (true, _) => Some(GivenOf::Page),
        (false, true) => Some(GivenOf::Site),
        (false, false) => None,
    }
}

/// What the bank knows of a page.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// let facts = bank.page("http://x.example/", PageLimits::default())?;
/// assert_eq!((facts.inlinks.pages, facts.inlinks.sites), (2, 2));
/// assert_eq!(facts.inlinks.by_site[0].examples, ["http://a.example/"]);
/// assert!(matches!(facts.plans[0].why, Why::CoreMember(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PageFacts {
    /// The page, normalised.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Its site.
    pub site: String,
    /// Known, crawled, gone, unlinked (nobody links to it any longer), or an alias.
    pub state: PageState,
    /// What makes it an alias; absent where it is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<AliasView>,
    /// The spam mark: the page's own, or else its site's.
    pub spam: bool,
    /// Who gave the mark; `null` where nobody did, and the page counts as none.
    pub spam_given_of: Option<GivenOf>,
    /// Its quality, from 0 to 1: the page's own, or else its site's; `null` where neither has one.
    pub quality: Option<Value>,
    /// Who gave the quality; `null` where nobody did.
    pub quality_given_of: Option<GivenOf>,
    /// Clicks.
    pub clicks: u64,
    /// Its uncrawled outlinks, given or counted.
    pub uncrawled_outlinks: u64,
    /// Whether they were given.
    pub uncrawled_given: bool,
    /// Whether a content digest is known.
    pub digest: bool,
    /// The batch that first named the page.
    pub first_seen: Seen,
    /// The last batch with a record for the page; none for a page that is only linked to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<Seen>,
    /// The pages that it links to, by site. A link to an alias is one to where that leads.
    pub outlinks: LinksBySite,
    /// The pages that link to it, by site; those that link to an alias of it too.
    pub inlinks: LinksBySite,
    /// The aliases that lead to it, as their next page.
    pub aliases: Aliases,
    /// How many pages link to it where it is an alias: these links count for where it leads.
    pub links_to_alias: u64,
    /// What it is in the last refresh of each plan, by the names of the plans.
    pub plans: Vec<InPlan>,
}

/// A batch that named a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Seen {
    /// The batch.
    #[schemars(range(min = 1))]
    pub batch: BatchId,
    /// When it went in, in seconds since 1970 (UTC).
    pub at: u64,
}

/// Pages at the other ends of links, by site.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct LinksBySite {
    /// How many pages there are.
    pub pages: u64,
    /// On how many sites.
    pub sites: u64,
    /// The sites with the most of them, ties by name.
    pub by_site: Vec<SiteLinks>,
}

/// The pages of one site at the other ends of links.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SiteLinks {
    /// The site.
    pub site: String,
    /// How many of its pages there are.
    #[schemars(range(min = 1))]
    pub pages: u64,
    /// The first of them in the order of URLs.
    #[schemars(inner(regex(pattern = URL_PATTERN)))]
    pub examples: Vec<String>,
}

/// Aliases that lead to a page.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Aliases {
    /// How many there are.
    pub pages: u64,
    /// The first of them in the order of URLs.
    #[schemars(inner(regex(pattern = URL_PATTERN)))]
    pub examples: Vec<String>,
}

impl Bank {
    /// What the bank knows of a page.
    ///
    /// The URL may be written in any way that ingest accepts; one that the bank does not know is
    /// [`EngineError::NotKnown`], with the nearest pages that it knows.
    ///
    /// Cost: the rows that link to the page and who carries them; for each site that is named its
    /// pages that link here, and for each plan at most 20 point reads. Memory: a count for each site
    /// that links to it, and a set of pages of one site.
    pub fn page(&self, url: &str, limits: PageLimits) -> Result<PageFacts, EngineError> {
        let views = Views::open(self)?;
        let (location, page, record) = nearest::named(&views, url)?;
        let (plans, views) = in_plans(views, page, &record)?;
        let seen = |batch: BatchId| -> Result<Seen, StoreError> {
            let at = views.reader.need(&tables::BATCHES, &batch)?.at;
            Ok(Seen { batch, at })
        };
        let (aliases, links_to_alias) = aliases(&views, page, limits.examples)?;
        let of_site = views.reader.need(&tables::SITES, &page.site())?.given;
        Ok(PageFacts {
            url: location.url(views.naming.sites),
            site: location.site,
            state: record.state,
            alias: views.alias(page, &record)?,
            spam: record.spam,
            spam_given_of: given_of(record.spam_given.is_some(), of_site.spam.is_some()),
            quality: record.quality.map(Value::of_quality),
            quality_given_of: given_of(record.quality_given.is_some(), record.quality.is_some()),
            clicks: record.clicks,
            uncrawled_outlinks: uncrawled_outlinks(&views, page, &record)?,
            uncrawled_given: record.uncrawled_given.is_some(),
            digest: record.digest.is_some(),
            first_seen: seen(record.first_seen)?,
            last_seen: record.last_seen.map(seen).transpose()?,
            outlinks: outlinks(&views, page, &record, limits)?,
            inlinks: inlinks(&views, page, limits)?,
            aliases,
            links_to_alias,
            plans,
        })
    }
}

fn inlinks(views: &Views, page: PageId, limits: PageLimits) -> Result<LinksBySite, EngineError> {
    let counts = views.reader.linking_sites(page)?;
    by_site(views, &counts, limits, |site| {
        views.reader.linking_from(page, site)
    })
}

fn outlinks(
    views: &Views,
    page: PageId,
    record: &PageRecord,
    limits: PageLimits,
) -> Result<LinksBySite, EngineError> {
    let mut sites: BTreeMap<SiteId, RoaringBitmap> = BTreeMap::new();
    for target in views.reader.links_of(page, record.row)? {
        let of_site = sites.entry(target.site()).or_default();
        of_site.insert(target.index());
    }
    let counts = sites.iter().map(|(site, pages)| (*site, pages.len()));
    let counts: Vec<(SiteId, u64)> = counts.collect();
    by_site(views, &counts, limits, |site| {
        Ok(sites.get(&site).cloned().unwrap_or_default())
    })
}

/// The sites with the most pages, and the first of the pages of each.
fn by_site(
    views: &Views,
    counts: &[(SiteId, u64)],
    limits: PageLimits,
    pages_of: impl Fn(SiteId) -> Result<RoaringBitmap, StoreError>,
) -> Result<LinksBySite, EngineError> {
    let mut by_site = Vec::new();
    for (site, name, pages) in most(views, counts, limits.sites)? {
        let examples = first_of(views, site, &name, &pages_of(site)?, limits.examples)?;
        by_site.push(SiteLinks {
            site: name,
            pages,
            examples,
        });
    }
    Ok(LinksBySite {
        pages: counts.iter().map(|(_, pages)| pages).sum(),
        sites: counts.len() as u64,
        by_site,
    })
}

/// The sites with the largest counts, at most so many, ties by name.
fn most(
    views: &Views,
    counts: &[(SiteId, u64)],
    limit: usize,
) -> Result<Vec<(SiteId, String, u64)>, StoreError> {
    let mut sizes: Vec<u64> = counts.iter().map(|(_, pages)| *pages).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let Some(&least) = sizes.get(limit.min(sizes.len()).wrapping_sub(1)) else {
        return Ok(Vec::new());
    };
    let name = |site: SiteId| Ok::<_, StoreError>(views.reader.need(&tables::SITES, &site)?.name);
    let mut found = Vec::new();
    for &(site, pages) in counts.iter().filter(|(_, pages)| *pages > least) {
        found.push((site, name(site)?, pages));
    }
    let tied = || counts.iter().filter(|(_, pages)| *pages == least);
    if tied().count() as u64 <= SORTED {
        for &(site, pages) in tied() {
            found.push((site, name(site)?, pages));
        }
    } else {
        // The counts are in the order of the sites.
        let is_tied = |site: &SiteId| {
            let place = counts.binary_search_by_key(site, |(site, _)| *site);
            place.is_ok_and(|place| counts.get(place).is_some_and(|(_, pages)| *pages == least))
        };
        for entry in views.reader.scan(&tables::SITE_IDS)? {
            let (name, site) = entry?;
            if found.len() == limit {
                break;
            }
            if is_tied(&site) {
                found.push((site, name, least));
            }
        }
    }
    found.sort_by(|a, b| b.2.cmp(&a.2).then_with(|| a.1.cmp(&b.1)));
    found.truncate(limit);
    Ok(found)
}

/// The first pages of a set on a site, in the order of URLs.
fn first_of(
    views: &Views,
    site: SiteId,
    name: &str,
    pages: &RoaringBitmap,
    limit: usize,
) -> Result<Vec<String>, StoreError> {
    let mut locals = Vec::new();
    if pages.len() <= SORTED {
        for index in pages {
            let page = PageId::new(site, index);
            locals.push(views.reader.need(&tables::PAGES, &page)?.local);
        }
        locals.sort_unstable();
        locals.truncate(limit);
    } else {
        for entry in views.reader.scan_under(&tables::PAGE_IDS, &site.bytes())? {
            let ((_, local), index) = entry?;
            if locals.len() == limit {
                break;
            }
            if pages.contains(index) {
                locals.push(local);
            }
        }
    }
    let url = |local: &String| ingest::url(name, local, views.naming.sites);
    Ok(locals.iter().map(url).collect())
}

/// The aliases that lead to a page, and how many pages link to it as an alias.
fn aliases(views: &Views, page: PageId, limit: usize) -> Result<(Aliases, u64), StoreError> {
    let mut found = Aliases::default();
    let mut links = 0;
    for entry in views.reader.scan_under(&tables::ALIAS_IN, &page.bytes())? {
        match entry? {
            ((_, _), AliasIn::Links) => links += 1,
            ((_, alias), AliasIn::Leads) => {
                found.pages += 1;
                let examples = &mut found.examples;
                let url = views.name(alias)?.1;
                let place = examples.partition_point(|other| *other < url);
                if place < limit {
                    examples.insert(place, url);
                    examples.truncate(limit);
                }
            }
        }
    }
    Ok((found, links))
}
