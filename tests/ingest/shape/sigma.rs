//! The largest singular values of merged links, by orthogonal iteration.

/// Links between rows and classes of authorities: row, class, weight.
pub(super) struct Merged {
    pub(super) rows: usize,
    pub(super) classes: usize,
    pub(super) links: Vec<(u32, u32, f64)>,
}

const BLOCK: usize = 16;
const ITERATIONS: usize = 300;

/// The `count` largest singular values, largest first; at most 16.
pub(super) fn largest_sigmas(merged: &Merged, count: usize) -> Vec<f64> {
    let block = BLOCK.min(merged.classes).min(merged.rows);
    let mut vectors: Vec<Vec<f64>> = (0..block as u64)
        .map(|vector| {
            let classes = 0..merged.classes as u64;
            classes.map(|i| unit(vector << 32 | i) - 0.25).collect()
        })
        .collect();
    orthonormalise(&mut vectors);
    let mut sigmas = Vec::new();
    for _ in 0..ITERATIONS {
        sigmas = vectors
            .iter_mut()
            .map(|vector| {
                let mut hubs = vec![0.0; merged.rows];
                for &(row, class, weight) in &merged.links {
                    hubs[row as usize] += weight * vector[class as usize];
                }
                vector.fill(0.0);
                for &(row, class, weight) in &merged.links {
                    vector[class as usize] += weight * hubs[row as usize];
                }
                hubs.iter().map(|x| x * x).sum::<f64>().sqrt()
            })
            .collect();
        orthonormalise(&mut vectors);
    }
    sigmas.sort_by(|a, b| b.total_cmp(a));
    sigmas.truncate(count);
    sigmas
}

/// A number in [0, 1) that depends on `number` alone, by the SplitMix64 finaliser.
fn unit(number: u64) -> f64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (z ^ (z >> 31)) as f64 / u64::MAX as f64
}

/// Modified Gram-Schmidt; a vector that depends on the ones before it becomes zero.
fn orthonormalise(vectors: &mut [Vec<f64>]) {
    for at in 0..vectors.len() {
        let (orthonormal, others) = vectors.split_at_mut(at);
        let Some(vector) = others.first_mut() else {
            break;
        };
        for other in &*orthonormal {
            let dot: f64 = vector.iter().zip(other).map(|(x, y)| x * y).sum();
            for (x, y) in vector.iter_mut().zip(other) {
                *x -= dot * y;
            }
        }
        let norm = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
        let scale = if norm > 1e-150 { 1.0 / norm } else { 0.0 };
        for x in vector.iter_mut() {
            *x *= scale;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complete_places_have_the_root_of_their_links() {
        // 3 x 4 complete as one class, 2 x 3 complete, one single link: sqrt 12, sqrt 6, 1.
        let merged = Merged {
            rows: 3,
            classes: 3,
            links: vec![(0, 0, 12_f64.sqrt()), (1, 1, 6_f64.sqrt()), (2, 2, 1.0)],
        };
        let sigmas = largest_sigmas(&merged, 10);
        for (sigma, exact) in sigmas.iter().zip([12_f64.sqrt(), 6_f64.sqrt(), 1.0]) {
            assert!((sigma - exact).abs() < 1e-9, "{sigmas:?}");
        }
    }
}
