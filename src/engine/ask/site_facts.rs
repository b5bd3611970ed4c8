//! All that the bank knows of one site: what was given of it, its pages by state, its links with other
//! sites, content that is there more than once, and what it is in the last refresh of each plan.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use roaring::{RoaringBitmap, RoaringTreemap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::by_site::most;
use super::explain::{SiteInPlan, site_in_plans};
use super::nearest;
use super::views::Views;
use crate::engine::{Bank, EngineError};
use seedbank_algorithms::cover::Value;
use seedbank_algorithms::page::{PageId, RowId, SiteId};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{self, URL_PATTERN};
use seedbank_store::links::LinkKey;
use seedbank_store::records::{Hash128, PageRecord, PageState, SiteRecord};
use seedbank_store::{Key, tables};

/// How many pages or blocks of links are looked at between two looks at the watch.
const STEP: usize = 1024;

/// How much is told of a site, and how much work that may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SiteLimits {
    /// How many sites are named, of those that it links to and of those that link to it.
    pub sites: usize,
    /// How many repeated digests are told.
    pub digests: usize,
    /// How many pages with each of them are named.
    pub examples: usize,
    /// How many pages of the site are looked at.
    pub pages: u64,
}

impl SiteLimits {
    /// As much as is told as JSON, of which programs take what they need.
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

/// What the bank knows of a site.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// let facts = bank.site("x.example", SiteLimits::default(), &Unwatched)?;
/// assert_eq!((facts.pages.known, facts.linked_from.links), (1, 2));
/// assert_eq!(facts.linked_from.by_site[0].site, "a.example");
/// assert!(facts.complete && facts.plans.len() == 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct SiteFacts {
    /// The site.
    pub site: String,
    /// What records of sites gave of it.
    pub given: GivenOfSite,
    /// Its pages by state.
    pub pages: PagesOfSite,
    /// Links between its pages.
    pub links_inside: u64,
    /// Links from its pages to those of other sites, all of them.
    pub links_out: u64,
    /// The sites that its pages link to; of the pages that were looked at.
    pub links_to: LinksOfSite,
    /// The sites whose pages link to it; to the pages that were looked at.
    pub linked_from: LinksOfSite,
    /// Content that several of its pages have.
    pub digests: DigestsOfSite,
    /// How many of its pages were looked at, the first in the order of URLs.
    pub looked: u64,
    /// Whether these are all. If not, aliases and pages that nobody links to, links with other sites and
    /// repeated digests are those of the pages that were looked at, and the other numbers are of all.
    pub complete: bool,
    /// What it is in the last refresh of each plan, by the names of the plans.
    pub plans: Vec<SiteInPlan>,
}

/// What records of sites gave of a site; `null` where none did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GivenOfSite {
    /// The quality, from 0 to 1, of pages that have none of their own.
    pub quality: Option<Value>,
    /// The spam mark of pages whose records do not say.
    pub spam: Option<bool>,
    /// The most pages of the site that a crawl should take.
    pub quota: Option<u32>,
}

/// How many pages of a site there are of each state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct PagesOfSite {
    /// Known pages.
    pub known: u64,
    /// Crawled pages.
    pub crawled: u64,
    /// Gone pages.
    pub gone: u64,
    /// Aliases.
    pub aliases: u64,
    /// Pages that nobody links to any longer and that never had a record.
    pub unlinked: u64,
    /// Known and crawled pages with the spam mark.
    pub spam: u64,
}

/// Links of a site in one direction, with other sites.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct LinksOfSite {
    /// How many links there are.
    pub links: u64,
    /// How many pages of other sites are at their other ends.
    pub pages: u64,
    /// On how many sites.
    pub sites: u64,
    /// The sites with the most links, ties by name.
    pub by_site: Vec<LinkedSite>,
}

/// A site that another one is linked with.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LinkedSite {
    /// The site.
    pub site: String,
    /// How many links there are.
    #[schemars(range(min = 1))]
    pub links: u64,
    /// How many of its pages are at their other ends.
    #[schemars(range(min = 1))]
    pub pages: u64,
}

/// Content digests of a site's crawled pages.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct DigestsOfSite {
    /// How many crawled pages have one.
    pub pages: u64,
    /// How many different ones there are.
    pub distinct: u64,
    /// The ones that most pages have, at least two, ties by the first URL.
    pub repeated: Vec<RepeatedDigest>,
}

/// A content digest that several pages of a site have.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RepeatedDigest {
    /// How many crawled pages have it.
    #[schemars(range(min = 2))]
    pub pages: u64,
    /// The first of them in the order of URLs.
    #[schemars(inner(regex(pattern = URL_PATTERN)))]
    pub examples: Vec<String>,
}

