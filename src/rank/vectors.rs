//! Sums over vectors that do not depend on the number of threads.
//!
//! Whole vectors are larger than a processor's caches, and there are many: what is done with one is
//! done chunk by chunk, all that is to be done with a chunk at a time. No entry is computed in
//! another order for that.

use std::ops::Range;

use rayon::prelude::*;

/// Chunks are fixed, each is summed in order, and so are the sums of the chunks.
const CHUNK: usize = 4096;
/// Below so many entries one thread does it.
const PARALLEL: usize = 1 << 14;

fn chunk(number: usize, length: usize) -> Range<usize> {
    number * CHUNK..((number + 1) * CHUNK).min(length)
}

fn sum_chunks(length: usize, sum: impl Fn(Range<usize>) -> f64 + Sync) -> f64 {
    if length <= CHUNK {
        return sum(0..length);
    }
    let chunks = 0..length.div_ceil(CHUNK);
    let part = |number: usize| sum(chunk(number, length));
    if length < PARALLEL {
        return chunks.map(part).sum();
    }
    let parts: Vec<f64> = chunks.into_par_iter().map(part).collect();
    parts.iter().sum()
}

/// The same, where each chunk of a vector is changed before its part of the sum.
fn change_and_sum(
    vector: &mut [f64],
    part: impl Fn(&mut [f64], Range<usize>) -> f64 + Sync,
) -> f64 {
    let length = vector.len();
    if length <= CHUNK {
        return part(vector, 0..length);
    }
    let part = |(number, entries): (usize, &mut [f64])| part(entries, chunk(number, length));
    if length < PARALLEL {
        return vector.chunks_mut(CHUNK).enumerate().map(part).sum();
    }
    let parts = vector.par_chunks_mut(CHUNK).enumerate().map(part);
    parts.collect::<Vec<f64>>().iter().sum()
}

/// Changes each chunk of a vector.
fn change(vector: &mut [f64], part: impl Fn(&mut [f64], Range<usize>) + Sync) {
    change_and_sum(vector, |entries, range| {
        part(entries, range);
        0.0
    });
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
    change(a, |a, _| times(a, factor));
}

/// `a += factor * b`.
pub(super) fn add(a: &mut [f64], factor: f64, b: &[f64]) {
    change(a, |a, range| plus(a, factor, &b[range]));
}

fn times(a: &mut [f64], factor: f64) {
    for entry in a {
        *entry *= factor;
    }
}

fn plus(a: &mut [f64], factor: f64, b: &[f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a += factor * b;
    }
}

/// One chunk of `sum_i factors_i vectors_i`.
fn combine_chunk(sum: &mut [f64], vectors: &[Vec<f64>], factors: &[f64], range: &Range<usize>) {
    sum.fill(0.0);
    for (vector, &factor) in vectors.iter().zip(factors) {
        plus(sum, factor, &vector[range.clone()]);
    }
}

/// `sum_i factors_i images_i - theta sum_i factors_i vectors_i`, and its length over pages.
pub(super) fn residual(
    pages: &[f64],
    (vectors, images): (&[Vec<f64>], &[Vec<f64>]),
    factors: &[f64],
    theta: f64,
) -> (f64, Vec<f64>) {
    let mut rest = vec![0.0; pages.len()];
    let square = change_and_sum(&mut rest, |rest, range| {
        combine_chunk(rest, images, factors, &range);
        let mut own = [0.0; CHUNK];
        let own = &mut own[..rest.len()];
        combine_chunk(own, vectors, factors, &range);
        plus(rest, -theta, own);
        lanes(&pages[range], rest, rest)
    });
    (square.sqrt(), rest)
}

/// Puts combinations in the place of vectors, of which there are not fewer, and drops the rest: no
/// room is needed for both.
pub(super) fn recombine<'a>(
    vectors: &mut Vec<Vec<f64>>,
    combinations: impl Iterator<Item = &'a [f64]>,
) {
    let combinations: Vec<&[f64]> = combinations.take(vectors.len()).collect();
    let length = vectors.first().map_or(0, Vec::len);
    let mut columns: Vec<_> = vectors.iter_mut().map(|v| v.chunks_mut(CHUNK)).collect();
    let chunks = 0..length.div_ceil(CHUNK);
    let chunks: Vec<Vec<&mut [f64]>> = chunks
        .map(|_| columns.iter_mut().filter_map(Iterator::next).collect())
        .collect();
    let recombine = |mut chunk: Vec<&mut [f64]>| {
        let width = chunk.first().map_or(0, |entries| entries.len());
        let mut sums = vec![0.0; width * combinations.len()];
        for (sum, factors) in sums.chunks_mut(width).zip(&combinations) {
            for (entries, &factor) in chunk.iter().zip(*factors) {
                plus(sum, factor, entries);
            }
        }
        for (entries, sum) in chunk.iter_mut().zip(sums.chunks(width)) {
            entries.copy_from_slice(sum);
        }
    };
    if length < PARALLEL {
        chunks.into_iter().for_each(recombine);
    } else {
        chunks.into_par_iter().for_each(recombine);
    }
    vectors.truncate(combinations.len());
}

/// Makes a vector orthogonal to others over pages, one after the other (modified Gram-Schmidt);
/// gives its length then.
pub(super) fn subtract(pages: &[f64], others: &[Vec<f64>], vector: &mut [f64]) -> f64 {
    let Some(first) = others.first() else {
        return norm(pages, vector);
    };
    let mut along = dot(pages, first, vector);
    for (at, other) in others.iter().enumerate() {
        // What comes next is looked at while the chunk is at hand: the next one, or the length.
        along = change_and_sum(vector, |entries, range| {
            plus(entries, -along, &other[range.clone()]);
            let pages = &pages[range.clone()];
            match others.get(at + 1) {
                Some(next) => lanes(pages, &next[range], entries),
                None => lanes(pages, entries, entries),
            }
        });
    }
    along.sqrt()
}

/// The largest entry, 0 if there is none.
pub(super) fn largest(a: &[f64]) -> f64 {
    a.iter().copied().fold(0.0, f64::max)
}
