//! `evaluate methods --next`: how many new pages lists would have found after each of the last batches.
//!
//! A list is chosen with what was known after a batch, and replayed over the three batches after it. In the
//! closed loop, each list crawls once for every batch and knows only what its own crawls found.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::seed_lists;
use crate::engine::applied_batches::{applied_batches, first_fetches, next_crawl};
use crate::engine::eligibility::{PlanScope, Rest};
use crate::engine::error::{ExperimentError, web_graph_error, whole_graph_error};
use crate::engine::evaluate::answers::StateView;
use crate::engine::ingest::KEPT_BATCHES;
use crate::engine::query::views::Views;
use crate::engine::web_graph::{Numbering, load_image};
use crate::engine::{Bank, EngineError, Result};
use schemars::JsonSchema;
use seedbank_algorithms::cover::global::{ValueBy, WebChoice, WebGraph, WebParams, select};
use seedbank_algorithms::cover::{CoverParams, Method, Value};
use seedbank_algorithms::crawl_limits::CrawlLimits;
use seedbank_algorithms::evaluate::fetch_simulator::{
    CrawlInput, FetchSimulator, FetchedWithin, Gathered, KnownBefore, PageContents,
};
use seedbank_algorithms::graph::{Csr, PageGraph, number};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::rank::pagerank;
use seedbank_algorithms::statistics::{Estimate, draw};
use seedbank_algorithms::watch::Watch;
use seedbank_algorithms::yields::{FirstFetches, Observation, Yield, expected_links};
use seedbank_store::records::{BatchId, BatchRecord, PageState};
use seedbank_store::{GraphImage, ImageLinks, Store, tables};
use serde::{Deserialize, Serialize};

/// The number of batches over which a list is replayed.
const REPLAYED: usize = 3;

/// With fewer days, nothing is decided.
const MIN_DAYS: u64 = 10;

/// Request of [`Bank::evaluate_next`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NextRequest {
    /// Number of seeds of each list.
    pub seeds: u32,
    /// Number of fetches of each crawl; `None` for five for each seed.
    pub budget: Option<u64>,
    /// The number of days before the last fetch in the bank within which a fetched page cannot be a seed.
    pub rest: u32,
    /// The seed of random draws.
    pub rng_seed: u64,
}

impl Default for NextRequest {
    fn default() -> Self {
        Self {
            seeds: 20,
            budget: None,
            rest: 0,
            rng_seed: 0,
        }
    }
}

impl Bank {
    /// Compares how many new pages crawls from several lists would have found, among them that of the goal
    /// discovery with learned values. Uses at most the last 40 batches, which keep what they overwrote.
    ///
    /// Fails if there are fewer than five such batches.
    ///
    /// Cost: loading the graph; for each batch and list a selection and two crawls.
    pub fn evaluate_next(&self, request: &NextRequest) -> Result<NextEvaluation> {
        let watch = self.watch();
        let views = Views::open(self)?;
        let store = &views.reader;
        let state = seed_lists::state(store)?;
        let timeline = Timeline::load(store, KEPT_BATCHES, watch)?;
        // The first batch is only learned from, and the last ones are only replayed.
        if timeline.steps.len() < REPLAYED + 2 {
            let batches = timeline.steps.len() as u64;
            return Err(ExperimentError::TooFewBatches { batches }.into());
        }
        let budget = request.budget.unwrap_or(5 * u64::from(request.seeds));
        let terms = Terms {
            seeds: request.seeds,
            budget,
            rest: request.rest,
            rng_seed: request.rng_seed,
        };
        let replayed = replay_days(&timeline, terms, watch)?;
        watch.stage("crawl in a closed loop", Some(NextList::ALL.len() as u64));
        let mut in_loop = Vec::new();
        for list in NextList::ALL {
            let days = closed_loop(&timeline, list, &replayed.settings, terms, watch)?;
            in_loop.push(days);
            watch.advance(1);
        }
        let mean = |sum: u64, days: usize| sum as f64 / days.max(1) as f64;
        let rows = NextList::ALL.iter().enumerate().map(|(at, list)| {
            let of_list: Vec<&FetchedWithin> = replayed.days.iter().map(|day| &day[at]).collect();
            let new_pages = |of: fn(&FetchedWithin) -> &Gathered| NewPages {
                found: mean(
                    of_list.iter().map(|day| of(day).discovered).sum(),
                    of_list.len(),
                ),
                fetched: mean(of_list.iter().map(|day| of(day).new).sum(), of_list.len()),
            };
            let days = &in_loop[at];
            NextRow {
                list: *list,
                replayed: new_pages(|day| &day.all),
                replayed_crawled: new_pages(|day| &day.of_crawled),
                closed_loop: NewPages {
                    found: mean(days.iter().map(|day| day.found).sum(), days.len()),
                    fetched: mean(days.iter().map(|day| day.fetched).sum(), days.len()),
                },
            }
        });
        let rows = rows.collect();
        let found_of = |at: usize| replayed.days.iter().map(move |day| day[at].all.discovered);
        let found: Vec<Vec<u64>> = (0..NextList::ALL.len())
            .map(|at| found_of(at).collect())
            .collect();
        let found_in_loop: Vec<Vec<u64>> = in_loop
            .iter()
            .map(|days| days.iter().map(|day| day.found).collect())
            .collect();
        let batches: Vec<_> = timeline.steps.iter().map(|step| step.batch).collect();
        Ok(NextEvaluation {
            state,
            seeds: request.seeds,
            budget,
            rest: request.rest,
            rng_seed: request.rng_seed,
            batches: batches[..replayed.days.len()].to_vec(),
            batches_in_loop: batches,
            rows,
            replayed: compare(&found),
            closed_loop: compare(&found_in_loop),
        })
    }
}

