//! A large region: its pair from a few vectors, the errors of its scores, its proof.
//!
//! **Scores.** `x` is what the nonnegative part of a vector `u` on the hubs leads back to, `A^T u`, or such a
//! part itself; an error of `u` is no smaller than that of `A^T u / sigma`. `y = M x / lambda` is taken for
//! the authorities and `A x / sigma` for the hubs, both computed anew. The error `e` of `x` has become
//! `M e / lambda`.
//! With `c_v` pages citing `v`, its row sum `r_v`, and `M_vu <= c_v` (no page is cited together
//! with `v` more often than `v` itself), Cauchy-Schwarz gives
//!
//! ```text
//! |(M e)_v|  <=  sqrt(sum_u M_vu^2) |e|  <=  sqrt(c_v r_v) |e|      |(A e)_h|  <=  sqrt(d_h) |e|
//! ```
//!
//! where the sums run over pages and a page of `h` has `d_h` links. In a dense place that is about
//! its score times sigma's square, so that the scores of its many pages are, relatively, as
//! accurate as `x` is as a whole.
//!
//! **Proof.** At first only the value is proved ([`VALUE`]): nothing denser exists. Which of two
//! places closer together than that is the denser one is not proved. So a result that the block
//! does not show to be clearly apart from a second pair is not accepted here, and where another
//! region comes as near, [`super::converged`] asks for a tighter proof. The row sums that raising
//! starts from come with the search, one of whose starts they are the image of.

use std::ops::Range;

use crate::watch::{Interrupted, Watch};

use super::certificate::{Ones, Raising, TIE, Tightness, VALUE, bound, certify};
use super::chebyshev_block::{self, Found, Search};
use super::principal::Principal;
use super::region::Region;
use super::single_vector_lanczos;
use super::start_vectors::StartVectors;
use super::vector_block::{Workspace, square_of};
use super::vectors::{add, largest, norm, scale};
use super::work::Work;

/// The numbers of authority classes for which this way is worth it. For more classes, the vectors of a
/// recurrence would take too much memory: some 400 bytes per class.
pub(super) const SIZES: Range<usize> = 256..1 << 23;
/// From so many classes on no block of vectors is tried: it would take four times 128 bytes per class beside
/// the recurrence.
const TOO_LARGE: usize = 1 << 20;

/// How accurate a solution is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Precision {
    /// The goal for the error of the vector, in length.
    goal: f64,
    /// The proofs to give, each tighter than the one before.
    proofs: &'static [Tightness],
    is_deep: bool,
}

/// It leaves hardly any decision open.
pub(super) const FIRST: Precision = Precision {
    goal: 3e-8,
    proofs: &[VALUE],
    is_deep: false,
};
/// Enough to tell ties of scores.
pub(super) const DEEP: Precision = Precision {
    goal: 1e-12,
    proofs: &[VALUE],
    is_deep: true,
};
/// Enough to tell ties of regions, too.
pub(super) const TIGHT: Precision = Precision {
    proofs: &[VALUE, TIE],
    ..DEEP
};
/// Raising is restarted, from places known to be smaller, once it has visited each entry this
/// often.
const PATIENCE: u64 = 4;
/// It is given up once it has visited each entry this often after that.
const MOST: u64 = 100;
/// How many places known to be smaller are remembered.
const KNOWN: usize = 6;

/// The outcome of trying to solve a region.
pub(super) enum Attempt {
    Solved(Principal),
    /// The region was not solved; with starts for another way.
    Open(Region, StartVectors),
}

/// Whether a region has such a size and is not complete; a complete one has a closed form.
pub(super) fn is_worth_it(region: &Region) -> bool {
    SIZES.contains(&region.authorities().len()) && !region.is_complete()
}

