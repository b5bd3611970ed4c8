//! Eigenpairs of the symmetric tridiagonal matrix of a Lanczos recurrence.

/// Maximum number of rotations per eigenvalue; two or three are usual.
const MAX_ROTATIONS: usize = 60;
/// Rounds of inverse iteration; one is nearly always enough.
const ROUNDS: usize = 3;

/// A symmetric tridiagonal matrix.
#[derive(Clone, Debug, Default)]
pub(super) struct Tridiagonal {
    pub(super) alpha: Vec<f64>,
    /// The subdiagonal: at least one entry fewer than the diagonal; further ones are ignored.
    pub(super) beta: Vec<f64>,
}

impl Tridiagonal {
    /// Returns the eigenvalues, largest first, each with the last entry of its unit eigenvector, by
    /// implicit QL with shifts (Golub and Van Loan, *Matrix Computations*, section 8.3). Cost:
    /// `O(n^2)`.
    pub(super) fn values(&self) -> Vec<(f64, f64)> {
        let n = self.alpha.len();
        let mut values = self.alpha.clone();
        let mut subdiagonal: Vec<f64> = self.beta.iter().take(n - 1).copied().collect();
        subdiagonal.resize(n, 0.0);
        // The last row of the eigenvectors.
        let mut lasts = vec![0.0; n];
        if let Some(last) = lasts.last_mut() {
            *last = 1.0;
        }
        for low in 0..n {
            for _ in 0..MAX_ROTATIONS {
                let is_apart = |at: &usize| {
                    let around = values[*at].abs() + values[at + 1].abs();
                    subdiagonal[*at].abs() <= f64::EPSILON * around
                };
                let high = (low..n - 1).find(is_apart).unwrap_or(n - 1);
                if high == low {
                    break;
                }
                ql_step(&mut values, &mut subdiagonal, &mut lasts, low, high);
            }
        }
        let mut pairs: Vec<(f64, f64)> = values.into_iter().zip(lasts).collect();
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
        pairs
    }

    /// Returns unit eigenvectors for these eigenvalues, by inverse iteration, each orthogonal to
    /// the previous ones.
    pub(super) fn vectors(&self, values: &[f64]) -> Vec<Vec<f64>> {
        let mut found: Vec<Vec<f64>> = Vec::new();
        for &value in values {
            let golden = 0.618_033_988_749_894_9;
            let uneven = (1..=self.alpha.len()).map(|i| 0.5 + (golden * i as f64).fract());
            let mut vector: Vec<f64> = uneven.collect();
            for _ in 0..ROUNDS {
                self.solve(value, &mut vector);
                for other in &found {
                    let projection: f64 = other.iter().zip(&vector).map(|(a, b)| a * b).sum();
                    for (entry, other) in vector.iter_mut().zip(other) {
                        *entry -= projection * other;
                    }
                }
                let length = vector.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
                for entry in &mut vector {
                    *entry /= length;
                }
            }
            found.push(vector);
        }
        found
    }

    pub(super) fn times(&self, x: &[f64]) -> Vec<f64> {
        let entry = |at: usize| {
            let before = at.checked_sub(1).map_or(0.0, |of| self.beta[of] * x[of]);
            let after = x.get(at + 1).map_or(0.0, |x| self.beta[at] * x);
            before + self.alpha[at] * x[at] + after
        };
        (0..x.len()).map(entry).collect()
    }

    /// Returns `(mu - T)^-1 e_1`.
    pub(super) fn resolvent(&self, mu: f64) -> Vec<f64> {
        let mut x = vec![0.0; self.alpha.len()];
        if let Some(first) = x.first_mut() {
            *first = -1.0;
        }
        self.solve(mu, &mut x);
        x
    }

