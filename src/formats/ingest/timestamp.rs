//! Times of day as crawlers and databases write them.
//!
//! ```text
//! 2026-11-19T04:00:00Z         RFC 3339, ISO 8601: a space or t for T; no seconds; fractions, after
//! 2026-11-19 05:00:00.25+0100  a comma too; Z, z, +01:00, +0100, +01, perhaps after a space
//! 2026-11-19T04:00:00          without a zone: UTC
//! 2026-11-19                   a day: its beginning, in UTC
//! 20261119T040000Z             ISO 8601 without hyphens and colons; with a T
//! 20261119040000               14 digits: YYYYMMDDhhmmss, in UTC, as archives of the web write it
//! 1795060800.25                seconds since 1970
//! ```
//!
//! Of a number, or of digits as text, the length decides: 14 digits are YYYYMMDDhhmmss, since as
//! seconds they would be far beyond the year 9999; up to 11 are seconds, which reach the year 5138.
//! 8 are refused, since they may be a day (20261119) as well as seconds (of 1970 to 1973), and so
//! are all others: 13 are milliseconds, most likely, and nothing is guessed.
//!
//! Written out here, since date crates take other forms than these, and read other instants. `jiff`
//! reads a leap second as the second before it, and refuses the last hours of the year 9999; `time`
//! wants a description for each form. So the grammar would stay here, and a crate could take over
//! no more than the civil calendar.

use super::decimal::{Decimal, decimal};
use crate::clock;

/// When something was, and whether its time zone had to be assumed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Timestamp {
    /// Microseconds since 1970-01-01T00:00:00Z, negative before.
    pub micros: i64,
    /// Whether it is a time of day or a day that names no zone, so that it counts as UTC. Numbers,
    /// which are UTC by their definition, need none.
    pub zone_assumed: bool,
}

/// Why a text is not a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TimestampError {
    /// None of the accepted forms.
    #[error(
        "expected a time such as 2026-11-19T04:00:00Z (also with a space for T, an offset such as +0100, or no zone for UTC), 20261119040000, or seconds since 1970"
    )]
    Form,
    /// The form is right, but there is no such day or time.
    #[error("no such day or time")]
    Range,
    /// A number that is neither of 14 digits nor seconds.
    #[error(
        "expected a number of 14 digits (YYYYMMDDhhmmss), or seconds since 1970 with up to 11 digits but not 8, found {0} digits; milliseconds are not accepted"
    )]
    Digits(usize),
}

const MICROS: i64 = 1_000_000;
const DAY: i64 = 86_400;

/// How many digits seconds have at most.
const MOST_SECONDS: usize = 11;
/// How many digits a day without hyphens has, which seconds therefore may not have.
const OF_A_DAY: usize = 8;
/// How many digits a day and a time without anything between them have.
const OF_A_SECOND: usize = 14;

