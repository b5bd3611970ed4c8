//! The limit on the expansion of an input: bytes produced per byte read.
//!
//! Compression, dictionaries and shared lists let a few bytes of input expand to billions of bytes of
//! records. Bytes produced are those of decompressed text, of the values of tables, and of the lists of
//! graphs; bytes read are those of the stored input.

/// The maximum number of bytes produced per byte read. Real crawls stay below a tenth of it (see
/// `src/guide/formats.md`); gzip cannot exceed 1,032.
pub(super) const MAX_RATIO: u64 = 1_000;

/// The number of bytes that any input may expand to, however small it is.
pub(super) const FREE_BYTES: u64 = 64 << 20;

/// An input that expands to more bytes than its size allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "expected at most {MAX_RATIO} bytes for each byte read, found {} ({made} bytes from {read})",
    made.div_ceil(*read.max(&1))
)]
pub struct Expansion {
    /// The number of stored bytes read.
    pub read: u64,
    /// The number of bytes produced from them.
    pub made: u64,
}

/// Returns an error if `made` bytes are too many for `read` bytes.
pub(super) const fn check(read: u64, made: u64) -> Result<(), Expansion> {
    if made > FREE_BYTES && made > read.saturating_mul(MAX_RATIO) {
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
        assert_eq!(check(1 << 20, MAX_RATIO << 20), Ok(()));
        let made = FREE_BYTES + 1;
        let read = made / (2 * MAX_RATIO);
        let said = check(read, made).unwrap_err().to_string();
        let expected = "expected at most 1000 bytes for each byte read, found 2001";
        assert!(said.starts_with(expected), "{said}");
        assert!(check(0, made).is_err());
    }
}
