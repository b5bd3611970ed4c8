//! The history of a page: when it was a seed, and why it became or stopped being one.

use askama::Template;
use serde::Deserialize;

use super::layout::Layout;
use crate::engine::query::{Appearance, PageHistory};
use crate::html::text::{Count, put};
use crate::render::cause_text;
use crate::serve::address;
use crate::serve::answer::{Answer, RequestError};
use crate::serve::executor::Context;
use crate::serve::media_type::MediaType;
use seedbank_formats::display::readable;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    url: String,
    plan: Option<String>,
    #[serde(rename = "format")]
    _format: Option<MediaType>,
}

#[derive(Template)]
#[template(path = "history.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    layout: Layout<'a>,
    history: PageHistory,
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "all pages have the same signature"
)]
pub(super) fn render(
    context: &Context<'_>,
    params: Params,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let plan = params.plan.as_deref();
    let history = context
        .bank
        .page_history(&params.url, plan, context.watch)?;
    if media_type == MediaType::Json {
        return Answer::json(&history);
    }
    let address = address::history(&history.url).with_some("plan", plan);
    Answer::page(&Page {
        layout: Layout::new(context, address),
        history,
    })
}

/// Describes what changed for a page at a refresh.
pub(super) fn describe(appearance: &Appearance) -> String {
    let mut text = match (appearance.rank, appearance.cause) {
        (Some(rank), Some(_)) => format!("became a seed, rank {rank}"),
        (Some(rank), None) => format!("rank {rank}"),
        (None, _) => "stopped being a seed".to_owned(),
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
