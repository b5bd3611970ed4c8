//! `evaluate methods --next`: how many new pages crawls from a plan's lists would have found after each of the last batches, and
//! how many from other lists.
//!
//! A list is chosen with what was known after a batch, and replayed over the three batches after it. In the
//! closed loop, each list crawls once for every batch and knows only what its own crawls found.

use std::collections::BTreeMap;

use super::seed_lists;
use crate::engine::applied_batches::{applied_batches, crawl_times, first_fetches, pause};
use crate::engine::eligibility::PlanScope;
use crate::engine::error::{ExperimentError, web_graph_error, whole_graph_error};
use crate::engine::evaluate::answers::StateView;
use crate::engine::ingest::KEPT_BATCHES;
use crate::engine::plan::{DEFAULT_PLAN, Goal, Method, PlanOptions, ResolvedPlan, Scope};
use crate::engine::query::views::Views;
use crate::engine::revisits::{Revisits, days_between};
use crate::engine::web_graph::{Numbering, load_image};
use crate::engine::{Bank, EngineError, Result};
use schemars::JsonSchema;
use seedbank_algorithms::cover::global::{
    Previous, ValueBy, WebChoice, WebGraph, select, select_after,
};
use seedbank_algorithms::cover::revisit::DAY;
use seedbank_algorithms::cover::{
    self, PUniq, PageFacts, Revisit, Value, page_value, pagerank_values,
};
use seedbank_algorithms::crawl_limits::CrawlLimits;
use seedbank_algorithms::evaluate::fetch_simulator::{
    CrawlInput, FetchSimulator, FetchedWithin, Gathered, KnownBefore, PageContents,
};
use seedbank_algorithms::graph::{Csr, PageGraph, number};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_algorithms::rank::pagerank;
use seedbank_algorithms::statistics::Estimate;
use seedbank_algorithms::watch::{Quiet, Watch};
use seedbank_algorithms::yields::{FirstFetches, Observation, Yield, expected_links};
use seedbank_store::records::{BatchId, BatchRecord, PageState};
use seedbank_store::{GraphImage, ImageLinks, Store, tables};
use serde::{Deserialize, Serialize};

/// The number of batches over which a list is replayed.
const REPLAYED: usize = 3;

/// The fewest batches, with the first one, from which on another list is recommended.
const MIN_BATCHES: usize = 5;

/// A plan is kept that finds at least this part of what the best list finds.
const KEPT_FROM: f64 = 0.95;

/// What a batch counts for in the choice of a list, as a part of the batch after it: five batches ago half. `benches/README.md`, *The
/// next crawls*, compares it with others.
const DECAY: f64 = 0.87;

/// Request of [`Bank::evaluate_next`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NextRequest {
    /// The name of the plan. `None` for the default plan; in a bank without one, the lists of a new plan are compared.
    pub plan: Option<String>,
    /// Number of seeds of each list; `None` for that of the plan, or 20.
    pub seeds: Option<u32>,
    /// Number of fetches of each crawl; `None` for the budget of the plan, or five for each seed.
    pub budget: Option<u64>,
    /// The seed of random draws.
    pub rng_seed: u64,
}

