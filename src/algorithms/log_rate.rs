//! Limits how often something is logged that strangers can cause.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time between two lines.
const INTERVAL: Duration = Duration::from_secs(1);

/// Lets one line of a kind be logged each second, and counts the others.
///
/// ```
/// use std::time::Instant;
///
/// use seedbank_algorithms::log_rate::LogRate;
///
/// let rate = LogRate::new();
/// if let Some(left_out) = rate.admit(Instant::now()) {
///     eprintln!("refused a connection{left_out}");
/// }
/// ```
#[derive(Debug)]
pub struct LogRate(Mutex<State>);

#[derive(Debug)]
struct State {
    /// The time of the last line.
    last: Option<Instant>,
    left_out: LeftOut,
}

/// The number of lines that were left out before a line, formatted for its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LeftOut(u64);

impl LogRate {
    /// Creates a rate under which nothing was logged yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(Mutex::new(State {
            last: None,
            left_out: LeftOut(0),
        }))
    }

    /// Returns whether a line may be logged now, and what to add to it.
    #[must_use]
    pub fn admit(&self, now: Instant) -> Option<LeftOut> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_early = |last| now.saturating_duration_since(last) < INTERVAL;
        if state.last.is_some_and(is_early) {
            state.left_out.0 = state.left_out.0.saturating_add(1);
            return None;
        }
        state.last = Some(now);
        Some(std::mem::take(&mut state.left_out))
    }
}

impl Default for LogRate {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            count => write!(f, " (before it, {count} more that were not logged)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_a_second_says_how_many_were_left_out() {
        let rate = LogRate::new();
        let begin = Instant::now();
        let lines = (0..2_500).filter_map(|number| {
            let left_out = rate.admit(begin + Duration::from_millis(number))?;
            Some(format!("{number}{left_out}"))
        });
        let more = " (before it, 999 more that were not logged)";
        assert_eq!(
            lines.collect::<Vec<_>>(),
            ["0".to_owned(), format!("1000{more}"), format!("2000{more}")]
        );
    }
}
