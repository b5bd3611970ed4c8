//! Plain power iteration on a region, measured in link visits.
#![allow(unreachable_pub, reason = "a module of a bench")]

use seedbank_algorithms::rank::{Principal, Region};

/// Maximum number of steps.
pub const MOST: u32 = 20_000;

/// Returns the inner product over pages: the products of scores, times the number of pages of each class.
fn dot(pages: &[f64], a: &[f64], b: &[f64]) -> f64 {
    let terms = pages.iter().zip(a).zip(b);
    terms.map(|((pages, a), b)| pages * a * b).sum()
}

/// Returns `A^T A x` for one page of each class.
fn square(region: &Region, x: &[f64]) -> Vec<f64> {
    let sum = |list: &[u32], pages: &[f64], scores: &[f64]| -> f64 {
        let entries = list.iter().map(|&entry| entry as usize);
        entries.map(|entry| pages[entry] * scores[entry]).sum()
    };
    let (rows, citers) = (region.rows(), region.citers());
    let h: Vec<f64> = (0..u32::try_from(rows.len()).unwrap())
        .map(|hub| sum(rows.list(hub), region.authority_pages(), x))
        .collect();
    (0..u32::try_from(citers.len()).unwrap())
        .map(|authority| sum(citers.list(authority), region.hub_pages(), &h))
        .collect()
}

/// Returns `M x` divided by the length of `x`, and the residual `|M x - lambda x| / (lambda |x|)`.
fn step(region: &Region, x: &[f64]) -> (Vec<f64>, f64) {
    let pages = region.authority_pages();
    let image = square(region, x);
    let lambda = dot(pages, x, &image) / dot(pages, x, x);
    let rest: Vec<f64> = image.iter().zip(x).map(|(y, x)| y - lambda * x).collect();
    let residual = (dot(pages, &rest, &rest) / dot(pages, x, x)).sqrt() / lambda;
    let length = dot(pages, &image, &image).sqrt();
    (image.iter().map(|y| y / length).collect(), residual)
}

/// Cost of power iteration from the uniform vector.
pub struct Power {
    pub steps: u32,
    pub visits: u64,
    /// The residual of the solver, which power iteration must reach.
    pub goal: f64,
}

/// Runs power iteration on the region of a solution until it reaches the same residual. Unlike the solver, it
/// does not find the region with the largest sigma, a proof that no larger one exists, or the gap.
pub fn power(found: &Principal) -> Power {
    let region = &found.region;
    // Below rounding there is nothing to reach.
    let goal = step(region, &found.authority_scores).1.max(1e-14);
    let mut x = vec![1.0; region.authorities().len()];
    let mut steps = 0;
    loop {
        let (next, residual) = step(region, &x);
        steps += 1;
        if residual <= goal || steps == MOST {
            break;
        }
        x = next;
    }
    let entries = region.rows().entries().len() as u64;
    Power {
        steps,
        visits: 2 * entries * u64::from(steps),
        goal,
    }
}
