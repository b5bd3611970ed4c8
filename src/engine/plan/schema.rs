//! Parts of the JSON Schemas about plans and methods.

use schemars::Schema;

/// The valid plan names, as in [`check_name`](super::check_name).
pub(crate) const NAME_PATTERN: &str = "^[A-Za-z0-9._-]{1,64}$";

/// Restricts a variant of an answer to refreshes by cores.
pub(crate) fn by_cores(schema: &mut Schema) {
    method(schema, schemars::json_schema!({"const": "cores"}));
}

/// Restricts a variant of an answer to refreshes of a cover method.
pub(crate) fn by_cover(schema: &mut Schema) {
    method(schema, schemars::json_schema!({"not": {"const": "cores"}}));
}

/// Restricts the field `method`, which all variants of the answer have.
fn method(schema: &mut Schema, narrowed: Schema) {
    let fields = schema
        .ensure_object()
        .entry("properties")
        .or_insert_with(|| serde_json::Map::new().into());
    if let Some(fields) = fields.as_object_mut() {
        fields.insert("method".to_owned(), narrowed.into());
    }
}