struct Replayed {
    /// For each day the results of all lists.
    days: Vec<Vec<FetchedWithin>>,
    /// The setting of the list for coverage by batch, chosen on the batch before.
    settings: Vec<usize>,
}

/// Chooses all lists after each batch but the last ones, and replays them over the batches after it.
fn replay_days(timeline: &Timeline, terms: Terms, watch: &dyn Watch) -> Result<Replayed> {
    let steps = &timeline.steps;
    watch.stage("choose and replay", Some(steps.len() as u64));
    let mut known = timeline.start.clone();
    let mut days = Vec::new();
    let mut settings = vec![0];
    for (day, step) in (0_u64..).zip(steps) {
        watch.proceed()?;
        // The best setting on this batch is that of the next list.
        let best = best_setting(&known, step, terms, day, watch)?;
        known.apply(step);
        settings.push(best);
        let after = &steps[days.len() + 1..];
        if after.len() >= REPLAYED && days.len() as u64 == day {
            let content = Content::new(&known, &after[..REPLAYED]);
            let before = KnownBefore {
                new: content.unseen(),
                unseen: content.unseen(),
                new_contents: &[],
            };
            let web = KnownWeb::new(&known, terms);
            let mut simulator = content.simulator();
            let mut of_day = Vec::new();
            for list in NextList::ALL {
                let seeds = web.seeds(list, best, day, watch)?;
                let crawl = simulator.crawl(&seeds, &[terms.budget], before);
                of_day.push(crawl.first().copied().unwrap_or_default());
            }
            days.push(of_day);
        }
        watch.advance(1);
    }
    settings.truncate(steps.len());
    Ok(Replayed { days, settings })
}

/// Returns the setting whose list, chosen before a batch, finds the most in that batch; the first of equals.
fn best_setting(
    known: &Knowledge,
    step: &Step,
    terms: Terms,
    day: u64,
    watch: &dyn Watch,
) -> Result<usize> {
    let content = Content::new(known, std::slice::from_ref(step));
    let before = KnownBefore {
        new: content.unseen(),
        unseen: content.unseen(),
        new_contents: &[],
    };
    let web = KnownWeb::new(known, terms);
    let mut simulator = content.simulator();
    let (mut best, mut most) = (0, None);
    for setting in 0..SETTINGS.len() {
        let seeds = web.seeds(NextList::Coverage, setting, day, watch)?;
        let crawl = simulator.crawl(&seeds, &[terms.budget], before);
        let found = crawl.first().map_or(0, |within| within.all.discovered);
        if most.is_none_or(|most| found > most) {
            (best, most) = (setting, Some(found));
        }
    }
    Ok(best)
}

