//! Seed lists of plans and baselines on a web with pages held out.
//!
//! A plan selects as its refresh would on a bank with only the remaining pages; a test compares
//! both.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;
use std::sync::Arc;

use super::answers::{Baseline, ListKind};
use super::held_out::{BankWeb, HeldOutSite, HeldOutWeb, Worth};
use crate::engine::EngineError;
use crate::engine::error::{PlanError, web_graph_error};
use crate::engine::plan::{CorePlan, Goal, Method, PlanOptions, ResolvedPlan, Scope};
use crate::engine::policy::{LoadedPolicy, Policy};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};
use seedbank_algorithms::cores::{
    self, Core, CoresError, HubChoice, SeedRules, SelectionInput, whole_graph,
};
use seedbank_algorithms::cover::global::{self, Cap, Duplicates, TUNE_VISITS, WebChoice, WebGraph};
use seedbank_algorithms::cover::{
    self, Choice, Seats, Share, Site, apportion, order_by_score, pagerank_weight, random_order,
    select_chosen, value_weight,
};
use seedbank_algorithms::crawl_limits::Crawls;
use seedbank_algorithms::evaluate::harmonic::Harmonic;
use seedbank_algorithms::graph::{NONE, number};
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest;
use seedbank_store::Store;

/// Returns the seeds of a plan, best first, by the numbers of `held_out`. `constraints` apply to plans over
/// the web; of other policies, those apply that reject cores.
pub(super) fn by_plan(
    held_out: &HeldOutWeb<'_>,
    plan: &PlanOptions,
    constraints: Option<&Constraints>,
    watch: &dyn Watch,
) -> Result<Vec<u32>, EngineError> {
    match plan.resolve()? {
        ResolvedPlan::Cores(cores) => by_cores(held_out, &cores, plan.policy()?, watch),
        ResolvedPlan::Cover(choice) => by_cover(held_out, &choice, watch),
        ResolvedPlan::Web(choice) => over_web(held_out, &choice, constraints, watch),
    }
}

fn by_cores(
    held_out: &HeldOutWeb<'_>,
    plan: &CorePlan,
    policy: Policy,
    watch: &dyn Watch,
) -> Result<Vec<u32>, EngineError> {
    let graph = held_out.hub_graph(plan)?;
    let mut rules = CoreRules {
        policy,
        site_of: held_out.site_numbers(),
        left: plan.params.seeds,
    };
    let graph = whole_graph(graph, &plan.params);
    let input = SelectionInput::default();
    let selection = cores::select(&graph, &plan.params, input, &mut rules, watch);
    let selection = selection.map_err(|e| match e {
        CoresError::Interrupted(e) => e.into(),
        CoresError::Params(e) => PlanError::from(e).into(),
        e @ CoresError::NoHub { .. } => EngineError::Cores(e),
    })?;
    let with_seed = selection.cores.iter().filter(|core| core.gives_seed);
    Ok(with_seed.map(|core| core.seed).collect())
}

/// Takes the best hub of every core that the policies of a plan do not reject.
struct CoreRules {
    policy: Policy,
    /// By page.
    site_of: Vec<u32>,
    /// The number of further seeds.
    left: u32,
}

impl SeedRules for CoreRules {
    fn seed_of(&mut self, core: &Core, choice: &HubChoice) -> Option<u32> {
        let sites = core.hubs.iter().map(|&hub| self.site_of[hub as usize]);
        let sites: BTreeSet<u32> = sites.collect();
        let (hubs, authorities) = (core.hubs.len(), core.authorities.len());
        if self
            .policy
            .rejects_core(hubs, authorities, sites.len())
            .is_some()
        {
            return None;
        }
        self.left = self.left.saturating_sub(1);
        choice.best(core, |_| true)
    }

    fn is_complete(&self) -> bool {
        self.left == 0
    }
}