impl Bank {
    /// Compares how many new pages crawls from the lists of a plan would have found, and from the other lists that are known to
    /// find many. Uses at most the last 40 batches, which keep what they overwrote.
    ///
    /// Fails if there are fewer than five batches with times of fetches, if the plan does not exist, or if it does not select over the
    /// web.
    ///
    /// Cost: loading the graph; for each batch and list two selections and two crawls. A plan that was not tuned yet is tuned once, on
    /// the state before the batches.
    pub fn evaluate_next(&self, request: &NextRequest) -> Result<NextEvaluation> {
        let watch = self.watch();
        let views = Views::open(self)?;
        let store = &views.reader;
        let state = seed_lists::state(store)?;
        let own = Own::read(store, request)?;
        let timeline = Timeline::load(store, KEPT_BATCHES, watch)?;
        let batches = timeline.steps.len() + usize::from(!timeline.start.times.is_empty());
        if batches < MIN_BATCHES {
            let batches = batches as u64;
            return Err(ExperimentError::TooFewBatches { batches }.into());
        }
        let contenders = own.contenders(&timeline, request.rng_seed, watch)?;
        let (days, in_loop, followed) = own.crawl(&timeline, &contenders, watch)?;
        let mean = |sum: f64, days: usize| sum / days.max(1) as f64;
        let found = |days: &[DayInLoop]| -> f64 {
            let all = days.iter().map(|day| day.found as f64);
            mean(all.sum(), days.len())
        };
        let plan = contenders.iter().position(|of| of.is_plan);
        let rows = contenders.iter().enumerate().map(|(at, contender)| {
            let new_pages = |of: fn(&FetchedWithin) -> &Gathered| NewPages {
                found: mean(
                    days.iter().map(|day| of(&day[at]).discovered as f64).sum(),
                    days.len(),
                ),
                fetched: mean(days.iter().map(|day| of(&day[at]).new).sum(), days.len()),
            };
            let of_list = &in_loop[at];
            let pair =
                |(own, other): (&DayInLoop, &DayInLoop)| (own.found as f64, other.found as f64);
            let fetched = of_list.iter().map(|day| day.fetched as f64).sum();
            NextRow {
                list: contender.list.clone(),
                is_plan: contender.is_plan,
                parameters: contender.parameters.clone(),
                replaces: contender.replaces,
                replayed: new_pages(|day| &day.all),
                replayed_crawled: new_pages(|day| &day.of_crawled),
                closed_loop: NewPages {
                    found: found(of_list),
                    fetched: mean(fetched, of_list.len()),
                },
                found: of_list.iter().map(|day| day.found).collect(),
                later: found(of_list.get(LATER..).unwrap_or_default()),
                times_plan: plan.filter(|plan| *plan != at).and_then(|plan| {
                    let pairs = of_list.iter().zip(&in_loop[plan]).map(pair);
                    Estimate::ratio_of_means(&pairs.collect::<Vec<_>>())
                }),
            }
        });
        let rows = rows.collect();
        let batches: Vec<_> = timeline.steps.iter().map(|step| step.batch).collect();
        let recommended = recommended(&in_loop, timeline.steps.len(), plan);
        Ok(NextEvaluation {
            state,
            plan: own.stored.is_some().then_some(own.name),
            seeds: own.seeds,
            budget: own.budget,
            rng_seed: request.rng_seed,
            batches: batches[..days.len()].to_vec(),
            batches_in_loop: batches,
            rows,
            followed: found(&followed),
            recommended: contenders[recommended].list.clone(),
        })
    }
}

/// The first day of the closed loop on which a recommendation is followed, from 0.
const LATER: usize = MIN_BATCHES - 1;

/// Returns the list to take after some days of the closed loop, given the one that is taken now, if there is one: that one, unless
/// another list finds twice as much, or more than it by a twentieth and by two standard errors. Earlier days count less.
fn recommended(in_loop: &[Vec<DayInLoop>], days: usize, current: Option<usize>) -> usize {
    let found = |at: usize| {
        let days = in_loop[at][..days].iter();
        days.fold(0.0, |sum, day| DECAY * sum + day.found as f64)
    };
    // The first of equals.
    let best = (0..in_loop.len()).rev();
    let best = best.max_by(|one, other| found(*one).total_cmp(&found(*other)));
    let best = best.unwrap_or_default();
    let is_kept = |current: &usize| {
        let (own, most) = (found(*current), found(best));
        // The error of the difference of two counts.
        let error = (own + most).sqrt();
        let is_less = own < KEPT_FROM * most && most - own > 2.0 * error;
        !is_less && (own > most / 2.0 || most <= 0.0)
    };
    current.filter(is_kept).unwrap_or(best)
}

