//! Power laws in counts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The fewest observations of a tail. From fewer, estimates are unreliable (section 3.2 of the paper).
const MIN_OBSERVATIONS: u64 = 50;

/// The largest exponent. A tail that is fitted better by a larger one has no power law.
const MAX_EXPONENT: f64 = 10.0;

/// The step of numerical derivatives with respect to the exponent.
const STEP: f64 = 1e-4;

/// A power law in the tail of a distribution of counts: from `min` on, a value `x` has the probability
/// `x^-exponent / zeta(exponent, min)`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PowerLaw {
    /// The exponent.
    #[schemars(range(min = 1))]
    pub exponent: f64,
    /// Its standard error, given `min`.
    #[schemars(range(min = 0))]
    pub standard_error: f64,
    /// The smallest value of the tail.
    #[schemars(range(min = 1))]
    pub min: u64,
    /// Observations in the tail.
    pub observations: u64,
    /// The Kolmogorov-Smirnov distance of the tail from the power law: the largest difference of their
    /// cumulative distributions.
    #[schemars(range(min = 0, max = 1))]
    pub distance: f64,
}

/// Fits a power law to counts, given as ascending positive values, each with its number of observations.
///
/// The recipe is that of Clauset, Shalizi and Newman (Power-law distributions in empirical data, SIAM Review
/// 51, 2009), for discrete values: every value but the largest is tried as the start of the tail, the exponent is the
/// one of maximum likelihood, and the start with the smallest Kolmogorov-Smirnov distance is taken, ties by
/// the smallest start. Deviations: tails of fewer than 50 observations, or with an exponent above 10, are not
/// tried; the goodness of the fit is not tested, which takes thousands of synthetic samples. `None` if no tail
/// could be tried.
///
/// Cost: some hundred evaluations of the zeta function for each value, and, for each value that is tried as
/// the start, one for each larger value until the distance exceeds the smallest so far.
#[must_use]
pub fn fit_power_law(counts: &[(u64, u64)]) -> Option<PowerLaw> {
    // By start: the observations of the tail, and the sum of their logarithms.
    let mut tails = vec![(0_u64, 0.0_f64); counts.len()];
    let mut tail = (0, 0.0);
    for (of_start, &(value, count)) in tails.iter_mut().zip(counts).rev() {
        tail.0 += count;
        tail.1 += count as f64 * (value as f64).ln();
        *of_start = tail;
    }
    let mut best: Option<PowerLaw> = None;
    // Large tails come first: their small distances end the comparison of most others early.
    for (start, &(observations, logs)) in tails.iter().enumerate() {
        if observations < MIN_OBSERVATIONS || start + 1 == counts.len() {
            break;
        }
        let min = counts[start].0;
        let mean_log = logs / observations as f64 - (min as f64).ln();
        let likelihood = |exponent: f64| {
            // The mean logarithm of the probability of an observation; concave.
            -exponent * mean_log - scaled_zeta(exponent, min as f64).ln()
        };
        let (mut low, mut high) = (1.0 + 2.0 * STEP, MAX_EXPONENT);
        for _ in 0..45 {
            let middle = f64::midpoint(low, high);
            if likelihood(middle + STEP) > likelihood(middle - STEP) {
                low = middle;
            } else {
                high = middle;
            }
        }
        if high >= MAX_EXPONENT {
            continue;
        }
        let exponent = f64::midpoint(low, high);
        let largest = best.map_or(1.0, |best| best.distance);
        let distance = distance(&counts[start..], observations, exponent, largest);
        if distance < largest {
            let slopes = likelihood(exponent + STEP) + likelihood(exponent - STEP);
            let curvature = (2.0 * likelihood(exponent) - slopes) / (STEP * STEP);
            best = Some(PowerLaw {
                exponent,
                standard_error: (observations as f64 * curvature).sqrt().recip(),
                min,
                observations,
                distance,
            });
        }
    }
    best
}

/// Returns the Kolmogorov-Smirnov distance of a tail from the power law with an exponent, or any larger number
/// than `largest` if the distance is larger.
fn distance(tail: &[(u64, u64)], observations: u64, exponent: f64, largest: f64) -> f64 {
    let min = tail.first().map_or(1.0, |first| first.0 as f64);
    let sum = scaled_zeta(exponent, min);
    let mut remaining = observations;
    let mut distance = 0.0_f64;
    for &(value, count) in tail {
        let value = value as f64;
        let probability = (value / min).powf(-exponent) / sum;
        let at_least = probability * scaled_zeta(exponent, value);
        // The empirical distribution is constant up to the next value, so the largest differences are just
        // before values and at them.
        let before = at_least - remaining as f64 / observations as f64;
        remaining -= count;
        let at = at_least - probability - remaining as f64 / observations as f64;
        distance = distance.max(before.abs()).max(at.abs());
        if distance > largest {
            break;
        }
    }
    distance
}

