//! The largest eigenpairs of `M = A^T A` over a large region, many at a time.
//!
//! Source: Zhou, Saad, Tiago, Chelikowsky, *Self-consistent-field calculations using
//! Chebyshev-filtered subspace iteration* (2006). A block of vectors goes through a Chebyshev
//! polynomial of `M` that is small on the unwanted part of the spectrum, from 0 to one of the last
//! Ritz values of the block, and grows fastest outside it; then Rayleigh-Ritz over the block.
//!
//! **Why here.** An entry of the graph is read once for all vectors of the block; places nearly as
//! dense as the densest lie within the block and delay nothing; and the block is the start of the
//! next step, where those places come first. Deviations from the source: every search adds two new
//! vectors with weight everywhere, so that no place stays without weight; the degree follows from
//! what is still missing; everything is done in the inner product over pages, in which `M` on
//! classes is symmetric.
//!
//! **Error of the vector.** With `x` the first Ritz vector, `theta` its value, `r = M x - theta x`,
//! `g_i = 1 - theta_i / theta` and `rho_i` the relative residual of the i-th pair: `r` is
//! orthogonal to every Ritz vector, so the error of `x` lies outside the block. Nothing there is as
//! large as `theta_{j+1}`, except for the errors of the other Ritz vectors, each of which is its
//! residual over its distance from there. For any j,
//!
//! ```text
//! |x - x*|  <=  rho_1 (1 / g_{j+1} + sum_{i=2..j} rho_i / (g_i (g_{j+1} - g_i)))
//! ```
//!
//! to first order, and as long as the block shows every pair above `theta_{j+1}`. That is not
//! proved here: nothing is accepted before the new vectors, which have weight everywhere, went
//! through a filter, and nothing *denser* gets past [`super::certificate`].

use std::ops::Range;

use crate::watch::{Interrupted, Watch};

use super::certificate::Ones;
use super::dense::eigen;
use super::region::Region;
use super::start_vectors::StartVectors;
use super::vector_block::{
    Buffers, VectorBlock, column, each, products, recombine, residuals, square,
};
use super::vectors::{norm, scale};
use super::work::Work;

/// Between these numbers of authority classes a block has 24 vectors, otherwise 16: more would save
/// reads, but the work between reads grows with the square.
const WIDE: Range<usize> = 1 << 11..1 << 14;
/// New vectors in every search.
const FRESH: usize = 2;
/// How many filters are tried before giving up.
const CYCLES: usize = 30;
/// How many filters in a row may fail to improve the first two pairs; after that only rounding is
/// left.
const STALE: usize = 5;
/// The highest degree of a filter.
const DEGREE: u32 = 12;
/// How far a filter may make a vector grow beside the others: beyond that they would become too
/// alike.
const GROWTH: f64 = 1e6;
/// A direction whose squared length is below this share of the longest is rounding.
const RANK: f64 = 1e-11;
/// A second pair is settled if its residual is below this share of its distance from the first.
pub(super) const UNSETTLED: f64 = 0.1;
/// What rounding leaves of a residual, relative to the value.
pub(super) const ROUNDING: f64 = 4e-15;
/// Pairs nearer to each other than this are left to [`super::thick_restart_lanczos`] and a tighter proof.
pub(super) const NEAREST: f64 = 1e-5;

/// What was found in a region.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// The largest eigenvalue.
    pub(super) lambda: f64,
    /// `1 - lambda_2 / lambda_1`, from below as far as the block can tell.
    pub(super) gap: f64,
    /// An upper bound on the error of the first vector, in length.
    pub(super) error: f64,
    /// Ritz values.
    pub(super) values: Vec<f64>,
    /// Ritz vectors of unit length over pages, good starts once pages have left. The first is
    /// nonnegative up to its error.
    pub(super) vectors: StartVectors,
}

/// How the search went.
#[derive(Debug)]
pub(super) enum Search {
    /// The error of the vector is below the goal.
    Done(Box<Found>, Ones),
    /// Two pairs are too near each other, or it took too long. The vectors reached so far may be
    /// starts.
    GivenUp(Vec<Vec<f64>>),
}

