//! A crawl from seeds, compared with crawls from random seeds.

use rayon::prelude::*;

use super::answers::{Claim, ComparedWith, CrawlRequest, ListView, SeedList, StateView};
use super::convergence;
use super::crawl_answers::{CrawlDepth, CrawlEvaluation, RandomDepth, TopPage};
use super::hub_draws::HubSets;
use super::methods::{Comparison, SingleList, evaluate_list};
use super::seed_lists::{CurrentState, Needed, find, need_seeds, resolve};

use crate::engine::error::ExperimentError;
use crate::engine::query::views::Views;
use crate::engine::{Bank, EngineError, PlanOptions};
use seedbank_algorithms::evaluate::crawl::{crawl, reached};
use seedbank_algorithms::evaluate::{Estimate, Search, Tally, draw};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::rank::TIED;
use seedbank_algorithms::watch::{Interrupted, Watch};

/// See [`Bank::evaluate_crawl`].
pub(super) fn run(
    bank: &Bank,
    request: &CrawlRequest,
    watch: &dyn Watch,
) -> Result<CrawlEvaluation, EngineError> {
    if request.draws == 0 {
        return Err(ExperimentError::NoDraws.into());
    }
    let views = Views::open(bank)?;
    find(&views, &request.list)?;
    let current = CurrentState::load(views, Needed::Worth, watch)?;
    let (list, pages) = resolve(&current.views, &request.list, watch)?;
    need_seeds(&list)?;
    let seeds = current.numbers_of(&pages)?;
    watch.stage("crawl", None);
    let mut search = Search::new(&current.web);
    let found = crawl(&mut search, &current.worth, &seeds, request.depth, watch)?;
    let random = random(&current, seeds.len(), request, watch)?;
    let hubs = random_hubs(&current, &list, &seeds, request, watch)?;
    let fetches = fetches(&current, request, &list, &pages, watch)?;
    let depths = depths(&current.state, &found, &random, &hubs);
    let convergence = match list.refresh {
        Some(refresh) => convergence::of_refresh(&current.views.reader, refresh, watch)?,
        None => None,
    };
    let mut claims = claims(&depths);
    claims.extend(convergence.as_ref().map(convergence::claim));
    Ok(CrawlEvaluation {
        state: current.state,
        convergence,
        claims,
        top_pages: top_pages(&current, &seeds, request, watch)?,
        fetches,
        list,
        draws: request.draws,
        rng_seed: request.rng_seed,
        depths,
    })
}

/// Compares the seeds by pages fetched; `None` if that was not requested.
fn fetches(
    current: &CurrentState,
    request: &CrawlRequest,
    list: &ListView,
    pages: &[PageId],
    watch: &dyn Watch,
) -> Result<Option<Comparison>, EngineError> {
    if request.compared_with == ComparedWith::Nothing {
        return Ok(None);
    }
    let plan = match &request.list {
        SeedList::Refresh(which) | SeedList::Succeeded(which) => {
            let (_, record) = current.views.find(which)?;
            Some(PlanOptions::from_stored(&record.settings)?)
        }
        SeedList::Urls { .. } => None,
    };
    let single = SingleList {
        list: &list.name,
        plan,
        pages,
        methods: request.compared_with == ComparedWith::Methods,
        draws: request.holdouts,
        rng_seed: request.rng_seed,
        budgets: &request.budgets,
    };
    evaluate_list(&current.views, &current.state, &single, watch).map(Some)
}

/// Crawls from random sets of crawled pages of the same size, in parallel.
fn random(
    current: &CurrentState,
    seeds: usize,
    request: &CrawlRequest,
    watch: &dyn Watch,
) -> Result<Vec<Vec<Tally>>, Interrupted> {
    let crawled: Vec<u32> = (0..)
        .zip(&current.worth)
        .filter_map(|(page, worth)| worth.crawled.then_some(page))
        .collect();
    let count = u32::try_from(crawled.len()).unwrap_or(u32::MAX);
    watch.stage("random draws", Some(request.draws.into()));
    let drawn = |at: u32| {
        let drawn = draw("crawl", request.rng_seed, at.into(), count, seeds);
        drawn.iter().map(|&at| crawled[at as usize]).collect()
    };
    crawl_draws(current, request, drawn, watch)
}

