use proptest::prelude::*;

use super::*;

fn at(text: &str) -> Result<i64, TimestampError> {
    parse_timestamp(text).map(|time| time.micros)
}

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
        assert_eq!(at(text), Ok(micros), "{text}");
    }
}

#[test]
fn one_instant_in_many_forms() {
    let micros = 1_795_060_800 * MICROS;
    for text in [
        "2026-11-19T04:00:00Z",
        "2026-11-19t04:00:00z",
        "2026-11-19 04:00:00Z",
        "2026-11-19 04:00:00 Z",
        "2026-11-19T04:00Z",
        "2026-11-19T04:00:00.000Z",
        "2026-11-19T04:00:00,000Z",
        "2026-11-19T04:00:00+00:00",
        "2026-11-19T04:00:00+0000",
        "2026-11-19 04:00:00 +0000",
        "2026-11-19 05:00:00+01",
        "2026-11-18T23:30:00-0430",
        "20261119T040000Z",
        "20261119T0400Z",
        "20261119t050000.000+0100",
        "20261119040000",
        "1795060800",
        "1795060800.0000009",
    ] {
        let time = Timestamp {
            micros,
            zone_assumed: false,
        };
        assert_eq!(parse_timestamp(text), Ok(time), "{text}");
    }
    for text in [
        "2026-11-19T04:00:00",
        "2026-11-19 04:00:00",
        "2026-11-19t04:00",
        "20261119T040000",
    ] {
        let time = Timestamp {
            micros,
            zone_assumed: true,
        };
        assert_eq!(parse_timestamp(text), Ok(time), "{text}");
    }
    let day = parse_timestamp("2026-11-19").unwrap();
    assert_eq!(day.micros, micros - 4 * 3600 * MICROS);
    assert!(day.zone_assumed);
}

#[test]
fn numbers_are_told_apart_by_their_digits() {
    let of = |text| parse_timestamp_number(text).map(|time| time.micros);
    for (text, micros) in [
        ("0", 0),
        ("1", MICROS),
        ("0.0000014", 1),
        ("9999999", 9_999_999 * MICROS),
        ("100000000", 100_000_000 * MICROS),
        ("99999999999.9999999", 99_999_999_999 * MICROS + 999_999),
        ("1795060800.25", 1_795_060_800 * MICROS + 250_000),
        ("1.7950608E9", 1_795_060_800 * MICROS),
        ("20261119040000", 1_795_060_800 * MICROS),
        ("20261119040000.0", 1_795_060_800 * MICROS),
        ("2.026111904e13", 1_795_060_800 * MICROS),
    ] {
        assert_eq!(of(text), Ok(micros), "{text}");
        if !text.contains(['e', 'E']) {
            assert_eq!(at(text), Ok(micros), "{text}");
        }
    }
    for (text, digits) in [
        ("20261119", 8),
        ("10000000", 8),
        ("99999999.5", 8),
        ("202611190400", 12),
        ("1795060800000", 13),
        ("1795060800000.5", 13),
        ("20261119040000.5", 14),
        ("1795060800000000", 16),
        ("20261119040000000", 17),
    ] {
        assert_eq!(of(text), Err(TimestampError::Digits(digits)), "{text}");
        assert_eq!(at(text), of(text), "{text}");
    }
    for text in ["-1", "-1.5", "1e400", "1e99999999999999999999"] {
        assert!(of(text).is_err(), "{text}");
    }
    assert_eq!(of("1e-400"), Ok(0));
    // As text, zeros at the beginning are digits.
    assert_eq!(at("00012345678"), Ok(12_345_678 * MICROS));
    assert_eq!(at("0001795060800"), Err(TimestampError::Digits(13)));
    assert_eq!(at("20261319040000"), Err(TimestampError::Range));
    assert_eq!(at("00000000000000"), Err(TimestampError::Range));
}

