//! Largest eigenpairs of `M = A^T A` over a large region, with a block of vectors.
//!
//! Source: Zhou, Saad, Tiago, Chelikowsky, *Self-consistent-field calculations using
//! Chebyshev-filtered subspace iteration* (2006). A Chebyshev polynomial of `M` is applied to a
//! block of vectors. It is small on the unwanted part of the spectrum, from 0 to one of the last
//! Ritz values of the block, and grows fastest outside it. Rayleigh-Ritz over the block follows.
//!
//! **When it is used.** An entry of the graph is read once for all vectors of the block; places
//! nearly as dense as the densest lie within the block and do not slow convergence; and the block
//! is the start of the next step, where those places come first. Deviations: every search adds two
//! new vectors with weight everywhere, so that no place has zero weight; the degree is derived from
//! the remaining error; inner products are over pages, in which `M` on classes is symmetric.
//!
//! **Error of the vector.** With `x` the first Ritz vector, `theta` its value, `r = M x - theta x`,
//! `g_i = 1 - theta_i / theta` and `rho_i` the relative residual of the i-th pair: `r` is
//! orthogonal to every Ritz vector, so the error of `x` lies outside the block. No eigenvalue there
//! exceeds `theta_{j+1}`, except for the errors of the other Ritz vectors, each of which is its
//! residual over its distance from there. For any j, to first order and as long as the block
//! contains every pair above `theta_{j+1}`,
//!
//! ```text
//! |x - x*|  <=  rho_1 (1 / g_{j+1} + sum_{i=2..j} rho_i / (g_i (g_{j+1} - g_i)))
//! ```
//!
//! That condition is not proved here. No result is accepted before the new vectors were filtered,
//! and [`super::certificate`] proves that nothing denser exists.

use std::ops::Range;

use crate::watch::{Interrupted, Watch};

use super::certificate::Ones;
use super::dense::eigen;
use super::region::Region;
use super::start_vectors::StartVectors;
use super::vector_block::{
    Buffers, VectorBlock, apply_m_block, column, products, recombine, residuals, zip_entries,
};
use super::vectors::{norm, scale};
use super::work::Work;

/// Numbers of authority classes for which a block has 24 vectors instead of 16. Wider blocks save
/// reads, but the work between reads grows with the square of the width.
const WIDE: Range<usize> = 1 << 11..1 << 14;
/// New vectors in every search.
const RANDOM: usize = 2;
const MAX_CYCLES: usize = 30;
/// Maximum number of consecutive filters that do not improve the first two pairs; after that only
/// rounding is left.
const MAX_STALE: usize = 5;
const MAX_DEGREE: u32 = 12;
/// Maximum growth of a vector relative to the others in one filter: beyond it they become linearly
/// dependent.
const MAX_GROWTH: f64 = 1e6;
/// Directions whose squared length is below this share of the longest are rounding.
const RANK_TOLERANCE: f64 = 1e-11;
/// A second pair is settled if its residual is below this share of its distance from the first.
pub(super) const SETTLED: f64 = 0.1;
/// Rounding error of a residual, relative to the value.
pub(super) const ROUNDING: f64 = 4e-15;
/// Pairs nearer to each other than this are left to [`super::thick_restart_lanczos`] and a tighter
/// proof.
pub(super) const MIN_GAP: f64 = 1e-5;

/// Principal pair of a region, with further Ritz pairs.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// The largest eigenvalue.
    pub(super) lambda: f64,
    /// `1 - lambda_2 / lambda_1`, a lower bound as far as the block can tell.
    pub(super) gap: f64,
    /// Upper bound on the error of the first vector, in length.
    pub(super) error: f64,
    /// Ritz values.
    pub(super) values: Vec<f64>,
    /// Ritz vectors of unit length over pages, start vectors of later searches. The first is
    /// nonnegative up to its error.
    pub(super) vectors: StartVectors,
}

#[derive(Debug)]
pub(super) enum Search {
    /// The error of the vector is below the goal.
    Done(Box<Found>, Ones),
    /// Two pairs are too near each other, or the search took too long. The current vectors can be
    /// start vectors.
    Unresolved(Vec<Vec<f64>>),
}

