//! Coverage of the same sites by every cover method, compared with random seeds.

use std::fmt::Write;

use super::answers::{
    Claim, CoverageCurve, CoverageEvaluation, CoveragePoint, CoverageRequest, CoverageShare,
};
use super::seed_lists::state;

use crate::engine::error::ExperimentError;
use crate::engine::plan::{self, PlanOptions, ResolvedPlan, TakenBy};
use crate::engine::policy::LoadedPolicy;
use crate::engine::query::views::Views;
use crate::engine::refresh::cover::sites::{CoverSite, LoadedSite, cover_sites, load_in_groups};
use crate::engine::refresh::run_context::RunContext;
use crate::engine::{Bank, EngineError};
use seedbank_algorithms::cover::{Choice, Covered, Method, select_chosen};
use seedbank_algorithms::evaluate::coverage::{Coverage, Gain, coverage, gain, mean};
use seedbank_algorithms::evaluate::draw;
use seedbank_algorithms::watch::Watch;
use seedbank_store::{Store, tables};

/// A method with the depth of its weight and its treatment of covered pages.
type Variant = (Method, Option<u32>, Option<Covered>);

const ZERO: Option<Covered> = Some(Covered::Zero);
const REMOVE: Option<Covered> = Some(Covered::Remove);

/// Methods that consider what a page covers. The last four are L1, L2, L3 and SCC of the authors' poster.
const COVERING: [Variant; 10] = [
    (Method::Greedy, None, ZERO),
    (Method::MaxWeight, Some(3), ZERO),
    (Method::MaxWeight, Some(2), ZERO),
    (Method::MaxWeight, Some(1), ZERO),
    (Method::RootScc, Some(2), ZERO),
    (Method::MaxScc, Some(2), ZERO),
    (Method::MaxOut, None, REMOVE),
    (Method::MaxWeight, Some(1), REMOVE),
    (Method::MaxWeight, Some(2), REMOVE),
    (Method::MaxScc, Some(1), REMOVE),
];

/// Methods that consider the page alone.
const HEURISTIC: [Variant; 2] = [
    (Method::OutDegree, None, None),
    (Method::Pagerank, None, None),
];

const RANDOM: Variant = (Method::Random, None, None);

const NAMED: usize = 4;

/// Seeds per site and hops.
type Setting = (u32, u32);

/// See [`Bank::evaluate_coverage`].
pub(super) fn run(
    bank: &Bank,
    request: &CoverageRequest,
    watch: &dyn Watch,
) -> Result<CoverageEvaluation, EngineError> {
    if [
        request.per_site,
        request.hops,
        request.fixed_seeds,
        request.draws,
        request.max_sites,
    ]
    .contains(&0)
    {
        return Err(ExperimentError::NoCoverage.into());
    }
    let views = Views::open(bank)?;
    let store: &Store = &views.reader;
    // The values, and so the data to load, are the same for every method.
    let loading = choice(request, RANDOM, 1, 0)?;
    let all = cover_sites(store, &loading, watch)?;
    let mut eligible: Vec<&CoverSite> = Vec::new();
    for site in all.iter().filter(|site| site.crawled >= request.min_pages) {
        watch.proceed()?;
        let mut from_outside = store.scan_under(&tables::CITERS, &site.id.0.to_be_bytes())?;
        if from_outside.next().transpose()?.is_some() {
            eligible.push(site);
        }
    }
    let sites = sample(&eligible, request);
    if sites.is_empty() {
        let min_pages = request.min_pages;
        return Err(ExperimentError::SmallSites { min_pages }.into());
    }
    let mut measured = Measured::new(request, sites.len());
    let variants = COVERING.len() + HEURISTIC.len() + request.draws as usize;
    let steps = variants as u64 * u64::from(request.hops) * sites.len() as u64;
    watch.stage("cover", Some(steps));
    let policy = LoadedPolicy::default();
    let context = RunContext::new(store, &loading, &policy, watch);
    load_in_groups(context, &sites, |group, loaded| {
        measured.add(request, group, loaded, watch)
    })?;
    let (by_seeds, by_hops) = measured.curves(request);
    Ok(CoverageEvaluation {
        state: state(store)?,
        sites: sites.len() as u64,
        eligible_sites: eligible.len() as u64,
        min_pages: request.min_pages,
        pages: sites.iter().map(|site| u64::from(site.crawled)).sum(),
        draws: request.draws,
        rng_seed: request.rng_seed,
        claims: claims(&by_seeds, &by_hops),
        by_seeds,
        by_hops,
    })
}

