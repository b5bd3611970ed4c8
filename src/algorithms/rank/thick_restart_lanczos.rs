//! Largest eigenpairs of `M = A^T A` over a region, by thick-restart Lanczos.
//!
//! Source: Wu and Simon, *Thick-restart Lanczos method for large symmetric eigenvalue problems*
//! (2000); on `M` it spans the same space as Golub-Kahan bidiagonalisation of `A`. Deviations: any
//! number of start vectors, full reorthogonalisation (twice), and a dense projected matrix, so that
//! other vectors can join at any time. Inner products are over pages, in which `M` on classes is
//! symmetric; that equals work on `D_h^1/2 B D_a^1/2`.
//!
//! It stops when residual / gap reaches the goal or the residual is at the level of rounding; the
//! gap is a lower bound (second value plus its residual). A small residual proves that *an*
//! eigenpair was found, not that it is the largest: [`super::certificate`] proves that.

use crate::watch::{Interrupted, Watch};

use super::dense::eigen;
use super::region::Region;
use super::vectors::{dot, dots, norm, recombine, residuals, scale, subtract};
use super::work::Work;

/// Maximum size of the basis, and its size after a restart.
const BASIS: usize = 18;
const RESTART: usize = 6;
/// From this many classes on the basis is half as large: it takes two vectors of memory per
/// element.
const LARGE: usize = 1 << 21;
/// Level of rounding of a residual, relative to the eigenvalue.
const FLOOR: f64 = 1e-14;
/// Lanczos steps between two checks of the Ritz pairs.
const STEPS: usize = 3;
const PASSES: usize = 1000;
/// A second pair is settled if its residual is below this share of its distance from the first.
const SETTLED: f64 = 0.1;

/// Approximate eigenpairs of `M`, largest first, unit length over pages.
#[derive(Clone, Debug)]
pub(super) struct Ritz {
    pub(super) values: Vec<f64>,
    pub(super) vectors: Vec<Vec<f64>>,
    /// `||M x - lambda x|| / lambda` of the first pair.
    pub(super) residual: f64,
    /// `1 - lambda_2 / lambda_1`, a lower bound as far as this basis can tell.
    pub(super) gap: f64,
}

struct Basis<'a> {
    region: &'a Region,
    vectors: Vec<Vec<f64>>,
    images: Vec<Vec<f64>>,
    projected: Vec<Vec<f64>>,
}

impl Basis<'_> {
    /// Adds a vector to the basis; returns `false` if it already lies in the span.
    fn join(&mut self, mut vector: Vec<f64>, work: &mut Work) -> bool {
        let pages = self.region.authority_pages();
        let length = norm(pages, &vector);
        if length.is_nan()
            || length <= 0.0
            || !length.is_finite()
            || self.vectors.len() == pages.len()
        {
            return false;
        }
        scale(&mut vector, 1.0 / length);
        for _ in 0..2 {
            let rest_length = subtract(pages, &self.vectors, &mut vector);
            if rest_length < 1e-11 {
                return false;
            }
            scale(&mut vector, 1.0 / rest_length);
        }
        let image = self.region.apply_m(&vector, work);
        let column = dots(pages, &self.vectors, &image);
        let own = dot(pages, &vector, &image);
        for (row, &entry) in self.projected.iter_mut().zip(&column) {
            row.push(entry);
        }
        self.projected.push(column);
        if let Some(row) = self.projected.last_mut() {
            row.push(own);
        }
        self.vectors.push(vector);
        self.images.push(image);
        true
    }

    /// Returns the accuracy of the first pair and the directions of the next steps.
    fn state(&self, pairs: &[(f64, Vec<f64>)]) -> State {
        let top = pairs.first().map_or(1.0, |pair| pair.0);
        let pages = self.region.authority_pages();
        // `M x - theta x` for the first Ritz pairs, and its length.
        let rests = residuals(
            pages,
            &self.vectors,
            &self.images,
            &pairs[..pairs.len().min(3)],
        );
        let (lengths, mut directions): (Vec<f64>, Vec<Vec<f64>>) = rests
            .into_iter()
            .map(|(length, rest)| (length / top, rest))
            .unzip();
        let residual = lengths.first().copied().unwrap_or(f64::INFINITY);
        // A second pair that has not settled may still rise.
        let (gap, is_settled) = match (pairs.get(1), lengths.get(1)) {
            (Some((theta, _)), Some(second)) => {
                let relative_gap = 1.0 - theta / top;
                (relative_gap - second, *second <= relative_gap * SETTLED)
            }
            _ => (1.0, true),
        };
        if residual <= FLOOR && !directions.is_empty() {
            // The first residual is rounding: improve the second pair, whose gap is unknown.
            directions.rotate_left(1);
        }
        State {
            residual,
            gap,
            is_settled,
            directions,
        }
    }

    /// Restarts from the first Ritz vectors.
    fn restart(&mut self, pairs: &[(f64, Vec<f64>)]) {
        let retained = &pairs[..RESTART.min(pairs.len())];
        let combinations = || retained.iter().map(|(_, y)| y.as_slice());
        recombine(&mut self.vectors, combinations());
        recombine(&mut self.images, combinations());
        self.projected = vec![vec![0.0; retained.len()]; retained.len()];
        for (i, (theta, _)) in retained.iter().enumerate() {
            self.projected[i][i] = *theta;
        }
    }
}

