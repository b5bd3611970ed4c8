//! A limit that a plan sets or removes.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use seedbank_formats::display::parse_count;

/// A limit that a plan sets: a number, or `none`, which removes the stored limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// No limit.
    None,
    /// Maximum number.
    AtMost(u32),
}

impl Limit {
    /// Returns the number; `None` without a limit.
    #[must_use]
    pub const fn number(self) -> Option<u32> {
        match self {
            Self::None => None,
            Self::AtMost(number) => Some(number),
        }
    }
}

impl From<u32> for Limit {
    fn from(number: u32) -> Self {
        Self::AtMost(number)
    }
}

impl FromStr for Limit {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "none" => Ok(Self::None),
            number => parse_count(number)
                .and_then(|number| number.try_into().ok())
                .map(Self::AtMost)
                .ok_or("expected a whole number, or `none` to remove the limit"),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::AtMost(number) => number.fmt(f),
        }
    }
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::None => serializer.serialize_str("none"),
            Self::AtMost(number) => serializer.serialize_u32(*number),
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum NumberOrWord {
    Number(u32),
    Word(String),
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match NumberOrWord::deserialize(deserializer)? {
            NumberOrWord::Number(number) => Ok(Self::AtMost(number)),
            NumberOrWord::Word(word) => word.parse().map_err(D::Error::custom),
        }
    }
}

impl JsonSchema for Limit {
    fn schema_name() -> Cow<'static, str> {
        "Limit".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "description": "A number, or `none`.",
            "anyOf": [
                {"type": "integer", "format": "uint32", "minimum": 0, "maximum": u32::MAX},
                {"const": "none"}
            ]
        })
    }
}
