//! How a command ended.

/// How a command ended on the coordinator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The command succeeded.
    Succeeded,
    /// The command failed with this message.
    Failed(String),
}

impl Outcome {
    /// Encodes an outcome: 0, or 1 and the message.
    pub(crate) fn encode(&self) -> Vec<u8> {
        match self {
            Self::Succeeded => vec![0],
            Self::Failed(message) => [&[1], message.as_bytes()].concat(),
        }
    }

    /// Decodes an outcome. `None` means that the bytes are invalid.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0] => Some(Self::Succeeded),
            [1, message @ ..] => Some(Self::Failed(String::from_utf8_lossy(message).into_owned())),
            _ => None,
        }
    }
}
