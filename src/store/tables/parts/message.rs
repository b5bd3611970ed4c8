//! The bytes of requests to other processes of a cluster bank, and of their answers.
//!
//! A message is a sequence of fields, each a length as a varint and that many bytes. The first field of a request
//! is one byte, the operation. Numbers are little-endian.

use crate::error::StoreError;
use crate::tables::codec::{put_varint, take_varint};

/// An operation on a part of a cluster bank in another process. The discriminants are sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operation {
    /// Opens a published state: part, epoch, identity. Answer: a handle, or nothing if the state is gone.
    OpenState = 1,
    /// Closes a handle.
    Close = 2,
    /// Reads a key: handle, table, key. Answer: the value, or nothing.
    Get = 3,
    /// Reads a range: handle, table, flags, bytes to read, first key, and the bound if there is one. Answer:
    /// whether the range ends here, then keys and values in turn.
    Scan = 4,
    /// Returns the size of a table: handle, table. Answer: bytes, keys, whether it is compacted.
    Size = 5,
    /// Returns the size of the log: handle.
    LogBytes = 6,
    /// Takes the lock of the writer: part, whether to wait for it. Answer: the record of its last commits.
    Lock = 7,
    /// Removes what is prepared: part.
    Discard = 8,
    /// Opens the part for writing: part, the decided epoch (0 for none). Answer: a handle, the identity.
    OpenWriter = 9,
    /// Limits the memory of the writer: part, bytes.
    LimitMemory = 10,
    /// Merges small files: part.
    Compact = 11,
    /// Adds changes: part, then tables, keys, and values after a byte that is 1 (0 deletes the key).
    Change = 12,
    /// Prepares the added changes: part, the record of the commit.
    Prepare = 13,
    /// Makes the prepared changes the state, and publishes it: part, epoch.
    Finish = 14,
    /// Closes the writer and releases its lock: part.
    Unlock = 15,
    /// Opens the live database of a part that is open for writing: part. Answer: a handle.
    OpenLive = 16,
}

impl Operation {
    const ALL: [Self; 16] = [
        Self::OpenState,
        Self::Close,
        Self::Get,
        Self::Scan,
        Self::Size,
        Self::LogBytes,
        Self::Lock,
        Self::Discard,
        Self::OpenWriter,
        Self::LimitMemory,
        Self::Compact,
        Self::Change,
        Self::Prepare,
        Self::Finish,
        Self::Unlock,
        Self::OpenLive,
    ];
}

/// Returns the error of a malformed message.
pub(crate) fn malformed() -> StoreError {
    StoreError::Protocol("a message cannot be decoded")
}

/// A message that is being written.
#[derive(Default)]
pub(crate) struct Message(Vec<u8>);

impl Message {
    /// Starts a request.
    pub(crate) fn request(operation: Operation) -> Self {
        Self::default().bytes(&[operation as u8])
    }

    /// Appends a field.
    pub(crate) fn bytes(mut self, bytes: &[u8]) -> Self {
        self.push(bytes);
        self
    }

    /// Appends a field that is a number.
    pub(crate) fn number(self, number: u64) -> Self {
        self.bytes(&number.to_le_bytes())
    }

    /// Appends a field.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        put_varint(bytes.len() as u64, &mut self.0);
        self.0.extend_from_slice(bytes);
    }

    /// Appends the fields of another message.
    pub(crate) fn followed_by(mut self, other: &Self) -> Self {
        self.0.extend_from_slice(&other.0);
        self
    }

    /// Returns the length in bytes.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the bytes.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// The fields of a message that are not read yet.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Fields<'a> {
    /// Returns the next field; `None` after the last one.
    pub(crate) fn next(&mut self) -> Result<Option<&'a [u8]>, StoreError> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let length = take_varint(&mut self.0).map_err(|_| malformed())?;
        let length = usize::try_from(length).map_err(|_| malformed())?;
        let (field, rest) = self.0.split_at_checked(length).ok_or_else(malformed)?;
        self.0 = rest;
        Ok(Some(field))
    }

    /// Returns whether no field is left.
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the next field, which must exist.
    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], StoreError> {
        self.next()?.ok_or_else(malformed)
    }

    /// Returns the next field as a number.
    pub(crate) fn number(&mut self) -> Result<u64, StoreError> {
        let bytes = self.bytes()?.try_into().map_err(|_| malformed())?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Returns the operation of a request.
    pub(crate) fn operation(&mut self) -> Result<Operation, StoreError> {
        let [number] = self.bytes()? else {
            return Err(malformed());
        };
        let known = Operation::ALL.iter().find(|of| **of as u8 == *number);
        known.copied().ok_or_else(malformed)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn fields_are_read_back(fields in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..9)) {
            let mut message = Message::request(Operation::Change).number(7);
            for field in &fields {
                message.push(field);
            }
            let bytes = message.into_bytes();
            let mut read = Fields(&bytes);
            prop_assert_eq!(read.operation().unwrap(), Operation::Change);
            prop_assert_eq!(read.number().unwrap(), 7);
            for field in &fields {
                prop_assert_eq!(read.bytes().unwrap(), field.as_slice());
            }
            prop_assert!(read.next().unwrap().is_none());
        }

        #[test]
        fn any_bytes_are_fields_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let mut fields = Fields(&bytes);
            let _ = fields.operation();
            while let Ok(Some(field)) = fields.next() {
                prop_assert!(field.len() <= bytes.len());
            }
        }
    }
}
