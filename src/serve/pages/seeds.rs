//! A seed list as a file.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State as Shared;
use axum::http::{Response, StatusCode, Uri};
use serde::Deserialize;

use crate::named_enum::NamedValue;
use crate::render::{SeedFormat, write_seeds};
use crate::serve::answer::{Answer, CSV, JSON, JSON_LINES, PARQUET, RequestError, TEXT};
use crate::serve::executor::{Context, Executor};
use crate::serve::extract::which;
use crate::serve::media_type::MediaType;
use crate::serve::query_params::{optional_integer, query};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Params {
    plan: Option<String>,
    #[serde(default, deserialize_with = "optional_integer")]
    refresh: Option<u32>,
    /// Omits dead seeds.
    #[serde(default)]
    alive: bool,
    format: Option<String>,
}

/// The parameter `format`; other parameters are ignored.
#[derive(Deserialize)]
struct FormatParam {
    format: Option<String>,
}

pub(super) async fn get(Shared(executor): Shared<Arc<Executor>>, uri: Uri) -> Response<Body> {
    // Errors are JSON if the list is.
    let media_type = match query(&uri) {
        Ok(FormatParam { format: Some(name) }) if name.starts_with("json") => MediaType::Json,
        _ => MediaType::Html,
    };
    let params = match query(&uri) {
        Ok(params) => params,
        Err(error) => return Answer::error(&error, media_type).into(),
    };
    executor
        .answer(Some(uri.to_string()), media_type, move |context| {
            render(context, params)
        })
        .await
}

fn render(context: &Context<'_>, params: Params) -> Result<Answer, RequestError> {
    let format = match params.format.as_deref() {
        None => SeedFormat::Text,
        Some(name) => NamedValue::find(SeedFormat::VALUES, name)
            .filter(|format| format.is_there())
            .ok_or_else(|| {
                let all: Vec<&str> = SeedFormat::all().map(SeedFormat::name).collect();
                let text = format!(
                    "unknown format {name:?}, expected one of {}",
                    all.join(", ")
                );
                RequestError::new(StatusCode::BAD_REQUEST, text)
            })?,
    };
    let refresh = context
        .bank
        .refresh_view(&which(params.plan, params.refresh))?;
    let mut seeds = context
        .bank
        .seeds(which(None, Some(refresh.refresh)))?
        .collect::<Result<Vec<_>, _>>()?;
    let all = seeds.len();
    if params.alive {
        seeds.retain(|seed| seed.alive);
    }
    let mut list = Vec::new();
    write_seeds(&mut list, &seeds, all, format)
        .map_err(|e| RequestError::new(StatusCode::INTERNAL_SERVER_ERROR, e.to_string()))?;
    let content_type = match format.ending() {
        "jsonl" => JSON_LINES,
        "json" => JSON,
        "csv" => CSV,
        "parquet" => PARQUET,
        _ => TEXT,
    };
    let ending = format.ending();
    let name = format!("seeds-{}-{}.{ending}", refresh.plan, refresh.refresh);
    Ok(Answer::new(content_type, list).saved_as(name))
}
