//! Weights that prove a bound (Collatz and Wielandt, see [`super::super::certificate`]), with their
//! image.
//!
//! Weights are [quantised](super::super::quantize), so that sums of them below 2^42 are exact: an
//! image that is updated by differences equals a recomputed one, in any order of summation.

use super::super::quantize;
use super::super::region::Region;
use super::super::vector_block::BufferPool;
use super::super::work::Work;

/// Sums of weights below this are exact.
const EXACT: f64 = (1_u64 << 42) as f64;
/// Share by which a raised weight exceeds its need at first.
const SURPLUS: f64 = 0.01;
/// Maximum further surplus, which equals the shortfall. A surplus larger than the distance of mu
/// from the largest eigenvalue would raise weights forever.
const MAX_EXTRA_SURPLUS: f64 = 0.1;
/// After this many raises of a weight its surplus is halved, and so on.
const HALVING: u8 = 4;

/// Reusable memory for raising: all zeros in between.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// Change of the sum of each hub.
    added: Vec<f64>,
    raises: Vec<u8>,
    /// Whether a weight must be tested.
    is_pending: Vec<bool>,
}

/// Weights of at least 1, with `M y`.
pub(super) struct Weights {
    pub(super) y: Vec<f64>,
    image: Vec<f64>,
    /// Positions of raised weights, possibly repeated.
    raised: Vec<u32>,
}

pub(super) enum Proof {
    /// The weights prove it unchanged.
    Unchanged(Weights),
    /// The raised weights prove it.
    Raised(Weights),
    /// They do not prove it, though some may be raised.
    None(Weights),
}

impl Proof {
    pub(super) fn into_weights(self) -> Weights {
        match self {
            Self::Unchanged(weights) | Self::Raised(weights) | Self::None(weights) => weights,
        }
    }
}

impl Weights {
    /// Computes the image. Cost: one visit of each entry.
    pub(super) fn new(
        region: &Region,
        y: Vec<f64>,
        pool: &mut BufferPool,
        work: &mut Work,
    ) -> Self {
        let (image, _) = pool.multiply(region.authority_side(), &y, work);
        Self {
            y,
            image,
            raised: Vec::new(),
        }
    }

    /// Returns the bound that the weights prove.
    pub(super) fn bound(&self, region: &Region) -> f64 {
        let inflate = 1.0 + region.rounding();
        let entries = self.image.iter().zip(&self.y);
        let ratios = region.authority_pages().iter().zip(entries);
        let ratios = ratios.map(|(pages, (image, y))| {
            if *pages > 0.0 {
                image * inflate / y
            } else {
                0.0
            }
        });
        ratios.fold(0.0, f64::max)
    }

    /// Returns the codes of weights above 1 in class order, given the `original` codes before
    /// raising, and the number of raised weights.
    pub(super) fn merged_codes(
        mut self,
        region: &Region,
        original: &[(u32, u16)],
    ) -> (Vec<(u32, u16)>, usize) {
        let class = |at: u32| region.authorities()[at as usize];
        self.raised.sort_unstable_by_key(|at| class(*at));
        self.raised.dedup();
        let mut codes = Vec::with_capacity(original.len() + self.raised.len());
        let mut unmerged = original;
        for &at in &self.raised {
            let (unchanged, tail) =
                unmerged.split_at(unmerged.partition_point(|(other, _)| class(*other) < class(at)));
            codes.extend_from_slice(unchanged);
            let is_old = tail.first().is_some_and(|(other, _)| *other == at);
            unmerged = &tail[usize::from(is_old)..];
            // A raised weight is above 1, and on the grid.
            codes.extend(quantize::weight_code(self.y[at as usize]).map(|code| (at, code)));
        }
        codes.extend_from_slice(unmerged);
        (codes, self.raised.len())
    }

