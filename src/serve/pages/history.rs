//! When a page was a seed, and why it came and went.

use askama::Template;
use serde::Deserialize;

use super::frame::Frame;
use crate::engine::{Appearance, PageHistory};
use crate::html::text::{Count, put};
use crate::render::cause_text;
use crate::serve::address;
use crate::serve::answer::{Answer, Fault};
use crate::serve::desk::State;
use crate::serve::form::Form;
use seedbank_formats::shown::readable;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct About {
    url: String,
    plan: Option<String>,
    #[serde(rename = "format")]
    _format: Option<Form>,
}

#[derive(Template)]
#[template(path = "history.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    frame: Frame<'a>,
    history: PageHistory,
}

pub(super) fn made(state: &State<'_>, about: About, form: Form) -> Result<Answer, Fault> {
    let About { url, plan, .. } = about;
    let plan = plan.as_deref();
    let history = state.bank.page_history(&url, plan, state.watch)?;
    if form == Form::Json {
        return Answer::json(&history);
    }
    let here = address::history(&history.url).with_some("plan", plan);
    Answer::page(&Page {
        frame: Frame::around(state, here),
        history,
    })
}

/// What happened to a page at a refresh.
pub(super) fn happened(appearance: &Appearance) -> String {
    let mut text = match (appearance.rank, appearance.cause) {
        (Some(rank), Some(_)) => format!("came, at rank {rank}"),
        (Some(rank), None) => format!("rank {rank}"),
        (None, _) => "was lost".to_owned(),
    };
    if let Some(cause) = appearance.cause {
        text.push_str(": ");
        text.push_str(cause_text(cause));
    }
    if let Some(batch) = appearance.batch {
        put(&mut text, format_args!(" (batch {batch})"));
    }
    text
}