/// Crawls from hubs of the cores of the seeds, drawn at random; nothing if the seeds have no cores.
fn random_hubs(
    current: &CurrentState,
    list: &ListView,
    seeds: &[u32],
    request: &CrawlRequest,
    watch: &dyn Watch,
) -> Result<Vec<Vec<Tally>>, EngineError> {
    let Some(refresh) = list.refresh else {
        return Ok(Vec::new());
    };
    let sets = HubSets::of(current, refresh, seeds)?;
    if sets.is_empty() {
        return Ok(Vec::new());
    }
    watch.stage("random hubs", Some(request.draws.into()));
    let drawn = |at| sets.draw(request.rng_seed, at);
    Ok(crawl_draws(current, request, drawn, watch)?)
}

/// Crawls from each of the drawn sets of seeds, in parallel.
fn crawl_draws(
    current: &CurrentState,
    request: &CrawlRequest,
    drawn: impl Fn(u32) -> Vec<u32> + Sync,
    watch: &dyn Watch,
) -> Result<Vec<Vec<Tally>>, Interrupted> {
    (0..request.draws)
        .into_par_iter()
        .map_init(
            || Search::new(&current.web),
            |search, at| {
                let found = crawl(search, &current.worth, &drawn(at), request.depth, watch)?;
                watch.advance(1);
                Ok(found)
            },
        )
        .collect()
}

/// Crawls from several draws, and the pages that each has found so far.
struct Draws<'a> {
    crawls: &'a [Vec<Tally>],
    pages: Vec<u64>,
}

impl<'a> Draws<'a> {
    fn new(crawls: &'a [Vec<Tally>]) -> Self {
        Self {
            crawls,
            pages: vec![0; crawls.len()],
        }
    }

    /// Returns the means at the next depth.
    fn at(&mut self, depth: usize, web: f64) -> RandomDepth {
        let tallies = self.crawls.iter();
        let tallies = tallies.map(|crawl| crawl.get(depth).copied().unwrap_or_default());
        let tallies: Vec<Tally> = tallies.collect();
        for (pages, tally) in self.pages.iter_mut().zip(&tallies) {
            *pages += tally.pages;
        }
        let up_to: Vec<f64> = self.pages.iter().map(|&pages| pages as f64).collect();
        random_depth(&tallies, &up_to, web)
    }
}

/// Returns what the seeds, random pages and random hubs find, until none of them finds more. `hubs` may be empty.
fn depths(
    state: &StateView,
    found: &[Tally],
    random: &[Vec<Tally>],
    hubs: &[Vec<Tally>],
) -> Vec<CrawlDepth> {
    let web = (state.pages as f64).max(1.0);
    let deepest = random.iter().chain(hubs).map(Vec::len).max().unwrap_or(0);
    let (mut of_random, mut of_hubs) = (Draws::new(random), Draws::new(hubs));
    let mut pages = 0;
    let mut depths = Vec::new();
    for (depth, at) in (0..).zip(0..deepest.max(found.len())) {
        let tally = found.get(at).copied().unwrap_or_default();
        pages += tally.pages;
        depths.push(CrawlDepth {
            depth,
            new_pages: tally.pages,
            pages,
            share: pages as f64 / web,
            pagerank: tally.pagerank,
            mean_pagerank: tally.mean_pagerank(),
            spam_share: tally.spam_share(),
            value: tally.units(),
            random: of_random.at(at, web),
            hubs: (!hubs.is_empty()).then(|| of_hubs.at(at, web)),
        });
    }
    depths
}

fn random_depth(drawn: &[Tally], up_to: &[f64], web: f64) -> RandomDepth {
    let none = Estimate {
        mean: 0.0,
        standard_error: None,
    };
    let all = |of: &dyn Fn(&Tally) -> f64| {
        let observations: Vec<f64> = drawn.iter().map(of).collect();
        Estimate::mean_of(&observations).unwrap_or(none)
    };
    let some = |of: &dyn Fn(&Tally) -> Option<f64>| {
        let observations: Vec<f64> = drawn.iter().filter_map(of).collect();
        Estimate::mean_of(&observations)
    };
    let pages = Estimate::mean_of(up_to).unwrap_or(none);
    RandomDepth {
        new_pages: all(&|tally| tally.pages as f64),
        pages,
        share: pages.times(1.0 / web),
        pagerank: all(&|tally| tally.pagerank),
        mean_pagerank: some(&Tally::mean_pagerank),
        spam_share: some(&Tally::spam_share),
        value: all(&Tally::units),
    }
}