/// Compares the first list with the baseline that found the most. `found` has the pages found by list and day.
fn compare(found: &[Vec<u64>]) -> NextComparison {
    let total = |at: usize| found[at].iter().sum::<u64>();
    let lists = NextList::ALL.iter().enumerate();
    let baselines = lists.filter(|(_, list)| list.is_baseline());
    // The first of equals.
    let best = baselines.fold(
        None,
        |best: Option<(usize, NextList)>, (at, list)| match best {
            Some((other, _)) if total(other) >= total(at) => best,
            _ => Some((at, *list)),
        },
    );
    let (best, baseline) = best.unwrap_or((0, NextList::Learned));
    let pairs: Vec<(f64, f64)> = found[0]
        .iter()
        .zip(&found[best])
        .map(|(own, other)| (*own as f64, *other as f64))
        .collect();
    let logs: Vec<f64> = pairs
        .iter()
        .map(|(own, other)| ((own + 0.5) / (other + 0.5)).ln())
        .collect();
    let ratio = Estimate::ratio_of_means(&pairs);
    let log_day_ratio = Estimate::mean_of(&logs);
    let days = pairs.len() as u64;
    let sum: f64 = pairs.iter().map(|pair| pair.0).sum();
    let largest = pairs.iter().map(|pair| pair.0).fold(0.0, f64::max);
    NextComparison {
        baseline,
        days,
        won: pairs.iter().filter(|(own, other)| own > other).count() as u64,
        day_ratio: log_day_ratio.map(|log| log.mean.exp()),
        verdict: verdict(days, ratio, log_day_ratio),
        ratio,
        log_day_ratio,
        largest_day: if sum > 0.0 { largest / sum } else { 0.0 },
    }
}

fn verdict(days: u64, ratio: Option<Estimate>, log: Option<Estimate>) -> NextVerdict {
    let (Some(ratio), Some(log)) = (ratio, log) else {
        return NextVerdict::Undecided;
    };
    let error = log.standard_error.unwrap_or(f64::INFINITY);
    if days < MIN_DAYS || log.mean.abs() <= error {
        NextVerdict::Undecided
    } else if ratio.mean > 1.0 && log.mean > 0.0 {
        NextVerdict::Better
    } else if ratio.mean < 1.0 && log.mean < 0.0 {
        NextVerdict::Worse
    } else {
        NextVerdict::Undecided
    }
}

// The answer of `evaluate methods --next`.

/// A list that is chosen for the next crawls.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum NextList {
    /// Greedy by the expected number of new links: the goal discovery with `learned`.
    Learned,
    /// Greedy by page value, with hops and fetch cost tuned on the day before.
    Coverage,
    /// Pages with the most links.
    OutDegree,
    /// Pages whose last fetch is the longest ago.
    Oldest,
    /// Pages with the most links times days since the last fetch.
    OutDegreeDays,
    /// Pages with the most links to them.
    InDegree,
    /// Pages with the highest PageRank.
    Pagerank,
    /// Pages drawn at random.
    Random,
}

impl NextList {
    /// All lists; baselines come last.
    pub const ALL: [Self; 8] = [
        Self::Learned,
        Self::Coverage,
        Self::OutDegree,
        Self::Oldest,
        Self::OutDegreeDays,
        Self::InDegree,
        Self::Pagerank,
        Self::Random,
    ];

    /// Whether it learns nothing and has no parameters.
    #[must_use]
    pub const fn is_baseline(self) -> bool {
        !matches!(self, Self::Learned | Self::Coverage)
    }

    /// Returns the name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Learned => "learned",
            Self::Coverage => "coverage",
            Self::OutDegree => "out-degree",
            Self::Oldest => "oldest first",
            Self::OutDegreeDays => "out-degree x days",
            Self::InDegree => "in-degree",
            Self::Pagerank => "pagerank",
            Self::Random => "random",
        }
    }
}

/// New pages of a crawl: URLs that the bank did not know when the list was chosen.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct NewPages {
    /// Those that fetched pages link to, or that were fetched.
    #[schemars(range(min = 0))]
    pub found: f64,
    /// Those that were fetched.
    #[schemars(range(min = 0))]
    pub fetched: f64,
}

/// The results of a list, as means over the days.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NextRow {
    /// The list.
    pub list: NextList,
    /// New pages if every page is fetched.
    pub replayed: NewPages,
    /// New pages if only pages are fetched that the bank ever fetched.
    pub replayed_crawled: NewPages,
    /// New pages of a crawl in the closed loop, in which each list knows only what its own crawls found.
    pub closed_loop: NewPages,
}

/// A comparison of the learned list with the baseline that found the most in hindsight, by pages found.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NextComparison {
    /// The baseline.
    pub baseline: NextList,
    /// Number of days.
    pub days: u64,
    /// Days on which the learned list found more.
    pub won: u64,
    /// Ratio of the means, with its standard error; `null` if the baseline found nothing.
    pub ratio: Option<Estimate>,
    /// Geometric mean of the ratios of days, each with half a page added to both; `null` without days.
    #[schemars(range(min = 0))]
    pub day_ratio: Option<f64>,
    /// The logarithm of `day_ratio`, with its standard error over the days; `null` without days.
    pub log_day_ratio: Option<Estimate>,
    /// The share of the pages found by the learned list that it found on its best day, from 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub largest_day: f64,
    /// What follows.
    pub verdict: NextVerdict,
}

