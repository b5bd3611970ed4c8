//! The principal singular pair of one region: found, polished, proved.

use crate::watch::{Interrupted, Watch};

use super::certificate::{TIE, VALUE, Verdict, bound, certify};
use super::lanczos::{Ritz, largest_pairs};
use super::region::Region;
use super::vectors::{add, dot, largest, norm, scale};
use super::{Doubt, Principal};

/// Scores below so much of the largest one need not be accurate.
const FAINT: f64 = 1e-9;
/// A score is settled when a step changes it by less (relative).
const SETTLED: f64 = 2e-13;
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
    start.push(vec![1.0; size]);
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
        start.push(vec![1.0; size]);
    }
}

struct Polished {
    x: Vec<f64>,
    lambda: f64,
    /// Proved bound of the largest eigenvalue.
    upper: f64,
    /// Largest relative change of a score in the last step.
    change: f64,
    /// Scores at or below it may be inaccurate.
    floor: f64,
}

/// Power steps until the scores that are not faint stand still.
fn polish(region: &Region, ritz: &Ritz, visits: &mut u64) -> Polished {
    let pages = region.authority_pages();
    let mut x: Vec<f64> = ritz.vectors.first().map_or_else(
        || vec![1.0; pages.len()],
        |vector| vector.iter().map(|entry| entry.abs()).collect(),
    );
    let mut done = Polished {
        x: Vec::new(),
        lambda: 0.0,
        upper: f64::INFINITY,
        change: f64::INFINITY,
        floor: 0.0,
    };
    let mut stale = 0;
    for _ in 0..200 {
        let mut y = region.square(&x, visits);
        done.lambda = dot(pages, &x, &y) / dot(pages, &x, &x);
        done.upper = done.upper.min(bound(region, &x, &y));
        let faint = largest(&x) * FAINT;
        let mut change = 0.0_f64;
        done.floor = 0.0;
        for (&x, &y) in x.iter().zip(&y) {
            let moved = (y / (done.lambda * x) - 1.0).abs();
            if x < faint || x.is_nan() {
                if moved.is_nan() || moved > SETTLED {
                    done.floor = done.floor.max(x);
                }
            } else {
                change = change.max(moved);
            }
        }
        let length = norm(pages, &y);
        scale(&mut y, 1.0 / length);
        x = y;
        if change < done.change * 0.95 {
            stale = 0;
        } else {
            stale += 1;
        }
        done.change = done.change.min(change);
        if change <= SETTLED || stale >= 8 {
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
    let error = (ritz.residual / gap.max(f64::MIN_POSITIVE)).max(4.0 * polished.change);
    let doubt = doubt
        .or_else(|| (error.is_nan() || error > USABLE).then_some(Doubt::Vector { gap, error }));
    Principal {
        sigma,
        upper: upper.sqrt() * (1.0 + 1e-15),
        gap,
        error: error.clamp(1e-14, 1.0),
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
