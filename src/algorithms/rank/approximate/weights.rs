//! Weights that prove a bound (Collatz and Wielandt, see [`super::super::certificate`]), with their image.
//!
//! Weights are on a [grid](super::super::quantize) of few digits, so that sums of them are exact as long as
//! they are below 2^42: an image is brought up to date by what was added to the weights, and comes out as
//! if it had been computed anew, whatever the order of the sums.

use super::super::quantize;
use super::super::region::Region;
use super::super::vector_block::Workspace;
use super::super::work::Work;

/// Sums of weights are exact below this.
const EXACT: f64 = (1_u64 << 42) as f64;
/// By which share a weight is raised beyond what it needs at first, and the most by which it is raised beyond
/// that, as much again as it lacks. More than what mu lies above the largest eigenvalue would raise weights
/// for ever.
const BEYOND: f64 = 0.01;
const AGAIN: f64 = 0.1;
/// After so many times it is half of that, and so on.
const HALVED: u8 = 4;

/// Room for raising, kept from one step to the next: all zeros in between.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// What was added to the sum of each hub.
    added: Vec<f64>,
    /// How often each weight was raised.
    times: Vec<u8>,
    /// Whether a weight has to be looked at.
    marks: Vec<bool>,
}

/// Weights of at least 1, with `M y`.
pub(super) struct Weights {
    pub(super) y: Vec<f64>,
    image: Vec<f64>,
    /// Positions of weights that were raised, some more than once.
    raised: Vec<u32>,
}

/// What became of an attempt to prove a bound.
pub(super) enum Proof {
    /// The weights prove it as they were.
    Given(Weights),
    /// They prove it once raised.
    Raised(Weights),
    /// They do not, though some may have been raised.
    None(Weights),
}

impl Proof {
    pub(super) fn into_weights(self) -> Weights {
        match self {
            Self::Given(weights) | Self::Raised(weights) | Self::None(weights) => weights,
        }
    }
}

impl Weights {
    /// Cost: one visit of each entry.
    pub(super) fn new(region: &Region, y: Vec<f64>, room: &mut Workspace, work: &mut Work) -> Self {
        let (image, _) = room.one(region.of_authorities(), &y, work);
        Self {
            y,
            image,
            raised: Vec::new(),
        }
    }

    /// The bound that they prove.
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

    /// Those above 1 in the order of classes, given what they were before any was raised.
    pub(super) fn packed(mut self, region: &Region, before: &[(u32, u16)]) -> Vec<(u32, u16)> {
        let class = |at: u32| region.authorities()[at as usize];
        self.raised.sort_unstable_by_key(|at| class(*at));
        self.raised.dedup();
        let mut packed = Vec::with_capacity(before.len() + self.raised.len());
        let mut rest = before;
        for &at in &self.raised {
            let (same, behind) =
                rest.split_at(rest.partition_point(|(other, _)| class(*other) < class(at)));
            packed.extend_from_slice(same);
            let is_old = behind.first().is_some_and(|(other, _)| *other == at);
            rest = &behind[usize::from(is_old)..];
            // A raised weight is above 1, and on the grid.
            packed.extend(quantize::weight_code(self.y[at as usize]).map(|code| (at, code)));
        }
        packed.extend_from_slice(rest);
        packed
    }

    /// Raises them until they prove this bound; `false` if that takes more than so many reads. They are
    /// valid weights in any case.
    pub(super) fn raise(
        &mut self,
        region: &Region,
        mu: f64,
        most: usize,
        scratch: &mut Scratch,
        work: &mut Work,
    ) -> bool {
        scratch.added.resize(region.hubs().len(), 0.0);
        scratch.times.clear();
        scratch.times.resize(self.y.len(), 0);
        scratch.marks.resize(self.y.len(), false);
        let inflate = (1.0 + region.rounding()) / mu * (1.0 + 8.0 * f64::EPSILON);
        let pages = region.authority_pages();
        let is_short = |y: f64, image: f64, pages: f64| image * inflate > y && pages > 0.0;
        let entries = self.y.iter().zip(&self.image).zip(pages).zip(0_u32..);
        let short = entries.filter(|(((y, image), pages), _)| is_short(**y, **image, **pages));
        let mut pending: Vec<u32> = short.map(|(_, at)| at).collect();
        let mut reads = 0;
        let mut touched = Vec::new();
        let mut raised = Vec::new();
        while !pending.is_empty() {
            raised.clear();
            for &v in &pending {
                let at = v as usize;
                let need = self.image[at] * inflate;
                if need <= self.y[at] || pages[at] == 0.0 {
                    continue;
                }
                let times = &mut scratch.times[at];
                let lack = (1.0 - self.y[at] / need).min(AGAIN);
                let beyond = (BEYOND + lack) * f64::exp2(-f64::from(*times / HALVED));
                *times = times.saturating_add(1);
                let Some(code) = quantize::weight_code(need * (1.0 + beyond)) else {
                    *work += reads as u64;
                    return false;
                };
                raised.push((v, quantize::weight(code)));
            }
            pending.clear();
            for &(v, y) in &raised {
                self.raised.push(v);
                let at = v as usize;
                let more = pages[at] * (y - std::mem::replace(&mut self.y[at], y));
                let citers = region.citers().list(v);
                reads += citers.len();
                for &hub in citers {
                    let added = &mut scratch.added[hub as usize];
                    if *added == 0.0 {
                        touched.push(hub);
                    }
                    *added += more;
                }
            }
            for hub in touched.drain(..) {
                let more = std::mem::take(&mut scratch.added[hub as usize])
                    * region.hub_pages()[hub as usize];
                if more == 0.0 {
                    continue;
                }
                let row = region.rows().list(hub);
                reads += row.len();
                for &v in row {
                    self.image[v as usize] += more;
                    if !std::mem::replace(&mut scratch.marks[v as usize], true) {
                        pending.push(v);
                    }
                }
            }
            for &v in &pending {
                scratch.marks[v as usize] = false;
            }
            if reads > most {
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
        fn raised_weights_prove_what_they_say_and_their_image_is_as_if_computed_anew(
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
                power = region.square(&power, &mut work);
                let top = power.iter().copied().fold(0.0, f64::max);
                for entry in &mut power {
                    *entry /= top;
                }
            }
            let image = region.square(&power, &mut work);
            let along: f64 = image.iter().copied().fold(0.0, f64::max);
            let mut weights = Weights::new(&region, vec![1.0; power.len()], &mut Workspace::default(), &mut work);
            let mut scratch = Scratch::default();
            let bound = along * ratio;
            prop_assert!(weights.raise(&region, bound, usize::MAX, &mut scratch, &mut work));
            prop_assert!(weights.bound(&region) <= bound);
            let anew = Weights::new(&region, weights.y.clone(), &mut Workspace::default(), &mut work);
            prop_assert_eq!(&anew.image, &weights.image);
            // Nothing proves less than the largest eigenvalue.
            let least = weights.bound(&region).min(anew.bound(&region));
            prop_assert!(least >= along * (1.0 - 1e-6), "{} of {}", least, along);
            let given_up = weights.raise(&region, along * 0.9, 100_000, &mut scratch, &mut work);
            prop_assert!(!given_up);
            let anew = Weights::new(&region, weights.y.clone(), &mut Workspace::default(), &mut work);
            prop_assert!(anew.bound(&region) >= along * (1.0 - 1e-6));
        }
    }
}
