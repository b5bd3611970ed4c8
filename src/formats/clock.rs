//! Conversion of times to text, and the lengths of months.

/// Formats a Unix time in seconds as a UTC time of RFC 3339. Years after 9999 are not supported.
#[must_use]
pub fn time(at: u64) -> String {
    let (mut days, second) = (at / 86_400, at % 86_400);
    let mut year = 1970;
    // The limit bounds the loop for any input.
    while year < 9999 && days >= 337 + month_days(year, 2) {
        days -= 337 + month_days(year, 2);
        year += 1;
    }
    let mut month = 1;
    while month < 12 && days >= month_days(year, month) {
        days -= month_days(year, month);
        month += 1;
    }
    format!(
        "{year:04}-{month:02}-{:02}T{:02}:{:02}:{:02}Z",
        days + 1,
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

/// Returns the number of days of a month (1 to 12) in the Gregorian calendar.
#[must_use]
pub const fn month_days(year: u64, month: u64) -> u64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_follow_the_calendar() {
        assert_eq!(time(0), "1970-01-01T00:00:00Z");
        assert_eq!(time(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(time(1_795_060_800 + 3_661), "2026-11-19T05:01:01Z");
        assert_eq!(time(4_107_542_399), "2100-02-28T23:59:59Z");
        assert_eq!(time(4_107_542_400), "2100-03-01T00:00:00Z");
    }
}
