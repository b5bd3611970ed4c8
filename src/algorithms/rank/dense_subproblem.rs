//! A small dense subsystem of the certificate, solved directly instead of by raising its entries.
//!
//! On large crawls a proof must raise only some hundred entries: the pages that half of the web
//! links to. Each raise changes nearly everything, so that slow convergence would cost many reads
//! of all links. With `S` those entries, the least `z` without violations on `S` is the solution of
//! `(mu - M_SS) (z' - z) = need - mu z`, a system of the size of `S`. One read of all links then
//! tells whether another entry is violated.
//!
//! If `mu - M_SS` is not positive definite, a place on `S` alone is denser than `mu`.

use crate::graph::codec::{Decoder, Encoder};
use crate::graph::exchange;
use crate::graph::{Csr, NONE, Role, number};
use crate::watch::Interrupted;

use super::region::Region;
use super::work::Work;

/// Maximum number of entries: a matrix of 17 MB.
pub(super) const MAX_ENTRIES: usize = 2048;
const MAX_STEPS: usize = 300;
/// Independent partial sums, so that additions do not wait for each other.
const LANES: usize = 8;

/// Authorities with remaining pages, of all processes, in an order that is the same in all of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Subset {
    /// Positions, ascending; on a share the smallest pages of the classes.
    keys: Vec<u32>,
    /// The own ones: their places among all of them, and their positions.
    own: Vec<(u32, u32)>,
}

impl Subset {
    /// Adds own positions of all processes.
    pub(super) fn union(&self, region: &Region, own: &[u32]) -> Result<Self, Interrupted> {
        let mut keys = self.keys.clone();
        let Some(share) = &region.share else {
            keys.extend(own);
            keys.sort_unstable();
            keys.dedup();
            let own = (0..).zip(keys.iter().copied()).collect();
            return Ok(Self { keys, own });
        };
        let mut message = Encoder::default();
        let ids = share.side(Role::Authority).ids();
        for &at in own {
            message.number(ids[at as usize].into());
        }
        for message in exchange::gather(share.communicator(), message)? {
            let mut message = Decoder(&message);
            while !message.0.is_empty() {
                keys.push(message.index().ok_or_else(|| share.malformed())?);
            }
        }
        keys.sort_unstable();
        keys.dedup();
        let process = share.communicator().process();
        let own = (0..).zip(&keys).filter_map(|(place, key)| {
            let class = share.local(Role::Authority, process, *key)?;
            Some((place, class))
        });
        Ok(Self {
            own: own.collect(),
            keys,
        })
    }

    /// Returns the number of entries in all processes.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns the own entries: their places among all of them, and their positions.
    pub(super) fn own(&self) -> &[(u32, u32)] {
        &self.own
    }

    /// Returns what is known of each entry, given that of own positions.
    pub(super) fn gather<const N: usize>(
        &self,
        region: &Region,
        known: impl Fn(usize) -> [f64; N],
    ) -> Result<Vec<[f64; N]>, Interrupted> {
        let mut all = vec![[0.0; N]; self.len()];
        let mut message = Encoder::default();
        for &(place, at) in &self.own {
            let known = known(at as usize);
            all[place as usize] = known;
            if region.share.is_some() {
                message.number(place.into());
                let known = known.into_iter();
                message.0.extend(known.flat_map(f64::to_le_bytes));
            }
        }
        let Some(share) = &region.share else {
            return Ok(all);
        };
        for message in exchange::gather(share.communicator(), message)? {
            let mut message = Decoder(&message);
            while !message.0.is_empty() {
                let place = message
                    .index()
                    .and_then(|place| all.get_mut(place as usize));
                let known = place.ok_or_else(|| share.malformed())?;
                for known in known {
                    let number = message.0.split_first_chunk();
                    let (bytes, rest) = number.ok_or_else(|| share.malformed())?;
                    (*known, message.0) = (f64::from_le_bytes(*bytes), rest);
                }
            }
        }
        Ok(all)
    }

