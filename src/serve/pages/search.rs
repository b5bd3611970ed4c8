//! Search for pages and sites by URL, name, or part of one.

use askama::Template;
use serde::Deserialize;

use super::layout::Layout;
use crate::engine::query::{SearchLimits, SearchResult};
use crate::html::text::Count;
use crate::render::state_name;
use crate::serve::address::Address;
use crate::serve::answer::{Answer, RequestError};
use crate::serve::executor::Context;
use crate::serve::media_type::MediaType;

/// Maximum number of sites, and of pages, on the page; JSON has the defaults of the command line.
const ROWS: usize = 50;

/// Maximum number of names to examine, which takes well below a second.
const MAX_EXAMINED: u64 = 400_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    #[serde(default)]
    q: String,
    #[serde(rename = "format")]
    _format: Option<MediaType>,
}

#[derive(Template)]
#[template(path = "search.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    layout: Layout<'a>,
    /// The result; `None` if there was no text to search for.
    found: Option<SearchResult>,
}

pub(super) fn render(
    context: &Context<'_>,
    params: Params,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let text = params.q;
    let is_empty = text.trim().is_empty() && media_type == MediaType::Html;
    let found = if is_empty {
        None
    } else {
        let limit = match media_type {
            MediaType::Html => ROWS,
            MediaType::Json => SearchLimits::default().pages,
        };
        let limits = SearchLimits {
            sites: limit,
            pages: limit,
            examined: MAX_EXAMINED,
        };
        Some(context.bank.search(&text, limits, context.watch)?)
    };
    if let (MediaType::Json, Some(found)) = (media_type, &found) {
        return Answer::json(found);
    }
    let address = Address::new("/search").with("q", &text);
    let mut layout = Layout::with_json(context, [("The first results as JSON", address)]);
    layout.query = text;
    Answer::page(&Page { layout, found })
}
