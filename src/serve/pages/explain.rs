//! Why a page is a seed of a refresh, or why not, with the evidence.

use askama::Template;
use serde::Deserialize;

use super::evidence::{Evidence, evidence};
use super::layout::Layout;
use crate::engine::query::Explanation;
use crate::render::{page_sentence, proof};
use crate::serve::address::{Address, line_html};
use crate::serve::answer::{Answer, RequestError};
use crate::serve::executor::Context;
use crate::serve::extract::which;
use crate::serve::media_type::MediaType;
use crate::serve::query_params::optional_integer;
use seedbank_formats::display::readable;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    url: String,
    plan: Option<String>,
    #[serde(default, deserialize_with = "optional_integer")]
    refresh: Option<u32>,
    #[serde(rename = "format")]
    _format: Option<MediaType>,
}

#[derive(Template)]
#[template(path = "explain.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    layout: Layout<'a>,
    answer: Explanation,
    evidence: Evidence,
}

pub(super) fn render(
    context: &Context<'_>,
    params: Params,
    _: MediaType,
) -> Result<Answer, RequestError> {
    let which = which(params.plan, params.refresh);
    let answer = context.bank.explain(&params.url, &which)?;
    let address = Address::new("/explain")
        .with("url", &params.url)
        .with_some("plan", which.plan)
        .with_some("refresh", which.refresh);
    Answer::page(&Page {
        layout: Layout::new(context, address.in_api()),
        evidence: evidence(&answer),
        answer,
    })
}

impl Page<'_> {
    fn sentence(&self) -> String {
        line_html(&page_sentence(&self.answer))
    }
}
