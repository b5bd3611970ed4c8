//! The current time.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the seconds since 1970 (UTC); 0 if the clock is before that.
pub(super) fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}