/// Solves a region as long as its principal pair is clearly apart from the second.
pub(super) fn attempt(
    region: Region,
    warm: StartVectors,
    depth: Precision,
    room: &mut Workspace,
    work: &mut Work,
    watch: &dyn Watch,
) -> Result<Attempt, Interrupted> {
    let starts = warm
        .first(single_vector_lanczos::STARTS)
        .on_hubs(&region, work);
    let (found, ones) =
        single_vector_lanczos::principal(&region, &starts, depth.goal, room, work, watch)?;
    let (found, ones) = match found {
        Ok(found) => (found, ones),
        Err(reached) if region.authorities().len() >= TOO_LARGE => {
            return Ok(Attempt::Open(region, StartVectors::Hubs(reached)));
        }
        Err(reached) => {
            let mut starts = StartVectors::Hubs(reached).on_authorities(&region, work);
            starts.extend(warm.on_authorities(&region, work));
            match chebyshev_block::principal(&region, starts, depth.goal, work, watch)? {
                Search::Done(found, ones) => (*found, ones),
                Search::GivenUp(starts) => {
                    return Ok(Attempt::Open(region, StartVectors::Authorities(starts)));
                }
            }
        }
    };
    let known = (depth, f64::INFINITY);
    Ok(finished(region, (found, &ones), known, work))
}

/// Scores and proof of what was found; `upper` is what is proved of sigma already, infinite for nothing.
fn finished(
    region: Region,
    (mut found, ones): (Found, &Ones),
    (depth, upper): (Precision, f64),
    work: &mut Work,
) -> Attempt {
    let candidate = Candidate::of(&region, &found, work);
    found.error = found
        .error
        .max(candidate.residual(&region, found.lambda) / found.gap);
    match candidate.prove(&region, &found, ones, (depth, upper), work) {
        Ok(upper) => {
            let mut principal = candidate.solution(region, found, ones, upper);
            principal.is_deep = depth.is_deep;
            Attempt::Solved(principal)
        }
        Err(raised) => {
            let top = largest(&raised);
            let raised = raised.iter().map(|z| (z - 1.0) / top).collect();
            let vectors = found.vectors.truncated(4).on_authorities(&region, work);
            let starts = std::iter::once(raised).chain(vectors);
            Attempt::Open(region, StartVectors::Authorities(starts.collect()))
        }
    }
}

/// Solves a region again, more exactly. Its gap is known, so no rival is looked for, and its value is proved.
pub(super) fn deepen(
    principal: Principal,
    depth: Precision,
    room: &mut Workspace,
    work: &mut Work,
    watch: &dyn Watch,
) -> Result<Attempt, Interrupted> {
    let Principal {
        region,
        authority_scores,
        kept,
        is_deep,
        gap,
        upper,
        ..
    } = principal;
    if is_deep || !is_worth_it(&region) {
        let kept = kept.truncated(3).on_authorities(&region, work);
        let starts = std::iter::once(authority_scores).chain(kept.into_iter().skip(1));
        return Ok(Attempt::Open(
            region,
            StartVectors::Authorities(starts.collect()),
        ));
    }
    let start = kept.first(1).on_hubs(&region, work);
    let goal = depth.goal;
    let found = single_vector_lanczos::sharpen(&region, (&start, gap), goal, room, work, watch)?;
    let Some((lambda, error, vector)) = found else {
        return attempt(region, kept, depth, room, work, watch);
    };
    let kept = kept.truncated(single_vector_lanczos::STARTS);
    let mut vectors = kept.on_hubs(&region, work);
    vectors[0] = vector;
    let found = Found {
        lambda,
        gap,
        error,
        values: vec![lambda, lambda * (1.0 - gap)],
        vectors: StartVectors::Hubs(vectors),
    };
    let ones = Ones::of(&region, work);
    Ok(finished(region, (found, &ones), (depth, upper), work))
}

/// The vector that was found, without the entries that its error made negative.
struct Candidate {
    x: Vec<f64>,
    /// `A x`, computed anew: sums of nonnegative terms.
    hubs: Vec<f64>,
    /// `M x`.
    image: Vec<f64>,
    /// The length of the part that was taken away.
    lack: f64,
}

