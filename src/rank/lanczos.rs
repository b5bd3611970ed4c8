//! The largest eigenpairs of `M = A^T A` over a region, by thick-restarted Lanczos.
//!
//! Source: Wu and Simon, *Thick-restart Lanczos method for large symmetric eigenvalue problems*
//! (2000); on `M` it spans what Golub-Kahan bidiagonalisation of `A` spans. Deviations: any number
//! of start vectors, full reorthogonalisation (twice), and the projected matrix is kept dense, so
//! that vectors from elsewhere can join at any time. All is done in the inner product over pages,
//! in which `M` on classes is symmetric; that equals work on `D_h^1/2 B D_a^1/2`.
//!
//! It stops when residual / gap is 1e-12 or the residual is at the level of rounding; the gap is
//! taken from below (second value plus its residual). A small residual proves that *an* eigenpair
//! was found, never that it is the largest: that is [`super::certificate`]'s part.

use crate::watch::{Interrupted, Watch};

use super::dense::eigen;
use super::region::Region;
use super::vectors::{add, combine, dot, norm, scale};

/// The basis grows to so many vectors, then shrinks to so many.
const BASIS: usize = 24;
const KEPT: usize = 6;
/// A residual (relative to the eigenvalue) that rounding allows.
const FLOOR: f64 = 4e-15;
const GOAL: f64 = 1e-12;
const PASSES: usize = 3000;

/// Approximate eigenpairs of `M`, largest first, unit length over pages.
#[derive(Clone, Debug)]
pub(super) struct Ritz {
    pub(super) values: Vec<f64>,
    pub(super) vectors: Vec<Vec<f64>>,
    /// `||M x - lambda x|| / lambda` of the first pair.
    pub(super) residual: f64,
    /// `1 - lambda_2 / lambda_1`, from below as far as this basis can tell.
    pub(super) gap: f64,
}

struct Basis<'a> {
    region: &'a Region,
    vectors: Vec<Vec<f64>>,
    images: Vec<Vec<f64>>,
    projected: Vec<Vec<f64>>,
}

impl Basis<'_> {
    /// Joins a vector; `false` if it lies in the span already.
    fn join(&mut self, mut vector: Vec<f64>, visits: &mut u64) -> bool {
        let pages = self.region.authority_pages();
        let before = norm(pages, &vector);
        if before.is_nan()
            || before <= 0.0
            || !before.is_finite()
            || self.vectors.len() == pages.len()
        {
            return false;
        }
        scale(&mut vector, 1.0 / before);
        for _ in 0..3 {
            for other in &self.vectors {
                let along = dot(pages, other, &vector);
                add(&mut vector, -along, other);
            }
            let after = norm(pages, &vector);
            if after < 1e-11 {
                return false;
            }
            scale(&mut vector, 1.0 / after);
        }
        let image = self.region.square(&vector, visits);
        let column: Vec<f64> = self
            .vectors
            .iter()
            .map(|other| dot(pages, other, &image))
            .collect();
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

    /// `M x - theta x` for a Ritz pair, and its length relative to `top`.
    fn residual(&self, theta: f64, factors: &[f64], top: f64) -> (f64, Vec<f64>) {
        let mut rest = combine(&self.images, factors);
        add(&mut rest, -theta, &combine(&self.vectors, factors));
        (norm(self.region.authority_pages(), &rest) / top, rest)
    }

    /// Keeps only the first Ritz vectors.
    fn restart(&mut self, pairs: &[(f64, Vec<f64>)]) {
        let kept = &pairs[..KEPT.min(pairs.len())];
        self.vectors = kept
            .iter()
            .map(|(_, y)| combine(&self.vectors, y))
            .collect();
        self.images = kept.iter().map(|(_, y)| combine(&self.images, y)).collect();
        self.projected = vec![vec![0.0; kept.len()]; kept.len()];
        for (i, (theta, _)) in kept.iter().enumerate() {
            self.projected[i][i] = *theta;
        }
    }
}

/// The largest Ritz pairs from these start vectors; at least one must not be zero.
pub(super) fn largest_pairs(
    region: &Region,
    start: impl IntoIterator<Item = Vec<f64>>,
    visits: &mut u64,
    watch: &dyn Watch,
) -> Result<Ritz, Interrupted> {
    let mut basis = Basis {
        region,
        vectors: Vec::new(),
        images: Vec::new(),
        projected: Vec::new(),
    };
    for vector in start {
        basis.join(vector, visits);
    }
    let size = region.authorities().len();
    let (mut best, mut stale) = (f64::INFINITY, 0);
    let mut residual = f64::INFINITY;
    let mut gap = 0.0;
    let mut pairs = eigen(basis.projected.clone());
    for _ in 0..PASSES {
        watch.proceed()?;
        let Some(top) = pairs.first().map(|pair| pair.0) else {
            break;
        };
        let (first, mut next) = basis.residual(top, &pairs[0].1, top);
        residual = first;
        let complete = basis.vectors.len() == size;
        if first < 1e-6 || complete {
            let second = pairs
                .get(1)
                .map(|(theta, y)| (*theta, basis.residual(*theta, y, top)));
            gap = match &second {
                Some((theta, (rest, _))) if complete => 1.0 - theta / top + 0.0 * rest,
                Some((theta, (rest, _))) => 1.0 - theta / top - rest,
                None => 1.0,
            };
            if complete || (gap > 0.0 && first <= (GOAL * gap).max(FLOOR)) {
                break;
            }
            if first <= FLOOR
                && let Some((_, (rest, vector))) = second
            {
                if rest <= FLOOR {
                    break;
                }
                next = vector;
                residual = first;
            }
            let progress = first.max(FLOOR) / gap.max(1e-15);
            if progress < best * 0.9 {
                (best, stale) = (progress, 0);
            } else {
                stale += 1;
            }
            if stale > 300 {
                break;
            }
        }
        if basis.vectors.len() >= BASIS {
            basis.restart(&pairs);
        }
        if !basis.join(next, visits) {
            break;
        }
        pairs = eigen(basis.projected.clone());
    }
    pairs.truncate(KEPT);
    Ok(Ritz {
        values: pairs.iter().map(|pair| pair.0).collect(),
        vectors: pairs
            .iter()
            .map(|pair| combine(&basis.vectors, &pair.1))
            .collect(),
        residual,
        gap,
    })
}
