//! Facts about one site: its attributes, its pages by state, its links with other sites, duplicate
//! content, and the results for it in the last refresh of each plan.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use roaring::{RoaringBitmap, RoaringTreemap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::explain::{SiteInPlan, site_in_plans};
use super::nearest;
use super::page_facts::largest;
use super::views::Views;
use crate::engine::web_graph::{HostPage, MirroredHosts, OfSite, largest_first};
use crate::engine::{Bank, EngineError};
use seedbank_algorithms::cover::Value;
use seedbank_algorithms::fetch_status::FetchStatus;
use seedbank_algorithms::graph::number;
use seedbank_algorithms::page::{PageId, RowId, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{self, SiteMode, URL_PATTERN};
use seedbank_store::links::LinkKey;
use seedbank_store::records::{Hash128, PageRecord, PageState, SiteRecord};
use seedbank_store::{Key, tables};

/// Number of pages or blocks of links read between two checks for interruption.
const STEP: usize = 1024;

/// Limits on the facts about a site, and on the work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SiteLimits {
    /// Maximum number of sites named, in each direction of links.
    pub sites: usize,
    /// Maximum number of repeated digests returned.
    pub digests: usize,
    /// Maximum number of pages named per digest.
    pub examples: usize,
    /// Maximum number of pages of the site examined.
    pub pages: u64,
}

impl SiteLimits {
    /// Limits of JSON answers.
    pub const AS_JSON: Self = Self {
        sites: 100,
        digests: 20,
        examples: 3,
        pages: 200_000,
    };
}

impl Default for SiteLimits {
    fn default() -> Self {
        Self {
            sites: 10,
            digests: 5,
            ..Self::AS_JSON
        }
    }
}

/// Facts about a site.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// let facts = bank.site("x.example", SiteLimits::default())?;
/// assert_eq!((facts.pages.known, facts.linked_from.links), (1, 2));
/// assert_eq!(facts.linked_from.by_site[0].site, "a.example");
/// assert!(facts.complete && facts.plans.len() == 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct SiteFacts {
    /// Name of the site.
    pub site: String,
    /// Attributes from records of sites.
    pub attributes: SiteAttributes,
    /// Number of its pages by state.
    pub pages: SitePageCounts,
    /// Number of its pages whose last fetch failed, by the result of that fetch: the most frequent
    /// first.
    pub failing: Vec<FailingPages>,
    /// Number of links between its pages.
    pub intra_links: u64,
    /// Number of links from its pages to other sites.
    pub inter_links: u64,
    /// Sites that the examined pages link to.
    pub links_to: SiteLinkCounts,
    /// Sites that link to the examined pages.
    pub linked_from: SiteLinkCounts,
    /// Content digests shared by several of its pages.
    pub digests: SiteDigests,
    /// Number of examined pages whose paths repeat themselves, as those of traps do.
    pub repeating: u64,
    /// The shapes of URLs of the most examined pages, at most as many as digests.
    pub shapes: Vec<UrlShape>,
    /// Hosts that have the same pages, by the examined ones: at most as many pairs as digests.
    pub mirrored: Vec<MirroredHosts>,
    /// Number of pages examined, the first in URL order.
    pub examined: u64,
    /// Whether all pages were examined. If not, aliases, unlinked pages, links with other sites and repeated
    /// digests cover only the examined pages; all other numbers cover the whole site.
    pub complete: bool,
    /// Result for it in the last refresh of each plan, by plan name.
    pub plans: Vec<SiteInPlan>,
}

/// Attributes from records of a site; `null` if none gave the attribute.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct SiteAttributes {
    /// Quality, from 0 to 1, of pages without one of their own.
    pub quality: Option<Value>,
    /// Spam mark of pages without one of their own.
    pub spam: Option<bool>,
    /// Maximum number of pages that a crawl should fetch.
    pub quota: Option<u32>,
}