/// Returns the pages with the highest PageRank, ties by URL.
fn top_pages(
    current: &CurrentState,
    seeds: &[u32],
    request: &CrawlRequest,
    watch: &dyn Watch,
) -> Result<Vec<TopPage>, EngineError> {
    let rank = |page: &u32| current.worth[*page as usize].pagerank;
    let mut order: Vec<u32> = (0..current.web.pages()).collect();
    let wanted = (request.top as usize).min(order.len());
    order.par_sort_unstable_by(|a, b| rank(b).total_cmp(&rank(a)).then(a.cmp(b)));
    // PageRanks equal up to rounding are ordered by URL, as in every list.
    let last = wanted.checked_sub(1).map(|at| rank(&order[at]));
    let near = |page: &&u32| last.is_some_and(|last| rank(page) >= last * (1.0 - TIED));
    let order: Vec<u32> = order.iter().take_while(near).copied().collect();
    let pages = current.numbers.pages();
    let mut named = Vec::with_capacity(order.len());
    for page in order {
        named.push((rank(&page), current.url(pages[page as usize])?, page));
    }
    let mut from = 0;
    while from < named.len().min(wanted) {
        let best = named[from].0;
        let tied = named[from..].partition_point(|page| page.0 >= best * (1.0 - TIED));
        named[from..from + tied].sort_by(|a, b| a.1.cmp(&b.1));
        from += tied;
    }
    named.truncate(wanted);
    let pages: Vec<u32> = named.iter().map(|page| page.2).collect();
    let depths = reached(&current.web, seeds, &pages, request.depth, watch)?;
    let top = named.into_iter().zip(depths);
    Ok(top
        .map(|((pagerank, url, _), depth)| TopPage {
            url,
            pagerank,
            depth,
        })
        .collect())
}

/// Checks the claims of Daneshpajouh, Mohammadi Nasiri and Ghodsi about their seeds, section 3.5.
/// Since a mean decreases as more pages are reached, also checks the total PageRank reached.
fn claims(depths: &[CrawlDepth]) -> Vec<Claim> {
    let below: Vec<&CrawlDepth> = depths.iter().filter(|d| d.depth > 0).collect();
    let Some(last) = below.last() else {
        return Vec::new();
    };
    let mut claims = vec![at_every_depth(
        "more-pages-at-every-depth",
        "pages",
        last.depth,
        below
            .iter()
            .map(|d| (d.depth, d.pages as f64, d.random.pages.mean)),
    )];
    let (mut found, mut drawn) = (0.0, 0.0);
    let up_to: Vec<(u32, f64, f64)> = depths
        .iter()
        .map(|d| {
            found += d.pagerank;
            drawn += d.random.pagerank.mean;
            (d.depth, found, drawn)
        })
        .filter(|(depth, ..)| *depth > 0)
        .collect();
    claims.push(at_every_depth(
        "more-pagerank-at-every-depth",
        "PageRank",
        last.depth,
        up_to.into_iter(),
    ));
    claims.extend(mean_pagerank(depths));
    claims
}

/// Claims that the seeds exceed random ones at every depth, or names the depths where they do not.
fn at_every_depth(
    claim: &str,
    what: &str,
    last: u32,
    depths: impl Iterator<Item = (u32, f64, f64)>,
) -> Claim {
    let exceptions: Vec<String> = depths
        .filter(|(_, seeds, random)| seeds <= random)
        .map(|(depth, ..)| depth.to_string())
        .collect();
    Claim {
        claim: claim.to_owned(),
        holds: exceptions.is_empty(),
        text: if exceptions.is_empty() {
            format!(
                "The seeds reach more {what} than random ones within every depth from 1 to {last}."
            )
        } else {
            format!(
                "The seeds do not reach more {what} than random ones within depth {}.",
                exceptions.join(", ")
            )
        },
    }
}

fn mean_pagerank(depths: &[CrawlDepth]) -> Option<Claim> {
    let ratios: Vec<(u32, f64)> = depths
        .iter()
        .filter(|d| (2..=3).contains(&d.depth))
        .filter_map(|d| {
            let random = d.random.mean_pagerank?.mean;
            Some((d.depth, d.mean_pagerank? / random))
        })
        .collect();
    let part = |(depth, times): &(u32, f64)| {
        format!("{times:.2} times that of random seeds at depth {depth}")
    };
    let parts: Vec<String> = ratios.iter().map(part).collect();
    let exceptions: Vec<String> = ratios
        .iter()
        .filter(|(_, times)| *times <= 1.0)
        .map(|(depth, _)| depth.to_string())
        .collect();
    let holds = exceptions.is_empty();
    let lead = if holds {
        "The mean PageRank of new pages is higher than from random seeds".to_owned()
    } else {
        format!(
            "The mean PageRank of new pages is not higher than from random seeds at depth {}",
            exceptions.join(" and ")
        )
    };
    (!ratios.is_empty()).then(|| Claim {
        claim: "higher-pagerank-at-depths-2-and-3".to_owned(),
        holds,
        text: format!("{lead}: {}.", parts.join(", ")),
    })
}