/// Draws the sites to measure, in the order of their names.
fn sample<'a>(eligible: &[&'a CoverSite], request: &CoverageRequest) -> Vec<&'a CoverSite> {
    let count = u32::try_from(eligible.len()).unwrap_or(u32::MAX);
    let wanted = request.max_sites as usize;
    let drawn = draw("sites", request.rng_seed, 0, count, wanted);
    drawn.iter().map(|&at| eligible[at as usize]).collect()
}

fn choice(
    request: &CoverageRequest,
    variant: Variant,
    hops: u32,
    draw: u32,
) -> Result<Choice, EngineError> {
    let (method, depth, covered) = variant;
    let value = request.value.value_parameters();
    let plan = PlanOptions {
        method: Some(plan::Method::Cover(method)),
        hops: Some(hops),
        depth: depth.map(|depth| depth.min(hops)),
        covered,
        rng_seed: Some(request.rng_seed.wrapping_add(draw.into())),
        // As in the papers, a method ends only when no page or no value is left.
        positive_only: Some(false),
        // Sites are covered one by one, so parameters of plans over the web do not apply.
        ..value.retain(|parameter| parameter.taken_by != TakenBy::Web)
    };
    match plan.resolve()? {
        ResolvedPlan::Cover(choice) => Ok(choice),
        ResolvedPlan::Cores(_) | ResolvedPlan::Web(_) => Err(EngineError::Internal(
            "a plan over sites was decided to be another one",
        )),
    }
}

/// Coverage by variant (random first), setting and site.
struct Measured {
    settings: Vec<Setting>,
    /// Number of settings that vary the seeds; the others vary the hops.
    by_seeds: usize,
    variants: Vec<Variant>,
    covered: Vec<Vec<Vec<Coverage>>>,
}

impl Measured {
    fn new(request: &CoverageRequest, sites: usize) -> Self {
        let by_seeds = (1..=request.per_site).map(|seeds| (seeds, request.hops));
        let by_hops = (1..=request.hops).map(|hops| (request.fixed_seeds, hops));
        let mut variants = vec![RANDOM];
        variants.extend(COVERING);
        variants.extend(HEURISTIC);
        let settings: Vec<Setting> = by_seeds.chain(by_hops).collect();
        Self {
            by_seeds: request.per_site as usize,
            covered: vec![vec![vec![Coverage::default(); sites]; settings.len()]; variants.len()],
            settings,
            variants,
        }
    }

