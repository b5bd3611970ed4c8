//! `explain --site`: the seeds of a site, what they cover, and what no seed covers.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answers::{
    CoreSeed, ReadCost, RefreshRun, ScoredUrl, SeedByPolicy, SiteSeed, ValueBreakdown,
};
use super::context::Context;

use super::{Explainer, cores, cover, for_each_plan, global, policy};
use crate::engine::plan::{ResolvedPlan, by_cores, by_cover};
use crate::engine::query::nearest;
use crate::engine::query::views::Views;
use crate::engine::{Bank, EngineError, Which};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_formats::ingest::URL_PATTERN;
use seedbank_store::evidence::{LinkStatus, PageEvidenceBlock};
use seedbank_store::page_blocks::BLOCK;
use seedbank_store::records::{CoverRecord, CoverStop, RefreshId, SiteRecord};
use seedbank_store::{Key, tables};

/// Maximum number of uncovered pages named.
const MAX_NAMED: usize = 10;

/// Explains what a refresh selected on a site.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct SiteExplanation {
    /// Name of the site.
    pub site: String,
    /// The refresh.
    #[serde(flatten)]
    pub run: RefreshRun,
    /// Current number of known pages.
    pub known: u32,
    /// Current number of crawled pages.
    pub crawled: u32,
    /// Current number of gone pages.
    pub gone: u32,
    /// Current number of known and crawled pages with the spam mark.
    pub spam: u32,
    /// Seeds of the site that only policies put on the list: pinned, or kept by `max-changes`. All others are
    /// in `site_seeds`. JSON has the field only if there are any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_policy: Vec<SeedByPolicy>,
    /// Result by the kind of plan.
    #[serde(flatten)]
    pub why: SiteWhy,
    /// Reads that the answer took.
    #[serde(skip)]
    pub cost: ReadCost,
}

/// Result for a site, by the kind of plan.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum SiteWhy {
    /// Plan by cores.
    #[schemars(transform = by_cores)]
    CoresOfSite(CoresOfSite),
    /// Plan by a cover method.
    #[schemars(transform = by_cover)]
    CoverOfSite(CoverOfSite),
    /// Plan over the web.
    #[schemars(transform = by_cover)]
    WebOfSite(WebOfSite),
    /// Plan by a cover method; the site had no crawled page.
    #[schemars(transform = by_cover)]
    NoCrawledPages,
}

impl SiteWhy {
    /// Returns the URLs of the seeds.
    fn seeds(&self) -> BTreeSet<&str> {
        match self {
            Self::CoresOfSite(of) => of.site_seeds.iter().map(|seed| &*seed.url).collect(),
            Self::CoverOfSite(of) => of.site_seeds.iter().map(|seed| &*seed.url).collect(),
            Self::WebOfSite(of) => of.site_seeds.iter().map(|seed| &*seed.url).collect(),
            Self::NoCrawledPages => BTreeSet::new(),
        }
    }
}

/// Pages of a site in one core.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PagesOfCore {
    /// Rank of the core.
    #[schemars(range(min = 1))]
    pub core: u32,
    /// Number of hubs.
    pub hubs: u32,
    /// Number of authorities.
    pub authorities: u32,
}

/// Result for a site in a refresh by cores.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CoresOfSite {
    /// Seeds of the site that come from cores, by core.
    pub site_seeds: Vec<SeedOfCore>,
    /// Pages of the site in cores, by core.
    pub in_cores: Vec<PagesOfCore>,
    /// Number of pages linked with a core but in none.
    pub near_core: u64,
    /// Number of pages with inter-site links that are neither in a core nor near one.
    pub no_core: u64,
    /// Number of pages whose inter-site links do not count, because they or the pages at the other ends were
    /// ineligible.
    pub ineligible: u64,
}

/// Result for a site in a refresh over the web.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct WebOfSite {
    /// Refresh that picked the seeds; `null` if there are none.
    pub since: Option<RefreshId>,
    /// Picks on the site: the seeds by rank, then deferred picks.
    pub site_seeds: Vec<SiteSeed>,
    /// Number of crawled and known pages of the site that seeds of any site reach.
    pub reached: u64,
    /// Number of crawled pages of the site that are eligible as seeds and reached by none.
    pub unreached: u64,
    /// Those with the best scores, at most ten, ties by URL.
    #[schemars(length(max = MAX_NAMED))]
    pub best_unreached: Vec<ScoredUrl>,
}

/// Seed of a site.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SeedOfCore {
    /// URL of the page.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Evidence.
    #[serde(flatten)]
    pub why: CoreSeed,
}

