//! A place whose sigma is proven to be within a given share of the largest, from what was kept of an
//! earlier run wherever that still holds.
//!
//! With `G` what is left and `M = A^T A` its matrix, a step needs a vector `x >= 0` and a bound `mu`:
//! `lambda = |A x|^2 / |x|^2` is at most the largest eigenvalue of `M`, which is at most `mu`. The step is
//! good if `lambda >= (1 - P)^2 mu`. Taking pages away only lowers eigenvalues, so a bound holds for all
//! later steps, and the smallest so far is the one that counts.
//!
//! **A step from scratch.** A vector `b` with weight everywhere, made of Ritz vectors of an earlier step, and
//! one Lanczos recurrence `Q`, `T` of `A A^T` on the hubs, which are fewer, from `A b`. What its first Ritz
//! vector leads back to, on a [coarse](quantize) grid, is `x`. For any `mu` above all eigenvalues `y = (mu - M)^-1 b` is
//! positive and `M y = mu y - b < mu y`, which is the certificate of Collatz and Wielandt
//! ([`super::certificate`]); it is `(b + A^T w) / mu` with `w = (mu - A A^T)^-1 A b`, and
//! `Q (mu - T)^-1 Q^T A b` comes near `w` from the recurrence at hand. So `mu` is put where the promise needs it, and the recurrence ends once what is
//! missing of `y` is small beside the weight of `b`. Whether `M y <= mu y` holds is then tested entry by
//! entry with the `y` on its own grid, and entries that violate it are raised.
//!
//! **A step from what was kept**: `x` and `y` of the same step of an earlier run, without what has gone.
//! Where the bound at hand already does, `|A x|` is all that is computed; else `M y` is, in one pass. `y` may
//! be raised where the graph has changed, as far as the steps after it need the bound, too. A step that has
//! no `y` tries that of the last one before it. Where that does not prove enough, the step is done from
//! scratch, and what was kept is tried again against the new bound, and at the next step.
//!
//! **One place.** Of the parts of `x` that no link connects the one with the largest `|A x| / |x|` is
//! taken: it is at least that of the whole.
//!
//! **Rounding.** Scores and [`weights`] are coarse, so that sums of them are exact: equal scores are equal,
//! whatever the order of a sum. The test of the certificate is inflated as in [`super::certificate`].

use std::collections::VecDeque;
use std::sync::Arc;

use crate::graph::{HubGraph, NONE, Remaining, Touched, number};
use crate::watch::{Interrupted, Watch};

mod cached;
mod weights;

use super::cached_steps::{CachedSteps, Groups, Origin, ProvenStep, Step, packed, packed_scores};
use super::densest_part::{Place, densest_part};
use super::principal::{Doubt, Principal};
use super::quantize;
use super::ranker::{Next, Ranker};
use super::region::Region;
use super::single_vector_lanczos::Recurrence;
use super::vector_block::Workspace;
use super::vectors::{largest, norm, scale};
use super::work::Work;
use weights::{Proof, Scratch, Weights};

/// How much of P a step that is computed may use up; the rest is for what changes later.
const STRICT: f64 = 0.7;
/// The share of that slack that a certificate aims at; the rest is for the grid and for rounding.
const AIM: f64 = 0.95;
/// The weight that the start of a recurrence has everywhere, beside its own.
const EVERYWHERE: f64 = 0.3;
/// A certificate is tried once what is missing of it is below this share of that weight, in length.
const MISSING: f64 = 0.4;
/// Products before the first look, and between two.
const FIRST_LOOK: usize = 5;
const LOOK: usize = 2;
/// The most products of a step.
const MOST: usize = 90;
/// How many vectors the next step starts from.
const STARTS: usize = 3;
/// How often a certificate may read each entry while it is raised: for a bound that has to be, and for one
/// that would be good to have.
const PATIENCE: usize = 4;
const HASTE: usize = 1;
/// Weights below this, in units of what an authority has that nobody links to, are put down to 1. As the
/// image of a weight `y` is at most `y - 1` in units of `mu`, that violates nothing.
const FAR: f64 = 1.9;
/// Weights are rounded up to so many parts of that unit: small ones have much to spare, and few different
/// ones take less room.
const STEPS: f64 = 4.0;
/// A kept step is let through by a bound that is tightened for it where that leaves at least this share of
/// P squared's room above what was found, and within so many products.
const TIGHT: f64 = 0.2;
const TIGHT_MOST: usize = 20;
/// What a float's rounding may add to a quotient of sums.
const ROUNDING: f64 = 1e-12;

