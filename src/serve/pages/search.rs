//! The search: pages and sites that a text names or is a part of.

use askama::Template;
use serde::Deserialize;

use super::frame::Frame;
use crate::engine::{SearchLimits, SearchResult};
use crate::html::text::Count;
use crate::render::state_name;
use crate::serve::address::Address;
use crate::serve::answer::{Answer, Fault};
use crate::serve::desk::State;
use crate::serve::form::Form;

/// How many sites and pages are found; as JSON as many as the command line finds unless it is told.
const FOUND: usize = 50;

/// How many names are examined: what takes well below a second.
const LOOKED: u64 = 400_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct About {
    #[serde(default)]
    q: String,
    #[serde(rename = "format")]
    _format: Option<Form>,
}

#[derive(Template)]
#[template(path = "search.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    frame: Frame<'a>,
    /// What was found; `None` where nothing was searched for.
    found: Option<SearchResult>,
}

pub(super) fn made(state: &State<'_>, about: About, form: Form) -> Result<Answer, Fault> {
    let About { q: text, .. } = about;
    let is_empty = text.trim().is_empty() && form == Form::Html;
    let found = if is_empty {
        None
    } else {
        let most = match form {
            Form::Html => FOUND,
            Form::Json => SearchLimits::default().pages,
        };
        let limits = SearchLimits {
            sites: most,
            pages: most,
            examined: LOOKED,
        };
        Some(state.bank.search(&text, limits, state.watch)?)
    };
    if let (Form::Json, Some(found)) = (form, &found) {
        return Answer::json(found);
    }
    let here = Address::of("/search").with("q", &text);
    let mut frame = Frame::with_json(state, [("The first of them as JSON", here)]);
    frame.query = text;
    Answer::page(&Page { frame, found })
}
