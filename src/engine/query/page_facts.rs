//! Facts about one page: its state and attributes, its links in both directions by site, and the results
//! for it in the last refresh of each plan.
//!
//! Millions of pages may link to a page. Memory holds only a count per site and the linking pages of one
//! site at a time.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::answers::{AliasView, Failures};
use super::canonical::{CanonicalView, canonical_view};
use super::diff::{Cause, CauseDetail, Pair, Side};
use super::explain::{PageInPlan, ReadCost, page_in_plans};
use super::nearest;
use super::views::{Views, uncrawled_outlinks};
use crate::engine::history::seed_counts::last_fetches;
use crate::engine::plan::NAME_PATTERN;
use crate::engine::{Bank, EngineError};
use roaring::RoaringBitmap;
use schemars::JsonSchema;
use seedbank_algorithms::cover::Value;
use seedbank_algorithms::page::{PageId, PageKind, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_algorithms::yields::YIELD_UNIT;
use seedbank_formats::ingest::{self, FORGOTTEN_URL, URL_PATTERN};
use seedbank_store::aliases::AliasReference;
use seedbank_store::links::LinkKey;
use seedbank_store::records::{BatchId, PageRecord, PageState, RefreshId, RefreshRecord};
use seedbank_store::{Key, StoreError, tables};
use serde::{Deserialize, Serialize};

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
    /// Known, crawled, gone, unlinked (no page links to it any more), an alias or a resource.
    pub state: PageState,
    /// What the answer to its last fetch is; a page in all states but crawled and resource.
    pub kind: PageKind,
    /// Target of the alias; absent for any other page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<AliasView>,
    /// Page that it names as canonical; absent if it names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canonical: Option<CanonicalView>,
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
    /// Fields that the last fetch did not state, with the times of the fetches that did, in seconds since 1970 (UTC); absent
    /// if there are none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stated_earlier: BTreeMap<String, u64>,
    /// Last time at which the content is known to have changed, from a sitemap, a feed or a record, in seconds since 1970
    /// (UTC); absent if none is known. After the last fetch, the page is due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<u64>,
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
        let (plans, views) = page_in_plans(views, page, &location.site, &record)?;
        let seen = |batch: BatchId| -> Result<SeenInBatch, StoreError> {
            let at = views.reader.need(&tables::BATCHES, &batch)?.at;
            Ok(SeenInBatch { batch, at })
        };
        let (aliases, links_to_alias) = aliases(&views, page, limits.examples)?;
        let failures = views
            .reader
            .get(&tables::FAILURES, &page)?
            .map(Failures::from);
        let of_site = views.reader.need(&tables::SITES, &page.site())?.defaults;
        Ok(PageFacts {
            url: location.url(views.naming.sites),
            site: location.site,
            state: record.state,
            kind: record.kind,
            alias: views.alias(page, &record)?,
            canonical: canonical_view(&views, page, &record)?,
            spam: record.spam,
            spam_source: source_of(record.spam_given.is_some(), of_site.spam.is_some()),
            quality: record.quality.map(Value::from_quality),
            quality_source: source_of(record.quality_given.is_some(), record.quality.is_some()),
            clicks: record.clicks,
            uncrawled_outlinks: uncrawled_outlinks(&views, page, &record)?,
            uncrawled_given: record.uncrawled_given.is_some(),
            digest: record.digest.is_some(),
            fetched: record.fetched,
            stated_earlier: record
                .stated_earlier()
                .map(|(field, at)| (field.name().to_owned(), at))
                .collect(),
            changed: record.changed,
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

/// Origin of the last fetch of a page that a crawler attributed to a seed, as reported by the
/// crawler.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct FetchOrigin {
    /// Batch with the fetch.
    #[schemars(range(min = 1))]
    pub batch: BatchId,
    /// Whether the fetch failed.
    pub failed: bool,
    /// Seed that the crawl came from.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub seed: String,
    /// Page by which the crawler found this one; absent if it does not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = URL_PATTERN))]
    pub via: Option<String>,
    /// Number of links from the seed; absent if the crawler does not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
}

/// Returns the origin of the last fetch of a page with a seed that is not forgotten. `is_failing`
/// tells whether the last fetch of the page failed.
pub(super) fn fetch_origin(
    views: &Views,
    page: PageId,
    record: &PageRecord,
    is_failing: bool,
) -> Result<Option<FetchOrigin>, EngineError> {
    let Some((batch, fetches)) = last_fetches(&views.reader, page, record)? else {
        return Ok(None);
    };
    let (answered, failed) = (fetches.answered, fetches.failed);
    let last = match (answered, failed) {
        (Some(fetch), None) => Some((fetch, false)),
        (Some(fetch), Some(_)) if !is_failing => Some((fetch, false)),
        (_, failed) => failed.map(|fetch| (fetch, true)),
    };
    let Some((fetch, failed)) = last else {
        return Ok(None);
    };
    let url = |page| -> Result<Option<String>, EngineError> {
        let (_, url) = views.name(page)?;
        Ok(Some(url).filter(|url| url != FORGOTTEN_URL))
    };
    let Some(seed) = url(fetch.seed)? else {
        return Ok(None);
    };
    Ok(Some(FetchOrigin {
        batch,
        failed,
        seed,
        via: match fetch.via {
            Some(via) => url(via)?,
            None => None,
        },
        depth: fetch.depth,
    }))
}

// `history URL`: the refreshes in which a page was a seed, its ranks, and why it was gained or lost.

/// History of one page.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PageHistory {
    /// URL of the page.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Current state of the page.
    pub state: PageState,
    /// Current spam mark of the page.
    pub spam: bool,
    /// Batch that first mentioned the page.
    #[schemars(range(min = 1))]
    pub first_seen: BatchId,
    /// Last batch with a record for the page; absent for a page known only from links.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub last_seen: Option<BatchId>,
    /// History by plan, ordered by plan name.
    pub plans: Vec<PlanHistory>,
    /// Reads that the answer took.
    #[serde(skip)]
    pub cost: ReadCost,
}

/// History of a page in the stored refreshes of a plan.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PlanHistory {
    /// Name of the plan.
    #[schemars(regex(pattern = NAME_PATTERN))]
    pub plan: String,
    /// Number of stored refreshes of the plan.
    pub refreshes: u32,
    /// Number of them in which the page is a seed.
    pub seed_in: u32,
    /// Refreshes in which it is a seed, and those that lost it, by number.
    pub appearances: Vec<Appearance>,
}