/// The principal pair of a region of at least 16 authority classes, found from vectors that may be
/// good starts, so that the error of the vector is at most `goal`.
pub(super) fn principal(
    region: &Region,
    warm: Vec<Vec<f64>>,
    goal: f64,
    work: &mut Work,
    watch: &dyn Watch,
) -> Result<Search, Interrupted> {
    if WIDE.contains(&region.authorities().len()) {
        search::<24>(region, warm, goal, work, watch)
    } else {
        search::<16>(region, warm, goal, work, watch)
    }
}

fn search<const B: usize>(
    region: &Region,
    warm: Vec<Vec<f64>>,
    goal: f64,
    work: &mut Work,
    watch: &dyn Watch,
) -> Result<Search, Interrupted> {
    let pages = region.authority_pages();
    let has_weight = |vector: &Vec<f64>| norm(pages, vector) > 0.0;
    let warm: Vec<Vec<f64>> = warm.into_iter().filter(has_weight).collect();
    let is_cold = warm.len() < B / 2;
    let mut block = Block::<B>::start(region, warm);
    // The last vector is all ones.
    let ones = Ones {
        sums: block.look(work),
        image: column(&block.rooms[0], B - 1),
    };
    let mut pairs = block.ritz();
    let (mut best, mut stale) = (f64::INFINITY, 0);
    for cycle in 0..CYCLES {
        watch.proceed()?;
        let rest = pairs.residuals[0] + pairs.residuals[1];
        if rest < best * 0.5 {
            (best, stale) = (rest, 0);
        } else {
            stale += 1;
        }
        if pairs.are_near() || stale > STALE {
            break;
        }
        if cycle > 0 && pairs.is_settled() && pairs.error() <= goal {
            return Ok(Search::Done(Box::new(block.found(&pairs)), ones));
        }
        let degree = match cycle {
            // What the first values of a cold start say of the spectrum is far too low.
            0 if is_cold => 2,
            1 if is_cold => 4,
            // The new vectors have to show what they have weight on.
            0 => pairs.degree(goal).max(2),
            _ => pairs.degree(goal),
        };
        block.filter(&pairs, degree, work, watch)?;
        block.look(work);
        pairs = block.ritz();
    }
    Ok(Search::GivenUp(block.columns(4)))
}

/// Ritz values, largest first, and what the block says of them.
struct Pairs<const B: usize> {
    values: [f64; B],
    /// Relative to the first value.
    residuals: [f64; B],
    /// How many directions the block spans; the vectors after them are zero.
    rank: usize,
}

impl<const B: usize> Pairs<B> {
    fn apart(&self, at: usize) -> f64 {
        1.0 - self.values[at] / self.values[0]
    }

    /// `1 - theta_2 / theta_1`, from below.
    fn gap(&self) -> f64 {
        self.apart(1) - self.residuals[1]
    }

    /// Whether the second pair is too near the first, as far as the block shows.
    fn are_near(&self) -> bool {
        self.apart(1) + self.residuals[0] < NEAREST
    }

    /// Whether the second value can be relied on.
    fn is_settled(&self) -> bool {
        let apart = self.apart(1);
        self.rank > 1 && apart >= NEAREST && self.residuals[1] <= apart * UNSETTLED
    }

    /// The bound on the error of the first vector that is derived above.
    fn error(&self) -> f64 {
        let apart = |at: usize| self.apart(at) - self.residuals[at];
        let outside = |end: usize| {
            let within = (1..end).map(|at| {
                let distance = apart(end) - self.apart(at);
                if apart(at) > 0.0 && distance > 0.0 {
                    self.residuals[at] / (apart(at) * distance)
                } else {
                    f64::INFINITY
                }
            });
            within.sum::<f64>() + 1.0 / apart(end)
        };
        let ends = (1..self.rank).filter(|&end| apart(end) > 0.0);
        let least = ends.map(outside).fold(f64::INFINITY, f64::min);
        self.residuals[0] * least
    }

