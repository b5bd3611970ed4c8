//! Quotas: how many pages of each site the next crawl should take.

use std::collections::BTreeMap;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answers::Which;
use super::views::Views;
use crate::engine::error::RequestError;
use crate::engine::plan::{NAME_PATTERN, Plan, PlanOptions};
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

/// By what pages are shared out over sites.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QuotaBy {
    /// The values of the site's crawled pages, as cover methods have them; a negative sum counts
    /// as 0.
    #[default]
    Value,
    /// The PageRanks of the site's pages on the whole graph.
    Pagerank,
    /// The qualities of the site's pages, crawled and known.
    Quality,
    /// The seeds on the site of a plan's last refresh.
    Seeds,
}

impl QuotaBy {
    /// The name on the command line and in answers.
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

/// How many pages to share out, and by what.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::ask::QuotaRequest;
///
/// let quotas = bank.quotas(&QuotaRequest { pages: 3, ..QuotaRequest::default() }, &Unwatched)?;
/// assert_eq!(quotas.sites.iter().map(|site| u64::from(site.quota)).sum::<u64>(), quotas.placed);
/// assert!(quotas.sites.iter().all(|site| u64::from(site.quota) <= site.pages));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct QuotaRequest {
    /// How many pages the next crawl takes; at least 1.
    pub pages: u64,
    /// By what they are shared out.
    pub by: QuotaBy,
    /// The plan whose seeds count, `default` where `None`; or, by value, the plan by cover whose
    /// values count, the usual ones where `None`.
    pub plan: Option<String>,
}

/// How many pages of each site the next crawl should take.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Quotas {
    /// By what the pages are shared out.
    pub by: QuotaBy,
    /// The plan whose seeds or values count; `null` where none does.
    #[schemars(regex(pattern = NAME_PATTERN))]
    pub plan: Option<String>,
    /// Its last refresh; `null` where no plan counts.
    #[schemars(range(min = 1))]
    pub refresh: Option<RefreshId>,
    /// The last batch of the state that they are of; 0 for an empty bank.
    pub batch: BatchId,
    /// How many pages were to be shared out.
    pub asked: u64,
    /// How many are: the sum of the quotas. Fewer only where every site has all that it can have.
    pub placed: u64,
    /// How many pages the bank knows, crawled or not; no more can be placed.
    pub known: u64,
    /// How many of these the quotas that were given of sites leave out.
    pub beyond_given: u64,
    /// Every site with a crawled or known page: the largest quota first, ties by name.
    pub sites: Vec<SiteQuota>,
}

/// How many pages of a site the next crawl should take.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct SiteQuota {
    /// The site.
    pub site: String,
    /// How many of its pages.
    pub quota: u32,
    /// How many pages of it the bank knows, crawled or not; gone ones are none.
    #[schemars(range(min = 1))]
    pub pages: u64,
    /// How many of them are crawled.
    pub crawled: u32,
    /// How many of them are not.
    pub uncrawled: u32,
    /// The site's share, from 0 to 1, of what the pages are shared out by; 0 for all where no site
    /// has any of it, and the shares are equal.
    #[schemars(range(min = 0, max = 1))]
    pub share: f64,
    /// The most pages that a record of the site gave; `null` where none did.
    pub given: Option<u32>,
}

impl Bank {
    /// Shares pages out over the sites of the published state.
    ///
    /// Each site gets its part of the total by its weight, by largest remainder, but no more than
    /// the pages that the bank knows of it, nor than its given quota; what that leaves over goes to
    /// the others by their weights. Sites without weight get something only when all others have all
    /// that they can have. Sums are exact; ties go by site name.
    ///
    /// Cost: a scan of the sites; by value also one of all pages, by PageRank a ranking of the whole
    /// graph, by seeds one of the refresh's list.
    pub fn quotas(&self, request: &QuotaRequest, watch: &dyn Watch) -> Result<Quotas, EngineError> {
        if request.pages == 0 {
            return Err(RequestError::NoPages.into());
        }
        let views = Views::open(self)?;
        let store: &Store = &views.reader;
        let of_plan = plan_of(&views, request)?;
        let sites = sites(store, watch)?;
        let weights = weights(store, &sites, request.by, of_plan.as_ref(), watch)?;
        let bounds: Vec<u32> = sites.iter().map(|(_, site)| bound(site)).collect();
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
                given: site.defaults.quota,
                site: site.name,
            })
            .collect();
        // They come by name, and stay so where quotas are equal.
        rows.sort_by_key(|row| std::cmp::Reverse(row.quota));
        let beyond = |row: &SiteQuota| {
            row.given
                .map_or(0, |most| row.pages.saturating_sub(most.into()))
        };
        Ok(Quotas {
            by: request.by,
            refresh: of_plan.as_ref().map(|of| of.refresh),
            plan: of_plan.map(|of| of.name),
            batch: store.counters()?.batch,
            asked: request.pages,
            placed: rows.iter().map(|row| u64::from(row.quota)).sum(),
            known: rows.iter().map(|row| row.pages).sum(),
            beyond_given: rows.iter().map(beyond).sum(),
            sites: rows,
        })
    }
}

