//! Blocks of vectors: images, inner products and combinations.
//!
//! **`M x` in one pass.** `M x = sum over hubs h of q_h row_h (row_h . p x)`: each row is read,
//! summed and added to the image at once, without the lists of citers. For `N u = A A^T u` the
//! lists of citers take the place of rows; the comments describe the authorities' [side](Side), and
//! hold for the hubs' with both exchanged. The lists are split into two halves, each with its own
//! sums, which are added in a fixed order: the number of threads has no effect.

use std::ops::Range;

use rayon::prelude::*;

use crate::graph::number;

use super::region::Side;
use super::work::Work;

/// Passes over fewer entries run on one thread.
const PARALLEL: usize = 1 << 13;
/// Rows of a block processed together: they fit into a core's own cache.
const CHUNK: usize = 128;
/// Chunks per parallel task.
const GRAIN: usize = 8;
/// Maximum number of spare vectors.
const MAX_SPARE: usize = 64;

/// Vectors side by side: their entries at one position form a row.
pub(super) type VectorBlock<const B: usize> = Vec<[f64; B]>;

/// Returns `A x` and `M x` of one vector. Cost: one visit of each entry.
pub(super) fn apply_a_and_m(side: Side<'_>, x: &[f64], work: &mut Work) -> (Vec<f64>, Vec<f64>) {
    let x: VectorBlock<1> = x.iter().map(|&entry| [entry]).collect();
    let mut buffers = Buffers::default();
    let hubs = apply_m_block(side, &x, &mut buffers, work);
    let [images, _] = buffers;
    (hubs, images.into_flattened())
}

pub(super) type Buffers<const B: usize> = [VectorBlock<B>; 2];

/// Writes `M x` into the first of two buffers; returns `A x` of the last vector. Cost: one visit of
/// each entry.
pub(super) fn apply_m_block<const B: usize>(
    side: Side<'_>,
    x: &[[f64; B]],
    [images, more]: &mut Buffers<B>,
    work: &mut Work,
) -> Vec<f64> {
    let rows = side.lists;
    work.read(side.live_entries, B);
    images.resize(x.len(), [0.0; B]);
    let all = number(rows.len());
    if rows.entries().len() < PARALLEL {
        return apply_rows(side, 0..all, x, images);
    }
    more.resize(x.len(), [0.0; B]);
    let halfway = side.halfway;
    let (mut hubs, rest) = rayon::join(
        || apply_rows(side, 0..halfway, x, images),
        || apply_rows(side, halfway..all, x, more),
    );
    zip_entries(images, more, |sum, more| *sum += more);
    hubs.extend(rest);
    hubs
}

/// Writes `M x` into `images`, for vectors that are multiplied by the pages of their classes
/// already: for few vectors that multiplication would cost as much as reading each entry. Returns
/// the squared lengths of `A x` over pages, which are `x . M x`. Cost: one visit of each entry.
fn apply_m_weighted<const B: usize>(
    side: Side<'_>,
    weighted: &[[f64; B]],
    images: &mut [[f64; B]],
    more: &mut VectorBlock<B>,
    work: &mut Work,
) -> [f64; B] {
    let rows = side.lists;
    work.read(side.live_entries, B);
    let (from, all) = (side.singletons, number(rows.len()));
    if rows.entries().len() < PARALLEL {
        let mut squares = apply_singletons(side, weighted, images);
        plus(
            &mut squares,
            1.0,
            &apply_lists(side, from..all, weighted, images),
        );
        return squares;
    }
    more.resize(weighted.len(), [0.0; B]);
    let halfway = side.halfway;
    let (mut squares, rest) = rayon::join(
        || {
            let mut squares = apply_singletons(side, weighted, images);
            plus(
                &mut squares,
                1.0,
                &apply_lists(side, from..halfway, weighted, images),
            );
            squares
        },
        || {
            more.fill([0.0; B]);
            apply_lists(side, halfway..all, weighted, more)
        },
    );
    zip_entries(images, more, |sum, more| *sum += more);
    plus(&mut squares, 1.0, &rest);
    squares
}

