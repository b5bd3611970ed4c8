//! The principal singular pair of one region: found, polished, proved.

use crate::watch::{Interrupted, Watch};

use super::certificate::{Ones, Raising, TIE, VALUE, bound, certify};
use super::principal::{Doubt, Principal};
use super::region::Region;
use super::start_vectors::StartVectors;
use super::thick_restart_lanczos::{Ritz, largest_pairs};
use super::vectors::{add, dot, largest, largest_of, norm, scale};
use super::work::Work;

/// How accurate a solution is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accuracy {
    is_exact: bool,
    /// The goal for the error of the vector, in length: residual over gap.
    goal: f64,
    /// Scores below this share of the largest one are not waited for.
    faint: f64,
    /// The relative error at which polishing ends.
    settled: f64,
}

/// Enough to tell most scores apart.
pub(super) const FINE: Accuracy = Accuracy {
    is_exact: false,
    goal: 1e-10,
    faint: 1e-3,
    settled: 1e-7,
};

/// Enough to tell ties. Extraction hardly meets scores fainter than that, since the best hub gives
/// every authority it leads to at least `1 / sigma^2` of the best score.
pub(super) const EXACT: Accuracy = Accuracy {
    is_exact: true,
    goal: 1e-12,
    faint: 1e-7,
    settled: 2e-12,
};

/// A gap smaller than this cannot be told from rounding.
const SEPARATE: f64 = 1e-12;
/// The most power steps.
const STEPS: usize = 150;
const ATTEMPTS: usize = 4;
/// The most vectors to start from.
const STARTS: usize = 6;
/// How often each entry is read at most, five times as often as by the published procedure, and the fewest
/// entries that this is counted for. Where the spectrum is flat, no number of reads would do; what is not
/// proven then is told.
const READS: u64 = 600;
const ENTRIES: usize = 1 << 14;

/// Solves a region, from vectors that may be good starts.
///
/// A complete region has a closed form: `sigma^2 = |H| |A|`, both vectors constant. Any other is
/// solved by Lanczos and then power steps: all terms are nonnegative, so the steps make small
/// scores accurate *relatively*, and the largest ratio of each step bounds sigma (Collatz-Wielandt
/// with `y = x`). Where that bound is not tight, the certificate with `y = z + C x` is tried; where
/// that does not settle, all starts again with weight on the raised pages. Every score comes with a
/// bound on its error: extraction asks for [`EXACT`] where the bounds of [`FINE`] do not decide.
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
    let most = work.products + READS * region.rows().entries().len().max(ENTRIES) as u64;
    let mut ones = None;
    let mut start = warm.truncated(STARTS).on_authorities(&region, work);
    start.extend(everywhere(size));
    let mut known: Vec<(f64, Vec<f64>)> = Vec::new();
    let mut attempt = 0;
    loop {
        let ritz = largest_pairs(&region, start, (accuracy.goal, most), work, watch)?;
        let polished = polish(&region, &ritz, accuracy, work);
        attempt += 1;
        let raised = match prove(&region, &polished, (&known, most), &mut ones, work) {
            Ok(upper) => {
                return Ok(finish(accuracy, region, polished, ritz, upper, None, work));
            }
            Err(raised) => raised,
        };
        if attempt == ATTEMPTS || work.products > most {
            let doubt = Some(Doubt::Value { gap: ritz.gap });
            let upper = polished.upper;
            return Ok(finish(accuracy, region, polished, ritz, upper, doubt, work));
        }
        let limit = polished.lambda * (1.0 - 1e-8);
        let lower = ritz.values.iter().zip(&ritz.vectors).skip(1);
        known = lower
            .filter(|(value, _)| **value < limit)
            .map(|(value, vector)| (*value, vector.clone()))
            .collect();
        let top = largest(&raised);
        let raised: Vec<f64> = raised.iter().map(|z| (z - 1.0) / top).collect();
        start = vec![raised];
        start.extend(ritz.vectors);
        start.extend(everywhere(size));
    }
}

/// Two starts with weight everywhere, one of them without symmetry. From a single one Lanczos would
/// meet only one vector of two equally dense places, and overestimate the gap.
fn everywhere(size: usize) -> [Vec<f64>; 2] {
    let golden = 0.618_033_988_749_894_9;
    let uneven = (1..=size).map(|i| 0.5 + (golden * i as f64).fract());
    [uneven.collect(), vec![1.0; size]]
}

struct Polished {
    x: Vec<f64>,
    /// The vector of the previous step and its image, which is `x` up to its length.
    before: Vec<f64>,
    image: Vec<f64>,
    lambda: f64,
    /// A proved upper bound on the largest eigenvalue.
    upper: f64,
    /// An upper bound on the relative error of scores that are not faint.
    change: f64,
}

