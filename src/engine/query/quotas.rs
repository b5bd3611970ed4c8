//! Quotas: the number of pages that the next crawl should fetch from each site.

use std::collections::BTreeMap;

use super::answers::Which;
use super::views::Views;
use crate::engine::error::RequestError;
use crate::engine::plan::{NAME_PATTERN, PlanOptions, ResolvedPlan};
use crate::engine::refresh::cover::sites::{facts, uncrawled_of_rows};
use crate::engine::repeated_content::is_trap;
use crate::engine::web_graph::LoadedGraph;
use crate::engine::{Bank, EngineError};
use rayon::prelude::*;
use schemars::JsonSchema;
use seedbank_algorithms::cover::{
    PUniq, Value, Weights, apportion_bounded, page_value, pagerank_weight, value_weight,
};
use seedbank_algorithms::crawl_limits::{CrawlLimits, Crawls};
use seedbank_algorithms::page::SiteId;
use seedbank_algorithms::watch::Watch;
use seedbank_store::records::{BatchId, PageState, RefreshId, SiteRecord};
use seedbank_store::{OtherProcesses, Store, tables};
use serde::{Deserialize, Serialize};

/// Weight by which pages are distributed over sites.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QuotaBy {
    /// Total value of the site's crawled pages, as in cover methods; a negative total counts as 0.
    #[default]
    Value,
    /// Total PageRank of the site's pages on the whole graph.
    Pagerank,
    /// Total quality of the site's crawled and known pages.
    Quality,
    /// Number of seeds on the site in a plan's last refresh.
    Seeds,
}

impl QuotaBy {
    /// Returns the name on the command line and in answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Pagerank => "pagerank",
            Self::Quality => "quality",
            Self::Seeds => "seeds",
        }
    }
}

/// Request for quotas.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::query::QuotaRequest;
///
/// let quotas = bank.quotas(&QuotaRequest { pages: 3, ..QuotaRequest::default() })?;
/// assert_eq!(quotas.sites.iter().map(|site| u64::from(site.quota)).sum::<u64>(), quotas.allocated);
/// assert!(quotas.sites.iter().all(|site| u64::from(site.quota) <= site.pages));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct QuotaRequest {
    /// Number of pages that the next crawl fetches; at least 1.
    pub pages: u64,
    /// Weight by which they are distributed.
    pub by: QuotaBy,
    /// With [`QuotaBy::Seeds`], the plan whose seeds are counted (`None` for `default`). With
    /// [`QuotaBy::Value`], the cover plan whose value weights apply (`None` for the default weights). Limits of its crawl
    /// bound the quotas.
    pub plan: Option<String>,
}

/// Number of pages that the next crawl should fetch from each site.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Quotas {
    /// Weight by which the pages are distributed.
    pub by: QuotaBy,
    /// Plan whose seeds or value weights apply; `null` if none does.
    #[schemars(regex(pattern = NAME_PATTERN))]
    pub plan: Option<String>,
    /// Last refresh of that plan; `null` without a plan.
    #[schemars(range(min = 1))]
    pub refresh: Option<RefreshId>,
    /// Last batch of the state; 0 for an empty bank.
    pub batch: BatchId,
    /// Number of pages to distribute.
    pub requested: u64,
    /// Sum of the quotas. Less than `requested` only if every site has its maximum.
    pub allocated: u64,
    /// Number of crawled and known pages, the maximum of `allocated`.
    pub known: u64,
    /// Number of those pages above the limits of sites.
    pub beyond_limits: u64,
    /// Every site with a crawled or known page, the largest quota first, ties by name.
    pub sites: Vec<SiteQuota>,
}

/// Quota of one site.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct SiteQuota {
    /// Name of the site.
    pub site: String,
    /// Number of pages to fetch.
    pub quota: u32,
    /// Number of its crawled and known pages.
    #[schemars(range(min = 1))]
    pub pages: u64,
    /// Number of its crawled pages.
    pub crawled: u32,
    /// Number of its known, uncrawled pages.
    pub uncrawled: u32,
    /// Share of the site in the total weight, from 0 to 1. If the total is 0, every share is 0, and the
    /// pages are distributed equally.
    #[schemars(range(min = 0, max = 1))]
    pub share: f64,
    /// Maximum number of pages that a record of the site gave, or that the crawl of the plan takes from one site if that is less;
    /// `null` without both.
    pub limit: Option<u32>,
}

