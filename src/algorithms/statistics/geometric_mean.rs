//! Geometric means.

/// Returns the geometric mean of a few numbers that are not negative, computed after adding `one` to each, which is subtracted
/// from the result. So a single 0 does not make the mean 0.
///
/// It is found by Newton's method, without logarithms, and so has the same bits on any machine. Cost: some ten steps. 0 without
/// numbers.
#[must_use]
pub fn geometric_mean(numbers: &[f64], one: f64) -> f64 {
    let factors = numbers.iter().map(|number| number + one);
    let product: f64 = factors.clone().product();
    if numbers.is_empty() || product <= 0.0 {
        return 0.0;
    }
    let count = numbers.len() as f64;
    // From the greatest factor, steps descend to the root.
    let mut root = factors.fold(0.0, f64::max);
    loop {
        let others: f64 = numbers.iter().skip(1).map(|_| root).product();
        let next = ((count - 1.0) * root + product / others) / count;
        if next < root {
            root = next;
        } else {
            return root - one;
        }
    }
}

/// Returns the geometric mean of counts, computed after adding 1 to each and rounded; a single count itself.
#[must_use]
pub fn mean_count(counts: &[u64]) -> u64 {
    if let [single] = counts {
        return *single;
    }
    let numbers: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
    nearest_count(geometric_mean(&numbers, 1.0))
}

/// Returns the integer nearest to a number that is not negative, halves upwards.
#[must_use]
pub fn nearest_count(number: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "numbers out of range saturate"
    )]
    let nearest = number.round() as u64;
    nearest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_number_is_its_own_mean() {
        for (numbers, one, mean) in [
            (&[][..], 1.0, 0.0),
            (&[0.0, 5.0], 0.0, 0.0),
            (&[0.0], 0.0, 0.0),
            (&[0.0, 3.0], 1.0, 1.0),
            (&[7.0], 1.0, 7.0),
            (&[2.0, 8.0], 0.0, 4.0),
            (&[1.0, 3.0, 9.0], 0.0, 3.0),
        ] {
            let found = geometric_mean(numbers, one);
            assert!((found - mean).abs() < 1e-12, "{numbers:?}: {found}");
        }
    }

    proptest! {
        #[test]
        fn it_is_the_mean_of_logarithms(
            numbers in prop::collection::vec(0.0..1e12_f64, 1..7),
            one in prop_oneof![Just(1.0), Just(1e6)],
        ) {
            let logs = numbers.iter().map(|number| (number + one).ln());
            let mean = (logs.sum::<f64>() / numbers.len() as f64).exp() - one;
            let found = geometric_mean(&numbers, one);
            prop_assert!((found - mean).abs() <= 1e-9 * (mean + one), "{found}, {mean}");
        }
    }
}
