//! Judging: every list, chosen on what is left of the web, by the crawls that it leads to.

use std::collections::BTreeMap;

use super::answers::{ByFetches, GatheredView};
use super::choose::{Orders, by_plan, over_web_for};
use super::contenders::{Chosen, Contender};
use super::held::{HeldWeb, Worth};
use super::known::KnownWeb;
use crate::engine::EngineError;
use seedbank_algorithms::evaluate::{
    CrawlInput, Estimate, FetchSimulator, FetchedWithin, Gathered,
};
use seedbank_algorithms::watch::{Quiet, Watch};

/// The numbers of seeds and fetches to compare at, each ascending.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    pub(super) seeds: Vec<u32>,
    pub(super) budgets: Vec<u64>,
}

impl Grid {
    /// The places of every pair of seeds and fetches, by seeds first.
    fn cells(&self) -> Vec<(usize, usize)> {
        let of_seeds = |k| (0..self.budgets.len()).map(move |n| (k, n));
        (0..self.seeds.len()).flat_map(of_seeds).collect()
    }
}

/// What the lists gather while some pages are held out: by contender, and by the places of seeds and
/// fetches in the grid; of baselines that draw one for each of their lists.
#[derive(Clone, Debug, Default)]
pub(super) struct Observed {
    of: BTreeMap<(usize, usize, usize), Vec<Figures>>,
    /// How many seeds the lists have, by contender and place of the seeds.
    pub(super) listed: BTreeMap<(usize, usize), usize>,
    pub(super) harmonic_is_exact: bool,
}

impl Observed {
    /// What a contender gathers, at the places of seeds and fetches in the grid.
    pub(super) fn of(&self, (contender, seeds, budget): (usize, usize, usize)) -> &[Figures] {
        let found = self.of.get(&(contender, seeds, budget));
        found.map_or(&[], Vec::as_slice)
    }
}

/// What a list gathers, as numbers whose means are taken: with all pages counted, and of crawled ones.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Figures {
    pub(super) all: Numbers,
    of_crawled: Numbers,
}

/// One of both ways to count.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Numbers {
    fetched: f64,
    /// In units.
    pub(super) value: f64,
    crawled: f64,
    new_pages: f64,
    pagerank: f64,
}

impl Numbers {
    fn of(gathered: &Gathered) -> Self {
        Self {
            fetched: gathered.pages as f64,
            value: gathered.value as f64 / 1e6,
            crawled: gathered.crawled as f64,
            new_pages: gathered.new as f64,
            pagerank: gathered.pagerank,
        }
    }
}

impl Figures {
    fn of(within: &FetchedWithin) -> Self {
        Self {
            all: Numbers::of(&within.all),
            of_crawled: Numbers::of(&within.of_crawled),
        }
    }

    /// The mean of several; nothing of none.
    pub(super) fn mean(of: &[Self]) -> Self {
        let mean = |number: &dyn Fn(&Self) -> f64| {
            of.iter().map(number).sum::<f64>() / (of.len().max(1)) as f64
        };
        let numbers = |part: &dyn Fn(&Self) -> Numbers| Numbers {
            fetched: mean(&|figures| part(figures).fetched),
            value: mean(&|figures| part(figures).value),
            crawled: mean(&|figures| part(figures).crawled),
            new_pages: mean(&|figures| part(figures).new_pages),
            pagerank: mean(&|figures| part(figures).pagerank),
        };
        Self {
            all: numbers(&|figures| figures.all),
            of_crawled: numbers(&|figures| figures.of_crawled),
        }
    }
}

/// Judges with everything that the bank has.
pub(super) struct Bench<'a> {
    web: &'a KnownWeb,
    truth: HeldWeb<'a>,
    values: Vec<i64>,
    contenders: &'a [Contender],
    grid: &'a Grid,
}

impl<'a> Bench<'a> {
    pub(super) fn new(
        web: &'a KnownWeb,
        worth: &Worth,
        contenders: &'a [Contender],
        grid: &'a Grid,
        watch: &dyn Watch,
    ) -> Result<Self, EngineError> {
        let truth = HeldWeb::new(web, &vec![false; web.of.len()], watch)?;
        Ok(Self {
            values: truth.values(worth),
            truth,
            web,
            contenders,
            grid,
        })
    }

