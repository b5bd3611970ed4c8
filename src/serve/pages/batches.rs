//! The history of the bank: batches and refreshes, newest first.

use askama::Template;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::events::{batch_table, refresh_table};
use super::layout::{Layout, Pager, pager};
use crate::engine::ingest::RefusedBatch;
use crate::engine::plan::Method;
use crate::engine::query::{BatchView, Event};
use crate::engine::refresh::RefreshView;
use crate::html::text::{Count, Measure};
use crate::render::{kind_name, proof, refusal, reuse};
use crate::serve::address::Address;
use crate::serve::answer::{Answer, RequestError};
use crate::serve::api::keep_method;
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
    /// Shows only refreshes with this method.
    #[serde(default, deserialize_with = "optional_method")]
    method: Option<Method>,
    table: Option<TableName>,
    #[serde(rename = "format")]
    _format: Option<MediaType>,
}

/// A row of the page.
enum Row<'a> {
    Batch(&'a BatchView),
    Refresh(&'a RefreshView),
    Refused(&'a RefusedBatch),
}

#[derive(Template)]
#[template(path = "batches.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    layout: Layout<'a>,
    rows: Vec<Row<'a>>,
    /// The methods of the stored refreshes, by name.
    methods: Vec<Method>,
    method: Option<Method>,
    from: usize,
    total: usize,
}

pub(super) fn render(
    context: &Context<'_>,
    params: Params,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let Params { from, method, .. } = params;
    let mut history = context.bank.history()?;
    let mut methods: Vec<Method> = history.refreshes.iter().map(RefreshView::method).collect();
    methods.sort_unstable_by_key(|method| method.name());
    methods.dedup();
    keep_method(&mut history, method);
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
            Event::Refused(refused) => Row::Refused(refused),
        });
    Answer::page(&Page {
        layout: Layout::with_json(
            context,
            [(
                "The whole history as JSON",
                Address::new("/batches").in_api(),
            )],
        ),
        rows: rows.collect(),
        methods,
        method,
        from,
        total: events.len(),
    })
}

/// Returns the address of the history, or of the refreshes with a method.
fn of_method(method: Option<&Method>) -> Address {
    Address::new("/batches").with_some("method", method)
}

/// Reads the name of a method; no name is no method.
fn optional_method<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Method>, D::Error> {
    let name = String::deserialize(from)?;
    if name.is_empty() {
        return Ok(None);
    }
    let method = Method::named(&name).ok_or_else(|| {
        let all = Method::NAMES.join(", ");
        D::Error::custom(format!("no method {name:?}, expected one of {all}"))
    })?;
    Ok(Some(method))
}

impl Page<'_> {
    fn pager(&self) -> Pager {
        let address = |from| of_method(self.method.as_ref()).with("from", from);
        pager(self.from as u64, ROWS as u64, self.total as u64, address)
    }
}
