//! Bit codes for lists, with less than a byte per number.
//!
//! * *Truncated binary* for a number below a bound that the decoder knows: log2 of the bound, plus
//!   less than one bit.
//! * *Zeta* codes (Boldi and Vigna, "Codes for the World-Wide Web", 2005) for an unbounded number; the
//!   shrinking parameter is chosen for each list and stored with it.
//! * *Interpolative* coding (Moffat and Stuiver, "Binary interpolative coding for effective index
//!   compression", 2000) for an ascending list: the middle number first, in truncated binary between
//!   the bounds that its neighbours leave, then both halves. The size is close to the information
//!   content of the list, zero if the list has every number in its bounds, and there is no parameter.
//!
//! Bits are written from the most significant bit of each byte. Decoding is checked: truncated or
//! trailing bytes are [`Malformed`].

use super::codec::Malformed;

/// The maximum width of a number in bits.
const MAX_WIDTH: u32 = 64;

/// Writes bits to a byte vector.
pub(crate) struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    /// Bits that are not written yet, at the low end.
    pending: u128,
    count: u32,
}

impl<'a> BitWriter<'a> {
    pub(crate) const fn new(out: &'a mut Vec<u8>) -> Self {
        Self {
            out,
            pending: 0,
            count: 0,
        }
    }

    /// Appends the low `width` bits of a number; its other bits must be zero.
    #[expect(clippy::cast_possible_truncation, reason = "extracts one byte")]
    pub(crate) fn bits(&mut self, value: u64, width: u32) {
        assert!(width <= MAX_WIDTH && (width == MAX_WIDTH || value >> width == 0));
        self.pending = (self.pending << width) | u128::from(value);
        self.count += width;
        while self.count >= 8 {
            self.count -= 8;
            self.out.push((self.pending >> self.count) as u8);
        }
        self.pending &= (1 << self.count) - 1;
    }

    /// Appends a number below `bound`.
    pub(crate) fn below(&mut self, value: u64, bound: u64) {
        assert!(value < bound);
        let (width, short) = truncated(bound);
        if value < short {
            self.bits(value, width - 1);
        } else {
            // At most 2^width - 1, and width is at most 64.
            self.bits(value + short, width);
        }
    }

    /// Appends a number below `u64::MAX` in the zeta code with parameter `k`.
    pub(crate) fn zeta(&mut self, value: u64, k: u32) {
        let number = value + 1;
        let group = number.ilog2() / k;
        self.bits(0, group);
        self.bits(1, 1);
        let low = 1_u64 << (group * k);
        self.below(number - low, group_size(group, k));
    }

    /// Appends the parameter of the shortest zeta code for these numbers, and the numbers.
    pub(crate) fn numbers(&mut self, values: &[u64]) {
        let cost = |k: u32| values.iter().map(|&value| zeta_cost(value, k)).sum::<u64>();
        let k = (1..=8).min_by_key(|&k| cost(k)).unwrap_or(1);
        self.bits(u64::from(k - 1), 3);
        for &value in values {
            self.zeta(value, k);
        }
    }

    /// Appends an ascending list of numbers from `low` to `high`; the decoder must know its length.
    pub(crate) fn ascending(&mut self, list: &[u64], low: u64, high: u64) {
        let left = list.len() / 2;
        let Some(&middle) = list.get(left) else {
            return;
        };
        let right = list.len() - left - 1;
        let (from, to) = (low + left as u64, high - right as u64);
        assert!(from <= middle && middle <= to, "the list ascends in bounds");
        if let Some(bound) = (to - from).checked_add(1) {
            self.below(middle - from, bound);
        } else {
            self.bits(middle, MAX_WIDTH);
        }
        if left > 0 {
            self.ascending(&list[..left], low, middle - 1);
        }
        if right > 0 {
            self.ascending(&list[left + 1..], middle + 1, high);
        }
    }

    /// Fills the last byte with zeros.
    pub(crate) fn finish(mut self) {
        let left = (8 - self.count % 8) % 8;
        self.bits(0, left);
    }
}

/// Returns the width in bits of numbers below a bound, and how many numbers take one bit less.
const fn truncated(bound: u64) -> (u32, u64) {
    if bound <= 1 {
        return (0, 0);
    }
    let width = (bound - 1).ilog2() + 1;
    let short = if width == MAX_WIDTH {
        bound.wrapping_neg()
    } else {
        (1 << width) - bound
    };
    (width, short)
}

/// Returns the number of values in a group of a zeta code.
fn group_size(group: u32, k: u32) -> u64 {
    let low = 1_u64 << (group * k);
    1_u64
        .checked_shl((group + 1) * k)
        .map_or(low.wrapping_neg(), |high| high - low)
}

