//! What the last refresh of a plan selected on a site: facts, the seeds, and the best pages that it left out.

use super::reasons::seed_reasons;
use crate::engine::query::{
    CoresOfSite, CoverOfSite, PolicyVerdict, RefreshRun, ScoredUrl, SeedByPolicy, SiteInPlan,
    SiteWhy, WebOfSite,
};
use crate::render::stop_reason;
use crate::serve::address;
use crate::serve::answer::RequestError;
use crate::serve::executor::Context;
use crate::serve::table::{Cell, Column, Table};

/// Maximum number of seeds of a site that are shown for a plan.
const SEEDS: usize = 50;

/// The result for a site in the last refresh of a plan.
pub(super) struct PlanOfSite {
    pub(super) run: RefreshRun,
    pub(super) facts: Vec<(&'static str, Cell)>,
    pub(super) seeds: Table,
    /// Number of seeds that are not shown.
    pub(super) more: usize,
    /// Further tables, with titles.
    pub(super) others: Vec<(&'static str, Table)>,
}

/// A seed, or a pick that a policy keeps off the list.
struct Pick<'a> {
    rank: u32,
    url: &'a str,
    deferred: bool,
    score: Cell,
}

/// Returns what the last refresh of a plan selected on a site, with the reasons for its seeds.
pub(super) fn plan_of_site(
    context: &Context<'_>,
    plan: &SiteInPlan,
) -> Result<PlanOfSite, RequestError> {
    let (facts, score, mut picks, others) = match &plan.why {
        SiteWhy::CoresOfSite(site) => of_cores(plan.run.refresh, site),
        SiteWhy::CoverOfSite(site) => of_cover(site),
        SiteWhy::WebOfSite(site) => of_web(site),
        SiteWhy::NoCrawledPages => {
            let facts = vec![("Crawled pages at the refresh", Cell::Count(0))];
            (facts, "Score", Vec::new(), Vec::new())
        }
    };
    picks.extend(plan.by_policy.iter().filter_map(by_policy));
    let more = picks.len().saturating_sub(SEEDS);
    picks.truncate(SEEDS);
    let urls = picks.iter().map(|pick| pick.url);
    let reasons = seed_reasons(context, plan.run.refresh, urls)?;
    let row = |(pick, reason): (Pick<'_>, Option<String>)| {
        let deferred = pick.deferred.then_some("deferred by the limit on changes");
        vec![
            Cell::Count(pick.rank.into()),
            Cell::Page(pick.url.to_owned()).tagged("new", deferred),
            reason.map_or(Cell::None, Cell::Text),
            pick.score,
        ]
    };
    let columns = vec![
        Column::number("rank", "Rank"),
        Column::text("page", "Page"),
        Column::text("why", "Why"),
        Column::number("score", score),
    ];
    let rows = picks.into_iter().zip(reasons).map(row).collect();
    Ok(PlanOfSite {
        run: plan.run.clone(),
        facts,
        seeds: Table::new("seeds", "Seeds of the site", columns, rows),
        more,
        others,
    })
}

fn by_policy(seed: &SeedByPolicy) -> Option<Pick<'_>> {
    match seed.verdict {
        PolicyVerdict::Pinned { rank } | PolicyVerdict::Retained { rank, .. } => Some(Pick {
            rank,
            url: &seed.url,
            deferred: false,
            score: Cell::None,
        }),
        _ => None,
    }
}

/// Facts, the title of the scores, the seeds, and further tables.
type Parts<'a> = (
    Vec<(&'static str, Cell)>,
    &'static str,
    Vec<Pick<'a>>,
    Vec<(&'static str, Table)>,
);

fn of_cores(refresh: u32, site: &CoresOfSite) -> Parts<'_> {
    let facts = vec![
        ("Seeds", Cell::Count(site.site_seeds.len() as u64)),
        ("Pages near a core, in none", Cell::Count(site.near_core)),
        (
            "Pages with links between sites, near no core",
            Cell::Count(site.no_core),
        ),
        (
            "Pages whose links between sites do not count",
            Cell::Count(site.ineligible),
        ),
    ];
    let picks = site.site_seeds.iter().map(|seed| Pick {
        rank: seed.why.rank,
        url: &seed.url,
        deferred: seed.why.deferred,
        score: Cell::Number(seed.why.core.sigma),
    });
    let rows = site.in_cores.iter().map(|of| {
        vec![
            Cell::Count(of.core.into()).linked(address::core(refresh, of.core)),
            Cell::Count(of.hubs.into()),
            Cell::Count(of.authorities.into()),
        ]
    });
    let columns = vec![
        Column::number("core", "Core"),
        Column::number("hubs", "Hubs of the site"),
        Column::number("authorities", "Authorities of the site"),
    ];
    let cores = Table::new(
        "cores",
        "Cores with pages of the site",
        columns,
        rows.collect(),
    );
    let others = vec![("In cores", cores)];
    (facts, "Sigma of its core", picks.collect(), others)
}

fn of_cover(site: &CoverOfSite) -> Parts<'_> {
    let mut facts = vec![
        (
            "Seats, the seeds that it may have",
            Cell::Count(site.seats.into()),
        ),
        ("Picks", Cell::Count(site.site_seeds.len() as u64)),
        ("Why no more", Cell::text(stop_reason(site.stop))),
        (
            "Crawled pages at the refresh",
            Cell::Count(site.crawled_at_refresh.into()),
        ),
        ("Pages covered", Cell::Count(site.covers.pages)),
        ("Crawled pages not covered", Cell::Count(site.uncovered)),
        ("Value covered, units", Cell::Number(site.covers.value)),
    ];
    if let Some(value) = site.value {
        facts.push(("Value of the site, units", Cell::Number(value)));
    }
    let picks = site.site_seeds.iter().map(|seed| Pick {
        rank: seed.rank,
        url: &seed.url,
        deferred: seed.deferred,
        score: Cell::number(seed.gain),
    });
    let score = if site.exact {
        "Score"
    } else {
        "Score, at most"
    };
    let best = best_of(&site.best_uncovered, score);
    let others = vec![("Best pages that no seed covers", best)];
    (facts, "Score", picks.collect(), others)
}

fn of_web(site: &WebOfSite) -> Parts<'_> {
    let facts = vec![
        ("Seeds", Cell::Count(site.site_seeds.len() as u64)),
        (
            "Pages reached by seeds of any site",
            Cell::Count(site.reached),
        ),
        (
            "Crawled pages that no seed reaches",
            Cell::Count(site.unreached),
        ),
    ];
    let picks = site.site_seeds.iter().map(|seed| Pick {
        rank: seed.rank,
        url: &seed.url,
        deferred: seed.deferred,
        score: Cell::number(seed.gain),
    });
    let best = best_of(&site.best_unreached, "Score");
    let others = vec![("Best pages that no seed reaches", best)];
    (facts, "Score", picks.collect(), others)
}

fn best_of(pages: &[ScoredUrl], score: &'static str) -> Table {
    let row = |page: &ScoredUrl| vec![Cell::Page(page.url.clone()), Cell::Number(page.score)];
    let columns = vec![Column::text("page", "Page"), Column::number("score", score)];
    let rows = pages.iter().map(row).collect();
    Table::new(
        "best",
        "Pages that were left out, best first",
        columns,
        rows,
    )
}