/// Result for a site in a refresh by a cover method.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CoverOfSite {
    /// Refresh that picked the seeds. Later refreshes reuse them while the site is unchanged.
    #[schemars(range(min = 1))]
    pub since: RefreshId,
    /// Number of seeds allocated to the site.
    pub seats: u32,
    /// Why the site has no more seeds.
    pub stop: CoverStop,
    /// Number of crawled pages of the site when the seeds were picked.
    #[schemars(range(min = 1))]
    pub crawled_at_refresh: u32,
    /// Value of those pages, in units; `null` if it was not computed.
    pub value: Option<f64>,
    /// Picks on the site, in order, including deferred ones.
    pub site_seeds: Vec<SeedOfSite>,
    /// Pages covered by all picks together.
    pub covers: ValueBreakdown,
    /// Number of crawled pages that no seed covers.
    pub uncovered: u64,
    /// Uncovered pages with the best scores, at most ten, ties by URL.
    #[schemars(length(max = MAX_NAMED))]
    pub best_uncovered: Vec<ScoredUrl>,
    /// Whether those scores are exact. If not, they are upper bounds.
    pub exact: bool,
}

/// Seed of a site.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SeedOfSite {
    /// Rank on the list.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// Whether `max-changes` keeps the page off the list. Its rank is then that in the method's selection.
    /// JSON has the field only if it is `true`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("const" = true))]
    pub deferred: bool,
    /// URL of the page.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Position among the picks of the site, from 1.
    #[schemars(range(min = 1))]
    pub pick: u32,
    /// Score by which it was picked; `null` for a random pick.
    pub gain: Option<f64>,
    /// Pages that it covers and no earlier pick does.
    pub covers: ValueBreakdown,
}

impl Bank {
    /// Explains what a refresh selected on a site; see [`Explainer::site`].
    pub fn explain_site(
        &self,
        site: &str,
        which: impl Into<Which>,
    ) -> Result<SiteExplanation, EngineError> {
        self.explainer(which)?.site(site)
    }
}

impl Explainer {
    /// Explains what the refresh selected on a site: its seeds, what they cover, and what no seed covers.
    ///
    /// The site is given by its name or by a URL of one of its pages.
    ///
    /// # Errors
    ///
    /// [`EngineError::UnknownSite`], with similar names, if the bank does not contain the site.
    ///
    /// Cost: the evidence about the site.
    pub fn site(&self, site: &str) -> Result<SiteExplanation, EngineError> {
        let context = &self.context;
        let before = context.cost();
        let (name, id) = nearest::resolve_site(&context.views, site)?;
        let today: SiteRecord = context.views.reader.need(&tables::SITES, &id)?;
        let why = why(context, id)?;
        Ok(SiteExplanation {
            site: name,
            run: context.run(),
            known: today.known,
            crawled: today.crawled,
            gone: today.gone,
            spam: today.spam,
            by_policy: policy::seeds_of_site(context, id, &why.seeds())?,
            why,
            cost: self.cost_since(before),
        })
    }
}

/// Returns the result for a site.
fn why(context: &Context, site: SiteId) -> Result<SiteWhy, EngineError> {
    Ok(match context.plan {
        ResolvedPlan::Cores(_) => SiteWhy::CoresOfSite(cores_of_site(context, site)?),
        ResolvedPlan::Web(_) => SiteWhy::WebOfSite(web_of_site(context, site)?),
        ResolvedPlan::Cover(_) => match context
            .views
            .reader
            .get(&tables::COVERS, &(context.refresh, site))?
        {
            Some(record) => SiteWhy::CoverOfSite(cover_of_site(context, site, &record)?),
            None => SiteWhy::NoCrawledPages,
        },
    })
}

/// Result for a site in the last refresh of a plan.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct SiteInPlan {
    /// The refresh.
    #[serde(flatten)]
    pub run: RefreshRun,
    /// Seeds of the site that only policies put on the list: pinned, or kept by `max-changes`. JSON has the
    /// field only if there are any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_policy: Vec<SeedByPolicy>,
    /// Result by the kind of plan.
    #[serde(flatten)]
    pub why: SiteWhy,
}

/// Returns the result for a site in the last refresh of every plan, by plan name, and gives `views` back.
///
/// Cost: per plan the evidence about the site.
pub(in crate::engine::query) fn site_in_plans(
    views: Views,
    site: SiteId,
) -> Result<(Vec<SiteInPlan>, Views), EngineError> {
    for_each_plan(views, |context| {
        let why = why(context, site)?;
        Ok(SiteInPlan {
            by_policy: policy::seeds_of_site(context, site, &why.seeds())?,
            why,
            run: context.run(),
        })
    })
}

