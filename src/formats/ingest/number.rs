//! Exact parsing of counts and qualities from JSON numbers.

use super::decimal::{Decimal, decimal};
use super::record::MAX_QUALITY;
use super::summary::{Fault, RejectReason};

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

/// Parses a number below 10^9 as ten-thousandths, rounded to the nearest, halves up.
pub(super) fn ten_thousandths(text: &str, field: &str) -> Result<u64, Fault> {
    let Some(Decimal { digits, point, .. }) = non_negative(text, field)? else {
        return Ok(0);
    };
    if point > 9 {
        let too_large = RejectReason::NumberTooLarge;
        return Err(fault(too_large, field, "must be below 1,000,000,000"));
    }
    // Five decimals; the last is used for rounding only.
    let zeros = usize::try_from(point.min(0).unsigned_abs()).unwrap_or(usize::MAX);
    let length = usize::try_from(point.max(0)).unwrap_or(0) + 5;
    let digits = digits.bytes().map(|digit| u64::from(digit - b'0'));
    let digits = std::iter::repeat_n(0, zeros.min(length)).chain(digits);
    let value = digits
        .chain(std::iter::repeat(0))
        .take(length)
        .fold(0, |value, digit| value * 10 + digit);
    Ok((value + 5) / 10)
}

#[cfg(test)]
#[path = "number_tests.rs"]
mod tests;
