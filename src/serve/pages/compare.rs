//! Compares a list of URLs with the seeds of a plan.

use std::sync::Arc;

use askama::Template;
use axum::body::Body;
use axum::extract::multipart::MultipartError;
use axum::extract::{FromRequest, Multipart, Request, State as Shared};
use axum::http::header::CONTENT_TYPE;
use axum::http::{Response, StatusCode};
use serde::Deserialize;

use super::layout::Layout;
use crate::answers::{
    Cell, Table, crawl_table, line_relation, line_state, list_states, listed_page, rejected_lines,
};
use crate::engine::query::{ListComparison, ListedLine};
use crate::html::text::Count;
use crate::serve::address;
use crate::serve::answer::{Answer, MediaType, RequestError};
use crate::serve::api::{compare, text_body};
use crate::serve::executor::{Context, Executor};
use crate::serve::params::{Extracted, NoParams};
use crate::serve::table::csv_answer;
use seedbank_formats::display::readable;

/// Maximum length of a file name in characters; longer names are truncated.
const MAX_NAME_CHARS: usize = 100;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    /// The plan to compare with, unless the form has one.
    plan: Option<String>,
    #[serde(rename = "format")]
    _format: Option<MediaType>,
}

#[derive(Template)]
#[template(path = "compare.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    layout: Layout<'a>,
    /// Names of all plans.
    plans: Vec<String>,
    /// The selected plan.
    selected: String,
    input: Input,
    /// Why the list cannot be compared.
    error: Option<RequestError>,
    /// The result; `None` before a list is sent.
    found: Option<ListComparison>,
}

/// The submitted list, and the plan to compare it with.
#[derive(Default)]
struct Input {
    /// The text of the form field, or the body of the request.
    text: String,
    /// An uploaded file, which takes precedence over `text`.
    file: Option<File>,
    plan: Option<String>,
}

struct File {
    name: String,
    text: String,
}

impl Input {
    fn list(&self) -> &str {
        self.file.as_ref().map_or(&self.text, |file| &file.text)
    }
}

/// Renders the empty form.
pub(super) fn render_form(
    context: &Context<'_>,
    _: NoParams,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    if media_type != MediaType::Html {
        let text =
            "send the list as the body of a POST request of type text/plain, one URL per line";
        return Err(RequestError::new(StatusCode::BAD_REQUEST, text));
    }
    page(context, Input::default(), None, None)
}

/// Answers a request with a list.
pub(super) async fn post(
    Shared(executor): Shared<Arc<Executor>>,
    extracted: Extracted<Params>,
    request: Request,
) -> Response<Body> {
    let media_type = extracted.media_type;
    // The body has been received already, so this does not wait for the client.
    let input = read_input(request).await;
    // Comparisons take much memory, so their number is limited further.
    let limited = Arc::clone(&executor);
    let _permit = limited.comparisons.acquire().await;
    match input {
        Ok(mut input) => {
            input.plan = input.plan.or(extracted.params.plan);
            executor
                .answer(None, media_type, move |context| {
                    render(context, input, media_type)
                })
                .await
        }
        Err(error) => Answer::error(&error, media_type).into(),
    }
}

/// Reads the list from a form or from a plain body.
async fn read_input(request: Request) -> Result<Input, RequestError> {
    let content_type = request.headers().get(CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok());
    let essence = content_type.unwrap_or_default().split(';').next();
    let essence = essence.unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("multipart/form-data") {
        return read_form(request).await;
    }
    Ok(Input {
        text: text_body(request).await?,
        ..Input::default()
    })
}

async fn read_form(request: Request) -> Result<Input, RequestError> {
    let form = Multipart::from_request(request, &()).await;
    let mut form = form.map_err(|e| RequestError::new(e.status(), e.body_text()))?;
    let invalid = |e: MultipartError| RequestError::new(e.status(), e.body_text());
    let mut input = Input::default();
    let mut unknown = None;
    while let Some(field) = form.next_field().await.map_err(invalid)? {
        let name = field.name().unwrap_or_default().to_owned();
        let file = field.file_name().unwrap_or_default();
        let file: String = file.chars().take(MAX_NAME_CHARS).collect();
        let bytes = field.bytes().await.map_err(invalid)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        match name.as_str() {
            "list" => input.text = text,
            // Browsers send a nameless file if none was selected.
            "file" if file.is_empty() && text.is_empty() => {}
            "file" => input.file = Some(File { name: file, text }),
            "plan" => input.plan = Some(text).filter(|plan| !plan.is_empty()),
            // Read the other fields too, so that the client has sent everything before the answer.
            _ => unknown = Some(name),
        }
    }
    match unknown {
        None => Ok(input),
        Some(name) => {
            let name: String = name.chars().take(MAX_NAME_CHARS).collect();
            let text = format!("unknown form field {name:?}, expected one of list, file, plan");
            Err(RequestError::new(StatusCode::BAD_REQUEST, text))
        }
    }
}

fn render(
    context: &Context<'_>,
    input: Input,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    match (
        compare(context, input.list(), input.plan.clone()),
        media_type,
    ) {
        (Ok(found), MediaType::Csv) => csv_answer(&[line_table(&found)], None, "compared"),
        (Ok(found), _) => page(context, input, None, Some(found)),
        // The form is shown again with the error, so that the user does not lose the list.
        (Err(error), MediaType::Html) if error.status.is_client_error() => {
            let status = error.status;
            Ok(page(context, input, Some(error), None)?.with_status(status))
        }
        (Err(error), _) => Err(error),
    }
}

fn page(
    context: &Context<'_>,
    input: Input,
    error: Option<RequestError>,
    found: Option<ListComparison>,
) -> Result<Answer, RequestError> {
    let plans = context.bank.plans()?.plans;
    let plans: Vec<String> = plans.into_iter().map(|plan| plan.plan).collect();
    let first = || plans.first().cloned().unwrap_or_default();
    let selected = found.as_ref().map(|found| found.run.plan.clone());
    Answer::page(&Page {
        layout: Layout::with_json(context, []),
        selected: selected.or(input.plan.clone()).unwrap_or_else(first),
        plans,
        input,
        error,
        found,
    })
}

impl Page<'_> {
    /// Returns the counts of lines by kind that are not 0.
    fn counts(&self) -> Vec<(u64, &'static str)> {
        let Some(found) = &self.found else {
            return Vec::new();
        };
        let mut counts = list_states(&found.counts);
        counts.extend(rejected_lines(&found.counts));
        counts
    }
}

/// Returns the lines of the list with what the plan has about them.
fn line_table(found: &ListComparison) -> Table {
    let why = |line: &ListedLine| {
        let url = line.url.as_ref().filter(|_| line.page.is_some())?;
        let why = Some(address::explain(url, found.run.refresh));
        let why = why.filter(address::Address::fits);
        why.map(|why| Cell::from("explain").linked(&why))
    };
    Table::of("lines", "The lines of the list", &found.lines)
        .number("line", "Line", |line| line.line)
        .text("page", "Page", listed_page)
        .text("state", "State", line_state)
        .text("in_the_plan", "In the plan", |line| {
            let page = line.page.as_ref();
            Cell::or_none(page.map(|page| line_relation(&page.relation)))
        })
        .word("why", "Why", |line| Cell::or_none(why(line)))
        .done()
}
