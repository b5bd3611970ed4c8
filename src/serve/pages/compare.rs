//! A list of somebody's own beside a plan's: is it alive, is it covered, what is it worth?

use std::sync::Arc;

use askama::Template;
use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Multipart, Request, State as Shared};
use axum::http::header::CONTENT_TYPE;
use axum::http::{Response, StatusCode};
use serde::Deserialize;

use super::frame::Frame;
use crate::engine::{
    CompareRequest, CrawlComparison, CrawlResult, LineState, ListComparison, ListRelation,
    ListedLine, UrlList,
};
use crate::html::text::Count;
use crate::serve::address;
use crate::serve::answer::{Answer, Fault};
use crate::serve::asked::{Asked, Nothing, which};
use crate::serve::desk::{Desk, State};
use crate::serve::form::Form;
use seedbank_formats::shown::readable;

/// The most URLs of a list: what takes a second or two.
const MOST: usize = 2000;

/// How much of a file's name is shown.
const SHOWN: usize = 100;

/// The plan that a list is compared with, unless the form says it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct About {
    plan: Option<String>,
    #[serde(rename = "format")]
    _format: Option<Form>,
}

#[derive(Template)]
#[template(path = "compare.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    frame: Frame<'a>,
    /// The plans that one can choose, by name.
    plans: Vec<String>,
    /// The plan that is chosen.
    chosen: String,
    /// What was sent.
    sent: Sent,
    /// Why it cannot be compared.
    fault: Option<Fault>,
    /// What came of it; `None` where nothing was sent.
    found: Option<ListComparison>,
}

/// What is sent: a list, and the plan to compare it with.
#[derive(Default)]
struct Sent {
    /// What was typed, or sent as it is.
    text: String,
    /// A file that was chosen, which counts in the place of what was typed.
    file: Option<File>,
    plan: Option<String>,
}

struct File {
    name: String,
    text: String,
}

impl Sent {
    fn list(&self) -> &str {
        self.file.as_ref().map_or(&self.text, |file| &file.text)
    }
}

/// The empty form.
pub(super) fn ask(state: &State<'_>, _: Nothing, form: Form) -> Result<Answer, Fault> {
    if form == Form::Json {
        let text = "send the list as the body of a POST, one URL a line, as text/plain";
        return Err(Fault::new(StatusCode::BAD_REQUEST, text));
    }
    page(state, Sent::default(), None, None)
}

/// What came of a list.
pub(super) async fn answer(
    Shared(desk): Shared<Arc<Desk>>,
    asked: Asked<About>,
    request: Request,
) -> Response<Body> {
    let form = asked.form;
    // It is there, so that nothing is waited for here.
    let sent = sent(request).await;
    // Few lists are compared together.
    let lists = Arc::clone(&desk);
    let _turn = lists.lists.acquire().await;
    match sent {
        Ok(mut sent) => {
            sent.plan = sent.plan.or(asked.about.plan);
            desk.answer(None, form, move |state| made(state, sent, form))
                .await
        }
        Err(fault) => Answer::fault(&fault, form).into(),
    }
}

/// Reads what is sent: a form of a browser, or a list as it is.
async fn sent(request: Request) -> Result<Sent, Fault> {
    let kind = request.headers().get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("multipart/form-data") {
        return of_browser(request).await;
    }
    if !kind.eq_ignore_ascii_case("text/plain") {
        return Err(Fault::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "send the list as text/plain, one URL a line",
        ));
    }
    let bytes = Bytes::from_request(request, &()).await;
    let bytes = bytes.map_err(|e| Fault::new(e.status(), e.body_text()))?;
    Ok(Sent {
        text: String::from_utf8_lossy(&bytes).into_owned(),
        ..Sent::default()
    })
}

