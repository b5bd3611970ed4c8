//! A seed list as a file.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State as Shared;
use axum::http::{HeaderMap, Response, StatusCode, Uri};
use serde::Deserialize;

use crate::named::Named;
use crate::render::{SeedFormat, write_seeds};
use crate::serve::answer::{Answer, CSV, Fault, JSON, JSON_LINES, PARQUET, TEXT};
use crate::serve::asked::which;
use crate::serve::desk::{Desk, State};
use crate::serve::form::{Form, accepted};
use crate::serve::query_params::{query, some_whole};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    plan: Option<String>,
    #[serde(default, deserialize_with = "some_whole")]
    refresh: Option<u32>,
    /// Without those that are no pages any more.
    #[serde(default)]
    alive: bool,
    format: Option<String>,
}

/// The format alone, of a query that may be wrong elsewhere.
#[derive(Deserialize)]
struct Format {
    format: Option<String>,
}

pub(super) async fn answer(
    Shared(desk): Shared<Arc<Desk>>,
    headers: HeaderMap,
    uri: Uri,
) -> Response<Body> {
    // Errors are JSON too where seeds are.
    let form = match query(&uri) {
        Ok(Format { format: Some(name) }) if name.starts_with("json") => Form::Json,
        _ => accepted(&headers),
    };
    let about = match query(&uri) {
        Ok(about) => about,
        Err(fault) => return Answer::fault(&fault, form).into(),
    };
    desk.answer(Some(uri.to_string()), form, move |state| {
        made(state, about, form)
    })
    .await
}

fn made(state: &State<'_>, about: About, form: Form) -> Result<Answer, Fault> {
    let format = match (about.format.as_deref(), form) {
        (None, Form::Html) => SeedFormat::Text,
        (None, Form::Json) => SeedFormat::Jsonl,
        (Some(name), _) => Named::find(SeedFormat::NAMED, name)
            .filter(|format| format.is_there())
            .ok_or_else(|| {
                let all: Vec<&str> = SeedFormat::all().map(SeedFormat::name).collect();
                let text = format!("there is no such format of seeds: {}", all.join(", "));
                Fault::new(StatusCode::BAD_REQUEST, text)
            })?,
    };
    let refresh = state.bank.refresh_view(&which(about.plan, about.refresh))?;
    let mut seeds = state.bank.seeds(&which(None, Some(refresh.refresh)))?;
    let all = seeds.len();
    if about.alive {
        seeds.retain(|seed| seed.alive);
    }
    let mut list = Vec::new();
    write_seeds(&mut list, &seeds, all, format)
        .map_err(|e| Fault::new(StatusCode::INTERNAL_SERVER_ERROR, e.to_string()))?;
    let kind = match format.ending() {
        "jsonl" => JSON_LINES,
        "json" => JSON,
        "csv" => CSV,
        "parquet" => PARQUET,
        _ => TEXT,
    };
    let ending = format.ending();
    let name = format!("seeds-{}-{}.{ending}", refresh.plan, refresh.refresh);
    Ok(Answer::of(kind, list).saved_as(name))
}
