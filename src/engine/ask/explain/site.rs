//! `explain --site`: the seeds of a site, what they cover, and what no seed reaches.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answers::{Asked, ReadCost};
use super::case::Case;
use super::core_answers::{CoreSeed, ScoredUrl};
use super::cover_answers::{Parts, SiteSeed};
use super::says::SeedByPolicy;
use super::{Explainer, cores, cover, in_last_of_all, policy, web};
use crate::engine::ask::nearest;
use crate::engine::ask::views::Views;
use crate::engine::plan::{Plan, by_cores, by_cover};
use crate::engine::{Bank, EngineError, Which};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_formats::ingest::URL_PATTERN;
use seedbank_store::evidence::{LinkStatus, PageEvidenceBlock};
use seedbank_store::page_blocks::BLOCK;
use seedbank_store::records::{CoverRecord, CoverStop, RefreshId, SiteRecord};
use seedbank_store::{Key, tables};

/// How many uncovered pages are named.
const NAMED: usize = 10;

/// What a refresh made of a site.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct SiteExplanation {
    /// The site.
    pub site: String,
    /// The refresh that is asked.
    #[serde(flatten)]
    pub asked: Asked,
    /// Known pages, today.
    pub known: u32,
    /// Crawled pages, today.
    pub crawled: u32,
    /// Gone pages, today.
    pub gone: u32,
    /// Known and crawled pages with the spam mark, today.
    pub spam: u32,
    /// Its seeds that are on the list by policies alone: pinned, or only stay since no more of the list
    /// may change. The others are among `site_seeds`. JSON has the field only where there are any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_policy: Vec<SeedByPolicy>,
    /// The answer.
    #[serde(flatten)]
    pub why: SiteWhy,
    /// What the answer cost to read.
    #[serde(skip)]
    pub cost: ReadCost,
}

/// What is told of a site.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum SiteWhy {
    /// The refresh is by cores.
    #[schemars(transform = by_cores)]
    CoresOfSite(CoresOfSite),
    /// The refresh is by a cover method.
    #[schemars(transform = by_cover)]
    CoverOfSite(CoverOfSite),
    /// The refresh is of a plan over the web.
    #[schemars(transform = by_cover)]
    WebOfSite(WebOfSite),
    /// The refresh is by a cover method, and the site had no crawled page.
    #[schemars(transform = by_cover)]
    NothingCrawled,
}

impl SiteWhy {
    /// The seeds that it names.
    fn seeds(&self) -> BTreeSet<&str> {
        match self {
            Self::CoresOfSite(of) => of.site_seeds.iter().map(|seed| &*seed.url).collect(),
            Self::CoverOfSite(of) => of.site_seeds.iter().map(|seed| &*seed.url).collect(),
            Self::WebOfSite(of) => of.site_seeds.iter().map(|seed| &*seed.url).collect(),
            Self::NothingCrawled => BTreeSet::new(),
        }
    }
}

/// Pages of a site in a core.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PagesOfCore {
    /// The core's rank.
    #[schemars(range(min = 1))]
    pub core: u32,
    /// How many are hubs.
    pub hubs: u32,
    /// How many are authorities.
    pub authorities: u32,
}

/// A site in a refresh by cores.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CoresOfSite {
    /// Its seeds that come from cores, by core.
    pub site_seeds: Vec<SeedOfCore>,
    /// Its pages in cores, by core.
    pub in_cores: Vec<PagesOfCore>,
    /// How many of its pages were near a core but in none.
    pub near: u64,
    /// How many of its other pages have inter-site links that count.
    pub with_row_sums: u64,
    /// How many of its pages have only inter-site links that do not count, since they or the pages
    /// at the other ends were left out.
    pub left_out: u64,
}

/// What a plan over the web made of a site.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct WebOfSite {
    /// The refresh that picked the seeds; `null` where it has none.
    pub since: Option<RefreshId>,
    /// What was picked on the site: the seeds by rank, then what is held back.
    pub site_seeds: Vec<SiteSeed>,
    /// How many pages of the site seeds reach, crawled and known ones, on whatever site the seeds
    /// are.
    pub reached: u64,
    /// How many crawled pages of the site could be seeds and are reached by none.
    pub unreached: u64,
    /// Those of them with the best scores, at most ten, ties by URL.
    #[schemars(length(max = NAMED))]
    pub best_unreached: Vec<ScoredUrl>,
}

