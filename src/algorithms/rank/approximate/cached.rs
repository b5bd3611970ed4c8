//! Cached steps that may come next.

use super::super::cached_steps::{Origin, Step};
use super::super::densest_part::Place;
use super::super::quantize;
use super::weights::Proof;
use super::{Candidate, Found, RegionSolver, TIGHTENING_ROOM};
use crate::graph::Role;
use crate::watch::Interrupted;

/// Number of cached steps considered at a time.
const LOOKAHEAD: usize = 8;
/// Maximum counted number of consecutive failures of cached proofs: after two every other step
/// skips the attempt, after three every two of three.
const MAX_FAILURES: u32 = 3;
/// Maximum share of raised weights that a step is stored without: the next run raises them again, which takes
/// less than storing all weights of the step.
const MAX_UNSTORED: f64 = 1.0 / 32.0;
/// Share by which the quotient of a place may decrease before its turn.
const DECREASE_ALLOWANCE: f64 = 1e-3;

impl RegionSolver {
    /// Returns the remaining place of cached scores; `None` if no hub links to it.
    pub(super) fn place_of(&mut self, step: &Step) -> Result<Option<Place>, Interrupted> {
        let x = self.scores(step);
        let mut hubs = vec![0.0; self.region.hubs().len()];
        // Reads the citers of the few scored pages only; sums are exact in any order.
        for &(at, _) in &step.scores {
            let share = self.region.authority_pages()[at as usize] * x[at as usize];
            if share > 0.0 {
                let citers = self.region.citers().list(at);
                self.work += citers.len() as u64;
                for &hub in citers {
                    hubs[hub as usize] += share;
                }
            }
        }
        self.region.fold_ghosts(Role::Hub, &mut hubs)?;
        let place = Place {
            lambda: self.quotient(&x, &hubs)?,
            x,
            hubs,
        };
        Ok((place.lambda > 0.0).then_some(place))
    }

    pub(super) fn scores(&self, step: &Step) -> Vec<f64> {
        let mut x = vec![0.0; self.region.own(Role::Authority)];
        for &(at, code) in &step.scores {
            // Pages without links would only lengthen the vector.
            if self.region.is_linked(at as usize) {
                x[at as usize] = quantize::score(code);
            }
        }
        x
    }

    fn weights(&self, weights: &[(u32, u16)]) -> Vec<f64> {
        let mut y = vec![1.0; self.region.own(Role::Authority)];
        for &(at, code) in weights {
            y[at as usize] = quantize::weight(code);
        }
        y
    }

    /// Takes the next cached step of an unchanged region. Damaged steps are dropped, and later ones with them.
    pub(super) fn next_unchanged(&mut self) -> Result<Option<Found>, Interrupted> {
        let Some((step, bound)) = self.unchanged.pop_front() else {
            return Ok(None);
        };
        // No bound is below a quotient.
        if let Some(place) = self.place_of(&step)?
            && bound >= place.lambda
        {
            self.upper = self.upper.min(bound);
            if self.is_within_bound(place.lambda) {
                self.starts = vec![place.hubs.clone()];
                return Ok(Some(Found {
                    step,
                    place,
                    origin: Origin::Proven,
                }));
            }
        }
        self.unchanged.clear();
        Ok(None)
    }

    /// Takes the next cached step, if it is within the bound.
    pub(super) fn next_cached(&mut self) -> Result<Option<(Step, Place, Origin)>, Interrupted> {
        self.drop_removed()?;
        let Some(mut step) = self.cached.pop_front() else {
            return Ok(None);
        };
        if let Some((place, origin)) = self.prove_cached(&mut step)? {
            return Ok(Some((step, place, origin)));
        }
        self.cached.push_front(step);
        Ok(None)
    }

