//! The home page: the plans of the bank with their verdicts and changes, and the last refreshes and batches.

use askama::Template;
use serde::Deserialize;
use std::collections::BTreeMap;

use super::events::{batch_table, refresh_table};
use super::layout::Layout;
use crate::engine::query::{History, PlanView, Status, Turnover};
use crate::html::sparkline::sparkline;
use crate::html::text::Count;
use crate::render::{kind_name, proof, refusal, shell_word, times_with_error};
use crate::serve::address::{self, Address};
use crate::serve::answer::{Answer, RequestError};
use crate::serve::executor::Context;
use crate::serve::media_type::MediaType;
use crate::serve::query_params::TableName;
use crate::serve::table::{Cell, Column, Table, csv_answer};
use seedbank_formats::display::age;

/// Number of refreshes in the sparkline of a plan.
const SPARK: usize = 12;

/// Number of refreshes, and of batches, on the page.
const NEWEST: usize = 5;

/// Maximum number of plans with a sparkline; a bank may have hundreds of plans.
const SPARKLINES: usize = 50;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    table: Option<TableName>,
    #[serde(rename = "format")]
    _format: Option<MediaType>,
}

#[derive(Template)]
#[template(path = "home.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    layout: Layout<'a>,
    status: Status,
    /// The name of the bank's folder as a word of a shell.
    word: String,
    plans: Table,
    /// The last refreshes of all plans, newest first.
    refreshes: Table,
    /// The last batches, newest first.
    batches: Table,
}

pub(super) fn render(
    context: &Context<'_>,
    params: Params,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let status = context.bank.status()?;
    let history = context.bank.history()?;
    let turnovers = turnovers(context, &status, &history)?;
    let rows = status.plans.iter().zip(&turnovers);
    let rows = rows
        .map(|(plan, changes)| plan_row(plan, changes))
        .collect();
    let home = Address::new("/");
    let json = Address::new("/status").in_api();
    let plans = Table::new(
        "plans",
        "Plans and their last refreshes",
        plan_columns(),
        rows,
    )
    .with_files(&home, &json);
    if media_type == MediaType::Csv {
        return csv_answer(&[plans], params.table.as_ref(), "");
    }
    let History {
        batches, refreshes, ..
    } = &history;
    Answer::page(&Page {
        layout: Layout::with_json(
            context,
            [
                ("The status as JSON", json),
                (
                    "all batches and refreshes",
                    Address::new("/batches").in_api(),
                ),
            ],
        ),
        word: shell_word(context.name),
        plans,
        refreshes: refresh_table(refreshes.iter().rev().take(NEWEST)),
        batches: batch_table(batches.iter().rev().take(NEWEST)),
        status,
    })
}

/// Returns the last changes of the list of each plan, oldest first.
fn turnovers(
    context: &Context<'_>,
    status: &Status,
    history: &History,
) -> Result<Vec<Vec<Turnover>>, RequestError> {
    let mut by_plan: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for refresh in &history.refreshes {
        let of_plan = by_plan.entry(&refresh.plan).or_default();
        of_plan.push(refresh.refresh);
    }
    let mut turnovers = Vec::with_capacity(status.plans.len());
    for (position, plan) in status.plans.iter().enumerate() {
        let numbers = by_plan.remove(plan.plan.as_str()).unwrap_or_default();
        let changes = if position < SPARKLINES { SPARK } else { 1 };
        // Include the refresh before the first one shown, to compare with.
        let first = numbers.len().saturating_sub(changes + 1);
        let found = context.turnovers.between(context.bank, &numbers[first..])?;
        turnovers.push(found);
    }
    Ok(turnovers)
}

fn plan_columns() -> Vec<Column> {
    vec![
        Column::word("plan", "Plan"),
        Column::word("goal", "Goal"),
        Column::word("times_best_baseline", "Times the best baseline"),
        Column::number("seeds", "Seeds"),
        Column::number("dead", "Dead"),
        Column::word("new_seeds", "New seeds by refresh"),
        Column::number("new", "New"),
        Column::number("lost", "Lost"),
        Column::number("refresh", "Refresh"),
        Column::number("age", "Age"),
        Column::word("method", "Method"),
        Column::word("proof", "Proof"),
    ]
}

fn plan_row(plan: &PlanView, changes: &[Turnover]) -> Vec<Cell> {
    let list = address::refresh(plan.last_refresh);
    let dead = plan.seeds.listed - plan.seeds.alive;
    let dead = match dead {
        0 => Cell::Count(0),
        _ => Cell::Count(dead).linked(list.clone().with("dead", true)),
    };
    let gained: Vec<u64> = changes.iter().map(|change| change.gained).collect();
    let spark = if gained.is_empty() {
        Cell::None
    } else {
        let numbers: Vec<String> = gained.iter().map(u64::to_string).collect();
        Cell::Picture(sparkline("New seeds", &gained), numbers.join(" "))
    };
    let newest = changes.last();
    let goal = plan.parameters.goal;
    vec![
        Cell::Plan(plan.plan.clone()),
        goal.map_or(Cell::None, |goal| Cell::text(goal.name())),
        verdict(plan),
        Cell::Count(plan.seeds.listed).linked(list),
        dead,
        spark,
        Cell::count(newest.map(|change| change.gained)),
        Cell::count(newest.map(|change| change.lost)),
        Cell::Refresh(plan.last_refresh),
        Cell::Age(plan.age),
        Cell::text(plan.parameters.method.unwrap_or_default().name()),
        Cell::text(proof(plan.certified)),
    ]
}

/// Returns how the list of a plan compares with the best baseline.
fn verdict(plan: &PlanView) -> Cell {
    let Some(verdict) = &plan.parameters.judged else {
        return Cell::text("not compared");
    };
    let text = verdict.times_best_baseline.map_or_else(
        // The best baseline finds nothing.
        || "–".to_owned(),
        times_with_error,
    );
    Cell::text(text)
        .linked(Address::new("/evaluate"))
        .tagged("lost", verdict.is_loss().then_some("below a baseline"))
}
