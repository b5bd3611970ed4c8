//! Parsing of times in the forms that crawlers and databases write.
//!
//! ```text
//! 2026-11-19T04:00:00Z         RFC 3339, ISO 8601: also space or t for T; without seconds; with a
//! 2026-11-19 05:00:00.25+0100  fraction after . or ,; Z, z, +01:00, +0100, +01, also after a space
//! 2026-11-19T04:00:00          without a zone: UTC is assumed
//! 2026-11-19                   a day: its start in UTC
//! 20261119T040000Z             ISO 8601 basic format, with T
//! 20261119040000               14 digits: YYYYMMDDhhmmss in UTC, as in web archives
//! 1795060800.25                seconds since 1970
//! ```
//!
//! Numbers, and texts of digits, are interpreted by their length: 14 digits are YYYYMMDDhhmmss, since as
//! seconds they would be far beyond the year 9999; up to 11 digits are seconds, which reach the year
//! 5138. 8 digits are rejected, since they may be a day (20261119) or seconds (1970 to 1973). All other
//! lengths are rejected; 13 digits are probably milliseconds, but nothing is guessed.
//!
//! Date crates accept other forms and differ in edge cases: `jiff` reads a leap second as the second
//! before it and rejects the last hours of the year 9999; `time` needs a description of each form. A
//! crate could replace only the calendar arithmetic.

use super::decimal::{Decimal, decimal};
use crate::clock;

/// An instant, and whether its time zone was assumed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Timestamp {
    /// Microseconds since 1970-01-01T00:00:00Z, negative before.
    pub micros: i64,
    /// Whether the text has no time zone, so that UTC is assumed. `false` for numbers, which are UTC by
    /// definition.
    pub zone_assumed: bool,
}

/// Why a text is not a valid time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TimestampError {
    /// Not one of the accepted forms.
    #[error(
        "expected a time such as 2026-11-19T04:00:00Z (also with a space for T, an offset such as +0100, or no zone for UTC), 20261119040000, or seconds since 1970"
    )]
    Form,
    /// A day or time that does not exist.
    #[error("no such day or time")]
    Range,
    /// A number with an unsupported number of digits.
    #[error(
        "expected a number of 14 digits (YYYYMMDDhhmmss), or seconds since 1970 with up to 11 digits but not 8, found {0} digits; milliseconds are not accepted"
    )]
    Digits(usize),
}

const MICROS: i64 = 1_000_000;
const DAY: i64 = 86_400;

/// The maximum number of digits of seconds.
const MAX_SECONDS_DIGITS: usize = 11;
/// The number of digits of YYYYMMDD, which is not accepted.
const DAY_DIGITS: usize = 8;
/// The number of digits of YYYYMMDDhhmmss.
const SECOND_DIGITS: usize = 14;

/// Parses a time in any accepted form.
///
/// Digits beyond microseconds are dropped. A leap second (`23:59:60` in UTC) is read as the first second
/// of the next day.
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
        // Exponents are accepted in JSON numbers only.
        let number = decimal(text).filter(|_| !text.contains(['e', 'E']));
        return from_decimal(number.as_ref().ok_or(TimestampError::Form)?, whole.len());
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

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// Names of time zones that are unambiguous.
const ZONES: [(&str, &str); 22] = [
    ("UTC", "Z"),
    ("GMT", "Z"),
    ("Z", "Z"),
    ("WET", "Z"),
    ("WEST", "+0100"),
    ("CET", "+0100"),
    ("CEST", "+0200"),
    ("EET", "+0200"),
    ("EEST", "+0300"),
    ("MSK", "+0300"),
    ("JST", "+0900"),
    ("KST", "+0900"),
    ("EST", "-0500"),
    ("EDT", "-0400"),
    ("CDT", "-0500"),
    ("MST", "-0700"),
    ("MDT", "-0600"),
    ("PST", "-0800"),
    ("PDT", "-0700"),
    ("AKST", "-0900"),
    ("AKDT", "-0800"),
    ("HST", "-1000"),
];

/// Parses a time whose month and zone have names. A zone whose name is ambiguous or unknown counts as UTC, as a missing zone
/// does.
pub(super) fn parse_named(
    year: &str,
    month: &str,
    day: &str,
    time: &str,
    zone: &str,
) -> Option<Timestamp> {
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    let known = ZONES.iter().find(|(name, _)| *name == zone);
    let zone = match known {
        Some((_, offset)) => offset,
        None if zone.starts_with(['+', '-']) => zone,
        None => "",
    };
    parse_timestamp(&format!("{year}-{month:02}-{day:0>2}T{time}{zone}")).ok()
}

/// Parses a time as in e-mail and RSS (RFC 5322): `Thu, 19 Nov 2026 04:00:00 GMT`, perhaps without the day of the week,
/// seconds or zone.
pub(super) fn parse_mail_date(text: &str) -> Option<Timestamp> {
    let text = text.split_once(',').map_or(text, |(_, date)| date);
    let mut parts = text.split_ascii_whitespace();
    let [day, month, year, time] = [(); 4].map(|()| parts.next());
    let (day, month, year, time) = (day?, month?.get(..3)?, year?, time?);
    let century = if year.len() == 2 { "20" } else { "" };
    let seconds = if time.len() == 5 { ":00" } else { "" };
    let zone = parts.next().unwrap_or_default();
    parse_named(
        &[century, year].concat(),
        month,
        day,
        &[time, seconds].concat(),
        zone,
    )
}

/// Parses a time from a JSON number; the value counts, not the notation.
pub(super) fn parse_timestamp_number(text: &str) -> Result<Timestamp, TimestampError> {
    let number = decimal(text).ok_or(TimestampError::Form)?;
    let digits = usize::try_from(number.point).unwrap_or(0);
    from_decimal(&number, digits)
}

/// Converts a number with `length` digits before its point.
fn from_decimal(number: &Decimal, length: usize) -> Result<Timestamp, TimestampError> {
    let Decimal { digits, point, .. } = number;
    if number.negative {
        return Err(TimestampError::Form);
    }
    let whole = usize::try_from(*point).unwrap_or(0);
    if length == SECOND_DIGITS && digits.len() <= whole {
        return parse_14_digits(&format!("{:0>length$}", format!("{digits:0<whole$}")));
    }
    if length > MAX_SECONDS_DIGITS || length == DAY_DIGITS {
        return Err(TimestampError::Digits(length));
    }
    // Digits down to microseconds, at most 17.
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

/// Parses `YYYYMMDDhhmmss`.
fn parse_14_digits(text: &str) -> Result<Timestamp, TimestampError> {
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

/// A day and a time of day, not validated.
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
    /// Returns the instant in microseconds since 1970; local time is `offset` seconds ahead of UTC.
    fn micros(&self, offset: i64) -> Result<i64, TimestampError> {
        let exists = (1..=12).contains(&self.month)
            && (1..=month_days(self.year, self.month)).contains(&self.day)
            && self.hour < 24
            && self.minute < 60
            && self.second <= 60;
        if !exists {
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

/// Skips a separator; an empty set of separators skips nothing.
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

/// Parses an optional fraction after a point or comma, in microseconds.
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

/// Parses an optional time zone: the seconds by which local time is ahead of UTC.
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

/// Returns the number of days of a month in 1 to 12.
const fn month_days(year: i64, month: i64) -> i64 {
    clock::month_days(year.cast_unsigned(), month.cast_unsigned()).cast_signed()
}

/// Returns the days since 1970-01-01 in the proleptic Gregorian calendar, for years 0 to 9999. Years are
/// counted from March, so that a leap day is the last day of its year.
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
