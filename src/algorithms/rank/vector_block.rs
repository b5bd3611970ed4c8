//! Vectors side by side: their images, their inner products, their combinations.
//!
//! **One read for `M x`.** `M x = sum over hubs h of q_h row_h (row_h . p x)`: a row is read,
//! summed up and handed on while it is at hand, and the lists of citers are not read at all. For
//! `N u = A A^T u` the lists of citers take the place of rows: all here is said of the authorities'
//! [side](Side), and holds for the hubs' with both exchanged. The lists are split into two halves, each
//! with its own sums, which are added in a fixed order: the number of threads makes no difference.

use std::ops::Range;

use rayon::prelude::*;

use crate::graph::number;

use super::region::Side;
use super::work::Work;

/// A pass over fewer entries is done by one thread.
const PARALLEL: usize = 1 << 13;
/// How many places of a block are worked on together: they fit into a processor's own cache.
const CHUNK: usize = 128;
/// How many chunks are handed out together.
const MANY: usize = 8;
/// The most vectors that are kept for later use.
const SPARE: usize = 64;
/// How many vectors an inner loop works on together: that many sums fit into registers.
const LANES: usize = 4;

/// Vectors side by side: their entries at one place form one row.
pub(super) type VectorBlock<const B: usize> = Vec<[f64; B]>;

/// `A x` and `M x` of one vector. Cost: one visit of each entry.
pub(super) fn square_of(side: Side<'_>, x: &[f64], work: &mut Work) -> (Vec<f64>, Vec<f64>) {
    let x: VectorBlock<1> = x.iter().map(|&entry| [entry]).collect();
    let mut rooms = Buffers::default();
    let hubs = square(side, &x, &mut rooms, work);
    let [images, _] = rooms;
    (hubs, images.into_flattened())
}

/// Room for images.
pub(super) type Buffers<const B: usize> = [VectorBlock<B>; 2];

/// Puts `M x` into the first of two rooms; returns `A x` of the last vector. Cost: one visit of
/// each entry.
pub(super) fn square<const B: usize>(
    side: Side<'_>,
    x: &[[f64; B]],
    [images, more]: &mut Buffers<B>,
    work: &mut Work,
) -> Vec<f64> {
    let rows = side.lists;
    work.read(side.live, B);
    images.resize(x.len(), [0.0; B]);
    let all = number(rows.len());
    if rows.entries().len() < PARALLEL {
        return contribute(side, 0..all, x, images);
    }
    more.resize(x.len(), [0.0; B]);
    let half = side.middle;
    let (mut hubs, rest) = rayon::join(
        || contribute(side, 0..half, x, images),
        || contribute(side, half..all, x, more),
    );
    each(images, more, |sum, more| *sum += more);
    hubs.extend(rest);
    hubs
}

/// Puts `M x` into `images`, from vectors whose entries are multiplied by the pages of their classes: a
/// few of them, where multiplying every entry anew would cost as much as reading it. Returns the squared lengths of `A x` over pages, which
/// are `x . M x`. Cost: one visit of each entry.
fn images_of<const B: usize>(
    side: Side<'_>,
    weighted: &[[f64; B]],
    (images, more): (&mut [[f64; B]], &mut VectorBlock<B>),
    work: &mut Work,
) -> [f64; B] {
    let rows = side.lists;
    work.read(side.live, B);
    let (from, all) = (side.single, number(rows.len()));
    if rows.entries().len() < PARALLEL {
        let mut squares = keep(side, weighted, images);
        plus(
            &mut squares,
            1.0,
            &hand_on(side, from..all, weighted, images),
        );
        return squares;
    }
    more.resize(weighted.len(), [0.0; B]);
    let half = side.middle;
    let (mut squares, rest) = rayon::join(
        || {
            let mut squares = keep(side, weighted, images);
            plus(
                &mut squares,
                1.0,
                &hand_on(side, from..half, weighted, images),
            );
            squares
        },
        || {
            more.fill([0.0; B]);
            hand_on(side, half..all, weighted, more)
        },
    );
    each(images, more, |sum, more| *sum += more);
    plus(&mut squares, 1.0, &rest);
    squares
}

/// What hubs that lead to one authority contribute: no list is read for that.
fn keep<const B: usize>(
    side: Side<'_>,
    weighted: &[[f64; B]],
    images: &mut [[f64; B]],
) -> [f64; B] {
    let mut squares = [0.0; B];
    for ((image, entry), times) in images.iter_mut().zip(weighted).zip(side.alone) {
        for ((image, entry), square) in image.iter_mut().zip(entry).zip(&mut squares) {
            *image = times * entry;
            *square += *image * entry;
        }
    }
    squares
}