// The answer of `evaluate methods --next`.

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
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NextRow {
    /// The name of the list.
    pub list: String,
    /// Whether the plan makes this list as it is now.
    pub is_plan: bool,
    /// The parameters to give to a refresh, so that the plan makes this list.
    pub parameters: PlanOptions,
    /// Whether they replace all other parameters of the plan.
    pub replaces: bool,
    /// New pages if every page is fetched.
    pub replayed: NewPages,
    /// New pages if only pages are fetched that the bank ever fetched.
    pub replayed_crawled: NewPages,
    /// New pages of a crawl in the closed loop, in which each list knows only what its own crawls found.
    pub closed_loop: NewPages,
    /// New pages found in the closed loop, by batch.
    pub found: Vec<u64>,
    /// New pages found by a crawl in the closed loop from the sixth batch on; 0 with five batches.
    #[schemars(range(min = 0))]
    pub later: f64,
    /// New pages found in the closed loop, divided by those that the plan finds, with the standard error over days; `null` for the plan
    /// itself, without a plan, and if the plan finds nothing.
    pub times_plan: Option<Estimate>,
}

/// The result of `evaluate methods --next`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct NextEvaluation {
    /// The state.
    pub state: StateView,
    /// The plan; `null` if lists are compared with those of a new plan.
    pub plan: Option<String>,
    /// Number of seeds of each list.
    #[schemars(range(min = 1))]
    pub seeds: u32,
    /// Number of fetches of each crawl.
    #[schemars(range(min = 1))]
    pub budget: u64,
    /// The seed of random draws.
    pub rng_seed: u64,
    /// The batches after which lists were chosen, each to be replayed over the three batches after it.
    pub batches: Vec<BatchId>,
    /// The batches of the closed loop.
    pub batches_in_loop: Vec<BatchId>,
    /// The lists.
    pub rows: Vec<NextRow>,
    /// New pages found by a crawl in the closed loop from the sixth batch on, if it begins with the plan, and from then on takes the
    /// list that is recommended by the batches before; 0 with five batches.
    #[schemars(range(min = 0))]
    pub followed: f64,
    /// The list to take by the closed loop, in which what was found five batches ago counts half: the plan's, unless another list finds
    /// twice as much, or more by a twentieth and by two standard errors.
    pub recommended: String,
}

// The compared lists: those of the plan with several periods, and of other methods.

/// A compared list.
struct Contender {
    list: String,
    is_plan: bool,
    choice: WebChoice,
    /// The parameters to give to a refresh, and whether they replace the plan.
    parameters: PlanOptions,
    replaces: bool,
}

/// The plan whose lists are compared with others.
struct Own {
    name: String,
    /// The plan as stored; `None` if the bank does not have it.
    stored: Option<PlanOptions>,
    seeds: u32,
    budget: u64,
}

impl Own {
    fn read(store: &Store, request: &NextRequest) -> Result<Self> {
        let name = request.plan.clone();
        let name = name.unwrap_or_else(|| DEFAULT_PLAN.to_owned());
        let record = store.get(&tables::PLANS, &name)?;
        if record.is_none() && request.plan.is_some() {
            return Err(EngineError::UnknownPlan(name));
        }
        let stored = record.map(|record| PlanOptions::from_stored(&record.settings));
        let stored = stored.transpose()?;
        let resolved = stored.as_ref().map(PlanOptions::resolve).transpose()?;
        if !matches!(resolved, None | Some(ResolvedPlan::Web(_))) {
            return Err(ExperimentError::NotOverWeb { plan: name }.into());
        }
        let plan = stored.as_ref();
        let seeds = request.seeds.or(plan.and_then(|plan| plan.seeds));
        let seeds = seeds.unwrap_or(20);
        let budget = request.budget.or(plan.and_then(|plan| plan.budget));
        Ok(Self {
            name,
            seeds,
            budget: budget.unwrap_or(5 * u64::from(seeds)),
            stored,
        })
    }

