//! Strings of JSON.

use std::borrow::Cow;

/// The text of a JSON string; `None` where an escaped surrogate has no partner.
pub(in crate::ingest) fn decode(raw: &str) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        serde_json::from_str(raw).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inner))
    }
}