/// What these hubs add to the images of weighted vectors, and to the squared lengths of `A x`.
fn hand_on<const B: usize>(
    side: Side<'_>,
    hubs: Range<u32>,
    weighted: &[[f64; B]],
    images: &mut [[f64; B]],
) -> [f64; B] {
    let mut squares = [0.0; B];
    for hub in hubs {
        let times = side.times[hub as usize];
        if times == 0.0 {
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
            *square += times * sum * sum;
        }
        let sum = sum.map(|sum| times * sum);
        for &target in row {
            for (image, sum) in images[target as usize].iter_mut().zip(sum) {
                *image += sum;
            }
        }
    }
    squares
}

/// What these hubs contribute to `M x`; returns their entries of `A x` for the last vector.
fn contribute<const B: usize>(
    side: Side<'_>,
    hubs: Range<u32>,
    x: &[[f64; B]],
    images: &mut [[f64; B]],
) -> Vec<f64> {
    images.fill([0.0; B]);
    let mut last = Vec::with_capacity(hubs.len());
    let pages = side.pages;
    for hub in hubs {
        let times = side.times[hub as usize];
        if times == 0.0 {
            last.push(0.0);
            continue;
        }
        let row = side.lists.list(hub);
        let mut sum = [0.0; B];
        for &target in row {
            plus(&mut sum, pages[target as usize], &x[target as usize]);
        }
        for &target in row {
            plus(&mut images[target as usize], times, &sum);
        }
        last.push(sum[B - 1]);
    }
    last
}

/// The entry of each row at one place: a single vector.
pub(super) fn column<const B: usize>(rows: &[[f64; B]], at: usize) -> Vec<f64> {
    rows.iter().map(|row| row[at]).collect()
}

fn plus<const B: usize>(sum: &mut [f64; B], factor: f64, row: &[f64; B]) {
    for (sum, entry) in sum.iter_mut().zip(row) {
        *sum += factor * entry;
    }
}

/// Changes every entry, given the entry of another block at the same place.
pub(super) fn each<const B: usize>(
    rows: &mut [[f64; B]],
    others: &[[f64; B]],
    change: impl Fn(&mut f64, f64) + Sync,
) {
    let chunks = rows.par_chunks_mut(CHUNK).zip(others.par_chunks(CHUNK));
    chunks.with_min_len(8 * MANY).for_each(|(rows, others)| {
        for (row, other) in rows.iter_mut().zip(others) {
            for (entry, other) in row.iter_mut().zip(other) {
                change(entry, *other);
            }
        }
    });
}

/// Replaces the vectors by combinations: `factors[i][j]` of the i-th goes into the j-th.
pub(super) fn recombine<const B: usize>(rows: &mut [[f64; B]], factors: &[[f64; B]; B]) {
    rows.par_chunks_mut(CHUNK * MANY).for_each(|rows| {
        let mut old = [[0.0; B]; CHUNK];
        for rows in rows.chunks_mut(CHUNK) {
            let old = &mut old[..rows.len()];
            old.copy_from_slice(rows);
            for from in (0..B).step_by(2 * LANES) {
                let of_lanes = factors.map(|row| lanes::<{ 2 * LANES }, B>(&row, from));
                for (row, old) in rows.iter_mut().zip(&*old) {
                    let mut new = [0.0; 2 * LANES];
                    for (&entry, factors) in old.iter().zip(&of_lanes) {
                        plus(&mut new, entry, factors);
                    }
                    row[from..from + 2 * LANES].copy_from_slice(&new);
                }
            }
        }
    });
}

/// A few entries of a row, side by side; zeros past its end.
fn lanes<const L: usize, const B: usize>(row: &[f64; B], from: usize) -> [f64; L] {
    row[from..].first_chunk().copied().unwrap_or([0.0; L])
}

/// The inner products over pages of vectors with each other and with their images.
pub(super) type Products<const B: usize> = ([[f64; B]; B], [[f64; B]; B]);