fn over_web(
    held_out: &HeldOutWeb<'_>,
    choice: &WebChoice,
    constraints: Option<&Constraints>,
    watch: &dyn Watch,
) -> Result<Vec<u32>, EngineError> {
    let allowed = constraints.map(|constraints| &*constraints.allowed);
    let mut graph = held_out.web_graph(&held_out.worth_of(choice), allowed)?;
    if let Some(constraints) = constraints {
        graph = constraints.apply(graph, held_out)?;
    }
    graph = with_contents(graph, held_out, choice, watch)?;
    let days = (choice.method == cover::Method::Oldest).then(|| held_out.days_since_fetch());
    let scores = days.as_ref().unwrap_or(&held_out.pagerank);
    let selected = global::select(&mut graph, choice, scores, watch)?;
    let picks = selected.cover.picks.iter();
    Ok(picks.map(|pick| pick.seed.page).collect())
}

/// Returns the seeds of a greedy plan with a budget, for each of these numbers of seeds and
/// fetches.
pub(super) fn over_web_for(
    held_out: &HeldOutWeb<'_>,
    options: &PlanOptions,
    cells: &[(u32, u64)],
    watch: &dyn Watch,
) -> Result<Vec<Vec<u32>>, EngineError> {
    let ResolvedPlan::Web(choice) = options.resolve()? else {
        return Err(EngineError::Internal(
            "a plan with a budget is not over the web",
        ));
    };
    let graph = held_out.web_graph(&held_out.worth_of(&choice), None)?;
    let graph = with_contents(graph, held_out, &choice, watch)?;
    Ok(global::budget_lists(&graph, &choice, cells, watch)?)
}

/// Lets each content count once if the plan does.
fn with_contents(
    graph: WebGraph,
    held_out: &HeldOutWeb<'_>,
    choice: &WebChoice,
    watch: &dyn Watch,
) -> Result<WebGraph, EngineError> {
    if choice.duplicates == Duplicates::Each {
        return Ok(graph);
    }
    let shared = held_out.shared_contents(graph.pins(), watch)?;
    Ok(graph.with_contents(&shared)?)
}

fn by_cover(
    held_out: &HeldOutWeb<'_>,
    choice: &Choice,
    watch: &dyn Watch,
) -> Result<Vec<u32>, EngineError> {
    let sites = held_out.cover_sites(&choice.weights, choice.p_uniq)?;
    let seats = seats(held_out, &sites, choice);
    let selectable: Vec<(Site<'_>, u32)> = sites
        .iter()
        .zip(&seats)
        .map(|(of, &seats)| {
            let site = Site {
                id: of.site.id,
                name: &of.site.name,
                graph: &of.graph,
            };
            (site, seats)
        })
        .collect();
    let covers = select_chosen(&selectable, choice, watch)?;
    let mut seeds = Vec::new();
    for (site_index, (of, cover)) in sites.iter().zip(&covers).enumerate() {
        for (pick, found) in cover.picks.iter().enumerate() {
            let order = (pick, Reverse(found.covered_value()), site_index);
            seeds.push((order, of.pages[found.seed.page as usize]));
        }
    }
    seeds.sort_unstable();
    Ok(seeds.into_iter().map(|(_, page)| page).collect())
}

/// Returns the number of seeds of each site.
fn seats(held_out: &HeldOutWeb<'_>, sites: &[HeldOutSite<'_>], choice: &Choice) -> Vec<u32> {
    let (total, share) = match choice.seats {
        Seats::PerSite(seats) => return vec![seats; sites.len()],
        Seats::Shared(total, share) => (total, share),
    };
    let mut ranks = vec![0.0; held_out.sites()];
    if share == Share::Pagerank {
        for (page, rank) in (0..).zip(&held_out.pagerank) {
            ranks[held_out.site_of(page) as usize] += rank;
        }
    }
    let weight = |of: &HeldOutSite<'_>| match share {
        Share::Pages => of.pages.len() as u64,
        Share::Value => value_weight(of.graph.value()),
        Share::Quality => of.pages.iter().map(|&page| held_out.quality(page)).sum(),
        Share::Pagerank => pagerank_weight(
            of.pages
                .first()
                .map_or(0.0, |&page| ranks[held_out.site_of(page) as usize]),
        ),
    };
    let weights: Vec<(&str, u64)> = sites
        .iter()
        .map(|of| (of.site.name.as_str(), weight(of)))
        .collect();
    apportion(total, &weights)
}

