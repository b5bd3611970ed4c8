//! Arguments of calls as values of the library.

use pyo3::prelude::*;

use seedbank::engine::ingest::{ColumnNames, Format, Truncated};
use seedbank::engine::plan::Crawls;
use seedbank::engine::query::UrlList;
use seedbank::ingest::parse_timestamp;

use crate::errors;

/// Returns the value of this name.
pub(crate) fn named<T: Copy>(
    py: Python<'_>,
    what: &str,
    names: &[(T, &str)],
    name: &str,
) -> PyResult<T> {
    let found = names.iter().find(|(_, other)| *other == name);
    found.map(|(value, _)| *value).ok_or_else(|| {
        let all: Vec<&str> = names.iter().map(|(_, name)| *name).collect();
        let text = format!("{what}: expected one of {}, found {name:?}", all.join(", "));
        errors::usage(py, &text, None)
    })
}

/// Returns a time in seconds since 1970: a number, a text or a `datetime`.
pub(crate) fn seconds(time: &Bound<'_, PyAny>) -> PyResult<u64> {
    let text = if time.hasattr("isoformat")? {
        time.call_method0("isoformat")?.to_string()
    } else {
        time.to_string()
    };
    let wrong = |problem: &str| {
        let text = format!("as_of: {problem}, found {text:?}");
        errors::usage(time.py(), &text, None)
    };
    let parsed = parse_timestamp(text.trim()).map_err(|error| wrong(&error.to_string()))?;
    u64::try_from(parsed.micros / 1_000_000).map_err(|_| wrong("expected a time after 1970"))
}

/// Returns the callable that receives progress; `True` selects progress bars of tqdm.
pub(crate) fn reporter(
    py: Python<'_>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Option<Py<PyAny>>> {
    let Some(progress) = progress else {
        return Ok(None);
    };
    if progress.is_callable() {
        return Ok(Some(progress.unbind()));
    }
    if !progress.is_truthy()? {
        return Ok(None);
    }
    let bars = py
        .import("seedbank_engine.bars")?
        .getattr("Bars")?
        .call0()?;
    Ok(Some(bars.unbind()))
}

/// Checks a percentage.
pub(crate) fn percent(py: Python<'_>, what: &str, percent: f64) -> PyResult<f64> {
    if (0.0..=100.0).contains(&percent) {
        return Ok(percent);
    }
    let text = format!("{what}: expected a percentage from 0 to 100, found {percent}");
    Err(errors::usage(py, &text, None))
}

/// Returns the format of this name.
pub(crate) fn format(py: Python<'_>, name: &str) -> PyResult<Format> {
    Format::named(name).ok_or_else(|| {
        let names: Vec<&str> = Format::NAMES.iter().map(|(name, _)| *name).collect();
        let text = format!(
            "format: expected one of {}, found {name:?}",
            names.join(", ")
        );
        errors::usage(py, &text, None)
    })
}

/// Returns the columns that a text names.
pub(crate) fn columns(py: Python<'_>, text: Option<&str>) -> PyResult<ColumnNames> {
    let columns = text.unwrap_or_default().parse();
    columns.map_err(|error| errors::usage(py, &format!("columns: {error}"), None))
}

/// Returns the crawl that a text describes.
pub(crate) fn crawl(py: Python<'_>, text: &str) -> PyResult<Crawls> {
    let crawl = text.parse();
    crawl.map_err(|error| errors::usage(py, &format!("crawl: {error}"), None))
}

/// Returns what to do with truncated inputs.
pub(crate) fn truncated(py: Python<'_>, what: &str) -> PyResult<Truncated> {
    match what {
        "refuse" => Ok(Truncated::Refuse),
        "keep" => Ok(Truncated::Keep),
        _ => {
            let text = format!("truncated: expected refuse or keep, found {what:?}");
            Err(errors::usage(py, &text, None))
        }
    }
}

/// Returns a list of URLs under a name.
pub(crate) fn url_list(name: &str, urls: &Bound<'_, PyAny>) -> PyResult<UrlList> {
    let mut list = UrlList {
        name: name.to_owned(),
        urls: Vec::new(),
    };
    for (url, number) in urls.try_iter()?.zip(1..) {
        list.push_line(number, &url?.extract::<String>()?);
    }
    Ok(list)
}
