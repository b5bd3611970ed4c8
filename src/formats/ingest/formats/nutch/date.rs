//! Times in the form of Java's `Date`: `Thu Nov 19 04:00:00 UTC 2026`.

use crate::ingest::timestamp::{Timestamp, parse_timestamp};

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

/// Parses a time. A zone whose name is ambiguous or unknown counts as UTC, as a missing zone does.
pub(super) fn java_date(text: &str) -> Option<Timestamp> {
    let mut parts = text.split_ascii_whitespace();
    let [_, month, day, time, zone, year] = [(); 6].map(|()| parts.next());
    let (month, day, time, zone, year) = (month?, day?, time?, zone?, year?);
    if parts.next().is_some() {
        return None;
    }
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    let known = ZONES.iter().find(|(name, _)| *name == zone);
    let zone = match zone.strip_prefix("GMT") {
        Some(offset) if offset.starts_with(['+', '-']) => offset,
        _ => known.map_or("", |(_, offset)| *offset),
    };
    parse_timestamp(&format!("{year}-{month:02}-{day:0>2}T{time}{zone}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn java_s_times_are_read() {
        let of = |text| java_date(text).map(|time| (time.micros, time.zone_assumed));
        let time = |text| parse_timestamp(text).map(|time| time.micros).unwrap();
        for (text, is, assumed) in [
            (
                "Thu Nov 19 04:00:00 UTC 2026",
                "2026-11-19T04:00:00Z",
                false,
            ),
            (
                "Thu Nov 19 04:00:00 CET 2026",
                "2026-11-19T03:00:00Z",
                false,
            ),
            (
                "Sun Jul 19 04:00:00 PDT 2026",
                "2026-07-19T11:00:00Z",
                false,
            ),
            (
                "Thu Nov 19 04:00:00 GMT+05:30 2026",
                "2026-11-18T22:30:00Z",
                false,
            ),
            ("Thu Nov 19 04:00:00 IST 2026", "2026-11-19T04:00:00Z", true),
            (
                "Thu Jan 01 00:00:00 UTC 1970",
                "1970-01-01T00:00:00Z",
                false,
            ),
        ] {
            assert_eq!(of(text), Some((time(is), assumed)), "{text}");
        }
        for text in [
            "",
            "Thu Nov 19 04:00:00 2026",
            "Thu Nov 19 04:00:00 UTC 2026 x",
            "Thu Nov 31 04:00:00 UTC 2026",
            "Thu Non 19 04:00:00 UTC 2026",
            "2026-11-19T04:00:00Z",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