/// Number of searches after which a bound on the other pages is looked at.
const SEARCHES: usize = 256;

/// Measures that order the lists of baselines. Their candidates are the possible seeds of plans
/// over the web.
pub(super) struct BaselineOrders<'a> {
    pub(super) held_out: &'a HeldOutWeb<'a>,
    candidates: Vec<u32>,
    harmonic: Vec<f64>,
    pub(super) harmonic_is_exact: bool,
    rng_seed: u64,
}

impl<'a> BaselineOrders<'a> {
    /// Creates the measures, given harmonic centralities. `rng_seed` determines the random streams.
    pub(super) fn new(held_out: &'a HeldOutWeb<'a>, harmonic: Harmonic, rng_seed: u64) -> Self {
        Self {
            held_out,
            candidates: held_out.candidates(),
            harmonic: harmonic.scores,
            harmonic_is_exact: harmonic.exact,
            rng_seed,
        }
    }

    /// Returns the seeds of a baseline, best first; `stream` selects one of its random lists.
    pub(super) fn list(&self, baseline: Baseline, seeds: usize, stream: u64) -> Vec<u32> {
        let count = number(self.candidates.len());
        let page = |at: u32| self.candidates[at as usize];
        let links = |of: usize| i64::from(number(of));
        let out_degree = |page: u32| links(self.held_out.successors.list(page).len());
        let by_number = |of: &dyn Fn(u32) -> i64| {
            let mut order = self.candidates.clone();
            order.sort_by_key(|&page| Reverse(of(page)));
            order
        };
        let by_rank = |scores: &[f64], most: usize| -> Vec<u32> {
            let scores: Vec<f64> = self
                .candidates
                .iter()
                .map(|&page| scores[page as usize])
                .collect();
            let order = order_by_score(&scores, most);
            order.into_iter().map(page).collect()
        };
        let first = |mut order: Vec<u32>, per_site: usize| {
            let mut of_site = vec![0; self.held_out.sites()];
            order.retain(|&page| {
                let count = &mut of_site[self.held_out.site_of(page) as usize];
                *count += 1;
                *count <= per_site
            });
            order.truncate(seeds);
            order
        };
        let all = usize::MAX;
        match baseline {
            Baseline::Random => {
                let drawn = random_order("", self.rng_seed.wrapping_add(stream), count, seeds);
                drawn.into_iter().map(page).collect()
            }
            Baseline::Pagerank => by_rank(&self.held_out.pagerank, seeds),
            Baseline::Harmonic => by_rank(&self.harmonic, seeds),
            Baseline::InDegree => {
                first(by_number(&|page| links(self.held_out.in_degree(page))), all)
            }
            Baseline::OutDegree => first(by_number(&out_degree), all),
            Baseline::NetOutDegree => {
                let net = |page: u32| {
                    let targets = self.held_out.successors.list(page).iter();
                    let crawled = targets.filter(|&&to| self.held_out.crawled[to as usize]);
                    10 * links(crawled.count()) - 3 * out_degree(page)
                };
                first(by_number(&net), 3)
            }
            Baseline::NetReach => self.net_reach(seeds),
            Baseline::SitePagerank => first(by_rank(&self.held_out.pagerank, all), 1),
            Baseline::SiteOutDegree => first(by_number(&out_degree), 1),
            Baseline::HomePages => self.home_pages(seeds),
            Baseline::CommonCrawl => self.common_crawl(seeds, stream),
            Baseline::Oldest => {
                let days = self.held_out.days_since_fetch();
                let mut order = by_number(&out_degree);
                order.sort_by(|one, other| days[*other as usize].total_cmp(&days[*one as usize]));
                first(order, all)
            }
        }
    }

