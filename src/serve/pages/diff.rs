//! Comparison of two refreshes, with causes.

use askama::Template;
use serde::Deserialize;
use std::collections::BTreeMap;

use super::layout::Layout;
use super::reasons::seed_reasons;
use crate::engine::query::{Change, DiffSide, SeedChange, SeedDiff};
use crate::engine::refresh::RefreshView;
use crate::html::changes::change_lists;
use crate::html::text::Count;
use crate::html::truncate::Truncate;
use crate::render::{cause_text, change_reason};
use crate::serve::address::Address;
use crate::serve::answer::{Answer, RequestError};
use crate::serve::api::changes;
use crate::serve::executor::Context;
use crate::serve::media_type::MediaType;
use crate::serve::query_params::{TableName, optional_integer};
use crate::serve::table::{Cell, Column, Table, csv_answer};

/// Maximum number of gained, of lost and of moved seeds on the page.
const ROWS: usize = 200;

/// Maximum number of gained seeds whose reasons are shown, since each is read separately.
const REASONS: usize = 100;

/// Maximum number of refreshes to select from, besides the two that are compared.
const OPTIONS: usize = 100;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    #[serde(default, deserialize_with = "optional_integer")]
    from: Option<u32>,
    #[serde(default, deserialize_with = "optional_integer")]
    to: Option<u32>,
    plan: Option<String>,
    against: Option<String>,
    table: Option<TableName>,
    #[serde(rename = "format")]
    _format: Option<MediaType>,
}

#[derive(Template)]
#[template(path = "diff.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    layout: Layout<'a>,
    diff: SeedDiff,
    /// Refreshes to select from, newest first.
    refreshes: Vec<RefreshView>,
    lists: Vec<List>,
    /// The addresses of all changes.
    csv: Address,
    json: Address,
}

/// The seeds with one kind of change.
struct List {
    title: &'static str,
    seeds: Table,
    /// Number of seeds that are not shown.
    more: usize,
}

pub(super) fn render(
    context: &Context<'_>,
    params: Params,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let Params {
        from,
        to,
        plan,
        against,
        table,
        ..
    } = params;
    let address = Address::new("/diff")
        .with_some("from", from)
        .with_some("to", to)
        .with_some("plan", plan.as_ref())
        .with_some("against", against.as_ref());
    let diff = changes(context, from, to, plan, against)?;
    if media_type == MediaType::Csv {
        return csv_answer(&[all_changes(&diff)], table.as_ref(), "");
    }
    let lists = lists(context, &diff)?;
    let mut refreshes = context.bank.history()?.refreshes;
    refreshes.reverse();
    let compared = [diff.summary.from.refresh, diff.summary.to.refresh];
    let mut place = 0;
    refreshes.retain(|refresh| {
        place += 1;
        place <= OPTIONS || compared.contains(&Some(refresh.refresh))
    });
    Answer::page(&Page {
        csv: address.clone().with("format", "csv"),
        json: address.in_api(),
        layout: Layout::new(context, address.in_api()),
        diff,
        refreshes,
        lists,
    })
}

/// Returns the seeds gained, lost and moved, as far as there are any.
fn lists(context: &Context<'_>, diff: &SeedDiff) -> Result<Vec<List>, RequestError> {
    let mut lists = Vec::new();
    for list in change_lists(diff) {
        let part = list.seeds.head(ROWS);
        let Some(first) = part.shown.first() else {
            continue;
        };
        let mut seeds = Table::new(
            "changes",
            list.title,
            columns(),
            part.shown.iter().map(|seed| row(seed)).collect(),
        );
        if let (Change::Gained, Some(refresh)) = (first.change, diff.summary.to.refresh) {
            let urls = part.shown.iter().map(|seed| seed.url.as_str());
            let reasons = seed_reasons(context, refresh, urls.take(REASONS))?;
            let cells = reasons
                .into_iter()
                .map(|reason| reason.map_or(Cell::None, Cell::Text))
                .chain(std::iter::repeat_with(|| Cell::None));
            seeds
                .columns
                .push(Column::text("reason", "Why it is a seed"));
            for (row, cell) in seeds.rows.iter_mut().zip(cells) {
                row.push(cell);
            }
        }
        lists.push(List {
            title: list.title,
            seeds,
            more: part.more,
        });
    }
    Ok(lists)
}

/// Returns the seeds of both lists with their changes.
fn all_changes(diff: &SeedDiff) -> Table {
    let mut columns = columns();
    columns.insert(0, Column::word("change", "Change"));
    let rows = diff.seeds.iter().map(|seed| {
        let change = match seed.change {
            Change::Gained => "gained",
            Change::Lost => "lost",
            Change::Moved => "moved",
            Change::Kept => "kept",
        };
        let mut row = row(seed);
        row.insert(0, Cell::text(change));
        row
    });
    Table::new("changes", "", columns, rows.collect())
}

fn columns() -> Vec<Column> {
    vec![
        Column::number("rank_before", "Rank before"),
        Column::number("rank_after", "Rank after"),
        Column::text("page", "Page"),
        Column::text("why", "Why it changed"),
    ]
}

fn row(seed: &SeedChange) -> Vec<Cell> {
    vec![
        Cell::count(seed.rank_before),
        Cell::count(seed.rank_after),
        Cell::Page(seed.url.clone()),
        Cell::Line(change_reason(seed)),
    ]
}

impl Page<'_> {
    /// Returns the selection fields: name, label and selected refresh.
    fn fields(&self) -> [(&'static str, &'static str, Option<u32>); 2] {
        let summary = &self.diff.summary;
        [
            ("from", "From", summary.from.refresh),
            ("to", "To", summary.to.refresh),
        ]
    }

    /// Returns the causes as text with their counts, most frequent first.
    fn causes(&self) -> Vec<(&'static str, u32)> {
        // Several causes have the same text.
        let mut by_text: BTreeMap<&'static str, u32> = BTreeMap::new();
        for (cause, count) in &self.diff.summary.causes {
            *by_text.entry(cause_text(*cause)).or_default() += count;
        }
        let mut causes: Vec<_> = by_text.into_iter().collect();
        causes.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        causes
    }
}

/// Returns the title of one of the two lists.
fn side(side: &DiffSide) -> String {
    match (side.refresh, &side.plan) {
        (Some(refresh), Some(plan)) => format!("refresh {refresh} of plan {plan}"),
        _ => side.list.clone().unwrap_or_default(),
    }
}

fn is_selected(refresh: &RefreshView, selected: Option<u32>) -> bool {
    selected == Some(refresh.refresh)
}