    /// Selects on a group of sites by every variant; `group` has their indexes.
    fn add(
        &mut self,
        request: &CoverageRequest,
        group: &[usize],
        loaded: &[LoadedSite<'_>],
        watch: &dyn Watch,
    ) -> Result<(), EngineError> {
        for hops in 1..=request.hops {
            for at in 0..self.variants.len() {
                let variant = self.variants[at];
                let draws = if variant.0 == Method::Random {
                    request.draws
                } else {
                    1
                };
                let mut of_draws = vec![Vec::new(); draws as usize];
                for (draw, found) in (0..draws).zip(&mut of_draws) {
                    let choice = choice(request, variant, hops, draw)?;
                    *found = self.select(request, loaded, hops, &choice, watch)?;
                }
                for (setting, of_sites) in self.covered[at].iter_mut().enumerate() {
                    if self.settings[setting].1 != hops {
                        continue;
                    }
                    for (site, place) in group.iter().enumerate() {
                        let draws: Vec<Coverage> =
                            of_draws.iter().map(|draw| draw[site][setting]).collect();
                        of_sites[*place] = mean(&draws);
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the coverage of each site by one selection, in every setting with this many hops
    /// (default in the others). The first seeds do not depend on the number of seeds.
    fn select(
        &self,
        request: &CoverageRequest,
        loaded: &[LoadedSite<'_>],
        hops: u32,
        choice: &Choice,
        watch: &dyn Watch,
    ) -> Result<Vec<Vec<Coverage>>, EngineError> {
        let seats = if hops == request.hops {
            request.per_site.max(request.fixed_seeds)
        } else {
            request.fixed_seeds
        };
        let sites: Vec<_> = loaded.iter().map(|s| (s.selectable(), seats)).collect();
        let covers = select_chosen(&sites, choice, watch)?;
        let of_site = |(site, cover): (&LoadedSite<'_>, _)| {
            let of_setting = |&(seeds, of): &Setting| {
                if of == hops {
                    coverage(&site.graph, cover, seeds)
                } else {
                    Coverage::default()
                }
            };
            self.settings.iter().map(of_setting).collect()
        };
        Ok(loaded.iter().zip(&covers).map(of_site).collect())
    }

    fn curves(&self, request: &CoverageRequest) -> (Vec<CoverageCurve>, Vec<CoverageCurve>) {
        let curve = |at: usize, settings: std::ops::Range<usize>| CoverageCurve {
            method: self.variants[at].0,
            depth: match self.variants[at].1 {
                None if self.variants[at].0 == Method::Greedy => Some(request.hops),
                depth => depth,
            },
            covered: self.variants[at].2,
            points: settings
                .filter_map(|setting| self.point(at, setting))
                .collect(),
        };
        let (seeds, all) = (self.by_seeds, self.settings.len());
        let variants = 0..self.variants.len();
        (
            variants.clone().map(|at| curve(at, 0..seeds)).collect(),
            variants.map(|at| curve(at, seeds..all)).collect(),
        )
    }

    fn point(&self, at: usize, setting: usize) -> Option<CoveragePoint> {
        let pairs = || {
            self.covered[at][setting]
                .iter()
                .zip(&self.covered[0][setting])
        };
        let pages: Vec<(f64, f64)> = pairs().map(|(a, b)| (a.pages, b.pages)).collect();
        // A site without positive value has no share of it to measure.
        let value: Vec<(f64, f64)> = pairs().filter_map(|(a, b)| a.value.zip(b.value)).collect();
        let share = |gain: Gain| CoverageShare {
            percent: gain.percent,
            above_random: (at > 0).then_some(gain.above_random),
            mean_improvement: gain.mean_improvement.filter(|_| at > 0),
            improvement_of_means: gain.improvement_of_means.filter(|_| at > 0),
        };
        let (seeds, hops) = self.settings[setting];
        Some(CoveragePoint {
            seeds,
            hops,
            pages: gain(&pages).map(share)?,
            value: gain(&value).map(share)?,
        })
    }
}

/// Checks the claims of Zheng, Dmitriev and Giles: methods that consider coverage do better than
/// those that consider pages alone, and these better than random; here by value, in every setting.
fn claims(by_seeds: &[CoverageCurve], by_hops: &[CoverageCurve]) -> Vec<Claim> {
    let covering = 1..=COVERING.len();
    let heuristic = COVERING.len() + 1..=COVERING.len() + HEURISTIC.len();
    // Collect the settings in which a better method is not above a worse one.
    let exceptions = |better: std::ops::RangeInclusive<usize>,
                      worse: std::ops::RangeInclusive<usize>| {
        let mut found = Vec::new();
        let mut compared = 0;
        for (at, below) in better.flat_map(|a| worse.clone().map(move |b| (a, b))) {
            let mut points = Vec::new();
            let methods = (by_seeds[at].method, by_seeds[below].method);
            for curves in [by_seeds, by_hops] {
                for (a, b) in curves[at].points.iter().zip(&curves[below].points) {
                    // The first pick of both is the same by definition.
                    if a.seeds == 1 && methods == (Method::MaxOut, Method::OutDegree) {
                        continue;
                    }
                    compared += 1;
                    if a.value.percent.mean <= b.value.percent.mean {
                        points.push((a.seeds, a.hops));
                    }
                }
            }
            if !points.is_empty() {
                points.sort_unstable();
                points.dedup();
                found.push((by_seeds[at].name(), by_seeds[below].name(), points));
            }
        }
        (found, compared)
    };
    let claim = |claim: &str, what: &str, (found, compared): (Vec<Exception>, u32)| Claim {
        claim: claim.to_owned(),
        holds: found.is_empty(),
        text: sentence(what, &found, compared),
    };
    vec![
        claim(
            "cover-above-random",
            "Methods that look at coverage cover more value than random seeds",
            exceptions(covering.clone(), 0..=0),
        ),
        claim(
            "cover-above-heuristics",
            "Methods that look at coverage cover more value than out-degree and PageRank",
            exceptions(covering, heuristic.clone()),
        ),
        claim(
            "heuristics-above-random",
            "Out-degree and PageRank cover more value than random seeds",
            exceptions(heuristic, 0..=0),
        ),
    ]
}

/// A method that does not beat another, and the settings where it does not.
type Exception = (String, String, Vec<Setting>);

fn counted(number: impl std::fmt::Display, one: &str) -> String {
    let number = number.to_string();
    let end = if number == "1" { "" } else { "s" };
    format!("{number} {one}{end}")
}

fn sentence(what: &str, found: &[Exception], compared: u32) -> String {
    if found.is_empty() {
        return format!("{what}, in all {compared} comparisons.");
    }
    let mut text = format!("{what}, but not always: ");
    for (at, (method, other, points)) in found.iter().take(NAMED).enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "{}{method} is not above {other} in {} (first at {}, {})",
            if at == 0 { "" } else { "; " },
            counted(points.len(), "setting"),
            counted(points[0].0, "seed"),
            counted(points[0].1, "hop"),
        );
    }
    if found.len() > NAMED {
        let _ = write!(text, "; and {} more such pairs", found.len() - NAMED);
    }
    text.push('.');
    text
}