    /// Returns the page of each site with the most crawled pages within two links, less .3 times all pages within two
    /// links. Pages are searched from in the order of a bound, until no other page can be better than the last seed.
    fn net_reach(&self, seeds: usize) -> Vec<u32> {
        let links = |page: u32| self.held_out.successors.list(page);
        let worth = |page: u32| {
            if self.held_out.crawled[page as usize] {
                7
            } else {
                -3
            }
        };
        let crawled_links: Vec<u64> = (0..number(self.held_out.crawled.len()))
            .map(|page| links(page).iter().filter(|&&to| worth(to) > 0).count() as u64)
            .collect();
        let bound = |page: u32| {
            let of_targets = links(page).iter().map(|&to| crawled_links[to as usize]);
            1 + crawled_links[page as usize] + of_targets.sum::<u64>()
        };
        let mut order: Vec<(u64, u32)> = Vec::with_capacity(self.candidates.len());
        order.extend(self.candidates.iter().map(|&page| (bound(page), page)));
        order.sort_unstable_by_key(|&(bound, page)| (Reverse(bound), page));
        let mut met_by = vec![NONE; self.held_out.crawled.len()];
        let mut best: HashMap<u32, (i64, Reverse<u32>)> = HashMap::new();
        for (at, &(bound, page)) in order.iter().enumerate() {
            if at % SEARCHES == 0 && best.len() >= seeds {
                let mut scores: Vec<i64> = best.values().map(|of| of.0).collect();
                scores.sort_unstable_by_key(|score| Reverse(*score));
                let last = seeds.checked_sub(1).map_or(i64::MAX, |last| scores[last]);
                if i128::from(last) > 7 * i128::from(bound) {
                    break;
                }
            }
            let mut score = 0;
            let mut meet = |to: u32| {
                if std::mem::replace(&mut met_by[to as usize], page) != page {
                    score += worth(to);
                }
            };
            meet(page);
            for &target in links(page) {
                meet(target);
                for &to in links(target) {
                    meet(to);
                }
            }
            let of_site = best
                .entry(self.held_out.site_of(page))
                .or_insert((i64::MIN, Reverse(page)));
            *of_site = (*of_site).max((score, Reverse(page)));
        }
        let mut list: Vec<(i64, Reverse<u32>)> = best.into_values().collect();
        list.sort_unstable_by_key(|of| Reverse(*of));
        list.into_iter()
            .take(seeds)
            .map(|(_, Reverse(page))| page)
            .collect()
    }

    /// Returns the shortest URL of each of the sites with the most crawled pages; ties go to the
    /// smaller URL and the smaller site name.
    fn home_pages(&self, seeds: usize) -> Vec<u32> {
        let mut sizes = vec![0_u64; self.held_out.sites()];
        for (page, _) in (0..)
            .zip(&self.held_out.crawled)
            .filter(|(_, crawled)| **crawled)
        {
            sizes[self.held_out.site_of(page) as usize] += 1;
        }
        let mut homes: Vec<Option<u32>> = vec![None; sizes.len()];
        for &page in &self.candidates {
            let home = &mut homes[self.held_out.site_of(page) as usize];
            let is_shorter = |home: u32| self.held_out.length(page) < self.held_out.length(home);
            if home.is_none_or(is_shorter) {
                *home = Some(page);
            }
        }
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        order.sort_by_key(|&site| Reverse(sizes[site]));
        let homes = order.into_iter().filter_map(|site| homes[site]);
        homes.take(seeds).collect()
    }