/// Refresh in which the page is a seed, or was lost.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Appearance {
    /// Number of the refresh.
    #[schemars(range(min = 1))]
    pub refresh: RefreshId,
    /// The last batch of the state that the refresh ran on.
    pub state_batch: BatchId,
    /// Rank of the page; absent if the refresh lost it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub rank: Option<u32>,
    /// Why it was gained or lost since the previous stored refresh, as in a diff; absent if it was kept, and
    /// in the first refresh.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// Batch that caused the change, as in a diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub batch: Option<BatchId>,
    /// Seed that the cause refers to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = URL_PATTERN))]
    pub by: Option<String>,
}

/// Stored refreshes of a plan, by number.
type Refreshes = Vec<(RefreshId, RefreshRecord)>;

impl Bank {
    /// Returns when a page was a seed in the stored refreshes of one plan, or of all. The URL may have any
    /// form that ingest accepts.
    ///
    /// Cost: one scan of the refresh records without their seeds; one entry per list that contains the
    /// page; for each gain or loss, the cost of a diff of one seed.
    pub fn page_history(&self, url: &str, plan: Option<&str>) -> Result<PageHistory, EngineError> {
        let views = Views::open(self)?;
        let (at, page, record) = nearest::resolve_page(&views, url)?;
        let mut refreshes: BTreeMap<String, Refreshes> = BTreeMap::new();
        for entry in views.reader.scan(&tables::PLANS)? {
            let (name, _) = entry?;
            if plan.is_none_or(|plan| plan == name) {
                refreshes.insert(name, Refreshes::new());
            }
        }
        if let Some(plan) = plan.filter(|_| refreshes.is_empty()) {
            return Err(EngineError::UnknownPlan(plan.to_owned()));
        }
        for entry in views.reader.scan(&tables::REFRESHES)? {
            let (refresh, record) = entry?;
            if let Some(of_plan) = refreshes.get_mut(&record.plan) {
                of_plan.push((refresh, record));
            }
        }
        let ranks = views.reader.lists_with_page(page)?.into_iter().collect();
        let lists = PageLists {
            views: &views,
            page,
            ranks,
        };
        let mut plans = Vec::with_capacity(refreshes.len());
        for (name, refreshes) in refreshes {
            plans.push(lists.plan_history(name, &refreshes, self.watch())?);
        }
        Ok(PageHistory {
            url: at.url(views.naming.sites),
            state: record.state,
            spam: record.spam,
            first_seen: record.first_seen,
            last_seen: record.last_seen,
            plans,
            cost: ReadCost {
                reads: views.reader.reads(),
                bytes: views.reader.bytes_read(),
            },
        })
    }
}