/// Whether learned values find more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NextVerdict {
    /// Both ratios are above 1, that of the days by more than its standard error.
    Better,
    /// Both ratios are below 1, that of the days by more than its standard error.
    Worse,
    /// There are fewer than 10 days, the two ratios disagree, or the difference is within the error.
    Undecided,
}

/// The result of `evaluate methods --next`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct NextEvaluation {
    /// The state.
    pub state: StateView,
    /// Number of seeds of each list.
    #[schemars(range(min = 1))]
    pub seeds: u32,
    /// Number of fetches of each crawl.
    #[schemars(range(min = 1))]
    pub budget: u64,
    /// The number of days before the last fetch in the bank within which a fetched page cannot be a seed.
    pub rest: u32,
    /// The seed of random draws.
    pub rng_seed: u64,
    /// The batches after which lists were chosen, each to be replayed over the three batches after it.
    pub batches: Vec<BatchId>,
    /// The batches of the closed loop.
    pub batches_in_loop: Vec<BatchId>,
    /// The lists.
    pub rows: Vec<NextRow>,
    /// The learned list beside the best baseline when replayed.
    pub replayed: NextComparison,
    /// The same in the closed loop. Replays favour lists that have the same pages every day, since
    /// what these missed the day before counts again; in the closed loop it does not.
    pub closed_loop: NextComparison,
}

// Selects the seeds of each compared list from what is known at a time.

/// Hops and fetch costs that are tried for coverage, in millionths.
const SETTINGS: [(u32, i64); 4] = [(1, 50_000), (1, 330_000), (2, 50_000), (2, 330_000)];

/// The value of a known page in lists for coverage, in millionths.
const VALUE_KNOWN: i64 = 300_000;

/// The crawl for which lists are made.
#[derive(Clone, Copy)]
struct Terms {
    seeds: u32,
    /// The number of fetches of each crawl.
    budget: u64,
    /// The number of days before the last fetch in the bank within which a fetched page cannot be a seed.
    rest: u32,
    rng_seed: u64,
}

/// The web as known at a time, with the links and candidates that lists are selected from.
struct KnownWeb<'a> {
    known: &'a Knowledge,
    terms: Terms,
    /// Links to pages that are known or crawled.
    successors: Csr,
    /// Pages that may be seeds, ascending.
    eligible: Vec<u32>,
}

impl<'a> KnownWeb<'a> {
    fn new(known: &'a Knowledge, terms: Terms) -> Self {
        let is_live = |page: &u32| known.states[*page as usize].is_live();
        let mut successors = Csr::default();
        for links in &known.links {
            successors.push(links.iter().copied().filter(is_live));
        }
        let rest = Rest::new(known.last_fetch, terms.rest);
        let may_be_seed = |page: &u32| {
            let at = *page as usize;
            let has_links = !successors.list(*page).is_empty();
            let is_admitted = PlanScope::WEB
                .seeds
                .includes(known.states[at], known.spam[at]);
            is_admitted && has_links && !rest.rejects(known.fetched[at])
        };
        let eligible = (0..number(known.links.len())).filter(may_be_seed).collect();
        Self {
            known,
            terms,
            successors,
            eligible,
        }
    }

    /// Returns the seconds from the last fetch of a page to the next crawl.
    fn since(&self, page: usize) -> u64 {
        let fetched = self.known.fetched[page].unwrap_or(self.known.last_fetch);
        self.known.next_crawl.saturating_sub(fetched)
    }

    fn degree(&self, page: u32) -> u64 {
        self.successors.list(page).len() as u64
    }