/// Number of pages of a site by state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct SitePageCounts {
    /// Known pages.
    pub known: u64,
    /// Crawled pages.
    pub crawled: u64,
    /// Gone pages.
    pub gone: u64,
    /// Documents among the crawled pages.
    pub documents: u64,
    /// Resources, which are no pages.
    pub resources: u64,
    /// Aliases.
    pub aliases: u64,
    /// Pages without links to them and without a record.
    pub unlinked: u64,
    /// Known and crawled pages with the spam mark.
    pub spam: u64,
}

/// Pages of a site whose last fetch failed with the same result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FailingPages {
    /// The result of the last fetch.
    pub status: FetchStatus,
    /// Number of pages.
    #[schemars(range(min = 1))]
    pub pages: u64,
}

/// Links between a site and others, in one direction.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct SiteLinkCounts {
    /// Number of links.
    pub links: u64,
    /// Number of pages of other sites at the other ends.
    pub pages: u64,
    /// Number of those sites.
    pub sites: u64,
    /// Sites with the most links, ties by name.
    pub by_site: Vec<LinkedSite>,
}

/// Site linked with another one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LinkedSite {
    /// Name of the site.
    pub site: String,
    /// Number of links.
    #[schemars(range(min = 1))]
    pub links: u64,
    /// Number of its pages at the other ends.
    #[schemars(range(min = 1))]
    pub pages: u64,
}

/// Content digests of a site's crawled pages.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct SiteDigests {
    /// Number of crawled pages with a digest.
    pub pages: u64,
    /// Number of distinct digests.
    pub distinct: u64,
    /// Digests of at least two pages, the most frequent first, ties by the first URL.
    pub repeated: Vec<RepeatedDigest>,
}

/// Pages of a site whose URLs differ only in numbers and in values of the query.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct UrlShape {
    /// The URLs with numbers as 0, and without the values of the query.
    pub shape: String,
    /// Number of pages.
    #[schemars(range(min = 2))]
    pub pages: u64,
}

/// Content digest of several pages of a site.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RepeatedDigest {
    /// Number of crawled pages with the digest.
    #[schemars(range(min = 2))]
    pub pages: u64,
    /// First of them in URL order.
    #[schemars(inner(regex(pattern = URL_PATTERN)))]
    pub examples: Vec<String>,
}

impl Bank {
    /// Returns the facts about a site, given by its name or by a URL of one of its pages.
    ///
    /// # Errors
    ///
    /// [`EngineError::UnknownSite`], with similar names, if the bank does not contain the site.
    ///
    /// Cost: the failed fetches of the site; the records of the examined pages, at most [`SiteLimits::pages`]; their rows, the rows that link
    /// to them, and the pages that share those; per plan the evidence about the site. Memory: a few bytes
    /// per linked page.
    pub fn site(&self, name: &str, limits: SiteLimits) -> Result<SiteFacts, EngineError> {
        let watch = self.watch();
        let views = Views::open(self)?;
        let (name, site) = nearest::resolve_site(&views, name)?;
        let (plans, views) = site_in_plans(views, site)?;
        let record: SiteRecord = views.reader.need(&tables::SITES, &site)?;
        let mut pages = Pages::new(&name, views.naming.sites, limits);
        let complete = pages.read(&views, site, &record, watch)?;
        let given = record.defaults;
        Ok(SiteFacts {
            attributes: SiteAttributes {
                quality: given.quality.map(Value::from_quality),
                spam: given.spam,
                quota: given.quota,
            },
            pages: SitePageCounts {
                known: record.known.into(),
                crawled: record.crawled.into(),
                gone: record.gone.into(),
                documents: record.documents.into(),
                resources: record.resources.into(),
                aliases: pages.aliases,
                unlinked: pages.unlinked,
                spam: record.spam.into(),
            },
            failing: failing(&views, site, watch)?,
            intra_links: record.intra_links,
            inter_links: record.inter_links,
            links_to: links_to(&views, site, &pages.rows, limits, watch)?,
            linked_from: linked_from(&views, site, &pages.examined, limits, watch)?,
            examined: pages.examined.len(),
            digests: SiteDigests {
                pages: record.with_digest.into(),
                distinct: record.distinct_digests.into(),
                repeated: pages.repeated(&views),
            },
            repeating: pages.repeating,
            shapes: pages.shapes(),
            mirrored: pages.mirrored(&views, site)?,
            complete,
            plans,
            site: name,
        })
    }
}

