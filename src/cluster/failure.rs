//! Why a member did not answer a request.

/// The size of the length of a message.
const LENGTH: usize = 4;

/// An error of the handler of a request, as the member reports it to the coordinator.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Failure {
    /// The kind of the error. The caller defines the kinds; 0 is an error of this crate.
    pub kind: u8,
    /// What is wrong.
    pub message: String,
    /// What the user can do about it; empty if there is no advice.
    pub hint: String,
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self {
            message,
            ..Self::default()
        }
    }
}

impl Failure {
    /// Encodes the error: its kind, the length of its message (u32, little-endian), the message, and the hint.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let message = self.message.as_bytes();
        // A message that is too long is decoded without its end.
        let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
        let length = length.to_le_bytes();
        [&[self.kind], &length[..], message, self.hint.as_bytes()].concat()
    }

    /// Decodes an error. Invalid bytes are a message.
    pub(crate) fn decode(bytes: &[u8]) -> Self {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        Self::split(bytes).map_or_else(
            || text(bytes).into(),
            |(kind, message, hint)| Self {
                kind,
                message: text(message),
                hint: text(hint),
            },
        )
    }

    fn split(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
        let (kind, rest) = bytes.split_first()?;
        let (length, rest) = rest.split_first_chunk::<LENGTH>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let (message, hint) = rest.split_at_checked(length)?;
        Some((*kind, message, hint))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_error_is_read_back(kind: u8, message: String, hint: String) {
            let failure = Failure { kind, message, hint };
            prop_assert_eq!(Failure::decode(&failure.encode()), failure);
        }

        #[test]
        fn any_bytes_are_an_error(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let failure = Failure::decode(&bytes);
            // Each byte that is not part of a character becomes one of three bytes.
            prop_assert!(failure.message.len() + failure.hint.len() <= 3 * bytes.len());
        }
    }

    #[test]
    fn bytes_without_a_whole_message_are_a_message() {
        let whole = Failure {
            kind: 5,
            message: "no".to_owned(),
            hint: String::new(),
        };
        let bytes = whole.encode();
        assert_eq!(Failure::decode(&bytes), whole);
        let cut = Failure::decode(&bytes[..6]);
        assert_eq!(cut, "\u{5}\u{2}\0\0\0n".to_owned().into());
    }
}
