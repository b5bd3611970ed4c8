//! The form that the derived schemas are brought into.
//!
//! - An object has no fields other than those that are named.
//! - A type that is one of several kinds, besides fields that all of them have (`#[serde(flatten)]`
//!   of an enum), is one of several whole objects. Derived, it is an object with a part that is one
//!   of several, which only `unevaluatedProperties` can close and few programs can read.
//! - A field that may be left out is never null: it is left out instead.
//! - The field that tells the kind has the description of the kind.
//! - Descriptions are one paragraph; `None` in Rust is `null` in JSON.

use serde_json::{Map, Value, json};

/// The keywords of a schema, or definitions by name.
pub(super) type Parts = Map<String, Value>;

/// Where references within a file begin.
pub(super) const LOCAL: &str = "#/$defs/";

/// The name of the definition that a schema refers to.
pub(super) fn reference(parts: &Parts) -> Option<&str> {
    parts.get("$ref")?.as_str()?.strip_prefix(LOCAL)
}

/// A schema in that form; `definitions` are those that it refers to, as they were derived.
pub(super) fn shape(schema: Value, definitions: &Parts) -> Value {
    let parts = match schema {
        Value::Object(parts) => parts,
        Value::Array(parts) => {
            let parts = parts.into_iter().map(|part| shape(part, definitions));
            return parts.collect();
        }
        other => return other,
    };
    let mut parts = whole(parts, definitions);
    if parts.contains_key("properties")
        && let Some(Value::Array(kinds)) = parts.remove("oneOf").or_else(|| parts.remove("anyOf"))
    {
        let mut about = Parts::new();
        for name in ["title", "description"] {
            about.extend(parts.remove_entry(name));
        }
        let kinds = kinds.into_iter().map(|kind| match kind {
            Value::Object(kind) => joined(parts.clone(), whole(kind, definitions)).into(),
            other => other,
        });
        about.insert("oneOf".to_owned(), kinds.collect());
        parts = about;
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

/// The schemas of fields, each by its name, which may be that of a keyword.
fn fields(fields: Value, definitions: &Parts) -> Value {
    match fields {
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, field)| (name, shape(field, definitions)))
            .collect(),
        other => other,
    }
}

/// Turns an object that refers to another one, besides having fields of its own, into one object.
fn whole(mut parts: Parts, definitions: &Parts) -> Parts {
    if !parts.contains_key("properties") {
        return parts;
    }
    let Some(Value::Object(other)) = reference(&parts).map(|name| &definitions[name]) else {
        return parts;
    };
    let mut other = whole(other.clone(), definitions);
    parts.remove("$ref");
    // What is said here takes precedence over what is said there.
    other.retain(|name, _| {
        matches!(name.as_str(), "properties" | "required") || !parts.contains_key(name)
    });
    joined(parts, other)
}

/// An object with the fields of both. Where both say something of a field, everything is kept;
/// where they say different things of it, or of the object, the second one counts.
fn joined(first: Parts, second: Parts) -> Parts {
    let mut both = first;
    for (name, part) in second {
        let there = both.remove(&name);
        let part = match (name.as_str(), there, part) {
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

/// Allows no fields other than those that are named, and no null for those that may be left out.
fn close(parts: &mut Parts) {
    let required: Vec<Value> = match parts.get("required") {
        Some(Value::Array(required)) => required.clone(),
        _ => Vec::new(),
    };
    let description = parts.get("description").cloned();
    let mut tells_the_kind = false;
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
            tells_the_kind = true;
        }
    }
    if tells_the_kind {
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
                let about = std::mem::replace(field, last);
                field.extend(about);
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
        "a description is for readers of JSON, who have no Rust documentation: {text}"
    );
    text
}