/// The plan that counts.
struct OfPlan {
    name: String,
    refresh: RefreshId,
    /// What its pages are worth; by seeds the usual, which is not looked at.
    worth: Worth,
}

/// What pages are worth.
#[derive(Default)]
struct Worth {
    weights: Weights,
    /// Overrides `P_uniq` of every site.
    p_uniq: Option<Value>,
}

fn plan_of(views: &Views, request: &QuotaRequest) -> Result<Option<OfPlan>, EngineError> {
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
    let worth = match request.by {
        QuotaBy::Value => worth(&PlanOptions::from_stored(&record.settings)?)?,
        _ => Worth::default(),
    };
    Ok(Some(OfPlan {
        name: record.plan,
        refresh,
        worth,
    }))
}

fn worth(options: &PlanOptions) -> Result<Worth, EngineError> {
    let (weights, p_uniq) = match options.resolve()? {
        Plan::Cover(choice) => (choice.weights, choice.p_uniq),
        Plan::Web(choice)
            if choice.value_by == seedbank_algorithms::cover::global::ValueBy::Weights =>
        {
            (choice.weights, choice.p_uniq)
        }
        Plan::Cores(_) | Plan::Web(_) => return Err(RequestError::PlanWithoutValues.into()),
    };
    Ok(Worth { weights, p_uniq })
}

/// The sites that have pages, by name.
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

/// The most pages that a site can get.
fn bound(site: &SiteRecord) -> u32 {
    let most = site.defaults.quota.unwrap_or(u32::MAX);
    u32::try_from(pages_of(site)).unwrap_or(u32::MAX).min(most)
}

/// What each site's share follows from, as whole numbers.
fn weights(
    store: &Store,
    sites: &[(SiteId, SiteRecord)],
    by: QuotaBy,
    of_plan: Option<&OfPlan>,
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
            if let Some(of) = of_plan {
                for (_, seed) in store.list(of.refresh)? {
                    *of_sites.entry(seed.page.site()).or_default() += 1;
                }
            }
            let of = |id: &SiteId| of_sites.get(id).copied().unwrap_or(0);
            Ok(sites.iter().map(|(id, _)| of(id)).collect())
        }
        QuotaBy::Value => {
            let usual = Worth::default();
            let worth = of_plan.map_or(&usual, |of| &of.worth);
            watch.stage("value sites", Some(sites.len() as u64));
            sites
                .par_iter()
                .map(|(id, site)| {
                    let value = value(store, *id, site, worth, watch)?;
                    watch.advance(1);
                    Ok(value_weight(value))
                })
                .collect()
        }
    }
}

/// What a site's crawled pages are worth, in millionths.
fn value(
    store: &Store,
    id: SiteId,
    site: &SiteRecord,
    worth: &Worth,
    watch: &dyn Watch,
) -> Result<i64, EngineError> {
    if site.crawled == 0 {
        return Ok(0);
    }
    let p_uniq = PUniq::new(
        worth.p_uniq,
        site.distinct_digests.into(),
        site.with_digest.into(),
    );
    let of_rows = uncrawled_of_rows(store, id)?;
    let mut sum = 0_i64;
    for entry in store.scan_under(&tables::PAGES, &id.0.to_be_bytes())? {
        watch.proceed()?;
        let (_, page) = entry?;
        if page.state == PageState::Crawled {
            let facts = facts(&page, &of_rows);
            sum = sum.saturating_add(page_value(facts, p_uniq, &worth.weights));
        }
    }
    Ok(sum)
}
