//! RFC 3339 timestamps, read strictly.
//!
//! Written out here, since date crates accept more than the RFC does, and read other instants.
//! `jiff` accepts a blank in place of `T`, times without seconds, basic forms, short offsets and
//! zones in brackets, reads a leap second as the second before it, and refuses the last hours of
//! the year 9999; `time` is closer, but differs in blanks and leap seconds. So the grammar would
//! stay here, and a crate could take over no more than the civil calendar.

use crate::clock;

/// Why a text is no RFC 3339 timestamp.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TimestampProblem {
    /// Not of the form `YYYY-MM-DDThh:mm:ss[.fraction](Z|+hh:mm|-hh:mm)`.
    #[error("not of the form 2026-11-19T04:00:00Z")]
    Form,
    /// The form is right, but there is no such day or time.
    #[error("no such day or time")]
    Range,
}

const MICROS: i64 = 1_000_000;
const DAY: i64 = 86_400;

/// Microseconds since 1970-01-01T00:00:00Z (negative before) of an RFC 3339 timestamp.
///
/// Digits beyond microseconds are dropped. `T` and `Z` may be lower case, as the RFC says. A blank
/// in place of `T`, which the RFC leaves to agreement, is refused. A leap second (`23:59:60` in
/// UTC) reads as the first second of the next day.
pub fn parse_timestamp(text: &str) -> Result<i64, TimestampProblem> {
    let mut rest = text.as_bytes();
    let year = number(&mut rest, 4)?;
    expect(&mut rest, b"-")?;
    let month = number(&mut rest, 2)?;
    expect(&mut rest, b"-")?;
    let day = number(&mut rest, 2)?;
    expect(&mut rest, b"Tt")?;
    let hour = number(&mut rest, 2)?;
    expect(&mut rest, b":")?;
    let minute = number(&mut rest, 2)?;
    expect(&mut rest, b":")?;
    let second = number(&mut rest, 2)?;
    let micros = fraction(&mut rest)?;
    let offset = offset(&mut rest)?;
    if !rest.is_empty() {
        return Err(TimestampProblem::Form);
    }
    let real = (1..=12).contains(&month)
        && (1..=month_days(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    if !real {
        return Err(TimestampProblem::Range);
    }
    let seconds =
        days_from_civil(year, month, day) * DAY + hour * 3600 + minute * 60 + second - offset;
    if second == 60 && seconds.rem_euclid(DAY) != 0 {
        return Err(TimestampProblem::Range);
    }
    Ok(seconds * MICROS + micros)
}

fn expect(rest: &mut &[u8], any: &[u8]) -> Result<(), TimestampProblem> {
    match rest.split_first() {
        Some((byte, tail)) if any.contains(byte) => {
            *rest = tail;
            Ok(())
        }
        _ => Err(TimestampProblem::Form),
    }
}

fn number(rest: &mut &[u8], digits: usize) -> Result<i64, TimestampProblem> {
    let (head, tail) = rest
        .split_at_checked(digits)
        .ok_or(TimestampProblem::Form)?;
    if !head.iter().all(u8::is_ascii_digit) {
        return Err(TimestampProblem::Form);
    }
    *rest = tail;
    Ok(head
        .iter()
        .fold(0, |n, digit| n * 10 + i64::from(digit - b'0')))
}

/// The microseconds of an optional `.digits`.
fn fraction(rest: &mut &[u8]) -> Result<i64, TimestampProblem> {
    let Some(tail) = rest.strip_prefix(b".") else {
        return Ok(0);
    };
    let digits = tail.iter().take_while(|b| b.is_ascii_digit()).count();
    if digits == 0 {
        return Err(TimestampProblem::Form);
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

/// How many seconds the local time is ahead of UTC.
fn offset(rest: &mut &[u8]) -> Result<i64, TimestampProblem> {
    let sign = match rest.split_first() {
        Some((b'Z' | b'z', tail)) => {
            *rest = tail;
            return Ok(0);
        }
        Some((b'+', tail)) => {
            *rest = tail;
            1
        }
        Some((b'-', tail)) => {
            *rest = tail;
            -1
        }
        _ => return Err(TimestampProblem::Form),
    };
    let hours = number(rest, 2)?;
    expect(rest, b":")?;
    let minutes = number(rest, 2)?;
    if hours > 23 || minutes > 59 {
        return Err(TimestampProblem::Range);
    }
    Ok(sign * (hours * 3600 + minutes * 60))
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_instants() {
        for (text, micros) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1969-12-31T23:59:59.999999Z", -1),
            ("2026-11-19T04:00:00Z", 1_795_060_800 * MICROS),
            (
                "2026-11-19t06:30:00.25+02:30",
                1_795_060_800 * MICROS + 250_000,
            ),
            ("2000-02-29T00:00:00-00:00", 951_782_400 * MICROS),
            ("2016-12-31T23:59:60Z", 1_483_228_800 * MICROS),
            (
                "2016-12-31T15:59:60.5-08:00",
                1_483_228_800 * MICROS + 500_000,
            ),
            ("0000-01-01T00:00:00Z", -62_167_219_200 * MICROS),
            (
                "9999-12-31T23:59:59.9999999z",
                253_402_300_799 * MICROS + 999_999,
            ),
        ] {
            assert_eq!(parse_timestamp(text), Ok(micros), "{text}");
        }
    }

    #[test]
    fn wrong_forms_and_wrong_times() {
        for text in [
            "",
            "2026",
            "2026-11-19",
            "2026-11-19T04:00:00",
            "2026-11-19 04:00:00Z",
            "2026-11-19T04:00Z",
            "2026-11-19T04:00:00.Z",
            "2026-11-19T04:00:00,5Z",
            "2026-11-19T04:00:00+0100",
            "2026-11-19T04:00:00+01",
            "2026-11-19T04:00:00Z ",
            " 2026-11-19T04:00:00Z",
            "+2026-11-19T04:00:00Z",
            "26-11-19T04:00:00Z",
            "2026-1-19T04:00:00Z",
            "1795060800",
            "２026-11-19T04:00:00Z",
        ] {
            assert_eq!(parse_timestamp(text), Err(TimestampProblem::Form), "{text}");
        }
        for text in [
            "2026-13-19T04:00:00Z",
            "2026-00-19T04:00:00Z",
            "2026-11-31T04:00:00Z",
            "2026-11-00T04:00:00Z",
            "2023-02-29T04:00:00Z",
            "1900-02-29T04:00:00Z",
            "2026-11-19T24:00:00Z",
            "2026-11-19T04:60:00Z",
            "2026-11-19T04:00:61Z",
            "2026-11-19T04:00:60Z",
            "2026-11-19T04:00:00+24:00",
            "2026-11-19T04:00:00+00:60",
        ] {
            assert_eq!(
                parse_timestamp(text),
                Err(TimestampProblem::Range),
                "{text}"
            );
        }
    }

    #[test]
    fn every_day_follows_the_day_before() {
        let mut expected = days_from_civil(0, 1, 1);
        for year in 0..=9999 {
            for month in 1..=12 {
                for day in 1..=month_days(year, month) {
                    assert_eq!(days_from_civil(year, month, day), expected);
                    expected += 1;
                }
            }
        }
        assert_eq!(expected - days_from_civil(0, 1, 1), 25 * 146_097);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,40}") {
            let _ = parse_timestamp(&text);
        }

        #[test]
        fn an_offset_moves_the_instant(hours in 0i64..24, minutes in 0i64..60) {
            let ahead = format!("2026-11-19T04:00:00+{hours:02}:{minutes:02}");
            let behind = format!("2026-11-19T04:00:00-{hours:02}:{minutes:02}");
            let shift = (hours * 3600 + minutes * 60) * MICROS;
            let utc = parse_timestamp("2026-11-19T04:00:00Z").unwrap();
            prop_assert_eq!(parse_timestamp(&ahead), Ok(utc - shift));
            prop_assert_eq!(parse_timestamp(&behind), Ok(utc + shift));
        }
    }
}
