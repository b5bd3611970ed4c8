//! Evaluation of seed lists by the crawls from them.

use std::collections::BTreeMap;

use super::answers::{ByFetches, GatheredView};
use super::held_out::{BankWeb, HeldOutWeb, Worth};
use super::select::{BaselineOrders, Contender, ListSource, by_plan, over_web_for};

use crate::engine::EngineError;
use crate::engine::plan::Measure;
use rayon::prelude::*;
use seedbank_algorithms::cover::Due;
use seedbank_algorithms::cover::global::{Duplicates, HELD_OUT_ONE_IN};
use seedbank_algorithms::crawl_limits::{CrawlLimits, Crawls};
use seedbank_algorithms::evaluate::harmonic::{Harmonic, MAX_SOURCES, harmonic};
use seedbank_algorithms::evaluate::{
    CrawlInput, Estimate, FetchSimulator, FetchedWithin, Gathered, KnownBefore, PageContents, draw,
};
use seedbank_algorithms::graph::number;
use seedbank_algorithms::statistics::{geometric_mean, nearest_count};
use seedbank_algorithms::watch::{Quiet, Watch};

/// The numbers of seeds and fetches to compare at, each ascending.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    pub(super) seeds: Vec<u32>,
    pub(super) budgets: Vec<u64>,
}

impl Grid {
    /// Returns the indexes of all pairs of seeds and fetches, by seeds first.
    fn cells(&self) -> Vec<(usize, usize)> {
        let of_seeds = |k| (0..self.budgets.len()).map(move |n| (k, n));
        (0..self.seeds.len()).flat_map(of_seeds).collect()
    }
}

/// Results of all lists with some pages held out, by contender and by the indexes of seeds and
/// fetches in the grid; several for baselines with several random lists.
#[derive(Clone, Debug, Default)]
pub(super) struct Observed {
    figures: BTreeMap<(usize, usize, usize), Vec<Figures>>,
    /// Number of seeds of the lists, by contender and index of the seeds.
    pub(super) listed: BTreeMap<(usize, usize), usize>,
    pub(super) harmonic_is_exact: bool,
}

impl Observed {
    /// Returns the results of a contender, at the indexes of seeds and fetches in the grid.
    pub(super) fn figures(&self, contender: usize, seeds: usize, budget: usize) -> &[Figures] {
        let found = self.figures.get(&(contender, seeds, budget));
        found.map_or(&[], Vec::as_slice)
    }
}

/// Result of a list: with all pages counted, and with crawled pages only.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Figures {
    pub(super) all: Numbers,
    of_crawled: Numbers,
    /// Those of a breadth-first crawl without limits, if verdicts need them.
    pub(super) breadth_first: Numbers,
}

/// Result by one way of counting.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Numbers {
    fetched: f64,
    /// In units.
    pub(super) value: f64,
    crawled: f64,
    contents: f64,
    new_pages: f64,
    new_contents: f64,
    discovered: f64,
    pagerank: f64,
}

impl Numbers {
    fn new(gathered: &Gathered) -> Self {
        Self {
            fetched: gathered.pages as f64,
            value: gathered.value as f64 / 1e6,
            crawled: gathered.crawled,
            contents: gathered.contents,
            new_pages: gathered.new,
            new_contents: gathered.new_contents,
            discovered: gathered.discovered as f64,
            pagerank: gathered.pagerank,
        }
    }

    /// Returns the figure that lists are compared by.
    pub(super) const fn by(&self, measure: Measure) -> f64 {
        match measure {
            Measure::Contents => self.contents,
            Measure::Crawled => self.crawled,
            Measure::Discovered => self.discovered,
            Measure::Pagerank => self.pagerank,
        }
    }

    /// Returns the part of this figure that was held out; `None` if the figure has no such part.
    pub(super) const fn new_by(&self, measure: Measure) -> Option<f64> {
        match measure {
            Measure::Contents => Some(self.new_contents),
            Measure::Crawled => Some(self.new_pages),
            Measure::Discovered | Measure::Pagerank => None,
        }
    }
}

impl Figures {
    fn new(within: &FetchedWithin) -> Self {
        Self {
            all: Numbers::new(&within.all),
            of_crawled: Numbers::new(&within.of_crawled),
            breadth_first: Numbers::default(),
        }
    }

