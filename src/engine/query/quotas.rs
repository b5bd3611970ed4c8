//! Quotas: the number of pages that the next crawl should fetch from each site.

use std::collections::BTreeMap;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answers::Which;
use super::views::Views;
use crate::engine::error::RequestError;
use crate::engine::plan::{NAME_PATTERN, PlanOptions, ResolvedPlan};
use crate::engine::refresh::cover::sites::{facts, uncrawled_of_rows};
use crate::engine::web_graph::LoadedGraph;
use crate::engine::{Bank, EngineError};
use seedbank_algorithms::cover::{
    PUniq, Value, Weights, apportion_bounded, page_value, pagerank_weight, value_weight,
};
use seedbank_algorithms::page::SiteId;
use seedbank_algorithms::watch::Watch;
use seedbank_store::records::{BatchId, PageState, RefreshId, SiteRecord};
use seedbank_store::{Store, tables};

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
    /// [`QuotaBy::Value`], the cover plan whose value weights apply (`None` for the default weights).
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
    /// Number of those pages above the limits given for sites.
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
    /// Maximum number of pages that a record of the site gave; `null` if none did.
    pub limit: Option<u32>,
}

impl Bank {
    /// Distributes pages over the sites of the published state.
    ///
    /// Each site gets a share proportional to its weight (largest remainder method), but at most the number
    /// of its known pages and its given limit; the excess goes to other sites by their weights. Sites
    /// without weight get pages only when all others have their maximum. Sums are exact; ties are broken by
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
        let bounds: Vec<u32> = sites.iter().map(|(_, site)| max_quota(site)).collect();
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
                limit: site.defaults.quota,
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
    let values = match request.by {
        QuotaBy::Value => value_parameters(&PlanOptions::from_stored(&record.settings)?)?,
        _ => ValueParameters::default(),
    };
    Ok(Some(ChosenPlan {
        name: record.plan,
        refresh,
        values,
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

/// Returns the maximum quota of a site.
fn max_quota(site: &SiteRecord) -> u32 {
    let most = site.defaults.quota.unwrap_or(u32::MAX);
    u32::try_from(pages_of(site)).unwrap_or(u32::MAX).min(most)
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