    /// Returns the lists to compare, the plan's first.
    fn contenders(
        &self,
        timeline: &Timeline,
        rng_seed: u64,
        watch: &dyn Watch,
    ) -> Result<Vec<Contender>> {
        let is_by_value = |plan: &&PlanOptions| {
            let greedy = Method::Cover(cover::Method::Greedy);
            plan.method == Some(greedy) && plan.learned != Some(true)
        };
        let plan = self.stored.as_ref();
        let by_value = plan.filter(is_by_value);
        let sized = |options: PlanOptions, has_budget: bool| PlanOptions {
            seeds: Some(self.seeds),
            budget: has_budget.then_some(self.budget),
            ..options
        };
        let coverage = sized(PlanOptions::of_goal(Goal::Coverage), true);
        let own_period = by_value.map(|plan| plan.revisit.unwrap_or_default());
        // A period of another budget may be refused, so it is set afterwards.
        let base = by_value.cloned().map(|plan| sized(plan, true));
        let base = web_choice(base.as_ref().unwrap_or(&coverage))?;
        let base = tuned(&base, timeline, watch)?;
        let of_period = |revisit| PlanOptions {
            revisit: Some(revisit),
            ..by_value.map_or_else(|| coverage.clone(), |plan| sized(plan.clone(), true))
        };
        let mut periods = vec![Revisit::Off, Revisit::Auto];
        periods.extend([2, 7, 30].map(Revisit::Days));
        periods.extend(own_period.filter(|own| !periods.contains(own)));
        let mut contenders = Vec::new();
        for period in periods {
            let revisit = Some(period);
            let parameters = match by_value {
                Some(_) => PlanOptions::default(),
                None => PlanOptions {
                    goal: Some(Goal::Coverage),
                    ..sized(PlanOptions::default(), true)
                },
            };
            contenders.push(Contender {
                list: format!("revisit {period}"),
                is_plan: own_period == revisit,
                choice: WebChoice {
                    revisit: period,
                    keep_seeds: web_choice(&of_period(period))?.keep_seeds,
                    ..base
                },
                parameters: PlanOptions {
                    revisit,
                    ..parameters
                },
                replaces: by_value.is_none() && plan.is_some(),
            });
        }
        let by_method = |method| {
            let options = PlanOptions {
                method: Some(Method::Cover(method)),
                scope: Some(Scope::Web),
                ..PlanOptions::default()
            };
            (method.name(), sized(options, false))
        };
        let learned = PlanOptions {
            goal: Some(Goal::Discovery),
            learned: Some(true),
            ..PlanOptions::default()
        };
        let others = [
            by_method(cover::Method::Oldest),
            by_method(cover::Method::Random),
            by_method(cover::Method::OutDegree),
            ("learned", sized(learned, true)),
        ];
        for (name, parameters) in others {
            let complete = parameters
                .clone()
                .complete_new(|| Ok::<_, EngineError>(self.budget));
            contenders.push(Contender {
                list: name.to_owned(),
                is_plan: false,
                choice: web_choice(&complete?)?,
                parameters,
                replaces: plan.is_some(),
            });
        }
        if let Some(plan) = plan.filter(|plan| !is_by_value(plan)) {
            let own = web_choice(&sized(plan.clone(), plan.budget.is_some()))?;
            let same = |of: &Contender| {
                (of.choice.method, of.choice.value_by) == (own.method, own.value_by)
            };
            // The list of the plan's method is the plan's own list, which may have more parameters.
            contenders.retain(|of| !same(of));
            contenders.push(Contender {
                list: format!("plan {}", self.name),
                is_plan: true,
                choice: own,
                parameters: PlanOptions::default(),
                replaces: false,
            });
        }
        for contender in &mut contenders {
            contender.choice.rng_seed = contender.choice.rng_seed.wrapping_add(rng_seed);
        }
        // The first of equals is recommended.
        contenders.sort_by_key(|of| !of.is_plan);
        Ok(contenders)
    }

