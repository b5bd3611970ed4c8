//! The principal pair of a large region: few vectors, errors of the scores, proof.
//!
//! **Scores.** `x` is `A^T u` for the nonnegative part of a vector `u` on the hubs; the error of
//! `u` is no smaller than that of `A^T u / sigma`. The authority scores are `y = M x / lambda` and
//! the hub scores `A x / sigma`, both recomputed. The error `e` of `x` becomes `M e / lambda`. With
//! `c_v` pages citing `v`, its row sum `r_v`, and `M_vu <= c_v` (no page is cited together with `v`
//! more often than `v` itself), Cauchy-Schwarz gives
//!
//! ```text
//! |(M e)_v|  <=  sqrt(sum_u M_vu^2) |e|  <=  sqrt(c_v r_v) |e|      |(A e)_h|  <=  sqrt(d_h) |e|
//! ```
//!
//! where the sums run over pages and a page of `h` has `d_h` links. In a dense place that is about
//! its score times sigma squared, so that the scores of its many pages are, relatively, as accurate
//! as `x` as a whole.
//!
//! **Proof.** At first only the value is proved ([`VALUE`]): nothing denser exists, but places
//! closer together than that are not ordered. So a result is accepted only if it is clearly
//! separated from a second pair, and if another region comes near, [`super::converged`] requests a
//! tighter proof. The row sums from which raising starts are computed along with the search.

use std::ops::Range;

use crate::watch::{Interrupted, Watch};

use super::certificate::{Ones, Raising, TIE, Tightness, VALUE, bound, certify};
use super::principal::Principal;
use super::region::Region;
use super::single_vector_lanczos::{self, Found};
use super::start_vectors::StartVectors;
use super::vector_block::{BufferPool, apply_a_and_m};
use super::vectors::{add, largest, norm, scale};
use super::work::Work;

/// Numbers of authority classes for which this method is used. The vectors of a recurrence take
/// some 400 bytes per class.
pub(super) const SIZES: Range<usize> = 256..1 << 23;

/// Required precision of a solution.
#[derive(Clone, Copy, Debug)]
pub(super) struct Precision {
    /// Error of the vector, in length.
    goal: f64,
    /// The required proofs, each tighter than the previous one.
    proofs: &'static [Tightness],
    is_refined: bool,
}

/// Enough for most decisions.
pub(super) const INITIAL: Precision = Precision {
    goal: 3e-8,
    proofs: &[VALUE],
    is_refined: false,
};
/// Enough to decide ties of scores.
pub(super) const FOR_SCORES: Precision = Precision {
    goal: 1e-12,
    proofs: &[VALUE],
    is_refined: true,
};
/// Enough to decide ties of regions, too.
pub(super) const FOR_TIES: Precision = Precision {
    proofs: &[VALUE, TIE],
    ..FOR_SCORES
};
/// Raising restarts, from places known to be smaller, once each entry was read this often.
const FIRST_READS: u64 = 4;
/// The restarted raising fails once each entry was read this often.
const FINAL_READS: u64 = 100;

pub(super) enum Attempt {
    Solved(Principal),
    /// The region was not solved; with start vectors for another method.
    Unresolved(Region, StartVectors),
}

impl Attempt {
    fn unresolved(region: Region, starts: impl IntoIterator<Item = Vec<f64>>) -> Self {
        Self::Unresolved(
            region,
            StartVectors::Authorities(starts.into_iter().collect()),
        )
    }
}

/// Returns whether a region has such a size and is not complete; a complete one has a closed form.
pub(super) fn is_large(region: &Region) -> bool {
    SIZES.contains(&region.authorities().len()) && !region.is_complete()
}

/// Solves a region, provided that its principal pair is clearly separated from the second.
pub(super) fn attempt(
    region: Region,
    warm: &StartVectors,
    precision: Precision,
    pool: &mut BufferPool,
    work: &mut Work,
    watch: &dyn Watch,
) -> Result<Attempt, Interrupted> {
    let starts = warm
        .first(single_vector_lanczos::STARTS)
        .on_hubs(&region, work);
    let (found, ones) =
        single_vector_lanczos::principal(&region, &starts, precision.goal, pool, work, watch)?;
    let found = match found {
        Ok(found) => found,
        Err(reached) => return Ok(Attempt::Unresolved(region, StartVectors::Hubs(reached))),
    };
    let upper = f64::INFINITY;
    Ok(finish(region, found, &ones, precision, upper, work))
}

