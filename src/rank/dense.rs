//! Eigenpairs of a small dense symmetric matrix.

/// Eigenvalues, largest first, each with its unit eigenvector, by cyclic Jacobi rotations
/// (Golub and Van Loan, *Matrix Computations*, section 8.5). Cost: `O(n^3)` a sweep, few sweeps.
pub(super) fn eigen(mut t: Vec<Vec<f64>>) -> Vec<(f64, Vec<f64>)> {
    let n = t.len();
    let mut vectors: Vec<Vec<f64>> = (0..n)
        .map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect())
        .collect();
    let total: f64 = t.iter().flatten().map(|e| e * e).sum();
    // Entries that are negligible beside the whole are not worth a rotation.
    let nothing = total.sqrt() * 1e-17 / n.max(1) as f64;
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
                if t[p][q].abs() > nothing {
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

/// Makes `t[p][q]` zero; `vectors` holds the eigenvectors as rows.
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
    use super::*;

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