/// The instant that a text names, in any form that is taken.
///
/// Digits beyond microseconds are dropped. A leap second (`23:59:60` in UTC) reads as the first
/// second of the next day.
///
/// ```
/// use seedbank_formats::ingest::parse_timestamp;
///
/// let rfc_3339 = parse_timestamp("2026-11-19T04:00:00Z")?;
/// assert_eq!(parse_timestamp("20261119040000")?, rfc_3339);
/// assert_eq!(parse_timestamp("1795060800")?, rfc_3339);
/// let local = parse_timestamp("2026-11-19 04:00:00")?;
/// assert!(local.zone_assumed && local.micros == rfc_3339.micros);
/// # Ok::<(), seedbank_formats::ingest::TimestampError>(())
/// ```
pub fn parse_timestamp(text: &str) -> Result<Timestamp, TimestampError> {
    let whole = text.split_once('.').map_or(text, |(whole, _)| whole);
    if !whole.is_empty() && whole.bytes().all(|byte| byte.is_ascii_digit()) {
        // An exponent is for numbers alone.
        let number = decimal(text).filter(|_| !text.contains(['e', 'E']));
        return of_number(number.as_ref().ok_or(TimestampError::Form)?, whole.len());
    }
    let mut rest = text.as_bytes();
    let mut civil = Civil {
        year: number(&mut rest, 4)?,
        ..Civil::default()
    };
    let extended = rest.first() == Some(&b'-');
    let hyphen: &[u8] = if extended { b"-" } else { b"" };
    separator(&mut rest, hyphen)?;
    civil.month = number(&mut rest, 2)?;
    separator(&mut rest, hyphen)?;
    civil.day = number(&mut rest, 2)?;
    let mut offset = None;
    if !rest.is_empty() || !extended {
        expect(&mut rest, if extended { b"Tt " } else { b"Tt" })?;
        let colon: &[u8] = if extended { b":" } else { b"" };
        civil.hour = number(&mut rest, 2)?;
        separator(&mut rest, colon)?;
        civil.minute = number(&mut rest, 2)?;
        let seconds_follow = match rest.first() {
            Some(b':') => extended,
            Some(byte) => !extended && byte.is_ascii_digit(),
            None => false,
        };
        if seconds_follow {
            separator(&mut rest, colon)?;
            civil.second = number(&mut rest, 2)?;
            civil.micros = fraction(&mut rest)?;
        }
        offset = zone(&mut rest)?;
    }
    if !rest.is_empty() {
        return Err(TimestampError::Form);
    }
    Ok(Timestamp {
        micros: civil.micros(offset.unwrap_or(0))?,
        zone_assumed: offset.is_none(),
    })
}

/// The instant that a number names, as JSON writes numbers: the value counts, not its spelling.
pub(super) fn timestamp_of_number(text: &str) -> Result<Timestamp, TimestampError> {
    let number = decimal(text).ok_or(TimestampError::Form)?;
    let digits = usize::try_from(number.point).unwrap_or(0);
    of_number(&number, digits)
}

/// The instant of a number with so many digits before its point.
fn of_number(number: &Decimal, length: usize) -> Result<Timestamp, TimestampError> {
    let Decimal { digits, point, .. } = number;
    if number.negative {
        return Err(TimestampError::Form);
    }
    let whole = usize::try_from(*point).unwrap_or(0);
    if length == OF_A_SECOND && digits.len() <= whole {
        return fourteen_digits(&format!("{:0>length$}", format!("{digits:0<whole$}")));
    }
    if length > MOST_SECONDS || length == OF_A_DAY {
        return Err(TimestampError::Digits(length));
    }
    // The digits down to microseconds, of which there are at most 17.
    let leading = usize::try_from(point.min(&0).unsigned_abs()).unwrap_or(6);
    let zeros = std::iter::repeat_n(b'0', leading.min(6));
    let all = zeros.chain(digits.bytes()).chain(std::iter::repeat(b'0'));
    let micros = all
        .take(whole + 6)
        .fold(0, |n, digit| n * 10 + i64::from(digit - b'0'));
    Ok(Timestamp {
        micros,
        zone_assumed: false,
    })
}

/// `YYYYMMDDhhmmss`, of which the caller knows that it is 14 digits.
fn fourteen_digits(text: &str) -> Result<Timestamp, TimestampError> {
    let mut rest = text.as_bytes();
    let civil = Civil {
        year: number(&mut rest, 4)?,
        month: number(&mut rest, 2)?,
        day: number(&mut rest, 2)?,
        hour: number(&mut rest, 2)?,
        minute: number(&mut rest, 2)?,
        second: number(&mut rest, 2)?,
        micros: 0,
    };
    Ok(Timestamp {
        micros: civil.micros(0)?,
        zone_assumed: false,
    })
}

/// A day and a time of day as they were read; there may be no such.
#[derive(Default)]
struct Civil {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    micros: i64,
}

impl Civil {
    /// The instant, where the local time is `offset` seconds ahead of UTC.
    fn micros(&self, offset: i64) -> Result<i64, TimestampError> {
        let real = (1..=12).contains(&self.month)
            && (1..=month_days(self.year, self.month)).contains(&self.day)
            && self.hour < 24
            && self.minute < 60
            && self.second <= 60;
        if !real {
            return Err(TimestampError::Range);
        }
        let days = days_from_civil(self.year, self.month, self.day);
        let seconds = days * DAY + self.hour * 3600 + self.minute * 60 + self.second - offset;
        if self.second == 60 && seconds.rem_euclid(DAY) != 0 {
            return Err(TimestampError::Range);
        }
        Ok(seconds * MICROS + self.micros)
    }
}