struct State {
    residual: f64,
    gap: f64,
    is_settled: bool,
    directions: Vec<Vec<f64>>,
}

impl State {
    /// Returns whether the vector's error, residual over gap, is at most `goal`.
    fn is_good(&self, goal: f64) -> bool {
        self.gap > 0.0 && self.is_settled && self.residual <= (goal * self.gap).max(FLOOR)
    }
}

/// Finds the largest Ritz pairs from these start vectors, at least one of them nonzero. Stops at
/// the goal, or once `work.products` exceeds `budget`.
pub(super) fn largest_pairs(
    region: &Region,
    start: impl IntoIterator<Item = Vec<f64>>,
    goal: f64,
    budget: u64,
    work: &mut Work,
    watch: &dyn Watch,
) -> Result<Ritz, Interrupted> {
    let mut basis = Basis {
        region,
        vectors: Vec::new(),
        images: Vec::new(),
        projected: Vec::new(),
    };
    for vector in start {
        basis.join(vector, work);
    }
    let capacity = if region.authorities().len() < LARGE {
        BASIS
    } else {
        BASIS / 2
    };
    let spans_all = |basis: &Basis<'_>| basis.vectors.len() == region.authorities().len();
    let (mut best, mut stale) = (f64::INFINITY, 0);
    let mut pairs = eigen(basis.projected.clone());
    let mut found = basis.state(&pairs);
    for _ in 0..PASSES {
        watch.proceed()?;
        if spans_all(&basis) || found.is_good(goal) || work.products > budget {
            break;
        }
        // Give up once rounding prevents further progress.
        let progress = found.residual.max(FLOOR) / found.gap.max(1e-15);
        if progress < best * 0.9 {
            (best, stale) = (progress, 0);
        } else {
            stale += 1;
        }
        if stale > 60 {
            break;
        }
        if basis.vectors.len() >= capacity {
            basis.restart(&pairs);
        }
        // Extend the basis by a residual, then by plain Lanczos steps.
        if !found
            .directions
            .into_iter()
            .any(|next| basis.join(next, work))
        {
            break;
        }
        for _ in 1..STEPS.min(capacity.saturating_sub(basis.vectors.len())) {
            let next = basis.images.last().cloned().unwrap_or_default();
            if !basis.join(next, work) {
                break;
            }
        }
        pairs = eigen(basis.projected.clone());
        found = basis.state(&pairs);
    }
    let (residual, gap) = (found.residual, found.gap);
    pairs.truncate(RESTART);
    let Basis {
        mut vectors,
        images,
        ..
    } = basis;
    // Free memory before the vectors are recombined.
    drop(images);
    found.directions = Vec::new();
    recombine(&mut vectors, pairs.iter().map(|pair| pair.1.as_slice()));
    Ok(Ritz {
        values: pairs.iter().map(|pair| pair.0).collect(),
        vectors,
        residual,
        gap,
    })
}
