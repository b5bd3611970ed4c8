//! The schemas of JSON output: sound, strict and described. What commands print is checked in each text
//! (`tests/support/transcript.rs`).

use std::path::Path;

use crate::support::command::names;
use crate::support::schemas::{schema, validator};
use serde_json::{Value, json};

#[test]
fn schemas_are_sound_strict_and_described() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema");
    let all = names(&folder);
    let schemas: Vec<&str> = all
        .iter()
        .filter_map(|name| name.strip_suffix(".schema.json"))
        .collect();
    for needed in [
        "check", "cores", "diff", "explain", "history", "ingest", "record", "refresh", "report",
        "seeds", "status", "synth",
    ] {
        assert!(schemas.contains(&needed), "{needed}");
    }
    for name in schemas {
        let schema = schema(name);
        assert_eq!(
            schema["$schema"], "https://json-schema.org/draft/2020-12/schema",
            "{name}"
        );
        assert!(jsonschema::meta::is_valid(&schema), "{name}");
        // All that it refers to is there.
        validator(name);
        assert!(schema["description"].is_string(), "{name}");
        // What goes in may have more.
        if !["record", "site"].contains(&name) {
            strict(name, &schema);
        }
    }
}

/// Every object with named fields allows no others, and describes each of them.
fn strict(name: &str, schema: &Value) {
    if let Some(fields) = schema.get("properties").and_then(Value::as_object) {
        assert_eq!(schema["additionalProperties"], false, "{name}: {schema}");
        for (field, about) in fields {
            assert!(about["description"].is_string(), "{name}.{field}");
        }
    }
    match schema {
        Value::Object(parts) => parts.values().for_each(|part| strict(name, part)),
        Value::Array(parts) => parts.iter().for_each(|part| strict(name, part)),
        _ => {}
    }
}

#[test]
fn drift_is_caught() {
    let validator = validator("seeds");
    let seed = json!({"rank": 1, "url": "http://a.example/", "site": "a.example", "method": "cores",
        "plan": "p", "refresh": 1, "core": 1, "sigma": 1.0, "hub_score": 0.5});
    assert!(validator.is_valid(&seed));
    for (field, value) in [
        ("more", json!(1)),
        ("rank", json!(0)),
        ("url", json!("a")),
        ("gain", json!(1)),
    ] {
        let mut other = seed.clone();
        other[field] = value;
        assert!(!validator.is_valid(&other), "{field}");
    }
    let mut cover = json!({"rank": 1, "url": "http://a.example/", "site": "a.example",
        "method": "greedy", "plan": "p", "refresh": 1, "gain": -0.5, "covered_pages": 3,
        "covered_value": -0.25, "pick": 2, "since": 1});
    assert!(validator.is_valid(&cover));
    cover["seats"] = json!(3);
    assert!(validator.is_valid(&cover));
    cover["alive"] = json!(false);
    assert!(validator.is_valid(&cover));
    let mut less = seed;
    less.as_object_mut().unwrap().remove("sigma");
    assert!(!validator.is_valid(&less));
}