/// Computes scores and proof of a pair; `upper` is a proved bound on sigma, infinite if there is
/// none.
fn finish(
    region: Region,
    mut found: Found,
    ones: &Ones,
    precision: Precision,
    upper: f64,
    work: &mut Work,
) -> Attempt {
    let candidate = Candidate::new(&region, &found, work);
    found.error = found
        .error
        .max(candidate.residual(&region, found.lambda) / found.gap);
    match candidate.prove(&region, &found, ones, precision, upper, work) {
        Ok(upper) => {
            let mut principal = candidate.solution(region, found, ones, upper);
            principal.is_refined = precision.is_refined;
            Attempt::Solved(principal)
        }
        Err(raised) => {
            let top = largest(&raised);
            let raised = raised.iter().map(|z| (z - 1.0) / top).collect();
            let vectors = StartVectors::Hubs(found.vectors).on_authorities(&region, work);
            Attempt::unresolved(region, std::iter::once(raised).chain(vectors))
        }
    }
}

/// Solves a region again, more precisely. Its gap is known and its value is proved, so no rival is
/// searched for.
pub(super) fn refine(
    principal: Principal,
    precision: Precision,
    pool: &mut BufferPool,
    work: &mut Work,
    watch: &dyn Watch,
) -> Result<Attempt, Interrupted> {
    let Principal {
        region,
        authority_scores,
        ritz_vectors,
        is_refined,
        gap,
        upper,
        ..
    } = principal;
    if is_refined || !is_large(&region) {
        let ritz_vectors = ritz_vectors.truncated(3).on_authorities(&region, work);
        let starts = std::iter::once(authority_scores).chain(ritz_vectors.into_iter().skip(1));
        return Ok(Attempt::unresolved(region, starts));
    }
    let start = ritz_vectors.first(1).on_hubs(&region, work);
    let goal = precision.goal;
    let found = single_vector_lanczos::refine(&region, &start, gap, goal, pool, work, watch)?;
    let Some((lambda, error, vector)) = found else {
        return attempt(region, &ritz_vectors, precision, pool, work, watch);
    };
    let ritz_vectors = ritz_vectors.truncated(single_vector_lanczos::STARTS);
    let mut vectors = ritz_vectors.on_hubs(&region, work);
    vectors[0] = vector;
    let found = Found {
        lambda,
        gap,
        error,
        values: vec![lambda, lambda * (1.0 - gap)],
        vectors,
    };
    let ones = Ones::new(&region, work);
    Ok(finish(region, found, &ones, precision, upper, work))
}

/// `A^T u` for the vector `u` found, without its negative entries, which are errors.
struct Candidate {
    x: Vec<f64>,
    /// `A x`, recomputed: sums of nonnegative terms.
    hubs: Vec<f64>,
    /// `M x`.
    image: Vec<f64>,
    /// Length of the removed negative part.
    removed_length: f64,
}

impl Candidate {
    /// Cost: at most two visits of each entry.
    fn new(region: &Region, found: &Found, work: &mut Work) -> Self {
        let first = found.vectors.first().map_or(&[][..], Vec::as_slice);
        let side = region.hub_side();
        let removed: Vec<f64> = first.iter().map(|u| u.min(0.0)).collect();
        let u = first.iter().zip(side.pages);
        let u: Vec<f64> = u
            .map(|(u, pages)| if *pages > 0.0 { u.max(0.0) } else { 0.0 })
            .collect();
        let (x, hubs) = apply_a_and_m(side, &u, work);
        let image = region.apply_at(&hubs, work);
        Self {
            x,
            hubs,
            image,
            removed_length: norm(side.pages, &removed),
        }
    }