impl Bank {
    /// What the bank knows of a site.
    ///
    /// The site is given by its name, or by a URL of one of its pages; one that the bank does not know is
    /// [`EngineError::UnknownSite`], with the nearest sites that it knows.
    ///
    /// Cost: the records of the pages that are looked at, at most [`SiteLimits::pages`], by a scan where
    /// these are all; their rows, the rows that link to them and who carries those; for each plan what is
    /// kept of the site. Memory: a few bytes for each page at the other end of a link.
    pub fn site(
        &self,
        name: &str,
        limits: SiteLimits,
        watch: &dyn Watch,
    ) -> Result<SiteFacts, EngineError> {
        let views = Views::open(self)?;
        let (name, site) = nearest::named_site(&views, name)?;
        let (plans, views) = site_in_plans(views, site)?;
        let record: SiteRecord = views.reader.need(&tables::SITES, &site)?;
        let mut pages = Pages::new(&name, limits);
        let complete = pages.look(&views, site, &record, watch)?;
        let given = record.defaults;
        Ok(SiteFacts {
            given: GivenOfSite {
                quality: given.quality.map(Value::from_quality),
                spam: given.spam,
                quota: given.quota,
            },
            pages: PagesOfSite {
                known: record.known.into(),
                crawled: record.crawled.into(),
                gone: record.gone.into(),
                aliases: pages.aliases,
                unlinked: pages.unlinked,
                spam: record.spam.into(),
            },
            links_inside: record.intra_links,
            links_out: record.inter_links,
            links_to: links_to(&views, site, &pages.rows, limits, watch)?,
            linked_from: linked_from(&views, site, &pages.looked, limits, watch)?,
            looked: pages.looked.len(),
            digests: DigestsOfSite {
                pages: record.with_digest.into(),
                distinct: record.distinct_digests.into(),
                repeated: pages.repeated(&views),
            },
            complete,
            plans,
            site: name,
        })
    }
}

/// A digest's pages: how many, and the rest of the URL of the first ones.
type OfDigest = (u64, Vec<String>);

/// What was seen of a site's pages.
struct Pages<'a> {
    site: &'a str,
    limits: SiteLimits,
    looked: RoaringBitmap,
    aliases: u64,
    unlinked: u64,
    /// How many pages carry each row.
    rows: BTreeMap<u32, u64>,
    digests: HashMap<Hash128, OfDigest>,
}

impl<'a> Pages<'a> {
    fn new(site: &'a str, limits: SiteLimits) -> Self {
        Self {
            site,
            limits,
            looked: RoaringBitmap::new(),
            aliases: 0,
            unlinked: 0,
            rows: BTreeMap::new(),
            digests: HashMap::new(),
        }
    }

    /// Looks at the pages of the site, or at the first ones; returns whether these are all.
    fn look(
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
            if self.looked.len() >= self.limits.pages {
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
        self.looked.insert(index);
        match record.state {
            PageState::Alias => self.aliases += 1,
            PageState::Unlinked => self.unlinked += 1,
            PageState::Known | PageState::Crawled | PageState::Gone => {}
        }
        if let Some(row) = record.row {
            *self.rows.entry(row).or_default() += 1;
        }
        if let (PageState::Crawled, Some(digest)) = (record.state, record.digest) {
            // The first one decides between digests with as many pages, named or not.
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

    /// The digests that most pages have.
    fn repeated(&mut self, views: &Views) -> Vec<RepeatedDigest> {
        let digests = std::mem::take(&mut self.digests).into_values();
        let mut repeated: Vec<OfDigest> = digests.filter(|(pages, _)| *pages > 1).collect();
        repeated.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        repeated.truncate(self.limits.digests);
        let url = |local: &String| ingest::url(self.site, local, views.naming.sites);
        let told = repeated.iter().map(|(pages, first)| RepeatedDigest {
            pages: *pages,
            examples: first.iter().take(self.limits.examples).map(url).collect(),
        });
        told.collect()
    }
}

/// Reports steps of a long loop, of which this is the next.
fn step(watch: &dyn Watch, number: usize) -> Result<(), EngineError> {
    if number % STEP == STEP - 1 {
        watch.proceed()?;
        watch.advance(STEP as u64);
    }
    Ok(())
}

/// Links and pages at their other ends, by site.
type Counts = BTreeMap<SiteId, (u64, u64)>;

/// The links of rows of a site, each of which so many pages carry.
fn links_to(
    views: &Views,
    site: SiteId,
    rows: &BTreeMap<u32, u64>,
    limits: SiteLimits,
    watch: &dyn Watch,
) -> Result<LinksOfSite, EngineError> {
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
    told(views, &counts, limits)
}

/// The links of other sites to some pages of a site.
fn linked_from(
    views: &Views,
    site: SiteId,
    pages: &RoaringBitmap,
    limits: SiteLimits,
    watch: &dyn Watch,
) -> Result<LinksOfSite, EngineError> {
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
            let ours = targets.iter().filter(|target| target.site() == site);
            let ours = ours.filter(|target| pages.contains(target.index())).count() as u64;
            if ours == 0 {
                continue;
            }
            let row = RowId::new(key.site, key.index(place));
            let carried = store.need(&tables::ROW_MEMBERS, &row)?.pages.len();
            let (links, linking) = counts.entry(key.site).or_default();
            *links += ours * carried;
            *linking += carried;
        }
    }
    told(views, &counts, limits)
}

/// The sites with the most links.
fn told(views: &Views, counts: &Counts, limits: SiteLimits) -> Result<LinksOfSite, EngineError> {
    let links = counts.iter().map(|(site, (links, _))| (*site, *links));
    let links: Vec<(SiteId, u64)> = links.collect();
    let named = most(views, &links, limits.sites)?;
    let by_site = named.into_iter().map(|(site, name, links)| LinkedSite {
        site: name,
        links,
        pages: counts.get(&site).map_or(0, |(_, pages)| *pages),
    });
    Ok(LinksOfSite {
        links: counts.values().map(|(links, _)| links).sum(),
        pages: counts.values().map(|(_, pages)| pages).sum(),
        sites: counts.len() as u64,
        by_site: by_site.collect(),
    })
}
