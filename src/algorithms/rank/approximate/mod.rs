//! Cores within a bound: places whose sigma is proved to be within a given share of the largest, region by region
//! ([`by_region`]), reusing the steps of a previous run.
//!
//! With `G` the remaining graph of a region and `M = A^T A` its matrix, a step needs a vector `x >= 0` and a
//! bound `mu`: `lambda = |A x|^2 / |x|^2` is at most the largest eigenvalue of `M`, which is at
//! most `mu`. The step is accepted if `lambda >= (1 - P)^2 mu`. Removing pages only lowers
//! eigenvalues, so a bound holds for all later steps, and the smallest one so far applies.
//!
//! **A computed step.** A vector `b` with weight everywhere, made of Ritz vectors of the previous
//! step, and one Lanczos recurrence `Q`, `T` of `A A^T` on the hubs, which are fewer, from `A b`.
//! With its first Ritz vector `u`, `x` is the [quantised](quantize) `A^T u`. For any `mu` above all
//! eigenvalues `y = (mu - M)^-1 b` is positive and `M y = mu y - b < mu y`, which is the
//! certificate of Collatz and Wielandt ([`super::certificate`]); it equals `(b + A^T w) / mu` with
//! `w = (mu - A A^T)^-1 A b`, and `Q (mu - T)^-1 Q^T A b` approximates `w`. So `mu` is set to the
//! bound that the step needs, and the recurrence ends once the residual of `y` is small relative to
//! the weight of `b`. `M y <= mu y` is then tested entry by entry with the quantised `y`, and
//! entries that violate it are raised.
//!
//! **A cached step of an unchanged region** has the `x` and the bound of the same step of the previous run, on the same
//! remaining graph. Only `|A x|` is computed.
//!
//! **A cached step of a changed region** has the `x` and `y` of the same step of the previous run, without removed
//! pages. If the current bound is enough, only `|A x|` is computed; otherwise `M y`, in one pass.
//! `y` may be raised where the graph changed, up to a bound that is also small enough for the
//! following steps. A step without a `y` uses that of the last step that had one. If that proves
//! too little, the step is computed, and the cached step is tried again against the new bound, and
//! at the next step. After several computed steps in a row cached steps are left alone for some
//! steps, so that a run that can reuse none costs little more than one without a cache.
//!
//! **One place.** Of the connected parts of `x` the one with the largest `|A x| / |x|` is taken: it
//! is at least that of all of `x`.
//!
//! **Rounding.** Scores and [`weights`] are quantised, so that sums of them are exact: equal scores
//! are equal in any order of summation. The test of the certificate is inflated as in
//! [`super::certificate`].

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use crate::graph::{HubShare, Remaining, Role, Touched};
use crate::watch::{Interrupted, Watch};

mod by_region;
mod cached;
mod place;
mod weights;

pub use by_region::Approximate;

use super::cached_steps::{Origin, RegionSteps, Step, nonzero_codes};
use super::densest_part::Place;
use super::quantize;
use super::region::Region;
use super::region_share::RegionShare;
use super::single_vector_lanczos::Recurrence;
use super::vector_block::BufferPool;
use super::vectors::scale;
use super::work::Work;
use weights::{Proof, Scratch, Weights};

/// Share of P that a computed step may use; the rest allows for later changes.
const COMPUTED_SHARE: f64 = 0.7;
/// Share of that slack that a certificate targets; the rest allows for quantisation and rounding.
const TARGET_SHARE: f64 = 0.95;
/// Uniform weight of the start of a recurrence.
const UNIFORM_WEIGHT: f64 = 0.3;
/// The smallest length, on the pages left, of an earlier vector that a computation starts from.
const MIN_START: f64 = 1e-100;
/// A certificate is tried once its residual is below this share of the uniform weight, in length.
const MAX_RESIDUAL: f64 = 0.4;
/// Products before the first check, and between two.
const FIRST_CHECK: usize = 5;
const CHECK_INTERVAL: usize = 2;
const MAX_PRODUCTS: usize = 90;
/// Number of vectors that the next step starts from.
const STARTS: usize = 3;
/// Maximum number of reads of each entry while a certificate is raised: for a required bound, and
/// for an optional one.
const REQUIRED_READS: usize = 4;
const OPTIONAL_READS: usize = 1;
/// Weights below this, in units of the weight of an authority without links, become 1. As the image
/// of a weight `y` is at most `y - 1` in units of `mu`, that violates nothing.
const MIN_WEIGHT: f64 = 1.9;
/// Weights are rounded up to this many parts of that unit: small ones have much slack, and few
/// distinct ones take less memory.
const WEIGHT_STEPS: f64 = 4.0;
/// The bound is tightened for a cached step if that leaves at least this share of the room that P
/// allows above the largest value found, within the number of products below.
const TIGHTENING_ROOM: f64 = 0.2;
const TIGHTENING_PRODUCTS: usize = 20;
/// After more computed steps in a row than this, cached steps are left alone for one step, then for three,
/// and so on, up to this many.
const MISSES: u32 = 1;
const MAX_PAUSE: u32 = 15;
/// Rounding error of a quotient of sums.
const ROUNDING: f64 = 1e-12;