    /// Replays all lists, and crawls from them in a closed loop. Returns by day the results of all lists, by list those of all days in the
    /// loop, and those of the days on which a recommendation is followed.
    #[expect(clippy::type_complexity, reason = "three tables of results")]
    fn crawl(
        &self,
        timeline: &Timeline,
        contenders: &[Contender],
        watch: &dyn Watch,
    ) -> Result<(Vec<Vec<FetchedWithin>>, Vec<Vec<DayInLoop>>, Vec<DayInLoop>)> {
        let days = replay_days(timeline, contenders, self.budget, watch)?;
        watch.stage("crawl in a closed loop", Some(contenders.len() as u64 + 1));
        let mut in_loop = Vec::new();
        for contender in contenders {
            let always = |_| contender;
            in_loop.push(closed_loop(timeline, always, self.budget, watch)?);
            watch.advance(1);
        }
        let mut current = contenders.iter().position(|of| of.is_plan);
        let leaders: Vec<usize> = (0..timeline.steps.len())
            .map(|day| {
                if day >= LATER {
                    current = Some(recommended(&in_loop, day, current));
                }
                current.unwrap_or_default()
            })
            .collect();
        let leader = |day: usize| &contenders[leaders[day]];
        let followed = closed_loop(timeline, leader, self.budget, watch)?;
        watch.advance(1);
        let followed = followed.get(LATER..).unwrap_or_default().to_vec();
        Ok((days, in_loop, followed))
    }
}

/// Tunes a plan on the state before the batches, from which its lists are compared, unless it has a setting.
fn tuned(choice: &WebChoice, timeline: &Timeline, watch: &dyn Watch) -> Result<WebChoice> {
    if choice.setting().is_some() {
        return Ok(*choice);
    }
    watch.stage("tune the plan", None);
    let web = KnownWeb::new(&timeline.start, &timeline.sites);
    let (mut graph, scores) = web.graph(choice, watch)?;
    let setting = select(&mut graph, choice, &scores, &Quiet(watch))?.setting;
    Ok(WebChoice {
        hops: Some(setting.hops),
        fetch_cost: Some(setting.fetch_cost),
        value_known: Some(setting.value_known),
        max_per_site: setting.max_per_site,
        tunes_max_per_site: false,
        ..*choice
    })
}

fn web_choice(options: &PlanOptions) -> Result<WebChoice> {
    match options.resolve()? {
        ResolvedPlan::Web(choice) => Ok(choice),
        ResolvedPlan::Cores(_) | ResolvedPlan::Cover(_) => Err(EngineError::Internal(
            "a plan over the web was resolved to another one",
        )),
    }
}

/// Chooses all lists after each batch but the last ones, and replays them over the batches after it.
fn replay_days(
    timeline: &Timeline,
    contenders: &[Contender],
    budget: u64,
    watch: &dyn Watch,
) -> Result<Vec<Vec<FetchedWithin>>> {
    let steps = &timeline.steps;
    let count = (steps.len() + 1).saturating_sub(REPLAYED + 1);
    watch.stage("choose and replay", Some(count as u64));
    let mut known = timeline.start.clone();
    let mut days = Vec::new();
    let mut lists: Vec<Vec<u32>> = vec![Vec::new(); contenders.len()];
    for (day, step) in steps.iter().enumerate().take(count) {
        known.apply(step);
        let content = Content::new(&known, &steps[day + 1..][..REPLAYED]);
        let before = KnownBefore {
            new: content.unseen(),
            unseen: content.unseen(),
            new_contents: &[],
        };
        let web = KnownWeb::new(&known, &timeline.sites);
        let mut simulator = content.simulator();
        let mut of_day = Vec::new();
        for (contender, seeds) in contenders.iter().zip(&mut lists) {
            *seeds = web.seeds(&contender.choice, day as u64, seeds, watch)?;
            let crawl = simulator.crawl(seeds, &[budget], before);
            of_day.push(crawl.first().copied().unwrap_or_default());
        }
        days.push(of_day);
        watch.advance(1);
    }
    Ok(days)
}