#[test]
fn wrong_forms_and_wrong_times() {
    for text in [
        "",
        "yesterday",
        "2026-11",
        "2026-11-19T",
        "2026-11-19T04",
        "2026-11-19T04:00:",
        "2026-11-19T04:00:00.Z",
        "2026-11-19T04:00:00 ",
        "2026-11-19T04:00:00Z ",
        "2026-11-19T04:00:00ZZ",
        "2026-11-19T04:00:00  +0000",
        "2026-11-19T04:00:00+1",
        "2026-11-19T04:00:00+01:0",
        "2026-11-19T04:00:00 UTC",
        "2026-11-19T0400Z",
        "2026-11-19T040000Z",
        "20261119T04:00:00Z",
        "20261119 040000Z",
        "2026-1119T04:00:00Z",
        " 2026-11-19T04:00:00Z",
        "+2026-11-19T04:00:00Z",
        "26-11-19T04:00:00Z",
        "2026-1-19T04:00:00Z",
        "19/11/2026 04:00",
        "Thu, 19 Nov 2026 04:00:00 GMT",
        "1795060800.",
        "1.7950608e9",
        "-1795060800",
        "+1795060800",
        "1795060800 ",
        "1_795_060_800",
        "２026-11-19T04:00:00Z",
    ] {
        assert_eq!(at(text), Err(TimestampError::Form), "{text}");
    }
    for text in [
        "2026-13-19T04:00:00Z",
        "2026-00-19T04:00:00Z",
        "2026-11-31T04:00:00Z",
        "2026-11-00T04:00:00Z",
        "2026-11-00",
        "2023-02-29T04:00:00Z",
        "1900-02-29T04:00:00Z",
        "2026-11-19T24:00:00Z",
        "2026-11-19T04:60:00Z",
        "2026-11-19T04:00:61Z",
        "2026-11-19T04:00:60Z",
        "2026-11-19T04:00:00+24:00",
        "2026-11-19T04:00:00+00:60",
    ] {
        assert_eq!(at(text), Err(TimestampError::Range), "{text}");
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
        let utc = at("2026-11-19T04:00:00Z").unwrap();
        prop_assert_eq!(at(&ahead), Ok(utc - shift));
        prop_assert_eq!(at(&behind), Ok(utc + shift));
    }

    /// From 1973-03-03, where seconds have nine digits, to the end of 5138.
    #[test]
    fn what_is_written_one_way_is_read_as_the_others(
        seconds in 100_000_000u64..99_999_000_000,
        fraction in 0u32..1_000_000,
        ahead in -23i64 * 60..24 * 60,
    ) {
        let utc = clock::time(seconds);
        let micros = seconds.cast_signed() * MICROS;
        prop_assert_eq!(at(&utc), Ok(micros));
        let digits: String = utc.chars().filter(char::is_ascii_digit).collect();
        prop_assert_eq!(at(&digits), Ok(micros));
        prop_assert_eq!(parse_timestamp_number(&digits).map(|time| time.micros), Ok(micros));
        prop_assert_eq!(at(&seconds.to_string()), Ok(micros));
        let bare = utc.trim_end_matches('Z');
        let compact: String = bare.chars().filter(|c| !"-:".contains(*c)).collect();
        let there = clock::time(seconds.checked_add_signed(ahead * 60).unwrap());
        let there = there.trim_end_matches('Z');
        let (sign, hours, minutes) =
            (if ahead < 0 { '-' } else { '+' }, ahead.abs() / 60, ahead.abs() % 60);
        let offset = format!("{sign}{hours:02}:{minutes:02}");
        let micros = micros + i64::from(fraction);
        let forms = [
            format!("{bare}.{fraction:06}Z"),
            format!("{bare}.{fraction:06}"),
            format!("{bare}.{fraction:06}+00:00").to_lowercase(),
            format!("{compact}.{fraction:06}Z"),
            format!("{there},{fraction:06}{offset}").replace('T', " "),
            format!("{there}.{fraction:06} {}", offset.replace(':', "")),
            format!("{seconds}.{fraction:06}"),
        ];
        for form in forms {
            prop_assert_eq!(at(&form), Ok(micros), "{}", form);
        }
    }
}
