//! A seed list as a file.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Query, State as Shared};
use axum::http::{HeaderMap, Response, StatusCode, Uri};
use serde::Deserialize;

use crate::serve::answer::{Answer, CSV, Fault, JSON, JSON_LINES, TEXT};
use crate::serve::asked::which;
use crate::serve::desk::{Desk, State};
use crate::serve::form::{Form, accepted};
use crate::told::{SeedFormat, write_seeds};

#[derive(Deserialize)]
struct About {
    plan: Option<String>,
    refresh: Option<u32>,
    format: Option<String>,
    /// Without those that are no pages any more.
    #[serde(default)]
    alive: bool,
}

/// The format alone, which says how errors are written too.
#[derive(Deserialize)]
struct Format {
    format: Option<String>,
}

pub(super) async fn answer(
    Shared(desk): Shared<Arc<Desk>>,
    headers: HeaderMap,
    uri: Uri,
) -> Response<Body> {
    let form = match Query::<Format>::try_from_uri(&uri) {
        Ok(Query(Format {
            format: Some(format),
        })) if format.starts_with("json") => Form::Json,
        _ => accepted(&headers),
    };
    let about = match Query::<About>::try_from_uri(&uri) {
        Ok(Query(about)) => about,
        Err(e) => {
            let fault = Fault::new(StatusCode::BAD_REQUEST, e.body_text());
            return Answer::fault(&fault, form).into();
        }
    };
    desk.answer(Some(uri.to_string()), form, move |state| {
        made(state, about, form)
    })
    .await
}

fn made(state: &State<'_>, about: About, form: Form) -> Result<Answer, Fault> {
    let format = match (about.format.as_deref(), form) {
        (None, Form::Html) => SeedFormat::Text,
        (None, Form::Json) | (Some("json"), _) => SeedFormat::Jsonl,
        (Some(name), _) => {
            let named = SeedFormat::ALL
                .into_iter()
                .find(|format| format.name() == name);
            named.ok_or_else(|| {
                let all = SeedFormat::ALL.map(SeedFormat::name).join(", ");
                let text = format!("there is no such format of seeds: {all}");
                Fault::new(StatusCode::BAD_REQUEST, text)
            })?
        }
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
        _ => TEXT,
    };
    let ending = format.ending();
    let name = format!("seeds-{}-{}.{ending}", refresh.plan, refresh.refresh);
    Ok(Answer::of(kind, list).saved_as(name))
}
