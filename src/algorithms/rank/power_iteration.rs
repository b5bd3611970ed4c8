//! HITS as published: a fixed number of iterations from the uniform vector, over all remaining
//! pages.

use std::sync::Arc;

use crate::graph::{HubGraph, HubShare, Remaining, Role, Touched};
use crate::watch::{Interrupted, Watch};

use super::principal::Principal;
use super::ranker::{Convergence, Next, Ranker};
use super::region::Region;
use super::region_share::RegionShare;
use super::start_vectors::StartVectors;
use super::vectors::scale;
use super::work::Work;

/// Relative error of a score. Each of 2 x 60 steps rounds every score once per term of a
/// nonnegative sum, and pages of a class are equal by construction.
const ERROR: f64 = 1e-12;

/// `a = A^T h`, `h = A a`, repeated `iterations` times from the uniform vector for every core;
/// sigma is the length of the last `A a` with `a` normalised.
///
/// Source: Daneshpajouh, Mohammadi Nasiri, Ghodsi (WEBIST 2008), 60 iterations. The result is
/// defined by that number of iterations, so there is nothing to prove; [`Convergence`] says how far
/// the last one was from the limit. Cost: two passes over all merged entries of the graph and four
/// rounds of messages per iteration of every core, and one more pass for the residual.
#[derive(Clone, Debug)]
pub struct PowerIteration {
    iterations: u32,
    /// The whole graph, with the numbers of remaining pages.
    region: Region,
    work: Work,
    /// That of the last result.
    convergence: Option<Convergence>,
}

impl PowerIteration {
    /// Returns a ranker of this graph. All processes call its functions at the same time. Scores do not depend on the number
    /// of processes.
    pub fn new(
        graph: &Arc<HubShare>,
        left: &Remaining,
        iterations: u32,
    ) -> Result<Self, Interrupted> {
        Ok(Self {
            iterations: iterations.max(1),
            region: Region::of_share(RegionShare::new(Arc::clone(graph))?, left),
            work: Work::default(),
            convergence: None,
        })
    }
}

impl Ranker for PowerIteration {
    fn next(
        &mut self,
        _graph: &HubGraph,
        _left: &Remaining,
        watch: &dyn Watch,
    ) -> Result<Option<Next>, Interrupted> {
        let work = &mut self.work;
        let region = self.region.clone();
        if !region.has_links()? {
            return Ok(None);
        }
        // Hubs without links or pages add nothing to any score.
        let mut h = vec![1.0; region.own(Role::Hub)];
        let mut a = Vec::new();
        // Sigma never decreases, so the first iteration adds all of it.
        let (mut sigma, mut previous_sigma) = (0.0, 0.0);
        for _ in 0..self.iterations {
            watch.proceed()?;
            a = region.authorities_of(&h, work)?;
            let length = region.norm(Role::Authority, &a)?;
            scale(&mut a, 1.0 / length);
            h = region.hubs_of(&a, work)?;
            previous_sigma = sigma;
            sigma = region.norm(Role::Hub, &h)?;
            scale(&mut h, 1.0 / sigma);
        }
        // A^T h - sigma a; A a - sigma h is 0 by construction.
        let mut difference = region.authorities_of(&h, work)?;
        for (of_class, score) in difference.iter_mut().zip(&a) {
            *of_class -= sigma * score;
        }
        self.convergence = Some(Convergence {
            residual: region.norm(Role::Authority, &difference)? / sigma,
            sigma_change: ((sigma - previous_sigma) / sigma).abs(),
        });
        // Removed classes have sums too, but no score.
        for (scores, role) in [(&mut h, Role::Hub), (&mut a, Role::Authority)] {
            for (score, pages) in scores.iter_mut().zip(region.pages(role)) {
                if *pages == 0.0 {
                    *score = 0.0;
                }
            }
        }
        Ok(Some(Next::Solved(Arc::new(Principal {
            sigma,
            upper: f64::INFINITY,
            gap: 0.0,
            hub_errors: h.iter().map(|score| score * ERROR).collect(),
            authority_errors: a.iter().map(|score| score * ERROR).collect(),
            hub_scores: h,
            authority_scores: a,
            doubt: None,
            is_exact: true,
            is_refined: true,
            ritz_vectors: StartVectors::default(),
            region,
        }))))
    }

    fn pages_removed(&mut self, _graph: &HubGraph, left: &Remaining, touched: &Touched) {
        self.region.update_pages(left, touched);
    }

    fn convergence(&self) -> Option<Convergence> {
        self.convergence
    }

    fn work(&self) -> Work {
        self.work
    }
}