/// Writes the contributions of hubs with a single authority, which needs no list.
fn apply_singletons<const B: usize>(
    side: Side<'_>,
    weighted: &[[f64; B]],
    images: &mut [[f64; B]],
) -> [f64; B] {
    let mut squares = [0.0; B];
    for ((image, entry), multiplicity) in images.iter_mut().zip(weighted).zip(side.singleton_pages)
    {
        for ((image, entry), square) in image.iter_mut().zip(entry).zip(&mut squares) {
            *image = multiplicity * entry;
            *square += *image * entry;
        }
    }
    squares
}

/// Adds the contributions of these hubs to the images of weighted vectors; returns the squared
/// lengths of their `A x`.
fn apply_lists<const B: usize>(
    side: Side<'_>,
    hubs: Range<u32>,
    weighted: &[[f64; B]],
    images: &mut [[f64; B]],
) -> [f64; B] {
    let mut squares = [0.0; B];
    for hub in hubs {
        let multiplicity = side.multiplicities[hub as usize];
        if multiplicity == 0.0 {
            continue;
        }
        let row = side.lists.list(hub);
        let mut sum = [0.0; B];
        for &target in row {
            for (sum, entry) in sum.iter_mut().zip(&weighted[target as usize]) {
                *sum += entry;
            }
        }
        for (square, sum) in squares.iter_mut().zip(sum) {
            *square += multiplicity * sum * sum;
        }
        let sum = sum.map(|sum| multiplicity * sum);
        for &target in row {
            for (image, sum) in images[target as usize].iter_mut().zip(sum) {
                *image += sum;
            }
        }
    }
    squares
}

/// Writes the contributions of these hubs to `M x`; returns their entries of `A x` for the last
/// vector.
fn apply_rows<const B: usize>(
    side: Side<'_>,
    hubs: Range<u32>,
    x: &[[f64; B]],
    images: &mut [[f64; B]],
) -> Vec<f64> {
    images.fill([0.0; B]);
    let mut last = Vec::with_capacity(hubs.len());
    let pages = side.pages;
    for hub in hubs {
        let multiplicity = side.multiplicities[hub as usize];
        if multiplicity == 0.0 {
            last.push(0.0);
            continue;
        }
        let row = side.lists.list(hub);
        let mut sum = [0.0; B];
        for &target in row {
            plus(&mut sum, pages[target as usize], &x[target as usize]);
        }
        for &target in row {
            plus(&mut images[target as usize], multiplicity, &sum);
        }
        last.push(sum[B - 1]);
    }
    last
}

/// Returns one vector of a block.
pub(super) fn column<const B: usize>(rows: &[[f64; B]], at: usize) -> Vec<f64> {
    rows.iter().map(|row| row[at]).collect()
}

fn plus<const B: usize>(sum: &mut [f64; B], factor: f64, row: &[f64; B]) {
    for (sum, entry) in sum.iter_mut().zip(row) {
        *sum += factor * entry;
    }
}

/// Changes every entry, given the entry of another block at the same position.
fn zip_entries<const B: usize>(
    rows: &mut [[f64; B]],
    others: &[[f64; B]],
    change: impl Fn(&mut f64, f64) + Sync,
) {
    let chunks = rows.par_chunks_mut(CHUNK).zip(others.par_chunks(CHUNK));
    chunks.with_min_len(8 * GRAIN).for_each(|(rows, others)| {
        for (row, other) in rows.iter_mut().zip(others) {
            for (entry, other) in row.iter_mut().zip(other) {
                change(entry, *other);
            }
        }
    });
}

/// Inner products over pages of vectors with each other and with their images.
pub(super) type Products<const B: usize> = ([[f64; B]; B], [[f64; B]; B]);