    /// Returns the geometric means of the results of several crawls, computed after adding 1 to each number except PageRank;
    /// the result itself of a single crawl.
    fn of_crawls(figures: &[Self]) -> Self {
        match figures {
            [single] => *single,
            _ => Self::combined(figures, geometric_mean),
        }
    }

    /// Returns the mean of several results; zeros for none.
    pub(super) fn mean(figures: &[Self]) -> Self {
        Self::combined(figures, |numbers, _| {
            numbers.iter().sum::<f64>() / (numbers.len().max(1)) as f64
        })
    }

    /// Combines each figure of several results. `combine` gets the numbers, and what one page adds to them.
    fn combined(figures: &[Self], combine: impl Fn(&[f64], f64) -> f64) -> Self {
        let all = |number: &dyn Fn(&Self) -> f64| figures.iter().map(number).collect::<Vec<_>>();
        let mean = |number: &dyn Fn(&Self) -> f64| combine(&all(number), 1.0);
        // A page has a small share of the PageRank, and some is always found.
        let of_shares = |number: &dyn Fn(&Self) -> f64| combine(&all(number), 0.0);
        let numbers = |part: &dyn Fn(&Self) -> Numbers| Numbers {
            fetched: mean(&|figures| part(figures).fetched),
            value: mean(&|figures| part(figures).value),
            crawled: mean(&|figures| part(figures).crawled),
            contents: mean(&|figures| part(figures).contents),
            new_pages: mean(&|figures| part(figures).new_pages),
            new_contents: mean(&|figures| part(figures).new_contents),
            discovered: mean(&|figures| part(figures).discovered),
            pagerank: of_shares(&|figures| part(figures).pagerank),
        };
        Self {
            all: numbers(&|figures| figures.all),
            of_crawled: numbers(&|figures| figures.of_crawled),
            breadth_first: numbers(&|figures| figures.breadth_first),
        }
    }
}

/// What a crawl from a list finds with everything known.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ListCrawl {
    /// Fetches, also those that fail.
    pub(crate) pages: u64,
    pub(crate) crawled: u64,
    pub(crate) contents: u64,
    /// `None` without pages.
    pub(crate) depth: Option<u32>,
    /// In units.
    pub(crate) value: f64,
    pub(crate) clicks: u64,
    pub(crate) clicked_pages: u64,
    pub(crate) spam: u64,
    pub(crate) pagerank: f64,
}

/// Evaluates lists with everything known.
pub(super) struct Evaluator<'a> {
    web: &'a BankWeb,
    full_web: HeldOutWeb<'a>,
    values: Vec<i64>,
    /// Values of pages, whenever they were fetched; empty if all count whole.
    whole_values: Vec<i64>,
    /// By page: the part that it counts for; empty if all count whole.
    due: Vec<Due>,
    /// Sites of pages, if the crawls have limits by site.
    sites: Vec<u32>,
    crawls: Crawls,
    /// By page, as [`PageContents`] has them.
    contents: Vec<u32>,
    duplicates: Duplicates,
    grid: &'a Grid,
    /// Maximum number of sources of harmonic centralities.
    sources: usize,
    /// Those of all pages, if draws use them.
    harmonic: Option<Harmonic>,
    /// Whether a verdict needs the figures.
    is_for_verdict: bool,
}

impl<'a> Evaluator<'a> {
    pub(super) fn new(
        web: &'a BankWeb,
        worth: &Worth,
        grid: &'a Grid,
        watch: &dyn Watch,
    ) -> Result<Self, EngineError> {
        let full_web = HeldOutWeb::new(web, &vec![false; web.of.len()], false, watch)?;
        let ages = full_web.ages(worth.revisits).unwrap_or_default();
        let due: Vec<Due> = ages.iter().map(|age| age.due).collect();
        let mut values = full_web.values(worth);
        let whole_values = if due.is_empty() {
            Vec::new()
        } else {
            values.clone()
        };
        Due::apply(due.iter().copied(), &mut values);
        Ok(Self {
            values,
            whole_values,
            due,
            sites: Vec::new(),
            crawls: Crawls::default(),
            contents: web.contents(),
            duplicates: Duplicates::default(),
            full_web,
            web,
            grid,
            sources: MAX_SOURCES,
            harmonic: None,
            is_for_verdict: false,
        })
    }

