//! The history of a page: when it was a seed, and why it became or stopped being one.

use askama::Template;
use serde::Deserialize;

use super::layout::Layout;
use crate::engine::query::{Appearance, PageHistory};
use crate::html::text::Count;
use crate::render::{Line, cause_text};
use crate::serve::address;
use crate::serve::answer::{Answer, RequestError};
use crate::serve::executor::Context;
use crate::serve::media_type::MediaType;
use crate::serve::query_params::TableName;
use crate::serve::table::{Cell, Column, Table, csv_answer};
use seedbank_formats::display::readable;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    url: String,
    plan: Option<String>,
    table: Option<TableName>,
    #[serde(rename = "format")]
    _format: Option<MediaType>,
}

#[derive(Template)]
#[template(path = "history.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    layout: Layout<'a>,
    history: PageHistory,
    changes: Table,
}

pub(super) fn render(
    context: &Context<'_>,
    params: Params,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let plan = params.plan.as_deref();
    let history = context.bank.page_history(&params.url, plan)?;
    let address = address::history(&history.url).with_some("plan", plan);
    let changes = table_of(&history).with_files(&address, &address.in_api());
    if media_type == MediaType::Csv {
        return csv_answer(&[changes], params.table.as_ref(), "");
    }
    Answer::page(&Page {
        layout: Layout::new(context, address.in_api()),
        history,
        changes,
    })
}

/// Returns the refreshes in which a page is a seed, and those that lost it, by plan and number.
pub(super) fn table_of(history: &PageHistory) -> Table {
    let rows = history.plans.iter().flat_map(|plan| {
        plan.appearances.iter().map(|appearance| {
            vec![
                Cell::Plan(plan.plan.clone()),
                Cell::Refresh(appearance.refresh),
                Cell::Count(appearance.state_batch.into()),
                Cell::count(appearance.rank),
                Cell::Line(describe(appearance)),
            ]
        })
    });
    let columns = vec![
        Column::word("plan", "Plan"),
        Column::number("refresh", "Refresh"),
        Column::number("after_batch", "After batch"),
        Column::number("rank", "Rank"),
        Column::text("change", "Change"),
    ];
    let caption = "Refreshes with the page as a seed";
    Table::new("history", caption, columns, rows.collect())
}

/// Describes what changed for a page at a refresh.
fn describe(appearance: &Appearance) -> Line {
    let what = match (appearance.rank, appearance.cause) {
        (Some(_), Some(_)) => "became a seed",
        (Some(_), None) => "a seed",
        (None, _) => "stopped being a seed",
    };
    let mut line = Line::from(what);
    if let Some(cause) = appearance.cause {
        line = line.and(": ").and(cause_text(cause));
    }
    if let Some(by) = &appearance.by {
        line = line.and(", ").and_page(by);
    }
    if let Some(batch) = appearance.batch {
        line = line.and(format_args!(" (batch {batch})"));
    }
    line
}
