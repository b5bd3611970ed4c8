//! Moves definitions that several schemas use to a shared file, to which the schemas refer by its
//! relative path.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::shape::{LOCAL, Parts, reference, shape};

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
