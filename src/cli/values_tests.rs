use super::*;

#[test]
fn sizes_are_powers_of_1024() {
    assert_eq!(size("512M"), Ok(512 << 20));
    assert_eq!(size("2g"), Ok(2 << 30));
    assert_eq!(size("2GiB"), Ok(2 << 30));
    assert_eq!(size("2048KB"), Ok(2 << 20));
    assert_eq!(size("1048576"), Ok(1 << 20));
    for bad in [
        "",
        "M",
        "-1",
        "1.5G",
        "1 apple",
        "512",
        "99999999999T",
        "é",
        "1é",
    ] {
        assert!(size(bad).is_err(), "{bad}");
    }
}

#[test]
fn whole_numbers_are_within_their_range() {
    let parse = integer(1..=100_u32);
    assert_eq!((parse("1"), parse("100")), (Ok(1), Ok(100)));
    assert_eq!(integer(1..=u32::MAX)("20k"), Ok(20_000));
    for bad in ["0", "101", "-1", "1.5", "", "x", "1k"] {
        assert_eq!(
            parse(bad),
            Err("expected a whole number from 1 to 100".to_owned()),
            "{bad}"
        );
    }
    for (error, text) in [
        (
            integer(1..=u64::MAX)("0"),
            "expected a whole number of at least 1",
        ),
        (
            integer(0..=u64::MAX)("99999999999999999999"),
            "expected a whole number",
        ),
        (
            integer(1..=u64::MAX)("000"),
            "expected a whole number of at least 1; in a list, write thousands without commas, such as 20000 or 20k",
        ),
    ] {
        assert_eq!(error, Err(text.to_owned()));
    }
    let error = integer(0..=1024_u16)("70000");
    assert_eq!(
        error,
        Err("expected a whole number from 0 to 1024".to_owned())
    );
}

#[test]
fn ages_are_round() {
    for (seconds, shown) in [
        (0, "0 s"),
        (59, "59 s"),
        (60, "1 min"),
        (3599, "59 min"),
        (3600, "1 h 0 min"),
        (86_399, "23 h 59 min"),
        (200_000, "2 d 7 h"),
    ] {
        assert_eq!(human_age(seconds), shown);
    }
}

#[test]
fn percentages_end_at_100() {
    assert_eq!(percent("0"), Ok(0.0));
    assert_eq!(percent("2.5%"), Ok(2.5));
    for bad in ["", "-1", "101", "NaN", "inf", "x"] {
        assert!(percent(bad).is_err(), "{bad}");
    }
}
