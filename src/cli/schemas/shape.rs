//! Normalises derived schemas:
//!
//! - An object has no fields except those that are listed.
//! - A struct with a flattened enum (`#[serde(flatten)]`) becomes one of several complete objects. As
//!   derived, it is an object with a `oneOf`, which only `unevaluatedProperties` can close and few
//!   programs can read.
//! - An optional field is omitted and never null.
//! - The tag field of an enum has the description of the variant.
//! - A description is one paragraph, and `None` in Rust is `null` in JSON.
//!
//! Definitions that several schemas use move to a shared file, to which the schemas refer by its relative path. Schemas
//! are written in a readable order: descriptions come before contents, and fields are in the order in which they are
//! printed.

use std::collections::{BTreeMap, BTreeSet};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};

/// The keywords of a schema, or definitions by name.
pub(super) type Parts = Map<String, Value>;

/// Prefix of references within a file.
pub(super) const LOCAL: &str = "#/$defs/";

/// Returns the schema of a type, or a reference to its definition.
pub(super) fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// Returns the name of the definition that a schema refers to.
pub(super) fn reference(parts: &Parts) -> Option<&str> {
    parts.get("$ref")?.as_str()?.strip_prefix(LOCAL)
}

/// Normalises a schema. `definitions` are the derived definitions that it refers to.
pub(super) fn shape(schema: Value, definitions: &Parts) -> Value {
    let parts = match schema {
        Value::Object(parts) => parts,
        Value::Array(parts) => {
            let parts = parts.into_iter().map(|part| shape(part, definitions));
            return parts.collect();
        }
        other => return other,
    };
    let mut parts = inline_reference(parts, definitions);
    if parts.contains_key("properties")
        && let Some(Value::Array(kinds)) = parts.remove("oneOf").or_else(|| parts.remove("anyOf"))
    {
        let mut outer = Parts::new();
        for name in ["title", "description"] {
            outer.extend(parts.remove_entry(name));
        }
        let kinds = kinds.into_iter().map(|kind| match kind {
            Value::Object(kind) => {
                merged(parts.clone(), inline_reference(kind, definitions)).into()
            }
            other => other,
        });
        outer.insert("oneOf".to_owned(), kinds.collect());
        parts = outer;
    }
    let mut parts: Parts = parts
        .into_iter()
        .filter(|(name, _)| name != "format")
        .map(|(name, part)| match name.as_str() {
            "properties" => (name, fields(part, definitions)),
            _ => (name, shape(part, definitions)),
        })
        .collect();
    if let Some(Value::String(description)) = parts.get_mut("description") {
        *description = paragraph(description);
    }
    close(&mut parts);
    parts.into()
}

/// Normalises the schemas of fields, whose names may be those of keywords.
fn fields(fields: Value, definitions: &Parts) -> Value {
    match fields {
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, field)| (name, shape(field, definitions)))
            .collect(),
        other => other,
    }
}

/// Merges an object that has fields and a reference to another object into one object.
fn inline_reference(mut parts: Parts, definitions: &Parts) -> Parts {
    if !parts.contains_key("properties") {
        return parts;
    }
    let Some(Value::Object(other)) = reference(&parts).map(|name| &definitions[name]) else {
        return parts;
    };
    let mut other = inline_reference(other.clone(), definitions);
    parts.remove("$ref");
    // Keywords of the object take precedence over those of the other one.
    other.retain(|name, _| {
        matches!(name.as_str(), "properties" | "required") || !parts.contains_key(name)
    });
    merged(parts, other)
}

/// Merges two objects, and the schemas of fields that both have. On conflicts, `second` takes precedence.
fn merged(first: Parts, second: Parts) -> Parts {
    let mut both = first;
    for (name, part) in second {
        let existing = both.remove(&name);
        let part = match (name.as_str(), existing, part) {
            ("properties", Some(Value::Object(mut fields)), Value::Object(others)) => {
                for (name, other) in others {
                    match (fields.get_mut(&name), other) {
                        (Some(Value::Object(field)), Value::Object(other)) => field.extend(other),
                        (_, other) => {
                            fields.insert(name, other);
                        }
                    }
                }
                fields.into()
            }
            ("required", Some(Value::Array(fields)), Value::Array(others)) => {
                let others = others.into_iter().filter(|name| !fields.contains(name));
                fields.iter().cloned().chain(others).collect()
            }
            (_, _, part) => part,
        };
        both.insert(name, part);
    }
    both
}

/// Forbids unlisted fields, and null for optional fields.
fn close(parts: &mut Parts) {
    let required: Vec<Value> = match parts.get("required") {
        Some(Value::Array(required)) => required.clone(),
        _ => Vec::new(),
    };
    let description = parts.get("description").cloned();
    let mut has_tag = false;
    let Some(Value::Object(fields)) = parts.get_mut("properties") else {
        return;
    };
    for (name, field) in fields {
        let Value::Object(field) = field else {
            continue;
        };
        if !required.iter().any(|other| other == name) {
            without_null(field);
        }
        if field.contains_key("const") && !field.contains_key("description") {
            field.extend(description.clone().map(|text| ("description".into(), text)));
            has_tag = true;
        }
    }
    if has_tag {
        parts.remove("description");
    }
    parts
        .entry("additionalProperties")
        .or_insert(Value::Bool(false));
}

fn without_null(field: &mut Parts) {
    let null = |part: &Value| part.is_null() || part == "null" || *part == json!({"type": "null"});
    for name in ["type", "enum", "anyOf"] {
        let Some(Value::Array(several)) = field.get(name) else {
            continue;
        };
        let mut several = several.clone();
        field.remove(name);
        several.retain(|part| !null(part));
        match (name, several.pop()) {
            ("type", Some(last)) if several.is_empty() => {
                field.insert(name.to_owned(), last);
            }
            ("anyOf", Some(Value::Object(last))) if several.is_empty() => {
                let outer = std::mem::replace(field, last);
                field.extend(outer);
            }
            (_, last) => {
                several.extend(last);
                field.insert(name.to_owned(), several.into());
            }
        }
    }
}

