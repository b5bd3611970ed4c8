//! What is stored about how much crawls from the lists of the plans find: the verdicts, and how parameters
//! were tuned.

use askama::Template;
use serde::Deserialize;

use super::layout::Layout;
use crate::engine::plan::{HeldOutVerdict, Measure};
use crate::engine::query::PlanSummary;
use crate::html::bars::{Bar, bars};
use crate::html::chart::Frame;
use crate::render::{shell_word, times_with_error, verdict_advice, verdict_sentence};
use crate::serve::address::Address;
use crate::serve::answer::{Answer, RequestError};
use crate::serve::executor::Context;
use crate::serve::media_type::MediaType;
use crate::serve::query_params::TableName;
use crate::serve::table::{Cell, Column, Table, csv_answer};

/// Maximum number of plans in the chart.
const BARS: usize = 30;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    table: Option<TableName>,
    #[serde(rename = "format")]
    _format: Option<MediaType>,
}

#[derive(Template)]
#[template(path = "evaluate.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    layout: Layout<'a>,
    /// The name of the bank's folder as a word of a shell.
    word: String,
    plans: Vec<PlanSummary>,
    /// The ratios to the best baselines; `None` if no plan has one.
    chart: Option<String>,
    verdicts: Table,
    tunings: Table,
}

pub(super) fn render(
    context: &Context<'_>,
    params: Params,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let plans = context.bank.plans()?;
    let plans = plans.plans;
    let address = Address::new("/evaluate");
    let json = Address::new("/plans").in_api();
    let verdicts = verdict_table(&plans).with_files(&address, &json);
    let tunings = tuning_table(&plans).with_files(&address, &json);
    if media_type == MediaType::Csv {
        return csv_answer(&[verdicts, tunings], params.table.as_ref(), "");
    }
    Answer::page(&Page {
        layout: Layout::with_json(context, [("All plans as JSON", json)]),
        word: shell_word(context.name),
        chart: chart(&plans),
        plans,
        verdicts,
        tunings,
    })
}

/// Draws the ratio of each plan to the best baseline; a list below 1 is not highlighted.
fn chart(plans: &[PlanSummary]) -> Option<String> {
    let bar = |plan: &PlanSummary| {
        let verdict = plan.parameters.judged.as_ref()?;
        let times = verdict.times_best_baseline?;
        Some(Bar {
            name: plan.plan.clone(),
            number: times.mean,
            error: times.standard_error.unwrap_or_default(),
            text: times_with_error(times),
            is_highlighted: !verdict.is_loss(),
        })
    };
    let found: Vec<Bar> = plans.iter().filter_map(bar).take(BARS).collect();
    let frame = Frame {
        id: "verdicts",
        title: "What a crawl from each list finds, relative to the best baseline",
        description: "One bar for each plan; the table below has the numbers.",
        x: "times the best baseline (1 is equal)",
        y: "",
    };
    (!found.is_empty()).then(|| bars(&frame, &found, 12.0))
}

/// Returns the verdicts on the plans that have one.
fn verdict_table(plans: &[PlanSummary]) -> Table {
    let row = |plan: &PlanSummary| {
        let verdict = plan.parameters.judged.as_ref()?;
        // PageRank is a percentage, as in sentences.
        let (what, scale) = match verdict.measure {
            Measure::Crawled => ("crawled pages fetched", 1.0),
            Measure::Discovered => ("pages seen for the first time", 1.0),
            Measure::Pagerank => ("PageRank fetched, %", 100.0),
        };
        let times = verdict.times_best_baseline;
        let word = if verdict.is_loss() { "below" } else { "above" };
        Some(vec![
            Cell::Plan(plan.plan.clone()),
            plan.parameters
                .goal
                .map_or(Cell::None, |goal| Cell::text(goal.name())),
            times.map_or(Cell::None, |times| {
                let kind = if verdict.is_loss() { "lost" } else { "kept" };
                Cell::Number(times.mean).tagged(kind, Some(word))
            }),
            Cell::number(times.and_then(|times| times.standard_error)),
            Cell::text(what),
            Cell::Number(scale * verdict.found.mean),
            Cell::number(verdict.found.standard_error.map(|error| scale * error)),
            Cell::text(&verdict.baseline),
            Cell::Number(scale * verdict.baseline_found.mean),
            Cell::number(
                verdict
                    .baseline_found
                    .standard_error
                    .map(|error| scale * error),
            ),
            Cell::Count(verdict.seeds.into()),
            Cell::Count(verdict.budget),
            Cell::Count(verdict.draws.into()),
            Cell::Count(verdict.batch.into()),
        ])
    };
    let columns = vec![
        Column::word("plan", "Plan"),
        Column::word("goal", "Goal"),
        Column::number("times_best_baseline", "Times the best baseline"),
        Column::number("times_error", "±"),
        Column::word("measure", "Measure"),
        Column::number("found", "Found by the plan"),
        Column::number("found_error", "±"),
        Column::word("baseline", "Best baseline"),
        Column::number("baseline_found", "Found by it"),
        Column::number("baseline_error", "±"),
        Column::number("seeds", "Seeds"),
        Column::number("budget", "Pages fetched"),
        Column::number("draws", "Draws"),
        Column::number("batch", "After batch"),
    ];
    let rows = plans.iter().filter_map(row).collect();
    Table::new("verdicts", "Verdicts on the plans", columns, rows)
}

/// Returns how the parameters of plans were tuned for their budgets.
fn tuning_table(plans: &[PlanSummary]) -> Table {
    let row = |plan: &PlanSummary| {
        let parameters = &plan.parameters;
        let tuned = parameters.tuned.as_ref()?;
        Some(vec![
            Cell::Plan(plan.plan.clone()),
            Cell::count(parameters.budget),
            Cell::Count(tuned.settings.into()),
            Cell::count(parameters.hops),
            parameters
                .fetch_cost
                .map_or(Cell::None, |cost| Cell::text(cost.to_string())),
            parameters
                .value_known
                .map_or(Cell::None, |value| Cell::text(value.to_string())),
            Cell::Number(tuned.gathered),
            Cell::Count(tuned.draws.into()),
            Cell::Count(tuned.batch.into()),
        ])
    };
    let columns = vec![
        Column::word("plan", "Plan"),
        Column::number("budget", "Budget, pages"),
        Column::number("settings", "Settings tried"),
        Column::number("hops", "Hops"),
        Column::number("fetch_cost", "Fetch cost, units"),
        Column::number("value_known", "Value of a known page, units"),
        Column::number("gathered", "Gathered, units"),
        Column::number("draws", "Draws"),
        Column::number("batch", "After batch"),
    ];
    let rows = plans.iter().filter_map(row).collect();
    Table::new("tunings", "Tuned parameters", columns, rows)
}

impl Page<'_> {
    /// Returns the names of the plans without a verdict.
    fn not_compared(&self) -> Vec<&String> {
        let plans = self.plans.iter();
        let without = plans.filter(|plan| plan.parameters.judged.is_none());
        without.map(|plan| &plan.plan).collect()
    }

    /// Returns the plans with their verdicts.
    fn compared(&self) -> impl Iterator<Item = (&PlanSummary, &HeldOutVerdict)> {
        let plans = self.plans.iter();
        plans.filter_map(|plan| Some((plan, plan.parameters.judged.as_ref()?)))
    }
}