    pub(super) const fn web(&self) -> &'a BankWeb {
        self.web
    }

    /// Sets the crawls from each list.
    pub(super) fn with_crawls(mut self, crawls: Crawls) -> Self {
        self.crawls = crawls;
        if crawls.need_sites() {
            self.sites = self.full_web.site_numbers();
        }
        self
    }

    /// Sets how pages with one content count for the value that crawls find.
    pub(super) const fn with_duplicates(mut self, duplicates: Duplicates) -> Self {
        self.duplicates = duplicates;
        self
    }

    /// Limits the number of sources of harmonic centralities.
    pub(super) fn with_sources(mut self, sources: usize) -> Self {
        self.sources = sources;
        self
    }

    /// Evaluates breadth-first crawls too, and leaves out those of crawled pages only, whose figures are 0. Harmonic
    /// centralities are measured once, with everything known: so the baselines by them know more than the plan.
    pub(super) fn for_verdict(
        mut self,
        rng_seed: u64,
        watch: &dyn Watch,
    ) -> Result<Self, EngineError> {
        self.is_for_verdict = true;
        let web = &self.full_web;
        let (to, from) = (&web.successors, &web.predecessors);
        self.harmonic = Some(harmonic(to, from, self.sources, rng_seed, watch)?);
        Ok(self)
    }

    /// Returns the simulator of crawls over all pages, given their values and the part that each one counts for.
    fn simulator<'s>(&'s self, values: &'s [i64], due: &'s [Due]) -> FetchSimulator<'s> {
        FetchSimulator::new(CrawlInput {
            successors: &self.full_web.successors,
            crawled: &self.full_web.crawled,
            values,
            due,
            pagerank: &self.full_web.pagerank,
            sites: &self.sites,
            limits: CrawlLimits::default(),
            contents: PageContents {
                of_page: &self.contents,
                value_once: self.duplicates == Duplicates::Once,
            },
        })
    }

    /// Simulates each of the crawls from a list, with at most `budget` fetches, and every page counted whole.
    pub(super) fn crawl_list(&self, list: &[u32], budget: u64) -> Vec<ListCrawl> {
        let mut simulator = self.simulator(&self.values, &[]);
        let crawls = self.crawls.limits().iter().map(|limits| {
            simulator.set_limits(*limits);
            let mut found = ListCrawl::default();
            let numbers = simulator.crawl_each(list, budget, |fetched| {
                let page = &self.web.of[fetched.page as usize];
                found.depth = found.depth.max(Some(fetched.depth));
                found.clicks = found.clicks.saturating_add(page.clicks);
                found.clicked_pages += u64::from(page.clicks > 0);
                found.spam += u64::from(page.spam);
            });
            ListCrawl {
                pages: numbers.pages,
                crawled: nearest_count(numbers.crawled),
                contents: nearest_count(numbers.contents),
                value: numbers.value as f64 / 1e6,
                pagerank: numbers.pagerank,
                ..found
            }
        });
        crawls.collect()
    }

    /// Returns the harmonic centralities of the remaining pages, if a contender needs them.
    fn harmonic_for(
        &self,
        contenders: &[Contender],
        remaining: &HeldOutWeb<'_>,
        rng_seed: u64,
        watch: &dyn Watch,
    ) -> Result<Harmonic, EngineError> {
        match &self.harmonic {
            _ if !contenders.iter().any(Contender::needs_harmonic) => Ok(Harmonic::default()),
            Some(of_all) => Ok(of_all.of_pages(&remaining.pages)),
            None => {
                let (to, from) = (&remaining.successors, &remaining.predecessors);
                Ok(harmonic(to, from, self.sources, rng_seed, watch)?)
            }
        }
    }

    /// Evaluates the lists with a random tenth of the `crawled` pages held out, at least one. `stream` is the name of the
    /// random stream.
    pub(super) fn observe_draw(
        &self,
        contenders: &[Contender],
        crawled: &[u32],
        (stream, rng_seed): (&str, u64),
        at: u32,
        watch: &dyn Watch,
    ) -> Result<Observed, EngineError> {
        let count = number(crawled.len());
        let held_out = (count / HELD_OUT_ONE_IN).max(1) as usize;
        let drawn = draw(stream, rng_seed, at.into(), count, held_out);
        let pages: Vec<u32> = drawn.iter().map(|&at| crawled[at as usize]).collect();
        // Each draw has its own random streams.
        let stream = rng_seed.wrapping_add(10 * (u64::from(at) + 1));
        self.observe(contenders, &pages, stream, watch)
    }

    /// Selects every list without the pages of `held_out` and evaluates it. `rng_seed` determines
    /// the random streams of baselines.
    pub(super) fn observe(
        &self,
        contenders: &[Contender],
        held_out: &[u32],
        rng_seed: u64,
        watch: &dyn Watch,
    ) -> Result<Observed, EngineError> {
        let mut is_held_out = vec![false; self.web.of.len()];
        for &page in held_out {
            is_held_out[page as usize] = true;
        }
        let some_left_out;
        let remaining = if held_out.is_empty() {
            &self.full_web
        } else {
            let is_rough = !contenders.iter().any(Contender::may_count_pagerank);
            some_left_out = HeldOutWeb::new(self.web, &is_held_out, is_rough, watch)?;
            &some_left_out
        };
        let mut unseen = Vec::new();
        if !held_out.is_empty() {
            unseen = vec![true; self.web.of.len()];
            for &page in &remaining.pages {
                unseen[page as usize] = false;
            }
        }
        let mut new_contents = vec![false; self.contents.len()];
        for &page in held_out {
            new_contents[self.contents[page as usize] as usize] = true;
        }
        for (&page, _) in remaining
            .pages
            .iter()
            .zip(&remaining.crawled)
            .filter(|of| *of.1)
        {
            new_contents[self.contents[page as usize] as usize] = false;
        }
        let before = KnownBefore {
            new: &is_held_out,
            unseen: &unseen,
            new_contents: &new_contents,
        };
        // No list knows that the pages held out were ever fetched, so they count whole.
        let (mut values, mut due) = (self.values.clone(), self.due.clone());
        for page in held_out.iter().map(|&page| page as usize) {
            if let (Some(due), Some(whole)) = (due.get_mut(page), self.whole_values.get(page)) {
                (*due, values[page]) = (Due::Whole, *whole);
            }
        }
        let harmonic = self.harmonic_for(contenders, remaining, rng_seed, watch)?;
        let orders = BaselineOrders::new(remaining, harmonic, rng_seed);
        let simulator = self.simulator(&values, &due);
        let mut observed = Observed {
            harmonic_is_exact: orders.harmonic_is_exact,
            ..Observed::default()
        };
        let mut found = Vec::new();
        for (at, contender) in contenders.iter().enumerate() {
            let is_complete = held_out.is_empty();
            if matches!(contender.source, ListSource::Given(_)) && !is_complete {
                continue;
            }
            let lists = lists_of(contender, self.grid, &orders, is_complete, &Quiet(watch))?;
            for ((k, n), lists) in lists {
                watch.proceed()?;
                let listed = lists.first().map_or(0, Vec::len);
                observed.listed.insert((at, k), listed);
                found.push(((at, k, n), lists));
            }
        }
        let (crawls, budgets) = ((self.crawls, self.is_for_verdict), &self.grid.budgets);
        let lists: Vec<_> = found
            .iter()
            .flat_map(|(key, lists)| lists.iter().map(|list| (*key, list)))
            .collect();
        let evaluated: Result<Vec<Figures>, EngineError> = lists
            .par_iter()
            .map_init(
                || simulator.clone(),
                |simulator, ((_, _, n), list)| {
                    watch.proceed()?;
                    let from = (&list[..], budgets[*n], before);
                    Ok(figures_of(simulator, crawls, from))
                },
            )
            .collect();
        for ((key, _), figures) in lists.iter().zip(evaluated?) {
            observed.figures.entry(*key).or_default().push(figures);
        }
        watch.advance(found.len() as u64);
        Ok(observed)
    }
}

