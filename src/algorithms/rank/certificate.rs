//! The proof that no eigenvalue of `M = A^T A` over a region exceeds `mu = lambda (1 + tau)`.
//!
//! **Theorem** (Collatz 1942, Wielandt 1950). `M >= 0` entry by entry, `y > 0` on every live
//! authority: `lambda_max(M) <= max_v (M y)_v / y_v`. For, with the left Perron vector `p >= 0`
//! (here `M` is similar to a symmetric matrix), `lambda_max p.y = p.M y <= max_v (..) p.y`, and
//! `p.y > 0`. `M` acts on classes: `(M y)_v = sum over hub classes citing v, with multiplicity, of
//! sum over the authority classes they lead to, with multiplicity, of y`. So it suffices to show a
//! `y > 0` with `M y <= mu y` everywhere.
//!
//! **The vector.** `x >= 0`, largest entry 1, is the candidate. `y = z + C x` with `z >= 1`:
//!
//! ```text
//! M y <= mu y   <=>   need_v := (M z)_v + C ((M x)_v - mu x_v)  <=  mu z_v   for every v
//! ```
//!
//! Where `x` is not tiny, `C (M x - mu x) = -C tau lambda x` (up to the residual) dominates; elsewhere
//! `z` starts from 1 and is raised to `need_v / mu` until no entry is violated. Raising converges from
//! below to the least solution if the spectral radius of `M` outside the support of `x` is below
//! `mu`; each raise exceeds the need a little, so that it ends after finitely many rounds. If that
//! radius is above `mu`, `z` grows without bound like a power iteration towards the denser place, and
//! the raised entries locate it.
//!
//! **Conditions and numerical care.**
//! * The *computed* `M x` is used, so the residual is in the inequality: with `C = 1e9` a residual
//!   of 1e-10 is 0.1. It need not be small for the proof to be correct, only for it to converge.
//! * All terms are nonnegative except `- C mu x`. A sum of nonnegative products of at most `n`
//!   terms, computed in any order, has a relative error below `1.1 n eps`; two are nested.
//!   [`Region::rounding`] bounds both; `(M z)` and `(M x)` are inflated by it, `mu x` and `mu z`
//!   are deflated by `4 eps`, so a comparison that holds in floating point holds exactly.
//!   For `tau` no larger than that bound nothing converges, and nothing is accepted.
//! * If the violated entries are widely cited, [`dense_subproblem`] solves for them at once, and all
//!   images are recomputed. Otherwise raising only changes entries near violated ones. Their sums and
//!   images are recomputed as a whole, never updated by a difference, so they equal those of a fresh
//!   `M z`. When raising ends, every entry is tested once more; only that last test accepts.
//! * The proof covers the value, within `tau`: not the vector, and not the order of two places within
//!   `tau` of each other. Hence the second, tighter proof in [`super::solve`], and in
//!   [`super::large_region`] if a second pair or another region comes near.

use rayon::prelude::*;

use crate::graph::{Csr, number};

use super::dense_subproblem;
use super::region::Region;
use super::vector_block::apply_a_and_m;
use super::vectors::largest_of;
use super::work::Work;

const MAX_ROUNDS: usize = 1500;
/// Fewer sums than this run on one thread.
const PARALLEL: usize = 1 << 12;
const MAX_SOLVES: usize = 12;
/// Factor by which solved entries exceed their need, so that the proof ends.
const SLACK: f64 = 1.01;
/// Violated entries are widely cited if more than one part in this many of the hubs links to them,
/// counted for each entry: raising them changes nearly everything.
const WIDE_SHARE: usize = 32;
/// A `z` above this diverges.
const RUNAWAY: f64 = 1e15;

/// Tightness of a proof: `mu = lambda (1 + tau)`, and the weight `C` of the candidate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tightness {
    pub(super) tau: f64,
    pub(super) weight: f64,
}

/// Proves the value (`src/guide/cores.md`, *Why a small residual is not enough*).
pub(super) const VALUE: Tightness = Tightness {
    tau: 1e-6,
    weight: 1e9,
};
/// Separates the place from others whose sigma is not tied with it (sigma is the root of the
/// value).
pub(super) const TIE: Tightness = Tightness {
    tau: 1e-9,
    weight: 1e12,
};

/// Returns an upper bound on the largest eigenvalue, from a positive vector and its computed image.
pub(super) fn bound(region: &Region, x: &[f64], image: &[f64]) -> f64 {
    let pages = region.authority_pages();
    let ratio = |at: usize| {
        if pages[at] == 0.0 {
            // Classes without remaining pages do not count.
            0.0
        } else if x[at] > f64::MIN_POSITIVE {
            image[at] / x[at]
        } else {
            f64::INFINITY
        }
    };
    largest_of(x.len(), ratio) * (1.0 + region.rounding())
}

