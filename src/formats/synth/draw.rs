//! Counter-based random numbers: every number is a function of the place where it is used.
//!
//! A [`Draw`] is a 64-bit key. Its child for a purpose or a number is one round of the SplitMix64
//! finaliser (Steele, Lea, Flood, OOPSLA 2014) over key + number * golden ratio. The draws of page
//! 7,000,000 of a site cost no more than those of page 0, and no state is kept. Only integer arithmetic,
//! exact IEEE float operations and the pure-Rust `libm` of `rand_distr` are used, so the numbers are the
//! same on every machine.

use rand_pcg::Pcg64Mcg;

/// The purpose of a draw. Different purposes have independent numbers.
#[derive(Clone, Copy, Debug)]
#[repr(u64)]
pub(super) enum Purpose {
    Order = 1,
    Topic,
    Site,
    Birth,
    Death,
    Return,
    Pace,
    Change,
    Click,
    Clicks,
    Style,
    Word,
    Degree,
    Slot,
    Roll,
    Section,
    Extra,
    List,
    Popular,
    Outside,
    Spam,
    Digest,
    Fetched,
    Given,
    Epoch,
    Target,
}

/// A random number, and the key of its children.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draw(u64);

impl Draw {
    pub(super) const fn new(rng_seed: u64) -> Self {
        Self(finalise(rng_seed ^ 0x5EED_BA2C_0000_0001))
    }

    /// Returns the child for a purpose.
    pub(super) const fn child(self, purpose: Purpose) -> Self {
        self.at(!(purpose as u64))
    }

    /// Returns the child for a number: a site, page, slot or day.
    pub(super) const fn at(self, number: u64) -> Self {
        Self(finalise(self.0.wrapping_add(
            number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15),
        )))
    }

    pub(super) const fn bits(self) -> u64 {
        self.0
    }

    /// Returns a uniform number in [0, 1), with 53 bits.
    pub(super) fn unit(self) -> f64 {
        (self.0 >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    pub(super) fn chance(self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Returns a uniform number in 0..n; 0 for n = 0.
    pub(super) const fn below(self, n: u64) -> u64 {
        ((self.0 as u128 * n as u128) >> 64) as u64
    }

    /// Like [`Draw::below`], for 32-bit numbers.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the result is below a 32-bit number"
    )]
    pub(super) const fn below32(self, n: u32) -> u32 {
        self.below(n as u64) as u32
    }

    /// Returns a number in 0..n with density proportional to x^(-2/3): small numbers are popular.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the float is in 0..n"
    )]
    pub(super) fn popular(self, n: u32) -> u32 {
        let unit = self.unit();
        ((unit * unit * unit * f64::from(n)) as u32).min(n.saturating_sub(1))
    }

    /// Returns a generator for a sequence of unknown length.
    pub(super) fn stream(self) -> Pcg64Mcg {
        Pcg64Mcg::new((u128::from(self.0) << 64) | u128::from(finalise(!self.0)))
    }
}

const fn finalise(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_uniform_and_stay_below() {
        let key = Draw::new(1).child(Purpose::Slot);
        let mut counts = [0_u32; 10];
        for number in 0..100_000 {
            let draw = key.at(number).below(10);
            counts[usize::try_from(draw).unwrap()] += 1;
        }
        for count in counts {
            assert!(count.abs_diff(10_000) < 500, "{counts:?}");
        }
        assert_eq!(key.below(0), 0);
        assert_eq!(key.popular(0), 0);
        assert!((0..1000).all(|n| key.at(n).popular(7) < 7));
    }

    #[test]
    fn purposes_and_seeds_do_not_share_a_stream() {
        let key = Draw::new(1);
        assert_ne!(
            key.child(Purpose::Slot).bits(),
            key.child(Purpose::Site).bits()
        );
        assert_ne!(
            key.child(Purpose::Slot).bits(),
            Draw::new(2).child(Purpose::Slot).bits()
        );
    }
}