    /// Samples new pages as Common Crawl does, as far as that is published: by a random number
    /// times log10 of one more than the in-links, with a limit for each site that decreases with
    /// the rank of the site by harmonic centrality. The limits are not published. Here a site has
    /// the largest centrality of its pages, and the site at rank p of n has a limit of `1 + seeds /
    /// 10 (1 - ln(p) / ln(n + 1))` seeds, rounded down.
    fn common_crawl(&self, seeds: usize, stream: u64) -> Vec<u32> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.rng_seed.wrapping_add(stream).to_le_bytes());
        hasher.update(b"common-crawl");
        let mut stream = Pcg64::from_seed(*hasher.finalize().as_bytes());
        let mut scores = Vec::with_capacity(self.candidates.len());
        for &page in &self.candidates {
            // The upper 53 bits, as a number from 0 to 1.
            let drawn = (stream.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
            let links = self.held_out.in_degree(page) as f64;
            scores.push((drawn * (1.0 + links).log10(), page));
        }
        scores.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut limits = self.limits(seeds);
        let mut list = Vec::new();
        for (_, page) in scores {
            let limit = &mut limits[self.held_out.site_of(page) as usize];
            if *limit > 0 && list.len() < seeds {
                *limit -= 1;
                list.push(page);
            }
        }
        list
    }

    fn limits(&self, seeds: usize) -> Vec<u64> {
        let mut best = vec![0.0_f64; self.held_out.sites()];
        for (page, &score) in (0..).zip(&self.harmonic) {
            let best = &mut best[self.held_out.site_of(page) as usize];
            *best = best.max(score);
        }
        let mut order: Vec<usize> = (0..best.len()).collect();
        order.sort_by(|&a, &b| best[b].total_cmp(&best[a]).then(a.cmp(&b)));
        let mut limits = vec![0; best.len()];
        let all = (best.len() as f64 + 1.0).ln();
        for (rank, site) in order.into_iter().enumerate() {
            let share = 1.0 - (rank as f64 + 1.0).ln() / all;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "between 1 and the number of seeds"
            )]
            let limit = (1.0 + seeds as f64 / 10.0 * share) as u64;
            limits[site] = limit;
        }
        limits
    }
}

// Compared lists: plans for every goal and of every method, a plan of the bank, and baselines.

/// A compared list, before it is selected.
#[derive(Clone)]
pub(super) struct Contender {
    pub(super) list: String,
    pub(super) source: ListSource,
    /// The policies of its plan; `None` if it has none or they are not applied.
    pub(super) constraints: Option<Arc<Constraints>>,
}

/// Source of a list.
#[derive(Clone, Debug)]
pub(super) enum ListSource {
    Plan(Box<PlanOptions>),
    /// A plan with these parameters if pages are held out; its seeds from a refresh if everything
    /// is known.
    Selected(Box<PlanOptions>, Vec<u32>),
    Given(Vec<u32>),
    /// The seeds that a plan selects without the pages of a draw.
    OfDraw(Vec<u32>),
    Baseline(Baseline),
}

impl Contender {
    /// Returns the baselines for a web, oldest only if there are times of fetches to compare.
    pub(super) fn baselines(web: &BankWeb) -> impl Iterator<Item = Self> {
        let has_times = web.has_times();
        let all = Baseline::ALL.into_iter();
        let all = all.filter(move |of| *of != Baseline::Oldest || has_times);
        all.map(|baseline| Self {
            list: baseline.name().to_owned(),
            source: ListSource::Baseline(baseline),
            constraints: None,
        })
    }

    /// Returns a plan with its seeds, best first, and its policies. The setting of a tuned plan is compared,
    /// not another tuning.
    pub(super) fn selected(
        list: &str,
        plan: PlanOptions,
        seeds: Vec<u32>,
        constraints: Option<Arc<Constraints>>,
    ) -> Self {
        Self {
            list: list.to_owned(),
            source: ListSource::Selected(Box::new(plan), seeds),
            constraints,
        }
    }

    /// Returns a list of pages, best first.
    pub(super) fn given(list: &str, pages: Vec<u32>) -> Self {
        Self {
            list: list.to_owned(),
            source: ListSource::Given(pages),
            constraints: None,
        }
    }

    /// Returns a plan with the seeds that it selects without the pages of a draw, best first.
    pub(super) fn of_draw(pages: Vec<u32>) -> Self {
        Self {
            list: String::new(),
            source: ListSource::OfDraw(pages),
            constraints: None,
        }
    }