/// A kept step that may come next: its place among them, and what its place amounts to.
type Candidate = (usize, f64);

/// Takes cores from places whose sigma is proven to be near the largest.
#[derive(Debug)]
pub struct Approximate {
    /// `(1 - P)^2`.
    share: f64,
    /// The same for steps that are computed, with less of P: so that they hold for some days.
    strict: f64,
    /// All of the graph, with the numbers of pages that are left.
    region: Region,
    /// An upper bound on the largest eigenvalue of what is left.
    upper: f64,
    /// Vectors on the hubs.
    starts: Vec<Vec<f64>>,
    past: VecDeque<Step>,
    /// The weights of the last kept step that had any, raised where they were: a step that has none came
    /// after it by the same bound.
    latest: Vec<(u32, u16)>,
    /// How often in a row what was kept did not prove enough, and at how many steps it is not tried.
    failed: u32,
    pause: u32,
    taken: Option<(Step, f64, Origin)>,
    room: Workspace,
    scratch: Scratch,
    steps: Vec<ProvenStep>,
    work: Work,
}

impl Approximate {
    /// A ranker of this graph whose sigmas are at least `1 - share` times the largest; `past` has what an
    /// earlier run kept.
    #[must_use]
    pub fn new(graph: &HubGraph, left: &Remaining, share: f64, past: &CachedSteps) -> Self {
        let mut position = vec![NONE; graph.authority_members().len()];
        let hubs: Vec<u32> = (0..number(graph.hub_members().len())).collect();
        let mut work = Work::default();
        let region = Region::gather(graph, left, &hubs, &mut position, &mut work);
        let groups = Groups::new(graph, &region, &past.groups);
        let past = past.steps.iter().map(|step| Step::of(&groups, step));
        Self {
            share: (1.0 - share) * (1.0 - share),
            strict: (1.0 - STRICT * share) * (1.0 - STRICT * share),
            upper: f64::INFINITY,
            starts: Vec::new(),
            past: past.collect(),
            latest: Vec::new(),
            failed: 0,
            pause: 0,
            taken: None,
            room: Workspace::default(),
            scratch: Scratch::default(),
            steps: Vec::new(),
            work,
            region,
        }
    }

    /// The steps so far.
    #[must_use]
    pub fn into_steps(self) -> Vec<ProvenStep> {
        self.steps
    }

    /// Whether a place is as good as the bound at hand asks for.
    fn holds(&self, lambda: f64) -> bool {
        self.upper <= lambda / self.share * (1.0 - 3.0 * ROUNDING)
    }

    /// The largest bound that a place is good enough for.
    fn aim(&self, lambda: f64) -> f64 {
        lambda / self.share * (1.0 - 4.0 * ROUNDING)
    }

    /// `|A x|^2 / |x|^2`, from below.
    fn quotient(&self, x: &[f64], hubs: &[f64]) -> f64 {
        let (above, below) = (
            norm(self.region.hub_pages(), hubs),
            norm(self.region.authority_pages(), x),
        );
        let quotient = above / below;
        quotient * quotient * (1.0 - ROUNDING)
    }

    /// Lowers the bound at hand by weights and their image. Where these do not prove the first of `bounds`,
    /// which ascend, the weights are raised until they prove one of them.
    fn prove(&mut self, y: Vec<f64>, bounds: &[f64]) -> Proof {
        let region = &self.region;
        let mut weights = Weights::new(region, y, &mut self.room, &mut self.work);
        let proven = weights.bound(region);
        self.upper = self.upper.min(proven);
        let entries = region.rows().entries().len();
        for (at, &mu) in (1..).zip(bounds) {
            if proven <= mu {
                return Proof::Given(weights);
            }
            let patience = if at == bounds.len() { PATIENCE } else { HASTE };
            let most = patience * entries;
            if weights.raise(region, mu, most, &mut self.scratch, &mut self.work) {
                self.upper = self.upper.min(mu);
                return Proof::Raised(weights);
            }
        }
        Proof::None(weights)
    }

    /// Whether an authority class has pages that are linked to.
    fn is_left(&self, at: usize) -> bool {
        self.region.authority_pages()[at] > 0.0 && self.region.citing_pages()[at] > 0.0
    }