/// Page with the lists that contain it.
struct PageLists<'a> {
    views: &'a Views,
    page: PageId,
    /// Rank of the page on each list.
    ranks: BTreeMap<RefreshId, u32>,
}

impl PageLists<'_> {
    fn plan_history(
        &self,
        plan: String,
        refreshes: &[(RefreshId, RefreshRecord)],
        watch: &dyn Watch,
    ) -> Result<PlanHistory, EngineError> {
        let mut history = PlanHistory {
            plan,
            refreshes: u32::try_from(refreshes.len()).unwrap_or(u32::MAX),
            seed_in: 0,
            appearances: Vec::new(),
        };
        watch.stage("refreshes", Some(refreshes.len() as u64));
        let mut previous: Option<&(RefreshId, RefreshRecord)> = None;
        for current in refreshes {
            watch.proceed()?;
            let (refresh, record) = current;
            let rank = self.ranks.get(refresh).copied();
            let detail = match previous {
                Some(previous) if self.ranks.contains_key(&previous.0) != rank.is_some() => {
                    Some(self.cause(previous, current)?)
                }
                _ => None,
            };
            history.seed_in += u32::from(rank.is_some());
            if rank.is_some() || detail.is_some() {
                let by = detail.as_ref().and_then(|detail| detail.by);
                let by = by.map(|page| self.views.name(page)).transpose()?;
                history.appearances.push(Appearance {
                    refresh: *refresh,
                    state_batch: record.batch,
                    rank,
                    cause: detail.as_ref().map(|detail| detail.cause),
                    batch: detail.as_ref().and_then(|detail| detail.batch),
                    by: by.map(|(_, url)| url),
                });
            }
            previous = Some(current);
            watch.advance(1);
        }
        Ok(history)
    }

    /// Returns why only one of two refreshes has the page on its list.
    fn cause(
        &self,
        previous: &(RefreshId, RefreshRecord),
        current: &(RefreshId, RefreshRecord),
    ) -> Result<CauseDetail, EngineError> {
        let side = |of: &(RefreshId, RefreshRecord)| {
            let (refresh, record) = of;
            Side::from_refresh(self.views, *refresh, record.clone())
        };
        let (from, to) = (side(previous)?, side(current)?);
        let pair = Pair::new(self.views, &from, &to)?;
        if self.ranks.contains_key(&current.0) {
            pair.gained(self.page)
        } else {
            pair.lost(self.page)
        }
    }
}

// Groups linked pages by site, and orders them by site name and URL.
//
// There may be millions of pages, on as many sites. Memory holds a count per site and the pages of one
// site. Names are read only for results, or scanned in order until there are enough.

/// Maximum number of names that are read and sorted. Of more, the first ones are found by a scan in name
/// order.
const MAX_SORTED: u64 = 1000;

/// Cost of a lookup, in steps of a scan.
const SCAN_STEPS_PER_LOOKUP: u64 = 20;

/// Linked pages, grouped by site.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct LinksBySite {
    /// Number of pages.
    pub pages: u64,
    /// Number of sites.
    pub sites: u64,
    /// Sites with the most pages, ties by name.
    pub by_site: Vec<SiteLinks>,
}

/// Linked pages of one site.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SiteLinks {
    /// Name of the site.
    pub site: String,
    /// Number of its linked pages.
    #[schemars(range(min = 1))]
    pub pages: u64,
    /// First of them in URL order.
    #[schemars(inner(regex(pattern = URL_PATTERN)))]
    pub examples: Vec<String>,
}