    /// Chooses every list without the pages of `held` and judges it. `rng_seed` gives the streams of
    /// baselines that draw.
    pub(super) fn observe(
        &self,
        held: &[u32],
        rng_seed: u64,
        watch: &dyn Watch,
    ) -> Result<Observed, EngineError> {
        let mut is_held = vec![false; self.web.of.len()];
        for &page in held {
            is_held[page as usize] = true;
        }
        let left = HeldWeb::new(self.web, &is_held, watch)?;
        let orders = Orders::new(&left, rng_seed, watch)?;
        let judge = CrawlInput {
            successors: &self.truth.successors,
            crawled: &self.truth.crawled,
            values: &self.values,
            pagerank: &self.truth.pagerank,
        };
        let mut simulator = FetchSimulator::new(judge);
        let mut observed = Observed {
            harmonic_is_exact: orders.harmonic_is_exact,
            ..Observed::default()
        };
        for (at, contender) in self.contenders.iter().enumerate() {
            let whole = held.is_empty();
            if matches!(contender.chosen, Chosen::Given(_)) && !whole {
                continue;
            }
            let lists = lists_of(contender, self.grid, &orders, whole, &Quiet(watch))?;
            for ((k, n), lists) in lists {
                watch.proceed()?;
                let budget = self.grid.budgets[n];
                let judged = lists.iter().map(|list| {
                    let found = simulator.crawl(list, &[budget], |p| is_held[p as usize]);
                    found.first().map(Figures::of).unwrap_or_default()
                });
                observed.of.insert((at, k, n), judged.collect());
                let listed = lists.first().map_or(0, Vec::len);
                observed.listed.insert((at, k), listed);
                watch.advance(1);
            }
        }
        Ok(observed)
    }
}

/// Lists, in numbers of the whole web, by the places of seeds and fetches in the grid; several where a
/// baseline draws several.
type Lists = BTreeMap<(usize, usize), Vec<Vec<u32>>>;

/// The lists of a contender for every number of seeds and fetches. One selection serves several of
/// them where it can.
fn lists_of(
    contender: &Contender,
    grid: &Grid,
    orders: &Orders<'_>,
    whole: bool,
    watch: &dyn Watch,
) -> Result<Lists, EngineError> {
    let in_web = |list: Vec<u32>| -> Vec<u32> {
        let pages = list.into_iter();
        pages.map(|page| orders.held.pages[page as usize]).collect()
    };
    let cells = grid.cells();
    if let Some(plan) = contender.for_budgets() {
        let asked = cells.iter().map(|&(k, n)| (grid.seeds[k], grid.budgets[n]));
        let lists = over_web_for(orders.held, plan, &asked.collect::<Vec<_>>(), watch)?;
        let lists = lists.into_iter().map(|list| vec![in_web(list)]);
        return Ok(cells.into_iter().zip(lists).collect());
    }
    let most = grid.seeds.last().copied().unwrap_or(0);
    let mut lists = Lists::new();
    let mut made: Option<(u32, Vec<Vec<u32>>)> = None;
    for (k, n) in cells {
        let wanted = grid.seeds[k];
        let for_seeds = if contender.begins_alike() {
            most
        } else {
            wanted
        };
        let of_seeds = match made.take() {
            Some((seeds, of_seeds)) if seeds == for_seeds => of_seeds,
            _ => match &contender.chosen {
                Chosen::Given(list) => vec![list.clone()],
                Chosen::Selected(_, list) if whole => vec![list.clone()],
                Chosen::Plan(_) | Chosen::Selected(..) => {
                    let Some(parameters) = contender.parameters(for_seeds, 0) else {
                        return Ok(Lists::new());
                    };
                    vec![in_web(by_plan(orders.held, &parameters.resolve()?, watch)?)]
                }
                Chosen::Baseline(baseline) => (0..baseline.streams())
                    .map(|stream| in_web(orders.list(*baseline, for_seeds as usize, stream)))
                    .collect(),
            },
        };
        let first = |list: &Vec<u32>| list.iter().copied().take(wanted as usize).collect();
        lists.insert((k, n), of_seeds.iter().map(first).collect());
        made = Some((for_seeds, of_seeds));
    }
    Ok(lists)
}

/// The means of what a list gathers over several observations; `None` without any.
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
            new_pages: estimate(&|numbers| numbers.new_pages)?,
            pagerank: estimate(&|numbers| numbers.pagerank)?,
        })
    };
    Some(ByFetches {
        all: view(&|figures| figures.all)?,
        of_crawled: view(&|figures| figures.of_crawled)?,
    })
}