    /// Returns the seeds of a list, best first. `setting` is one of [`SETTINGS`], `day` numbers random draws.
    fn seeds(
        &self,
        list: NextList,
        setting: usize,
        day: u64,
        watch: &dyn Watch,
    ) -> Result<Vec<u32>> {
        let terms = self.terms;
        let by = |score: &dyn Fn(u32) -> u64| {
            let mut pages = self.eligible.clone();
            pages.sort_by_cached_key(|page| (Reverse(score(*page)), *page));
            pages.truncate(terms.seeds as usize);
            pages
        };
        Ok(match list {
            NextList::Learned => {
                let choice = choice(ValueBy::Learned, None, terms)?;
                self.selected(self.expected(), choice, watch)?
            }
            NextList::Coverage => {
                let choice = choice(ValueBy::Weights, Some(SETTINGS[setting]), terms)?;
                let value = |state: &PageState| match state {
                    PageState::Crawled => Value::units(1).0,
                    PageState::Known => VALUE_KNOWN,
                    PageState::Gone
                    | PageState::Unlinked
                    | PageState::Alias
                    | PageState::Resource => 0,
                };
                let values = self.known.states.iter().map(value).collect();
                self.selected(values, choice, watch)?
            }
            NextList::OutDegree => by(&|page| self.degree(page)),
            NextList::Oldest => by(&|page| self.since(page as usize)),
            NextList::OutDegreeDays => {
                by(&|page| self.degree(page).saturating_mul(self.since(page as usize)))
            }
            NextList::InDegree => {
                let citers = self.successors.transpose(self.known.links.len());
                by(&|page| citers.list(page).len() as u64)
            }
            NextList::Pagerank => {
                let ranks = self.pagerank(watch)?;
                // Nonnegative floating-point numbers are ordered as their bits are.
                by(&|page| ranks[page as usize].to_bits())
            }
            NextList::Random => {
                let count = number(self.eligible.len());
                let wanted = terms.seeds as usize;
                let drawn = draw("next", terms.rng_seed, day, count, wanted);
                drawn.iter().map(|at| self.eligible[*at as usize]).collect()
            }
        })
    }

    /// Returns the expected new links of the next fetch of each page; 0 for pages that are not known.
    fn expected(&self) -> Vec<i64> {
        let live = |page: &usize| self.known.states[*page].is_live();
        let pages = (0..self.known.links.len()).filter(live);
        let observed = pages.clone().map(|page| {
            let seconds = self.since(page);
            let observation = Observation {
                sums: self.known.sums[page].decayed(seconds),
                links: self.degree(number(page)),
            };
            self.known
                .is_crawled(page)
                .then_some((observation, seconds))
        });
        let mut values = vec![0; self.known.links.len()];
        for (page, value) in pages.zip(expected_links(observed, self.known.first)) {
            values[page] = value;
        }
        values
    }

    fn selected(&self, values: Vec<i64>, choice: WebChoice, watch: &dyn Watch) -> Result<Vec<u32>> {
        let mut may_be_seed = vec![false; values.len()];
        for page in &self.eligible {
            may_be_seed[*page as usize] = true;
        }
        let graph = WebGraph::from_successors(values, self.successors.clone(), &may_be_seed);
        let selected = select(&mut graph.map_err(web_graph_error)?, &choice, &[], watch)?;
        let picks = selected.cover.picks.iter();
        Ok(picks.map(|pick| pick.seed.page).collect())
    }

    fn pagerank(&self, watch: &dyn Watch) -> Result<Vec<f64>> {
        let citers = self.successors.transpose(self.known.links.len());
        let graph = PageGraph::new(citers, Csr::default(), &Csr::default());
        Ok(pagerank(&graph.map_err(whole_graph_error)?, watch)?.0)
    }
}

/// Returns the parameters of a greedy list, with the given hops and fetch cost if there are any.
fn choice(value_by: ValueBy, setting: Option<(u32, i64)>, terms: Terms) -> Result<WebChoice> {
    let params = WebParams {
        cover: CoverParams {
            method: Method::Greedy,
            seeds: Some(terms.seeds),
            p_uniq: Some(Value(0)),
            ..CoverParams::default()
        },
        hops: setting.map(|of| of.0),
        fetch_cost: setting.map(|of| Value(of.1)),
        value_by,
        budget: (value_by == ValueBy::Learned).then_some(terms.budget),
        ..WebParams::default()
    };
    params
        .choose()
        .map_err(|_| EngineError::Internal("parameters of a compared list are invalid"))
}

// Crawls over what later batches brought: from the list of one day, and in a closed loop.

/// The web as the fetches of some batches found it.
struct Content {
    successors: Csr,
    crawled: Vec<bool>,
    /// Pages that were not known before these batches.
    unseen: Vec<bool>,
    values: Vec<i64>,
    ranks: Vec<f64>,
}

