//! Vector operations whose results do not depend on the number of threads.
//!
//! Vectors exceed a processor's caches, and there are many. So they are processed in chunks, with
//! all operations on a chunk done at once; that does not change the order in which an entry is
//! computed.

use std::ops::Range;

use rayon::prelude::*;

/// Entries of a chunk. Each chunk is summed in order, and the sums are added in order.
const CHUNK: usize = 4096;
/// Entries of each vector processed at a time: those of all vectors fit into a core's own cache.
const BLOCK: usize = 512;
/// Operations on fewer entries run on one thread.
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

/// Changes each chunk of a vector and adds the results of `part`, in the order of chunks.
fn map_chunks_and_sum(
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

fn map_chunks(vector: &mut [f64], part: impl Fn(&mut [f64], Range<usize>) + Sync) {
    map_chunks_and_sum(vector, |entries, range| {
        part(entries, range);
        0.0
    });
}

/// Returns the inner product over pages: each class is weighted by its `pages`.
pub(super) fn dot(pages: &[f64], a: &[f64], b: &[f64]) -> f64 {
    sum_chunks(pages.len(), |range| {
        unrolled_dot(&pages[range.clone()], &a[range.clone()], &b[range])
    })
}

/// Returns the inner products of many vectors with one.
pub(super) fn dots(pages: &[f64], many: &[Vec<f64>], one: &[f64]) -> Vec<f64> {
    let length = pages.len();
    let part = |number: usize| -> Vec<f64> {
        let range = chunk(number, length);
        let (pages, one) = (&pages[range.clone()], &one[range.clone()]);
        let each = many
            .iter()
            .map(|a| unrolled_dot(pages, &a[range.clone()], one));
        each.collect()
    };
    let chunks = 0..length.div_ceil(CHUNK);
    let parts: Vec<Vec<f64>> = if length < PARALLEL {
        chunks.map(part).collect()
    } else {
        chunks.into_par_iter().map(part).collect()
    };
    sum_of_chunks(&parts, many.len())
}

/// Returns the sums of many vectors from those of their chunks. A single chunk is not added to
/// anything, as in [`dot`].
fn sum_of_chunks(parts: &[Vec<f64>], vectors: usize) -> Vec<f64> {
    let sum = |at: usize| match parts {
        [alone] => alone[at],
        parts => parts.iter().map(|part| part[at]).sum(),
    };
    (0..vectors).map(sum).collect()
}

/// Sums in several lanes, so that additions do not wait for each other.
fn unrolled_dot(pages: &[f64], a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let (pages, pages_tail) = pages.as_chunks::<LANES>();
    let (a, a_tail) = a.as_chunks::<LANES>();
    let (b, b_tail) = b.as_chunks::<LANES>();
    for (pages, (a, b)) in pages.iter().zip(a.iter().zip(b)) {
        for lane in 0..LANES {
            sums[lane] += pages[lane] * a[lane] * b[lane];
        }
    }
    let tail = pages_tail.iter().zip(a_tail.iter().zip(b_tail));
    let tail: f64 = tail.map(|(pages, (a, b))| pages * a * b).sum();
    sums.iter().sum::<f64>() + tail
}

/// Returns the Euclidean length over pages.
pub(super) fn norm(pages: &[f64], a: &[f64]) -> f64 {
    dot(pages, a, a).sqrt()
}

pub(super) fn scale(a: &mut [f64], factor: f64) {
    map_chunks(a, |a, _| a.iter_mut().for_each(|entry| *entry *= factor));
}

/// `a += factor * b`.
pub(super) fn add(a: &mut [f64], factor: f64, b: &[f64]) {
    map_chunks(a, |a, range| axpy(a, factor, &b[range]));
}

/// `a -= factor * b` for one vector or two; returns the squared length of the result over pages.
pub(super) fn subtract_two(
    pages: &[f64],
    a: &mut [f64],
    factor: f64,
    b: &[f64],
    second: Option<(f64, &[f64])>,
) -> f64 {
    map_chunks_and_sum(a, |a, range| {
        axpy(a, -factor, &b[range.clone()]);
        if let Some((factor, b)) = second {
            axpy(a, -factor, &b[range.clone()]);
        }
        unrolled_dot(&pages[range], a, a)
    })
}

/// Returns combinations of the first vectors, one for each list of factors; each vector is read
/// once.
pub(super) fn combinations(vectors: &[Vec<f64>], factors: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let length = vectors.first().map_or(0, Vec::len);
    let mut sums = vec![vec![0.0; length]; factors.len()];
    map_columns(&mut sums, |number, sums| {
        let all = chunk(number, length);
        for from in (0..all.len()).step_by(BLOCK) {
            let block = from..(from + BLOCK).min(all.len());
            let range = all.start + block.start..all.start + block.end;
            for (at, vector) in vectors.iter().enumerate() {
                for (sum, factors) in sums.iter_mut().zip(factors) {
                    if let Some(factor) = factors.get(at) {
                        axpy(&mut sum[block.clone()], *factor, &vector[range.clone()]);
                    }
                }
            }
        }
    });
    sums
}

fn axpy(a: &mut [f64], factor: f64, b: &[f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a += factor * b;
    }
}

/// Returns for each pair of a theta and factors the vector `sum_i factors_i (images_i - theta
/// vectors_i)` with its length over pages. Each vector is read once for all pairs.
pub(super) fn residuals(
    pages: &[f64],
    vectors: &[Vec<f64>],
    images: &[Vec<f64>],
    pairs: &[(f64, Vec<f64>)],
) -> Vec<(f64, Vec<f64>)> {
    let mut residuals = vec![vec![0.0; pages.len()]; pairs.len()];
    let parts = map_columns(&mut residuals, |number, residuals| {
        let all = chunk(number, pages.len());
        let mut combination = [0.0; BLOCK];
        for from in (0..all.len()).step_by(BLOCK) {
            let block = from..(from + BLOCK).min(all.len());
            let range = all.start + block.start..all.start + block.end;
            for (rest, (theta, factors)) in residuals.iter_mut().zip(pairs) {
                let rest = &mut rest[block.clone()];
                let combination = &mut combination[..rest.len()];
                combination.fill(0.0);
                for (at, factor) in factors.iter().enumerate() {
                    axpy(rest, *factor, &images[at][range.clone()]);
                    axpy(combination, *factor, &vectors[at][range.clone()]);
                }
                axpy(rest, -theta, combination);
            }
        }
        let pages = &pages[all];
        residuals
            .iter()
            .map(|rest| unrolled_dot(pages, rest, rest))
            .collect()
    });
    let lengths = sum_of_chunks(&parts, pairs.len());
    let lengths = lengths.into_iter().map(f64::sqrt);
    lengths.zip(residuals).collect()
}

/// Replaces vectors by at most as many combinations, in place.
pub(super) fn recombine<'a>(
    vectors: &mut Vec<Vec<f64>>,
    combinations: impl Iterator<Item = &'a [f64]>,
) {
    let combinations: Vec<&[f64]> = combinations.take(vectors.len()).collect();
    map_columns(vectors, |_, chunks| {
        let width = chunks.first().map_or(1, |entries| entries.len());
        let mut sums = vec![0.0; width * combinations.len()];
        for (sum, factors) in sums.chunks_mut(width).zip(&combinations) {
            for (entries, &factor) in chunks.iter().zip(*factors) {
                axpy(sum, factor, entries);
            }
        }
        for (entries, sum) in chunks.iter_mut().zip(sums.chunks(width)) {
            entries.copy_from_slice(sum);
        }
    });
    vectors.truncate(combinations.len());
}

