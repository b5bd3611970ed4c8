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
//! Where `x` is not tiny, `C (M x - mu x) = -C tau lambda x` (up to the residual) pays for
//! everything; elsewhere `z` starts from 1 and is raised to what its row needs, until nothing is
//! violated. The raising climbs from below to the least solution. If the spectral radius of `M`
//! away from the support of `x` is below `mu`, it converges, and each raise is a little more than
//! needed, so that it ends after finitely many; if it is above, `z` grows without end like a power
//! iteration towards the denser place, and the raised entries say where that is.
//!
//! **Conditions and numerical care.**
//! * The *computed* `M x` is used, so the residual is in the inequality: with `C = 1e9` a residual
//!   of 1e-10 is 0.1. It need not be small for the proof to be right, only for it to settle.
//! * All terms are nonnegative except `- C mu x`. A sum of nonnegative products of at most `n`
//!   terms, computed in any order, has a relative error below `1.1 n eps`; two are nested.
//!   [`Region::rounding`] bounds both; `(M z)` and `(M x)` are inflated by it, `mu x` and `mu z`
//!   are deflated by `4 eps`, so a comparison that holds in floating point holds exactly.
//!   For `tau` no larger than that bound nothing can settle, and nothing is accepted.
//! * Where what is violated is cited from all over, [`dense_subproblem`] solves for it at once; all images are computed
//!   anew then. Elsewhere raising works only on what is near violated entries. The sums and images that a raise changes
//!   are computed anew as a whole, never updated by a difference, so they stay what a fresh `M z`
//!   would be. When raising ends, every entry is tested once more. Only that last test accepts.
//! * What is proved is the value, within `tau`: not the vector, and not which of two places within
//!   `tau` of each other is first. Hence the second, tighter proof in [`super::solve`], and in
//!   [`super::large_region`] where a second pair or another region comes near.

use rayon::prelude::*;

use crate::graph::{Csr, number};

use super::dense_subproblem;
use super::region::Region;
use super::vector_block::square_of;
use super::vectors::largest_of;
use super::work::Work;

/// How many rounds of raising there are before giving up.
const ROUNDS: usize = 1500;
/// Fewer sums than this are done by one thread.
const PARALLEL: usize = 1 << 12;
/// How often few entries are solved for at once, where that costs less than raising them.
const SOLVED: usize = 12;
/// They get a little more than they need, so that it ends.
const SPARE: f64 = 1.01;
/// Entries that more than one part in so many of the hubs lead to, counted for each, change nearly everything.
const WIDE: usize = 32;
/// A `z` that has grown beyond this is on its way to infinity.
const RUNAWAY: f64 = 1e15;

/// How tight a proof is asked for: `mu = lambda (1 + tau)`, and the weight `C` of the candidate.
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

/// An upper bound on the largest eigenvalue, from one positive vector and its computed image.
pub(super) fn bound(region: &Region, x: &[f64], image: &[f64]) -> f64 {
    let pages = region.authority_pages();
    let ratio = |at: usize| {
        if pages[at] == 0.0 {
            // A class of which nothing is left takes no part.
            0.0
        } else if x[at] > f64::MIN_POSITIVE {
            image[at] / x[at]
        } else {
            f64::INFINITY
        }
    };
    largest_of(x.len(), ratio) * (1.0 + region.rounding())
}

/// Tries to prove that no eigenvalue exceeds `lambda (1 + tau)`, starting from a `z` of at least 1
/// everywhere. `x` has largest entry 1, `image` is the computed `M x`. If it is proved, the raised
/// `z` may serve as the start of a tighter proof; if not, `z` is large where something denser may
/// be. The attempt is given up after more than `most` visits.
pub(super) fn certify(
    raising: &mut Raising<'_>,
    lambda: f64,
    (x, image): (&[f64], &[f64]),
    tightness: Tightness,
    work: &mut Work,
    most: u64,
) -> bool {
    let inflate = 1.0 + raising.region.rounding();
    let mu = lambda * (1.0 + tightness.tau);
    let deflated = mu * (1.0 - 4.0 * f64::EPSILON);
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
            // A class of which nothing is left needs nothing.
            0.0
        }
    };
    raising.look_everywhere();
    let violates = |z: f64, image: f64, v: usize| need(image, v) > deflated * z;
    let (mut round, mut few, mut solved) = (0, Vec::new(), 0);
    loop {
        raising.find(violates);
        if raising.found.is_empty() {
            let entries = raising.z.iter().zip(&raising.image).enumerate();
            let holds =
                |(v, (&z, &image)): (usize, (&f64, &f64))| z > 0.0 && !violates(z, image, v);
            return entries.into_iter().all(holds);
        }
        if solved < SOLVED && raising.is_wide() {
            few = union(&few, &raising.found);
            let short = |z: f64, image: f64, v: usize| need(image, v) * SPARE - deflated * z;
            if raising.solve(&few, deflated, short, work) {
                solved += 1;
                continue;
            }
            solved = SOLVED;
        }
        let step = match round {
            0..60 => 1.01,
            60..250 => 1.0 + 1e-4,
            _ => 1.0 + 1e-7,
        };
        let largest = raising.raise(|image, v| need(image, v) / deflated * step);
        if round == ROUNDS || largest >= RUNAWAY || work.products > most {
            return false;
        }
        raising.spread(work);
        round += 1;
    }
}