// Selects the seeds of each compared list from what is known at a time.

/// The web as known at a time, with the links and candidates that lists are selected from.
struct KnownWeb<'a> {
    known: &'a Knowledge,
    /// By page.
    sites: &'a [u32],
    /// Links to pages that are known or crawled.
    successors: Csr,
}

impl<'a> KnownWeb<'a> {
    fn new(known: &'a Knowledge, sites: &'a [u32]) -> Self {
        let is_live = |page: &u32| known.states[*page as usize].is_live();
        let mut successors = Csr::default();
        for links in &known.links {
            successors.push(links.iter().copied().filter(is_live));
        }
        Self {
            known,
            sites,
            successors,
        }
    }

    /// Returns the seconds from the last fetch of a page to the next crawl.
    fn since(&self, page: usize) -> u64 {
        let last = self.known.last_fetch();
        let next = last.saturating_add(pause(&self.known.times).unwrap_or(DAY));
        next.saturating_sub(self.known.fetched[page].unwrap_or(last))
    }

    /// Returns the seeds of a list, best first. `day` numbers random draws; `list` is that of the day before.
    fn seeds(
        &self,
        choice: &WebChoice,
        day: u64,
        list: &[u32],
        watch: &dyn Watch,
    ) -> Result<Vec<u32>> {
        watch.proceed()?;
        let (mut graph, scores) = self.graph(choice, watch)?;
        let choice = WebChoice {
            rng_seed: choice.rng_seed.wrapping_add(day),
            ..*choice
        };
        let previous = Previous {
            gains: None,
            list: list.iter().copied().map(Some).collect(),
        };
        let selected = select_after(&mut graph, &choice, &scores, previous, &Quiet(watch))?;
        let picks = selected.cover.picks.iter();
        Ok(picks.map(|pick| pick.seed.page).collect())
    }

    /// Returns the graph that a list is selected from, and the scores of the methods that have some.
    ///
    /// What batches do not keep is not part of it: clicks, qualities, digests, and changes that sitemaps and feeds announced.
    fn graph(&self, choice: &WebChoice, watch: &dyn Watch) -> Result<(WebGraph, Vec<f64>)> {
        let known = self.known;
        let pages = 0..known.links.len();
        let mut scores = Vec::new();
        if choice.value_by == ValueBy::Pagerank || choice.method == cover::Method::Pagerank {
            scores = self.pagerank(watch)?;
        }
        let values = match choice.value_by {
            ValueBy::Learned => self.expected(),
            ValueBy::Pagerank => pagerank_values(&scores),
            ValueBy::Weights => pages.clone().map(|page| self.value(page, choice)).collect(),
        };
        if choice.method == cover::Method::Oldest {
            let days = |fetched: &Option<u64>| days_between(*fetched, known.last_fetch());
            scores = known.fetched.iter().map(days).collect();
        }
        let may_be_seed = |page: usize| {
            let seeds = PlanScope::WEB.seeds;
            seeds.includes(known.states[page], known.spam[page])
        };
        let may_be_seed: Vec<bool> = pages.clone().map(may_be_seed).collect();
        let crawled = pages.clone().filter(|&page| known.is_crawled(page)).count();
        let revisits = Revisits::of_times(choice, crawled as u64, &known.times);
        let age = |page: usize| revisits.age(known.is_crawled(page), known.fetched[page], None);
        let ages = revisits.period().map(|_| pages.clone().map(age).collect());
        let graph = WebGraph::from_successors(values, self.successors.clone(), &may_be_seed);
        let is_known = |page: usize| !known.is_crawled(page);
        let graph = graph
            .map_err(web_graph_error)?
            .with_ages(ages)
            .with_known(pages.map(is_known).collect(), Vec::new())
            .with_sites(self.sites.to_vec());
        Ok((graph, scores))
    }