/// A cached step that may come next: its index and its quotient `|A x|^2 / |x|^2`.
type Candidate = (usize, f64);

/// A step that was found.
#[derive(Debug)]
pub(super) struct Found {
    step: Step,
    place: Place,
    origin: Origin,
}

/// Finds the steps of a region.
#[derive(Debug)]
struct RegionSolver {
    /// `(1 - P)^2`.
    share: f64,
    /// The same for computed steps, with a part of P, so that they remain valid for some days.
    computed_share: f64,
    graph: Arc<HubShare>,
    /// The region, with the numbers of remaining pages.
    region: Region,
    /// Upper bound on the largest eigenvalue of the remaining graph of the region.
    upper: f64,
    /// Start vectors on the hubs.
    starts: Vec<Vec<f64>>,
    /// The cached steps of an unchanged region, with their bounds.
    unchanged: VecDeque<(Step, f64)>,
    /// The cached steps of a changed region.
    cached: VecDeque<Step>,
    /// Weights of the last cached step that had any, after raising: steps without weights share its
    /// bound.
    latest_weights: Vec<(u32, u16)>,
    /// Whether any process has some of these.
    has_weights: bool,
    /// Number of consecutive failures of cached proofs, and of steps for which they are not tried.
    failures: u32,
    skips: u32,
    /// Number of consecutive computed steps at which cached steps were tried, and of those for which they
    /// are left alone.
    misses: u32,
    pause: u32,
    pool: BufferPool,
    scratch: Scratch,
    work: Work,
}

impl RegionSolver {
    /// Returns a solver of the pages that are left of a graph, whose sigmas are at least `1 - within` times the largest.
    /// `largest_row_sum` is the one of the region, as a product returned it, and `places` has the place of each class of
    /// `cached` in the graph. All processes call its functions at the same time.
    fn new(
        graph: &Arc<HubShare>,
        left: &Remaining,
        within: f64,
        largest_row_sum: f64,
        cached: RegionSteps,
        places: impl Fn(u32) -> Option<u32>,
    ) -> Result<Self, Interrupted> {
        let region = Region::of_share(RegionShare::new(Arc::clone(graph))?, left);
        let mut unchanged = VecDeque::new();
        let mut changed = VecDeque::new();
        for step in cached.steps {
            let bound = step.bound;
            let mut step = Step::from_cached(step, &places);
            step.complete(&region)?;
            if cached.is_unchanged {
                unchanged.push_back((step, bound));
            } else {
                changed.push_back(step);
            }
        }
        Ok(Self {
            share: (1.0 - within) * (1.0 - within),
            computed_share: (1.0 - COMPUTED_SHARE * within) * (1.0 - COMPUTED_SHARE * within),
            upper: largest_row_sum * (1.0 + region.rounding()),
            starts: Vec::new(),
            unchanged,
            cached: changed,
            latest_weights: Vec::new(),
            has_weights: false,
            failures: 0,
            skips: 0,
            misses: 0,
            pause: 0,
            pool: BufferPool::default(),
            scratch: Scratch::default(),
            work: Work::default(),
            graph: Arc::clone(graph),
            region,
        })
    }

    /// Returns whether a place is accepted under the current bound.
    fn is_within_bound(&self, lambda: f64) -> bool {
        self.upper <= lambda / self.share * (1.0 - 3.0 * ROUNDING)
    }

    /// Returns the largest bound under which a place is accepted.
    fn max_bound_for(&self, lambda: f64) -> f64 {
        lambda / self.share * (1.0 - 4.0 * ROUNDING)
    }

    /// Returns `|A x|^2 / |x|^2`, rounded down.
    fn quotient(&self, x: &[f64], hubs: &[f64]) -> Result<f64, Interrupted> {
        let (above, below) = (
            self.region.norm(Role::Hub, hubs)?,
            self.region.norm(Role::Authority, x)?,
        );
        let quotient = above / below;
        Ok(quotient * quotient * (1.0 - ROUNDING))
    }