/// Calls `work` with the chunks of all vectors at each position, and the number of the chunk.
fn map_columns<T: Send>(
    vectors: &mut [Vec<f64>],
    work: impl Fn(usize, &mut [&mut [f64]]) -> T + Sync,
) -> Vec<T> {
    let length = vectors.first().map_or(0, Vec::len);
    let mut rest: Vec<_> = vectors.iter_mut().map(|v| v.chunks_mut(CHUNK)).collect();
    let columns = 0..length.div_ceil(CHUNK);
    let columns: Vec<Vec<&mut [f64]>> = columns
        .map(|_| rest.iter_mut().filter_map(Iterator::next).collect())
        .collect();
    let work = |(number, mut column): (usize, Vec<&mut [f64]>)| work(number, &mut column);
    if length < PARALLEL {
        columns.into_iter().enumerate().map(work).collect()
    } else {
        columns.into_par_iter().enumerate().map(work).collect()
    }
}

/// Makes a vector orthogonal to others over pages, one after another (modified Gram-Schmidt);
/// returns its remaining length.
pub(super) fn subtract(pages: &[f64], others: &[Vec<f64>], vector: &mut [f64]) -> f64 {
    let Some(first) = others.first() else {
        return norm(pages, vector);
    };
    let mut along = dot(pages, first, vector);
    for (at, other) in others.iter().enumerate() {
        // Compute the next product, or the length, while the chunk is in the cache.
        along = map_chunks_and_sum(vector, |entries, range| {
            axpy(entries, -along, &other[range.clone()]);
            let pages = &pages[range.clone()];
            match others.get(at + 1) {
                Some(next) => unrolled_dot(pages, &next[range], entries),
                None => unrolled_dot(pages, entries, entries),
            }
        });
    }
    along.sqrt()
}

/// Returns the largest entry; 0 if there is none.
pub(super) fn largest(a: &[f64]) -> f64 {
    largest_of(a.len(), |at| a[at])
}

/// Returns the largest of `length` numbers; 0 if there is none.
pub(super) fn largest_of(length: usize, number: impl Fn(usize) -> f64 + Sync) -> f64 {
    let largest = |range: Range<usize>| range.map(&number).fold(0.0, f64::max);
    if length < PARALLEL {
        return largest(0..length);
    }
    let chunks = (0..length.div_ceil(CHUNK)).into_par_iter();
    let each = chunks.map(|at| largest(chunk(at, length)));
    each.reduce(|| 0.0, f64::max)
}

#[cfg(test)]
#[path = "vectors_tests.rs"]
mod tests;