impl Bank {
    /// Distributes pages over the sites of the published state.
    ///
    /// Each site gets a share proportional to its weight (largest remainder method), but at most the number
    /// of its known pages, its given limit, and what the plan's crawl takes from a site; the excess goes to other sites by
    /// their weights. Sites without weight get pages only when all others have their maximum. Sums are exact; ties are broken by
    /// site name.
    ///
    /// Cost: a scan of the sites; by value also a scan of all pages, by PageRank a ranking of the whole
    /// graph, by seeds a scan of the refresh's list.
    pub fn quotas(&self, request: &QuotaRequest) -> Result<Quotas, EngineError> {
        let watch = self.watch();
        if request.pages == 0 {
            return Err(RequestError::NoPages.into());
        }
        let views = Views::open(self)?;
        let store: &Store = &views.reader;
        let plan = plan_of(&views, request)?;
        let sites = sites(store, watch)?;
        let weights = weights(store, &sites, request.by, plan.as_ref(), watch)?;
        let most = plan
            .as_ref()
            .and_then(|of| of.crawl?.most_of_site(request.pages));
        let most = most.map(|most| u32::try_from(most).unwrap_or(u32::MAX));
        let limit_of = |site: &SiteRecord| site.defaults.quota.into_iter().chain(most).min();
        let bound = |(_, site): &(SiteId, SiteRecord)| max_quota(site, limit_of(site));
        let bounds: Vec<u32> = sites.iter().map(bound).collect();
        let quotas = apportion_bounded(request.pages, &weights, &bounds);
        let sum: u128 = weights.iter().copied().map(u128::from).sum();
        let rows = sites.into_iter().zip(quotas).zip(&weights);
        let mut rows: Vec<SiteQuota> = rows
            .map(|(((_, site), quota), &weight)| SiteQuota {
                quota,
                pages: pages_of(&site),
                crawled: site.crawled,
                uncrawled: site.known,
                share: if sum == 0 {
                    0.0
                } else {
                    weight as f64 / sum as f64
                },
                limit: limit_of(&site),
                site: site.name,
            })
            .collect();
        // Stable sort: the rows are sorted by name already.
        rows.sort_by_key(|row| std::cmp::Reverse(row.quota));
        let beyond = |row: &SiteQuota| {
            row.limit
                .map_or(0, |most| row.pages.saturating_sub(most.into()))
        };
        Ok(Quotas {
            by: request.by,
            refresh: plan.as_ref().map(|of| of.refresh),
            plan: plan.map(|of| of.name),
            batch: store.counters()?.batch,
            requested: request.pages,
            allocated: rows.iter().map(|row| u64::from(row.quota)).sum(),
            known: rows.iter().map(|row| row.pages).sum(),
            beyond_limits: rows.iter().map(beyond).sum(),
            sites: rows,
        })
    }
}

/// Plan whose seeds or values apply.
struct ChosenPlan {
    name: String,
    refresh: RefreshId,
    /// Value parameters of the plan; unused by seeds.
    values: ValueParameters,
    /// The crawl, if the plan is for one crawl.
    crawl: Option<CrawlLimits>,
}

/// Parameters of page values.
#[derive(Default)]
struct ValueParameters {
    weights: Weights,
    /// Overrides `P_uniq` of every site.
    p_uniq: Option<Value>,
}

fn plan_of(views: &Views, request: &QuotaRequest) -> Result<Option<ChosenPlan>, EngineError> {
    match request.by {
        QuotaBy::Value if request.plan.is_none() => return Ok(None),
        QuotaBy::Value | QuotaBy::Seeds => {}
        QuotaBy::Pagerank | QuotaBy::Quality => {
            return match request.plan {
                None => Ok(None),
                Some(_) => Err(RequestError::QuotasWithoutPlan(request.by.name()).into()),
            };
        }
    }
    let which = Which {
        plan: request.plan.clone(),
        refresh: None,
    };
    let (refresh, record) = views.find(&which)?;
    let options = PlanOptions::from_stored(&record.settings)?;
    let values = match request.by {
        QuotaBy::Value => value_parameters(&options)?,
        _ => ValueParameters::default(),
    };
    Ok(Some(ChosenPlan {
        name: record.plan,
        refresh,
        values,
        crawl: match options.crawl {
            Some(Crawls::One(limits)) => Some(limits),
            Some(Crawls::Panel) | None => None,
        },
    }))
}