/// Tries to prove that no eigenvalue exceeds `lambda (1 + tau)`, starting from `z >= 1`. `x` has
/// largest entry 1, `image` is the computed `M x`. After a proof `z` can start a tighter one; after
/// a failure it is large where a denser place may be. Gives up once `work.products` exceeds `budget`.
pub(super) fn certify(
    raising: &mut Raising<'_>,
    lambda: f64,
    x: &[f64],
    image: &[f64],
    tightness: Tightness,
    work: &mut Work,
    budget: u64,
) -> bool {
    let inflate = 1.0 + raising.region.rounding();
    let mu = lambda * (1.0 + tightness.tau);
    let deflated = mu * (1.0 - 4.0 * f64::EPSILON);
    // The part of the need that does not depend on `z`, rounded up.
    let pay: Vec<f64> = x
        .iter()
        .zip(image)
        .map(|(&x, &y)| tightness.weight * (y * inflate - deflated * x))
        .map(|pay| pay + pay.abs() * 4.0 * f64::EPSILON)
        .collect();
    let pages = raising.region.authority_pages();
    let need = |image: f64, v: usize| {
        if pages[v] > 0.0 {
            (image * inflate + pay[v]) * (1.0 + 4.0 * f64::EPSILON)
        } else {
            // Classes without remaining pages need nothing.
            0.0
        }
    };
    raising.test_all();
    let violates = |z: f64, image: f64, v: usize| need(image, v) > deflated * z;
    let (mut round, mut subset, mut solves) = (0, Vec::new(), 0);
    loop {
        raising.find_violated(violates);
        if raising.violated.is_empty() {
            let entries = raising.z.iter().zip(&raising.image).enumerate();
            let holds =
                |(v, (&z, &image)): (usize, (&f64, &f64))| z > 0.0 && !violates(z, image, v);
            return entries.into_iter().all(holds);
        }
        // Widely cited entries change nearly all images: solve for them at once.
        if solves < MAX_SOLVES && raising.is_widely_cited() {
            subset = union(&subset, &raising.violated);
            let shortfall = |z: f64, image: f64, v: usize| need(image, v) * SLACK - deflated * z;
            if raising.solve(&subset, deflated, shortfall, work) {
                solves += 1;
                continue;
            }
            solves = MAX_SOLVES;
        }
        // The least solution is approached from below: raise further at first, finely at the end.
        let step = match round {
            0..60 => 1.01,
            60..250 => 1.0 + 1e-4,
            _ => 1.0 + 1e-7,
        };
        let largest = raising.raise(|image, v| need(image, v) / deflated * step);
        if round == MAX_ROUNDS || largest >= RUNAWAY || work.products > budget {
            return false;
        }
        raising.update_images(work);
        round += 1;
    }
}

fn union(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut union = [a, b].concat();
    union.sort_unstable();
    union.dedup();
    union
}

/// Images of the vector of ones, from which raising starts.
#[derive(Clone, Debug)]
pub(super) struct Ones {
    /// `A 1`: the number of links of one page of each hub class.
    pub(super) sums: Vec<f64>,
    /// `M 1`: the row sums.
    pub(super) image: Vec<f64>,
}

impl Ones {
    /// Computes the images. Cost: one visit of each entry.
    pub(super) fn new(region: &Region, work: &mut Work) -> Self {
        let ones = vec![1.0; region.authorities().len()];
        let (sums, image) = apply_a_and_m(region.authority_side(), &ones, work);
        Self { sums, image }
    }
}

/// `z` with its images under `A` and `M`, updated near raised entries.
pub(super) struct Raising<'a> {
    region: &'a Region,
    z: Vec<f64>,
    /// `z`, multiplied by the number of pages of each authority class.
    weighted: Vec<f64>,
    /// `A z`, multiplied by the number of pages of each hub class.
    sums: Vec<f64>,
    image: Vec<f64>,
    /// Entries whose image changed since they were tested.
    pending: Vec<u32>,
    /// Entries to be raised.
    violated: Vec<u32>,
    hub_marks: Vec<bool>,
    marks: Vec<bool>,
}

impl<'a> Raising<'a> {
    /// Starts from any `z`. Cost: two visits of each entry.
    pub(super) fn new(region: &'a Region, z: Vec<f64>, work: &mut Work) -> Self {
        let sums = region.apply_a(&z, work);
        let image = region.apply_at(&sums, work);
        Self::with(region, z, sums, image)
    }

    /// Starts from 1, with known sums and image.
    pub(super) fn from_ones(region: &'a Region, ones: &Ones) -> Self {
        let z = vec![1.0; ones.image.len()];
        Self::with(region, z, ones.sums.clone(), ones.image.clone())
    }

    pub(super) fn with(
        region: &'a Region,
        z: Vec<f64>,
        mut sums: Vec<f64>,
        image: Vec<f64>,
    ) -> Self {
        let pages = region.authority_pages().iter();
        for (sum, pages) in sums.iter_mut().zip(region.hub_pages()) {
            *sum *= pages;
        }
        Self {
            pending: Vec::new(),
            hub_marks: vec![false; sums.len()],
            marks: vec![false; z.len()],
            violated: Vec::new(),
            weighted: pages.zip(&z).map(|(pages, z)| pages * z).collect(),
            region,
            z,
            sums,
            image,
        }
    }

