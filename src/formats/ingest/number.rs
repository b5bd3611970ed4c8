//! Exact parsing of counts and qualities from JSON numbers.

use super::decimal::{Decimal, decimal};
use super::record::MAX_QUALITY;
use super::reject::{Fault, RejectReason};

fn fault(reason: RejectReason, field: &str, what: &str) -> Fault {
    Fault::new(reason, format!("{field}: {what}"))
}

/// Parses a number that must not be negative; returns `None` for 0.
fn non_negative(text: &str, field: &str) -> Result<Option<Decimal>, Fault> {
    let number = decimal(text);
    let number = number.ok_or_else(|| fault(RejectReason::WrongType, field, "must be a number"))?;
    if number.digits.is_empty() {
        return Ok(None);
    }
    if number.negative {
        let negative = RejectReason::NegativeNumber;
        return Err(fault(negative, field, "must not be negative"));
    }
    Ok(Some(number))
}

/// Parses a JSON number that must be an integer from 0 to `max` (below 10^17).
///
/// The value counts, not the notation (as in JSON Schema): `3.0` and `30e-1` are 3. The check uses the
/// decimal digits, so that rounding cannot make a number an integer or bring it within the limit.
pub(super) fn integer(text: &str, field: &str, max: u64) -> Result<u64, Fault> {
    let Some(Decimal { digits, point, .. }) = non_negative(text, field)? else {
        return Ok(0);
    };
    let length = i64::try_from(digits.len()).unwrap_or(i64::MAX);
    if length > point {
        let fractional = RejectReason::FractionalNumber;
        return Err(fault(fractional, field, "must be a whole number"));
    }
    // Here 1 <= length <= point; a value of 17 digits or fewer fits in a u64.
    let value = (point <= 17).then(|| {
        let zeros = (length..point).map(|_| 0);
        digits
            .bytes()
            .map(|digit| u64::from(digit - b'0'))
            .chain(zeros)
            .fold(0, |value, digit| value * 10 + digit)
    });
    match value {
        Some(value) if value <= max => Ok(value),
        _ => Err(fault(
            RejectReason::NumberTooLarge,
            field,
            &format!("must be at most {max}"),
        )),
    }
}

/// Parses a number from 0 to 1 as ten-thousandths, rounded to the nearest, halves up. The range is
/// checked before rounding.
pub(super) fn quality(text: &str, field: &str) -> Result<u16, Fault> {
    let Some(Decimal { digits, point, .. }) = non_negative(text, field)? else {
        return Ok(0);
    };
    if point > 0 {
        // 1 is represented as 0.1 * 10^1.
        if point == 1 && digits == "1" {
            return Ok(MAX_QUALITY);
        }
        let too_large = RejectReason::NumberTooLarge;
        return Err(fault(too_large, field, "must be at most 1"));
    }
    // Five decimals; the last is used for rounding only.
    let zeros = usize::try_from(point.unsigned_abs()).unwrap_or(usize::MAX);
    let digits = digits.bytes().map(|digit| u32::from(digit - b'0'));
    let decimals = std::iter::repeat_n(0, zeros.min(5)).chain(digits);
    let five = decimals
        .chain(std::iter::repeat(0))
        .take(5)
        .fold(0, |value, digit| value * 10 + digit);
    Ok(u16::try_from((five + 5) / 10).unwrap_or(MAX_QUALITY))
}

#[cfg(test)]
mod tests {
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
}
