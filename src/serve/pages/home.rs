//! The home page: the status of the bank, its plans, and the changes of their lists.

use askama::Template;
use std::collections::BTreeMap;

use super::layout::Layout;
use crate::engine::query::{BatchView, History, Status, Turnover};
use crate::engine::refresh::RefreshView;
use crate::html::bars::{Bar, bars};
use crate::html::chart::Frame as ChartFrame;
use crate::html::text::{Count, Measure};
use crate::render::{kind_name, provenance, verdict_ratio};
use crate::serve::address::{self, Address};
use crate::serve::answer::{Answer, RequestError};
use crate::serve::executor::Context;
use crate::serve::extract::NoParams;
use crate::serve::media_type::MediaType;
use seedbank_formats::clock::time;
use seedbank_formats::display::age;

/// Number of refreshes in the chart of a plan, and of batches in the table.
const LAST: usize = 12;

/// Number of refreshes in the table.
const NEWEST: usize = 10;

/// Maximum number of plans with a chart; a bank may have hundreds of plans.
const CHARTS: usize = 6;

#[derive(Template)]
#[template(path = "home.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    layout: Layout<'a>,
    status: Status,
    /// The last changes of the list of each plan.
    turnover: Vec<(String, Vec<Turnover>)>,
    /// The last refreshes of all plans, newest first.
    refreshes: Vec<RefreshView>,
    /// The last batches, newest first.
    batches: Vec<BatchView>,
}

pub(super) fn render(
    context: &Context<'_>,
    _: NoParams,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let status = context.bank.status()?;
    if media_type == MediaType::Json {
        return Answer::json(&status);
    }
    let history = context.bank.history()?;
    let mut by_plan: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for refresh in &history.refreshes {
        let of_plan = by_plan.entry(&refresh.plan).or_default();
        of_plan.push(refresh.refresh);
    }
    let mut turnover = Vec::new();
    for (position, plan) in status.plans.iter().enumerate() {
        let numbers = by_plan.remove(plan.plan.as_str()).unwrap_or_default();
        let changes = if position < CHARTS { LAST } else { 1 };
        // Include the refresh before the first one shown, to compare with.
        let first = numbers.len().saturating_sub(changes + 1);
        let numbers = &numbers[first..];
        let found = context
            .turnovers
            .between(context.bank, numbers, context.watch)?;
        turnover.push((plan.plan.clone(), found));
    }
    let History {
        mut batches,
        mut refreshes,
        ..
    } = history;
    batches.reverse();
    batches.truncate(LAST);
    refreshes.reverse();
    refreshes.truncate(NEWEST);
    Answer::page(&Page {
        layout: Layout::with_json(
            context,
            [
                ("The status as JSON", Address::new("/")),
                ("all batches and refreshes", Address::new("/batches")),
            ],
        ),
        status,
        turnover,
        refreshes,
        batches,
    })
}

impl Page<'_> {
    /// Returns the last change of the list of a plan; `None` if only one refresh is stored.
    fn last_change(&self, plan: &str) -> Option<&Turnover> {
        let of_plan = self.turnover.iter().find(|(name, _)| name == plan);
        of_plan.and_then(|(_, found)| found.last())
    }

    /// Returns the plans with a chart.
    fn charts(&self) -> &[(String, Vec<Turnover>)] {
        self.turnover.get(..CHARTS).unwrap_or(&self.turnover)
    }
}

/// Draws the number of new seeds at each refresh.
fn chart(position: usize, plan: &str, found: &[Turnover]) -> String {
    let newest = found.last().map(|last| last.refresh);
    let bars_by_refresh: Vec<Bar> = found
        .iter()
        .map(|change| Bar {
            name: format!("refresh {}", change.refresh),
            number: change.gained as f64,
            error: 0.0,
            text: format!(
                "{} of {}",
                change.gained.whole(),
                (change.gained + change.kept).whole()
            ),
            is_highlighted: Some(change.refresh) == newest,
        })
        .collect();
    let frame = ChartFrame {
        id: &format!("turnover-{position}"),
        title: &format!("New seeds at each refresh of plan {plan}"),
        description: "One bar for each refresh; the table below has the numbers.",
        x: "new seeds",
        y: "",
    };
    bars(&frame, &bars_by_refresh, 12.0)
}
