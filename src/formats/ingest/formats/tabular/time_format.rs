//! Formats times of columns as records write them.

const DAY: i64 = 86_400_000_000;

/// Formats a timestamp, in microseconds since 1970, as RFC 3339; without a zone if the column has
/// none. A year of more than four digits yields a text that is not a time, and is rejected.
pub(super) fn format_timestamp(micros: i64, has_zone: bool) -> String {
    let Some(day) = format_date(micros.div_euclid(DAY)) else {
        return format!("{micros} microseconds since 1970");
    };
    let of_day = micros.rem_euclid(DAY);
    let (seconds, micros) = (of_day / 1_000_000, of_day % 1_000_000);
    let zone = if has_zone { "Z" } else { "" };
    format!(
        "{day}T{:02}:{:02}:{:02}.{micros:06}{zone}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}

/// Formats a date, in days since 1970-01-01, of the proleptic Gregorian calendar; `None` if its year
/// does not have four digits.
///
/// Years are counted from March, in cycles of 400 (146,097 days), so that the leap day is the last
/// day of its year.
pub(super) fn format_date(number: i64) -> Option<String> {
    // 719,468 days lie between 0000-03-01 and 1970-01-01.
    let since_march = number.checked_add(719_468)?;
    let (cycle, day) = (
        since_march.div_euclid(146_097),
        since_march.rem_euclid(146_097),
    );
    let leap_days = day / 1_460 - day / 36_524 + day / 146_096;
    let year = (day - leap_days) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    // (153 m + 2) / 5 is the number of days in m months from March.
    let from_march = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    let year = year + cycle * 400 + i64::from(month <= 2);
    (0..=9999)
        .contains(&year)
        .then(|| format!("{year:04}-{month:02}-{of_month:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::parse_timestamp;

    #[test]
    fn an_instant_is_read_back() {
        for micros in [
            0,
            -1,
            1_795_060_800_000_001,
            951_782_400_000_000,
            4_107_542_399_999_999,
            -62_167_219_200_000_000,
            253_402_300_799_999_999,
        ] {
            for has_zone in [true, false] {
                let read = parse_timestamp(&format_timestamp(micros, has_zone)).unwrap();
                assert_eq!((read.micros, read.zone_assumed), (micros, !has_zone));
            }
        }
        for beyond in [
            -62_167_219_200_000_001,
            253_402_300_800_000_000,
            i64::MIN,
            i64::MAX,
        ] {
            assert!(parse_timestamp(&format_timestamp(beyond, true)).is_err());
        }
    }

    #[test]
    fn every_day_of_two_cycles_is_its_own() {
        for number in -146_097..146_097 {
            let read = parse_timestamp(&format_date(number).unwrap()).unwrap();
            assert_eq!(read.micros, number * DAY);
        }
    }
}