    /// Computes a place and lowers the bound as far as the promise needs, or as far as one of the kept steps
    /// ahead needs, which come with it; `None` if no link is left.
    fn compute(
        &mut self,
        graph: &HubGraph,
        left: &Remaining,
        watch: &dyn Watch,
    ) -> Result<Option<(Step, Place, Vec<Candidate>)>, Interrupted> {
        let classes = self.region.authorities().len();
        if !(0..classes).any(|at| self.is_left(at)) {
            return Ok(None);
        }
        if self.upper.is_infinite() {
            self.prove(vec![1.0; classes], &[]);
        }
        let (start, everywhere) = self.start();
        let led = self.region.lead(&start, &mut self.work);
        let length_of_led = norm(self.region.hub_pages(), &led);
        let mut line = Recurrence::from(self.region.hub_pages(), led);
        let mut ahead = None;
        loop {
            watch.proceed()?;
            let length = line.len();
            let is_last = line.is_done || length >= MOST;
            if is_last || length >= FIRST_LOOK && length % LOOK == 1 {
                let state = line.state();
                let top = state.values[0];
                let does = top * (1.0 + AIM * (self.strict - 1.0)) >= self.strict * self.upper;
                let ahead: &mut Vec<Candidate> =
                    ahead.get_or_insert_with(|| self.ahead(top * self.share));
                let tight = if does || length > TIGHT_MOST {
                    None
                } else {
                    self.tight(top, ahead)
                };
                let mu = match tight {
                    Some(tight) => top + AIM * (tight - top),
                    None => top * (1.0 + AIM * (1.0 / self.strict - 1.0)),
                };
                let (factors, missing) = line.resolvent(mu);
                let missing = missing * length_of_led / mu.sqrt();
                if does || is_last || missing <= MISSING * EVERYWHERE {
                    let vectors = line.ritz(self.region.hub_pages(), &state.values, STARTS);
                    let back = self.region.cite(&vectors[0], &mut self.work);
                    let place = self.place(graph, left, &back);
                    let mut weights = Vec::new();
                    // The bound that is good enough.
                    let enough = tight.unwrap_or(place.lambda / self.strict);
                    let enough = enough * (1.0 - 3.0 * ROUNDING);
                    if self.upper > enough {
                        let led = line.combined(&factors);
                        let mut y = self.region.cite(&led, &mut self.work);
                        for (y, start) in y.iter_mut().zip(&start) {
                            *y = (start + length_of_led * *y) / mu;
                        }
                        self.level(&mut y, everywhere / mu);
                        let proof = self.prove(y, &[enough * (1.0 - ROUNDING)]);
                        weights = packed(&self.region, &proof.into_weights().y);
                    }
                    let is_done = self.upper <= enough;
                    if is_last || is_done {
                        self.starts = vectors;
                        let scores = packed_scores(&self.region, &place.x);
                        let step = Step::new(scores, weights);
                        self.room.give(line.into_vectors());
                        return Ok(Some((step, place, std::mem::take(ahead))));
                    }
                }
            }
            let side = self.region.of_hubs();
            let image = self.room.one(side, line.last(), &mut self.work);
            line.advance(side.pages, image);
        }
    }

    /// The bound that lets the first of the kept steps through that the usual one need not, where it leaves
    /// room above the largest value so far.
    fn tight(&self, top: f64, ahead: &[Candidate]) -> Option<f64> {
        let least = top * (1.0 + TIGHT * (1.0 / self.share - 1.0));
        let bounds = ahead.iter().map(|(_, lambda)| self.aim(*lambda));
        let tight = bounds.into_iter().find(|bound| *bound >= least)?;
        (tight < top / self.strict).then_some(tight)
    }

    /// What a recurrence begins at, positive wherever anything is left and of unit length, and what it has
    /// everywhere.
    fn start(&mut self) -> (Vec<f64>, f64) {
        let hub_pages = self.region.hub_pages();
        let mut starts = vec![0.0; hub_pages.len()];
        for vector in &self.starts {
            let length = norm(hub_pages, vector).max(f64::MIN_POSITIVE);
            for (entry, of) in starts.iter_mut().zip(vector) {
                *entry += of.max(0.0) / length;
            }
        }
        let mut start = self.region.cite(&starts, &mut self.work);
        let pages = self.region.authority_pages();
        let length = norm(pages, &start).max(f64::MIN_POSITIVE);
        let everywhere = EVERYWHERE / pages.iter().sum::<f64>().sqrt();
        for (entry, pages) in start.iter_mut().zip(pages) {
            *entry = if *pages > 0.0 {
                *entry / length + everywhere
            } else {
                0.0
            };
        }
        let length = norm(pages, &start);
        scale(&mut start, 1.0 / length);
        (start, everywhere / length)
    }

