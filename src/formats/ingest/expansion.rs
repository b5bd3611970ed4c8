//! The limit on what an input may stand for: bytes made of each byte read.
//!
//! Compression, dictionaries and lists that share their elements let a few bytes of input stand for
//! billions of bytes of records. The bytes made are those of decompressed text, of the values of
//! tables, and of the lists of graphs; the bytes read are those of the input as it is stored.

/// The most bytes that may be made of each byte read. Real crawls stay below a tenth of it, see
/// `src/guide/formats.md`; gzip cannot exceed 1,032.
pub(super) const MOST_RATIO: u64 = 1_000;

/// How many bytes any input may be made into, however few bytes it has.
pub(super) const FREE_BYTES: u64 = 64 << 20;

/// An input expanded to more bytes than its size allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "expected at most {MOST_RATIO} bytes for each byte read, found {} ({made} bytes from {read})",
    made.div_ceil(*read.max(&1))
)]
pub struct Expansion {
    /// How many bytes were read, as stored.
    pub read: u64,
    /// How many bytes were made of them.
    pub made: u64,
}

/// Refuses to go on where `made` bytes are too many for `read` bytes.
pub(super) const fn check(read: u64, made: u64) -> Result<(), Expansion> {
    if made > FREE_BYTES && made > read.saturating_mul(MOST_RATIO) {
        return Err(Expansion { read, made });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_may_not_outgrow_what_is_read() {
        assert_eq!(check(0, FREE_BYTES), Ok(()));
        assert_eq!(check(1 << 20, MOST_RATIO << 20), Ok(()));
        let made = FREE_BYTES + 1;
        let read = made / (2 * MOST_RATIO);
        let said = check(read, made).unwrap_err().to_string();
        let expected = "expected at most 1000 bytes for each byte read, found 2001";
        assert!(said.starts_with(expected), "{said}");
        assert!(check(0, made).is_err());
    }
}
