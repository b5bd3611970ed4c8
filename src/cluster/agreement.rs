//! Values that all processes must share.

/// Named values that all processes of a command must share, such as the program version and the command.
///
/// The number of processes, their banks and the patience of the members file are compared in any case.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Agreement(Vec<(String, String)>);

/// A value that differs between two processes. `None` means that a process has no value of that name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "the processes do not agree on {name}: process {first} has {}, process {second} has {}",
    text(first_value.as_ref()),
    text(second_value.as_ref())
)]
pub struct Difference {
    /// The name of the value.
    pub name: String,
    /// The lower number of the two processes.
    pub first: usize,
    /// The value of process `first`.
    pub first_value: Option<String>,
    /// The higher number of the two processes.
    pub second: usize,
    /// The value of process `second`.
    pub second_value: Option<String>,
}

fn text(value: Option<&String>) -> String {
    value.map_or("no value".to_owned(), |value| format!("{value:?}"))
}

impl Agreement {
    /// Creates an agreement from names and values. The first value that differs is the one reported.
    pub fn new<N: Into<String>, V: Into<String>>(values: impl IntoIterator<Item = (N, V)>) -> Self {
        let values = values.into_iter();
        Self(
            values
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        )
    }

    /// Adds a value.
    pub(crate) fn add(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.push((name.into(), value.into()));
    }

    fn value_of(&self, name: &str) -> Option<&String> {
        self.0
            .iter()
            .find(|(other, _)| other == name)
            .map(|(_, value)| value)
    }

    /// Compares the agreements of two processes, each with its number. Both processes get the same result.
    pub(crate) fn compare(ours: (usize, &Self), theirs: (usize, &Self)) -> Result<(), Difference> {
        let (first, second) = if ours.0 <= theirs.0 {
            (ours, theirs)
        } else {
            (theirs, ours)
        };
        for (name, _) in first.1.0.iter().chain(&second.1.0) {
            let (first_value, second_value) = (first.1.value_of(name), second.1.value_of(name));
            if first_value != second_value {
                return Err(Difference {
                    name: name.clone(),
                    first: first.0,
                    first_value: first_value.cloned(),
                    second: second.0,
                    second_value: second_value.cloned(),
                });
            }
        }
        Ok(())
    }

    /// Encodes the names and values: each a length (u32, little-endian) and UTF-8.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for text in self.0.iter().flat_map(|(name, value)| [name, value]) {
            bytes.extend((u32::try_from(text.len()).unwrap_or(u32::MAX)).to_le_bytes());
            bytes.extend(text.as_bytes());
        }
        bytes
    }

    /// Decodes what [`encode`](Self::encode) returned. `None` means that the bytes are invalid.
    pub(crate) fn decode(mut bytes: &[u8]) -> Option<Self> {
        let mut text = || {
            let (length, rest) = bytes.split_first_chunk::<4>()?;
            let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
            let (text, rest) = rest.split_at_checked(length)?;
            bytes = rest;
            Some((str::from_utf8(text).ok()?.to_owned(), bytes.is_empty()))
        };
        let mut values = Vec::new();
        loop {
            let (name, _) = text()?;
            let (value, is_end) = text()?;
            values.push((name, value));
            if is_end {
                return Some(Self(values));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_difference_is_named_with_both_values() {
        let ours = Agreement::new([("version", "1"), ("command", "refresh")]);
        assert_eq!(Agreement::compare((0, &ours), (2, &ours.clone())), Ok(()));
        for (theirs, expected) in [
            (
                Agreement::new([("version", "2"), ("command", "status")]),
                r#"the processes do not agree on version: process 0 has "1", process 2 has "2""#,
            ),
            (
                Agreement::new([("version", "1")]),
                r#"the processes do not agree on command: process 0 has "refresh", process 2 has no value"#,
            ),
            (
                Agreement::new([("version", "1"), ("command", "refresh"), ("banks", "4")]),
                r#"the processes do not agree on banks: process 0 has no value, process 2 has "4""#,
            ),
        ] {
            let difference = Agreement::compare((0, &ours), (2, &theirs)).unwrap_err();
            assert_eq!(difference.to_string(), expected);
            let reverse = Agreement::compare((2, &theirs), (0, &ours)).unwrap_err();
            assert_eq!(reverse, difference);
        }
    }

    proptest! {
        #[test]
        fn encoding_round_trips(values in proptest::collection::vec((".*", ".*"), 1..5)) {
            let agreement = Agreement::new(values);
            prop_assert_eq!(Agreement::decode(&agreement.encode()), Some(agreement));
        }

        #[test]
        fn decoding_accepts_only_what_encoding_returns(bytes: Vec<u8>) {
            if let Some(agreement) = Agreement::decode(&bytes) {
                prop_assert_eq!(agreement.encode(), bytes);
            }
        }
    }
}
