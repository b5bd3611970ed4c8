//! The principal singular pair of one region: thick-restart Lanczos, power steps, certificate.

use crate::watch::{Interrupted, Watch};

use super::certificate::{Ones, Raising, TIE, VALUE, bound, certify};
use super::principal::{Doubt, Principal};
use super::region::Region;
use super::start_vectors::StartVectors;
use super::thick_restart_lanczos::{Ritz, largest_pairs};
use super::vectors::{add, dot, largest, largest_of, norm, scale};
use super::work::Work;

/// Required accuracy of a solution.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accuracy {
    is_exact: bool,
    /// Error of the vector, in length: residual over gap.
    goal: f64,
    /// Scores below this share of the largest one need not converge.
    faint: f64,
    /// Relative error at which polishing ends.
    settled: f64,
}

/// Enough to order most scores.
pub(super) const FINE: Accuracy = Accuracy {
    is_exact: false,
    goal: 1e-10,
    faint: 1e-3,
    settled: 1e-7,
};

/// Enough to decide ties. Extraction rarely needs scores fainter than `faint`, since the best hub
/// gives every authority that it links to at least `1 / sigma^2` of the best score.
pub(super) const EXACT: Accuracy = Accuracy {
    is_exact: true,
    goal: 1e-12,
    faint: 1e-7,
    settled: 2e-12,
};

/// Smaller gaps cannot be distinguished from rounding.
const MIN_GAP: f64 = 1e-12;
const MAX_STEPS: usize = 150;
const MAX_ATTEMPTS: usize = 4;
const MAX_STARTS: usize = 6;
/// Maximum number of reads of each entry, five times that of the published procedure, for at least
/// [`MIN_ENTRIES`] entries. If the spectrum is flat, no number of reads suffices; what is not
/// proved by then is reported as a doubt.
const MAX_READS: u64 = 600;
const MIN_ENTRIES: usize = 1 << 14;

/// Solves a region from these start vectors.
///
/// A complete region has a closed form: `sigma^2 = |H| |A|`, both vectors constant. Other regions
/// are solved by Lanczos, then power steps: all terms are nonnegative, so the steps make small
/// scores accurate *relatively*, and the largest ratio of each step bounds sigma (Collatz-Wielandt
/// with `y = x`). If that bound is not tight, the certificate with `y = z + C x` is tried; if that
/// fails, the search restarts with weight on the raised pages. Every score has an error bound:
/// extraction requests [`EXACT`] if the bounds of [`FINE`] leave a decision open.
pub(super) fn solve(
    region: Region,
    warm: StartVectors,
    accuracy: Accuracy,
    work: &mut Work,
    watch: &dyn Watch,
) -> Result<Principal, Interrupted> {
    if region.is_complete() {
        return Ok(complete(region));
    }
    let size = region.authorities().len();
    let budget = work.products + MAX_READS * region.rows().entries().len().max(MIN_ENTRIES) as u64;
    let mut ones = None;
    let mut start = warm.truncated(MAX_STARTS).on_authorities(&region, work);
    start.extend(uniform_starts(size));
    let mut smaller: Vec<(f64, Vec<f64>)> = Vec::new();
    let mut attempt = 0;
    loop {
        let ritz = largest_pairs(&region, start, accuracy.goal, budget, work, watch)?;
        let polished = polish(&region, &ritz, accuracy, work);
        attempt += 1;
        let raised = match prove(&region, &polished, &smaller, budget, &mut ones, work) {
            Ok(upper) => {
                return Ok(finish(accuracy, region, polished, ritz, upper, None, work));
            }
            Err(raised) => raised,
        };
        if attempt == MAX_ATTEMPTS || work.products > budget {
            let doubt = Some(Doubt::Value { gap: ritz.gap });
            let upper = polished.upper;
            return Ok(finish(accuracy, region, polished, ritz, upper, doubt, work));
        }
        // Restart from the raised pages, and the certificate from the pairs found smaller.
        let limit = polished.lambda * (1.0 - 1e-8);
        let lower = ritz.values.iter().zip(&ritz.vectors).skip(1);
        smaller = lower
            .filter(|(value, _)| **value < limit)
            .map(|(value, vector)| (*value, vector.clone()))
            .collect();
        let top = largest(&raised);
        let raised: Vec<f64> = raised.iter().map(|z| (z - 1.0) / top).collect();
        start = vec![raised];
        start.extend(ritz.vectors);
        start.extend(uniform_starts(size));
    }
}

/// Returns two start vectors with weight everywhere, one of them without symmetry. From a single
/// one Lanczos would find only one vector of two equally dense places, and overestimate the gap.
fn uniform_starts(size: usize) -> [Vec<f64>; 2] {
    let golden = 0.618_033_988_749_894_9;
    let uneven = (1..=size).map(|i| 0.5 + (golden * i as f64).fract());
    [uneven.collect(), vec![1.0; size]]
}

struct Polished {
    x: Vec<f64>,
    /// The vector of the previous step; its image is `x` up to length.
    previous: Vec<f64>,
    image: Vec<f64>,
    lambda: f64,
    /// Proved upper bound on the largest eigenvalue.
    upper: f64,
    /// Upper bound on the relative error of scores that are not faint.
    change: f64,
}

