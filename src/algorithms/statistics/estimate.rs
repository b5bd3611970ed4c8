//! Means with standard errors.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A mean with its standard error.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Its standard error; `null` if there is only one observation.
    #[schemars(range(min = 0))]
    pub standard_error: Option<f64>,
}

impl Estimate {
    /// The mean of observations, with the standard error `sqrt(sum (x - mean)^2 / (n (n - 1)))`; `None`
    /// without observations. Sums are in the order of the observations.
    #[must_use]
    pub fn mean_of(observations: &[f64]) -> Option<Self> {
        let count = observations.len() as f64;
        if observations.is_empty() {
            return None;
        }
        let mean = observations.iter().sum::<f64>() / count;
        let square: f64 = observations.iter().map(|x| (x - mean).powi(2)).sum();
        let error = (square / (count * (count - 1.0))).sqrt();
        Some(Self {
            mean,
            standard_error: (observations.len() > 1).then_some(error),
        })
    }

    /// The ratio of two means over the same `n` observations, with the standard error by linearisation
    /// (Cochran, Sampling Techniques, 1977, section 2.11): that of the mean of `a - ratio b`, divided by the
    /// mean of `b`. `None` if the mean of `b` is not positive.
    #[must_use]
    pub fn ratio_of_means(pairs: &[(f64, f64)]) -> Option<Self> {
        let count = pairs.len() as f64;
        let (a, b) = pairs
            .iter()
            .fold((0.0, 0.0), |sums, pair| (sums.0 + pair.0, sums.1 + pair.1));
        if pairs.is_empty() || b <= 0.0 {
            return None;
        }
        let ratio = a / b;
        let square: f64 = pairs.iter().map(|(a, b)| (a - ratio * b).powi(2)).sum();
        let error = (square / (count * (count - 1.0))).sqrt() / (b / count);
        Some(Self {
            mean: ratio,
            standard_error: (pairs.len() > 1).then_some(error),
        })
    }

    /// The estimate in another unit: the mean and the error times `factor`.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self {
            mean: self.mean * factor,
            standard_error: self.standard_error.map(|error| error * factor.abs()),
        }
    }

    /// The estimate with the correction for a sample drawn without replacement from a finite `population`:
    /// the error is 0 if the sample is the whole population.
    #[must_use]
    pub fn in_finite_population(self, sample: u64, population: u64) -> Self {
        let left = 1.0 - sample as f64 / (population.max(1)) as f64;
        let error = self
            .standard_error
            .map(|error| error * left.max(0.0).sqrt());
        Self {
            mean: self.mean,
            standard_error: if sample >= population {
                Some(0.0)
            } else {
                error
            },
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "these results are exact")]
mod tests {
    use super::*;

    #[test]
    fn errors_are_those_of_the_mean() {
        assert_eq!(Estimate::mean_of(&[]), None);
        let one = Estimate::mean_of(&[3.0]).unwrap();
        assert_eq!((one.mean, one.standard_error), (3.0, None));
        // Variance 4 / 3 of four observations, so the error of the mean is sqrt(1 / 3).
        let four = Estimate::mean_of(&[1.0, 1.0, 3.0, 3.0]).unwrap();
        assert_eq!(four.mean, 2.0);
        assert!((four.standard_error.unwrap() - (1.0_f64 / 3.0).sqrt()).abs() < 1e-15);
        let percent = four.times(-100.0);
        assert_eq!(percent.mean, -200.0);
        assert!(percent.standard_error.unwrap() > 57.0);
        assert_eq!(four.in_finite_population(4, 4).standard_error, Some(0.0));
        assert_eq!(one.in_finite_population(1, 1).standard_error, Some(0.0));
        assert_eq!(one.in_finite_population(1, 2).standard_error, None);
        let half = four.in_finite_population(4, 8).standard_error.unwrap();
        assert!((half - (1.0_f64 / 6.0).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn a_constant_ratio_has_no_error() {
        let ratio = Estimate::ratio_of_means(&[(2.0, 1.0), (6.0, 3.0)]).unwrap();
        assert_eq!((ratio.mean, ratio.standard_error), (2.0, Some(0.0)));
        // Ratio 1, residuals 1 and -1: sqrt(2 / 2) over a mean of 2.
        let ratio = Estimate::ratio_of_means(&[(3.0, 2.0), (1.0, 2.0)]).unwrap();
        assert_eq!((ratio.mean, ratio.standard_error), (1.0, Some(0.5)));
        assert_eq!(Estimate::ratio_of_means(&[(1.0, 0.0)]), None);
        assert_eq!(Estimate::ratio_of_means(&[]), None);
    }
}