/// Crawls from a list, in all crawls.
fn figures_of(
    simulator: &mut FetchSimulator<'_>,
    (crawls, is_for_verdict): (Crawls, bool),
    (list, budget, before): (&[u32], u64, KnownBefore<'_>),
) -> Figures {
    let mut crawl = |limits: &CrawlLimits| {
        simulator.set_limits(*limits);
        if is_for_verdict {
            let found = simulator.crawl_all(list, &[budget], before);
            let all = found.first().map(Numbers::new).unwrap_or_default();
            let no_others = Figures::default();
            Figures { all, ..no_others }
        } else {
            let found = simulator.crawl(list, &[budget], before);
            found.first().map(Figures::new).unwrap_or_default()
        }
    };
    let limits = crawls.limits();
    let found: Vec<Figures> = limits.iter().map(&mut crawl).collect();
    let mut figures = Figures::of_crawls(&found);
    if is_for_verdict {
        let at = limits.iter().position(|of| *of == CrawlLimits::NONE);
        figures.breadth_first = at
            .map_or_else(|| crawl(&CrawlLimits::NONE), |at| found[at])
            .all;
    }
    figures
}

/// Lists, in numbers of the full web, by the indexes of seeds and fetches in the grid; several for
/// baselines with several random lists.
type Lists = BTreeMap<(usize, usize), Vec<Vec<u32>>>;

/// Returns the lists of a contender for every number of seeds and fetches. A selection is reused
/// for several of them where possible.
fn lists_of(
    contender: &Contender,
    grid: &Grid,
    orders: &BaselineOrders<'_>,
    is_complete: bool,
    watch: &dyn Watch,
) -> Result<Lists, EngineError> {
    let in_full_web = |list: Vec<u32>| -> Vec<u32> {
        let pages = list.into_iter();
        pages
            .map(|page| orders.held_out.pages[page as usize])
            .collect()
    };
    let cells = grid.cells();
    // Plans with a budget are selected for each number of fetches.
    if let Some(plan) = contender.budget_plan() {
        let requests = cells.iter().map(|&(k, n)| (grid.seeds[k], grid.budgets[n]));
        let lists = over_web_for(orders.held_out, plan, &requests.collect::<Vec<_>>(), watch)?;
        let lists = lists.into_iter().map(|list| vec![in_full_web(list)]);
        return Ok(cells.into_iter().zip(lists).collect());
    }
    let most = grid.seeds.last().copied().unwrap_or(0);
    let mut lists = Lists::new();
    let mut last_selection: Option<(u32, Vec<Vec<u32>>)> = None;
    for (k, n) in cells {
        let wanted = grid.seeds[k];
        // Prefix-stable lists are selected once, with the most seeds.
        let for_seeds = if contender.is_prefix_stable() {
            most
        } else {
            wanted
        };
        let of_seeds = match last_selection.take() {
            Some((seeds, of_seeds)) if seeds == for_seeds => of_seeds,
            _ => match &contender.source {
                ListSource::Given(list) | ListSource::OfDraw(list) => vec![list.clone()],
                ListSource::Selected(_, list) if is_complete => vec![list.clone()],
                ListSource::Plan(_) | ListSource::Selected(..) => {
                    let Some(parameters) = contender.parameters(for_seeds, 0) else {
                        return Ok(Lists::new());
                    };
                    vec![in_full_web(by_plan(
                        orders.held_out,
                        &parameters,
                        contender.constraints.as_deref(),
                        watch,
                    )?)]
                }
                ListSource::Baseline(baseline) => (0..baseline.streams())
                    .map(|stream| in_full_web(orders.list(*baseline, for_seeds as usize, stream)))
                    .collect(),
            },
        };
        let first = |list: &Vec<u32>| list.iter().copied().take(wanted as usize).collect();
        lists.insert((k, n), of_seeds.iter().map(first).collect());
        last_selection = Some((for_seeds, of_seeds));
    }
    Ok(lists)
}

/// Returns the means of several results; `None` without any.
pub(super) fn by_fetches(observations: &[Figures]) -> Option<ByFetches> {
    let view = |part: &dyn Fn(&Figures) -> Numbers| {
        let estimate = |number: &dyn Fn(Numbers) -> f64| {
            let numbers: Vec<f64> = observations.iter().map(|at| number(part(at))).collect();
            Estimate::mean_of(&numbers)
        };
        Some(GatheredView {
            fetched: estimate(&|numbers| numbers.fetched)?,
            value: estimate(&|numbers| numbers.value)?,
            crawled: estimate(&|numbers| numbers.crawled)?,
            contents: estimate(&|numbers| numbers.contents)?,
            new_pages: estimate(&|numbers| numbers.new_pages)?,
            new_contents: estimate(&|numbers| numbers.new_contents)?,
            discovered: estimate(&|numbers| numbers.discovered)?,
            pagerank: estimate(&|numbers| numbers.pagerank)?,
        })
    };
    Some(ByFetches {
        all: view(&|figures| figures.all)?,
        of_crawled: view(&|figures| figures.of_crawled)?,
    })
}