/// A seed of a site.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SeedOfCore {
    /// The page.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Why it is a seed.
    #[serde(flatten)]
    pub why: CoreSeed,
}

/// A site in a refresh of a cover method.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CoverOfSite {
    /// The refresh that picked the seeds. Later ones may have taken them over, the site being
    /// unchanged.
    #[schemars(range(min = 1))]
    pub since: RefreshId,
    /// The number of seeds that the site was to have.
    pub seats: u32,
    /// Why the site has no more seeds.
    pub stop: CoverStop,
    /// How many crawled pages the site had then.
    #[schemars(range(min = 1))]
    pub crawled_then: u32,
    /// The value of those pages, in units; `null` where it was not read.
    pub value: Option<f64>,
    /// What was picked on it, in that order; what is held back is no seed.
    pub site_seeds: Vec<SeedOfSite>,
    /// What the seeds cover together.
    pub covers: Parts,
    /// How many crawled pages no seed covers.
    pub uncovered: u64,
    /// The uncovered pages with the best scores, at most ten, ties by URL.
    #[schemars(length(max = NAMED))]
    pub best_uncovered: Vec<ScoredUrl>,
    /// Whether their scores are exact; if `false`, they are upper bounds.
    pub exact: bool,
}

/// A seed of a site.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SeedOfSite {
    /// Its rank on the list.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// Whether no more of the list may change, so that the page is not on it: then its rank is that
    /// among the seeds that the method came to. JSON has the field only then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("const" = true))]
    pub held_back: bool,
    /// The page.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Its place among the picks of the site, from 1.
    #[schemars(range(min = 1))]
    pub pick: u32,
    /// The score that it was picked by; `null` where it was drawn at random.
    pub gain: Option<f64>,
    /// What it covers that no earlier pick does.
    pub covers: Parts,
}

impl Bank {
    /// What a refresh did with a site: [`Explainer::site`] on the published state.
    pub fn explain_site(&self, site: &str, which: &Which) -> Result<SiteExplanation, EngineError> {
        self.explainer(which)?.site(site)
    }
}

impl Explainer {
    /// What the refresh did with a site: its seeds, what they cover, and what no seed reaches.
    ///
    /// The site is given by its name, or by a URL of one of its pages; one that the bank does not
    /// know is [`EngineError::UnknownSite`], with the nearest sites that it knows.
    ///
    /// Cost: what is kept of the site.
    pub fn site(&self, site: &str) -> Result<SiteExplanation, EngineError> {
        let case = &self.case;
        let before = case.cost();
        let (name, id) = nearest::named_site(&case.views, site)?;
        let today: SiteRecord = case.views.reader.need(&tables::SITES, &id)?;
        let why = why(case, id)?;
        Ok(SiteExplanation {
            site: name,
            asked: case.asked(),
            known: today.known,
            crawled: today.crawled,
            gone: today.gone,
            spam: today.spam,
            by_policy: policy::of_site(case, id, &why.seeds())?,
            why,
            cost: self.cost_since(before),
        })
    }
}

/// What the refresh made of a site.
fn why(case: &Case, site: SiteId) -> Result<SiteWhy, EngineError> {
    Ok(match case.plan {
        Plan::Cores(_) => SiteWhy::CoresOfSite(of_cores(case, site)?),
        Plan::Web(_) => SiteWhy::WebOfSite(of_web(case, site)?),
        Plan::Cover(_) => match case
            .views
            .reader
            .get(&tables::COVERS, &(case.refresh, site))?
        {
            Some(record) => SiteWhy::CoverOfSite(of_cover(case, site, &record)?),
            None => SiteWhy::NothingCrawled,
        },
    })
}

/// What a site is in the last refresh of a plan.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct SiteInPlan {
    /// The refresh.
    #[serde(flatten)]
    pub asked: Asked,
    /// Its seeds that are on the list by policies alone: pinned, or only stay since no more of the list
    /// may change. JSON has the field only where there are any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_policy: Vec<SeedByPolicy>,
    /// What the refresh made of the site.
    #[serde(flatten)]
    pub why: SiteWhy,
}

/// What a site is in the last refresh of every plan, by the names of the plans; the state that is read is
/// handed back.
///
/// Cost: for each plan what is kept of the site.
pub(in crate::engine::ask) fn site_in_plans(
    views: Views,
    site: SiteId,
) -> Result<(Vec<SiteInPlan>, Views), EngineError> {
    in_last_of_all(views, |case| {
        let why = why(case, site)?;
        Ok(SiteInPlan {
            by_policy: policy::of_site(case, site, &why.seeds())?,
            why,
            asked: case.asked(),
        })
    })
}