impl Content {
    /// A page has the links that were known of it, and those that its fetches in `steps` added.
    fn new(known: &Knowledge, steps: &[Step]) -> Self {
        let count = known.links.len();
        let mut crawled: Vec<bool> = (0..count).map(|page| known.is_crawled(page)).collect();
        let mut unseen = vec![false; count];
        let mut gained: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for change in steps.iter().flat_map(|step| &step.changes) {
            if !change.is_fetch {
                continue;
            }
            crawled[change.page as usize] = true;
            let links = gained.entry(change.page).or_default();
            links.extend(&change.gained);
            for to in &change.gained {
                unseen[*to as usize] |= !known.has(*to as usize);
            }
        }
        let mut successors = Csr::default();
        for (page, links) in (0..).zip(&known.links) {
            let more = gained.get(&page).into_iter().flatten();
            let mut all: Vec<u32> = links.iter().chain(more).copied().collect();
            all.sort_unstable();
            all.dedup();
            successors.push(all);
        }
        Self {
            successors,
            crawled,
            unseen,
            values: vec![0; count],
            ranks: vec![0.0; count],
        }
    }

    fn simulator(&self) -> FetchSimulator<'_> {
        FetchSimulator::new(CrawlInput {
            successors: &self.successors,
            crawled: &self.crawled,
            values: &self.values,
            pagerank: &self.ranks,
            sites: &[],
            limits: CrawlLimits::default(),
            contents: PageContents::default(),
        })
    }

    /// Pages that were not known when the lists were made.
    fn unseen(&self) -> &[bool] {
        &self.unseen
    }
}

/// What a crawl of the closed loop brought.
#[derive(Clone, Copy, Default)]
struct DayInLoop {
    /// URLs that the loop saw for the first time.
    found: u64,
    /// Pages among all found so far that it fetched for the first time.
    fetched: u64,
}

/// Crawls once for every batch, each time from the seeds of a list that only knows what its own crawls found.
/// A fetch finds a page as the last fetch of the bank did. `settings` has the setting of each day.
fn closed_loop(
    timeline: &Timeline,
    list: NextList,
    settings: &[usize],
    terms: Terms,
    watch: &dyn Watch,
) -> Result<Vec<DayInLoop>> {
    let mut truth = timeline.start.clone();
    let mut own = timeline.start.clone();
    let mut days = Vec::new();
    for (day, (step, setting)) in (0..).zip(timeline.steps.iter().zip(settings)) {
        watch.proceed()?;
        let seeds = KnownWeb::new(&own, terms).seeds(list, *setting, day, watch)?;
        truth.apply(step);
        let crawl = Crawl {
            truth: &truth,
            start: &timeline.start,
            own: &mut own,
            now: truth.last_fetch,
            day: DayInLoop::default(),
        };
        days.push(crawl.run(seeds, terms.budget));
    }
    Ok(days)
}

/// A crawl whose finds become known to the list that it began from.
struct Crawl<'a> {
    truth: &'a Knowledge,
    /// What was known before the first crawl.
    start: &'a Knowledge,
    own: &'a mut Knowledge,
    now: u64,
    day: DayInLoop,
}

impl Crawl<'_> {
    /// Fetches the seeds in their order, then level by level in URL order.
    fn run(mut self, seeds: Vec<u32>, budget: u64) -> DayInLoop {
        let mut met = vec![false; self.own.links.len()];
        let mut level = seeds;
        for page in &level {
            met[*page as usize] = true;
        }
        let mut left = budget;
        while !level.is_empty() && left > 0 {
            let mut next = Vec::new();
            for page in level {
                if left == 0 {
                    break;
                }
                left -= 1;
                self.fetch(page as usize);
                let links = self.own.links[page as usize].iter().copied();
                next.extend(links.filter(|to| !std::mem::replace(&mut met[*to as usize], true)));
            }
            next.sort_unstable();
            level = next;
        }
        self.own.last_fetch = self.now;
        self.own.next_crawl = self.truth.next_crawl;
        self.day
    }

    fn fetch(&mut self, page: usize) {
        let was_crawled = self.own.is_crawled(page);
        if !was_crawled && !self.start.has(page) {
            self.day.fetched += 1;
        }
        // The bank does not know the links of a page that it never fetched, or that is gone.
        let links = match self.truth.states[page] {
            PageState::Crawled => self.truth.links[page].clone(),
            _ => Vec::new(),
        };
        let mut new = 0;
        for to in &links {
            if !self.own.has(*to as usize) {
                self.own.states[*to as usize] = PageState::Known;
                new += 1;
            }
        }
        self.day.found += new;
        match self.own.fetched[page].filter(|_| was_crawled) {
            Some(before) if self.now > before => {
                let sums: Yield = self.own.sums[page];
                self.own.sums[page] = sums.after_fetch(self.now - before, new);
            }
            Some(_) => {}
            None => {
                self.own.first.tried += 1;
                self.own.first.answered += 1;
                self.own.first.new += new;
            }
        }
        self.own.links[page] = links;
        self.own.states[page] = PageState::Crawled;
        self.own.fetched[page] = Some(self.now);
    }
}

