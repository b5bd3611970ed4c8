//! The best combination of a few vectors, by the Rayleigh-Ritz procedure.

use super::dense::eigen;

/// A direction whose squared length is below this share of the longest is rounding.
const RANK_TOLERANCE: f64 = 1e-11;

/// Returns the shares of vectors in their combination with the largest Ritz value. `gram` has their
/// inner products, `projected` those with their images.
pub(super) fn best_combination<const B: usize>(
    gram: &[[f64; B]; B],
    projected: &[[f64; B]; B],
) -> [f64; B] {
    let basis = orthonormal(gram);
    let product = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let images: Vec<Vec<f64>> = basis
        .iter()
        .map(|of| projected.iter().map(|row| product(row, of)).collect())
        .collect();
    let small = images.iter().zip(&basis).map(|(image, own)| {
        let others = images.iter().zip(&basis);
        let entry = |(other_image, other): (&Vec<f64>, &Vec<f64>)| {
            0.5 * (product(image, other) + product(other_image, own))
        };
        others.map(entry).collect()
    });
    let best = eigen(small.collect()).into_iter().next();
    let best = best.map_or_else(Vec::new, |(_, combination)| combination);
    std::array::from_fn(|i| best.iter().zip(&basis).map(|(part, of)| part * of[i]).sum())
}

/// Returns orthonormal combinations of vectors with this Gram matrix, longest first (Stathopoulos
/// and Wu, *A block orthogonalization procedure with constant synchronization requirements*, 2002).
fn orthonormal<const B: usize>(gram: &[[f64; B]; B]) -> Vec<Vec<f64>> {
    let lengths: Vec<f64> = (0..B)
        .map(|at| gram[at][at].max(f64::MIN_POSITIVE).sqrt())
        .collect();
    let scaled = gram.iter().zip(&lengths).map(|(row, length)| {
        let row = row.iter().zip(&lengths);
        row.map(|(entry, other)| entry / (length * other)).collect()
    });
    let directions = eigen(scaled.collect());
    let longest = directions.first().map_or(0.0, |direction| direction.0);
    directions
        .into_iter()
        .take_while(|(square, _)| *square > longest * RANK_TOLERANCE)
        .map(|(square, direction)| {
            let parts = direction.iter().zip(&lengths);
            parts.map(|(part, l)| part / (l * square.sqrt())).collect()
        })
        .collect()
}
