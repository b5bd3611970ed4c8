//! Sums over vectors that do not depend on the number of threads.

use rayon::prelude::*;

/// Chunks are fixed, each is summed in order, and so are the sums of the chunks.
const CHUNK: usize = 4096;
/// Below so many entries one thread does it.
const PARALLEL: usize = 1 << 14;

fn sum_chunks(length: usize, sum: impl Fn(std::ops::Range<usize>) -> f64 + Sync) -> f64 {
    if length <= CHUNK {
        return sum(0..length);
    }
    let chunks = 0..length.div_ceil(CHUNK);
    let part = |chunk: usize| sum(chunk * CHUNK..((chunk + 1) * CHUNK).min(length));
    if length < PARALLEL {
        return chunks.map(part).sum();
    }
    let parts: Vec<f64> = chunks.into_par_iter().map(part).collect();
    parts.iter().sum()
}

/// The inner product over pages: every class counts with its `pages`.
pub(super) fn dot(pages: &[f64], a: &[f64], b: &[f64]) -> f64 {
    sum_chunks(pages.len(), |range| {
        lanes(&pages[range.clone()], &a[range.clone()], &b[range])
    })
}

/// Several sums side by side, so that one addition need not wait for the one before.
fn lanes(pages: &[f64], a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let whole = pages.len() / LANES * LANES;
    let parts = pages[..whole].chunks_exact(LANES);
    let parts = parts.zip(
        a[..whole]
            .chunks_exact(LANES)
            .zip(b[..whole].chunks_exact(LANES)),
    );
    for (p, (a, b)) in parts {
        for lane in 0..LANES {
            sums[lane] += p[lane] * a[lane] * b[lane];
        }
    }
    let rest = (whole..pages.len()).map(|i| pages[i] * a[i] * b[i]);
    sums.iter().sum::<f64>() + rest.sum::<f64>()
}

/// The Euclidean length over pages.
pub(super) fn norm(pages: &[f64], a: &[f64]) -> f64 {
    dot(pages, a, a).sqrt()
}

/// Multiplies every entry.
pub(super) fn scale(a: &mut [f64], factor: f64) {
    for entry in a {
        *entry *= factor;
    }
}

/// `a += factor * b`.
pub(super) fn add(a: &mut [f64], factor: f64, b: &[f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a += factor * b;
    }
}

/// `sum_i factors_i vectors_i`.
pub(super) fn combine(vectors: &[Vec<f64>], factors: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; vectors.first().map_or(0, Vec::len)];
    for (vector, &factor) in vectors.iter().zip(factors) {
        add(&mut sum, factor, vector);
    }
    sum
}

/// The largest entry, 0 if there is none.
pub(super) fn largest(a: &[f64]) -> f64 {
    a.iter().copied().fold(0.0, f64::max)
}