    /// Lowers the current bound by weights and their image. If these do not prove the first of
    /// `bounds`, which ascend, the weights are raised until they prove one of them.
    fn prove(&mut self, y: Vec<f64>, bounds: &[f64]) -> Result<Proof, Interrupted> {
        let region = &self.region;
        let mut weights = Weights::new(region, y, &mut self.pool, &mut self.work)?;
        let proven = weights.bound(region)?;
        self.upper = self.upper.min(proven);
        let entries = region.entries();
        for (at, &mu) in (1..).zip(bounds) {
            if proven <= mu {
                return Ok(Proof::Unchanged(weights));
            }
            let reads = if at == bounds.len() {
                REQUIRED_READS
            } else {
                OPTIONAL_READS
            };
            let max_reads = entries.saturating_mul(reads);
            if weights.raise(region, mu, max_reads, &mut self.scratch, &mut self.work)? {
                self.upper = self.upper.min(mu);
                return Ok(Proof::Raised(weights));
            }
        }
        Ok(Proof::None(weights))
    }

    /// Computes a place and lowers the bound until the place, or one of the returned candidates, is
    /// accepted; `None` if no link is left. There are candidates only if cached steps are tried.
    fn compute(
        &mut self,
        left: &Remaining,
        tries_cached: bool,
        watch: &dyn Watch,
    ) -> Result<Option<(Step, Place, Vec<Candidate>)>, Interrupted> {
        if !self.region.has_links()? {
            return Ok(None);
        }
        let (start, uniform_weight) = self.start()?;
        let hub_vector = self.region.hubs_of(&start, &mut self.work)?;
        let hub_length = self.region.norm(Role::Hub, &hub_vector)?;
        let mut lanczos = Recurrence::new(&self.region, hub_vector)?;
        let mut candidates = (!tries_cached).then(Vec::new);
        loop {
            watch.proceed()?;
            let length = lanczos.len();
            let is_last = lanczos.is_done || length >= MAX_PRODUCTS;
            if is_last || length >= FIRST_CHECK && length % CHECK_INTERVAL == 1 {
                let state = lanczos.state();
                let top = state.values[0];
                // The current bound may be enough already.
                let is_enough = top * (1.0 + TARGET_SHARE * (self.computed_share - 1.0))
                    >= self.computed_share * self.upper;
                let candidates: &mut Vec<Candidate> = match &mut candidates {
                    Some(candidates) => candidates,
                    none => none.insert(self.candidates(top * self.share)?),
                };
                // A tighter bound may accept a cached step instead.
                let tightened = if is_enough || length > TIGHTENING_PRODUCTS {
                    None
                } else {
                    self.tightened(top, candidates)
                };
                let mu = match tightened {
                    Some(tightened) => top + TARGET_SHARE * (tightened - top),
                    None => top * (1.0 + TARGET_SHARE * (1.0 / self.computed_share - 1.0)),
                };
                let (factors, residual) = lanczos.resolvent(mu);
                let residual = residual * hub_length / mu.sqrt();
                // A small residual makes the certificate likely to hold.
                if is_enough || is_last || residual <= MAX_RESIDUAL * UNIFORM_WEIGHT {
                    let vectors = lanczos.ritz(&self.region, &state.values, STARTS)?;
                    let back = self.region.authorities_of(&vectors[0], &mut self.work)?;
                    let place = self.place(left, &back)?;
                    let mut weights = Vec::new();
                    // The required bound.
                    let enough = tightened.unwrap_or(place.lambda / self.computed_share);
                    let enough = enough * (1.0 - 3.0 * ROUNDING);
                    if self.upper > enough {
                        let hub_vector = lanczos.combined(&factors);
                        let mut y = self.region.authorities_of(&hub_vector, &mut self.work)?;
                        for (y, start) in y.iter_mut().zip(&start) {
                            *y = (start + hub_length * *y) / mu;
                        }
                        self.quantize_weights(&mut y, uniform_weight / mu);
                        let proof = self.prove(y, &[enough * (1.0 - ROUNDING)])?;
                        let y = proof.into_weights().y;
                        let code = |at| quantize::weight_code(y[at]).unwrap_or(0);
                        weights = nonzero_codes(&self.region, code);
                    }
                    let is_done = self.upper <= enough;
                    if is_last || is_done {
                        self.starts = vectors;
                        let code = |at| quantize::score_code(place.x[at]);
                        let scores = nonzero_codes(&self.region, code);
                        let mut step = Step::new(scores, weights);
                        step.complete(&self.region)?;
                        self.pool.recycle(lanczos.into_vectors());
                        return Ok(Some((step, place, std::mem::take(candidates))));
                    }
                }
            }
            let (pool, work) = (&mut self.pool, &mut self.work);
            let image = self
                .region
                .multiply(Role::Hub, lanczos.last(), pool, work)?;
            lanczos.advance(&self.region, image)?;
        }
    }