    /// Returns the position of each entry that this process has links with.
    fn local(&self, region: &Region) -> Result<Vec<u32>, Interrupted> {
        let mut positions = vec![NONE; self.len()];
        for &(place, at) in &self.own {
            positions[place as usize] = at;
        }
        let places = self.own.iter().map(|&(place, at)| (at, f64::from(place)));
        let places: Vec<(u32, f64)> = places.collect();
        for (ghost, place) in region.announce(Role::Authority, &places)? {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "places were converted exactly; a float out of range becomes the nearest number"
            )]
            if let Some(position) = positions.get_mut(place as usize) {
                *position = ghost;
            }
        }
        Ok(positions)
    }
}

/// Solves `(mu - M_SS) d = rhs` on these entries, given the pages and the right-hand side of each. The
/// residual of each entry is at most `error`. `None` if the matrix is not positive definite, or
/// nearly singular.
///
/// Source: conjugate gradients (Hestenes and Stiefel 1952) with diagonal preconditioning. Cost: the
/// citers of these entries, for each hub the square of its number of links to them, and one product
/// with the matrix per step. Several processes send each other the parts of the matrix that come from their hubs, at
/// most 2,100,000 numbers of pages; sums of them are exact, and all processes solve the system.
pub(super) fn solve(
    region: &Region,
    subset: &Subset,
    mu: f64,
    pages: &[f64],
    rhs: &[f64],
    error: f64,
    work: &mut Work,
) -> Result<Option<Vec<f64>>, Interrupted> {
    let roots: Vec<f64> = pages.iter().map(|pages| pages.sqrt()).collect();
    let matrix = matrix(region, subset, mu, &roots, work)?;
    Ok(solution(&matrix, &roots, rhs, error))
}

/// Solves a system given by the lower triangle of its matrix, scaled by `roots`.
fn solution(matrix: &[Vec<f64>], roots: &[f64], rhs: &[f64], error: f64) -> Option<Vec<f64>> {
    let diagonal = matrix.iter().map(|row| row.last().copied());
    let diagonal: Vec<f64> = diagonal.collect::<Option<_>>()?;
    if !diagonal.iter().all(|entry| *entry > 0.0) {
        return None;
    }
    let mut residual: Vec<f64> = rhs.iter().zip(roots).map(|(r, root)| r * root).collect();
    let mut solution = vec![0.0; rhs.len()];
    let mut direction: Vec<f64> = residual.iter().zip(&diagonal).map(|(r, s)| r / s).collect();
    let mut rho = dot(&residual, &direction);
    for _ in 0..MAX_STEPS {
        let is_close = |(residual, root): (&f64, &f64)| residual.abs() <= error * root;
        if residual.iter().zip(roots).all(is_close) {
            for (entry, root) in solution.iter_mut().zip(roots) {
                *entry /= root;
            }
            return Some(solution);
        }
        let image = multiply(matrix, &direction);
        let curvature = dot(&direction, &image);
        if curvature.is_nan() || curvature <= 0.0 {
            return None;
        }
        let alpha = rho / curvature;
        for (at, entry) in solution.iter_mut().enumerate() {
            *entry += alpha * direction[at];
            residual[at] -= alpha * image[at];
        }
        let preconditioned: Vec<f64> = residual.iter().zip(&diagonal).map(|(r, s)| r / s).collect();
        let previous_rho = std::mem::replace(&mut rho, dot(&residual, &preconditioned));
        for (entry, preconditioned) in direction.iter_mut().zip(&preconditioned) {
            *entry = preconditioned + rho / previous_rho * *entry;
        }
    }
    None
}

