//! The bytes of requests between the processes of an ingest.
//!
//! A request starts with its [topic](RequestTopic) and a kind. Numbers are little-endian.

use crate::engine::request_topic::RequestTopic;
use seedbank_store::{Entry, StoreError};

const TOPIC: u8 = RequestTopic::Ingest as u8;

/// What a request asks for. The discriminants are sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::engine) enum Kind {
    /// Begin an ingest: `Begin` as JSON.
    Begin = 0,
    /// Run a step: `Step` as JSON. Answer: its result as JSON.
    Step = 1,
    /// Receive entries: the stream, then for each entry the lengths of key and value, and both.
    Entries = 2,
    /// End the ingest.
    End = 3,
}

/// Returns the error of a request that cannot be decoded.
pub(in crate::engine) fn malformed() -> StoreError {
    StoreError::Protocol("a request of an ingest cannot be decoded")
}

/// Returns a request with a body.
pub(in crate::engine) fn request(kind: Kind, body: &[u8]) -> Vec<u8> {
    [&[TOPIC, kind as u8], body].concat()
}

/// Returns the kind and the body of a request; `None` if it is not about an ingest.
pub(in crate::engine) fn parse(request: &[u8]) -> Result<Option<(Kind, &[u8])>, StoreError> {
    let Some(rest) = RequestTopic::Ingest.strip(request) else {
        return Ok(None);
    };
    let (kind, body) = rest.split_first().ok_or_else(malformed)?;
    let kinds = [Kind::Begin, Kind::Step, Kind::Entries, Kind::End];
    let kind = kinds.into_iter().find(|of| *of as u8 == *kind);
    Ok(Some((kind.ok_or_else(malformed)?, body)))
}

/// Starts a request with entries of a stream.
pub(super) fn start_entries(request: &mut Vec<u8>, stream: u8) {
    request.extend_from_slice(&[TOPIC, Kind::Entries as u8, stream]);
}

/// Appends an entry to a request.
pub(super) fn put_entry(request: &mut Vec<u8>, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
    for field in [key, value] {
        let length = u32::try_from(field.len());
        let length = length.map_err(|_| StoreError::Full("byte of a record"))?;
        request.extend_from_slice(&length.to_le_bytes());
    }
    request.extend_from_slice(key);
    request.extend_from_slice(value);
    Ok(())
}

/// Takes the next entry off a request; `None` at its end.
pub(super) fn next_entry<'a>(entries: &mut &'a [u8]) -> Result<Option<Entry<'a>>, StoreError> {
    if entries.is_empty() {
        return Ok(None);
    }
    let mut length = || {
        let (length, rest) = entries.split_first_chunk::<4>().ok_or_else(malformed)?;
        *entries = rest;
        Ok::<_, StoreError>(u32::from_le_bytes(*length) as usize)
    };
    let (of_key, of_value) = (length()?, length()?);
    let (key, rest) = entries.split_at_checked(of_key).ok_or_else(malformed)?;
    let (value, rest) = rest.split_at_checked(of_value).ok_or_else(malformed)?;
    *entries = rest;
    Ok(Some((key, value)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn entries_are_read_back(entries in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..40), prop::collection::vec(any::<u8>(), 0..40)), 0..20)) {
            let mut bytes = Vec::new();
            start_entries(&mut bytes, 7);
            for (key, value) in &entries {
                put_entry(&mut bytes, key, value).unwrap();
            }
            let (kind, body) = parse(&bytes).unwrap().unwrap();
            prop_assert_eq!((kind, body[0]), (Kind::Entries, 7));
            let mut left = &body[1..];
            for (key, value) in &entries {
                let read = next_entry(&mut left).unwrap().unwrap();
                prop_assert_eq!(read, (key.as_slice(), value.as_slice()));
            }
            prop_assert_eq!(next_entry(&mut left).unwrap(), None);
        }

        #[test]
        fn any_bytes_are_entries_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let mut left = bytes.as_slice();
            while let Ok(Some((key, value))) = next_entry(&mut left) {
                prop_assert!(key.len() + value.len() <= bytes.len());
            }
            let _ = parse(&bytes);
        }
    }
}