/// Finds the principal pair of a region of at least 16 authority classes from these start vectors,
/// with an error of the vector of at most `goal`.
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
    // The last vector is all ones: its images start the certificate.
    let ones = Ones {
        sums: block.compute_images(work),
        image: column(&block.buffers[0], B - 1),
    };
    let mut pairs = block.ritz();
    let (mut best, mut stale) = (f64::INFINITY, 0);
    for cycle in 0..MAX_CYCLES {
        watch.proceed()?;
        let residual = pairs.residuals[0] + pairs.residuals[1];
        if residual < best * 0.5 {
            (best, stale) = (residual, 0);
        } else {
            stale += 1;
        }
        if pairs.is_clustered() || stale > MAX_STALE {
            break;
        }
        if cycle > 0 && pairs.is_settled() && pairs.error() <= goal {
            return Ok(Search::Done(Box::new(block.found(&pairs)), ones));
        }
        let degree = match cycle {
            // The first Ritz values of a cold start are far too low to place a filter.
            0 if is_cold => 2,
            1 if is_cold => 4,
            // The new vectors must be filtered at least once.
            0 => pairs.degree(goal).max(2),
            _ => pairs.degree(goal),
        };
        block.filter(&pairs, degree, work, watch)?;
        block.compute_images(work);
        pairs = block.ritz();
    }
    Ok(Search::Unresolved(block.columns(4)))
}

/// Ritz values, largest first, with their residuals.
struct Pairs<const B: usize> {
    values: [f64; B],
    /// Relative to the first value.
    residuals: [f64; B],
    /// Dimension of the span of the block; the vectors after it are zero.
    rank: usize,
}

impl<const B: usize> Pairs<B> {
    fn relative_gap(&self, at: usize) -> f64 {
        1.0 - self.values[at] / self.values[0]
    }

    /// Returns a lower bound on `1 - theta_2 / theta_1`.
    fn gap(&self) -> f64 {
        self.relative_gap(1) - self.residuals[1]
    }

    /// Returns whether the second pair is too near the first.
    fn is_clustered(&self) -> bool {
        self.relative_gap(1) + self.residuals[0] < MIN_GAP
    }

    /// Returns whether the second value is reliable.
    fn is_settled(&self) -> bool {
        let relative_gap = self.relative_gap(1);
        self.rank > 1 && relative_gap >= MIN_GAP && self.residuals[1] <= relative_gap * SETTLED
    }

    /// Returns the bound on the error of the first vector that is derived above.
    fn error(&self) -> f64 {
        let relative_gap = |at: usize| self.relative_gap(at) - self.residuals[at];
        let outside = |end: usize| {
            let within = (1..end).map(|at| {
                let distance = relative_gap(end) - self.relative_gap(at);
                if relative_gap(at) > 0.0 && distance > 0.0 {
                    self.residuals[at] / (relative_gap(at) * distance)
                } else {
                    f64::INFINITY
                }
            });
            within.sum::<f64>() + 1.0 / relative_gap(end)
        };
        let ends = (1..self.rank).filter(|&end| relative_gap(end) > 0.0);
        let least = ends.map(outside).fold(f64::INFINITY, f64::min);
        self.residuals[0] * least
    }

    /// Returns the end of the unwanted part of the spectrum. The new vectors do not determine it
    /// yet.
    fn unwanted(&self) -> f64 {
        let last = self.rank.saturating_sub(RANDOM + 2).max(1);
        self.values[last].max(self.values[0] * 1e-3)
    }

    /// Returns the degree that should reduce the error of the first vector to the goal.
    fn degree(&self, goal: f64) -> u32 {
        let share = self.unwanted() / self.values[0];
        let missing = self.residuals[0] / (1.0 - share).max(1e-3) / goal * 2.0;
        let growth = (2.0 / share - 1.0).max(1.0 + 1e-6).acosh();
        let degree = (2.0 * missing.clamp(1.0, MAX_GROWTH)).ln() / growth;
        let enough = (1..MAX_DEGREE).find(|&k| f64::from(k) >= degree);
        enough.unwrap_or(MAX_DEGREE)
    }
}

struct Block<'a, const B: usize> {
    region: &'a Region,
    vectors: VectorBlock<B>,
    /// Vectors during a filter.
    current: VectorBlock<B>,
    /// The first has `M x` after [`Block::compute_images`].
    buffers: Buffers<B>,
}

impl<'a, const B: usize> Block<'a, B> {
    /// Takes start vectors, then vectors with weight everywhere, the last of them all ones.
    fn start(region: &'a Region, warm: Vec<Vec<f64>>) -> Self {
        let mut vectors = vec![[0.0; B]; region.authorities().len()];
        let warm_count = warm.len().min(B - RANDOM);
        for (at, vector) in warm.into_iter().take(warm_count).enumerate() {
            for (row, entry) in vectors.iter_mut().zip(vector) {
                row[at] = entry;
            }
        }
        let mut next = xorshift();
        for row in &mut vectors {
            row[warm_count..B - 1].fill_with(&mut next);
            row[B - 1] = 1.0;
        }
        Self {
            region,
            vectors,
            current: Vec::new(),
            buffers: [Vec::new(), Vec::new()],
        }
    }