    /// Returns a plan for every goal and for every other method, with these values of pages, those with a budget for
    /// this crawl. The goals discovery and importance have their own values.
    pub(super) fn plans(value: &PlanOptions, crawls: Crawls) -> Vec<Self> {
        let plan = |list: &str, options: PlanOptions| {
            let mut options = new_plan(options);
            options.crawl = options.budget.map(|_| crawls);
            // As a refresh tunes, but not longer on a web with more links: plans are tuned each time that pages are
            // held out.
            options.tune_visits = options.budget.map(|_| TUNE_VISITS);
            Self {
                list: list.to_owned(),
                source: ListSource::Plan(Box::new(options)),
                constraints: None,
            }
        };
        // Parameters that only plans over the web have.
        let of_site = PlanOptions {
            value_by: None,
            value_known: None,
            revisit: None,
            ..value.clone()
        };
        let of_goal = |goal: Goal| {
            let parameters = goal.parameters();
            let options = match goal {
                Goal::Coverage => value.clone().merged_over(&parameters),
                Goal::Sites => of_site.clone().merged_over(&parameters),
                Goal::Discovery | Goal::Importance | Goal::Communities => parameters,
            };
            plan(goal.name(), options)
        };
        let mut plans: Vec<Self> = Goal::ALL.into_iter().map(of_goal).collect();
        for method in [cover::Method::MaxWeight, cover::Method::MaxOut] {
            let options = PlanOptions {
                method: Some(Method::Cover(method)),
                scope: Some(Scope::Web),
                revisit: None,
                ..value.clone()
            };
            plans.push(plan(&format!("{} over the web", method.name()), options));
        }
        let methods = cover::Method::ALL.into_iter().rev();
        // Max-weight per site is the goal sites.
        let methods = methods.filter(|&of| !of.is_baseline() && of != cover::Method::MaxWeight);
        for method in methods {
            let options = PlanOptions {
                method: Some(Method::Cover(method)),
                ..of_site.clone()
            };
            plans.push(plan(&format!("{} per site", method.name()), options));
        }
        plans
    }

    /// Returns whether the list depends on harmonic centralities.
    pub(super) const fn needs_harmonic(&self) -> bool {
        matches!(
            self.source,
            ListSource::Baseline(Baseline::Harmonic | Baseline::CommonCrawl)
        )
    }

    /// Returns whether the list may depend on PageRanks in another way than by their order.
    pub(super) const fn may_count_pagerank(&self) -> bool {
        matches!(self.source, ListSource::Plan(_) | ListSource::Selected(..))
    }

    pub(super) fn kind(&self) -> ListKind {
        match self.source {
            ListSource::Plan(_) | ListSource::Selected(..) | ListSource::OfDraw(_) => {
                ListKind::Plan
            }
            ListSource::Given(_) => ListKind::Given,
            ListSource::Baseline(_) => ListKind::Baseline,
        }
    }

    /// Returns the parameters of a plan for these numbers of seeds and fetches.
    pub(super) fn parameters(&self, seeds: u32, budget: u64) -> Option<PlanOptions> {
        match &self.source {
            ListSource::Plan(options) => Some(with_size(options, seeds, budget)),
            // A plan of the bank keeps its number of seeds; the list is cut afterwards.
            ListSource::Selected(options, _) => Some((**options).clone()),
            ListSource::Given(_) | ListSource::OfDraw(_) | ListSource::Baseline(_) => None,
        }
    }

    /// Returns the parameters of a plan that depends on the number of fetches; `None` for other
    /// lists.
    pub(super) fn budget_plan(&self) -> Option<&PlanOptions> {
        match &self.source {
            ListSource::Plan(options) if options.budget.is_some() && self.constraints.is_none() => {
                Some(options)
            }
            _ => None,
        }
    }

    /// Returns whether a list with fewer seeds is a prefix of one with more. It is not if seeds are
    /// distributed over sites, or if the limit of a site depends on their number.
    pub(super) fn is_prefix_stable(&self) -> bool {
        match &self.source {
            ListSource::Plan(options) => {
                let by_cores = options.method.unwrap_or_default() == Method::Cores;
                by_cores || options.scope == Some(Scope::Web)
            }
            ListSource::Selected(..) | ListSource::Given(_) | ListSource::OfDraw(_) => true,
            ListSource::Baseline(baseline) => *baseline != Baseline::CommonCrawl,
        }
    }
}

/// Completes the parameters of a new plan. The budget is replaced by each number of fetches.
pub(super) fn new_plan(options: PlanOptions) -> PlanOptions {
    let any_budget = || Ok::<u64, Infallible>(1);
    options
        .complete_new(any_budget)
        .unwrap_or_else(|never| match never {})
}

