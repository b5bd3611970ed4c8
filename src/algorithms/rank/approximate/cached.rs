//! The places of steps that an earlier run kept: which of them may come next.

use super::super::cached_steps::{Origin, Step};
use super::super::densest_part::Place;
use super::super::quantize;
use super::weights::Proof;
use super::{Approximate, Candidate, TIGHT};

/// How many of the kept steps may come next.
const AHEAD: usize = 8;
/// How often in a row what was kept may fail to prove enough before it is tried at every third step only;
/// after two times at every other one.
const PATIENT: u32 = 3;
/// By which share a place may come to amount to less until its turn comes.
const LESS: f64 = 1e-3;

impl Approximate {
    /// What is left of kept scores; `None` if they lead to nothing.
    pub(super) fn kept_place(&mut self, step: &Step) -> Option<Place> {
        let x = self.scores(step);
        let mut hubs = vec![0.0; self.region.hubs().len()];
        // A few scores are led from faster than all rows are read, and sums are exact in any order.
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
        let place = Place {
            lambda: self.quotient(&x, &hubs),
            x,
            hubs,
        };
        (place.lambda > 0.0).then_some(place)
    }

    /// The scores of a kept step, by position.
    pub(super) fn scores(&self, step: &Step) -> Vec<f64> {
        let mut x = vec![0.0; self.region.authorities().len()];
        for &(at, code) in &step.scores {
            // A page that nobody links to any more would only lengthen the vector.
            if self.is_left(at as usize) {
                x[at as usize] = quantize::score(code);
            }
        }
        x
    }

    /// The weights of a kept step, by position.
    fn weights(&self, weights: &[(u32, u16)]) -> Vec<f64> {
        let mut y = vec![1.0; self.region.authorities().len()];
        for &(at, code) in weights {
            y[at as usize] = quantize::weight(code);
        }
        y
    }

    /// The next of the kept steps, if one is good enough.
    pub(super) fn next_kept(&mut self) -> Option<(Step, Place, Origin)> {
        self.drop_gone();
        let mut step = self.past.pop_front()?;
        if let Some((place, origin)) = self.try_kept(&mut step) {
            return Some((step, place, origin));
        }
        self.past.push_front(step);
        None
    }

    /// The place of a kept step, if it is good enough; the step then has what proves it.
    fn try_kept(&mut self, step: &mut Step) -> Option<(Place, Origin)> {
        if !step.weights.is_empty() {
            self.latest.clone_from(&step.weights);
        }
        let place = self.kept_place(step)?;
        if self.holds(place.lambda) {
            return Some((place, Origin::Carried));
        }
        if self.latest.is_empty() && self.upper.is_finite() {
            return None;
        }
        if self.pause > 0 {
            self.pause = self.pause.saturating_sub(1);
            return None;
        }
        let y = self.weights(&self.latest);
        let most = self.aim(place.lambda);
        let for_more = self.bound_for_more(place.lambda);
        let mut bounds = vec![for_more, most];
        bounds.retain(|bound| *bound <= most);
        bounds.dedup();
        let origin = match self.prove(y, &bounds) {
            Proof::Given(_) => Origin::Proven,
            Proof::Raised(weights) => {
                self.latest = weights.packed(&self.region, &self.latest);
                Origin::Raised
            }
            Proof::None(_) => {
                self.failed = (self.failed + 1).min(PATIENT);
                self.pause = self.failed - 1;
                return None;
            }
        };
        self.failed = 0;
        step.weights.clone_from(&self.latest);
        Some((place, origin))
    }

    /// The bound that lets the steps through that follow one whose place amounts to `lambda`, up to the first
    /// that has a proof of its own, as far as such a bound can be; infinite where no step needs one.
    ///
    /// A bound is raised to what is asked for and no further: asked for each step alone, it would do for
    /// none of those that an earlier run let through by the same bound.
    fn bound_for_more(&mut self, lambda: f64) -> f64 {
        let least = lambda * (1.0 + TIGHT * (1.0 / self.share - 1.0));
        let mut lowest = f64::INFINITY;
        for at in 0..self.past.len() {
            if !self.past[at].weights.is_empty() {
                break;
            }
            let amount = self.amount(at);
            let bound = self.aim(amount) * (1.0 - LESS);
            if bound < least {
                break;
            }
            lowest = lowest.min(bound);
        }
        lowest
    }

    /// What the place of one of the kept steps to come amounts to; 0 if it leads to nothing.
    fn amount(&mut self, at: usize) -> f64 {
        let step = std::mem::take(&mut self.past[at]);
        let lambda = self.kept_place(&step).map_or(0.0, |place| place.lambda);
        self.past[at] = Step { lambda, ..step };
        lambda
    }

    /// Drops kept steps whose best pages have gone.
    fn drop_gone(&mut self) {
        let mut past = std::mem::take(&mut self.past);
        past.retain(|step| step.best.iter().any(|at| self.is_left(*at as usize)));
        self.past = past;
    }

    /// The next kept steps whose places amount to at least so much.
    ///
    /// Of those that did not when they were last looked at, that is believed: what is left of a place hardly
    /// ever amounts to more.
    pub(super) fn ahead(&mut self, least: f64) -> Vec<Candidate> {
        let mut found = Vec::new();
        for at in 0..AHEAD.min(self.past.len()) {
            if self.past[at].lambda < least {
                continue;
            }
            let lambda = self.amount(at);
            if lambda >= least {
                found.push((at, lambda));
            }
        }
        found
    }

    /// The first of them that the bound at hand lets through.
    pub(super) fn bounded(&mut self, ahead: &[Candidate]) -> Option<(Step, Place)> {
        let (at, _) = *ahead.iter().find(|(_, lambda)| self.holds(*lambda))?;
        let place = {
            let step = std::mem::take(&mut self.past[at]);
            let place = self.kept_place(&step);
            self.past[at] = step;
            place?
        };
        Some((self.past.remove(at)?, place))
    }
}
