//! Random samples without replacement, the same on every machine.

use std::collections::BTreeSet;

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// Draws `wanted` of the numbers below `count`, ascending; all of them if there are fewer.
///
/// All sets are equally likely (Floyd's algorithm: Bentley and Floyd, CACM 30, 1987). The stream is PCG XSL
/// 128/64, seeded with the BLAKE3 hash of `rng_seed` and `draw` (8 bytes each, little-endian) followed by
/// `purpose`, so that purposes have independent streams.
#[must_use]
pub fn draw(purpose: &str, rng_seed: u64, draw: u64, count: u32, wanted: usize) -> Vec<u32> {
    if wanted >= count as usize {
        return (0..count).collect();
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update(&rng_seed.to_le_bytes());
    hasher.update(&draw.to_le_bytes());
    hasher.update(purpose.as_bytes());
    let mut stream = Pcg64::from_seed(*hasher.finalize().as_bytes());
    let mut drawn = BTreeSet::new();
    let from = count - crate::graph::number(wanted);
    for last in from..count {
        let number = draw_below(&mut stream, last + 1);
        if !drawn.insert(number) {
            drawn.insert(last);
        }
    }
    drawn.into_iter().collect()
}

/// Draws a number below `bound`, uniformly: the high half of a 64-bit draw times the bound. A draw is
/// rejected if its low half would make some numbers more likely (Lemire, ACM TOMACS 29, 2019).
pub fn draw_below(stream: &mut Pcg64, bound: u32) -> u32 {
    let bound = u64::from(bound);
    let unfair = bound.wrapping_neg() % bound;
    loop {
        let product = u128::from(stream.next_u64()) * u128::from(bound);
        #[expect(clippy::cast_possible_truncation, reason = "the low half is meant")]
        let low = product as u64;
        if low >= unfair {
            // Below the bound, which is a u32.
            return u32::try_from(product >> 64).unwrap_or(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_distinct_uniform_and_independent() {
        let mut hits = [0_u32; 10];
        for at in 0..1000 {
            let drawn = draw("test", 7, at, 10, 3);
            assert_eq!(drawn.len(), 3);
            assert!(drawn.windows(2).all(|w| w[0] < w[1]), "{drawn:?}");
            for number in drawn {
                hits[number as usize] += 1;
            }
        }
        // 300 expected, standard deviation 14.5.
        assert!(hits.iter().all(|&h| (240..360).contains(&h)), "{hits:?}");
        assert_ne!(draw("a", 0, 0, 1000, 5), draw("b", 0, 0, 1000, 5));
        assert_ne!(draw("a", 0, 0, 1000, 5), draw("a", 1, 0, 1000, 5));
        assert_eq!(draw("a", 0, 0, 1000, 5), draw("a", 0, 0, 1000, 5));
        assert_eq!(draw("a", 0, 0, 3, 5), [0, 1, 2]);
        assert_eq!(draw("a", 0, 0, 0, 5), [] as [u32; 0]);
    }
}
