//! The secret token of a server that other machines can reach.

use std::fmt;

/// Minimum length of a token in bytes.
const MIN_BYTES: usize = 16;

/// A secret token of at least 16 bytes. Only its hash is kept in memory.
///
/// ```
/// use seedbank::serve::Token;
///
/// assert!(Token::new(b"too short").is_err());
/// let token = Token::new(b"a secret of 29 bytes, or more").unwrap();
/// assert!(token.matches(b"a secret of 29 bytes, or more"));
/// assert!(!token.matches(b"a secret"));
/// ```
#[derive(Clone)]
pub struct Token(blake3::Hash);

/// Error for a token that is too short to be secure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("expected a token of at least {MIN_BYTES} bytes, found {bytes}")]
pub struct ShortToken {
    /// Length of the token in bytes.
    pub bytes: usize,
}

impl Token {
    /// Creates a token from a secret of at least 16 bytes.
    pub fn new(secret: &[u8]) -> Result<Self, ShortToken> {
        if secret.len() < MIN_BYTES {
            return Err(ShortToken {
                bytes: secret.len(),
            });
        }
        Ok(Self(blake3::hash(secret)))
    }

    /// Returns whether `secret` is the token, in a time that does not depend on where they differ.
    #[must_use]
    pub fn matches(&self, secret: &[u8]) -> bool {
        // blake3 compares hashes in constant time.
        blake3::hash(secret) == self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}