/// Counts the failing pages of a site by the result of the last fetch.
fn failing(
    views: &Views,
    site: SiteId,
    watch: &dyn Watch,
) -> Result<Vec<FailingPages>, EngineError> {
    let mut counts: BTreeMap<FetchStatus, u64> = BTreeMap::new();
    let prefix = site.0.to_be_bytes();
    for entry in views.reader.scan_under(&tables::FAILURES, &prefix)? {
        watch.proceed()?;
        let (_, failures) = entry?;
        *counts.entry(failures.status).or_default() += 1;
    }
    let mut failing: Vec<FailingPages> = counts
        .into_iter()
        .map(|(status, pages)| FailingPages { status, pages })
        .collect();
    failing.sort_by_key(|of| std::cmp::Reverse(of.pages));
    Ok(failing)
}

/// Number of pages with a digest, and the URLs of the first ones, below the site.
type DigestPages = (u64, Vec<String>);

/// Accumulator over the pages of a site.
struct Pages<'a> {
    site: &'a str,
    mode: SiteMode,
    limits: SiteLimits,
    examined: RoaringBitmap,
    aliases: u64,
    unlinked: u64,
    /// Number of pages with each row.
    rows: BTreeMap<u32, u64>,
    digests: HashMap<Hash128, DigestPages>,
    repeating: u64,
    shapes: HashMap<String, u64>,
    /// By scheme, host and port, the number of the host in `of_hosts`.
    hosts: BTreeMap<String, u32>,
    /// The examined pages with their states.
    of_hosts: Vec<(HostPage, PageState, u32)>,
}

impl<'a> Pages<'a> {
    fn new(site: &'a str, mode: SiteMode, limits: SiteLimits) -> Self {
        Self {
            site,
            mode,
            limits,
            examined: RoaringBitmap::new(),
            aliases: 0,
            unlinked: 0,
            rows: BTreeMap::new(),
            digests: HashMap::new(),
            repeating: 0,
            shapes: HashMap::new(),
            hosts: BTreeMap::new(),
            of_hosts: Vec::new(),
        }
    }

    /// Reads the pages of the site up to the limit; returns whether these are all.
    fn read(
        &mut self,
        views: &Views,
        site: SiteId,
        record: &SiteRecord,
        watch: &dyn Watch,
    ) -> Result<bool, EngineError> {
        let store = &views.reader;
        if u64::from(record.next_page) <= self.limits.pages {
            watch.stage("pages", Some(record.next_page.into()));
            for (number, entry) in store.scan_under(&tables::PAGES, &site.bytes())?.enumerate() {
                step(watch, number)?;
                let (page, record) = entry?;
                self.add(page.index(), record);
            }
            return Ok(true);
        }
        watch.stage("pages", Some(self.limits.pages));
        let mut entries = store.scan_under(&tables::PAGE_IDS, &site.bytes())?;
        let mut number = 0;
        while let Some(index) = entries.next_with(|_, _, index| index)? {
            if self.examined.len() >= self.limits.pages {
                return Ok(false);
            }
            step(watch, number)?;
            number += 1;
            let record = store.need(&tables::PAGES, &PageId::new(site, index))?;
            self.add(index, record);
        }
        Ok(true)
    }