    /// Computes the images; returns `A x` of the last vector, by hubs.
    fn compute_images(&mut self, work: &mut Work) -> Vec<f64> {
        apply_m_block(
            self.region.authority_side(),
            &self.vectors,
            &mut self.buffers,
            work,
        )
    }

    /// Rayleigh-Ritz: replaces the vectors by the Ritz vectors, and their images accordingly.
    fn ritz(&mut self) -> Pairs<B> {
        let pages = self.region.authority_pages();
        let (gram, projected) = products(pages, &self.vectors, &self.buffers[0]);
        let basis = orthonormal(&gram);
        let (values, factors) = rayleigh_ritz(&basis, &projected);
        recombine(&mut self.vectors, &factors);
        recombine(&mut self.buffers[0], &factors);
        let residuals = residuals(pages, &self.vectors, &self.buffers[0], &values);
        Pairs {
            residuals: residuals.map(|length| length / values[0]),
            values,
            rank: basis.len(),
        }
    }

    /// Applies a Chebyshev polynomial of `M` that is 1 at the first value.
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
        let current = &mut self.current;
        std::mem::swap(current, &mut self.buffers[0]);
        let previous = &mut self.vectors;
        zip_entries(current, previous, |image, x| {
            *image = (*image - half * x) * (scale / half);
        });
        for _ in 1..degree {
            watch.proceed()?;
            apply_m_block(
                self.region.authority_side(),
                current,
                &mut self.buffers,
                work,
            );
            let next = 1.0 / (2.0 / first - scale);
            let factor = 2.0 * next / half;
            zip_entries(previous, &self.buffers[0], |x, image| {
                *x = factor * image - scale * next * *x;
            });
            zip_entries(previous, current, |x, current| {
                *x -= factor * half * current
            });
            std::mem::swap(previous, current);
            scale = next;
        }
        std::mem::swap(previous, current);
        Ok(())
    }

    fn found(self, pairs: &Pairs<B>) -> Found {
        let count = pairs.rank.min(B - RANDOM);
        let mut vectors = self.columns(count);
        if let Some(first) = vectors.first_mut() {
            let pages = self.region.authority_pages().iter();
            let side: f64 = pages.zip(&*first).map(|(pages, x)| pages * x).sum();
            scale(first, side.signum());
        }
        Found {
            lambda: pairs.values[0],
            gap: pairs.gap(),
            // Rounding leaves a part of the second vector in the first.
            error: pairs.error() + ROUNDING / pairs.gap(),
            values: pairs.values[..count].to_vec(),
            vectors: StartVectors::Authorities(vectors),
        }
    }

    fn columns(&self, count: usize) -> Vec<Vec<f64>> {
        (0..count).map(|at| column(&self.vectors, at)).collect()
    }
}

/// Returns Marsaglia's xorshift sequence (2003), scaled to numbers from 0 to 1.
fn xorshift() -> impl FnMut() -> f64 {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Returns a pseudorandom vector with weight everywhere and mean about 0.
pub(super) fn noise(length: usize) -> Vec<f64> {
    let mut next = xorshift();
    (0..length).map(|_| next() - 0.5).collect()
}

/// Returns the shares of vectors with these [products] in their combination with the largest Ritz
/// value.
pub(super) fn best_combination<const B: usize>(
    gram: &[[f64; B]; B],
    projected: &[[f64; B]; B],
) -> [f64; B] {
    let (_, factors) = rayleigh_ritz(&orthonormal(gram), projected);
    factors.map(|row| row[0])
}

/// Returns orthonormal combinations of vectors with this Gram matrix, longest first (Stathopoulos
/// and Wu, *A block orthogonalization procedure with constant synchronization requirements*, 2002).
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
        .take_while(|(square, _)| *square > longest * RANK_TOLERANCE)
        .map(|(square, direction)| {
            let parts = direction.iter().zip(&lengths);
            parts.map(|(part, l)| part / (l * square.sqrt())).collect()
        })
        .collect()
}

/// Returns the Ritz values over a basis, and by columns the share of each vector in each Ritz
/// vector. The basis consists of combinations of the vectors; `projected` has the products of the
/// vectors with their images.
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
