//! Everything that happened to the bank, the newest first.

use askama::Template;
use serde::Deserialize;

use super::frame::Frame;
use crate::engine::{BatchView, Event, RefreshView};
use crate::html::text::{Count, Measure};
use crate::render::{kind_name, provenance};
use crate::serve::address::Address;
use crate::serve::answer::{Answer, Fault};
use crate::serve::desk::State;
use crate::serve::form::Form;
use crate::serve::query_params::whole;
use seedbank_formats::clock::time;

/// Events on one page.
const ROWS: usize = 100;

#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct About {
    /// How many later events stand on the pages before.
    #[serde(default, deserialize_with = "whole")]
    from: usize,
    #[serde(rename = "format")]
    _format: Option<Form>,
}

/// A line of the page.
enum Line<'a> {
    Batch(&'a BatchView),
    Refresh(&'a RefreshView),
}

#[derive(Template)]
#[template(path = "batches.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    frame: Frame<'a>,
    lines: Vec<Line<'a>>,
    from: usize,
    all: usize,
}

pub(super) fn made(state: &State<'_>, about: About, form: Form) -> Result<Answer, Fault> {
    let About { from, .. } = about;
    let history = state.bank.history()?;
    if form == Form::Json {
        return Answer::json(&history);
    }
    let events = history.in_order();
    let lines = events
        .iter()
        .rev()
        .skip(from)
        .take(ROWS)
        .map(|event| match event {
            Event::Batch(batch) => Line::Batch(batch),
            Event::Refresh(refresh) => Line::Refresh(refresh),
        });
    Answer::page(&Page {
        frame: Frame::with_json(state, [("All of it as JSON", Address::of("/batches"))]),
        lines: lines.collect(),
        from,
        all: events.len(),
    })
}

impl Page<'_> {
    /// The page of later events, and that of earlier ones.
    fn turns(&self) -> (Option<Address>, Option<Address>) {
        let to = |from: usize| Address::of("/batches").with("from", from);
        let later = (self.from > 0).then(|| to(self.from.min(self.all).saturating_sub(ROWS)));
        let next = self.from.saturating_add(ROWS);
        (later, (next < self.all).then(|| to(next)))
    }
}