    fn add(&mut self, index: u32, record: PageRecord) {
        if record.is_nameless() {
            return;
        }
        self.examined.insert(index);
        let url = ingest::url(self.site, &record.local, self.mode);
        self.repeating += u64::from(ingest::is_repeating(&url));
        *self.shapes.entry(ingest::url_shape(&url)).or_default() += 1;
        let (next, host) = (number(self.hosts.len()), &url[..ingest::host_end(&url)]);
        let host = *self.hosts.entry(host.to_owned()).or_insert(next);
        let of_host = HostPage::new(host, &url, record.digest);
        self.of_hosts.push((of_host, record.state, index));
        match record.state {
            PageState::Alias => self.aliases += 1,
            PageState::Unlinked => self.unlinked += 1,
            PageState::Known | PageState::Crawled | PageState::Gone | PageState::Resource => {}
        }
        if let Some(row) = record.row {
            *self.rows.entry(row).or_default() += 1;
        }
        if let (PageState::Crawled, Some(digest)) = (record.state, record.digest) {
            // The first URL breaks ties between digests, so one is stored even if none is returned.
            let named = self.limits.examples.max(1);
            let (pages, first) = self.digests.entry(digest).or_default();
            *pages += 1;
            let place = first.partition_point(|other| *other < record.local);
            if place < named {
                first.insert(place, record.local);
                first.truncate(named);
            }
        }
    }

    /// Returns the most frequent shapes of several pages.
    fn shapes(&mut self) -> Vec<UrlShape> {
        let shapes = std::mem::take(&mut self.shapes).into_iter();
        let mut shapes: Vec<(String, u64)> = shapes.filter(|(_, pages)| *pages > 1).collect();
        shapes.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        shapes.truncate(self.limits.digests);
        let shape = |(shape, pages)| UrlShape { shape, pages };
        shapes.into_iter().map(shape).collect()
    }

    /// Returns the mirrored hosts, those with most equal contents first.
    fn mirrored(&mut self, views: &Views, site: SiteId) -> Result<Vec<MirroredHosts>, EngineError> {
        if self.hosts.len() < 2 {
            return Ok(Vec::new());
        }
        let places: HashMap<u32, u32> = self.of_hosts.iter().map(|of| of.2).zip(0..).collect();
        let mut redirects = Vec::new();
        for (_, _, index) in self.of_hosts.iter().filter(|of| of.1 == PageState::Alias) {
            let to = views.reader.alias(PageId::new(site, *index))?;
            let to = to.filter(|to| to.site() == site);
            if let Some(to) = to.and_then(|to| places.get(&to.index())) {
                redirects.push([places[index], *to]);
            }
        }
        let (names, numbers): (Vec<&str>, Vec<u32>) = self
            .hosts
            .iter()
            .map(|(name, number)| (&**name, *number))
            .unzip();
        let by_url: HashMap<u32, u32> = numbers.into_iter().zip(0..).collect();
        let pages = self.of_hosts.iter().map(|&(mut page, ..)| {
            page.host = by_url[&page.host];
            page
        });
        let is_crawled = |place: u32| match self.of_hosts[place as usize].1 {
            PageState::Crawled => Some(true),
            PageState::Known => Some(false),
            _ => None,
        };
        let found = OfSite::find(&pages.collect::<Vec<_>>(), is_crawled, &redirects);
        let mut mirrored = found.named(|host| names[host as usize]);
        mirrored.sort_unstable_by(largest_first);
        mirrored.truncate(self.limits.digests);
        Ok(mirrored)
    }

    /// Returns the most frequent digests.
    fn repeated(&mut self, views: &Views) -> Vec<RepeatedDigest> {
        let digests = std::mem::take(&mut self.digests).into_values();
        let mut repeated: Vec<DigestPages> = digests.filter(|(pages, _)| *pages > 1).collect();
        repeated.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        repeated.truncate(self.limits.digests);
        let url = |local: &String| ingest::url(self.site, local, views.naming.sites);
        let repeated = repeated.iter().map(|(pages, first)| RepeatedDigest {
            pages: *pages,
            examples: first.iter().take(self.limits.examples).map(url).collect(),
        });
        repeated.collect()
    }
}

/// Reports the progress of a loop, and checks for interruption.
fn step(watch: &dyn Watch, number: usize) -> Result<(), EngineError> {
    if number % STEP == STEP - 1 {
        watch.proceed()?;
        watch.advance(STEP as u64);
    }
    Ok(())
}