    /// Returns the value of a page by weights.
    fn value(&self, page: usize, choice: &WebChoice) -> i64 {
        match self.known.states[page] {
            PageState::Crawled => {
                let facts = PageFacts {
                    spam: self.known.spam[page],
                    ..PageFacts::default()
                };
                page_value(facts, PUniq::fixed(Value(0)), &choice.weights)
            }
            PageState::Known => choice.given_value_known().0,
            PageState::Gone | PageState::Unlinked | PageState::Alias | PageState::Resource => 0,
        }
    }

    /// Returns the expected new links of the next fetch of each page; 0 for pages that are not known.
    fn expected(&self) -> Vec<i64> {
        let live = |page: &usize| self.known.states[*page].is_live();
        let pages = (0..self.known.links.len()).filter(live);
        let observed = pages.clone().map(|page| {
            let seconds = self.since(page);
            let observation = Observation {
                sums: self.known.sums[page].decayed(seconds),
                links: self.successors.list(number(page)).len() as u64,
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

    fn pagerank(&self, watch: &dyn Watch) -> Result<Vec<f64>> {
        let citers = self.successors.transpose(self.known.links.len());
        let graph = PageGraph::new(citers, Csr::default(), &Csr::default());
        Ok(pagerank(&graph.map_err(whole_graph_error)?, watch)?.0)
    }
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
            due: &[],
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

/// Crawls once for every batch, each time from the seeds of the list of the day, which only knows what these crawls found.
/// A fetch finds a page as the last fetch of the bank did.
fn closed_loop<'a>(
    timeline: &Timeline,
    list: impl Fn(usize) -> &'a Contender,
    budget: u64,
    watch: &dyn Watch,
) -> Result<Vec<DayInLoop>> {
    let mut truth = timeline.start.clone();
    let mut own = timeline.start.clone();
    let mut days = Vec::new();
    let mut seeds = Vec::new();
    for (day, step) in timeline.steps.iter().enumerate() {
        let web = KnownWeb::new(&own, &timeline.sites);
        seeds = web.seeds(&list(day).choice, day as u64, &seeds, watch)?;
        truth.apply(step);
        let crawl = Crawl {
            truth: &truth,
            start: &timeline.start,
            own: &mut own,
            now: truth.last_fetch(),
            day: DayInLoop::default(),
        };
        days.push(crawl.run(seeds.clone(), budget));
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
        self.own.add_crawl(self.now);
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
    /// The times of the last fetches of crawls, ascending.
    times: Vec<u64>,
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
}

/// The last batches of a bank.
struct Timeline {
    /// What was known before the first of them.
    start: Knowledge,
    steps: Vec<Step>,
    /// The site of each page, from 0.
    sites: Vec<u32>,
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
        self.add_crawl(step.last_fetch);
    }

    /// Adds the time of the last fetch of a crawl.
    fn add_crawl(&mut self, time: u64) {
        if time > self.last_fetch() {
            self.times.push(time);
        }
    }

    fn last_fetch(&self) -> u64 {
        self.times.last().copied().unwrap_or(0)
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
            });
        }
        steps.reverse();
        let mut places: BTreeMap<SiteId, u32> = BTreeMap::new();
        let sites = reader.numbers.pages(&reader.image).into_iter().map(|page| {
            let next = number(places.len());
            *places.entry(page.site()).or_insert(next)
        });
        let sites = sites.collect();
        let mut start = reader.now;
        start.first = first_fetches(&batches[..before]);
        start.times = crawl_times(&batches[..before]);
        Ok(Self {
            start,
            steps,
            sites,
        })
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