pub(super) fn products<const B: usize>(
    pages: &[f64],
    x: &[[f64; B]],
    images: &[[f64; B]],
) -> Products<B> {
    let sums = map_chunks(pages, x, images, |pages, x, images| {
        Box::new((
            inner_products(pages, x, x),
            inner_products(pages, x, images),
        ))
    });
    let (mut gram, mut projected) = ([[0.0; B]; B], [[0.0; B]; B]);
    for part in sums {
        for i in 0..B {
            for j in i..B {
                gram[i][j] += part.0[i][j];
                projected[i][j] += part.1[i][j];
            }
        }
    }
    for i in 0..B {
        for j in 0..i {
            gram[i][j] = gram[j][i];
            projected[i][j] = projected[j][i];
        }
    }
    (gram, projected)
}

/// Returns the inner products of vectors with those of another block, on and above the diagonal.
fn inner_products<const B: usize>(pages: &[f64], x: &[[f64; B]], y: &[[f64; B]]) -> [[f64; B]; B] {
    let mut sums = [[0.0; B]; B];
    for (pages, (x, y)) in pages.iter().zip(x.iter().zip(y)) {
        for (sums, x) in sums.iter_mut().zip(x) {
            plus(sums, pages * x, y);
        }
    }
    sums
}

fn map_chunks<const B: usize, T: Send>(
    pages: &[f64],
    x: &[[f64; B]],
    images: &[[f64; B]],
    make: impl Fn(&[f64], &[[f64; B]], &[[f64; B]]) -> T + Sync,
) -> Vec<T> {
    let chunks = x.par_chunks(CHUNK).zip(images.par_chunks(CHUNK));
    let chunks = pages.par_chunks(CHUNK).zip(chunks).with_min_len(GRAIN);
    chunks
        .map(|(pages, (x, images))| make(pages, x, images))
        .collect()
}

/// Reusable memory for products and vectors.
#[derive(Clone, Default, Debug)]
pub(super) struct BufferPool {
    single: (VectorBlock<1>, VectorBlock<1>),
    double: (VectorBlock<2>, Buffers<2>),
    /// Of products that several processes make.
    pub(super) pulled: [Vec<f64>; 2],
    /// Unused vectors.
    spare: Vec<Vec<f64>>,
    /// Number of products of the last search.
    pub(super) last_products: usize,
}

/// The image `M x` of a vector `x`, and `x . M x` over pages.
pub(super) type Image = (Vec<f64>, f64);

impl BufferPool {
    pub(super) fn recycle(&mut self, vectors: impl IntoIterator<Item = Vec<f64>>) {
        let capacity = MAX_SPARE.saturating_sub(self.spare.len());
        self.spare.extend(vectors.into_iter().take(capacity));
    }

    /// Returns an unused vector, with any entries.
    pub(super) fn take(&mut self) -> Vec<f64> {
        self.spare.pop().unwrap_or_default()
    }

    /// Returns `M x`.
    pub(super) fn multiply(&mut self, side: Side<'_>, x: &[f64], work: &mut Work) -> Image {
        let (weighted, more) = &mut self.single;
        weighted.clear();
        let pages = side.pages.iter();
        weighted.extend(pages.zip(x).map(|(pages, x)| [pages * x]));
        let mut image = self.spare.pop().unwrap_or_default();
        image.resize(x.len(), 0.0);
        let (images, _) = image.as_chunks_mut();
        let [square] = apply_m_weighted(side, weighted, images, more, work);
        (image, square)
    }

    /// Returns `M x` and `M y`.
    pub(super) fn multiply_pair(
        &mut self,
        side: Side<'_>,
        x: &[f64],
        y: &[f64],
        work: &mut Work,
    ) -> [Image; 2] {
        let (weighted, [images, more]) = &mut self.double;
        weighted.clear();
        let pages = side.pages.iter();
        let entries = pages.zip(x.iter().zip(y));
        weighted.extend(entries.map(|(pages, (x, y))| [pages * x, pages * y]));
        images.resize(x.len(), [0.0; 2]);
        let squares = apply_m_weighted(side, weighted, images, more, work);
        let spare = &mut self.spare;
        [0, 1].map(|at| {
            let mut image = spare.pop().unwrap_or_default();
            image.clear();
            image.extend(images.iter().map(|row| row[at]));
            (image, squares[at])
        })
    }
}
