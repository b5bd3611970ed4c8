//! The place that a vector of scores names.

use super::super::densest_part::{Place, densest_part};
use super::super::principal::{Doubt, Principal};
use super::super::quantize;
use super::super::start_vectors::StartVectors;
use super::super::vectors::scale;
use super::RegionSolver;
use crate::graph::{Remaining, Role};
use crate::watch::Interrupted;

impl RegionSolver {
    /// Returns the quantised scores, restricted to their densest connected part.
    pub(super) fn place(&mut self, left: &Remaining, vector: &[f64]) -> Result<Place, Interrupted> {
        let of_left = |(at, x): (usize, &f64)| {
            if self.region.is_linked(at) {
                x.max(0.0)
            } else {
                0.0
            }
        };
        let mut x: Vec<f64> = vector.iter().enumerate().map(of_left).collect();
        let top = self.region.largest(Role::Authority, |at| x[at])?;
        for x in &mut x {
            *x = quantize::score(quantize::score_code(*x / top));
        }
        let mut hubs = self.region.hubs_of(&x, &mut self.work)?;
        let (region, work) = (&self.region, &mut self.work);
        densest_part(&self.graph, left, region, &mut x, &mut hubs, work)?;
        Ok(Place {
            lambda: self.quotient(&x, &hubs)?,
            x,
            hubs,
        })
    }

    pub(super) fn principal(&self, place: Place) -> Result<Principal, Interrupted> {
        let Place {
            mut x,
            mut hubs,
            lambda,
        } = place;
        for (scores, role) in [(&mut x, Role::Authority), (&mut hubs, Role::Hub)] {
            let length = self.region.norm(role, scores)?;
            scale(scores, 1.0 / length);
        }
        let doubt = (!self.is_within_bound(lambda)).then_some(Doubt::Value { gap: 0.0 });
        Ok(Principal {
            sigma: lambda.sqrt(),
            upper: f64::INFINITY,
            gap: 0.0,
            hub_errors: vec![0.0; hubs.len()],
            authority_errors: vec![0.0; x.len()],
            hub_scores: hubs,
            authority_scores: x,
            doubt,
            is_exact: true,
            is_refined: true,
            ritz_vectors: StartVectors::default(),
            region: self.region.clone(),
        })
    }
}