pub(super) fn products<const B: usize>(
    pages: &[f64],
    x: &[[f64; B]],
    images: &[[f64; B]],
) -> Products<B> {
    let sums = by_chunk(pages, x, images, |pages, x, images| {
        Box::new((mutual(pages, x, x), mutual(pages, x, images)))
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

/// The inner products of vectors with those of another block, on and above the diagonal.
fn mutual<const B: usize>(pages: &[f64], x: &[[f64; B]], y: &[[f64; B]]) -> [[f64; B]; B] {
    let mut sums = [[0.0; B]; B];
    for i in (0..B).step_by(LANES) {
        for j in (i..B).step_by(LANES) {
            let mut tile = [[0.0; LANES]; LANES];
            for (pages, (x, y)) in pages.iter().zip(x.iter().zip(y)) {
                let (x, y) = (lanes::<LANES, B>(x, i), lanes::<LANES, B>(y, j));
                for (sums, x) in tile.iter_mut().zip(x) {
                    plus(sums, pages * x, &y);
                }
            }
            for (sums, tile) in sums[i..].iter_mut().zip(tile) {
                sums[j..j + LANES].copy_from_slice(&tile);
            }
        }
    }
    sums
}

/// The lengths over pages of `M x - theta x`.
pub(super) fn residuals<const B: usize>(
    pages: &[f64],
    x: &[[f64; B]],
    images: &[[f64; B]],
    values: &[f64; B],
) -> [f64; B] {
    let sums = by_chunk(pages, x, images, |pages, x, images| {
        let mut sums = [0.0; B];
        for (pages, (x, image)) in pages.iter().zip(x.iter().zip(images)) {
            for (sum, ((x, image), value)) in sums.iter_mut().zip(x.iter().zip(image).zip(values)) {
                let rest = image - value * x;
                *sum += pages * rest * rest;
            }
        }
        sums
    });
    let mut squares = [0.0; B];
    for part in sums {
        plus(&mut squares, 1.0, &part);
    }
    squares.map(f64::sqrt)
}

/// What `make` returns for each chunk of places, in their order.
fn by_chunk<const B: usize, T: Send>(
    pages: &[f64],
    x: &[[f64; B]],
    images: &[[f64; B]],
    make: impl Fn(&[f64], &[[f64; B]], &[[f64; B]]) -> T + Sync,
) -> Vec<T> {
    let chunks = x.par_chunks(CHUNK).zip(images.par_chunks(CHUNK));
    let chunks = pages.par_chunks(CHUNK).zip(chunks).with_min_len(MANY);
    chunks
        .map(|(pages, (x, images))| make(pages, x, images))
        .collect()
}

/// Room for products and vectors, kept from one search to the next.
#[derive(Clone, Default, Debug)]
pub(super) struct Workspace {
    single: (VectorBlock<1>, VectorBlock<1>),
    double: (VectorBlock<2>, Buffers<2>),
    /// Vectors that are not in use.
    spare: Vec<Vec<f64>>,
    /// How many products the last search took.
    pub(super) usual: usize,
}

/// The image `M x` of a vector `x`, and `x . M x` over pages.
pub(super) type Image = (Vec<f64>, f64);

impl Workspace {
    /// Takes vectors that are not used any more.
    pub(super) fn give(&mut self, vectors: impl IntoIterator<Item = Vec<f64>>) {
        let room = SPARE.saturating_sub(self.spare.len());
        self.spare.extend(vectors.into_iter().take(room));
    }

    /// `M x`.
    pub(super) fn one(&mut self, side: Side<'_>, x: &[f64], work: &mut Work) -> Image {
        let (weighted, more) = &mut self.single;
        weighted.clear();
        let pages = side.pages.iter();
        weighted.extend(pages.zip(x).map(|(pages, x)| [pages * x]));
        let mut image = self.spare.pop().unwrap_or_default();
        image.resize(x.len(), 0.0);
        let (images, _) = image.as_chunks_mut();
        let [square] = images_of(side, weighted, (images, more), work);
        (image, square)
    }

    /// `M x` and `M y`.
    pub(super) fn pair(
        &mut self,
        side: Side<'_>,
        (x, y): (&[f64], &[f64]),
        work: &mut Work,
    ) -> [Image; 2] {
        let (weighted, [images, more]) = &mut self.double;
        weighted.clear();
        let pages = side.pages.iter();
        let entries = pages.zip(x.iter().zip(y));
        weighted.extend(entries.map(|(pages, (x, y))| [pages * x, pages * y]));
        images.resize(x.len(), [0.0; 2]);
        let squares = images_of(side, weighted, (images, more), work);
        let spare = &mut self.spare;
        [0, 1].map(|at| {
            let mut image = spare.pop().unwrap_or_default();
            image.clear();
            image.extend(images.iter().map(|row| row[at]));
            (image, squares[at])
        })
    }
}