    /// The end of the unwanted part of the spectrum. The new vectors say nothing of it yet.
    fn unwanted(&self) -> f64 {
        let last = self.rank.saturating_sub(FRESH + 2).max(1);
        self.values[last].max(self.values[0] * 1e-3)
    }

    /// The degree that should bring the first vector to the goal.
    fn degree(&self, goal: f64) -> u32 {
        let share = self.unwanted() / self.values[0];
        let missing = self.residuals[0] / (1.0 - share).max(1e-3) / goal * 2.0;
        let growth = (2.0 / share - 1.0).max(1.0 + 1e-6).acosh();
        let degree = (2.0 * missing.clamp(1.0, GROWTH)).ln() / growth;
        let enough = (1..DEGREE).find(|&k| f64::from(k) >= degree);
        enough.unwrap_or(DEGREE)
    }
}

struct Block<'a, const B: usize> {
    region: &'a Region,
    vectors: VectorBlock<B>,
    /// Room for the vectors that a filter is working on.
    now: VectorBlock<B>,
    /// The first has `M x` while [`Block::look`] is up to date; both are reused.
    rooms: Buffers<B>,
}

impl<'a, const B: usize> Block<'a, B> {
    /// Good starts first, then vectors with weight everywhere, the last of them all ones.
    fn start(region: &'a Region, warm: Vec<Vec<f64>>) -> Self {
        let mut vectors = vec![[0.0; B]; region.authorities().len()];
        let given = warm.len().min(B - FRESH);
        for (at, vector) in warm.into_iter().take(given).enumerate() {
            for (row, entry) in vectors.iter_mut().zip(vector) {
                row[at] = entry;
            }
        }
        let mut next = sequence();
        for row in &mut vectors {
            row[given..B - 1].fill_with(&mut next);
            row[B - 1] = 1.0;
        }
        Self {
            region,
            vectors,
            now: Vec::new(),
            rooms: [Vec::new(), Vec::new()],
        }
    }

    /// Computes the images; returns `A x` of the last vector, by hubs.
    fn look(&mut self, work: &mut Work) -> Vec<f64> {
        square(
            self.region.of_authorities(),
            &self.vectors,
            &mut self.rooms,
            work,
        )
    }

    /// Rayleigh-Ritz: replaces the vectors by the Ritz vectors, and their images accordingly.
    fn ritz(&mut self) -> Pairs<B> {
        let pages = self.region.authority_pages();
        let (gram, projected) = products(pages, &self.vectors, &self.rooms[0]);
        let basis = orthonormal(&gram);
        let (values, factors) = rayleigh_ritz(&basis, &projected);
        recombine(&mut self.vectors, &factors);
        recombine(&mut self.rooms[0], &factors);
        let residuals = residuals(pages, &self.vectors, &self.rooms[0], &values);
        Pairs {
            residuals: residuals.map(|length| length / values[0]),
            values,
            rank: basis.len(),
        }
    }

    /// Applies to the vectors a Chebyshev polynomial of `M` that is 1 at the first value.
    fn filter(
        &mut self,
        pairs: &Pairs<B>,
        degree: u32,
        work: &mut Work,
        watch: &dyn Watch,
    ) -> Result<(), Interrupted> {
        let half = pairs.unwanted() / 2.0;
        let first = half / (pairs.values[0] - half);
        let mut scale = first;
        let now = &mut self.now;
        std::mem::swap(now, &mut self.rooms[0]);
        let before = &mut self.vectors;
        each(now, before, |image, x| {
            *image = (*image - half * x) * (scale / half);
        });
        for _ in 1..degree {
            watch.proceed()?;
            square(self.region.of_authorities(), now, &mut self.rooms, work);
            let next = 1.0 / (2.0 / first - scale);
            let factor = 2.0 * next / half;
            each(before, &self.rooms[0], |x, image| {
                *x = factor * image - scale * next * *x;
            });
            each(before, now, |x, now| *x -= factor * half * now);
            std::mem::swap(before, now);
            scale = next;
        }
        std::mem::swap(before, now);
        Ok(())
    }

