//! Why a page is a seed of a refresh, or why not, with the evidence.

use askama::Template;
use serde::Deserialize;

use super::frame::Frame;
use crate::engine::Explanation;
use crate::render::{page_evidence, page_sentence};
use crate::serve::address::{Address, linked};
use crate::serve::answer::{Answer, Fault};
use crate::serve::asked::which;
use crate::serve::desk::State;
use crate::serve::form::Form;
use crate::serve::query_params::some_whole;
use seedbank_formats::shown::readable;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct About {
    url: String,
    plan: Option<String>,
    #[serde(default, deserialize_with = "some_whole")]
    refresh: Option<u32>,
    #[serde(rename = "format")]
    _format: Option<Form>,
}

#[derive(Template)]
#[template(path = "explain.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    frame: Frame<'a>,
    answer: Explanation,
}

pub(super) fn made(state: &State<'_>, about: About, form: Form) -> Result<Answer, Fault> {
    let About {
        url, plan, refresh, ..
    } = about;
    let which = which(plan, refresh);
    let answer = state.bank.explain(&url, &which)?;
    if form == Form::Json {
        return Answer::json(&answer);
    }
    let here = Address::of("/explain")
        .with("url", &url)
        .with_some("plan", which.plan)
        .with_some("refresh", which.refresh);
    Answer::page(&Page {
        frame: Frame::around(state, here),
        answer,
    })
}

impl Page<'_> {
    fn sentence(&self) -> String {
        linked(&page_sentence(&self.answer))
    }

    fn evidence(&self) -> Vec<String> {
        let lines = page_evidence(&self.answer).into_iter();
        lines.map(|line| linked(&line)).collect()
    }
}