    /// Raises the weights until they prove this bound; returns `false` if that takes more than
    /// `max_reads` reads. The weights are valid in any case.
    pub(super) fn raise(
        &mut self,
        region: &Region,
        mu: f64,
        max_reads: usize,
        scratch: &mut Scratch,
        work: &mut Work,
    ) -> bool {
        scratch.added.resize(region.hubs().len(), 0.0);
        scratch.raises.clear();
        scratch.raises.resize(self.y.len(), 0);
        scratch.is_pending.resize(self.y.len(), false);
        let inflate = (1.0 + region.rounding()) / mu * (1.0 + 8.0 * f64::EPSILON);
        let pages = region.authority_pages();
        let is_violated = |y: f64, image: f64, pages: f64| image * inflate > y && pages > 0.0;
        // Start from the violated entries; later rounds test what changed.
        let entries = self.y.iter().zip(&self.image).zip(pages).zip(0_u32..);
        let violated =
            entries.filter(|(((y, image), pages), _)| is_violated(**y, **image, **pages));
        let mut pending: Vec<u32> = violated.map(|(_, at)| at).collect();
        let mut reads = 0;
        let mut touched = Vec::new();
        let mut raised = Vec::new();
        while !pending.is_empty() {
            // All weights of a round are raised by the images before it.
            raised.clear();
            for &v in &pending {
                let at = v as usize;
                let need = self.image[at] * inflate;
                if need <= self.y[at] || pages[at] == 0.0 {
                    continue;
                }
                let count = &mut scratch.raises[at];
                let shortfall = (1.0 - self.y[at] / need).min(MAX_EXTRA_SURPLUS);
                let surplus = (SURPLUS + shortfall) * f64::exp2(-f64::from(*count / HALVING));
                *count = count.saturating_add(1);
                let Some(code) = quantize::weight_code(need * (1.0 + surplus)) else {
                    *work += reads as u64;
                    return false;
                };
                raised.push((v, quantize::weight(code)));
            }
            pending.clear();
            for &(v, y) in &raised {
                self.raised.push(v);
                let at = v as usize;
                let delta = pages[at] * (y - std::mem::replace(&mut self.y[at], y));
                let citers = region.citers().list(v);
                reads += citers.len();
                for &hub in citers {
                    let added = &mut scratch.added[hub as usize];
                    if *added == 0.0 {
                        touched.push(hub);
                    }
                    *added += delta;
                }
            }
            // Only the rows of hubs whose sum changed are read.
            for hub in touched.drain(..) {
                let delta = std::mem::take(&mut scratch.added[hub as usize])
                    * region.hub_pages()[hub as usize];
                if delta == 0.0 {
                    continue;
                }
                let row = region.rows().list(hub);
                reads += row.len();
                for &v in row {
                    self.image[v as usize] += delta;
                    if !std::mem::replace(&mut scratch.is_pending[v as usize], true) {
                        pending.push(v);
                    }
                }
            }
            for &v in &pending {
                scratch.is_pending[v as usize] = false;
            }
            if reads > max_reads {
                break;
            }
        }
        *work += reads as u64;
        pending.is_empty() && self.image.iter().all(|image| *image < EXACT)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::graph::{NONE, Remaining, Rows, number};

    proptest! {
        #[test]
        fn raised_weights_prove_their_bound_and_their_image_equals_a_recomputed_one(
            rows in prop::collection::vec(prop::collection::btree_set(0_u32..30, 1..8), 1..40),
            ratio in 1.01_f64..3.0,
        ) {
            let mut links = Rows::new();
            for (from, to) in (100..).zip(&rows) {
                let to: Vec<u32> = to.iter().copied().collect();
                links.push(&[from], &to).unwrap();
            }
            let graph = links.graph().unwrap();
            let hubs: Vec<u32> = (0..number(graph.hub_members().len())).collect();
            let mut position = vec![NONE; graph.authority_members().len()];
            let mut work = Work::default();
            let left = Remaining::all(&graph);
            let region = Region::gather(&graph, &left, &hubs, &mut position, &mut work);
            let mut power = vec![1.0; region.authorities().len()];
            for _ in 0..300 {
                power = region.apply_m(&power, &mut work);
                let top = power.iter().copied().fold(0.0, f64::max);
                for entry in &mut power {
                    *entry /= top;
                }
            }
            let image = region.apply_m(&power, &mut work);
            let along: f64 = image.iter().copied().fold(0.0, f64::max);
            let mut weights = Weights::new(&region, vec![1.0; power.len()], &mut BufferPool::default(), &mut work);
            let mut scratch = Scratch::default();
            let bound = along * ratio;
            prop_assert!(weights.raise(&region, bound, usize::MAX, &mut scratch, &mut work));
            prop_assert!(weights.bound(&region) <= bound);
            let recomputed = Weights::new(&region, weights.y.clone(), &mut BufferPool::default(), &mut work);
            prop_assert_eq!(&recomputed.image, &weights.image);
            // Nothing proves less than the largest eigenvalue.
            let least = weights.bound(&region).min(recomputed.bound(&region));
            prop_assert!(least >= along * (1.0 - 1e-6), "{} of {}", least, along);
            let given_up = weights.raise(&region, along * 0.9, 100_000, &mut scratch, &mut work);
            prop_assert!(!given_up);
            let recomputed = Weights::new(&region, weights.y.clone(), &mut BufferPool::default(), &mut work);
            prop_assert!(recomputed.bound(&region) >= along * (1.0 - 1e-6));
        }
    }
}