    /// Puts weights on their grid, in units of `least`.
    fn level(&self, y: &mut [f64], least: f64) {
        let pages = self.region.authority_pages();
        for (y, pages) in y.iter_mut().zip(pages) {
            let relative = *y / least;
            *y = if *pages > 0.0 && relative > FAR {
                let up = (relative * STEPS).ceil() / STEPS;
                quantize::weight_code(up).map_or(1.0, quantize::weight)
            } else {
                1.0
            };
        }
    }

    /// The scores on their grid, and of the parts that no link connects the densest alone.
    fn place(&mut self, graph: &HubGraph, left: &Remaining, vector: &[f64]) -> Place {
        let of_left = |(at, x): (usize, &f64)| if self.is_left(at) { x.max(0.0) } else { 0.0 };
        let mut x: Vec<f64> = vector.iter().enumerate().map(of_left).collect();
        let top = largest(&x);
        for x in &mut x {
            *x = quantize::score(quantize::score_code(*x / top));
        }
        let mut hubs = self.region.lead(&x, &mut self.work);
        let of = (graph, left, &self.region);
        densest_part(of, &mut x, &mut hubs, &mut self.work);
        Place {
            lambda: self.quotient(&x, &hubs),
            x,
            hubs,
        }
    }

    fn solved(&self, place: Place) -> Principal {
        let Place {
            mut x,
            mut hubs,
            lambda,
        } = place;
        for (scores, pages) in [
            (&mut x, self.region.authority_pages()),
            (&mut hubs, self.region.hub_pages()),
        ] {
            let length = norm(pages, scores);
            scale(scores, 1.0 / length);
        }
        // Classes that have gone take no part, whatever they would lead to.
        let doubt = (!self.holds(lambda)).then_some(Doubt::Value { gap: 0.0 });
        Principal {
            sigma: lambda.sqrt(),
            upper: f64::INFINITY,
            gap: 0.0,
            hub_errors: vec![0.0; hubs.len()],
            authority_errors: vec![0.0; x.len()],
            hub_scores: hubs,
            authority_scores: x,
            doubt,
            is_exact: true,
            is_deep: true,
            kept: super::start_vectors::StartVectors::default(),
            region: self.region.clone(),
        }
    }
}

impl Ranker for Approximate {
    fn next(
        &mut self,
        graph: &HubGraph,
        left: &Remaining,
        watch: &dyn Watch,
    ) -> Result<Option<Next>, Interrupted> {
        watch.proceed()?;
        let (step, place, origin) = if let Some(kept) = self.next_kept() {
            kept
        } else {
            if let Some(ahead) = self.past.front() {
                let scores = self.scores(ahead);
                let led = self.region.lead(&scores, &mut self.work);
                self.starts.insert(0, led);
                self.starts.truncate(STARTS);
            }
            let Some((step, place, ahead)) = self.compute(graph, left, watch)? else {
                return Ok(None);
            };
            match self.bounded(&ahead) {
                Some((mut kept, place)) => {
                    if !step.weights.is_empty() {
                        kept.weights = step.weights;
                    }
                    (kept, place, Origin::Bounded)
                }
                None => (step, place, Origin::Computed),
            }
        };
        self.taken = Some((step, self.upper, origin));
        Ok(Some(Next::Solved(Arc::new(self.solved(place)))))
    }

    fn refine(
        &mut self,
        _graph: &HubGraph,
        _left: &Remaining,
        _found: Next,
        _watch: &dyn Watch,
    ) -> Result<Option<Next>, Interrupted> {
        Ok(None)
    }

    fn pages_removed(&mut self, _graph: &HubGraph, left: &Remaining, touched: &Touched) {
        if let Some((step, upper, origin)) = self.taken.take() {
            self.steps.push(ProvenStep {
                sigma_bound: upper.sqrt() * (1.0 + ROUNDING),
                origin,
                cached: step.by_class(&self.region),
            });
        }
        self.region.lose(left, touched);
    }

    fn work(&self) -> Work {
        self.work
    }

    fn take_proven_steps(&mut self) -> Vec<ProvenStep> {
        std::mem::take(&mut self.steps)
    }
}
