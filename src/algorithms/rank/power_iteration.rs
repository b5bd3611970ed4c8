//! HITS as published: a fixed number of iterations from the uniform vector, over all remaining
//! pages.

use std::sync::Arc;

use crate::graph::{HubGraph, NONE, Remaining, number};
use crate::watch::{Interrupted, Watch};

use super::principal::Principal;
use super::ranker::{Next, Ranker};
use super::region::Region;
use super::start_vectors::StartVectors;
use super::vectors::{norm, scale};
use super::work::Work;

/// `a = A^T h`, `h = A a`, repeated `iterations` times from the uniform vector for every core;
/// sigma is the length of the last `A a` with `a` normalised.
///
/// Source: Daneshpajouh, Mohammadi Nasiri, Ghodsi (WEBIST 2008), 60 iterations. The result is
/// defined by that number of iterations, so there is nothing to prove. Cost: two passes over the
/// remaining merged entries per iteration of every core.
#[derive(Clone, Debug)]
pub struct PowerIteration {
    iterations: u32,
    position: Vec<u32>,
    work: Work,
}

impl PowerIteration {
    /// Returns a ranker of this graph.
    #[must_use]
    pub fn new(graph: &HubGraph, iterations: u32) -> Self {
        Self {
            iterations: iterations.max(1),
            position: vec![NONE; graph.authority_members().len()],
            work: Work::default(),
        }
    }
}

impl Ranker for PowerIteration {
    fn next(
        &mut self,
        graph: &HubGraph,
        left: &Remaining,
        watch: &dyn Watch,
    ) -> Result<Option<Next>, Interrupted> {
        let hubs = 0..number(graph.hub_members().len());
        let hubs: Vec<u32> = hubs.filter(|&class| left.hubs(class) > 0).collect();
        let work = &mut self.work;
        let region = Region::gather(graph, left, &hubs, &mut self.position, work);
        if region.hubs().is_empty() {
            return Ok(None);
        }
        let mut h = vec![1.0; region.hubs().len()];
        let mut a = Vec::new();
        let mut sigma = 0.0;
        for _ in 0..self.iterations {
            watch.proceed()?;
            a = region.apply_at(&h, work);
            let length = norm(region.authority_pages(), &a);
            scale(&mut a, 1.0 / length);
            h = region.apply_a(&a, work);
            sigma = norm(region.hub_pages(), &h);
            scale(&mut h, 1.0 / sigma);
        }
        Ok(Some(Next::Solved(Arc::new(Principal {
            sigma,
            upper: f64::INFINITY,
            gap: 0.0,
            // Each of 2 x 60 steps rounds every score once per term of a nonnegative sum, and
            // pages of a class are equal by construction.
            hub_errors: h.iter().map(|score| score * 1e-12).collect(),
            authority_errors: a.iter().map(|score| score * 1e-12).collect(),
            hub_scores: h,
            authority_scores: a,
            doubt: None,
            is_exact: true,
            is_refined: true,
            ritz_vectors: StartVectors::default(),
            region,
        }))))
    }

    fn work(&self) -> Work {
        self.work
    }
}