    fn found(self, pairs: &Pairs<B>) -> Found {
        let kept = pairs.rank.min(B - FRESH);
        let mut vectors = self.columns(kept);
        if let Some(first) = vectors.first_mut() {
            let pages = self.region.authority_pages().iter();
            let side: f64 = pages.zip(&*first).map(|(pages, x)| pages * x).sum();
            scale(first, side.signum());
        }
        Found {
            lambda: pairs.values[0],
            gap: pairs.gap(),
            // The part of the second vector that rounding leaves in the first.
            error: pairs.error() + ROUNDING / pairs.gap(),
            values: pairs.values[..kept].to_vec(),
            vectors: StartVectors::Authorities(vectors),
        }
    }

    fn columns(&self, count: usize) -> Vec<Vec<f64>> {
        (0..count).map(|at| column(&self.vectors, at)).collect()
    }
}

/// A fixed sequence without structure, from 0 to 1: Marsaglia's xorshift (2003).
fn sequence() -> impl FnMut() -> f64 {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A vector without structure, which has weight everywhere and no side.
pub(super) fn noise(length: usize) -> Vec<f64> {
    let mut next = sequence();
    (0..length).map(|_| next() - 0.5).collect()
}

/// The shares of vectors with these [products] in their combination with the largest Ritz value.
pub(super) fn best_combination<const B: usize>(
    gram: &[[f64; B]; B],
    projected: &[[f64; B]; B],
) -> [f64; B] {
    let (_, factors) = rayleigh_ritz(&orthonormal(gram), projected);
    factors.map(|row| row[0])
}

/// Orthonormal combinations of vectors with these inner products, longest first (Stathopoulos and
/// Wu, *A block orthogonalization procedure with constant synchronization requirements*, 2002).
fn orthonormal<const B: usize>(gram: &[[f64; B]; B]) -> Vec<Vec<f64>> {
    let lengths: Vec<f64> = (0..B)
        .map(|at| gram[at][at].max(f64::MIN_POSITIVE).sqrt())
        .collect();
    let scaled = gram.iter().zip(&lengths).map(|(row, length)| {
        let row = row.iter().zip(&lengths);
        row.map(|(entry, other)| entry / (length * other)).collect()
    });
    let directions = eigen(scaled.collect());
    let longest = directions.first().map_or(0.0, |direction| direction.0);
    directions
        .into_iter()
        .take_while(|(square, _)| *square > longest * RANK)
        .map(|(square, direction)| {
            let parts = direction.iter().zip(&lengths);
            parts.map(|(part, l)| part / (l * square.sqrt())).collect()
        })
        .collect()
}

/// Ritz values over a basis, and the share of each vector in each Ritz vector, by columns. The
/// basis is combinations of the vectors; `projected` has the vectors' products with their images.
fn rayleigh_ritz<const B: usize>(
    basis: &[Vec<f64>],
    projected: &[[f64; B]; B],
) -> ([f64; B], [[f64; B]; B]) {
    let product = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let images: Vec<Vec<f64>> = basis
        .iter()
        .map(|of| projected.iter().map(|row| product(row, of)).collect())
        .collect();
    let small = images.iter().zip(basis).map(|(image, own)| {
        let others = images.iter().zip(basis);
        let entry = |(other_image, other): (&Vec<f64>, &Vec<f64>)| {
            0.5 * (product(image, other) + product(other_image, own))
        };
        others.map(entry).collect()
    });
    let mut values = [0.0; B];
    let mut factors = [[0.0; B]; B];
    for (at, (value, combination)) in eigen(small.collect()).into_iter().enumerate() {
        values[at] = value;
        for (i, row) in factors.iter_mut().enumerate() {
            let terms = combination.iter().zip(basis);
            row[at] = terms.map(|(part, of)| part * of[i]).sum();
        }
    }
    (values, factors)
}
