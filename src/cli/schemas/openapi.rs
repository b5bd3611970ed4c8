//! Generates `schema/openapi.json`, the OpenAPI document of the server's API, from the declared operations
//! and the types of their parameters and answers.

use schemars::generate::SchemaSettings;
use seedbank::serve::{OPERATIONS, Operation, Problem};
use serde_json::{Map, Value, json};

use super::shape::{LOCAL, Parts, schema_of, shape};

/// Name of the file.
pub(super) const FILE: &str = "openapi.json";

/// Prefix of references to schemas within the document.
const COMPONENTS: &str = "#/components/schemas/";

const DESCRIPTION: &str = "What a Seedbank bank knows: plans and their seeds with the reasons for them, pages, sites, links \
     and history. Read-only. Each answer comes from one published state of the bank. Errors are problem \
     details (RFC 9457). A server that other machines can reach requires a token.";

/// Returns the document.
pub(super) fn document() -> Value {
    let mut answers = SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator();
    let problem = schema_of::<Problem>(&mut answers).to_value();
    let operations: Vec<(&Operation, Value)> = OPERATIONS
        .iter()
        .map(|operation| (operation, (operation.answer)(&mut answers).to_value()))
        .collect();
    let mut derived = answers.take_definitions(false);
    for schema in derived.values_mut() {
        // Examples in Rust say nothing to a client.
        if let Some(Value::String(text)) = schema.get_mut("description") {
            text.truncate(text.find("```").unwrap_or(text.len()));
        }
    }
    let paths: Map<String, Value> = operations
        .into_iter()
        .map(|(operation, answer)| {
            let method = if operation.takes_list { "post" } else { "get" };
            let path = json!({ method: described(operation, &answer) });
            (operation.path(), path)
        })
        .collect();
    let schemas: Parts = derived
        .iter()
        .map(|(name, schema)| (name.clone(), shape(schema.clone(), &derived)))
        .collect();
    let components = schemas.clone();
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Seedbank",
            "version": "1",
            "description": DESCRIPTION,
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "security": [{}, { "bearer": [] }, { "basic": [] }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": {
                "problem": {
                    "description": "Why the request was not answered",
                    "content": { "application/problem+json": { "schema": problem } },
                },
            },
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer" },
                "basic": {
                    "type": "http",
                    "scheme": "basic",
                    "description": "Any user name, and the token as the password",
                },
            },
        },
    });
    list_names(&mut document, &components);
    refer_to_components(&mut document);
    document
}

/// Replaces alternatives that are names by one `enum`, whose description explains each name. Generators of
/// clients do not understand alternatives of constants.
fn list_names(schema: &mut Value, components: &Parts) {
    if let Some(names) = names_of(schema, components)
        && let Some(parts) = schema.as_object_mut()
    {
        parts.retain(|key, _| key == "description");
        let about = parts.get("description").and_then(Value::as_str);
        let mut lines: Vec<String> = about
            .map(|about| format!("{about}\n"))
            .into_iter()
            .collect();
        let explained = names.iter().filter(|(_, about)| !about.is_empty());
        lines.extend(explained.map(|(name, about)| format!("- `{name}`: {about}")));
        let values: Vec<&String> = names.iter().map(|(name, _)| name).collect();
        parts.insert("type".to_owned(), "string".into());
        parts.insert("enum".to_owned(), json!(values));
        parts.insert("description".to_owned(), lines.join("\n").trim().into());
        return;
    }
    match schema {
        Value::Object(parts) => {
            for (key, part) in parts {
                if let ("oneOf" | "anyOf", Value::Array(alternatives)) = (key.as_str(), &mut *part)
                {
                    // Generators name types by titles, which can be those of other types.
                    for alternative in alternatives.iter_mut().filter_map(Value::as_object_mut) {
                        alternative.remove("title");
                    }
                }
                list_names(part, components);
            }
        }
        Value::Array(parts) => parts
            .iter_mut()
            .for_each(|part| list_names(part, components)),
        _ => {}
    }
}

/// Returns the names that a schema allows, each with its description; `None` if it allows anything else.
fn names_of(schema: &Value, components: &Parts) -> Option<Vec<(String, String)>> {
    let alternatives = schema.get("oneOf").or_else(|| schema.get("anyOf"))?;
    let mut found = Vec::new();
    for alternative in alternatives.as_array()? {
        if let Some(name) = alternative.get("const") {
            let about = alternative.get("description").and_then(Value::as_str);
            found.push((
                name.as_str()?.to_owned(),
                about.unwrap_or_default().to_owned(),
            ));
        } else {
            let reference = alternative.get("$ref")?.as_str()?.strip_prefix(LOCAL)?;
            found.extend(names_of(components.get(reference)?, components)?);
        }
    }
    Some(found)
}

/// Describes an operation whose answer has a schema.
fn described(operation: &Operation, answer: &Value) -> Value {
    let mut responses = json!({
        "200": {
            "description": operation.about,
            "content": { "application/json": { "schema": answer } },
        },
    });
    let mut statuses = vec!["400", "401", "404", "409", "503", "default"];
    if operation.takes_list {
        statuses.extend(["413", "415"]);
    }
    for status in statuses {
        responses[status] = json!({ "$ref": "#/components/responses/problem" });
    }
    let mut described = json!({
        "operationId": operation.name,
        "summary": operation.about,
        "parameters": parameters(operation),
        "responses": responses,
    });
    if operation.takes_list {
        // Empty lines and comments alone are no list.
        let list = json!({ "type": "string", "pattern": r"(^|\n)[^\S\n]*[^#\s]" });
        described["requestBody"] = json!({
            "description": "The list, one URL per line, at most 2,000",
            "required": true,
            "content": { "text/plain": { "schema": list } },
        });
    }
    described
}

/// Returns the parameters of the query, from the fields of the type that reads it.
fn parameters(operation: &Operation) -> Vec<Value> {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let mut generator = settings.into_generator();
    let schema = (operation.parameters)(&mut generator).to_value();
    let schema = shape(schema, &Parts::new());
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let fields = schema["properties"].as_object().into_iter().flatten();
    fields
        .map(|(name, field)| {
            let mut field = field.clone();
            let parts = field.as_object_mut().unwrap();
            let description = parts.remove("description").unwrap();
            parts.retain(|name, value| name != "default" || !value.is_null());
            json!({
                "name": name,
                "in": "query",
                "required": required.iter().any(|other| other == name),
                "description": description,
                "schema": field,
            })
        })
        .collect()
}

/// Lets all references lead to the components of the document.
fn refer_to_components(schema: &mut Value) {
    match schema {
        Value::Object(parts) => {
            for (name, part) in parts {
                match part {
                    Value::String(text) if name == "$ref" => {
                        if let Some(name) = text.strip_prefix(LOCAL) {
                            *text = format!("{COMPONENTS}{name}");
                        }
                    }
                    part => refer_to_components(part),
                }
            }
        }
        Value::Array(parts) => parts.iter_mut().for_each(refer_to_components),
        _ => {}
    }
}