    /// Returns the place of a cached step, if it is within the bound. The step gets the weights that
    /// prove it if many differ from those that it was tried with.
    fn prove_cached(&mut self, step: &mut Step) -> Result<Option<(Place, Origin)>, Interrupted> {
        if step.has_weights {
            self.latest_weights.clone_from(&step.weights);
            self.has_weights = true;
        }
        let Some(place) = self.place_of(step)? else {
            return Ok(None);
        };
        if self.is_within_bound(place.lambda) {
            return Ok(Some((place, Origin::Carried)));
        }
        if !self.has_weights && self.upper.is_finite() {
            return Ok(None);
        }
        if self.skips > 0 {
            self.skips = self.skips.saturating_sub(1);
            return Ok(None);
        }
        let y = self.weights(&self.latest_weights);
        let max_bound = self.max_bound_for(place.lambda);
        let shared = self.bound_for_following(place.lambda)?;
        let mut bounds = vec![shared, max_bound];
        bounds.retain(|bound| *bound <= max_bound);
        bounds.dedup();
        let origin = match self.prove(y, &bounds)? {
            // A step without weights of its own goes on sharing the latest.
            Proof::Unchanged(_) => Origin::Proven,
            Proof::Raised(weights) => {
                let (codes, raised) = weights.merged_codes(&self.region, &self.latest_weights);
                self.latest_weights = codes;
                let counts = [raised as u64, self.latest_weights.len() as u64];
                let [raised, all] = self.region.sum_counts(counts)?;
                self.has_weights = all > 0;
                if raised as f64 > MAX_UNSTORED * all as f64 {
                    step.weights.clone_from(&self.latest_weights);
                    step.has_weights = all > 0;
                }
                Origin::Raised
            }
            Proof::None(_) => {
                self.failures = (self.failures + 1).min(MAX_FAILURES);
                self.skips = self.failures - 1;
                return Ok(None);
            }
        };
        self.failures = 0;
        Ok(Some((place, origin)))
    }

    /// Returns a bound that is also small enough for the steps that follow one with quotient
    /// `lambda`, up to the first with a proof of its own, as far as such a bound is possible;
    /// infinite if there are none.
    ///
    /// Raising reaches exactly the requested bound: one requested for this step alone would be too
    /// large for the steps that shared a bound in the previous run.
    fn bound_for_following(&mut self, lambda: f64) -> Result<f64, Interrupted> {
        let min_lambda = lambda * (1.0 + TIGHTENING_ROOM * (1.0 / self.share - 1.0));
        let mut lowest = f64::INFINITY;
        for at in 0..self.cached.len() {
            if self.cached[at].has_weights {
                break;
            }
            let quotient = self.evaluate(at)?;
            let bound = self.max_bound_for(quotient) * (1.0 - DECREASE_ALLOWANCE);
            if bound < min_lambda {
                break;
            }
            lowest = lowest.min(bound);
        }
        Ok(lowest)
    }

    /// Evaluates the quotient of a cached step; 0 if no hub links to it.
    fn evaluate(&mut self, at: usize) -> Result<f64, Interrupted> {
        let step = std::mem::take(&mut self.cached[at]);
        let lambda = self.place_of(&step)?.map_or(0.0, |place| place.lambda);
        self.cached[at] = Step { lambda, ..step };
        Ok(lambda)
    }

    fn drop_removed(&mut self) -> Result<(), Interrupted> {
        let is_linked = |step: &Step| {
            step.best
                .iter()
                .any(|at| self.region.is_linked(*at as usize))
        };
        let are_linked: Vec<bool> = self.cached.iter().map(is_linked).collect();
        let mut are_linked = self.region.any(are_linked)?.into_iter();
        self.cached.retain(|_| are_linked.next().unwrap_or(false));
        Ok(())
    }

    /// Returns the next cached steps whose quotients are at least `min_lambda`.
    ///
    /// Quotients below that at their last evaluation are not recomputed: what remains of a place
    /// rarely increases.
    pub(super) fn candidates(&mut self, min_lambda: f64) -> Result<Vec<Candidate>, Interrupted> {
        let mut found = Vec::new();
        for at in 0..LOOKAHEAD.min(self.cached.len()) {
            if self.cached[at].lambda < min_lambda {
                continue;
            }
            let lambda = self.evaluate(at)?;
            if lambda >= min_lambda {
                found.push((at, lambda));
            }
        }
        Ok(found)
    }

    /// Takes the first candidate within the current bound.
    pub(super) fn first_within_bound(
        &mut self,
        candidates: &[Candidate],
    ) -> Result<Option<(Step, Place)>, Interrupted> {
        let mut candidates = candidates.iter();
        let first = candidates.find(|(_, lambda)| self.is_within_bound(*lambda));
        let Some(&(at, _)) = first else {
            return Ok(None);
        };
        let step = std::mem::take(&mut self.cached[at]);
        let place = self.place_of(&step)?;
        self.cached[at] = step;
        Ok(place.and_then(|place| Some((self.cached.remove(at)?, place))))
    }
}
