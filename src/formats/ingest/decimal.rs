//! Exact parsing of JSON numbers.

/// The number `0.DIGITS * 10^point`. The digits neither begin nor end with 0; zero has no digits.
pub(super) struct Decimal {
    pub(super) negative: bool,
    pub(super) digits: String,
    pub(super) point: i64,
}

/// Parses a JSON number; leading zeros are accepted.
pub(super) fn decimal(text: &str) -> Option<Decimal> {
    let (negative, text) = text
        .strip_prefix('-')
        .map_or((false, text), |rest| (true, rest));
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, parse_exponent(exponent)?),
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

/// Parses an exponent; one that exceeds an `i64` is clamped.
fn parse_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let size = digits.parse().unwrap_or(i64::MAX);
    Some(if text.starts_with('-') { -size } else { size })
}
