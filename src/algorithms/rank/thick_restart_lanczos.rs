//! The largest eigenpairs of `M = A^T A` over a region, by thick-restarted Lanczos.
//!
//! Source: Wu and Simon, *Thick-restart Lanczos method for large symmetric eigenvalue problems*
//! (2000); on `M` it spans what Golub-Kahan bidiagonalisation of `A` spans. Deviations: any number
//! of start vectors, full reorthogonalisation (twice), and the projected matrix is kept dense, so
//! that vectors from elsewhere can join at any time. Everything is done in the inner product over
//! pages, in which `M` on classes is symmetric; that equals work on `D_h^1/2 B D_a^1/2`.
//!
//! It stops when residual / gap reaches the goal or the residual is at the level of rounding; the
//! gap is taken from below (second value plus its residual). A small residual proves that *an*
//! eigenpair was found, never that it is the largest: proving that is left to
//! [`super::certificate`].

use crate::watch::{Interrupted, Watch};

use super::dense::eigen;
use super::region::Region;
use super::vectors::{dot, dots, norm, recombine, residuals, scale, subtract};
use super::work::Work;

/// The basis grows to `BASIS` vectors, then shrinks to `KEPT`.
const BASIS: usize = 18;
const KEPT: usize = 6;
/// From this many classes on the basis is half as large: it takes two vectors of memory per
/// element.
const LARGE: usize = 1 << 21;
/// A residual (relative to the eigenvalue) that rounding allows.
const FLOOR: f64 = 1e-14;
/// Lanczos steps between two looks at the Ritz pairs.
const STEPS: usize = 3;
const PASSES: usize = 1000;
/// A second pair is settled if its residual is below this share of its distance from the first.
const UNSETTLED: f64 = 0.1;

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
    /// Adds a vector to the basis; `false` if it already lies in the span.
    fn join(&mut self, mut vector: Vec<f64>, work: &mut Work) -> bool {
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
        for _ in 0..2 {
            let after = subtract(pages, &self.vectors, &mut vector);
            if after < 1e-11 {
                return false;
            }
            scale(&mut vector, 1.0 / after);
        }
        let image = self.region.square(&vector, work);
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

    /// How good the first pair is, and in which directions to go on.
    fn state(&self, pairs: &[(f64, Vec<f64>)]) -> State {
        let top = pairs.first().map_or(1.0, |pair| pair.0);
        let basis = (self.vectors.as_slice(), self.images.as_slice());
        let pages = self.region.authority_pages();
        // `M x - theta x` for the first Ritz pairs, and its length.
        let rests = residuals(pages, basis, &pairs[..pairs.len().min(3)]);
        let (lengths, mut directions): (Vec<f64>, Vec<Vec<f64>>) = rests
            .into_iter()
            .map(|(length, rest)| (length / top, rest))
            .unzip();
        let residual = lengths.first().copied().unwrap_or(f64::INFINITY);
        // A second pair that has not settled may still rise.
        let (gap, is_settled) = match (pairs.get(1), lengths.get(1)) {
            (Some((theta, _)), Some(rest)) => {
                let apart = 1.0 - theta / top;
                (apart - rest, *rest <= apart * UNSETTLED)
            }
            _ => (1.0, true),
        };
        if residual <= FLOOR && !directions.is_empty() {
            // The rest of the first residual is rounding; the gap is not known yet.
            directions.rotate_left(1);
        }
        State {
            residual,
            gap,
            is_settled,
            directions,
        }
    }

    /// Keeps only the first Ritz vectors.
    fn restart(&mut self, pairs: &[(f64, Vec<f64>)]) {
        let kept = &pairs[..KEPT.min(pairs.len())];
        let combinations = || kept.iter().map(|(_, y)| y.as_slice());
        recombine(&mut self.vectors, combinations());
        recombine(&mut self.images, combinations());
        self.projected = vec![vec![0.0; kept.len()]; kept.len()];
        for (i, (theta, _)) in kept.iter().enumerate() {
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
    /// Whether the vector's error, residual over gap, is at most `goal`.
    fn is_good(&self, goal: f64) -> bool {
        self.gap > 0.0 && self.is_settled && self.residual <= (goal * self.gap).max(FLOOR)
    }
}

/// The largest Ritz pairs from these start vectors; at least one must not be zero. It ends at the goal, or
/// after `most` visits in all.
pub(super) fn largest_pairs(
    region: &Region,
    start: impl IntoIterator<Item = Vec<f64>>,
    (goal, most): (f64, u64),
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
    let room = if region.authorities().len() < LARGE {
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
        if spans_all(&basis) || found.is_good(goal) || work.products > most {
            break;
        }
        let progress = found.residual.max(FLOOR) / found.gap.max(1e-15);
        if progress < best * 0.9 {
            (best, stale) = (progress, 0);
        } else {
            stale += 1;
        }
        if stale > 60 {
            break;
        }
        if basis.vectors.len() >= room {
            basis.restart(&pairs);
        }
        if !found
            .directions
            .into_iter()
            .any(|next| basis.join(next, work))
        {
            break;
        }
        for _ in 1..STEPS.min(room.saturating_sub(basis.vectors.len())) {
            let next = basis.images.last().cloned().unwrap_or_default();
            if !basis.join(next, work) {
                break;
            }
        }
        pairs = eigen(basis.projected.clone());
        found = basis.state(&pairs);
    }
    let (residual, gap) = (found.residual, found.gap);
    pairs.truncate(KEPT);
    let Basis {
        mut vectors,
        images,
        ..
    } = basis;
    // Frees what is no longer needed.
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