fn zeta_cost(value: u64, k: u32) -> u64 {
    let group = value.saturating_add(1).ilog2() / k;
    u64::from(group + 1) + u64::from((group + 1) * k)
}

/// Reads bits from a byte slice.
pub(crate) struct BitReader<'a> {
    bytes: &'a [u8],
    /// The number of bits read.
    at: usize,
}

fn truncated_list() -> Malformed {
    Malformed("list is truncated".to_owned())
}

impl<'a> BitReader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Returns the number of remaining bits.
    pub(crate) const fn remaining(&self) -> u64 {
        (8 * self.bytes.len() - self.at) as u64
    }

    pub(crate) fn bits(&mut self, width: u32) -> Result<u64, Malformed> {
        if width == 0 {
            return Ok(0);
        }
        if width > 56 {
            let high = self.bits(width - 32)?;
            return Ok((high << 32) | self.bits(32)?);
        }
        if self.at + width as usize > 8 * self.bytes.len() {
            return Err(truncated_list());
        }
        let rest = &self.bytes[self.at / 8..];
        let window = match rest.first_chunk::<8>() {
            Some(chunk) => u64::from_be_bytes(*chunk),
            None => rest.iter().enumerate().fold(0, |window, (place, byte)| {
                window | u64::from(*byte) << (56 - 8 * place)
            }),
        };
        let value = (window << (self.at % 8)) >> (64 - width);
        self.at += width as usize;
        Ok(value)
    }

    pub(crate) fn below(&mut self, bound: u64) -> Result<u64, Malformed> {
        let (width, short) = truncated(bound);
        if width == 0 {
            return Ok(0);
        }
        let value = self.bits(width - 1)?;
        if value < short {
            return Ok(value);
        }
        let value = (value << 1) | self.bits(1)?;
        Ok(value - short)
    }

    pub(crate) fn zeta(&mut self, k: u32) -> Result<u64, Malformed> {
        let mut group = 0;
        while self.bits(1)? == 0 {
            group += 1;
            if group * k >= MAX_WIDTH {
                return Err(Malformed("number is too long".to_owned()));
            }
        }
        let low = 1_u64 << (group * k);
        let number = self.below(group_size(group, k))?.checked_add(low);
        number
            .map(|number| number - 1)
            .ok_or_else(|| Malformed("number is too large".to_owned()))
    }

    /// Reads numbers that [`BitWriter::numbers`] wrote; each must be at most `largest`.
    pub(crate) fn numbers(&mut self, count: usize, largest: u64) -> Result<Vec<u64>, Malformed> {
        let k = u32::try_from(self.bits(3)?).unwrap_or(0) + 1;
        let mut values = Vec::new();
        for _ in 0..count {
            let value = self.zeta(k)?;
            if value > largest {
                return Err(Malformed("number is too large".to_owned()));
            }
            values.push(value);
        }
        Ok(values)
    }

    /// Reads `count` ascending numbers from `low` to `high` and appends them to `list`.
    pub(crate) fn ascending(
        &mut self,
        count: usize,
        low: u64,
        high: u64,
        list: &mut Vec<u64>,
    ) -> Result<(), Malformed> {
        if count == 0 {
            return Ok(());
        }
        let span = high.checked_sub(low);
        if span.is_none_or(|span| span < count as u64 - 1) {
            return Err(Malformed("list does not fit its bounds".to_owned()));
        }
        self.ascending_within(count, low, high, list)
    }

    /// Reads `count` ascending numbers between bounds that fit them. Then each half fits its bounds too.
    fn ascending_within(
        &mut self,
        count: usize,
        low: u64,
        high: u64,
        list: &mut Vec<u64>,
    ) -> Result<(), Malformed> {
        let left = count / 2;
        let right = count - left - 1;
        let (from, to) = (low + left as u64, high - right as u64);
        let middle = match (to - from).checked_add(1) {
            Some(bound) => from + self.below(bound)?,
            None => self.bits(MAX_WIDTH)?,
        };
        if left > 0 {
            self.ascending_within(left, low, middle - 1, list)?;
        }
        list.push(middle);
        if right > 0 {
            self.ascending_within(right, middle + 1, high, list)?;
        }
        Ok(())
    }

    /// Fails unless only zero bits up to the end of the current byte remain.
    pub(crate) fn finish(mut self) -> Result<(), Malformed> {
        let left = 8 * self.bytes.len() - self.at;
        if left >= 8 || self.bits(u32::try_from(left).unwrap_or(0))? != 0 {
            return Err(Malformed("list has trailing bits".to_owned()));
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "bit_codes_tests.rs"]
mod tests;
