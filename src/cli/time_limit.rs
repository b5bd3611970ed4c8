//! Parses and formats time limits.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The units, largest first: the letter to type, the text to print, and the seconds.
const UNITS: [(char, &str, u64); 4] = [
    ('d', "d", 86_400),
    ('h', "h", 3600),
    ('m', "min", 60),
    ('s', "s", 1),
];

/// The maximum in seconds: a year.
const MAX_SECONDS: u64 = 365 * 86_400;

/// A time limit: a whole number of seconds, at least one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TimeLimit(u64);

impl TimeLimit {
    pub(super) const fn duration(self) -> Duration {
        Duration::from_secs(self.0)
    }
}

impl FromStr for TimeLimit {
    type Err = &'static str;

    /// Parses numbers with units: 90s, 20m, 1h30m.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str =
            "expected whole numbers followed by s, m, h or d, such as 90s or 1h30m";
        let mut seconds: u64 = 0;
        let mut remaining = text.trim();
        while !remaining.is_empty() {
            let digits = remaining
                .find(|c: char| !c.is_ascii_digit())
                .ok_or(EXPECTED)?;
            let number: u64 = remaining[..digits].parse().map_err(|_| EXPECTED)?;
            let typed = remaining[digits..].chars().next().ok_or(EXPECTED)?;
            let unit = UNITS
                .iter()
                .find(|(unit, ..)| *unit == typed)
                .ok_or(EXPECTED)?;
            let more = number.checked_mul(unit.2);
            seconds = more
                .and_then(|more| seconds.checked_add(more))
                .ok_or(EXPECTED)?;
            remaining = &remaining[digits + 1..];
        }
        if text.trim().is_empty() {
            return Err(EXPECTED);
        }
        if (1..=MAX_SECONDS).contains(&seconds) {
            Ok(Self(seconds))
        } else {
            Err("expected a time from 1s to 365d")
        }
    }
}

impl fmt::Display for TimeLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut remaining = self.0;
        let mut space = "";
        for (_, shown, seconds) in UNITS {
            if remaining >= seconds {
                write!(f, "{space}{} {shown}", remaining / seconds)?;
                remaining %= seconds;
                space = " ";
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (typed, seconds, shown) in [
            ("90s", 90, "1 min 30 s"),
            ("20m", 1200, "20 min"),
            (" 2h ", 7200, "2 h"),
            ("1h30m", 5400, "1 h 30 min"),
            ("365d", MAX_SECONDS, "365 d"),
        ] {
            let limit: TimeLimit = typed.parse().unwrap();
            assert_eq!(limit.duration().as_secs(), seconds, "{typed}");
            assert_eq!(limit.to_string(), shown);
        }
        for bad in [
            "",
            " ",
            "20",
            "m",
            "1.5h",
            "-1s",
            "20 m",
            "20min",
            "20M",
            "0s",
            "366d",
            "1é",
            "99999999999999999999s",
            "18446744073709551615d",
        ] {
            assert!(bad.parse::<TimeLimit>().is_err(), "{bad}");
        }
    }
}