// The bank as it was after each of its last batches, reconstructed from what batches overwrote.

/// What is known after a batch; pages are numbered in URL order.
#[derive(Clone, Default)]
struct Knowledge {
    /// The links of each page, ascending.
    links: Vec<Vec<u32>>,
    states: Vec<PageState>,
    spam: Vec<bool>,
    /// The times of the last fetches, in seconds since 1970 (UTC).
    fetched: Vec<Option<u64>>,
    sums: Vec<Yield>,
    first: FirstFetches,
    /// The time of the last fetch, and that at which the next crawl is expected.
    last_fetch: u64,
    next_crawl: u64,
}

/// What a batch changed of a page.
#[derive(Clone, Debug)]
struct PageChange {
    page: u32,
    /// Whether the batch has a fetch of the page that did not fail.
    is_fetch: bool,
    state: PageState,
    spam: bool,
    fetched: Option<u64>,
    sums: Yield,
    /// Links that it added, ascending, and links that it removed.
    gained: Vec<u32>,
    lost: Vec<u32>,
}

/// A batch.
struct Step {
    batch: BatchId,
    /// The changes, by page.
    changes: Vec<PageChange>,
    first: FirstFetches,
    last_fetch: u64,
    next_crawl: u64,
}

/// The last batches of a bank.
struct Timeline {
    /// What was known before the first of them.
    start: Knowledge,
    steps: Vec<Step>,
}

impl Knowledge {
    /// Applies the next batch.
    fn apply(&mut self, step: &Step) {
        for change in &step.changes {
            let at = change.page as usize;
            let links = &mut self.links[at];
            links.retain(|to| change.lost.binary_search(to).is_err());
            links.extend(&change.gained);
            links.sort_unstable();
            links.dedup();
            self.states[at] = change.state;
            self.spam[at] = change.spam;
            self.fetched[at] = change.fetched;
            self.sums[at] = change.sums;
        }
        self.first = step.first;
        self.last_fetch = step.last_fetch;
        self.next_crawl = step.next_crawl;
    }

    /// Whether a page was known, in any state.
    fn has(&self, page: usize) -> bool {
        self.states[page] != PageState::Unlinked
    }

    fn is_crawled(&self, page: usize) -> bool {
        self.states[page] == PageState::Crawled
    }
}

impl Timeline {
    /// Loads the batches whose overwritten fetches are kept, at most `kept` of them.
    ///
    /// Cost: loading the graph, a scan of all pages, and what the batches overwrote. Memory: some 80 bytes for
    /// each page, and 4 for each link.
    fn load(store: &Store, kept: BatchId, watch: &dyn Watch) -> Result<Self> {
        let batches = applied_batches(store)?;
        let oldest = store.counters()?.batch.saturating_sub(kept);
        // Batches that an older version ingested have no time.
        let is_kept = |pair: &[(BatchId, BatchRecord)]| matches!(pair, [before, this] if before.1.last_fetch > 0 && this.0 > oldest);
        let count = batches
            .windows(2)
            .rev()
            .take_while(|pair| is_kept(pair))
            .count();
        let kept = &batches[batches.len() - count..];
        let mut reader = Reader::load(store, watch)?;
        let before = batches.len() - count;
        let mut steps = Vec::new();
        for (at, (batch, record)) in kept.iter().enumerate().rev() {
            watch.proceed()?;
            steps.push(Step {
                batch: *batch,
                changes: reader.take_back(store, *batch)?,
                first: first_fetches(&batches[..=before + at]),
                last_fetch: record.last_fetch,
                next_crawl: next_crawl(&batches[..=before + at]),
            });
        }
        steps.reverse();
        let mut start = reader.now;
        start.first = first_fetches(&batches[..before]);
        start.last_fetch = batches[..before].last().map_or(0, |of| of.1.last_fetch);
        start.next_crawl = next_crawl(&batches[..before]);
        Ok(Self { start, steps })
    }
}

/// The state from which batches are undone, the last one first.
struct Reader {
    image: GraphImage,
    numbers: Numbering,
    now: Knowledge,
    /// Pages by the batch that first named them.
    first_seen: BTreeMap<BatchId, Vec<u32>>,
}

