//! Decimal numbers with at most six decimals, as integers of millionths.

use std::fmt;

use serde::{Deserialize, Deserializer, Serializer, de};

/// Millionths in one unit.
pub(crate) const UNIT: i64 = 1_000_000;

/// The error for a text that is not a decimal number with at most six decimals.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "expected a decimal number with at most six decimals, such as 10, -2.5 or 0.000001, found {0:?}"
)]
pub struct BadDecimal(String);

/// Parses a decimal number without a sign. Returns `None` for any other text, and if the number is too large.
pub(crate) fn parse_unsigned(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    if !is_number(whole) || !is_number(part) || part.len() > 6 {
        return None;
    }
    let part: u64 = format!("{part:0<6}").parse().ok()?;
    let units: u64 = whole.parse().ok()?;
    units.checked_mul(UNIT.unsigned_abs())?.checked_add(part)
}

/// Parses a decimal number with an optional sign.
pub(crate) fn parse(text: &str) -> Result<i64, BadDecimal> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let millionths = parse_unsigned(digits).and_then(|number| i64::try_from(number).ok());
    let millionths = millionths.ok_or_else(|| BadDecimal(text.to_owned()))?;
    Ok(if is_negative { -millionths } else { millionths })
}

/// Writes a number with as few decimals as it needs.
pub(crate) fn write(f: &mut fmt::Formatter<'_>, millionths: i64) -> fmt::Result {
    let sign = if millionths < 0 { "-" } else { "" };
    let unit = UNIT.unsigned_abs();
    let (whole, part) = (
        millionths.unsigned_abs() / unit,
        millionths.unsigned_abs() % unit,
    );
    if part == 0 {
        return write!(f, "{sign}{whole}");
    }
    let decimals = format!("{part:06}");
    write!(f, "{sign}{whole}.{}", decimals.trim_end_matches('0'))
}

/// Deserializes a number, or a string with one, from a human-readable format. `expecting` describes it in
/// error messages.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
    expecting: &'static str,
) -> Result<i64, D::Error> {
    deserializer.deserialize_any(DecimalVisitor(expecting))
}

/// Serializes a percentage: as a number in human-readable formats, else as millionths of a per cent.
pub(crate) fn serialize_percent<S: Serializer>(
    millionths: u64,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    if serializer.is_human_readable() {
        // The nearest f64 prints as the same six decimals.
        serializer.serialize_f64(millionths as f64 / UNIT as f64)
    } else {
        serializer.serialize_u64(millionths)
    }
}

/// Deserializes what [`serialize_percent`] has written, or a string with the number. `None` for a negative number.
pub(crate) fn deserialize_percent<'de, D: Deserializer<'de>>(
    deserializer: D,
    expecting: &'static str,
) -> Result<Option<u64>, D::Error> {
    if deserializer.is_human_readable() {
        Ok(u64::try_from(deserialize(deserializer, expecting)?).ok())
    } else {
        u64::deserialize(deserializer).map(Some)
    }
}

struct DecimalVisitor(&'static str);

impl de::Visitor<'_> for DecimalVisitor {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_i64<E: de::Error>(self, units: i64) -> Result<i64, E> {
        let millionths = units.checked_mul(UNIT);
        millionths.ok_or_else(|| E::custom("too large"))
    }

    fn visit_u64<E: de::Error>(self, units: u64) -> Result<i64, E> {
        let units = i64::try_from(units).map_err(E::custom)?;
        self.visit_i64(units)
    }

    fn visit_f64<E: de::Error>(self, units: f64) -> Result<i64, E> {
        parse(&units.to_string()).map_err(E::custom)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<i64, E> {
        parse(text).map_err(E::custom)
    }
}
