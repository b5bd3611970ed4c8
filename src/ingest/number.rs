//! Whole numbers as JSON writes them, judged exactly.

use super::reject::{Fault, RejectReason};

/// The value of a JSON number that must be whole, from 0 to `max` (below 10^17).
///
/// The value counts, not its spelling (as in JSON Schema): `3.0` and `30e-1` are 3. It is decided
/// on the decimal digits, so that no rounding makes a number whole or lets it pass the limit.
pub(super) fn whole_number(text: &str, field: &str, max: u64) -> Result<u64, Fault> {
    let wrong_type = || {
        Fault::new(
            RejectReason::WrongType,
            format!("{field}: must be a number"),
        )
    };
    let Decimal {
        negative,
        digits,
        point,
    } = decimal(text).ok_or_else(wrong_type)?;
    let fault = |reason, what: &str| Err(Fault::new(reason, format!("{field}: {what}")));
    if digits.is_empty() {
        return Ok(0);
    }
    if negative {
        return fault(RejectReason::NegativeNumber, "must not be negative");
    }
    let length = i64::try_from(digits.len()).unwrap_or(i64::MAX);
    if length > point {
        return fault(RejectReason::FractionalNumber, "must be a whole number");
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
        _ => fault(
            RejectReason::NumberTooLarge,
            &format!("must be at most {max}"),
        ),
    }
}

/// A decimal `0.DIGITS * 10^point`; the digits neither begin nor end with 0, and 0 has no digits.
pub(super) struct Decimal {
    pub(super) negative: bool,
    pub(super) digits: String,
    pub(super) point: i64,
}

/// The value of a number as JSON writes it, or with leading zeros.
pub(super) fn decimal(text: &str) -> Option<Decimal> {
    let (negative, text) = text
        .strip_prefix('-')
        .map_or((false, text), |rest| (true, rest));
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, power(exponent)?),
        None => (text, 0),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let plain = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !plain(whole) || !fraction.is_none_or(plain) {
        return None;
    }
    let all = [whole, fraction.unwrap_or_default()].concat();
    let trimmed = all.trim_start_matches('0');
    let leading = all.len() - trimmed.len();
    let before_point = i64::try_from(whole.len())
        .ok()?
        .checked_sub(i64::try_from(leading).ok()?)?;
    Some(Decimal {
        negative,
        digits: trimmed.trim_end_matches('0').to_owned(),
        point: before_point.saturating_add(exponent),
    })
}

/// The value of an exponent; one that does not fit in an `i64` is treated as the largest.
fn power(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let size = digits.parse().unwrap_or(i64::MAX);
    Some(if text.starts_with('-') { -size } else { size })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MAX: u64 = 1 << 53;

    fn reason(text: &str) -> RejectReason {
        whole_number(text, "clicks", MAX).unwrap_err().reason
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
            assert_eq!(whole_number(text, "clicks", MAX), Ok(value), "{text}");
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

    proptest! {
        #[test]
        fn every_spelling_of_a_value(value in 0..=MAX, zeros in 0usize..30) {
            let spelt = format!("{value}.{}", "0".repeat(zeros + 1));
            prop_assert_eq!(whole_number(&spelt, "clicks", MAX), Ok(value));
            let spelt = format!("{value}{}e-{zeros}", "0".repeat(zeros));
            prop_assert_eq!(whole_number(&spelt, "clicks", MAX), Ok(value));
        }

        #[test]
        fn any_text_is_judged(text in "[-+0-9.eE]{0,12}|.{0,12}") {
            let read = whole_number(&text, "clicks", MAX);
            let number: Result<f64, _> = text.parse();
            if let Ok(value) = read {
                prop_assert!((number.unwrap() - value as f64).abs() < 0.5);
            }
        }
    }
}