    /// Returns `|M x - lambda x| / lambda |x|`, recomputed.
    fn residual(&self, region: &Region, lambda: f64) -> f64 {
        let mut residual = self.image.clone();
        add(&mut residual, -lambda, &self.x);
        let pages = region.authority_pages();
        norm(pages, &residual) / lambda / norm(pages, &self.x)
    }

    /// Returns the proved bound of the largest eigenvalue, or the raised `z`.
    fn prove(
        &self,
        region: &Region,
        found: &Found,
        ones: &Ones,
        precision: Precision,
        proved: f64,
        work: &mut Work,
    ) -> Result<f64, Vec<f64>> {
        let lambda = found.lambda;
        let tightest = precision.proofs.iter().map(|proof| proof.tau);
        let tightest = lambda * (1.0 + tightest.fold(f64::INFINITY, f64::min));
        let upper = bound(region, &self.x, &self.image).min(proved * proved);
        // The vector alone may prove the bound.
        if upper <= tightest {
            return Ok(upper);
        }
        let top = largest(&self.x);
        let [x, image] = [&self.x, &self.image].map(|of| {
            let mut of = of.clone();
            scale(&mut of, 1.0 / top);
            of
        });
        let holds = |raising: &mut Raising<'_>, budget: u64, work: &mut Work| {
            let mut proofs = precision.proofs.iter();
            proofs.all(|proof| certify(raising, lambda, &x, &image, *proof, work, budget))
        };
        let mut raising = Raising::from_ones(region, ones);
        let budget = work.products + FIRST_READS * region.rows().entries().len() as u64;
        if holds(&mut raising, budget, work) {
            return Ok(tightest);
        }
        // Restart from the vectors of places known to be smaller, where raising is slow.
        let mut z = vec![1.0; self.x.len()];
        let highest = largest(&ones.image);
        let vectors = StartVectors::Hubs(found.vectors.clone()).on_authorities(region, work);
        let known = found.values.iter().zip(&vectors).skip(1);
        for (value, vector) in known.filter(|(value, _)| **value > lambda * 0.5) {
            let local: Vec<f64> = vector.iter().map(|entry| entry.abs()).collect();
            let weight = highest / (lambda - value) / largest(&local);
            add(&mut z, weight, &local);
        }
        raising = Raising::new(region, z, work);
        let budget = work.products + FINAL_READS * region.rows().entries().len() as u64;
        if holds(&mut raising, budget, work) {
            Ok(tightest)
        } else {
            Err(raising.into_z())
        }
    }

    fn solution(self, region: Region, found: Found, ones: &Ones, upper: f64) -> Principal {
        let sigma = found.lambda.sqrt();
        let error = found.error + self.removed_length;
        let [mut authority_scores, mut hub_scores] = [self.image, self.hubs];
        for (scores, pages) in [
            (&mut authority_scores, region.authority_pages()),
            (&mut hub_scores, region.hub_pages()),
        ] {
            let length = norm(pages, scores);
            for (score, pages) in scores.iter_mut().zip(pages) {
                *score *= if *pages > 0.0 { 1.0 / length } else { 0.0 };
            }
        }
        let rounding = region.rounding();
        let bounded = |(share, score): (f64, &f64)| share.min(1.0) * error + score * rounding;
        let rows = region.citing_pages().iter().zip(&ones.image);
        let rows = rows.map(|(citing, sum)| (citing * sum).sqrt() / found.lambda);
        let links = ones.sums.iter().map(|links| links.sqrt() / sigma);
        Principal {
            sigma,
            upper: upper.sqrt() * (1.0 + 1e-15),
            gap: found.gap,
            authority_errors: rows.zip(&authority_scores).map(bounded).collect(),
            hub_errors: links.zip(&hub_scores).map(bounded).collect(),
            authority_scores,
            hub_scores,
            doubt: None,
            is_exact: false,
            is_refined: false,
            ritz_vectors: StartVectors::Hubs(found.vectors),
            region,
        }
    }
}

#[cfg(test)]
#[path = "large_region_tests.rs"]
mod tests;
