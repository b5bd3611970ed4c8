//! The history of the bank: batches and refreshes, newest first.

use askama::Template;
use serde::Deserialize;

use super::events::{batch_table, refresh_table};
use super::layout::{Layout, Pager, pager};
use crate::engine::query::{BatchView, Event};
use crate::engine::refresh::RefreshView;
use crate::html::text::{Count, Measure};
use crate::render::{kind_name, proof, reuse};
use crate::serve::address::Address;
use crate::serve::answer::{Answer, RequestError};
use crate::serve::executor::Context;
use crate::serve::media_type::MediaType;
use crate::serve::query_params::{TableName, integer};
use crate::serve::table::csv_answer;
use seedbank_formats::clock::time;

/// Number of rows on a page.
const ROWS: usize = 100;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    /// Number of later events to skip.
    #[serde(default, deserialize_with = "integer")]
    from: usize,
    table: Option<TableName>,
    #[serde(rename = "format")]
    _format: Option<MediaType>,
}

/// A row of the page.
enum Row<'a> {
    Batch(&'a BatchView),
    Refresh(&'a RefreshView),
}

#[derive(Template)]
#[template(path = "batches.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    layout: Layout<'a>,
    rows: Vec<Row<'a>>,
    from: usize,
    total: usize,
}

pub(super) fn render(
    context: &Context<'_>,
    params: Params,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let from = params.from;
    let history = context.bank.history()?;
    if media_type == MediaType::Json {
        return Answer::json(&history);
    }
    if media_type == MediaType::Csv {
        let refreshes = refresh_table(history.refreshes.iter().rev());
        let batches = batch_table(history.batches.iter().rev());
        return csv_answer(&[refreshes, batches], params.table.as_ref(), "");
    }
    let events = history.in_order();
    let rows = events
        .iter()
        .rev()
        .skip(from)
        .take(ROWS)
        .map(|event| match event {
            Event::Batch(batch) => Row::Batch(batch),
            Event::Refresh(refresh) => Row::Refresh(refresh),
        });
    Answer::page(&Page {
        layout: Layout::with_json(
            context,
            [("The whole history as JSON", Address::new("/batches"))],
        ),
        rows: rows.collect(),
        from,
        total: events.len(),
    })
}

impl Page<'_> {
    fn pager(&self) -> Pager {
        let address = |from| Address::new("/batches").with("from", from);
        pager(self.from as u64, ROWS as u64, self.total as u64, address)
    }
}
