//! The first page: what the bank holds, its plans and how their lists change.

use askama::Template;
use std::collections::BTreeMap;

use super::frame::Frame;
use crate::engine::{BatchView, History, RefreshView, Status, Turnover};
use crate::html::bars::{Bar, bars};
use crate::html::chart::Frame as ChartFrame;
use crate::html::text::{Count, Measure};
use crate::render::{kind_name, provenance};
use crate::serve::address::{self, Address};
use crate::serve::answer::{Answer, Fault};
use crate::serve::asked::Nothing;
use crate::serve::desk::State;
use crate::serve::form::Form;
use seedbank_formats::clock::time;
use seedbank_formats::shown::age;

/// How many refreshes of a plan, and how many batches, are told of.
const LAST: usize = 12;

/// How many of the last refreshes of all plans are told of.
const NEWEST: usize = 10;

/// How many plans are told of with their last changes; of the others, of which a bank may have
/// hundreds, only with the very last.
const CHARTS: usize = 6;

#[derive(Template)]
#[template(path = "start.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    frame: Frame<'a>,
    status: Status,
    /// All plans with how their lists changed last.
    turnover: Vec<(String, Vec<Turnover>)>,
    /// The last refreshes of all plans, the newest first.
    refreshes: Vec<RefreshView>,
    /// The last batches, the newest first.
    batches: Vec<BatchView>,
}

pub(super) fn made(state: &State<'_>, _: Nothing, form: Form) -> Result<Answer, Fault> {
    let status = state.bank.status()?;
    if form == Form::Json {
        return Answer::json(&status);
    }
    let history = state.bank.history()?;
    let mut by_plan: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for refresh in &history.refreshes {
        let of_plan = by_plan.entry(&refresh.plan).or_default();
        of_plan.push(refresh.refresh);
    }
    let mut turnover = Vec::new();
    for (at, plan) in status.plans.iter().enumerate() {
        let numbers = by_plan.remove(plan.plan.as_str()).unwrap_or_default();
        let changes = if at < CHARTS { LAST } else { 1 };
        // One more, with which the first is compared.
        let first = numbers.len().saturating_sub(changes + 1);
        let numbers = &numbers[first..];
        let found = state.turnovers.between(state.bank, numbers, state.watch)?;
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
        frame: Frame::with_json(
            state,
            [
                ("The status as JSON", Address::of("/")),
                ("all batches and refreshes", Address::of("/batches")),
            ],
        ),
        status,
        turnover,
        refreshes,
        batches,
    })
}

impl Page<'_> {
    /// How the list of a plan changed last; `None` where one refresh of it is kept.
    fn last_change(&self, plan: &str) -> Option<&Turnover> {
        let of_plan = self.turnover.iter().find(|(name, _)| name == plan);
        of_plan.and_then(|(_, found)| found.last())
    }

    /// The plans that are told of with their last changes.
    fn charts(&self) -> &[(String, Vec<Turnover>)] {
        self.turnover.get(..CHARTS).unwrap_or(&self.turnover)
    }
}

/// Seeds that came at each refresh.
fn chart(at: usize, plan: &str, found: &[Turnover]) -> String {
    let newest = found.last().map(|last| last.refresh);
    let of_refresh: Vec<Bar> = found
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
            ours: Some(change.refresh) == newest,
        })
        .collect();
    let frame = ChartFrame {
        id: &format!("turnover-{at}"),
        title: &format!("New seeds at each refresh of plan {plan}"),
        description: "One bar for each refresh; the table below has the numbers.",
        x: "new seeds",
        y: "",
    };
    bars(&frame, &of_refresh, 12.0)
}
