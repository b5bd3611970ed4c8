//! Writes a schema in a readable order: descriptions come before contents, and fields are in the order in
//! which they are printed.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

/// The first keywords, in this order. Keywords in neither list come between the two, by name.
const FIRST: [&str; 6] = ["$schema", "title", "description", "type", "$ref", "const"];
/// The last keywords, in this order.
const LAST: [&str; 7] = [
    "properties",
    "required",
    "additionalProperties",
    "items",
    "anyOf",
    "oneOf",
    "$defs",
];

/// Returns the text of a schema.
pub(super) fn text(schema: &Value) -> String {
    let mut text = serde_json::to_string_pretty(&Ordered(schema)).unwrap();
    text.push('\n');
    text
}

struct Ordered<'a>(&'a Value);

/// The fields of an object: required ones in the order in which they are printed, then the others by
/// name, because their order is unknown.
struct Fields<'a> {
    fields: &'a Map<String, Value>,
    required: Option<&'a Vec<Value>>,
}

fn place(keyword: &str) -> usize {
    let at = |list: &[&str]| list.iter().position(|name| *name == keyword);
    at(&FIRST)
        .or_else(|| at(&LAST).map(|place| FIRST.len() + 1 + place))
        .unwrap_or(FIRST.len())
}

impl Serialize for Ordered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(parts) => {
                let mut names: Vec<&String> = parts.keys().collect();
                names.sort_by_key(|name| (place(name), *name));
                let mut map = serializer.serialize_map(Some(parts.len()))?;
                for name in names {
                    match (name.as_str(), &parts[name]) {
                        ("properties", Value::Object(fields)) => {
                            let required = parts.get("required").and_then(Value::as_array);
                            map.serialize_entry(name, &Fields { fields, required })?;
                        }
                        (_, part) => map.serialize_entry(name, &Ordered(part))?,
                    }
                }
                map.end()
            }
            Value::Array(parts) => serializer.collect_seq(parts.iter().map(Ordered)),
            other => other.serialize(serializer),
        }
    }
}

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let place = |name: &str| {
            let mut required = self.required.into_iter().flatten();
            required
                .position(|field| field == name)
                .unwrap_or(usize::MAX)
        };
        let mut names: Vec<&String> = self.fields.keys().collect();
        names.sort_by_key(|name| (place(name), *name));
        serializer.collect_map(
            names
                .into_iter()
                .map(|name| (name, Ordered(&self.fields[name]))),
        )
    }
}
