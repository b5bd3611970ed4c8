//! Quantised scores and weights, which a later refresh can reuse.
//!
//! There are few values, and sums of them are exact in any order: they are multiples of a power of
//! two with few digits. So decisions that depend on them are reproducible.

/// Bits of a score after the leading one: neighbouring values are 3 to 6 % apart.
const SCORE_BITS: u32 = 4;
/// Octaves between the smallest score and the largest, 1. Scores below half of the smallest are 0.
const OCTAVES: u32 = 9;
/// The code of the score 1.
const TOP: u8 = (OCTAVES << SCORE_BITS).to_le_bytes()[0] + 1;
/// Bits of a weight after the leading one: neighbouring values are at most 0.05 % apart.
const WEIGHT_BITS: u32 = 11;

/// Returns the code of a score, as a share of the largest; 0 for the score 0.
pub(super) fn score_code(share: f64) -> u8 {
    let least = f64::exp2(-f64::from(OCTAVES));
    if share >= 1.0 {
        TOP
    } else if share >= least {
        // The bits of a float are its octave and then its digits, so that rounding carries over.
        let rounded = share.to_bits() + (1 << (51 - SCORE_BITS));
        let above = (rounded - least.to_bits()) >> (52 - SCORE_BITS);
        (above.to_le_bytes()[0] + 1).min(TOP)
    } else {
        u8::from(share >= least / 2.0)
    }
}

/// Returns the score of a code; 0 for invalid codes.
pub(super) fn score(code: u8) -> f64 {
    if code == 0 || code > TOP {
        return 0.0;
    }
    let least = f64::exp2(-f64::from(OCTAVES));
    f64::from_bits(least.to_bits() + (u64::from(code - 1) << (52 - SCORE_BITS)))
}

/// Returns the code of the smallest weight that is at least this one; 0 is the weight 1. `None` for
/// weights above 2^32.
pub(super) fn weight_code(weight: f64) -> Option<u16> {
    let above = weight.max(1.0).to_bits() - 1.0_f64.to_bits();
    let rounded = above.checked_add((1 << (52 - WEIGHT_BITS)) - 1)? >> (52 - WEIGHT_BITS);
    u16::try_from(rounded).ok()
}

/// Returns the weight of a code.
pub(super) fn weight(code: u16) -> f64 {
    f64::from_bits(1.0_f64.to_bits() + (u64::from(code) << (52 - WEIGHT_BITS)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn codes_and_values_are_one_to_one() {
        assert_eq!((score(0), score(1), score(TOP)), (0.0, 1.0 / 512.0, 1.0));
        for code in 0..=TOP {
            assert_eq!(score_code(score(code)), code);
        }
        assert_eq!((score(TOP + 1), score(u8::MAX)), (0.0, 0.0));
        for code in [0, 1, 2047, 2048, 2049, u16::MAX] {
            assert_eq!(weight_code(weight(code)), Some(code));
        }
        assert_eq!((weight(0), weight(2048), weight(6144)), (1.0, 2.0, 8.0));
        assert_eq!(weight_code(f64::INFINITY), None);
    }

    proptest! {
        #[test]
        fn values_are_near(share in 0.0_f64..1.0, least in 0.0_f64..3e9) {
            let near = score(score_code(share));
            let is_near = (near - share).abs() <= share / 32.0 || share < 1.0 / 512.0;
            prop_assert!(is_near && (near == 0.0) == (share < 1.0 / 1024.0));
            let above = weight(weight_code(least).unwrap());
            prop_assert!(above >= least && above <= least.max(1.0) * (1.0 + 1.0 / 2048.0));
        }
    }
}