/// Runs power steps until the scores that are not faint no longer change.
///
/// Each step reduces an error to at most `1 - gap` of itself, so the change in a step, over the
/// gap, bounds the remaining error of a score. Scores that are not faint are held to the largest of
/// these bounds.
fn polish(region: &Region, ritz: &Ritz, accuracy: Accuracy, work: &mut Work) -> Polished {
    let pages = region.authority_pages();
    let gap = ritz.gap.max(MIN_GAP);
    let mut x: Vec<f64> = ritz.vectors.first().map_or_else(
        || vec![1.0; pages.len()],
        |vector| vector.iter().map(|entry| entry.abs()).collect(),
    );
    let mut polished = Polished {
        x: Vec::new(),
        previous: Vec::new(),
        image: Vec::new(),
        lambda: 0.0,
        upper: f64::INFINITY,
        change: f64::INFINITY,
    };
    let mut best = f64::INFINITY;
    let mut stale = 0;
    for _ in 0..MAX_STEPS {
        let mut y = region.apply_m(&x, work);
        let lambda = dot(pages, &x, &y) / dot(pages, &x, &x);
        polished.lambda = lambda;
        polished.upper = polished.upper.min(bound(region, &x, &y));
        // Faint scores converge last and decide nothing.
        let faint = largest(&x) * accuracy.faint;
        let change = largest_of(x.len(), |at| {
            let (x, y) = (x[at], y[at]);
            if x >= faint {
                (y / (lambda * x) - 1.0).abs() / gap
            } else {
                0.0
            }
        });
        polished.change = change;
        polished.image.clone_from(&y);
        let length = norm(pages, &y);
        scale(&mut y, 1.0 / length);
        polished.previous = std::mem::replace(&mut x, y);
        // Rounding stops the progress at some point.
        stale += 1;
        if change < best * 0.8 {
            (best, stale) = (change, 0);
        }
        if change <= accuracy.settled || stale >= 25 {
            break;
        }
    }
    polished.x = x;
    polished
}

/// Returns the proved upper bound of the largest eigenvalue, or the raised `z`, after at most
/// `budget` products in all.
fn prove(
    region: &Region,
    polished: &Polished,
    smaller: &[(f64, Vec<f64>)],
    budget: u64,
    ones: &mut Option<Ones>,
    work: &mut Work,
) -> Result<f64, Vec<f64>> {
    let lambda = polished.lambda;
    if polished.upper <= lambda * (1.0 + TIE.tau) {
        return Ok(polished.upper);
    }
    let ones = ones.get_or_insert_with(|| Ones::new(region, work));
    let (mut x, mut image) = (polished.previous.clone(), polished.image.clone());
    let top = largest(&x);
    scale(&mut x, 1.0 / top);
    scale(&mut image, 1.0 / top);
    // `z` may also start from vectors of places known to be smaller, and then need not be raised
    // slowly there if such a place is nearly as large.
    let mut z = vec![1.0; x.len()];
    let highest = largest(&ones.image);
    for (value, vector) in smaller {
        let local: Vec<f64> = vector.iter().map(|entry| entry.abs()).collect();
        add(&mut z, highest / (lambda - value) / largest(&local), &local);
    }
    let mut raising = if smaller.is_empty() {
        Raising::from_ones(region, ones)
    } else {
        Raising::new(region, z, work)
    };
    let mut upper = lambda;
    for tightness in [VALUE, TIE] {
        if !certify(&mut raising, lambda, &x, &image, tightness, work, budget) {
            return Err(raising.into_z());
        }
        upper = lambda * (1.0 + tightness.tau);
    }
    Ok(upper)
}

fn finish(
    accuracy: Accuracy,
    region: Region,
    polished: Polished,
    ritz: Ritz,
    upper: f64,
    doubt: Option<Doubt>,
    work: &mut Work,
) -> Principal {
    let mut hub_scores = region.apply_a(&polished.x, work);
    let sigma = norm(region.hub_pages(), &hub_scores);
    scale(&mut hub_scores, 1.0 / sigma);
    let gap = ritz.gap.max(0.0);
    let error = ritz.residual / gap;
    let is_unclear = gap <= MIN_GAP || error.is_nan();
    let doubt = doubt.or_else(|| is_unclear.then_some(Doubt::Vector { gap, error }));
    let relative = polished.change.max(1e-14);
    let previous = polished.previous.iter().zip(&polished.image);
    let min_gap = gap.max(MIN_GAP);
    let changes = previous.map(|(x, y)| (y / polished.lambda - x).abs() / min_gap);
    let errors = polished.x.iter().zip(changes);
    let authority_errors: Vec<f64> = errors
        .map(|(x, changes)| changes.max(x * relative))
        .collect();
    let mut hub_errors = region.apply_a(&authority_errors, work);
    scale(&mut hub_errors, 1.0 / sigma);
    Principal {
        sigma,
        upper: upper.sqrt() * (1.0 + 1e-15),
        gap,
        authority_scores: polished.x,
        hub_scores,
        authority_errors,
        hub_errors,
        doubt,
        is_exact: accuracy.is_exact,
        is_refined: true,
        ritz_vectors: StartVectors::Authorities(ritz.vectors),
        region,
    }
}

fn complete(region: Region) -> Principal {
    let hubs: f64 = region.hub_pages().iter().sum();
    let authorities: f64 = region.authority_pages().iter().sum();
    let sigma = (hubs * authorities).sqrt();
    Principal {
        sigma,
        upper: sigma * (1.0 + 1e-15),
        gap: 1.0,
        hub_errors: vec![1e-15; region.hubs().len()],
        authority_errors: vec![1e-15; region.authorities().len()],
        hub_scores: vec![1.0 / hubs.sqrt(); region.hubs().len()],
        authority_scores: vec![1.0 / authorities.sqrt(); region.authorities().len()],
        doubt: None,
        is_exact: true,
        is_refined: true,
        ritz_vectors: StartVectors::default(),
        region,
    }
}
