//! The principal singular pair of one region: found, polished, proved.

use crate::watch::{Interrupted, Watch};

use super::certificate::{TIE, VALUE, Verdict, bound, certify};
use super::lanczos::{Ritz, largest_pairs};
use super::region::Region;
use super::vectors::{add, dot, largest, norm, scale};
use super::{Doubt, Principal};

/// Scores below so much of the largest one are not waited for; extraction hardly meets them,
/// since the best hub gives every authority it leads to at least `1 / sigma^2` of the best score.
const FAINT: f64 = 1e-7;
/// The relative error at which polishing ends.
const SETTLED: f64 = 1e-11;
/// The most power steps.
const STEPS: usize = 150;
/// Relative error of scores above which ties within 1e-9 can no longer be told.
const USABLE: f64 = 1e-10;
const ATTEMPTS: usize = 4;

/// Solves a region, from vectors on its authority positions that may be good starts.
///
/// A complete region has a closed form: `sigma^2 = |H| |A|`, both vectors constant. Otherwise
/// Lanczos, then power steps: all terms are nonnegative, so they make small scores accurate
/// *relatively*, and every step's largest ratio bounds sigma (Collatz-Wielandt with `y = x`).
/// Where that bound is not tight the certificate with `y = z + C x` is tried; where it does not
/// settle, all starts again with weight on the raised pages.
pub(super) fn solve(
    region: Region,
    warm: Vec<Vec<f64>>,
    visits: &mut u64,
    watch: &dyn Watch,
) -> Result<Principal, Interrupted> {
    if region.is_complete() {
        return Ok(complete(region));
    }
    let size = region.authorities().len();
    let mut start = warm;
    start.extend(everywhere(size));
    let mut known: Vec<(f64, Vec<f64>)> = Vec::new();
    let mut attempt = 0;
    loop {
        let ritz = largest_pairs(&region, start, visits, watch)?;
        let polished = polish(&region, &ritz, visits);
        attempt += 1;
        let raised = match prove(&region, &polished, &known, visits) {
            Ok(upper) => return Ok(finish(region, polished, ritz, upper, None, visits)),
            Err(raised) => raised,
        };
        if attempt == ATTEMPTS {
            let doubt = Some(Doubt::Value { gap: ritz.gap });
            let upper = polished.upper;
            return Ok(finish(region, polished, ritz, upper, doubt, visits));
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

/// Two starts with weight everywhere, one of them without symmetry. From one alone Lanczos would
/// meet only one vector of two equally dense places, and take the gap for larger than it is.
fn everywhere(size: usize) -> [Vec<f64>; 2] {
    let golden = 0.618_033_988_749_894_9;
    let uneven = (1..=size).map(|i| 0.5 + (golden * i as f64).fract());
    [uneven.collect(), vec![1.0; size]]
}

struct Polished {
    x: Vec<f64>,
    lambda: f64,
    /// Proved bound of the largest eigenvalue.
    upper: f64,
    /// Bound of the relative error of scores above `floor`.
    error: f64,
    /// Scores up to it may be inaccurate.
    floor: f64,
}

/// Power steps until the scores that are not faint stand still.
///
/// An error that a step leaves standing shrinks by at least `1 - gap` in the next ones, so what a
/// step changes, over the gap, bounds what is still wrong with a score.
fn polish(region: &Region, ritz: &Ritz, visits: &mut u64) -> Polished {
    let pages = region.authority_pages();
    let gap = ritz.gap.max(1e-12);
    let mut x: Vec<f64> = ritz.vectors.first().map_or_else(
        || vec![1.0; pages.len()],
        |vector| vector.iter().map(|entry| entry.abs()).collect(),
    );
    let mut done = Polished {
        x: Vec::new(),
        lambda: 0.0,
        upper: f64::INFINITY,
        error: f64::INFINITY,
        floor: 0.0,
    };
    let mut best = f64::INFINITY;
    let mut stale = 0;
    for _ in 0..STEPS {
        let mut y = region.square(&x, visits);
        let lambda = dot(pages, &x, &y) / dot(pages, &x, &x);
        done.lambda = lambda;
        done.upper = done.upper.min(bound(region, &x, &y));
        let moved = |(x, y): (&f64, &f64)| (*x, (y / (lambda * x) - 1.0).abs() / gap);
        let faint = largest(&x) * FAINT;
        (done.floor, done.error) = (0.0, 0.0);
        let mut change = 0.0_f64;
        for (x, error) in x.iter().zip(&y).map(moved) {
            if error.is_nan() || error > USABLE {
                done.floor = done.floor.max(x);
            }
            if x >= faint {
                change = change.max(error);
            }
        }
        let clear = x.iter().zip(&y).map(moved).filter(|(x, _)| *x > done.floor);
        done.error = clear.map(|(_, error)| error).fold(0.0, f64::max);
        let length = norm(pages, &y);
        scale(&mut y, 1.0 / length);
        x = y;
        stale += 1;
        if change < best * 0.8 {
            (best, stale) = (change, 0);
        }
        if change <= SETTLED || stale >= 25 {
            break;
        }
    }
    done.x = x;
    done
}

/// The proved upper bound of the largest eigenvalue, or the raised `z`.
fn prove(
    region: &Region,
    polished: &Polished,
    known: &[(f64, Vec<f64>)],
    visits: &mut u64,
) -> Result<f64, Vec<f64>> {
    let lambda = polished.lambda;
    if polished.upper <= lambda * (1.0 + TIE.tau) {
        return Ok(polished.upper);
    }
    let mut x = polished.x.clone();
    let top = largest(&x);
    scale(&mut x, 1.0 / top);
    let image = region.square(&x, visits);
    let mut z = vec![1.0; x.len()];
    // Local vectors of places known to be smaller: z may start from them as well as from 1, and
    // then need not be raised step by step where such a place is nearly as large.
    let highest = largest(&region.square(&z, visits));
    for (value, vector) in known {
        let local: Vec<f64> = vector.iter().map(|entry| entry.abs()).collect();
        add(&mut z, highest / (lambda - value) / largest(&local), &local);
    }
    let mut upper = lambda;
    for tightness in [VALUE, TIE] {
        match certify(region, lambda, (&x, &image), tightness, z, visits) {
            Verdict::Settled(settled) => z = settled,
            Verdict::Unsettled(raised) => return Err(raised),
        }
        upper = lambda * (1.0 + tightness.tau);
    }
    Ok(upper)
}

fn finish(
    region: Region,
    polished: Polished,
    ritz: Ritz,
    upper: f64,
    doubt: Option<Doubt>,
    visits: &mut u64,
) -> Principal {
    let mut hub_scores = region.lead(&polished.x, visits);
    let sigma = norm(region.hub_pages(), &hub_scores);
    scale(&mut hub_scores, 1.0 / sigma);
    let gap = ritz.gap.max(0.0);
    let error = ritz.residual / gap;
    let unclear = gap <= 0.0 || error.is_nan() || error > USABLE;
    let doubt = doubt.or_else(|| unclear.then_some(Doubt::Vector { gap, error }));
    Principal {
        sigma,
        upper: upper.sqrt() * (1.0 + 1e-15),
        gap,
        error: polished.error.max(1e-14),
        floor: polished.floor,
        authority_scores: polished.x,
        hub_scores,
        doubt,
        kept: ritz.vectors,
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
        error: 1e-15,
        floor: 0.0,
        hub_scores: vec![1.0 / hubs.sqrt(); region.hubs().len()],
        authority_scores: vec![1.0 / authorities.sqrt(); region.authorities().len()],
        doubt: None,
        kept: Vec::new(),
        region,
    }
}
