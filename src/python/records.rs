//! Records of Python as lines of JSON Lines.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple};

/// The most levels of lists and mappings in a record; records have two.
const MAX_DEPTH: usize = 8;

/// Writes a mapping as a line of JSON, without a line end.
///
/// The values are those of the fields of records, with dates and times, and numbers of numpy. Wrong fields and
/// values are written too, since the reader of records rejects, counts and lists them.
///
/// # Errors
///
/// `TypeError` if the record is not a mapping, or a value has no form in JSON.
pub(crate) fn write_line(record: &Bound<'_, PyAny>, line: &mut String) -> PyResult<()> {
    if let Ok(record) = record.cast::<PyDict>() {
        return write_object(record, line, 0);
    }
    if !record.hasattr("keys")? {
        let found = record.get_type();
        return Err(PyTypeError::new_err(format!(
            "expected a mapping, found {found}"
        )));
    }
    // Rows of databases, for example.
    let record = record.py().get_type::<PyDict>().call1((record,))?;
    write_object(record.cast::<PyDict>()?, line, 0)
}

fn write_object(object: &Bound<'_, PyDict>, line: &mut String, depth: usize) -> PyResult<()> {
    line.push('{');
    for (at, (key, value)) in object.iter().enumerate() {
        if at > 0 {
            line.push(',');
        }
        let key = key.cast::<PyString>().map_err(|_| {
            PyTypeError::new_err(format!("expected the name of a field, found {key}"))
        })?;
        write_text(key, line);
        line.push(':');
        write_value(&value, line, depth)?;
    }
    line.push('}');
    Ok(())
}

fn write_value(value: &Bound<'_, PyAny>, line: &mut String, depth: usize) -> PyResult<()> {
    if depth > MAX_DEPTH {
        return Err(PyTypeError::new_err(
            "the lists of a record are nested too deeply",
        ));
    }
    if value.is_none() {
        line.push_str("null");
    } else if let Ok(text) = value.cast::<PyString>() {
        write_text(text, line);
    } else if let Ok(truth) = value.cast::<PyBool>() {
        line.push_str(if truth.is_true() { "true" } else { "false" });
    } else if value.is_instance_of::<PyInt>() {
        // Of any size; an enum has another text.
        line.push_str(
            &value
                .py()
                .get_type::<PyInt>()
                .call_method1("__repr__", (value,))?
                .to_string(),
        );
    } else if let Ok(number) = value.cast::<PyFloat>() {
        write_float(number.value(), line);
    } else if let Ok(object) = value.cast::<PyDict>() {
        write_object(object, line, depth + 1)?;
    } else if is_list(value) {
        write_list(value, line, depth)?;
    } else if value.hasattr("isoformat")? {
        // A date, or a date with a time.
        write_text(value.call_method0("isoformat")?.cast::<PyString>()?, line);
    } else if value.hasattr("tolist")? {
        // A number or an array of numpy.
        write_value(&value.call_method0("tolist")?, line, depth + 1)?;
    } else {
        let found = value.get_type();
        return Err(PyTypeError::new_err(format!(
            "a field of a record cannot be {found}"
        )));
    }
    Ok(())
}

fn is_list(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyList>()
        || value.is_instance_of::<PyTuple>()
        || value.is_instance_of::<PySet>()
        || value.is_instance_of::<PyFrozenSet>()
}

fn write_list(list: &Bound<'_, PyAny>, line: &mut String, depth: usize) -> PyResult<()> {
    line.push('[');
    for (at, value) in list.try_iter()?.enumerate() {
        if at > 0 {
            line.push(',');
        }
        write_value(&value?, line, depth + 1)?;
    }
    line.push(']');
    Ok(())
}

/// Writes a number. JSON has no number that is not finite; as a text it is rejected.
fn write_float(number: f64, line: &mut String) {
    match serde_json::Number::from_f64(number) {
        Some(number) => line.push_str(&number.to_string()),
        None => line.extend(["\"", &number.to_string(), "\""]),
    }
}

fn write_text(text: &Bound<'_, PyString>, line: &mut String) {
    let json = text.to_cow().ok();
    let json = json.and_then(|text| serde_json::to_string(&*text).ok());
    // A text with an unpaired surrogate has no UTF-8. This JSON string is not a text either, and is rejected.
    line.push_str(json.as_deref().unwrap_or("\"\\ud800\""));
}