/// Passes over what stands between two numbers, which may be nothing.
fn separator(rest: &mut &[u8], any: &[u8]) -> Result<(), TimestampError> {
    if any.is_empty() {
        return Ok(());
    }
    expect(rest, any)
}

fn expect(rest: &mut &[u8], any: &[u8]) -> Result<(), TimestampError> {
    match rest.split_first() {
        Some((byte, tail)) if any.contains(byte) => {
            *rest = tail;
            Ok(())
        }
        _ => Err(TimestampError::Form),
    }
}

fn number(rest: &mut &[u8], digits: usize) -> Result<i64, TimestampError> {
    let (head, tail) = rest.split_at_checked(digits).ok_or(TimestampError::Form)?;
    if !head.iter().all(u8::is_ascii_digit) {
        return Err(TimestampError::Form);
    }
    *rest = tail;
    Ok(head
        .iter()
        .fold(0, |n, digit| n * 10 + i64::from(digit - b'0')))
}

/// The microseconds of an optional fraction, after a point or a comma.
fn fraction(rest: &mut &[u8]) -> Result<i64, TimestampError> {
    let Some((b'.' | b',', tail)) = rest.split_first() else {
        return Ok(0);
    };
    let digits = tail.iter().take_while(|b| b.is_ascii_digit()).count();
    if digits == 0 {
        return Err(TimestampError::Form);
    }
    let mut weight = MICROS;
    let mut micros = 0;
    for digit in tail.iter().take(digits.min(6)) {
        weight /= 10;
        micros += weight * i64::from(digit - b'0');
    }
    *rest = tail.get(digits..).unwrap_or_default();
    Ok(micros)
}

/// How many seconds the local time is ahead of UTC; `None` where no zone is named.
fn zone(rest: &mut &[u8]) -> Result<Option<i64>, TimestampError> {
    if rest.is_empty() {
        return Ok(None);
    }
    if let Some(tail) = rest.strip_prefix(b" ") {
        *rest = tail;
    }
    let sign = match rest.split_first() {
        Some((b'Z' | b'z', tail)) => {
            *rest = tail;
            return Ok(Some(0));
        }
        Some((b'+', tail)) => {
            *rest = tail;
            1
        }
        Some((b'-', tail)) => {
            *rest = tail;
            -1
        }
        _ => return Err(TimestampError::Form),
    };
    let hours = number(rest, 2)?;
    let minutes = if rest.is_empty() {
        0
    } else {
        if let Some(tail) = rest.strip_prefix(b":") {
            *rest = tail;
        }
        number(rest, 2)?
    };
    if hours > 23 || minutes > 59 {
        return Err(TimestampError::Range);
    }
    Ok(Some(sign * (hours * 3600 + minutes * 60)))
}

/// Days of a month that has been checked to be one, as numbers of this module.
const fn month_days(year: i64, month: i64) -> i64 {
    clock::month_days(year.cast_unsigned(), month.cast_unsigned()).cast_signed()
}

/// Days since 1970-01-01 in the proleptic Gregorian calendar. Years are counted from March, so that
/// the leap day is a year's last (years 0 to 9999, so no intermediate value is out of range).
const fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let march_year = if month <= 2 { year - 1 } else { year };
    let march_month = (month + 9) % 12;
    let leap_days =
        march_year.div_euclid(4) - march_year.div_euclid(100) + march_year.div_euclid(400);
    // (153 m + 2) / 5 is the number of days in m months from March: 31 30 31 30 31, repeated.
    let day_of_year = (153 * march_month + 2) / 5 + day - 1;
    // 719,468 days lie between 0000-03-01 and 1970-01-01.
    march_year * 365 + leap_days + day_of_year - 719_468
}

#[cfg(test)]
#[path = "timestamp_tests.rs"]
mod tests;
