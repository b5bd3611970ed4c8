//! A small dense subsystem of the certificate, solved directly instead of by raising its entries.
//!
//! On large crawls a proof must raise only some hundred entries: the pages that half of the web
//! links to. Each raise changes nearly everything, so that slow convergence would cost many reads
//! of all links. With `S` those entries, the least `z` without violations on `S` is the solution of
//! `(mu - M_SS) (z' - z) = need - mu z`, a system of the size of `S`. One read of all links then
//! tells whether another entry is violated.
//!
//! If `mu - M_SS` is not positive definite, a place on `S` alone is denser than `mu`.

use crate::graph::Csr;

use super::region::Region;
use super::work::Work;

/// Maximum number of entries: a matrix of 17 MB.
pub(super) const MAX_ENTRIES: usize = 2048;
const MAX_STEPS: usize = 300;
/// Independent partial sums, so that additions do not wait for each other.
const LANES: usize = 8;

/// Solves `(mu - M_SS) d = rhs` on these positions (ascending, each with remaining pages). The
/// residual of each entry is at most `error`. `None` if the matrix is not positive definite, or
/// nearly singular.
///
/// Source: conjugate gradients (Hestenes and Stiefel 1952) with diagonal preconditioning. Cost: the
/// citers of these entries, for each hub the square of its number of links to them, and one product
/// with the matrix per step.
pub(super) fn solve(
    region: &Region,
    subset: &[u32],
    mu: f64,
    rhs: &[f64],
    error: f64,
    work: &mut Work,
) -> Option<Vec<f64>> {
    let pages = subset
        .iter()
        .map(|&at| region.authority_pages()[at as usize]);
    let roots: Vec<f64> = pages.map(f64::sqrt).collect();
    let matrix = matrix(region, subset, mu, &roots, work);
    let diagonal = matrix.iter().map(|row| row.last().copied());
    let diagonal: Vec<f64> = diagonal.collect::<Option<_>>()?;
    if !diagonal.iter().all(|entry| *entry > 0.0) {
        return None;
    }
    let mut residual: Vec<f64> = rhs.iter().zip(&roots).map(|(r, root)| r * root).collect();
    let mut solution = vec![0.0; subset.len()];
    let mut direction: Vec<f64> = residual.iter().zip(&diagonal).map(|(r, s)| r / s).collect();
    let mut rho = dot(&residual, &direction);
    for _ in 0..MAX_STEPS {
        let is_close = |(residual, root): (&f64, &f64)| residual.abs() <= error * root;
        if residual.iter().zip(&roots).all(is_close) {
            for (entry, root) in solution.iter_mut().zip(&roots) {
                *entry /= root;
            }
            return Some(solution);
        }
        let image = multiply(&matrix, &direction);
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
    subset: &[u32],
    mu: f64,
    roots: &[f64],
    work: &mut Work,
) -> Vec<Vec<f64>> {
    let mut lists = Csr::default();
    for &at in subset {
        lists.push(region.citers().list(at).iter().copied());
    }
    work.read(lists.entries().len(), 1);
    let rows = lists.transpose(region.hubs().len());
    let mut lower: Vec<Vec<f64>> = (1..=subset.len()).map(|length| vec![0.0; length]).collect();
    for (row, pages) in (0..).zip(region.hub_pages()) {
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
    for (i, entries) in lower.iter_mut().enumerate() {
        for (entry, root) in entries.iter_mut().zip(roots) {
            *entry *= root * roots[i];
        }
        entries[i] += mu;
    }
    lower
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
            let solution = solve(&region, &subset, mu, &rhs, 1e-3, &mut Work::default());
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