fn with_size(options: &PlanOptions, seeds: u32, budget: u64) -> PlanOptions {
    PlanOptions {
        seeds: Some(seeds),
        budget: options.budget.map(|_| budget),
        ..options.clone()
    }
}

/// Returns the values of pages by [`PlanOptions::value_parameters`], for a crawl of this number of fetches.
pub(super) fn worth(
    web: &BankWeb,
    value: &PlanOptions,
    budget: Option<u64>,
) -> Result<Worth, EngineError> {
    let plan = PlanOptions {
        method: Some(Method::Cover(cover::Method::Greedy)),
        scope: Some(Scope::Web),
        budget,
        ..value.clone()
    };
    match plan.resolve()? {
        ResolvedPlan::Web(choice) => Ok(web.worth_of(&choice)),
        ResolvedPlan::Cores(_) | ResolvedPlan::Cover(_) => Err(EngineError::Internal(
            "a plan over the web was decided to be another one",
        )),
    }
}

// The policies of a plan, as constraints on its seeds over the web.

/// The pages that a plan's policies allow as seeds, its pins and its caps, by the numbers of a
/// [`super::held_out::BankWeb`].
///
/// Pages that a plan excludes from the graph are excluded from being seeds only.
pub(super) struct Constraints {
    /// By page: whether it may be a seed.
    pub(super) allowed: Vec<bool>,
    pins: Vec<u32>,
    max_per_domain: Option<u32>,
    /// By site.
    domains: Vec<u32>,
}

impl Constraints {
    /// Returns the constraints of a plan; `None` if it has none. Cost: the record of every crawled page, if
    /// the plan has rules about pages.
    pub(super) fn new(
        store: &Store,
        web: &BankWeb,
        rules: &LoadedPolicy,
        watch: &dyn Watch,
    ) -> Result<Option<Self>, EngineError> {
        let policy = &rules.policy;
        let allows_all = rules.pages.allow_all();
        if allows_all && !policy.has_caps() && rules.pins.pages.is_empty() {
            return Ok(None);
        }
        let mut allowed = vec![true; web.of.len()];
        for page in web.crawled().into_iter().filter(|_| !allows_all) {
            watch.proceed()?;
            let id = web.ids[page as usize];
            let site = &web.sites[web.of[page as usize].site as usize].name;
            let reason = rules.pages.reason_of_page(store, id, Some(site))?;
            allowed[page as usize] = reason.is_none();
        }
        let mut numbers = HashMap::new();
        let domain = |name: &str| {
            let next = number(numbers.len());
            *numbers
                .entry(ingest::registrable_domain(name).to_owned())
                .or_insert(next)
        };
        Ok(Some(Self {
            allowed,
            pins: web.numbers(&rules.pins.pages)?,
            max_per_domain: policy.max_per_domain,
            domains: web
                .sites
                .iter()
                .map(|site| &*site.name)
                .map(domain)
                .collect(),
        }))
    }

    /// Adds pins and caps to a graph of the remaining pages. Pins that are held out are left out.
    pub(super) fn apply(
        &self,
        graph: WebGraph,
        held_out: &HeldOutWeb<'_>,
    ) -> Result<WebGraph, EngineError> {
        let mut remaining = vec![NONE; self.allowed.len()];
        for (at, &page) in (0..).zip(&held_out.pages) {
            remaining[page as usize] = at;
        }
        let pins = self.pins.iter().map(|&pin| remaining[pin as usize]);
        let is_crawled = |at: &u32| *at != NONE && held_out.crawled[*at as usize];
        let pages = || 0..number(held_out.pages.len());
        let domain = |page: u32| self.domains[held_out.site_of(page) as usize];
        let per_domain = self.max_per_domain.map(|most| Cap {
            group: pages().map(domain).collect(),
            most,
        });
        let caps = per_domain.into_iter().collect();
        graph
            .with_constraints(pins.filter(is_crawled).collect(), caps)
            .map_err(web_graph_error)
    }
}