/// Power steps until the scores that are not faint no longer change.
///
/// An error that a step leaves shrinks to at most `1 - gap` of itself in each further step, so the
/// change in a step, over the gap, bounds what is still wrong with a score. That holds for each
/// score; scores that are not faint are held to the worst of them.
fn polish(region: &Region, ritz: &Ritz, accuracy: Accuracy, work: &mut Work) -> Polished {
    let pages = region.authority_pages();
    let gap = ritz.gap.max(SEPARATE);
    let mut x: Vec<f64> = ritz.vectors.first().map_or_else(
        || vec![1.0; pages.len()],
        |vector| vector.iter().map(|entry| entry.abs()).collect(),
    );
    let mut done = Polished {
        x: Vec::new(),
        before: Vec::new(),
        image: Vec::new(),
        lambda: 0.0,
        upper: f64::INFINITY,
        change: f64::INFINITY,
    };
    let mut best = f64::INFINITY;
    let mut stale = 0;
    for _ in 0..STEPS {
        let mut y = region.square(&x, work);
        let lambda = dot(pages, &x, &y) / dot(pages, &x, &x);
        done.lambda = lambda;
        done.upper = done.upper.min(bound(region, &x, &y));
        let faint = largest(&x) * accuracy.faint;
        let change = largest_of(x.len(), |at| {
            let (x, y) = (x[at], y[at]);
            if x >= faint {
                (y / (lambda * x) - 1.0).abs() / gap
            } else {
                0.0
            }
        });
        done.change = change;
        done.image.clone_from(&y);
        let length = norm(pages, &y);
        scale(&mut y, 1.0 / length);
        done.before = std::mem::replace(&mut x, y);
        stale += 1;
        if change < best * 0.8 {
            (best, stale) = (change, 0);
        }
        if change <= accuracy.settled || stale >= 25 {
            break;
        }
    }
    done.x = x;
    done
}

/// The proved upper bound of the largest eigenvalue, or the raised `z`, after at most so many visits in all.
fn prove(
    region: &Region,
    polished: &Polished,
    (known, most): (&[(f64, Vec<f64>)], u64),
    ones: &mut Option<Ones>,
    work: &mut Work,
) -> Result<f64, Vec<f64>> {
    let lambda = polished.lambda;
    if polished.upper <= lambda * (1.0 + TIE.tau) {
        return Ok(polished.upper);
    }
    let ones = ones.get_or_insert_with(|| Ones::of(region, work));
    let (mut x, mut image) = (polished.before.clone(), polished.image.clone());
    let top = largest(&x);
    scale(&mut x, 1.0 / top);
    scale(&mut image, 1.0 / top);
    // Local vectors of places known to be smaller: `z` may start from them as well as from 1, and
    // then need not be raised step by step where such a place is nearly as large.
    let mut z = vec![1.0; x.len()];
    let highest = largest(&ones.image);
    for (value, vector) in known {
        let local: Vec<f64> = vector.iter().map(|entry| entry.abs()).collect();
        add(&mut z, highest / (lambda - value) / largest(&local), &local);
    }
    let mut raising = if known.is_empty() {
        Raising::of_ones(region, ones)
    } else {
        Raising::new(region, z, work)
    };
    let mut upper = lambda;
    for tightness in [VALUE, TIE] {
        if !certify(&mut raising, lambda, (&x, &image), tightness, work, most) {
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
    let mut hub_scores = region.lead(&polished.x, work);
    let sigma = norm(region.hub_pages(), &hub_scores);
    scale(&mut hub_scores, 1.0 / sigma);
    let gap = ritz.gap.max(0.0);
    let error = ritz.residual / gap;
    let unclear = gap <= SEPARATE || error.is_nan();
    let doubt = doubt.or_else(|| unclear.then_some(Doubt::Vector { gap, error }));
    let relative = polished.change.max(1e-14);
    let before = polished.before.iter().zip(&polished.image);
    let apart = gap.max(SEPARATE);
    let moved = before.map(|(x, y)| (y / polished.lambda - x).abs() / apart);
    let errors = polished.x.iter().zip(moved);
    let authority_errors: Vec<f64> = errors.map(|(x, moved)| moved.max(x * relative)).collect();
    let mut hub_errors = region.lead(&authority_errors, work);
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
        is_deep: true,
        kept: StartVectors::Authorities(ritz.vectors),
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
        is_deep: true,
        kept: StartVectors::default(),
        region,
    }
}