impl Reader {
    fn load(store: &Store, watch: &dyn Watch) -> Result<Self> {
        let image = load_image(store, ImageLinks::All, watch)?;
        let numbers = Numbering::by_url(&image, |_| true)?;
        let successors = numbers.successors(&image);
        let count = numbers.slots.len();
        let mut now = Knowledge {
            links: (0..number(count))
                .map(|page| successors.list(page).to_vec())
                .collect(),
            states: vec![PageState::Unlinked; count],
            spam: vec![false; count],
            fetched: vec![None; count],
            sums: vec![Yield::default(); count],
            ..Knowledge::default()
        };
        drop(successors);
        let mut first_seen: BTreeMap<BatchId, Vec<u32>> = BTreeMap::new();
        for entry in store.scan(&tables::PAGES)? {
            watch.proceed()?;
            let (page, record) = entry?;
            let Some(page) = image.slot(page).and_then(|slot| numbers.number(slot)) else {
                continue;
            };
            let at = page as usize;
            now.states[at] = record.state;
            now.spam[at] = record.spam;
            now.fetched[at] = record.fetched;
            first_seen.entry(record.first_seen).or_default().push(page);
        }
        let mut reader = Self {
            image,
            numbers,
            now,
            first_seen,
        };
        for entry in store.scan(&tables::YIELDS)? {
            let (key, block) = entry?;
            for (place, sums) in block.0 {
                if let Some(page) = reader.number(PageId::new(key.site, key.index(place))) {
                    reader.now.sums[page as usize] = sums;
                }
            }
        }
        Ok(reader)
    }

    fn number(&self, page: PageId) -> Option<u32> {
        let slot = self.image.slot(page)?;
        self.numbers.number(slot)
    }

    /// Returns the change of a page by the batch to what is known now, without links.
    fn change(&self, page: u32, is_fetch: bool) -> PageChange {
        let at = page as usize;
        PageChange {
            page,
            is_fetch,
            state: self.now.states[at],
            spam: self.now.spam[at],
            fetched: self.now.fetched[at],
            sums: self.now.sums[at],
            gained: Vec::new(),
            lost: Vec::new(),
        }
    }

    /// Undoes a batch. Returns its changes, by page.
    fn take_back(&mut self, store: &Store, batch: BatchId) -> Result<Vec<PageChange>> {
        let mut changes: BTreeMap<u32, PageChange> = BTreeMap::new();
        for entry in store.scan_under(&tables::FETCH_HISTORY, &batch.to_be_bytes())? {
            let ((_, key), block) = entry?;
            for (place, previous) in block.0 {
                let Some(page) = self.number(PageId::new(key.site, key.index(place))) else {
                    continue;
                };
                let numbers = |pages: &[PageId]| {
                    let mut numbers: Vec<u32> =
                        pages.iter().filter_map(|page| self.number(*page)).collect();
                    numbers.sort_unstable();
                    numbers
                };
                let (gained, lost) = (numbers(&previous.gained), numbers(&previous.lost));
                let change = PageChange {
                    gained,
                    lost,
                    ..self.change(page, previous.is_fetch)
                };
                let at = page as usize;
                let links = &mut self.now.links[at];
                links.retain(|to| change.gained.binary_search(to).is_err());
                links.extend(&change.lost);
                links.sort_unstable();
                self.now.fetched[at] = previous.fetched;
                self.now.sums[at] = previous.sums.unwrap_or_default();
                changes.insert(page, change);
            }
        }
        let mut earlier = Vec::new();
        for entry in store.scan_under(&tables::PAGE_HISTORY, &batch.to_be_bytes())? {
            let ((_, page), previous) = entry?;
            if let Some(page) = self.number(page) {
                earlier.push((page, previous.state, previous.spam));
            }
        }
        let of_new = self.first_seen.get(&batch).cloned().unwrap_or_default();
        let new = of_new
            .iter()
            .map(|page| (*page, PageState::Unlinked, false));
        for (page, state, spam) in earlier.into_iter().chain(new) {
            let at = page as usize;
            let is_first = was_fetched(self.now.states[at]) && !was_fetched(state);
            let has_links = changes.contains_key(&page);
            let whole = self.change(page, is_first);
            let change = changes.entry(page).or_insert(whole);
            if is_first && !has_links {
                change.gained = std::mem::take(&mut self.now.links[at]);
                self.now.fetched[at] = None;
                self.now.sums[at] = Yield::default();
            }
            self.now.states[at] = state;
            self.now.spam[at] = spam;
        }
        Ok(changes.into_values().collect())
    }
}

const fn was_fetched(state: PageState) -> bool {
    matches!(
        state,
        PageState::Crawled | PageState::Gone | PageState::Alias | PageState::Resource
    )
}

#[cfg(test)]
#[path = "next_tests.rs"]
mod tests;