fn of_cores(case: &Case, site: SiteId) -> Result<CoresOfSite, EngineError> {
    let store = &case.views.reader;
    let mut in_cores: BTreeMap<u32, PagesOfCore> = BTreeMap::new();
    let mut members = Vec::new();
    for entry in store.scan_under(&tables::CORE_MEMBERS, &(case.refresh, site).bytes())? {
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
        let evidence = store.need(&tables::CORE_EVIDENCE, &(case.refresh, core))?;
        if evidence.seed.site() == site
            && evidence.gives_seed
            && cores::is_seed(case, evidence.seed)
        {
            site_seeds.push(SeedOfCore {
                url: case.url(evidence.seed)?,
                why: cores::seed(case, core, &evidence)?,
            });
        }
    }
    let mut of_site = CoresOfSite {
        site_seeds,
        in_cores: in_cores.into_values().collect(),
        near: 0,
        with_row_sums: 0,
        left_out: 0,
    };
    let series = case.record.standings.map_or(0, |of| of.series);
    let mut origins = BTreeSet::new();
    for entry in store.scan_under(&tables::CORE_ORIGINS, &case.refresh.bytes())? {
        let (key, _) = entry?;
        origins.insert(key.origin);
    }
    let mut last = None;
    for entry in store.scan_under(&tables::PAGE_EVIDENCE, &(series, site).bytes())? {
        let (key, PageEvidenceBlock(block)) = entry?;
        // The newest version of a block comes first.
        if key.refresh > case.refresh || last.replace(key.block) == Some(key.block) {
            continue;
        }
        for (place, standing) in block.map(|block| block.0).unwrap_or_default() {
            let page = PageId::new(site, key.block.saturating_mul(BLOCK).saturating_add(place));
            let near = standing.near.filter(|near| origins.contains(&near.core));
            match (standing.links, near) {
                _ if members.binary_search(&page).is_ok() => {}
                (LinkStatus::Counted { .. }, Some(_)) => of_site.near += 1,
                (LinkStatus::Counted { .. }, None) => of_site.with_row_sums += 1,
                _ => of_site.left_out += 1,
            }
        }
    }
    Ok(of_site)
}

fn of_cover(case: &Case, site: SiteId, record: &CoverRecord) -> Result<CoverOfSite, EngineError> {
    let mut site_seeds = Vec::new();
    let mut hops = Vec::new();
    for (_, pick) in record.ranks.iter().zip(1..) {
        let (seed, evidence) = cover::site_seed(case, record, pick)?;
        site_seeds.push(SeedOfSite {
            rank: seed.rank,
            held_back: seed.held_back,
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
    for entry in case.views.reader.scan_under(&tables::REACH, &prefix)? {
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
        crawled_then: record.crawled,
        value: record.value.map(|value| value as f64 / 1e6),
        site_seeds,
        covers: cover::total(&hops),
        uncovered: uncovered.len() as u64,
        best_uncovered: best(case, uncovered)?,
        exact,
    })
}

fn of_web(case: &Case, site: SiteId) -> Result<WebOfSite, EngineError> {
    let found = web::OfSite::new(case, site)?;
    Ok(WebOfSite {
        since: found.since,
        site_seeds: found.seeds,
        reached: found.reached,
        unreached: found.unreached.len() as u64,
        best_unreached: best(case, found.unreached)?,
    })
}

/// The pages with the best scores, ties by URL.
fn best(case: &Case, pages: Vec<(PageId, Option<f64>)>) -> Result<Vec<ScoredUrl>, EngineError> {
    let scored = pages.into_iter();
    let mut scored: Vec<(f64, PageId)> = scored.filter_map(|(p, s)| Some((s?, p))).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    // All pages tied with the last named one are kept: the URL decides between them.
    let last = scored.get(NAMED - 1).map(|(score, _)| *score);
    let end = last.map_or(scored.len(), |last| {
        scored.partition_point(|(score, _)| *score >= last)
    });
    let mut named = Vec::with_capacity(end);
    for &(score, page) in &scored[..end] {
        named.push(case.scored((page, score))?);
    }
    named.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.url.cmp(&b.url)));
    named.truncate(NAMED);
    Ok(named)
}
