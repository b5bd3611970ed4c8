//! Types of parameters, and how their values are written.

use schemars::JsonSchema;
use serde::de::value::{Error as ValueError, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde::{Deserialize, Serialize};

use super::{Goal, Method, Pages, Scope};
use crate::engine::policy::{Limit, List};
use seedbank_algorithms::cores::{Density, Growth, Hits, Pick, Slack};
use seedbank_algorithms::cover::global::ValueBy;
use seedbank_algorithms::cover::{self, Covered, Share, Value};

/// How a parameter's value is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueKind {
    /// A number without a sign, or a word.
    Text,
    /// A number that may be negative.
    Signed,
    /// `true` or `false`; a flag without a value means `true`.
    Switch,
    /// The path of a file with a [`List`].
    List,
}

/// One of the words to which a parameter can be set.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct NamedValue {
    /// The word.
    #[serde(rename = "const")]
    pub name: String,
    /// What it means.
    #[serde(rename = "description")]
    pub help: String,
}

/// A type of parameters.
pub(super) trait ParameterType: Clone + Serialize + Send + Sync + 'static {
    const KIND: ValueKind = ValueKind::Text;

    /// Parses a value as in flags.
    fn read(text: &str) -> Result<Self, String>;

    /// Returns all values, if they are words.
    fn words() -> Vec<NamedValue> {
        Vec::new()
    }

    /// Whether the value removes what a plan stored.
    fn removes_stored(&self) -> bool {
        false
    }

    fn from_list(_: List) -> Option<Self> {
        None
    }

    fn list_mut(&mut self) -> Option<&mut List> {
        None
    }
}

/// Formats a value as in flags.
pub(super) fn to_text(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        // Percentages are floats in JSON: 100.0.
        Ok(value) => value.to_string().trim_end_matches(".0").to_owned(),
        Err(_) => String::new(),
    }
}

/// Parses a type whose values are words.
fn read_word<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let word: StrDeserializer<'_, ValueError> = text.into_deserializer();
    T::deserialize(word).map_err(|e| e.to_string())
}

/// Returns the words of a type with their doc comments, taken from its JSON Schema.
fn words_of<T: JsonSchema>() -> Vec<NamedValue> {
    let schema = schemars::schema_for!(T).to_value();
    let variants = schema.get("oneOf").or_else(|| schema.get("anyOf"));
    let variants = variants.and_then(serde_json::Value::as_array);
    let words = variants.into_iter().flatten().filter_map(|variant| {
        let word = NamedValue::deserialize(variant).ok()?;
        let lines: Vec<&str> = word.help.trim_end_matches('.').lines().collect();
        let help = lines.join(" ");
        Some(NamedValue { help, ..word })
    });
    words.collect()
}

macro_rules! words {
    ($($type:ty),+) => {$(
        impl ParameterType for $type {
            fn read(text: &str) -> Result<Self, String> {
                read_word(text)
            }
            fn words() -> Vec<NamedValue> {
                words_of::<Self>()
            }
        }
    )+};
}

words!(
    Goal, Hits, Growth, Pick, Pages, Scope, Share, Covered, ValueBy
);

impl ParameterType for Method {
    fn read(text: &str) -> Result<Self, String> {
        read_word(text)
    }

    // The schema names the cover methods as a type of their own.
    fn words() -> Vec<NamedValue> {
        [words_of::<Self>(), words_of::<cover::Method>()].concat()
    }
}

macro_rules! whole_numbers {
    ($($type:ty),+) => {$(
        impl ParameterType for $type {
            fn read(text: &str) -> Result<Self, String> {
                text.parse()
                    .map_err(|_| format!("expected a whole number from 0 to {}", Self::MAX))
            }
        }
    )+};
}

whole_numbers!(u32, u64);

macro_rules! parsed {
    ($($type:ty, $kind:ident);+) => {$(
        impl ParameterType for $type {
            const KIND: ValueKind = ValueKind::$kind;
            fn read(text: &str) -> Result<Self, String> {
                text.parse().map_err(|e| format!("{e}"))
            }
        }
    )+};
}

parsed!(bool, Switch; Density, Text; Slack, Text; Value, Signed);

impl ParameterType for Limit {
    fn read(text: &str) -> Result<Self, String> {
        text.parse().map_err(str::to_owned)
    }

    fn removes_stored(&self) -> bool {
        *self == Self::None
    }
}

impl ParameterType for List {
    const KIND: ValueKind = ValueKind::List;

    fn read(text: &str) -> Result<Self, String> {
        read_word(text)
    }

    fn removes_stored(&self) -> bool {
        self.is_off()
    }

    fn from_list(list: List) -> Option<Self> {
        Some(list)
    }

    fn list_mut(&mut self) -> Option<&mut List> {
        Some(self)
    }
}
