//! Lists that plans name, stored by content: one text for all plans and refreshes with the same list.

use crate::tables::codec::Malformed;
use crate::tables::table::{Hash128, Value};

/// The lines of a list, each terminated by a line feed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListText(pub String);

impl ListText {
    /// Returns the key of this text.
    #[must_use]
    pub fn hash(&self) -> Hash128 {
        let mut hash = Hash128::default();
        let digest = blake3::hash(self.0.as_bytes());
        hash.copy_from_slice(&digest.as_bytes()[..16]);
        hash
    }
}

impl Value for ListText {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        out.extend_from_slice(self.0.as_bytes());
        Ok(())
    }
    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let text =
            str::from_utf8(bytes).map_err(|e| Malformed(format!("list is not UTF-8: {e}")))?;
        if text.is_empty() || text.ends_with('\n') {
            Ok(Self(text.to_owned()))
        } else {
            Err(Malformed("the last line of a list is truncated".to_owned()))
        }
    }
}
