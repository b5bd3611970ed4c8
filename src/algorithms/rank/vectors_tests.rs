use super::*;

/// Pseudorandom entries.
fn vector(length: usize, which: usize) -> Vec<f64> {
    let entry = |at: usize| (0.618_033_988_749_895 * (at * 7 + which * 13 + 1) as f64).fract();
    (0..length).map(entry).collect()
}

fn vectors(length: usize, count: usize, from: usize) -> Vec<Vec<f64>> {
    (from..from + count)
        .map(|which| vector(length, which))
        .collect()
}

/// `sum_i factors_i vectors_i`, vector after vector.
fn combined(vectors: &[Vec<f64>], factors: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; vectors[0].len()];
    for (vector, factor) in vectors.iter().zip(factors) {
        axpy(&mut sum, *factor, vector);
    }
    sum
}

#[test]
fn chunked_operations_are_the_same_to_the_bit() {
    for length in [7, CHUNK, CHUNK + 1, PARALLEL + 77] {
        let pages = vector(length, 99);
        let (others, images) = (vectors(length, 5, 0), vectors(length, 5, 5));
        let pairs = vec![(0.7, vector(5, 20)), (0.3, vector(5, 21))];

        let mut one = vector(length, 50);
        let each: Vec<f64> = others
            .iter()
            .map(|other| dot(&pages, other, &one))
            .collect();
        assert_eq!(dots(&pages, &others, &one), each);

        let mut plain = one.clone();
        for other in &others {
            let along = dot(&pages, other, &plain);
            axpy(&mut plain, -along, other);
        }
        let left = subtract(&pages, &others, &mut one);
        assert_eq!(left.to_bits(), norm(&pages, &plain).to_bits());
        assert_eq!(one, plain);

        let rests = residuals(&pages, &others, &images, &pairs);
        for ((theta, factors), (size, rest)) in pairs.iter().zip(rests) {
            let mut plain = combined(&images, factors);
            axpy(&mut plain, -theta, &combined(&others, factors));
            assert_eq!((size, &rest), (norm(&pages, &plain), &plain));
        }

        let plain: Vec<Vec<f64>> = pairs.iter().map(|p| combined(&others, &p.1)).collect();
        let factors: Vec<Vec<f64>> = pairs.iter().map(|pair| pair.1.clone()).collect();
        assert_eq!(combinations(&others, &factors), plain);
        let mut several = others;
        recombine(&mut several, pairs.iter().map(|pair| pair.1.as_slice()));
        assert_eq!(several, plain);
    }
}
