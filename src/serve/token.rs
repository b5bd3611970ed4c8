//! The secret that a request has to know where the server is open to other machines.

use std::fmt;

/// The fewest bytes of a token.
const LEAST: usize = 16;

/// A secret of at least 16 bytes, of which only a hash is held.
///
/// ```
/// use seedbank::serve::Token;
///
/// assert!(Token::new(b"too short").is_err());
/// let token = Token::new(b"a secret of 29 bytes, or more").unwrap();
/// assert!(token.is(b"a secret of 29 bytes, or more"));
/// assert!(!token.is(b"a secret"));
/// ```
#[derive(Clone)]
pub struct Token(blake3::Hash);

/// A token that is too short to be secure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("expected a token of at least {LEAST} bytes, found {bytes}")]
pub struct ShortToken {
    /// How many it has.
    pub bytes: usize,
}

impl Token {
    /// A token of these bytes.
    pub fn new(secret: &[u8]) -> Result<Self, ShortToken> {
        if secret.len() < LEAST {
            return Err(ShortToken {
                bytes: secret.len(),
            });
        }
        Ok(Self(blake3::hash(secret)))
    }

    /// Whether these bytes are the token, told in a time that says nothing of where they differ.
    #[must_use]
    pub fn is(&self, given: &[u8]) -> bool {
        // Hashes are compared in constant time, and depend on every byte.
        blake3::hash(given) == self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}