fn value_parameters(options: &PlanOptions) -> Result<ValueParameters, EngineError> {
    let (weights, p_uniq) = match options.resolve()? {
        ResolvedPlan::Cover(choice) => (choice.weights, choice.p_uniq),
        ResolvedPlan::Web(choice)
            if choice.value_by == seedbank_algorithms::cover::global::ValueBy::Weights =>
        {
            (choice.weights, choice.p_uniq)
        }
        ResolvedPlan::Cores(_) | ResolvedPlan::Web(_) => {
            return Err(RequestError::PlanWithoutValues.into());
        }
    };
    Ok(ValueParameters { weights, p_uniq })
}

/// Returns the sites with pages, by name.
fn sites(store: &Store, watch: &dyn Watch) -> Result<Vec<(SiteId, SiteRecord)>, EngineError> {
    watch.stage("find sites", None);
    let mut sites = Vec::new();
    for entry in store.scan(&tables::SITES)? {
        watch.proceed()?;
        let (id, site) = entry?;
        if pages_of(&site) > 0 {
            sites.push((id, site));
        }
    }
    sites.par_sort_unstable_by(|a, b| a.1.name.cmp(&b.1.name));
    Ok(sites)
}

fn pages_of(site: &SiteRecord) -> u64 {
    u64::from(site.crawled) + u64::from(site.known)
}

/// Returns the maximum quota of a site: its limit, its pages, or if it is a likely trap the distinct contents that are expected of them.
fn max_quota(site: &SiteRecord, limit: Option<u32>) -> u32 {
    let most = limit.unwrap_or(u32::MAX);
    let mut pages = pages_of(site);
    if is_trap(site) {
        let (distinct, of) = (
            u64::from(site.distinct_digests),
            u64::from(site.with_digest),
        );
        pages = distinct + (pages.saturating_sub(of) * distinct).div_ceil(of.max(1));
    }
    u32::try_from(pages).unwrap_or(u32::MAX).min(most)
}

/// Returns the integer weight of each site.
fn weights(
    store: &Store,
    sites: &[(SiteId, SiteRecord)],
    by: QuotaBy,
    plan: Option<&ChosenPlan>,
    watch: &dyn Watch,
) -> Result<Vec<u64>, EngineError> {
    match by {
        QuotaBy::Quality => Ok(sites
            .iter()
            .map(|(_, site)| site.known_quality + site.crawled_quality)
            .collect()),
        QuotaBy::Pagerank => {
            let (of_sites, _) = LoadedGraph::load(store, watch)?.pagerank_by_site(watch)?;
            let of_sites: BTreeMap<SiteId, f64> = of_sites.into_iter().collect();
            let of = |id: &SiteId| pagerank_weight(of_sites.get(id).copied().unwrap_or(0.0));
            Ok(sites.iter().map(|(id, _)| of(id)).collect())
        }
        QuotaBy::Seeds => {
            let mut of_sites: BTreeMap<SiteId, u64> = BTreeMap::new();
            if let Some(of) = plan {
                for (_, seed) in store.list(of.refresh)? {
                    *of_sites.entry(seed.page.site()).or_default() += 1;
                }
            }
            let of = |id: &SiteId| of_sites.get(id).copied().unwrap_or(0);
            Ok(sites.iter().map(|(id, _)| of(id)).collect())
        }
        QuotaBy::Value => {
            let default = ValueParameters::default();
            let values = plan.map_or(&default, |of| &of.values);
            watch.stage("value sites", Some(sites.len() as u64));
            sites
                .par_iter()
                .map(|(id, site)| {
                    let value = value(store, *id, site, values, watch)?;
                    watch.advance(1);
                    Ok(value_weight(value))
                })
                .collect()
        }
    }
}

