//! Content digests. A bank stores a 128-bit hash of each.
//!
//! A digest of the form `blake3-128:` and 32 lower-case hexadecimal digits is taken as the hash itself.
//! Exports use this form, so that a bank created from an export has the same hashes, and digests of
//! later crawls compare equal.

use std::fmt::Write;

/// The prefix of a digest that is a hash already.
const PREFIX: &str = "blake3-128:";

/// Returns the stored hash of a digest: the first 128 bits of the BLAKE3 hash of its text, unless the
/// text is a hash already.
pub(super) fn digest_hash(text: &str) -> [u8; 16] {
    if let Some(hash) = text.strip_prefix(PREFIX).and_then(from_hexadecimal) {
        return hash;
    }
    let mut short = [0; 16];
    short.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..16]);
    short
}

/// Formats a hash as a digest with this hash.
#[must_use]
pub fn digest_text(hash: [u8; 16]) -> String {
    hash.iter().fold(PREFIX.to_owned(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn from_hexadecimal(text: &str) -> Option<[u8; 16]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let pairs: &[[u8; 2]; 16] = pairs.try_into().ok().filter(|_| rest.is_empty())?;
    let mut hash = [0; 16];
    for (byte, [high, low]) in hash.iter_mut().zip(pairs) {
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_stands_for_its_digest() {
        let hash = digest_hash("9f86d081");
        let text = digest_text(hash);
        assert_eq!(text, "blake3-128:f03c6d58b0dd86ac06c7eeba73d1f2d0");
        assert_eq!(digest_hash(&text), hash);
        assert_eq!(digest_hash(&digest_text([0xf0; 16])), [0xf0; 16]);
    }

    #[test]
    fn other_texts_are_digests_like_any_other() {
        let digits = "0123456789abcdef0123456789abcdef";
        let hash = digest_hash(&format!("{PREFIX}{digits}"));
        for other in [
            digits.to_owned(),
            format!("{PREFIX}{}", digits.to_uppercase()),
            format!("{PREFIX}{digits}0"),
            format!("{PREFIX}{}", &digits[..30]),
            format!("{PREFIX}{}", digits.replace('a', "g")),
            format!("{PREFIX} {digits}"),
            PREFIX.to_owned(),
        ] {
            let own = blake3::hash(other.as_bytes());
            assert_eq!(digest_hash(&other), own.as_bytes()[..16], "{other}");
            assert_ne!(digest_hash(&other), hash, "{other}");
        }
    }
}
