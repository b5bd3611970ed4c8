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
use super::by_site::{LinksBySite, by_site};
use super::explain::{InPlan, in_plans};
use super::nearest;
use super::views::{Views, uncrawled_outlinks};
use crate::engine::{Bank, EngineError};
use seedbank_algorithms::cover::Value;
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_formats::ingest::URL_PATTERN;
use seedbank_store::aliases::AliasReference;
use seedbank_store::records::{BatchId, PageRecord, PageState};
use seedbank_store::{Key, StoreError, tables};

/// How much is told of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageLimits {
    /// How many sites are named, of those that it links to and of those that link to it.
    pub sites: usize,
    /// How many pages of a site are named.
    pub examples: usize,
}

impl PageLimits {
    /// As much as is told as JSON, of which programs take what they need.
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
    /// [`EngineError::UnknownPage`], with the nearest pages that it knows.
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
        let of_site = views.reader.need(&tables::SITES, &page.site())?.defaults;
        Ok(PageFacts {
            url: location.url(views.naming.sites),
            site: location.site,
            state: record.state,
            alias: views.alias(page, &record)?,
            spam: record.spam,
            spam_given_of: given_of(record.spam_given.is_some(), of_site.spam.is_some()),
            quality: record.quality.map(Value::from_quality),
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

/// The pages that a page links to, by site.
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

/// The aliases that lead to a page, and how many pages link to it as an alias.
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
