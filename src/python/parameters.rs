//! Keyword arguments as parameters of plans, by the declaration of the parameters.

use std::path::PathBuf;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

use seedbank::EngineError;
use seedbank::engine::PlanOptions;
use seedbank::engine::plan::{Parameter, ValueKind};
use seedbank::engine::policy::List;

use crate::call::Call;
use crate::errors;

/// The name of a list that is given as lines.
const LINES: &str = "lines";

/// The value of a parameter that is a list.
enum ListValue {
    File(PathBuf),
    Lines(String),
}

/// Reads the parameters of a plan. Names have underscores instead of dashes, and `None` is a parameter that is
/// not given. A list is a path, or lines.
pub(crate) fn read(
    call: &mut Call<'_>,
    given: Option<&Bound<'_, PyDict>>,
) -> PyResult<PlanOptions> {
    let mut options = PlanOptions::default();
    let mut lists = Vec::new();
    for (name, value) in given.into_iter().flatten() {
        let name = name.to_string();
        let Some(parameter) = Parameter::named(&name.replace('_', "-")) else {
            return Err(PyTypeError::new_err(format!(
                "no parameter of plans is named {name:?}"
            )));
        };
        if value.is_none() {
            continue;
        }
        if parameter.kind == ValueKind::List {
            lists.push((parameter, list_value(&value)?));
            continue;
        }
        let text = if value.is_instance_of::<PyBool>() {
            value.to_string().to_lowercase()
        } else {
            value.to_string()
        };
        parameter.read(&mut options, &text).map_err(|problem| {
            errors::usage(
                call.py(),
                &format!("{name}: {problem}, found {text:?}"),
                None,
            )
        })?;
    }
    if lists.is_empty() {
        return Ok(options);
    }
    // A file may be a pipe, and take long.
    let watch = call.watch();
    call.step(move |_| {
        for (parameter, value) in lists {
            let list = match value {
                ListValue::File(path) => List::read(path, &watch)?,
                ListValue::Lines(text) => List::parse(LINES, &text),
            };
            parameter.set_list(&mut options, list);
        }
        Ok::<_, EngineError>(options)
    })
}

fn list_value(value: &Bound<'_, PyAny>) -> PyResult<ListValue> {
    if value.is_instance_of::<PyString>() || value.hasattr("__fspath__")? {
        return Ok(ListValue::File(value.extract()?));
    }
    let mut text = String::new();
    for line in value.try_iter()? {
        text.push_str(line?.cast::<PyString>()?.to_cow()?.as_ref());
        text.push('\n');
    }
    Ok(ListValue::Lines(text))
}
