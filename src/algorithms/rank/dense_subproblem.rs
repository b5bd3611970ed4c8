//! What a proof needs on few entries, solved for at once in the place of being raised step by step.
//!
//! On large crawls the entries that a proof has to raise are few, some hundred, and are the pages that half
//! of the web links to: what each raise changes is nearly everything, and a slow approach in many raises
//! costs as many reads of all links. With `S` those entries, the least `z` that violates nothing on `S` is the
//! solution of `(mu - M_SS) (z' - z) = need - mu z`, which has the size of `S`. Whether anything else is
//! violated then is seen by one reading of all links.
//!
//! Where `mu - M_SS` is not positive definite, something on `S` alone is denser than `mu`.

use crate::graph::Csr;

use super::region::Region;
use super::work::Work;

/// The most entries that are solved for: a matrix of 17 MB.
pub(super) const MOST: usize = 2048;
/// The most steps, each of the size of the matrix.
const STEPS: usize = 300;
/// How many sums go side by side, so that one addition need not wait for the one before.
const LANES: usize = 8;

/// The solution of `(mu - M_SS) d = rest` on these positions (ascending, each with pages left), short of
/// `rest` by at most `error` in each entry; `None` if the matrix is not positive definite, or hardly so.
///
/// Source: conjugate gradients (Hestenes and Stiefel 1952), scaled by the diagonal. Cost: the lists of citers
/// of these entries, the squares of how many of them each hub leads to, and for each step the matrix.
pub(super) fn solve(
    region: &Region,
    few: &[u32],
    mu: f64,
    (rest, error): (&[f64], f64),
    work: &mut Work,
) -> Option<Vec<f64>> {
    let pages = few.iter().map(|&at| region.authority_pages()[at as usize]);
    let roots: Vec<f64> = pages.map(f64::sqrt).collect();
    let matrix = matrix(region, few, mu, &roots, work);
    let scale = matrix.iter().map(|row| row.last().copied());
    let scale: Vec<f64> = scale.collect::<Option<_>>()?;
    if !scale.iter().all(|entry| *entry > 0.0) {
        return None;
    }
    let mut left: Vec<f64> = rest.iter().zip(&roots).map(|(r, root)| r * root).collect();
    let mut solution = vec![0.0; few.len()];
    let mut along: Vec<f64> = left.iter().zip(&scale).map(|(r, s)| r / s).collect();
    let mut height = inner(&left, &along);
    for _ in 0..STEPS {
        let is_close = |(left, root): (&f64, &f64)| left.abs() <= error * root;
        if left.iter().zip(&roots).all(is_close) {
            for (entry, root) in solution.iter_mut().zip(&roots) {
                *entry /= root;
            }
            return Some(solution);
        }
        let image = times(&matrix, &along);
        let curve = inner(&along, &image);
        if curve.is_nan() || curve <= 0.0 {
            return None;
        }
        let step = height / curve;
        for (at, entry) in solution.iter_mut().enumerate() {
            *entry += step * along[at];
            left[at] -= step * image[at];
        }
        let scaled: Vec<f64> = left.iter().zip(&scale).map(|(r, s)| r / s).collect();
        let before = std::mem::replace(&mut height, inner(&left, &scaled));
        for (entry, scaled) in along.iter_mut().zip(&scaled) {
            *entry = scaled + height / before * *entry;
        }
    }
    None
}

/// `mu - M_SS` over roots of pages, which is symmetric: the rows up to the diagonal.
fn matrix(region: &Region, few: &[u32], mu: f64, roots: &[f64], work: &mut Work) -> Vec<Vec<f64>> {
    let mut lists = Csr::default();
    for &at in few {
        lists.push(region.citers().list(at).iter().copied());
    }
    work.read(lists.entries().len(), 1);
    let rows = lists.transpose(region.hubs().len());
    let mut lower: Vec<Vec<f64>> = (1..=few.len()).map(|length| vec![0.0; length]).collect();
    for (row, times) in (0..).zip(region.hub_pages()) {
        let row = rows.list(row);
        if *times == 0.0 {
            continue;
        }
        for (count, &i) in (1..).zip(row) {
            let entries = &mut lower[i as usize];
            for &j in &row[..count] {
                entries[j as usize] -= times;
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

/// The product of a symmetric matrix, given by its rows up to the diagonal.
fn times(lower: &[Vec<f64>], x: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; x.len()];
    for (i, row) in lower.iter().enumerate() {
        product[i] += inner(row, &x[..=i]);
        for (product, entry) in product[..i].iter_mut().zip(row) {
            *product += entry * x[i];
        }
    }
    product
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    let (parts, rest) = a.as_chunks::<LANES>();
    let (others, other_rest) = b.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (a, b) in parts.iter().zip(others) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = rest.iter().zip(other_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::region;
    use super::*;
    use crate::graph::number;

    proptest! {
        /// `(mu - M_SS) d` comes out as what was asked for; below the largest value there is no solution.
        #[test]
        fn what_is_solved_gives_what_was_asked_for(
            rows in prop::collection::vec((1_u16.., 1_u32..4), 2..20),
            chosen in prop::collection::btree_set(0_usize..16, 1..16),
            share in 0.5_f64..3.0,
        ) {
            let region = region(&rows).unwrap();
            let size = region.authorities().len();
            let few: Vec<u32> = chosen.into_iter().filter(|at| *at < size).map(number).collect();
            prop_assume!(!few.is_empty());
            let image = |d: &[f64]| -> Vec<f64> {
                let mut all = vec![0.0; size];
                for (&at, d) in few.iter().zip(d) {
                    all[at as usize] = *d;
                }
                let all = region.square(&all, &mut Work::default());
                few.iter().map(|&at| all[at as usize]).collect()
            };
            let mut ones = vec![1.0; few.len()];
            let mut top = 0.0;
            for _ in 0..500 {
                let next = image(&ones);
                top = next.iter().copied().fold(0.0, f64::max);
                ones = next.iter().map(|x| x / top).collect();
            }
            prop_assume!((share - 1.0).abs() > 1e-3);
            let mu = top * share;
            let rest: Vec<f64> = (0..few.len()).map(|at| 1.0 + (at % 3) as f64).collect();
            let solution = solve(&region, &few, mu, (&rest, 1e-3), &mut Work::default());
            prop_assert_eq!(solution.is_some(), share > 1.0, "{}", share);
            if let Some(d) = solution {
                for ((d, image), rest) in d.iter().zip(image(&d)).zip(&rest) {
                    prop_assert!(*d > 0.0);
                    prop_assert!((mu * d - image - rest).abs() <= 1.1e-3);
                }
            }
        }
    }
}