/// Returns the sites with the most pages, and the first pages of each. `limits` are the numbers of sites
/// and of pages per site. `counts` are sorted by site.
pub(super) fn by_site(
    views: &Views,
    counts: &[(SiteId, u64)],
    limits: (usize, usize),
    pages_of: impl Fn(SiteId) -> Result<RoaringBitmap, StoreError>,
) -> Result<LinksBySite, StoreError> {
    let mut by_site = Vec::new();
    for (site, name, pages) in largest(views, counts, limits.0)? {
        let first = in_url_order(views, site, &pages_of(site)?, 0, limits.1)?;
        let url = |(_, local): &(PageId, String)| ingest::url(&name, local, views.naming.sites);
        let examples = first.iter().map(url).collect();
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

/// Returns the `limit` sites with the largest counts, ties by name. `counts` are sorted by site.
pub(super) fn largest(
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
    if tied().count() as u64 <= MAX_SORTED {
        for &(site, pages) in tied() {
            found.push((site, name(site)?, pages));
        }
    } else {
        // Too many ties to sort: scan the names in order.
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

/// Passes sites to `each` in name order until it breaks. `counts` are sorted by site.
///
/// Cost: a lookup per site, or a scan of names up to the last one passed.
pub(super) fn in_name_order<E: From<StoreError>>(
    views: &Views,
    counts: &[(SiteId, u64)],
    mut each: impl FnMut((SiteId, &str, u64)) -> Result<ControlFlow<()>, E>,
) -> Result<(), E> {
    let all = u64::from(views.reader.counters()?.next_site);
    if counts.len() as u64 <= MAX_SORTED.max(all / SCAN_STEPS_PER_LOOKUP) {
        let mut sites = Vec::with_capacity(counts.len());
        for &(site, pages) in counts {
            sites.push((
                views.reader.need(&tables::SITES, &site)?.name,
                (site, pages),
            ));
        }
        sites.sort_unstable();
        for (name, (site, pages)) in &sites {
            if each((*site, name, *pages))?.is_break() {
                break;
            }
        }
        return Ok(());
    }
    let mut left = counts.len();
    for entry in views.reader.scan(&tables::SITE_IDS)? {
        let (name, site) = entry?;
        let Ok(place) = counts.binary_search_by_key(&site, |(site, _)| *site) else {
            continue;
        };
        left -= 1;
        let pages = counts.get(place).map_or(0, |(_, pages)| *pages);
        if each((site, &name, pages))?.is_break() || left == 0 {
            break;
        }
    }
    Ok(())
}

/// Returns at most `limit` pages of a set on one site, in URL order after the first `from`, each with its
/// URL below the site.
///
/// Cost: a lookup per page of the set, or a scan of the site's URLs up to the last one returned.
pub(super) fn in_url_order(
    views: &Views,
    site: SiteId,
    pages: &RoaringBitmap,
    from: u64,
    limit: usize,
) -> Result<Vec<(PageId, String)>, StoreError> {
    let mut found = Vec::new();
    if pages.len() <= MAX_SORTED {
        for index in pages {
            let page = PageId::new(site, index);
            let local = views.reader.need(&tables::PAGES, &page)?.local;
            found.push((local, page));
        }
        found.sort_unstable();
        let after = found
            .into_iter()
            .skip(usize::try_from(from).unwrap_or(usize::MAX));
        return Ok(after
            .take(limit)
            .map(|(local, page)| (page, local))
            .collect());
    }
    let mut entries = views.reader.scan_under(&tables::PAGE_IDS, &site.bytes())?;
    let mut passed = 0;
    while found.len() < limit && passed < pages.len() {
        let next = entries.next_with(|_, local, index| {
            if !pages.contains(index) {
                return None;
            }
            passed += 1;
            (passed > from).then(|| (local.to_owned(), PageId::new(site, index)))
        })?;
        match next {
            None => break,
            Some(of_set) => found.extend(of_set),
        }
    }
    Ok(found
        .into_iter()
        .map(|(local, page)| (page, local))
        .collect())
}
