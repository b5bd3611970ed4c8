//! What the JSON Schemas of answers say of plans and methods.

use schemars::Schema;

/// The names that a plan may have, as [`check_name`](super::check_name) has it.
pub(crate) const NAME_PATTERN: &str = "^[A-Za-z0-9._-]{1,64}$";

/// Says of an answer, one of several kinds, that only refreshes by cores give it.
pub(crate) fn by_cores(schema: &mut Schema) {
    method(schema, schemars::json_schema!({"const": "cores"}));
}

/// Says of an answer, one of several kinds, that only refreshes of a cover method give it.
pub(crate) fn by_cover(schema: &mut Schema) {
    method(schema, schemars::json_schema!({"not": {"const": "cores"}}));
}

/// Narrows the field `method`, which all kinds of the answer have.
fn method(schema: &mut Schema, narrowed: Schema) {
    let fields = schema
        .ensure_object()
        .entry("properties")
        .or_insert_with(|| serde_json::Map::new().into());
    if let Some(fields) = fields.as_object_mut() {
        fields.insert("method".to_owned(), narrowed.into());
    }
}
