//! Parameters that select a part of a list.

use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer};

use crate::serve::query_params::integer;

/// Maximum number of entries of a list in one answer.
pub(super) const MAX_LIMIT: u32 = 10_000;

/// Number of entries of a list in one answer without a parameter `limit`.
pub(super) const fn default_limit() -> u32 {
    100
}

/// Parses the maximum number of entries.
pub(super) fn limit<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let limit: u32 = integer(deserializer)?;
    if (1..=MAX_LIMIT).contains(&limit) {
        Ok(limit)
    } else {
        let expected = format!("a whole number from 1 to {MAX_LIMIT}");
        Err(D::Error::invalid_value(
            Unexpected::Unsigned(limit.into()),
            &expected.as_str(),
        ))
    }
}

/// Parses the value of a parameter that may be omitted, but not be empty.
pub(super) fn not_blank<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.trim().is_empty() {
        return Err(D::Error::invalid_value(Unexpected::Str(&text), &"a text"));
    }
    Ok(text)
}
