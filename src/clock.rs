//! Times for people.

/// Seconds since 1970 as a time of day in UTC (RFC 3339).
#[must_use]
pub fn time(at: u64) -> String {
    let (mut days, second) = (at / 86_400, at % 86_400);
    let mut year = 1970;
    loop {
        let length = if leap(year) { 366 } else { 365 };
        // No clock goes beyond that, and the walk has an end.
        if days < length || year == 9999 {
            break;
        }
        days -= length;
        year += 1;
    }
    let february = if leap(year) { 29 } else { 28 };
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
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

/// The Gregorian rule.
const fn leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
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
