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
use seedbank_formats::display::parse_count;

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

    /// What comes before and after the range in a description of the expected numbers; `None` for other
    /// types.
    const NUMBER: Option<[&'static str; 2]> = None;

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
            const NUMBER: Option<[&'static str; 2]> = Some(["a whole number", ""]);
            fn read(text: &str) -> Result<Self, String> {
                let number = parse_count(text).and_then(|number| Self::try_from(number).ok());
                number.ok_or_else(|| format!("expected a whole number from 0 to {}", Self::MAX))
            }
        }
    )+};
}

whole_numbers!(u32, u64);

macro_rules! parsed {
    ($($type:ty, $kind:ident, $number:expr);+) => {$(
        impl ParameterType for $type {
            const KIND: ValueKind = ValueKind::$kind;
            const NUMBER: Option<[&'static str; 2]> = $number;
            fn read(text: &str) -> Result<Self, String> {
                text.parse().map_err(|e| {
                    // Whoever passes the text knows it.
                    let problem = format!("{e}");
                    let found = format!(", found {text:?}");
                    problem.strip_suffix(&found).unwrap_or(&problem).to_owned()
                })
            }
        }
    )+};
}

parsed!(
    bool, Switch, None;
    Density, Text, None;
    Slack, Text, None;
    Value, Signed, Some(["a number", " with at most six decimals"])
);

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
