//! Normalises derived schemas:
//!
//! - An object has no fields except those that are listed.
//! - A struct with a flattened enum (`#[serde(flatten)]`) becomes one of several complete objects. As
//!   derived, it is an object with a `oneOf`, which only `unevaluatedProperties` can close and few
//!   programs can read.
//! - An optional field is omitted and never null.
//! - The tag field of an enum has the description of the variant.
//! - A description is one paragraph, and `None` in Rust is `null` in JSON.

use schemars::{JsonSchema, Schema, SchemaGenerator};
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
