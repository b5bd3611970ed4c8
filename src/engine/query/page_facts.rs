//! Facts about one page: its state and attributes, its links in both directions by site, and the results
//! for it in the last refresh of each plan.
//!
//! Millions of pages may link to a page. Memory holds only a count per site and the linking pages of one
//! site at a time.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answers::AliasView;
use super::by_site::{LinksBySite, by_site};
use super::explain::{PageInPlan, page_in_plans};
use super::fetch_origin::{FetchOrigin, fetch_origin};
use super::nearest;
use super::views::{Views, uncrawled_outlinks};
use crate::engine::{Bank, EngineError};
use seedbank_algorithms::cover::Value;
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_algorithms::yields::YIELD_UNIT;
use seedbank_formats::ingest::URL_PATTERN;
use seedbank_store::aliases::AliasReference;
use seedbank_store::links::LinkKey;
use seedbank_store::records::{BatchId, Failures, PageRecord, PageState};
use seedbank_store::{Key, StoreError, tables};

/// Limits on the facts about a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageLimits {
    /// Maximum number of sites named, in each direction of links.
    pub sites: usize,
    /// Maximum number of pages named per site.
    pub examples: usize,
}

impl PageLimits {
    /// Limits of JSON answers.
    pub const AS_JSON: Self = Self {
        sites: 100,
        examples: 10,
    };
}

impl Default for PageLimits {
    fn default() -> Self {
        Self {
            sites: 10,
            examples: 3,
        }
    }
}

/// Source of an attribute of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AttributeSource {
    /// A record of the page.
    Page,
    /// A record of its site, which the page inherits.
    Site,
}

fn source_of(own: bool, any: bool) -> Option<AttributeSource> {
    match (own, any) {
        (true, _) => Some(AttributeSource::Page),
        (false, true) => Some(AttributeSource::Site),
        (false, false) => None,
    }
}

/// Facts about a page.
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
    /// Normalised URL of the page.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Site of the page.
    pub site: String,
    /// Known, crawled, gone, unlinked (no page links to it any more), or an alias.
    pub state: PageState,
    /// Target of the alias; absent for any other page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<AliasView>,
    /// Spam mark of the page, or else of its site.
    pub spam: bool,
    /// Source of the spam mark; `null` if none was given, and the page counts as not spam.
    pub spam_source: Option<AttributeSource>,
    /// Quality of the page, or else of its site, from 0 to 1; `null` if neither has one.
    pub quality: Option<Value>,
    /// Source of the quality; `null` if none was given.
    pub quality_source: Option<AttributeSource>,
    /// Number of clicks.
    pub clicks: u64,
    /// Number of uncrawled outlinks, given or counted.
    pub uncrawled_outlinks: u64,
    /// Whether a record gave that number.
    pub uncrawled_given: bool,
    /// Whether a content digest is known.
    pub digest: bool,
    /// Time of the last fetch that did not fail, in seconds since 1970 (UTC): that of the record, or else of its
    /// batch; `null` if it is not known.
    pub fetched: Option<u64>,
    /// Fetches that failed since then; absent if none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failures: Option<Failures>,
    /// What its fetches after the first brought; absent if it was not fetched twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yields: Option<PageYield>,
    /// Seed, linking page and depth of the last fetch attributed to a seed; absent if there was no such fetch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<FetchOrigin>,
    /// Batch that first mentioned the page.
    pub first_seen: SeenInBatch,
    /// Last batch with a record for the page; absent for a page known only from links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<SeenInBatch>,
    /// Pages that it links to, by site. A link to an alias counts as one to the page it resolves to.
    pub outlinks: LinksBySite,
    /// Pages that link to it or to an alias of it, by site.
    pub inlinks: LinksBySite,
    /// Aliases whose direct target it is.
    pub aliases: Aliases,
    /// Number of pages that link to it as an alias; their links count for the page it resolves to.
    pub links_to_alias: u64,
    /// Result for it in the last refresh of each plan, by plan name.
    pub plans: Vec<PageInPlan>,
}

/// What fetches of a page after the first brought, decayed with a half-life of 64 days to the time of the last
/// one.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PageYield {
    /// Days between the fetches.
    #[schemars(range(min = 0))]
    pub observed_days: f64,
    /// Links that the bank saw for the first time in these fetches.
    #[schemars(range(min = 0))]
    pub new_links: f64,
}

/// Batch that mentioned a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SeenInBatch {
    /// Number of the batch.
    #[schemars(range(min = 1))]
    pub batch: BatchId,
    /// Time of ingest, in seconds since 1970 (UTC).
    pub at: u64,
}

