//! Weights that prove a bound (Collatz and Wielandt, see [`super::super::certificate`]), with their
//! image.
//!
//! Weights are [quantised](super::super::quantize), so that sums of them below 2^42 are exact: an
//! image that is updated by differences equals a recomputed one, in any order of summation.

use super::super::quantize;
use super::super::region::Region;
use super::super::vector_block::BufferPool;
use super::super::work::Work;
use crate::graph::{Role, number};
use crate::watch::Interrupted;

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
    ) -> Result<Self, Interrupted> {
        let (image, _) = region.multiply(Role::Authority, &y, pool, work)?;
        Ok(Self {
            y,
            image,
            raised: Vec::new(),
        })
    }

    /// Returns the bound that the weights prove.
    pub(super) fn bound(&self, region: &Region) -> Result<f64, Interrupted> {
        let inflate = 1.0 + region.rounding();
        let pages = region.authority_pages();
        region.largest(Role::Authority, |at| {
            if pages[at] > 0.0 {
                self.image[at] * inflate / self.y[at]
            } else {
                0.0
            }
        })
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
    /// `max_reads` reads, in all processes together. The weights are valid in any case.
    pub(super) fn raise(
        &mut self,
        region: &Region,
        mu: f64,
        max_reads: usize,
        scratch: &mut Scratch,
        work: &mut Work,
    ) -> Result<bool, Interrupted> {
        scratch.added.resize(region.hubs().len(), 0.0);
        scratch.raises.clear();
        scratch.raises.resize(self.y.len(), 0);
        scratch.is_pending.resize(self.y.len(), false);
        let inflate = (1.0 + region.rounding()) / mu * (1.0 + 8.0 * f64::EPSILON);
        let pages = region.authority_pages();
        // Start from the violated entries; later rounds test what changed.
        let own = 0..number(region.own(Role::Authority));
        let is_violated = |at: &u32| {
            let at = *at as usize;
            self.image[at] * inflate > self.y[at] && pages[at] > 0.0
        };
        let mut pending: Vec<u32> = own.filter(is_violated).collect();
        let mut reads = 0;
        let mut raised = Vec::new();
        loop {
            // All weights of a round are raised by the images before it.
            let is_bounded = self.needed(&pending, inflate, pages, scratch, &mut raised);
            let mut changed = self.change_sums(&raised, region, scratch);
            let counts = [pending.len() as u64, reads, u64::from(!is_bounded)];
            let (hubs, added) = (Role::Hub, &mut scratch.added);
            let counts = region.fold_sparse_ghosts(hubs, &mut changed, added, counts)?;
            let [all_pending, all_reads, unbounded] = counts;
            let is_over = all_reads > max_reads as u64;
            if all_pending == 0 || is_over || unbounded > 0 {
                for hub in changed {
                    scratch.added[hub as usize] = 0.0;
                }
                break;
            }
            for &(v, y) in &raised {
                self.raised.push(v);
                self.y[v as usize] = y;
                reads += region.citers().list(v).len() as u64;
            }
            self.update_images(region, changed, scratch, &mut pending, &mut reads)?;
        }
        *work += reads;
        let own = &self.image[..region.own(Role::Authority)];
        let is_proof = pending.is_empty() && own.iter().all(|image| *image < EXACT);
        Ok(region.sum_counts([u64::from(!is_proof)])? == [0])
    }

    /// Finds the weights that the pending entries need. Returns `false` if one of them is too large.
    fn needed(
        &self,
        pending: &[u32],
        inflate: f64,
        pages: &[f64],
        scratch: &mut Scratch,
        raised: &mut Vec<(u32, f64)>,
    ) -> bool {
        raised.clear();
        for &v in pending {
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
                return false;
            };
            raised.push((v, quantize::weight(code)));
        }
        true
    }

    /// Returns the hubs whose sums change by raised weights. `scratch` then has the changes.
    fn change_sums(
        &self,
        raised: &[(u32, f64)],
        region: &Region,
        scratch: &mut Scratch,
    ) -> Vec<u32> {
        let mut changed = Vec::new();
        let pages = region.authority_pages();
        for &(v, y) in raised {
            let delta = pages[v as usize] * (y - self.y[v as usize]);
            for &hub in region.citers().list(v) {
                let added = &mut scratch.added[hub as usize];
                if *added == 0.0 {
                    changed.push(hub);
                }
                *added += delta;
            }
        }
        changed
    }

    /// Updates the images by the sums of hubs that changed. `pending` becomes the entries whose image changed.
    fn update_images(
        &mut self,
        region: &Region,
        changed: Vec<u32>,
        scratch: &mut Scratch,
        pending: &mut Vec<u32>,
        reads: &mut u64,
    ) -> Result<(), Interrupted> {
        let added = &mut scratch.added;
        let mut deltas = Vec::with_capacity(changed.len());
        for hub in changed {
            let delta = std::mem::take(&mut added[hub as usize]) * region.hub_pages()[hub as usize];
            if delta != 0.0 {
                deltas.push((hub, delta));
            }
        }
        // Only the rows of hubs whose sum changed are read.
        pending.clear();
        let of_ghosts = region.announce(Role::Hub, &deltas)?;
        let own = region.own(Role::Authority);
        for (hub, delta) in deltas.into_iter().chain(of_ghosts) {
            let row = region.rows().list(hub).iter();
            for &v in row.filter(|v| (**v as usize) < own) {
                *reads += 1;
                self.image[v as usize] += delta;
                if !std::mem::replace(&mut scratch.is_pending[v as usize], true) {
                    pending.push(v);
                }
            }
        }
        for &v in &*pending {
            scratch.is_pending[v as usize] = false;
        }
        Ok(())
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
            let mut weights = Weights::new(&region, vec![1.0; power.len()], &mut BufferPool::default(), &mut work).unwrap();
            let mut scratch = Scratch::default();
            let bound = along * ratio;
            prop_assert!(weights.raise(&region, bound, usize::MAX, &mut scratch, &mut work).unwrap());
            prop_assert!(weights.bound(&region).unwrap() <= bound);
            let recomputed = Weights::new(&region, weights.y.clone(), &mut BufferPool::default(), &mut work).unwrap();
            prop_assert_eq!(&recomputed.image, &weights.image);
            // Nothing proves less than the largest eigenvalue.
            let least = weights.bound(&region).unwrap().min(recomputed.bound(&region).unwrap());
            prop_assert!(least >= along * (1.0 - 1e-6), "{} of {}", least, along);
            let given_up = weights.raise(&region, along * 0.9, 100_000, &mut scratch, &mut work).unwrap();
            prop_assert!(!given_up);
            let recomputed = Weights::new(&region, weights.y.clone(), &mut BufferPool::default(), &mut work).unwrap();
            prop_assert!(recomputed.bound(&region).unwrap() >= along * (1.0 - 1e-6));
        }
    }
}