/// Returns the lower triangle of `mu - M_SS`, scaled by roots of pages so that it is symmetric.
fn matrix(
    region: &Region,
    subset: &Subset,
    mu: f64,
    roots: &[f64],
    work: &mut Work,
) -> Result<Vec<Vec<f64>>, Interrupted> {
    let mut lists = Csr::default();
    let own = number(region.own(Role::Hub));
    for at in subset.local(region)? {
        let citers = if at == NONE {
            &[]
        } else {
            region.citers().list(at)
        };
        lists.push(citers.iter().copied().filter(|hub| *hub < own));
    }
    work.read(lists.entries().len(), 1);
    let rows = lists.transpose(region.own(Role::Hub));
    let mut lower: Vec<Vec<f64>> = (1..=subset.len()).map(|length| vec![0.0; length]).collect();
    for (row, pages) in (0..).zip(region.own_pages(Role::Hub)) {
        let row = rows.list(row);
        if *pages == 0.0 {
            continue;
        }
        for (count, &i) in (1..).zip(row) {
            let entries = &mut lower[i as usize];
            for &j in &row[..count] {
                entries[j as usize] -= pages;
            }
        }
    }
    if let Some(share) = &region.share {
        let mut message = Encoder::default();
        for entry in lower.iter().flatten() {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "an entry is a number of pages"
            )]
            message.number(-*entry as u64);
        }
        let received = exchange::gather(share.communicator(), message)?;
        lower.iter_mut().flatten().for_each(|entry| *entry = 0.0);
        for message in &received {
            let mut message = Decoder(message);
            for entry in lower.iter_mut().flatten() {
                let pages = message.number().ok_or_else(|| share.malformed())?;
                *entry -= pages as f64;
            }
        }
    }
    for (i, entries) in lower.iter_mut().enumerate() {
        for (entry, root) in entries.iter_mut().zip(roots) {
            *entry *= root * roots[i];
        }
        entries[i] += mu;
    }
    Ok(lower)
}

/// Multiplies a symmetric matrix given by its lower triangle.
fn multiply(lower: &[Vec<f64>], x: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; x.len()];
    for (i, row) in lower.iter().enumerate() {
        product[i] += dot(row, &x[..=i]);
        for (product, entry) in product[..i].iter_mut().zip(row) {
            *product += entry * x[i];
        }
    }
    product
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (parts, tail) = a.as_chunks::<LANES>();
    let (others, other_tail) = b.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (a, b) in parts.iter().zip(others) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let tail: f64 = tail.iter().zip(other_tail).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + tail
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::region;
    use super::*;
    use crate::graph::number;

    proptest! {
        /// `(mu - M_SS) d` equals the right-hand side; below the largest eigenvalue there is no solution.
        #[test]
        fn a_solution_satisfies_its_equations(
            rows in prop::collection::vec((1_u16.., 1_u32..4), 2..20),
            chosen in prop::collection::btree_set(0_usize..16, 1..16),
            share in 0.5_f64..3.0,
        ) {
            let region = region(&rows).unwrap();
            let size = region.authorities().len();
            let subset: Vec<u32> = chosen.into_iter().filter(|at| *at < size).map(number).collect();
            prop_assume!(!subset.is_empty());
            let all = Subset::default().union(&region, &subset).unwrap();
            let image = |d: &[f64]| -> Vec<f64> {
                let mut all = vec![0.0; size];
                for (&at, d) in subset.iter().zip(d) {
                    all[at as usize] = *d;
                }
                let all = region.apply_m(&all, &mut Work::default());
                subset.iter().map(|&at| all[at as usize]).collect()
            };
            let mut ones = vec![1.0; subset.len()];
            let mut top = 0.0;
            for _ in 0..500 {
                let next = image(&ones);
                top = next.iter().copied().fold(0.0, f64::max);
                ones = next.iter().map(|x| x / top).collect();
            }
            prop_assume!((share - 1.0).abs() > 1e-3);
            let mu = top * share;
            let rhs: Vec<f64> = (0..subset.len()).map(|at| 1.0 + (at % 3) as f64).collect();
            let pages = subset.iter().map(|at| region.authority_pages()[*at as usize]);
            let pages: Vec<f64> = pages.collect();
            let solution = solve(&region, &all, mu, &pages, &rhs, 1e-3, &mut Work::default());
            let solution = solution.unwrap();
            prop_assert_eq!(solution.is_some(), share > 1.0, "{}", share);
            if let Some(d) = solution {
                for ((d, image), rhs) in d.iter().zip(image(&d)).zip(&rhs) {
                    prop_assert!(*d > 0.0);
                    prop_assert!((mu * d - image - rhs).abs() <= 1.1e-3);
                }
            }
        }
    }
}