/// Aliases of a page.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Aliases {
    /// Number of aliases.
    pub pages: u64,
    /// First of them in URL order.
    #[schemars(inner(regex(pattern = URL_PATTERN)))]
    pub examples: Vec<String>,
}

impl Bank {
    /// Returns the facts about a page. The URL may have any form that ingest accepts.
    ///
    /// # Errors
    ///
    /// [`EngineError::UnknownPage`], with similar URLs, if the bank does not contain the page.
    ///
    /// Cost: the rows that link to the page and the pages that share each row; the linking pages of each
    /// named site; at most 20 point reads per plan, and one for each batch since its last fetch with a seed. Memory: a count per linking site, and the pages of one
    /// site.
    pub fn page(&self, url: &str, limits: PageLimits) -> Result<PageFacts, EngineError> {
        let views = Views::open(self)?;
        let (location, page, record) = nearest::resolve_page(&views, url)?;
        let (plans, views) = page_in_plans(views, page, &record)?;
        let seen = |batch: BatchId| -> Result<SeenInBatch, StoreError> {
            let at = views.reader.need(&tables::BATCHES, &batch)?.at;
            Ok(SeenInBatch { batch, at })
        };
        let (aliases, links_to_alias) = aliases(&views, page, limits.examples)?;
        let failures = views.reader.get(&tables::FAILURES, &page)?;
        let of_site = views.reader.need(&tables::SITES, &page.site())?.defaults;
        Ok(PageFacts {
            url: location.url(views.naming.sites),
            site: location.site,
            state: record.state,
            alias: views.alias(page, &record)?,
            spam: record.spam,
            spam_source: source_of(record.spam_given.is_some(), of_site.spam.is_some()),
            quality: record.quality.map(Value::from_quality),
            quality_source: source_of(record.quality_given.is_some(), record.quality.is_some()),
            clicks: record.clicks,
            uncrawled_outlinks: uncrawled_outlinks(&views, page, &record)?,
            uncrawled_given: record.uncrawled_given.is_some(),
            digest: record.digest.is_some(),
            fetched: record.fetched,
            failures,
            yields: yields(&views, page)?,
            origin: fetch_origin(&views, page, &record, failures.is_some())?,
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

fn yields(views: &Views, page: PageId) -> Result<Option<PageYield>, StoreError> {
    let (key, place) = LinkKey::of_page(page);
    let block = views.reader.get(&tables::YIELDS, &key)?;
    let units = |sum: u64| sum as f64 / YIELD_UNIT as f64;
    Ok(block
        .and_then(|block| block.at(place))
        .map(|sums| PageYield {
            observed_days: units(sums.days),
            new_links: units(sums.new),
        }))
}

fn inlinks(views: &Views, page: PageId, limits: PageLimits) -> Result<LinksBySite, EngineError> {
    let counts = views.reader.linking_sites(page)?;
    let found = by_site(views, &counts, (limits.sites, limits.examples), |site| {
        views.reader.linking_from(page, site)
    });
    Ok(found?)
}

fn outlinks(
    views: &Views,
    page: PageId,
    record: &PageRecord,
    limits: PageLimits,
) -> Result<LinksBySite, EngineError> {
    let sites = targets_by_site(views, page, record)?;
    let counts = sites.iter().map(|(site, pages)| (*site, pages.len()));
    let counts: Vec<(SiteId, u64)> = counts.collect();
    let found = by_site(views, &counts, (limits.sites, limits.examples), |site| {
        Ok(sites.get(&site).cloned().unwrap_or_default())
    });
    Ok(found?)
}

/// Returns the pages that a page links to, by site.
pub(super) fn targets_by_site(
    views: &Views,
    page: PageId,
    record: &PageRecord,
) -> Result<BTreeMap<SiteId, RoaringBitmap>, StoreError> {
    let mut sites: BTreeMap<SiteId, RoaringBitmap> = BTreeMap::new();
    for target in views.reader.links_of(page, record.row)? {
        let of_site = sites.entry(target.site()).or_default();
        of_site.insert(target.index());
    }
    Ok(sites)
}

/// Returns the aliases of a page, and the number of pages that link to it as an alias.
fn aliases(views: &Views, page: PageId, limit: usize) -> Result<(Aliases, u64), StoreError> {
    let mut found = Aliases::default();
    let mut links = 0;
    for entry in views
        .reader
        .scan_under(&tables::ALIAS_REFERENCES, &page.bytes())?
    {
        match entry? {
            ((_, _), AliasReference::Link) => links += 1,
            ((_, alias), AliasReference::Alias) => {
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