/// Returns the total value of a site's crawled pages, in millionths.
fn value(
    store: &Store,
    id: SiteId,
    site: &SiteRecord,
    values: &ValueParameters,
    watch: &dyn Watch,
) -> Result<i64, EngineError> {
    if site.crawled == 0 {
        return Ok(0);
    }
    let p_uniq = PUniq::new(
        values.p_uniq,
        site.distinct_digests.into(),
        site.with_digest.into(),
    );
    let prefix = id.0.to_be_bytes();
    let of_rows = uncrawled_of_rows(store.scan_under(&tables::ROW_MEMBERS, &prefix)?)?;
    let mut sum = 0_i64;
    for entry in store.scan_under(&tables::PAGES, &prefix)? {
        watch.proceed()?;
        let (_, page) = entry?;
        if page.state == PageState::Crawled {
            let facts = facts(&page, &of_rows);
            sum = sum.saturating_add(page_value(facts, p_uniq, &values.weights));
        }
    }
    Ok(sum)
}

// How evenly the sites of a cluster bank are divided.

/// The most sites of [`Balance::heavy_sites`].
const MAX_HEAVY: usize = 5;

/// How evenly the sites of a cluster bank are divided among its parts or processes.
///
/// A site belongs to one of them. Its weight is the number of its known and crawled pages and of the links from them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Balance {
    /// What the sites are divided among.
    pub among: Division,
    /// Number of these.
    #[schemars(range(min = 1))]
    pub count: u32,
    /// Weight of the heaviest of these, divided by their mean.
    #[schemars(range(min = 1))]
    pub largest_to_mean: f64,
    /// Sites that weigh more than this mean, at most 5, heaviest first.
    pub heavy_sites: Vec<HeavySite>,
}

/// What the sites of a cluster bank are divided among.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Division {
    /// The parts of the bank.
    Parts,
    /// The processes that have the parts.
    Processes,
}

/// Site that weighs more than the mean part or process.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct HeavySite {
    /// Name of the site.
    pub site: String,
    /// Number of its known and crawled pages.
    pub pages: u64,
    /// Number of links from its pages.
    pub links: u64,
    /// Part of the weight of all sites.
    #[schemars(range(min = 0, max = 1))]
    pub share: f64,
    /// Weight divided by the mean: its part or process weighs at least this many times the mean.
    #[schemars(range(min = 1))]
    pub to_mean: f64,
}

/// What the sites are divided among, with the owner of each part.
pub(super) struct Owners {
    among: Division,
    /// By part.
    pub(super) by_part: Vec<usize>,
    pub(super) count: usize,
}

impl Owners {
    /// Returns the processes of a cluster bank; its parts if this process has all of them. `None` if it is another bank.
    pub(super) fn of_bank(store: &Store, processes: &OtherProcesses) -> Option<Self> {
        let parts = store.part_count()?;
        let (among, by_part) = if processes.any() {
            (Division::Processes, processes.owners(parts))
        } else {
            (Division::Parts, (0..parts as usize).collect())
        };
        let last = by_part.iter().max()?;
        Some(Self {
            among,
            count: last + 1,
            by_part,
        })
    }
}

/// A site with its weight.
struct WeighedSite {
    weight: u64,
    pages: u64,
    links: u64,
    site: String,
}

/// The weights of sites that were added so far.
pub(super) struct SiteWeights {
    among: Division,
    /// By owner.
    sums: Vec<u64>,
    /// At most [`MAX_HEAVY`], heaviest first.
    heaviest: Vec<WeighedSite>,
}

impl SiteWeights {
    /// Starts with no site.
    pub(super) fn new(owners: &Owners) -> Self {
        Self {
            among: owners.among,
            sums: vec![0; owners.count],
            heaviest: Vec::new(),
        }
    }

    /// Adds a site of an owner.
    pub(super) fn add(&mut self, owner: usize, site: &SiteRecord) {
        let pages = u64::from(site.known) + u64::from(site.crawled);
        let links = site.intra_links.saturating_add(site.inter_links);
        let weight = pages.saturating_add(links);
        if let Some(sum) = self.sums.get_mut(owner) {
            *sum = sum.saturating_add(weight);
        }
        // Of sites with the same weight, the first in the order of ids comes first.
        let at = self.heaviest.partition_point(|of| of.weight >= weight);
        if at < MAX_HEAVY {
            let site = site.name.clone();
            let weighed = WeighedSite {
                weight,
                pages,
                links,
                site,
            };
            self.heaviest.insert(at, weighed);
            self.heaviest.truncate(MAX_HEAVY);
        }
    }

