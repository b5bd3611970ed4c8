//! Eigenpairs of small dense symmetric matrices.

use super::tridiagonal::Tridiagonal;

/// Returns the eigenvalues, largest first, with their unit eigenvectors, by cyclic Jacobi rotations
/// (Golub and Van Loan, *Matrix Computations*, section 8.5). Cost: `O(n^3)` per sweep, few sweeps.
pub(super) fn eigen(mut t: Vec<Vec<f64>>) -> Vec<(f64, Vec<f64>)> {
    let n = t.len();
    let mut vectors: Vec<Vec<f64>> = (0..n)
        .map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect())
        .collect();
    let total: f64 = t.iter().flatten().map(|e| e * e).sum();
    // Relative to the whole matrix, smaller entries do not affect the result.
    let negligible = total.sqrt() * 1e-17 / n.max(1) as f64;
    for _ in 0..60 {
        let off: f64 = (0..n)
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .map(|(i, j)| t[i][j] * t[i][j])
            .sum();
        if off <= total * 1e-34 || !off.is_finite() {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                if t[p][q].abs() > negligible {
                    rotate(&mut t, &mut vectors, p, q);
                }
            }
        }
    }
    let mut pairs: Vec<(f64, Vec<f64>)> = vectors
        .into_iter()
        .enumerate()
        .map(|(i, vector)| (t[i][i], vector))
        .collect();
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
    pairs
}

/// Returns the largest eigenvalue and its unit eigenvector of a symmetric matrix given by its
/// products, by Lanczos over all dimensions with full reorthogonalisation. Cost: `n` products and
/// `O(n^3)`, without the sweeps of [`eigen`].
pub(super) fn largest_pair(n: usize, times: impl Fn(&[f64]) -> Vec<f64>) -> (f64, Vec<f64>) {
    let inner = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let golden = 0.618_033_988_749_894_9;
    let uneven = (1..=n).map(|i| 0.5 + (golden * i as f64).fract());
    let mut next: Vec<f64> = uneven.collect();
    let mut length = inner(&next, &next).sqrt();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let mut small = Tridiagonal::default();
    let mut scale = 0.0_f64;
    while basis.len() < n && length > scale * 1e-14 {
        for entry in &mut next {
            *entry /= length;
        }
        let mut image = times(&next);
        let alpha = inner(&image, &next);
        basis.push(next);
        // One pass of Gram-Schmidt loses orthogonality; two are enough.
        for _ in 0..2 {
            for other in &basis {
                let projection = inner(other, &image);
                for (entry, other) in image.iter_mut().zip(other) {
                    *entry -= projection * other;
                }
            }
        }
        length = inner(&image, &image).sqrt();
        scale = scale.max(alpha.abs()).max(length);
        small.alpha.push(alpha);
        small.beta.push(length);
        next = image;
    }
    if scale == 0.0 {
        // The zero matrix.
        return (0.0, basis.pop().unwrap_or_default());
    }
    let value = small.values().first().map_or(0.0, |pair| pair.0);
    let mut vector = vec![0.0; n];
    let factors = small.vectors(&[value]).swap_remove(0);
    for (of_basis, factor) in basis.iter().zip(factors) {
        for (entry, of_basis) in vector.iter_mut().zip(of_basis) {
            *entry += factor * of_basis;
        }
    }
    (value, vector)
}

/// Makes `t[p][q]` zero; `vectors` has the eigenvectors as rows.
#[expect(clippy::many_single_char_names, reason = "the letters of the source")]
fn rotate(t: &mut [Vec<f64>], vectors: &mut [Vec<f64>], p: usize, q: usize) {
    let tau = (t[q][q] - t[p][p]) / (2.0 * t[p][q]);
    let tan = tau.signum() / (tau.abs() + (tau * tau + 1.0).sqrt());
    let c = 1.0 / (tan * tan + 1.0).sqrt();
    let s = tan * c;
    for row in t.iter_mut() {
        let (x, y) = (row[p], row[q]);
        row[p] = c * x - s * y;
        row[q] = s * x + c * y;
    }
    turn(t, p, q, c, s);
    turn(vectors, p, q, c, s);
}

fn turn(rows: &mut [Vec<f64>], p: usize, q: usize, c: f64, s: f64) {
    let (head, tail) = rows.split_at_mut(q);
    for (x, y) in head[p].iter_mut().zip(tail[0].iter_mut()) {
        (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_largest_pair_is_that_of_all(
            entries in prop::collection::vec(-1.0_f64..1.0, 400),
            n in 1_usize..20,
            rank in 1_usize..20,
        ) {
            // A sum of few squares has a kernel, and zero rows.
            let mut matrix = vec![vec![0.0; n]; n];
            for part in entries.chunks(n).take(rank) {
                for (i, a) in part.iter().enumerate().skip(1) {
                    for (j, b) in part.iter().enumerate().skip(1) {
                        matrix[i][j] += a * b;
                    }
                }
            }
            let times = |x: &[f64]| -> Vec<f64> {
                let row = |row: &Vec<f64>| row.iter().zip(x).map(|(a, x)| a * x).sum();
                matrix.iter().map(row).collect()
            };
            let (value, vector) = largest_pair(n, times);
            let exact = eigen(matrix.clone())[0].0;
            prop_assert!((value - exact).abs() <= 1e-12 * (1.0 + exact.abs()), "{} {}", value, exact);
            let image = times(&vector);
            for (image, x) in image.iter().zip(&vector) {
                prop_assert!((image - value * x).abs() <= 1e-10 * (1.0 + exact.abs()));
            }
        }
    }

    #[test]
    fn a_matrix_with_known_eigenvalues() {
        // The path of four nodes: eigenvalues 2 cos(k pi / 5).
        let mut path = vec![vec![0.0; 4]; 4];
        for i in 0..3 {
            path[i][i + 1] = 1.0;
            path[i + 1][i] = 1.0;
        }
        let pairs = eigen(path.clone());
        for (k, (value, vector)) in pairs.iter().enumerate() {
            let exact = 2.0 * ((k + 1) as f64 * std::f64::consts::PI / 5.0).cos();
            assert!((value - exact).abs() < 1e-14);
            for (row, x) in path.iter().zip(vector) {
                let image: f64 = row.iter().zip(vector).map(|(a, b)| a * b).sum();
                assert!((image - exact * x).abs() < 1e-14);
            }
        }
    }
}
