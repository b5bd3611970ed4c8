//! A plan: its parameters and its refreshes.

use askama::Template;
use serde::Deserialize;

use super::events::refresh_table;
use super::layout::{Layout, Pager, pager};
use crate::engine::query::{PlanDetail, SeedResult, Turnover};
use crate::engine::refresh::{RefreshId, RefreshView};
use crate::html::sparkline::sparkline;
use crate::html::text::Count;
use crate::render::{proof, verdict_advice, verdict_sentence};
use crate::serve::address::{self, Address};
use crate::serve::answer::{Answer, RequestError};
use crate::serve::executor::Context;
use crate::serve::extract::which;
use crate::serve::media_type::MediaType;
use crate::serve::query_params::{TableName, integer};
use crate::serve::table::{Cell, Column, Table, csv_answer};

/// Number of refreshes in the sparkline.
const SPARK: usize = 12;

/// Maximum number of refreshes on the page.
const ROWS: usize = 100;

/// Maximum number of fetches that are counted for the page.
const MAX_FETCHES: u64 = 2_000_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    name: String,
    /// Number of later refreshes to skip.
    #[serde(default, deserialize_with = "integer")]
    from: usize,
    table: Option<TableName>,
    #[serde(rename = "format")]
    _format: Option<MediaType>,
}

#[derive(Template)]
#[template(path = "plan.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    layout: Layout<'a>,
    plan: PlanDetail,
    /// Refreshes, newest first, each with the change of the list.
    refreshes: Table,
    /// The numbers of new seeds at the last of them, as a picture.
    spark: Option<String>,
    /// Number of later refreshes that are not shown.
    from: usize,
    /// Number of stored refreshes.
    total: usize,
    /// What crawlers fetched from the seeds of the last list from which they started.
    results: Option<(RefreshId, Table)>,
}

pub(super) fn render(
    context: &Context<'_>,
    params: Params,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let Params {
        name, from, table, ..
    } = params;
    let plan = context.bank.plan(&name)?;
    let mut refreshes = context.bank.history()?.refreshes;
    refreshes.retain(|refresh| refresh.plan == name);
    let total = refreshes.len();
    // A file has all refreshes.
    let (from, rows) = match media_type {
        MediaType::Csv => (0, total),
        _ => (from, ROWS),
    };
    let end = total.saturating_sub(from);
    let begin = end.saturating_sub(rows);
    // Include the refresh before the first one shown, to compare with.
    let numbers: Vec<u32> = refreshes[begin.saturating_sub(1)..end]
        .iter()
        .map(|refresh| refresh.refresh)
        .collect();
    let turnover = context.turnovers.between(context.bank, &numbers)?;
    let address = address::plan(&name);
    let refreshes = table_of(&refreshes[begin..end], &turnover)
        .with_files(&address, &Address::new("/batches").in_api());
    let results = context
        .bank
        .last_seed_results(which(Some(name.clone()), None), MAX_FETCHES)?;
    if media_type == MediaType::Csv {
        let results = results.iter().map(|results| result_table(&results.seeds));
        let tables: Vec<Table> = [refreshes].into_iter().chain(results).collect();
        return csv_answer(&tables, table.as_ref(), &name);
    }
    let results = results.map(|results| {
        let shown = results.seeds.len().min(ROWS);
        let table = result_table(&results.seeds[..shown]).with_files(&address, &address.in_api());
        (results.refresh, table)
    });
    let last = turnover.len().saturating_sub(SPARK);
    let gained: Vec<u64> = turnover[last..].iter().map(|of| of.gained).collect();
    Answer::page(&Page {
        layout: Layout::with_json(
            context,
            [
                ("This plan as JSON", address.in_api()),
                (
                    "the refreshes of all plans",
                    Address::new("/batches").in_api(),
                ),
            ],
        ),
        plan,
        refreshes,
        spark: (from == 0 && gained.len() > 1).then(|| sparkline("New seeds", &gained)),
        from,
        total,
        results,
    })
}

/// Returns the refreshes of a plan, newest first, with the changes of its list.
fn table_of(refreshes: &[RefreshView], turnover: &[Turnover]) -> Table {
    let mut table = refresh_table(refreshes.iter().rev());
    // The plan and its method are in the title.
    table.columns.drain(1..3);
    let place = table.columns.len() - 3;
    table.columns.splice(
        place..place,
        [Column::number("new", "New"), Column::number("lost", "Lost")],
    );
    for (row, refresh) in table.rows.iter_mut().zip(refreshes.iter().rev()) {
        let change = turnover
            .iter()
            .find(|change| change.refresh == refresh.refresh);
        row.drain(1..3);
        let changes = [change.map(|of| of.gained), change.map(|of| of.lost)];
        row.splice(place..place, changes.map(Cell::count));
    }
    table
}

/// Returns what crawlers fetched from seeds, beside what the list promised.
fn result_table(seeds: &[SeedResult]) -> Table {
    let row = |seed: &SeedResult| {
        let promised = seed.promised;
        vec![
            Cell::count(Some(seed.rank)),
            Cell::Page(seed.url.clone()),
            Cell::Count(seed.counts.fetched),
            Cell::Count(seed.counts.new),
            Cell::Count(seed.counts.failed),
            Cell::Count(seed.counts.duplicates),
            Cell::count(promised.map(|of| of.pages)),
            Cell::count(promised.map(|of| of.known)),
        ]
    };
    let columns = vec![
        Column::number("rank", "Rank"),
        Column::text("seed", "Seed"),
        Column::number("fetched", "Fetched"),
        Column::number("new", "New"),
        Column::number("failed", "Failed"),
        Column::number("duplicates", "Duplicates"),
        Column::number("promised_pages", "Promised pages"),
        Column::number("promised_known", "Not crawled then"),
    ];
    let rows = seeds.iter().map(row).collect();
    Table::new(
        "results",
        "What crawls from the seeds brought",
        columns,
        rows,
    )
}

impl Page<'_> {
    fn pager(&self) -> Pager {
        let plan = address::plan(&self.plan.summary.plan);
        let address = |from| {
            plan.clone()
                .with_some("from", Some(from).filter(|n| *n > 0))
        };
        pager(self.from as u64, ROWS as u64, self.total as u64, address)
    }
}