impl Candidate {
    /// Cost: two visits of each entry at most.
    fn of(region: &Region, found: &Found, work: &mut Work) -> Self {
        let first = found.vectors.vectors().first();
        let first = first.map_or(&[][..], Vec::as_slice);
        let (side, is_of_hubs) = match found.vectors {
            StartVectors::Hubs(_) => (region.of_hubs(), true),
            StartVectors::Authorities(_) => (region.of_authorities(), false),
        };
        let lack: Vec<f64> = first.iter().map(|x| x.min(0.0)).collect();
        let x = first.iter().zip(side.pages);
        let x: Vec<f64> = x
            .map(|(x, pages)| if *pages > 0.0 { x.max(0.0) } else { 0.0 })
            .collect();
        let (across, image) = square_of(side, &x, work);
        let (x, hubs, image) = if is_of_hubs {
            let image_of_across = region.cite(&image, work);
            (across, image, image_of_across)
        } else {
            (x, across, image)
        };
        Self {
            x,
            hubs,
            image,
            lack: norm(side.pages, &lack),
        }
    }

    /// `|M x - lambda x| / lambda |x|`, as it comes out anew.
    fn residual(&self, region: &Region, lambda: f64) -> f64 {
        let mut rest = self.image.clone();
        add(&mut rest, -lambda, &self.x);
        let pages = region.authority_pages();
        norm(pages, &rest) / lambda / norm(pages, &self.x)
    }

    /// The proved bound of the largest eigenvalue, or the raised `z`.
    fn prove(
        &self,
        region: &Region,
        found: &Found,
        ones: &Ones,
        (depth, proved): (Precision, f64),
        work: &mut Work,
    ) -> Result<f64, Vec<f64>> {
        let lambda = found.lambda;
        let tightest = depth.proofs.iter().map(|proof| proof.tau);
        let tightest = lambda * (1.0 + tightest.fold(f64::INFINITY, f64::min));
        let upper = bound(region, &self.x, &self.image).min(proved * proved);
        if upper <= tightest {
            return Ok(upper);
        }
        let top = largest(&self.x);
        let [x, image] = [&self.x, &self.image].map(|of| {
            let mut of = of.clone();
            scale(&mut of, 1.0 / top);
            of
        });
        let holds = |raising: &mut Raising<'_>, most: u64, work: &mut Work| {
            let mut proofs = depth.proofs.iter();
            proofs.all(|proof| certify(raising, lambda, (&x, &image), *proof, work, most))
        };
        let mut raising = Raising::of_ones(region, ones);
        let most = work.products + PATIENCE * region.rows().entries().len() as u64;
        if holds(&mut raising, most, work) {
            return Ok(tightest);
        }
        let mut z = vec![1.0; self.x.len()];
        let highest = largest(&ones.image);
        let vectors = found.vectors.first(KNOWN + 1).on_authorities(region, work);
        let known = found.values.iter().zip(&vectors).skip(1);
        for (value, vector) in known.filter(|(value, _)| **value > lambda * 0.5) {
            let local: Vec<f64> = vector.iter().map(|entry| entry.abs()).collect();
            let weight = highest / (lambda - value) / largest(&local);
            add(&mut z, weight, &local);
        }
        raising = Raising::new(region, z, work);
        let most = work.products + MOST * region.rows().entries().len() as u64;
        if holds(&mut raising, most, work) {
            Ok(tightest)
        } else {
            Err(raising.into_z())
        }
    }

    fn solution(self, region: Region, found: Found, ones: &Ones, upper: f64) -> Principal {
        let sigma = found.lambda.sqrt();
        let error = found.error + self.lack;
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
            is_deep: false,
            kept: found.vectors,
            region,
        }
    }
}

#[cfg(test)]
#[path = "large_region_tests.rs"]
mod tests;