async fn of_browser(request: Request) -> Result<Sent, Fault> {
    let refused = |status, text: String| Fault::new(status, text);
    let mut form = Multipart::from_request(request, &())
        .await
        .map_err(|e| refused(e.status(), e.body_text()))?;
    let mut sent = Sent::default();
    let mut is_known = true;
    loop {
        let field = form.next_field().await;
        let Some(field) = field.map_err(|e| refused(e.status(), e.body_text()))? else {
            break;
        };
        let name = field.name().unwrap_or_default().to_owned();
        let file = field.file_name().unwrap_or_default();
        let file: String = file.chars().take(SHOWN).collect();
        let bytes = field.bytes().await;
        let bytes = bytes.map_err(|e| refused(e.status(), e.body_text()))?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        match name.as_str() {
            "list" => sent.text = text,
            // Browsers send a file without a name where none was chosen.
            "file" if file.is_empty() && text.is_empty() => {}
            "file" => sent.file = Some(File { name: file, text }),
            "plan" => sent.plan = Some(text).filter(|plan| !plan.is_empty()),
            // The rest is read first, so that the answer finds the sender listening.
            _ => is_known = false,
        }
    }
    if is_known {
        return Ok(sent);
    }
    let text = "there is a field in the form that is not known here: list, file, plan";
    Err(refused(StatusCode::BAD_REQUEST, text.to_owned()))
}

fn made(state: &State<'_>, sent: Sent, form: Form) -> Result<Answer, Fault> {
    match (compared(state, &sent), form) {
        (Ok(found), Form::Json) => Answer::json(&found),
        (Ok(found), Form::Html) => page(state, sent, None, Some(found)),
        // What was typed is not lost.
        (Err(fault), Form::Html) if fault.status.is_client_error() => {
            let status = fault.status;
            Ok(page(state, sent, Some(fault), None)?.with_status(status))
        }
        (Err(fault), _) => Err(fault),
    }
}

fn compared(state: &State<'_>, sent: &Sent) -> Result<ListComparison, Fault> {
    let mut list = UrlList {
        name: "the list".to_owned(),
        ..UrlList::default()
    };
    for (number, line) in (1..).zip(sent.list().lines()) {
        list.push_line(number, line);
        if list.urls.len() > MOST {
            let text = format!(
                "a list has at most {MOST} URLs here; the command line compares longer ones"
            );
            return Err(Fault::new(StatusCode::PAYLOAD_TOO_LARGE, text));
        }
    }
    let request = CompareRequest {
        most: MOST,
        ..CompareRequest::new(which(sent.plan.clone(), None))
    };
    Ok(state.bank.compare(&list, &request, state.watch)?)
}

fn page(
    state: &State<'_>,
    sent: Sent,
    fault: Option<Fault>,
    found: Option<ListComparison>,
) -> Result<Answer, Fault> {
    let plans = state.bank.plans()?.plans;
    let plans: Vec<String> = plans.into_iter().map(|plan| plan.plan).collect();
    let first = || plans.first().cloned().unwrap_or_default();
    let chosen = found.as_ref().map(|found| found.run.plan.clone());
    Answer::page(&Page {
        frame: Frame::of_page(state),
        chosen: chosen.or(sent.plan.clone()).unwrap_or_else(first),
        plans,
        sent,
        fault,
        found,
    })
}

impl Page<'_> {
    /// What the lines are, in numbers, without those that there are none of.
    fn counts(&self) -> Vec<(u64, &'static str)> {
        let Some(found) = &self.found else {
            return Vec::new();
        };
        let counts = &found.counts;
        let all = [
            (counts.alive, "alive"),
            (counts.spam, "spam"),
            (counts.gone, "gone"),
            (counts.alias, "aliases of other pages"),
            (counts.unlinked, "no page any more"),
            (counts.not_in_bank, "not in the bank"),
            (counts.duplicates, "named again"),
            (counts.invalid_urls, "no URL"),
        ];
        all.into_iter().filter(|(count, _)| *count > 0).collect()
    }
}

/// What a line is, in words.
const fn state(listed: &ListedLine) -> &'static str {
    match listed.state {
        LineState::Alive => "alive",
        LineState::Spam => "spam",
        LineState::Gone => "gone",
        LineState::Alias => "an alias",
        LineState::Unlinked => "no page any more",
        LineState::NotInBank => "not in the bank",
        LineState::Duplicate => "named again",
        LineState::InvalidUrl => "no URL",
    }
}

/// The crawls of each number of fetches, with what they start from.
fn crawls(found: &CrawlComparison) -> Vec<(&'static str, &CrawlResult)> {
    let mut crawls = vec![
        ("your list", &found.list),
        ("as many seeds of the plan", &found.first_seeds),
    ];
    crawls.extend(found.all_seeds.as_ref().map(|all| ("all its seeds", all)));
    crawls
}
