//! The schemas of all files together: a definition that several files refer to is written once, in
//! a file of its own that the others refer to by its name, relative to theirs.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::shape::{LOCAL, Parts, reference, shape};

/// The file of the definitions that several files refer to.
pub(super) const SHARED: &str = "definitions.schema.json";

/// What a file describes: one type or one of several, each with its title.
pub(super) type Kinds = Vec<(Option<&'static str>, Value)>;

/// All definitions, and which of them are shared.
pub(super) struct Bundle {
    definitions: Parts,
    shared: BTreeSet<String>,
}

impl Bundle {
    /// The bundle of these files, whose kinds refer to the definitions by `$ref`.
    pub(super) fn new<'a>(files: impl Iterator<Item = &'a Kinds>, definitions: &Parts) -> Self {
        let files: Vec<&Kinds> = files.collect();
        let mut definitions = definitions.clone();
        // What a file says of itself is more than the doc comment of its type, which has examples.
        let within: BTreeSet<String> = definitions.values().flat_map(referred).collect();
        for (_, kind) in files.iter().copied().flatten() {
            for name in referred(kind).difference(&within) {
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
        for kinds in files {
            let references = kinds.iter().flat_map(|(_, kind)| referred(kind)).collect();
            for name in bundle.reached(references) {
                *files_with.entry(name).or_default() += 1;
            }
        }
        files_with.retain(|_, files| *files > 1);
        bundle.shared = files_with.into_keys().collect();
        bundle
    }

    /// The names of these definitions and of all that they refer to, but for shared ones.
    fn reached(&self, mut wanted: BTreeSet<String>) -> BTreeSet<String> {
        let mut reached = BTreeSet::new();
        while let Some(name) = wanted.pop_first() {
            if !self.shared.contains(&name) && !reached.contains(&name) {
                wanted.extend(referred(&self.definitions[&name]));
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

    /// The schema of a file.
    pub(super) fn schema(&self, kinds: &Kinds) -> Value {
        let mut kinds: Vec<Value> = kinds
            .iter()
            .map(|(title, kind)| self.kind(*title, kind))
            .collect();
        let mut schema = if kinds.len() == 1 {
            kinds.remove(0)
        } else {
            let kinds: Vec<Value> = kinds
                .into_iter()
                .flat_map(|kind| match kind.get("oneOf") {
                    Some(Value::Array(kinds)) => kinds.clone(),
                    _ => vec![kind],
                })
                .collect();
            json!({ "oneOf": kinds })
        };
        let local = self.definitions_of(&self.reached(referred(&schema)));
        if !local.is_empty() {
            schema["$defs"] = local.into();
        }
        self.refer_to_shared(&mut schema);
        schema
    }

    /// One of the types of a file: the whole of it where no other file has it.
    fn kind(&self, title: Option<&str>, kind: &Value) -> Value {
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

    /// The schema of the file of shared definitions.
    pub(super) fn shared(&self) -> Value {
        json!({ "$defs": self.definitions_of(&self.shared) })
    }

    fn refer_to_shared(&self, schema: &mut Value) {
        match schema {
            Value::Object(parts) => {
                let name = reference(parts).filter(|name| self.shared.contains(*name));
                if let Some(name) = name {
                    let there = format!("{SHARED}{LOCAL}{name}");
                    parts.insert("$ref".to_owned(), there.into());
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

/// The definitions that a schema refers to.
fn referred(schema: &Value) -> BTreeSet<String> {
    match schema {
        Value::Object(parts) => {
            let mut names: BTreeSet<String> = parts.values().flat_map(referred).collect();
            names.extend(reference(parts).map(str::to_owned));
            names
        }
        Value::Array(parts) => parts.iter().flat_map(referred).collect(),
        _ => BTreeSet::new(),
    }
}