    /// Returns the balance; `None` if no site has a page.
    pub(super) fn balance(self) -> Option<Balance> {
        let sum: u128 = self.sums.iter().map(|sum| u128::from(*sum)).sum();
        let largest = self.sums.iter().max().filter(|largest| **largest > 0)?;
        let count = u32::try_from(self.sums.len()).ok()?;
        let to_mean = |weight: u64| weight as f64 * f64::from(count) / sum as f64;
        let is_heavy = |of: &WeighedSite| u128::from(of.weight) * u128::from(count) > sum;
        Some(Balance {
            among: self.among,
            count,
            largest_to_mean: to_mean(*largest),
            heavy_sites: self
                .heaviest
                .into_iter()
                .filter(is_heavy)
                .map(|of| HeavySite {
                    site: of.site,
                    pages: of.pages,
                    links: of.links,
                    share: of.weight as f64 / sum as f64,
                    to_mean: to_mean(of.weight),
                })
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A site of this many known pages, crawled pages, links within the site and links to others.
    fn site(name: &str, [known, crawled]: [u32; 2], [intra, inter]: [u64; 2]) -> SiteRecord {
        SiteRecord {
            name: name.to_owned(),
            known,
            crawled,
            gone: 100,
            intra_links: intra,
            inter_links: inter,
            ..SiteRecord::default()
        }
    }

    fn balance(owners: usize, sites: &[(usize, SiteRecord)]) -> Option<Balance> {
        let owners = Owners {
            among: Division::Parts,
            by_part: Vec::new(),
            count: owners,
        };
        let mut weights = SiteWeights::new(&owners);
        for (owner, site) in sites {
            weights.add(*owner, site);
        }
        weights.balance()
    }

    #[test]
    fn three_sites_in_two_parts() {
        // 10, 4 and 2 of 16; the second part has 6, the mean is 8.
        let sites = [
            (1, site("b.example", [1, 1], [2, 0])),
            (0, site("a.example", [1, 2], [3, 4])),
            (1, site("c.example", [1, 0], [0, 1])),
        ];
        let two = balance(2, &sites).unwrap();
        let found = (two.among, two.count, two.largest_to_mean);
        assert_eq!(found, (Division::Parts, 2, 1.25));
        let heavy = HeavySite {
            site: "a.example".to_owned(),
            pages: 3,
            links: 7,
            share: 0.625,
            to_mean: 1.25,
        };
        assert_eq!(two.heavy_sites, [heavy]);
        // A site that weighs as much as the mean is not heavier than it.
        let four = balance(4, &sites).unwrap();
        assert_eq!((four.count, four.largest_to_mean), (4, 2.5));
        let names: Vec<&str> = four.heavy_sites.iter().map(|of| of.site.as_str()).collect();
        assert_eq!(names, ["a.example"]);
        let eight = balance(8, &sites).unwrap();
        let heavy: Vec<_> = eight
            .heavy_sites
            .iter()
            .map(|of| (of.share, of.to_mean))
            .collect();
        assert_eq!(heavy, [(0.625, 5.0), (0.25, 2.0)]);
        assert_eq!(balance(1, &sites).unwrap().heavy_sites, []);
    }

    #[test]
    fn the_five_heaviest_sites_are_listed() {
        let sites: Vec<_> = (1..=7)
            .map(|pages| (0, site(&format!("s{pages}.example"), [pages, 0], [0, 0])))
            .collect();
        let found = balance(64, &sites).unwrap();
        let pages: Vec<u64> = found.heavy_sites.iter().map(|of| of.pages).collect();
        assert_eq!(pages, [7, 6, 5, 4, 3]);
    }

    #[test]
    fn a_bank_without_pages_has_no_balance() {
        assert_eq!(balance(2, &[]), None);
        assert_eq!(balance(2, &[(0, site("a.example", [0, 0], [0, 0]))]), None);
    }
}