/// Two ascending lists as one, each number once.
fn union(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut union = [a, b].concat();
    union.sort_unstable();
    union.dedup();
    union
}

/// The images of the vector of ones, from which raising starts.
#[derive(Clone, Debug)]
pub(super) struct Ones {
    /// `A 1`: the number of links of one page of each hub class.
    pub(super) sums: Vec<f64>,
    /// `M 1`: the row sums.
    pub(super) image: Vec<f64>,
}

impl Ones {
    /// Cost: one visit of each entry.
    pub(super) fn of(region: &Region, work: &mut Work) -> Self {
        let ones = vec![1.0; region.authorities().len()];
        let (sums, image) = square_of(region.of_authorities(), &ones, work);
        Self { sums, image }
    }
}

/// `z` with its images under `A` and `M`, kept up to date near what was raised.
pub(super) struct Raising<'a> {
    region: &'a Region,
    z: Vec<f64>,
    /// `z`, multiplied by the number of pages of each authority class.
    weighted: Vec<f64>,
    /// `A z`, multiplied by the number of pages of each hub class.
    sums: Vec<f64>,
    image: Vec<f64>,
    /// Entries whose image changed and that have to be tested.
    pending: Vec<u32>,
    /// Entries that are to be raised.
    found: Vec<u32>,
    hub_marks: Vec<bool>,
    marks: Vec<bool>,
}

impl<'a> Raising<'a> {
    /// Cost: two visits of each entry.
    pub(super) fn new(region: &'a Region, z: Vec<f64>, work: &mut Work) -> Self {
        let sums = region.lead(&z, work);
        let image = region.cite(&sums, work);
        Self::with(region, z, sums, image)
    }

    /// Starts from 1, whose sums and image are known.
    pub(super) fn of_ones(region: &'a Region, ones: &Ones) -> Self {
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
            found: Vec::new(),
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

    fn look_everywhere(&mut self) {
        self.pending = (0..number(self.z.len())).collect();
    }

    /// Finds the pending entries that are to be raised.
    fn find(&mut self, violates: impl Fn(f64, f64, usize) -> bool) {
        self.found.clear();
        let is_found = |v: &&u32| {
            let at = **v as usize;
            violates(self.z[at], self.image[at], at)
        };
        self.found.extend(self.pending.iter().filter(is_found));
    }

    /// Whether what depends on the found entries is most of what there is.
    fn is_wide(&self) -> bool {
        let citers = |v: &u32| self.region.citers().list(*v).len();
        let hubs: usize = self.found.iter().map(citers).sum();
        hubs > self.region.hubs().len() / WIDE
    }

    fn set(&mut self, at: usize, z: f64) {
        self.z[at] = z;
        self.weighted[at] = self.region.authority_pages()[at] * z;
    }

    /// Raises the found entries to what `raise` says of their images; returns the largest.
    fn raise(&mut self, raise: impl Fn(f64, usize) -> f64) -> f64 {
        let mut largest = 0.0_f64;
        for found in 0..self.found.len() {
            let at = self.found[found] as usize;
            let new = raise(self.image[at], at);
            self.set(at, new);
            largest = largest.max(new);
        }
        largest
    }

    /// Changes these entries (ascending) so that they are short by nothing, as far as they depend on each
    /// other, and computes all images anew; `false`, and nothing is changed, if that cannot be done.
    fn solve(
        &mut self,
        few: &[u32],
        mu: f64,
        short: impl Fn(f64, f64, usize) -> f64,
        work: &mut Work,
    ) -> bool {
        if few.len() > dense_subproblem::MOST {
            return false;
        }
        let short = |&v: &u32| short(self.z[v as usize], self.image[v as usize], v as usize);
        let short: Vec<f64> = few.iter().map(short).collect();
        let error = mu * (SPARE - 1.0) / 4.0;
        let Some(change) = dense_subproblem::solve(self.region, few, mu, (&short, error), work)
        else {
            return false;
        };
        let new = few.iter().zip(&change);
        let new: Vec<f64> = new.map(|(&v, more)| self.z[v as usize] + more).collect();
        if !new.iter().all(|z| (0.0..RUNAWAY).contains(z)) {
            return false;
        }
        for (&v, &z) in few.iter().zip(&new) {
            self.set(v as usize, z);
        }
        (self.sums, self.image) = square_of(self.region.of_authorities(), &self.z, work);
        for (sum, pages) in self.sums.iter_mut().zip(self.region.hub_pages()) {
            *sum *= pages;
        }
        self.look_everywhere();
        true
    }

    /// Recomputes what depends on the raised entries.
    fn spread(&mut self, work: &mut Work) {
        let hubs = reached(&self.found, self.region.citers(), &mut self.hub_marks, work);
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

/// For each of these lists the sum of its entries' weights, in list order.
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

/// All entries of these lists, each once; `marks` is all `false` before and afterwards.
fn reached(from: &[u32], lists: &Csr, marks: &mut [bool], work: &mut Work) -> Vec<u32> {
    let mut found = Vec::new();
    for &list in from {
        let entries = lists.list(list);
        *work += entries.len() as u64;
        for &entry in entries {
            if !std::mem::replace(&mut marks[entry as usize], true) {
                found.push(entry);
            }
        }
    }
    for &entry in &found {
        marks[entry as usize] = false;
    }
    found
}
