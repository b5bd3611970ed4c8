//! A list of somebody's own beside a plan's: is it alive, is it covered, what is it worth?

use std::sync::Arc;

use askama::Template;
use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Multipart, Request, State as Shared};
use axum::http::header::CONTENT_TYPE;
use axum::http::{Response, StatusCode};

use super::frame::Frame;
use crate::engine::{
    CompareRequest, CrawlFound, ListComparison, ListWorth, ListedAs, ListedLine, Standing, UrlList,
};
use crate::html::text::Count;
use crate::serve::address;
use crate::serve::answer::{Answer, Fault};
use crate::serve::asked::{Asked, Nothing, which};
use crate::serve::desk::{Desk, State};
use crate::serve::form::{Form, accepted, form_of};
use crate::shown::readable;

/// The most URLs of a list, and the most pages that crawls from it fetch: what takes a second or two.
const MOST: usize = 2000;
const FETCHES: [u64; 2] = [1000, 5000];

#[derive(Template)]
#[template(path = "compare.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    frame: Frame<'a>,
    /// The plans that one can choose, by name.
    plans: Vec<String>,
    /// The plan that is chosen.
    chosen: String,
    /// The list as it was sent.
    text: String,
    /// What came of it; `None` where nothing was sent.
    found: Option<ListComparison>,
}

/// What is sent: a list, and the plan to compare it with.
#[derive(Default)]
struct Sent {
    text: String,
    /// A file of the sender's, which counts where nothing was typed.
    file: String,
    plan: Option<String>,
}

/// The empty form.
pub(super) async fn ask(Shared(desk): Shared<Arc<Desk>>, asked: Asked<Nothing>) -> Response<Body> {
    desk.answer(None, asked.form, move |state| {
        if asked.form == Form::Json {
            let text = "send the list as the body of a POST, one URL a line, as text/plain";
            return Err(Fault::new(StatusCode::BAD_REQUEST, text));
        }
        page(state, Sent::default(), None)
    })
    .await
}

/// What came of a list.
pub(super) async fn answer(Shared(desk): Shared<Arc<Desk>>, request: Request) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let form = form_of(&parts).unwrap_or_else(|_| accepted(&parts.headers));
    let request = Request::from_parts(parts, body);
    // Few lists are in memory together.
    let lists = Arc::clone(&desk);
    let _turn = lists.lists.acquire().await;
    match sent(request).await {
        Ok(sent) => {
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
    let plan = axum::extract::Query::<Of>::try_from_uri(request.uri());
    let plan = plan.ok().and_then(|of| of.0.plan);
    let bytes = Bytes::from_request(request, &()).await;
    let bytes = bytes.map_err(|e| Fault::new(e.status(), e.body_text()))?;
    Ok(Sent {
        text: String::from_utf8_lossy(&bytes).into_owned(),
        plan,
        ..Sent::default()
    })
}

/// The plan that a list is compared with.
#[derive(serde::Deserialize)]
struct Of {
    plan: Option<String>,
}

async fn of_browser(request: Request) -> Result<Sent, Fault> {
    let refused = |status, text: String| Fault::new(status, text);
    let mut form = Multipart::from_request(request, &())
        .await
        .map_err(|e| refused(e.status(), e.body_text()))?;
    let mut sent = Sent::default();
    loop {
        let field = form.next_field().await;
        let Some(field) = field.map_err(|e| refused(e.status(), e.body_text()))? else {
            return Ok(sent);
        };
        let name = field.name().unwrap_or_default().to_owned();
        let bytes = field.bytes().await;
        let bytes = bytes.map_err(|e| refused(e.status(), e.body_text()))?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        match name.as_str() {
            "list" => sent.text = text,
            "file" => sent.file = text,
            "plan" => sent.plan = Some(text),
            _ => {}
        }
    }
}

fn made(state: &State<'_>, mut sent: Sent, form: Form) -> Result<Answer, Fault> {
    let is_typed = !sent.text.trim().is_empty();
    if !is_typed {
        sent.text = std::mem::take(&mut sent.file);
    }
    let mut list = UrlList {
        name: "the list".to_owned(),
        ..UrlList::default()
    };
    for (number, line) in (1..).zip(sent.text.lines()) {
        list.push_line(number, line);
        if list.urls.len() > MOST {
            let text = format!(
                "a list has at most {MOST} URLs here; the command line compares longer ones"
            );
            return Err(Fault::new(StatusCode::PAYLOAD_TOO_LARGE, text));
        }
    }
    let request = CompareRequest {
        which: which(sent.plan.clone().filter(|plan| !plan.is_empty()), None),
        fetches: FETCHES.into(),
        most: MOST,
    };
    let found = state.bank.compare(&list, &request, state.watch)?;
    if form == Form::Json {
        return Answer::json(&found);
    }
    page(state, sent, Some(found))
}

fn page(state: &State<'_>, sent: Sent, found: Option<ListComparison>) -> Result<Answer, Fault> {
    let plans = state.bank.plans()?.plans;
    let plans: Vec<String> = plans.into_iter().map(|plan| plan.plan).collect();
    let first = || plans.first().cloned().unwrap_or_default();
    let chosen = found.as_ref().map(|found| found.asked.plan.clone());
    Answer::page(&Page {
        frame: Frame::of_page(state),
        chosen: chosen.or(sent.plan).unwrap_or_else(first),
        plans,
        text: sent.text,
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
            (counts.repeated, "named again"),
            (counts.no_url, "no URL"),
        ];
        all.into_iter().filter(|(count, _)| *count > 0).collect()
    }
}

/// What a line is, in words.
const fn is(listed: &ListedLine) -> &'static str {
    match listed.is {
        ListedAs::Alive => "alive",
        ListedAs::Spam => "spam",
        ListedAs::Gone => "gone",
        ListedAs::Alias => "an alias",
        ListedAs::Unlinked => "no page any more",
        ListedAs::NotInBank => "not in the bank",
        ListedAs::Repeated => "named again",
        ListedAs::NoUrl => "no URL",
    }
}

/// The crawls of each number of fetches, with what they start from.
fn crawls(worth: &ListWorth) -> Vec<(&'static str, &CrawlFound)> {
    let mut crawls = vec![
        ("your list", &worth.list),
        ("as many seeds of the plan", &worth.first_seeds),
    ];
    crawls.extend(worth.all_seeds.as_ref().map(|all| ("all its seeds", all)));
    crawls
}