    /// Solves `(T - shift) x = b` in place, by elimination with row exchanges.
    fn solve(&self, shift: f64, x: &mut [f64]) {
        let n = x.len();
        let tiny = shift.abs().max(f64::MIN_POSITIVE) * 1e-15;
        let nonzero = |entry: f64| if entry.abs() < tiny { tiny } else { entry };
        let mut diagonal: Vec<f64> = self.alpha.iter().map(|alpha| alpha - shift).collect();
        // The first and second superdiagonals; row exchanges fill the second.
        let mut upper: Vec<f64> = self.beta.iter().take(n - 1).copied().collect();
        upper.push(0.0);
        let mut second_upper = vec![0.0; n];
        for at in 0..n - 1 {
            let below = self.beta[at];
            if below.abs() > diagonal[at].abs() {
                let factor = diagonal[at] / below;
                let (here, next) = (upper[at], diagonal[at + 1]);
                diagonal[at] = below;
                upper[at] = next;
                second_upper[at] = upper[at + 1];
                diagonal[at + 1] = here - factor * next;
                upper[at + 1] *= -factor;
                x.swap(at, at + 1);
                x[at + 1] -= factor * x[at];
            } else {
                diagonal[at] = nonzero(diagonal[at]);
                let factor = below / diagonal[at];
                diagonal[at + 1] -= factor * upper[at];
                x[at + 1] -= factor * x[at];
            }
        }
        for at in (0..n).rev() {
            let after = |step: usize, of: &[f64]| x.get(at + step).map_or(0.0, |x| of[at] * x);
            let rhs = x[at] - after(1, &upper) - after(2, &second_upper);
            x[at] = rhs / nonzero(diagonal[at]);
        }
    }
}

/// One implicit QL step on the block from `low` to `high`.
#[expect(clippy::many_single_char_names, reason = "the letters of the source")]
fn ql_step(
    values: &mut [f64],
    subdiagonal: &mut [f64],
    lasts: &mut [f64],
    low: usize,
    high: usize,
) {
    let mut g = (values[low + 1] - values[low]) / (2.0 * subdiagonal[low]);
    g = values[high] - values[low] + subdiagonal[low] / (g + (g * g + 1.0).sqrt().copysign(g));
    let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
    for at in (low..high).rev() {
        let (f, b) = (s * subdiagonal[at], c * subdiagonal[at]);
        let r = (f * f + g * g).sqrt();
        subdiagonal[at + 1] = r;
        if r == 0.0 {
            values[at + 1] -= p;
            subdiagonal[high] = 0.0;
            return;
        }
        s = f / r;
        c = g / r;
        g = values[at + 1] - p;
        let r = (values[at] - g) * s + 2.0 * c * b;
        p = s * r;
        values[at + 1] = g + p;
        g = c * r - b;
        let (this, next) = (lasts[at], lasts[at + 1]);
        lasts[at + 1] = s * this + c * next;
        lasts[at] = c * this - s * next;
    }
    values[low] -= p;
    subdiagonal[low] = g;
    subdiagonal[high] = 0.0;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::dense::eigen;
    use super::*;

    proptest! {
        #[test]
        fn pairs_are_those_of_the_dense_matrix(
            entries in prop::collection::vec((0.0..10.0, 1e-3..5.0), 1..24),
        ) {
            let (alpha, beta): (Vec<f64>, Vec<f64>) = entries.into_iter().unzip();
            let n = alpha.len();
            let matrix = Tridiagonal { alpha, beta };
            let dense: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| match i.abs_diff(j) {
                0 => matrix.alpha[i],
                1 => matrix.beta[i.min(j)],
                _ => 0.0,
            }).collect()).collect();
            let pairs = matrix.values();
            for ((value, last), (exact, vector)) in pairs.iter().zip(eigen(dense.clone())) {
                prop_assert!((value - exact).abs() < 1e-10);
                // The vectors of values near each other are any in the plane of both.
                let is_alone = pairs.iter().filter(|pair| (pair.0 - exact).abs() < 1e-4).count() == 1;
                prop_assert!(!is_alone || (last.abs() - vector[n - 1].abs()).abs() < 1e-6);
            }
            let values: Vec<f64> = pairs.iter().map(|pair| pair.0).take(4).collect();
            for (value, vector) in values.iter().zip(matrix.vectors(&values)) {
                for (row, x) in dense.iter().zip(&vector) {
                    let image: f64 = row.iter().zip(&vector).map(|(a, b)| a * b).sum();
                    prop_assert!((image - value * x).abs() < 1e-7);
                }
            }
        }
    }
}