fn paragraph(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ").replace("`None`", "`null`");
    assert!(
        !text.contains("[`") && !text.contains("::"),
        "a description in a schema must not contain links or paths of Rust: {text}"
    );
    text
}

/// Name of the file of shared definitions.
pub(super) const SHARED: &str = "definitions.schema.json";

/// The alternatives that a file describes, each with an optional title.
pub(super) type Alternatives = Vec<(Option<&'static str>, Value)>;

/// All definitions, and the names of shared ones.
pub(super) struct Bundle {
    definitions: Parts,
    shared: BTreeSet<String>,
}

impl Bundle {
    /// Creates a bundle of files whose alternatives refer to the definitions by `$ref`.
    pub(super) fn new<'a>(
        files: impl Iterator<Item = &'a Alternatives>,
        definitions: &Parts,
    ) -> Self {
        let files: Vec<&Alternatives> = files.collect();
        let mut definitions = definitions.clone();
        // The description of a file replaces the doc comment of its type, which contains examples.
        let inner: BTreeSet<String> = definitions.values().flat_map(references).collect();
        for (_, kind) in files.iter().copied().flatten() {
            for name in references(kind).difference(&inner) {
                if let Some(Value::Object(parts)) = definitions.get_mut(name) {
                    parts.remove("description");
                }
            }
        }
        let shaped = definitions
            .iter()
            .map(|(name, definition)| (name.clone(), shape(definition.clone(), &definitions)));
        let mut bundle = Self {
            definitions: shaped.collect(),
            shared: BTreeSet::new(),
        };
        let mut files_with: BTreeMap<String, usize> = BTreeMap::new();
        for alternatives in files {
            let references = alternatives
                .iter()
                .flat_map(|(_, kind)| references(kind))
                .collect();
            for name in bundle.reached(references) {
                *files_with.entry(name).or_default() += 1;
            }
        }
        files_with.retain(|_, files| *files > 1);
        bundle.shared = files_with.into_keys().collect();
        bundle
    }

    /// Returns the definitions in `wanted` and all that they refer to, except shared ones.
    fn reached(&self, mut wanted: BTreeSet<String>) -> BTreeSet<String> {
        let mut reached = BTreeSet::new();
        while let Some(name) = wanted.pop_first() {
            if !self.shared.contains(&name) && !reached.contains(&name) {
                wanted.extend(references(&self.definitions[&name]));
                reached.insert(name);
            }
        }
        reached
    }

    fn definitions_of(&self, names: &BTreeSet<String>) -> Parts {
        let all = self.definitions.iter();
        all.filter(|(name, _)| names.contains(*name))
            .map(|(name, definition)| (name.clone(), definition.clone()))
            .collect()
    }

    /// Returns the schema of a file.
    pub(super) fn schema(&self, alternatives: &Alternatives) -> Value {
        let mut alternatives: Vec<Value> = alternatives
            .iter()
            .map(|(title, kind)| self.alternative(*title, kind))
            .collect();
        let mut schema = if alternatives.len() == 1 {
            alternatives.remove(0)
        } else {
            let alternatives: Vec<Value> = alternatives
                .into_iter()
                .flat_map(|kind| match kind.get("oneOf") {
                    Some(Value::Array(alternatives)) => alternatives.clone(),
                    _ => vec![kind],
                })
                .collect();
            json!({ "oneOf": alternatives })
        };
        let local = self.definitions_of(&self.reached(references(&schema)));
        if !local.is_empty() {
            schema["$defs"] = local.into();
        }
        self.refer_to_shared(&mut schema);
        schema
    }

    /// Returns the schema of an alternative: a reference if the definition is shared.
    fn alternative(&self, title: Option<&str>, kind: &Value) -> Value {
        let name = kind.as_object().and_then(reference);
        let mut kind = match name {
            Some(name) if self.shared.contains(name) => kind.clone(),
            Some(name) => self.definitions[name].clone(),
            None => shape(kind.clone(), &self.definitions),
        };
        if let Some(parts) = kind.as_object_mut() {
            parts.remove("description");
            parts.extend(title.map(|title| ("title".to_owned(), json!(title))));
        }
        kind
    }

    /// Returns the schema of the file of shared definitions.
    pub(super) fn shared(&self) -> Value {
        json!({ "$defs": self.definitions_of(&self.shared) })
    }

    fn refer_to_shared(&self, schema: &mut Value) {
        match schema {
            Value::Object(parts) => {
                let name = reference(parts).filter(|name| self.shared.contains(*name));
                if let Some(name) = name {
                    let path = format!("{SHARED}{LOCAL}{name}");
                    parts.insert("$ref".to_owned(), path.into());
                }
                for part in parts.values_mut() {
                    self.refer_to_shared(part);
                }
            }
            Value::Array(parts) => {
                for part in parts {
                    self.refer_to_shared(part);
                }
            }
            _ => {}
        }
    }
}

/// Returns the names of the definitions that a schema refers to.
fn references(schema: &Value) -> BTreeSet<String> {
    match schema {
        Value::Object(parts) => {
            let mut names: BTreeSet<String> = parts.values().flat_map(references).collect();
            names.extend(reference(parts).map(str::to_owned));
            names
        }
        Value::Array(parts) => parts.iter().flat_map(references).collect(),
        _ => BTreeSet::new(),
    }
}

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
