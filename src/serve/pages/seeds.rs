//! A seed list as a file.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State as Shared;
use axum::http::{HeaderMap, Response, StatusCode, Uri};

use crate::serve::answer::{Answer, CSV, Fault, JSON, JSON_LINES, PARQUET, TEXT};
use crate::serve::asked::which;
use crate::serve::desk::{Desk, State};
use crate::serve::form::{Form, accepted};
use crate::serve::given::{Given, Parameters};
use crate::told::{SeedFormat, write_seeds};

struct About {
    plan: Option<String>,
    refresh: Option<u32>,
    /// Without those that are no pages any more.
    alive: bool,
}

impl Parameters for About {
    fn of(given: &mut Given) -> Result<Self, Fault> {
        Ok(Self {
            plan: given.text("plan"),
            refresh: given.whole("refresh")?,
            alive: given.holds("alive")?,
        })
    }
}

pub(super) async fn answer(
    Shared(desk): Shared<Arc<Desk>>,
    headers: HeaderMap,
    uri: Uri,
) -> Response<Body> {
    let mut given = Given::of(&uri);
    let format = given.text("format");
    // Errors are JSON too where seeds are.
    let form = match &format {
        Some(format) if format.starts_with("json") => Form::Json,
        _ => accepted(&headers),
    };
    let about = About::of(&mut given).and_then(|about| given.all_known().map(|()| about));
    let about = match about {
        Ok(about) => about,
        Err(fault) => return Answer::fault(&fault, form).into(),
    };
    desk.answer(Some(uri.to_string()), form, move |state| {
        made(state, about, format.as_deref(), form)
    })
    .await
}

fn made(
    state: &State<'_>,
    about: About,
    format: Option<&str>,
    form: Form,
) -> Result<Answer, Fault> {
    let format = match (format, form) {
        (None, Form::Html) => SeedFormat::Text,
        (None, Form::Json) | (Some("json"), _) => SeedFormat::Jsonl,
        (Some(name), _) => {
            let named = SeedFormat::ALL
                .iter()
                .copied()
                .find(|format| format.name() == name);
            named.ok_or_else(|| {
                let all: Vec<&str> = SeedFormat::ALL.iter().map(|format| format.name()).collect();
                let all = all.join(", ");
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
        "parquet" => PARQUET,
        _ => TEXT,
    };
    let ending = format.ending();
    let name = format!("seeds-{}-{}.{ending}", refresh.plan, refresh.refresh);
    Ok(Answer::of(kind, list).saved_as(name))
}