fn cores_of_site(context: &Context, site: SiteId) -> Result<CoresOfSite, EngineError> {
    let store = &context.views.reader;
    let mut in_cores: BTreeMap<u32, PagesOfCore> = BTreeMap::new();
    let mut members = Vec::new();
    for entry in store.scan_under(&tables::CORE_MEMBERS, &(context.refresh, site).bytes())? {
        let ((_, page), member) = entry?;
        let core = member.core;
        let of_core = in_cores.entry(core).or_insert(PagesOfCore {
            core,
            hubs: 0,
            authorities: 0,
        });
        of_core.hubs += u32::from(member.hub.is_some());
        of_core.authorities += u32::from(member.authority.is_some());
        members.push(page);
    }
    let mut site_seeds = Vec::new();
    for &core in in_cores.keys() {
        let evidence = store.need(&tables::CORE_EVIDENCE, &(context.refresh, core))?;
        if evidence.seed.site() == site
            && evidence.gives_seed
            && context.is_listed(evidence.seed)?
        {
            site_seeds.push(SeedOfCore {
                url: context.url(evidence.seed)?,
                why: cores::core_seed(context, core, &evidence)?,
            });
        }
    }
    let mut of_site = CoresOfSite {
        site_seeds,
        in_cores: in_cores.into_values().collect(),
        near_core: 0,
        no_core: 0,
        ineligible: 0,
    };
    let series = context.record.standings.map_or(0, |of| of.series);
    let mut origins = BTreeSet::new();
    for entry in store.scan_under(&tables::CORE_ORIGINS, &context.refresh.bytes())? {
        let (key, _) = entry?;
        origins.insert(key.origin);
    }
    let mut last = None;
    for entry in store.scan_under(&tables::PAGE_EVIDENCE, &(series, site).bytes())? {
        let (key, PageEvidenceBlock(block)) = entry?;
        // Versions of a block are sorted from the newest; take the newest up to this refresh.
        if key.refresh > context.refresh || last.replace(key.block) == Some(key.block) {
            continue;
        }
        for (place, standing) in block.map(|block| block.0).unwrap_or_default() {
            let page = PageId::new(site, key.block.saturating_mul(BLOCK).saturating_add(place));
            let near = standing.near.filter(|near| origins.contains(&near.core));
            match (standing.links, near) {
                _ if members.binary_search(&page).is_ok() => {}
                (LinkStatus::Counted { .. }, Some(_)) => of_site.near_core += 1,
                (LinkStatus::Counted { .. }, None) => of_site.no_core += 1,
                _ => of_site.ineligible += 1,
            }
        }
    }
    Ok(of_site)
}

fn cover_of_site(
    context: &Context,
    site: SiteId,
    record: &CoverRecord,
) -> Result<CoverOfSite, EngineError> {
    let mut site_seeds = Vec::new();
    let mut hops = Vec::new();
    for (_, pick) in record.ranks.iter().zip(1..) {
        let (seed, evidence) = cover::site_seed(context, record, pick)?;
        site_seeds.push(SeedOfSite {
            rank: seed.rank,
            deferred: seed.deferred,
            url: seed.url,
            pick,
            gain: seed.gain,
            covers: cover::total(&evidence.hops),
        });
        hops.extend(evidence.hops);
    }
    let mut uncovered: Vec<(PageId, Option<f64>)> = Vec::new();
    let mut exact = true;
    let prefix = (record.since, site).bytes();
    for entry in context.views.reader.scan_under(&tables::REACH, &prefix)? {
        let (key, block) = entry?;
        for (place, reach) in block.0 {
            if reach.pick.is_none() && reach.covered.is_none() {
                let index = key.block.saturating_mul(BLOCK).saturating_add(place);
                uncovered.push((PageId::new(site, index), reach.score));
                exact &= reach.exact;
            }
        }
    }
    Ok(CoverOfSite {
        since: record.since,
        seats: record.seats,
        stop: record.stop,
        crawled_at_refresh: record.crawled,
        value: record.value.map(|value| value as f64 / 1e6),
        site_seeds,
        covers: cover::total(&hops),
        uncovered: uncovered.len() as u64,
        best_uncovered: best_scored(context, uncovered)?,
        exact,
    })
}

fn web_of_site(context: &Context, site: SiteId) -> Result<WebOfSite, EngineError> {
    let found = global::SiteReach::new(context, site)?;
    Ok(WebOfSite {
        since: found.since,
        site_seeds: found.seeds,
        reached: found.reached,
        unreached: found.unreached.len() as u64,
        best_unreached: best_scored(context, found.unreached)?,
    })
}

/// Returns the pages with the best scores, ties by URL.
fn best_scored(
    context: &Context,
    pages: Vec<(PageId, Option<f64>)>,
) -> Result<Vec<ScoredUrl>, EngineError> {
    let scored = pages.into_iter();
    let mut scored: Vec<(f64, PageId)> = scored.filter_map(|(p, s)| Some((s?, p))).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    // Keep all pages tied with the last one: the URL decides between them.
    let last = scored.get(MAX_NAMED - 1).map(|(score, _)| *score);
    let end = last.map_or(scored.len(), |last| {
        scored.partition_point(|(score, _)| *score >= last)
    });
    let mut named = Vec::with_capacity(end);
    for &(score, page) in &scored[..end] {
        named.push(context.scored(page, score)?);
    }
    named.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.url.cmp(&b.url)));
    named.truncate(MAX_NAMED);
    Ok(named)
}