/// Numbers of links and of linked pages, by site.
type Counts = BTreeMap<SiteId, (u64, u64)>;

/// Counts the links of a site's rows. `rows` has the number of pages with each row.
fn links_to(
    views: &Views,
    site: SiteId,
    rows: &BTreeMap<u32, u64>,
    limits: SiteLimits,
    watch: &dyn Watch,
) -> Result<SiteLinkCounts, EngineError> {
    watch.stage("links to others", Some(rows.len() as u64));
    let mut counts = Counts::new();
    let mut targets = RoaringTreemap::new();
    let rows: Vec<(LinkKey, u32, u64)> = rows
        .iter()
        .map(|(&row, &carried)| {
            let (key, place) = LinkKey::of_row(RowId::new(site, row));
            (key, place, carried)
        })
        .collect();
    for (number, of_block) in rows.chunk_by(|a, b| a.0 == b.0).enumerate() {
        step(watch, number)?;
        let Some((key, _, _)) = of_block.first() else {
            continue;
        };
        let links = views.reader.links(&tables::ROWS, *key)?;
        for (_, place, carried) in of_block {
            for target in links.at(*place) {
                counts.entry(target.site()).or_default().0 += carried;
                targets.insert(target.0);
            }
        }
    }
    for target in targets {
        counts.entry(PageId(target).site()).or_default().1 += 1;
    }
    link_counts(views, &counts, limits)
}

/// Counts the links of other sites to some pages of a site.
fn linked_from(
    views: &Views,
    site: SiteId,
    pages: &RoaringBitmap,
    limits: SiteLimits,
    watch: &dyn Watch,
) -> Result<SiteLinkCounts, EngineError> {
    let store = &views.reader;
    let mut blocks: BTreeSet<LinkKey> = BTreeSet::new();
    let mut of_block = None;
    for (number, index) in pages.iter().enumerate() {
        if number % STEP == 0 {
            watch.proceed()?;
        }
        let (key, place) = LinkKey::of_page(PageId::new(site, index));
        let citers = match of_block.take() {
            Some((other, citers)) if other == key => citers,
            _ => store.links(&tables::CITERS, key)?,
        };
        blocks.extend(citers.at(place));
        of_block = Some((key, citers));
    }
    watch.stage("links from others", Some(blocks.len() as u64));
    let mut counts = Counts::new();
    for (number, key) in blocks.into_iter().enumerate() {
        step(watch, number)?;
        for (place, targets) in store.links(&tables::ROWS, key)?.lists() {
            let links_here = targets.iter().filter(|target| target.site() == site);
            let links_here = links_here
                .filter(|target| pages.contains(target.index()))
                .count() as u64;
            if links_here == 0 {
                continue;
            }
            let row = RowId::new(key.site, key.index(place));
            let carried = store.need(&tables::ROW_MEMBERS, &row)?.pages.len();
            let (links, linking) = counts.entry(key.site).or_default();
            *links += links_here * carried;
            *linking += carried;
        }
    }
    link_counts(views, &counts, limits)
}

/// Returns the sites with the most links.
fn link_counts(
    views: &Views,
    counts: &Counts,
    limits: SiteLimits,
) -> Result<SiteLinkCounts, EngineError> {
    let links = counts.iter().map(|(site, (links, _))| (*site, *links));
    let links: Vec<(SiteId, u64)> = links.collect();
    let named = largest(views, &links, limits.sites)?;
    let by_site = named.into_iter().map(|(site, name, links)| LinkedSite {
        site: name,
        links,
        pages: counts.get(&site).map_or(0, |(_, pages)| *pages),
    });
    Ok(SiteLinkCounts {
        links: counts.values().map(|(links, _)| links).sum(),
        pages: counts.values().map(|(_, pages)| pages).sum(),
        sites: counts.len() as u64,
        by_site: by_site.collect(),
    })
}