/// Returns `from^exponent zeta(exponent, from)`, the sum of `(1 + k / from)^-exponent` over all `k >= 0`, for an
/// exponent above 1 and at most [`MAX_EXPONENT`].
///
/// By the Euler-Maclaurin formula from 20 on, with a relative error below 1e-9.
fn scaled_zeta(exponent: f64, from: f64) -> f64 {
    // B_2k / (2k)!
    const FACTORS: [f64; 5] = [
        1.0 / 12.0,
        -1.0 / 720.0,
        1.0 / 30_240.0,
        -1.0 / 1_209_600.0,
        1.0 / 47_900_160.0,
    ];
    let mut sum = 0.0;
    let mut at = from;
    // The same terms for every exponent, so that numerical derivatives are smooth.
    while at < MAX_EXPONENT + 10.0 {
        sum += (at / from).powf(-exponent);
        at += 1.0;
    }
    let mut remainder = at / (exponent - 1.0) + 0.5;
    let mut derivative = exponent / at;
    let mut order = exponent;
    for factor in FACTORS {
        remainder += factor * derivative;
        derivative *= (order + 1.0) * (order + 2.0) / (at * at);
        order += 2.0;
    }
    sum + (at / from).powf(-exponent) * remainder
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    /// The sum of the first terms, and the integral of the others by the midpoint rule.
    fn plain_zeta(exponent: f64, from: f64) -> f64 {
        let terms = 100_000;
        let sum: f64 = (0..terms)
            .map(|k| (from + f64::from(k)).powf(-exponent))
            .sum();
        sum + (from + f64::from(terms) - 0.5).powf(1.0 - exponent) / (exponent - 1.0)
    }

    /// The expected numbers of `observations` of a power law from `min` on, rounded, without zeros.
    fn expected(exponent: f64, min: u32, observations: f64) -> Vec<(u64, u64)> {
        let sum = plain_zeta(exponent, f64::from(min));
        let count = |value: u32| observations * f64::from(value).powf(-exponent) / sum;
        let values = (min..).take_while(|value| count(*value) >= 0.5);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "small"
        )]
        let counts = values.map(|value| (value.into(), count(value).round() as u64));
        counts.collect()
    }

    #[test]
    fn zeta_has_its_known_values() {
        for (exponent, from, known) in [
            (2.0, 1.0, PI.powi(2) / 6.0),
            (4.0, 1.0, PI.powi(4) / 90.0),
            (2.0, 3.0, 9.0 * (PI.powi(2) / 6.0 - 1.25)),
            (1.5, 100.0, 1000.0 * plain_zeta(1.5, 100.0)),
            (10.0, 50.0, 50_f64.powi(10) * plain_zeta(10.0, 50.0)),
        ] {
            let found = scaled_zeta(exponent, from);
            assert!(
                (found / known - 1.0).abs() < 1e-8,
                "{exponent} {from}: {found} {known}"
            );
        }
    }

    #[test]
    fn the_exponent_and_the_start_of_a_power_law_are_found() {
        let whole = fit_power_law(&expected(2.5, 1, 1e7)).unwrap();
        assert!((whole.exponent - 2.5).abs() < 0.005, "{whole:?}");
        assert!(whole.distance < 1e-4, "{whole:?}");
        // One page each below 10, where the law begins.
        let mut counts: Vec<(u64, u64)> = (1..10).map(|value| (value, 1)).collect();
        counts.extend(expected(3.0, 10, 1e6));
        let tail = fit_power_law(&counts).unwrap();
        assert_eq!(tail.min, 10, "{tail:?}");
        assert!((tail.exponent - 3.0).abs() < 0.01, "{tail:?}");
        let observations: u64 = counts[9..].iter().map(|(_, count)| count).sum();
        assert_eq!(tail.observations, observations);
    }

    #[test]
    fn the_exponent_has_the_largest_likelihood_and_the_start_the_smallest_distance() {
        let counts = [(1, 20), (2, 60), (3, 25), (4, 14), (7, 6), (9, 3), (30, 2)];
        let found = fit_power_law(&counts).unwrap();
        // By trying out exponents for each start, and comparing at every value up to the largest.
        let mut best = (f64::INFINITY, 0, 0.0);
        for start in 0..4 {
            let tail = &counts[start..];
            let total: u64 = tail.iter().map(|(_, count)| count).sum();
            let likelihood = |exponent: f64, sum: f64| -> f64 {
                let of = |(value, count): &(u64, u64)| {
                    *count as f64 * (-exponent * (*value as f64).ln() - sum.ln())
                };
                tail.iter().map(of).sum()
            };
            let min = tail[0].0;
            let tried = (110..600).map(|step| f64::from(step) / 100.0);
            let tried = tried.map(|exponent| {
                let sum = scaled_zeta(exponent, min as f64) * (min as f64).powf(-exponent);
                (likelihood(exponent, sum), exponent, sum)
            });
            let (_, exponent, sum) = tried.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
            let (mut seen, mut model, mut distance) = (0, 0.0, 0.0_f64);
            for value in min..=30 {
                seen += tail.iter().find(|of| of.0 == value).map_or(0, |of| of.1);
                model += (value as f64).powf(-exponent) / sum;
                distance = distance.max((model - seen as f64 / total as f64).abs());
            }
            if total >= MIN_OBSERVATIONS && distance < best.0 {
                best = (distance, min, exponent);
            }
        }
        assert_eq!(found.min, best.1, "{found:?} {best:?}");
        assert!((found.exponent - best.2).abs() < 0.01, "{found:?} {best:?}");
        assert!(
            (found.distance - best.0).abs() < 0.005,
            "{found:?} {best:?}"
        );
    }

    #[test]
    fn few_or_equal_observations_have_no_power_law() {
        assert_eq!(fit_power_law(&[]), None);
        assert_eq!(fit_power_law(&[(3, 1000)]), None);
        assert_eq!(fit_power_law(&[(1, 30), (2, 19)]), None);
        // A tail that only an exponent of thousands fits.
        assert_eq!(fit_power_law(&[(1000, 100_000), (1001, 1)]), None);
        assert!(fit_power_law(&[(1, 30), (2, 20)]).is_some());
    }
}
