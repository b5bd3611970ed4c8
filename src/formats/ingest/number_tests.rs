use proptest::prelude::*;

use super::*;

const MAX: u64 = 1 << 53;

fn reason(text: &str) -> RejectReason {
    integer(text, "clicks", MAX).unwrap_err().reason
}

#[test]
fn the_value_counts_and_not_its_spelling() {
    for (text, value) in [
        ("0", 0),
        ("-0", 0),
        ("0.0", 0),
        ("0e999999999999999999999", 0),
        ("3", 3),
        ("3.0", 3),
        ("30e-1", 3),
        ("0.3e1", 3),
        ("1E2", 100),
        ("1e+2", 100),
        ("120", 120),
        ("9007199254740992", MAX),
        ("9007199254740992.000", MAX),
        ("007", 7),
    ] {
        assert_eq!(integer(text, "clicks", MAX), Ok(value), "{text}");
    }
}

#[test]
fn negative_fractional_and_huge_numbers() {
    for text in ["-1", "-0.5", "-1e400", "-1e-400"] {
        assert_eq!(reason(text), RejectReason::NegativeNumber, "{text}");
    }
    for text in [
        "0.5",
        "1e-400",
        "0.99999999999999999999999",
        "4503599627370497.25",
        "1e-99999999999999999999",
    ] {
        assert_eq!(reason(text), RejectReason::FractionalNumber, "{text}");
    }
    for text in [
        "9007199254740993",
        "9007199254740993.0",
        "1e400",
        "18446744073709551616",
        "1e99999999999999999999",
    ] {
        assert_eq!(reason(text), RejectReason::NumberTooLarge, "{text}");
    }
    for text in [
        "", "-", "+1", "1.", ".5", "1e", "1e+", "0x1", "NaN", "inf", " 1", "1 ", "１", "1_000",
        "--1",
    ] {
        assert_eq!(reason(text), RejectReason::WrongType, "{text}");
    }
}

#[test]
fn a_quality_is_rounded_to_the_nearest_step_with_halves_up() {
    for (text, steps) in [
        ("0", 0),
        ("-0.0", 0),
        ("1", 10_000),
        ("1.000", 10_000),
        ("10e-1", 10_000),
        ("0.8", 8_000),
        ("8E-1", 8_000),
        ("0.00004999", 0),
        ("0.00005", 1),
        ("0.12344999999", 1_234),
        ("0.12345", 1_235),
        ("0.99995", 10_000),
        ("1e-400", 0),
        ("1e-99999999999999999999", 0),
    ] {
        assert_eq!(quality(text, "quality"), Ok(steps), "{text}");
    }
    for (text, reason) in [
        ("1.00000000000000001", RejectReason::NumberTooLarge),
        ("2", RejectReason::NumberTooLarge),
        ("80", RejectReason::NumberTooLarge),
        ("1e400", RejectReason::NumberTooLarge),
        ("-0.1", RejectReason::NegativeNumber),
        ("NaN", RejectReason::WrongType),
        ("\"0.5\"", RejectReason::WrongType),
        (".5", RejectReason::WrongType),
    ] {
        assert_eq!(
            quality(text, "quality").unwrap_err().reason,
            reason,
            "{text}"
        );
    }
}

proptest! {
    #[test]
    fn every_spelling_of_a_value(value in 0..=MAX, zeros in 0usize..30) {
        let spelt = format!("{value}.{}", "0".repeat(zeros + 1));
        prop_assert_eq!(integer(&spelt, "clicks", MAX), Ok(value));
        let spelt = format!("{value}{}e-{zeros}", "0".repeat(zeros));
        prop_assert_eq!(integer(&spelt, "clicks", MAX), Ok(value));
    }

    #[test]
    fn any_text_is_judged(text in "[-+0-9.eE]{0,12}|.{0,12}") {
        let read = integer(&text, "clicks", MAX);
        let number: Result<f64, _> = text.parse();
        if let Ok(value) = read {
            prop_assert!((number.unwrap() - value as f64).abs() < 0.5);
        }
    }
}

#[test]
fn ten_thousandths_are_rounded() {
    let read = |text| ten_thousandths(text, "observed_days").ok();
    for (text, value) in [
        ("0", Some(0)),
        ("3", Some(30_000)),
        ("12.5", Some(125_000)),
        ("0.00005", Some(1)),
        ("0.00004999", Some(0)),
        ("1e-400", Some(0)),
        ("999999999.99994", Some(9_999_999_999_999)),
        ("1e9", None),
        ("-1", None),
        ("true", None),
    ] {
        assert_eq!(read(text), value, "{text}");
    }
}
