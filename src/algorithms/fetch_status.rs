//! Results of fetches.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The result of a fetch: an HTTP status code, or the reason why there was no answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FetchStatus {
    /// No answer in time.
    Timeout,
    /// The name of the host has no address.
    Dns,
    /// No connection, or one that broke.
    Connect,
    /// No TLS session, such as for an invalid certificate.
    Tls,
    /// The robots exclusion protocol forbids the fetch.
    Robots,
    /// The answer exceeds the limit of the crawler.
    TooLarge,
    /// Any other reason.
    Other,
    /// An HTTP status code of three digits.
    Http(u16),
}

/// The reasons, in the order of their codes, which begin with 1.
const REASONS: [(FetchStatus, &str); 7] = [
    (FetchStatus::Timeout, "timeout"),
    (FetchStatus::Dns, "dns"),
    (FetchStatus::Connect, "connect"),
    (FetchStatus::Tls, "tls"),
    (FetchStatus::Robots, "robots"),
    (FetchStatus::TooLarge, "too-large"),
    (FetchStatus::Other, "other"),
];

/// Describes the texts and numbers that are a status.
pub const STATUS_EXPECTED: &str =
    "an HTTP status code, or timeout, dns, connect, tls, robots, too-large or other";

/// The HTTP status codes: numbers of three digits.
const HTTP: std::ops::RangeInclusive<u16> = 100..=999;

impl FetchStatus {
    /// Returns the status with this HTTP code; `None` if it does not have three digits.
    #[must_use]
    pub fn http(code: u16) -> Option<Self> {
        HTTP.contains(&code).then_some(Self::Http(code))
    }

    /// Whether there was no answer from the host at all.
    #[must_use]
    pub const fn is_unanswered(self) -> bool {
        matches!(self, Self::Timeout | Self::Dns | Self::Connect | Self::Tls)
    }

    /// Returns the number that is stored: an HTTP code, or the number of a reason.
    #[must_use]
    pub fn code(self) -> u16 {
        match self {
            Self::Http(code) => code,
            reason => (1..)
                .zip(REASONS)
                .find(|(_, (of, _))| *of == reason)
                .map_or(0, |(code, _)| code),
        }
    }

    /// Returns the status whose [`code`](Self::code) is the given number; `None` if no status has it.
    #[must_use]
    pub fn from_code(code: u16) -> Option<Self> {
        let reason = usize::from(code)
            .checked_sub(1)
            .and_then(|at| REASONS.get(at));
        reason.map_or_else(|| Self::http(code), |(reason, _)| Some(*reason))
    }
}

impl fmt::Display for FetchStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http(code) => code.fmt(f),
            reason => {
                let name = REASONS.iter().find(|(of, _)| of == reason);
                f.write_str(name.map_or("", |(_, name)| name))
            }
        }
    }
}

impl FromStr for FetchStatus {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let reason = REASONS.iter().find(|(_, name)| *name == text);
        let is_number = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit());
        let code = if is_number { text.parse().ok() } else { None };
        reason
            .map(|(reason, _)| *reason)
            .or_else(|| Self::http(code?))
            .ok_or(STATUS_EXPECTED)
    }
}

impl Serialize for FetchStatus {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Http(code) => serializer.serialize_u16(*code),
            reason if serializer.is_human_readable() => serializer.collect_str(reason),
            reason => serializer.serialize_u16(reason.code()),
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum CodeOrReason {
    Code(u16),
    Reason(String),
}

impl<'de> Deserialize<'de> for FetchStatus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let unknown = || D::Error::custom("unknown status of a fetch");
        if !deserializer.is_human_readable() {
            return Self::from_code(u16::deserialize(deserializer)?).ok_or_else(unknown);
        }
        match CodeOrReason::deserialize(deserializer)? {
            CodeOrReason::Code(code) => Self::http(code).ok_or_else(unknown),
            CodeOrReason::Reason(reason) => reason.parse().map_err(D::Error::custom),
        }
    }
}

impl JsonSchema for FetchStatus {
    fn schema_name() -> Cow<'static, str> {
        "FetchStatus".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "description": "The result of a fetch: an HTTP status code, or the reason why there was no answer.",
            "anyOf": [
                {"type": "integer", "minimum": HTTP.start(), "maximum": HTTP.end()},
                {"enum": REASONS.map(|(_, name)| name)}
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_a_code_and_a_text_of_its_own() {
        let http = [100, 404, 503, 999]
            .into_iter()
            .filter_map(FetchStatus::http);
        for status in http.chain(REASONS.map(|(reason, _)| reason)) {
            assert_eq!(FetchStatus::from_code(status.code()), Some(status));
            assert_eq!(status.to_string().parse(), Ok(status));
            let json = serde_json::to_string(&status).unwrap();
            assert_eq!(serde_json::from_str::<FetchStatus>(&json).unwrap(), status);
        }
        for code in [0, 8, 99, 1000] {
            assert_eq!(FetchStatus::from_code(code), None, "{code}");
        }
        for text in ["", "99", "1000", "+50", "Timeout", "none"] {
            assert!(text.parse::<FetchStatus>().is_err(), "{text}");
        }
    }
}
