//! How to read a batch.

use super::location::Naming;

/// How to read a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadOptions {
    /// How URLs are normalised and split into sites.
    pub naming: Naming,
    /// The latest time that a record can have, in microseconds since 1970.
    pub latest: i64,
    /// Whether the records of a truncated input that precede its end are a part of the batch. Otherwise it is an error.
    pub keeps_truncated: bool,
}

impl From<Naming> for ReadOptions {
    fn from(naming: Naming) -> Self {
        Self {
            naming,
            latest: i64::MAX,
            keeps_truncated: false,
        }
    }
}
