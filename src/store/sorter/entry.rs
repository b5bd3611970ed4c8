//! Entries of a sort, and key prefixes for fast comparisons.

/// A key and its value.
pub type Entry<'a> = (&'a [u8], &'a [u8]);

/// The first 16 bytes of a key as two big-endian numbers; a shorter key is padded with zeros.
pub(super) type Head = [u64; 2];

pub(super) fn head_of(key: &[u8]) -> Head {
    let mut bytes = [0_u8; 16];
    let length = key.len().min(16);
    bytes[..length].copy_from_slice(&key[..length]);
    let both = u128::from_be_bytes(bytes);
    [low(both >> 64), low(both)]
}

#[expect(clippy::cast_possible_truncation, reason = "only the low half is used")]
fn low(both: u128) -> u64 {
    both as u64
}