    /// Returns the bound that accepts the first candidate that the usual bound may reject, if it
    /// leaves room above the largest value found.
    fn tightened(&self, top: f64, candidates: &[Candidate]) -> Option<f64> {
        let least = top * (1.0 + TIGHTENING_ROOM * (1.0 / self.share - 1.0));
        let bounds = candidates
            .iter()
            .map(|(_, lambda)| self.max_bound_for(*lambda));
        let tightened = bounds.into_iter().find(|bound| *bound >= least)?;
        (tightened < top / self.computed_share).then_some(tightened)
    }

    /// Returns the unit start vector of a recurrence, positive on all remaining authorities, and
    /// its uniform weight.
    fn start(&mut self) -> Result<(Vec<f64>, f64), Interrupted> {
        let mut starts = vec![0.0; self.region.own(Role::Hub)];
        for vector in &self.starts {
            let length = self.region.norm(Role::Hub, vector)?;
            // If all pages with its weight were removed, nothing is left to start from, and the scores of removed pages
            // divided by that length would be infinite.
            if length < MIN_START {
                continue;
            }
            for (entry, of) in starts.iter_mut().zip(vector) {
                *entry += of.max(0.0) / length;
            }
        }
        let mut start = self.region.authorities_of(&starts, &mut self.work)?;
        let pages = self.region.authority_pages();
        let length = self
            .region
            .norm(Role::Authority, &start)?
            .max(f64::MIN_POSITIVE);
        let sum = |range: Range<usize>| [pages[range].iter().sum::<f64>()];
        let [all] = self.region.sums(Role::Authority, sum)?;
        let uniform_weight = UNIFORM_WEIGHT / all.sqrt();
        for (entry, pages) in start.iter_mut().zip(pages) {
            *entry = if *pages > 0.0 {
                *entry / length + uniform_weight
            } else {
                0.0
            };
        }
        let length = self.region.norm(Role::Authority, &start)?;
        scale(&mut start, 1.0 / length);
        Ok((start, uniform_weight / length))
    }

    /// Quantises weights, in units of `least`.
    fn quantize_weights(&self, y: &mut [f64], least: f64) {
        let pages = self.region.authority_pages();
        for (y, pages) in y.iter_mut().zip(pages) {
            let relative = *y / least;
            *y = if *pages > 0.0 && relative > MIN_WEIGHT {
                let up = (relative * WEIGHT_STEPS).ceil() / WEIGHT_STEPS;
                quantize::weight_code(up).map_or(1.0, quantize::weight)
            } else {
                1.0
            };
        }
    }

    /// Returns the next step; `None` if no link is left.
    fn next(&mut self, left: &Remaining, watch: &dyn Watch) -> Result<Option<Found>, Interrupted> {
        watch.proceed()?;
        if let Some(found) = self.next_unchanged()? {
            return Ok(Some(found));
        }
        let tries_cached = self.pause == 0;
        self.pause = self.pause.saturating_sub(1);
        let cached_step = if tries_cached {
            self.next_cached()?
        } else {
            None
        };
        let (step, place, origin) = if let Some(cached_step) = cached_step {
            cached_step
        } else {
            if let Some(next) = self.cached.front().filter(|_| tries_cached) {
                let scores = self.scores(next);
                let hub_vector = self.region.hubs_of(&scores, &mut self.work)?;
                self.starts.insert(0, hub_vector);
                self.starts.truncate(STARTS);
            }
            let Some((step, place, candidates)) = self.compute(left, tries_cached, watch)? else {
                return Ok(None);
            };
            match self.first_within_bound(&candidates)? {
                Some((mut cached_step, place)) => {
                    if step.has_weights {
                        cached_step.weights = step.weights;
                        cached_step.has_weights = true;
                    }
                    (cached_step, place, Origin::Bounded)
                }
                None => (step, place, Origin::Computed),
            }
        };
        if origin != Origin::Computed {
            self.misses = 0;
        } else if tries_cached {
            self.misses += 1;
            let extra = self.misses.saturating_sub(MISSES).min(MAX_PAUSE);
            self.pause = ((1 << extra) - 1_u32).min(MAX_PAUSE);
        }
        Ok(Some(Found {
            step,
            place,
            origin,
        }))
    }

    /// Must be called after pages of these classes were removed.
    fn pages_removed(&mut self, left: &Remaining, touched: &Touched) {
        self.region.update_pages(left, touched);
    }
}