    pub(super) fn into_z(self) -> Vec<f64> {
        self.z
    }

    fn test_all(&mut self) {
        self.pending = (0..number(self.z.len())).collect();
    }

    fn find_violated(&mut self, violates: impl Fn(f64, f64, usize) -> bool) {
        self.violated.clear();
        let is_found = |v: &&u32| {
            let at = **v as usize;
            violates(self.z[at], self.image[at], at)
        };
        self.violated.extend(self.pending.iter().filter(is_found));
    }

    /// Returns whether most of the graph depends on the violated entries.
    fn is_widely_cited(&self) -> bool {
        let citers = |v: &u32| self.region.citers().list(*v).len();
        let hubs: usize = self.violated.iter().map(citers).sum();
        hubs > self.region.hubs().len() / WIDE_SHARE
    }

    fn set(&mut self, at: usize, z: f64) {
        self.z[at] = z;
        self.weighted[at] = self.region.authority_pages()[at] * z;
    }

    /// Sets the violated entries to `raise(image, entry)`; returns the largest.
    fn raise(&mut self, raise: impl Fn(f64, usize) -> f64) -> f64 {
        let mut largest = 0.0_f64;
        for violated in 0..self.violated.len() {
            let at = self.violated[violated] as usize;
            let new = raise(self.image[at], at);
            self.set(at, new);
            largest = largest.max(new);
        }
        largest
    }

    /// Solves for these entries (ascending) so that none of them is short, and recomputes all
    /// images. Returns `false` and changes nothing if that is impossible.
    fn solve(
        &mut self,
        subset: &[u32],
        mu: f64,
        shortfall: impl Fn(f64, f64, usize) -> f64,
        work: &mut Work,
    ) -> bool {
        if subset.len() > dense_subproblem::MAX_ENTRIES {
            return false;
        }
        let shortfall =
            |&v: &u32| shortfall(self.z[v as usize], self.image[v as usize], v as usize);
        let shortfall: Vec<f64> = subset.iter().map(shortfall).collect();
        let error = mu * (SLACK - 1.0) / 4.0;
        let Some(change) =
            dense_subproblem::solve(self.region, subset, mu, &shortfall, error, work)
        else {
            return false;
        };
        let new = subset.iter().zip(&change);
        let new: Vec<f64> = new.map(|(&v, more)| self.z[v as usize] + more).collect();
        if !new.iter().all(|z| (0.0..RUNAWAY).contains(z)) {
            return false;
        }
        for (&v, &z) in subset.iter().zip(&new) {
            self.set(v as usize, z);
        }
        (self.sums, self.image) = apply_a_and_m(self.region.authority_side(), &self.z, work);
        for (sum, pages) in self.sums.iter_mut().zip(self.region.hub_pages()) {
            *sum *= pages;
        }
        self.test_all();
        true
    }

    /// Recomputes what depends on the raised entries.
    fn update_images(&mut self, work: &mut Work) {
        let hubs = reached(
            &self.violated,
            self.region.citers(),
            &mut self.hub_marks,
            work,
        );
        let sums = sums_of(self.region.rows(), &hubs, &self.weighted, work);
        for (&hub, sum) in hubs.iter().zip(sums) {
            self.sums[hub as usize] = self.region.hub_pages()[hub as usize] * sum;
        }
        self.pending = reached(&hubs, self.region.rows(), &mut self.marks, work);
        let images = sums_of(self.region.citers(), &self.pending, &self.sums, work);
        for (&v, image) in self.pending.iter().zip(images) {
            self.image[v as usize] = image;
        }
    }
}

/// Returns for each of these lists the sum of its entries' weights, in list order.
fn sums_of(lists: &Csr, of: &[u32], weights: &[f64], work: &mut Work) -> Vec<f64> {
    *work += of
        .iter()
        .map(|&list| lists.list(list).len() as u64)
        .sum::<u64>();
    let sum = |&list: &u32| -> f64 {
        let entries = lists.list(list).iter();
        entries.map(|&entry| weights[entry as usize]).sum()
    };
    if of.len() < PARALLEL {
        of.iter().map(sum).collect()
    } else {
        of.par_iter().with_min_len(512).map(sum).collect()
    }
}

/// Returns all entries of these lists, each once; `marks` is all `false` before and afterwards.
fn reached(from: &[u32], lists: &Csr, marks: &mut [bool], work: &mut Work) -> Vec<u32> {
    let mut violated = Vec::new();
    for &list in from {
        let entries = lists.list(list);
        *work += entries.len() as u64;
        for &entry in entries {
            if !std::mem::replace(&mut marks[entry as usize], true) {
                violated.push(entry);
            }
        }
    }
    for &entry in &violated {
        marks[entry as usize] = false;
    }
    violated
}
