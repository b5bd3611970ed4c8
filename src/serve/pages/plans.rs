//! The plans side by side: the seeds that their lists share, and the parameters that differ.

use askama::Template;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

use super::layout::Layout;
use crate::engine::query::PlanSummary;
use crate::html::text::Count;
use crate::serve::address::{self, Address};
use crate::serve::answer::{Answer, RequestError};
use crate::serve::executor::Context;
use crate::serve::extract::which;
use crate::serve::media_type::MediaType;
use crate::serve::query_params::TableName;
use crate::serve::table::{Cell, Column, Table, csv_answer};

/// Maximum number of plans that are compared.
const PLANS: usize = 12;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    table: Option<TableName>,
    #[serde(rename = "format")]
    _format: Option<MediaType>,
}

#[derive(Template)]
#[template(path = "plans.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    layout: Layout<'a>,
    /// Number of plans.
    all: usize,
    common: Table,
    parameters: Table,
}

pub(super) fn render(
    context: &Context<'_>,
    params: Params,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let plans = context.bank.plans()?;
    let all = plans.plans.len();
    let plans = &plans.plans[..all.min(PLANS)];
    let address = Address::new("/plans");
    let common = common_table(context, plans)?.with_files(&address, &address.in_api());
    let parameters = parameter_table(plans).with_files(&address, &address.in_api());
    if media_type == MediaType::Csv {
        return csv_answer(&[common, parameters], params.table.as_ref(), "");
    }
    Answer::page(&Page {
        layout: Layout::with_json(context, [("All plans as JSON", address.in_api())]),
        all,
        common,
        parameters,
    })
}

/// Returns the number of seeds that each pair of lists has in common; on the diagonal, the length of the list.
fn common_table(context: &Context<'_>, plans: &[PlanSummary]) -> Result<Table, RequestError> {
    let mut lists: Vec<BTreeSet<String>> = Vec::with_capacity(plans.len());
    for plan in plans {
        let seeds = context.bank.seeds(which(None, Some(plan.last.refresh)))?;
        let urls = seeds.map(|seed| Ok(seed?.url));
        lists.push(urls.collect::<Result<_, RequestError>>()?);
    }
    let row = |(plan, list): (&PlanSummary, &BTreeSet<String>)| {
        let from = plan.last.refresh;
        let mut row = vec![Cell::Plan(plan.plan.clone())];
        row.extend(plans.iter().zip(&lists).map(|(other, other_list)| {
            let common = list.intersection(other_list).count();
            let to = other.last.refresh;
            let address = if from == to {
                address::refresh(to)
            } else {
                address::diff(from, to)
            };
            Cell::Count(common as u64).linked(address)
        }));
        row
    };
    let mut columns = vec![Column::word("plan", "Plan")];
    columns.extend(
        plans
            .iter()
            .map(|plan| Column::number(&plan.plan, &plan.plan)),
    );
    let rows = plans.iter().zip(&lists).map(row).collect();
    let caption = "Seeds in common";
    Ok(Table::new("common", caption, columns, rows))
}

/// Returns the parameters that were given for any plan, by name.
fn parameter_table(plans: &[PlanSummary]) -> Table {
    let given: Vec<BTreeMap<String, String>> = plans.iter().map(given).collect();
    let names: BTreeSet<&String> = given.iter().flat_map(BTreeMap::keys).collect();
    let row = |name: &String| {
        let of_plan = |given: &BTreeMap<String, String>| {
            let value = given.get(name).cloned();
            value.map_or(Cell::None, Cell::Text)
        };
        let mut row = vec![Cell::text(name)];
        row.extend(given.iter().map(of_plan));
        row
    };
    let mut columns = vec![Column::word("parameter", "Parameter")];
    columns.extend(
        plans
            .iter()
            .map(|plan| Column::word(&plan.plan, &plan.plan)),
    );
    let rows = names.into_iter().map(row).collect();
    Table::new("parameters", "Parameters of the plans", columns, rows)
}

/// Returns the parameters of a plan as text: those that were given, set by its goal, or tuned.
fn given(plan: &PlanSummary) -> BTreeMap<String, String> {
    let mut parameters = plan.parameters.clone();
    (parameters.tuned, parameters.judged) = (None, None);
    let Ok(Value::Object(fields)) = serde_json::to_value(parameters) else {
        return BTreeMap::new();
    };
    let text = |value: Value| match value {
        Value::String(word) => word,
        // A list has its file name and its lines.
        Value::Object(list) => match list.get("name").and_then(Value::as_str) {
            Some(name) => name.to_owned(),
            None => Value::Object(list).to_string(),
        },
        value => value.to_string(),
    };
    let fields = fields.into_iter();
    fields.map(|(name, value)| (name, text(value))).collect()
}
